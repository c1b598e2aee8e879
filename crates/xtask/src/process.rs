//! Running other programs.

use crate::error::Error;
use std::process::{Command, Stdio};

/// The cargo that runs this program, or the one on PATH.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// How a command reads on a command line.
fn words(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command with this program's own output, and wants it to succeed.
///
/// # Errors
/// When it cannot be started or does not exit with 0.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let status = status(command)?;
    if status.success() { Ok(()) } else { Err(Error::Failed { command: words(command), status }) }
}

/// Runs a command and returns how it ended.
///
/// # Errors
/// When it cannot be started.
pub fn status(command: &mut Command) -> Result<std::process::ExitStatus, Error> {
    command.status().map_err(|source| start_error(command, source))
}

/// Runs a command and returns what it wrote to standard output.
///
/// # Errors
/// When it cannot be started or does not exit with 0.
pub fn output(command: &mut Command) -> Result<Vec<u8>, Error> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|source| start_error(command, source))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Error::Failed { command: words(command), status: output.status })
    }
}

fn start_error(command: &Command, source: std::io::Error) -> Error {
    Error::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}
