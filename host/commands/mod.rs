//! The commands, one file each, and what they have in common: parsing, dispatch, and how errors are shown.

pub mod bench;
pub mod check;
pub mod demo;
pub mod devices;
pub mod doctor;
pub mod emulate;
pub mod hello;
pub mod inspect;
pub mod matmul;
pub mod new;
pub mod profile;
mod target;
pub mod transform;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};

use clap::Parser;
use cuda_host::Device;
use serde_json::json;

use crate::KERNELS_PTX;
use crate::cli::{Bench, Cli, Command};
use crate::console::{BAD, Console};
use crate::error::{Error, ExitStatus};

/// The whole program: parses `arguments`, the first being the program's name, and runs what they ask for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version arrive here as well, as errors with exit code 0 that belong on standard output.
            let _ = error.print();
            if error.exit_code() == 0 {
                return ExitStatus::Success;
            }
            if arguments.iter().any(|argument| argument == "--json") {
                let text = error.render().to_string();
                let text = text.trim_end().strip_prefix("error: ").unwrap_or(&text).to_owned();
                let _ = writeln!(io::stdout(), "{}", error_value(&text, ExitStatus::Usage));
            }
            return ExitStatus::Usage;
        }
    };
    let mut console = match Console::new(cli.json) {
        Ok(console) => console,
        Err(error) => {
            show(&error);
            return error.exit_status();
        }
    };
    if let Some(checks) = cli.check.filter(|checks| !checks.is_empty()) {
        console.set_checks(checks);
        // Before anything of CUDA: the checks are the emulator's.
        cuda_driver::use_emulator();
        cuda_driver::set_checks(checks);
    }
    let result = run(cli, &mut console);
    match console.conclude(result) {
        Ok(()) => ExitStatus::Success,
        // Whoever read the output has seen enough, as with `ferrowarp devices | head -1`.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitStatus::Success,
        Err(error) => {
            let status = error.exit_status();
            show(&error);
            // `doctor` and the checks have already written what they found, and a program that reads JSON expects one
            // value.
            if !matches!(error, Error::Unhealthy { .. } | Error::Findings { .. }) {
                let _ = console.json(&error_value(&error.to_string(), status));
            }
            status
        }
    }
}

/// Runs one command.
///
/// # Errors
///
/// Whatever the command finds wrong.
pub fn run(cli: Cli, console: &mut Console) -> Result<(), Error> {
    match cli.command {
        None => demo::run(console),
        Some(Command::Doctor) => doctor::run(console),
        Some(Command::Devices) => devices::run(console),
        Some(Command::Hello(arguments)) => hello::run(&arguments, console),
        Some(Command::Inspect(arguments)) => inspect::run(&arguments, console),
        Some(Command::Transform(arguments)) => transform::run(&arguments, console),
        Some(Command::Matmul(arguments)) => matmul::run(&arguments, console),
        Some(Command::Emulate(arguments)) => emulate::run(&arguments, console),
        Some(Command::Check(arguments)) => check::run(&arguments, console),
        Some(Command::Profile(arguments)) => profile::run(&arguments, console),
        Some(Command::New(arguments)) => new::run(&arguments, console),
        Some(Command::Bench(Bench::Emulator(arguments))) => bench::run(&arguments, console),
    }
}

/// Opens the device and loads the kernels.
fn open() -> Result<Device, Error> {
    let device = Device::open()?;
    device.load(KERNELS_PTX)?;
    Ok(device)
}

/// Writes an error to standard error.
fn show(error: &Error) {
    // A closed standard error leaves nobody to tell; the exit code remains.
    let _ = writeln!(anstream::stderr(), "{BAD}error:{BAD:#} {error}");
}

fn error_value(text: &str, status: ExitStatus) -> serde_json::Value {
    json!({ "error": text, "exit_code": status.code() })
}
