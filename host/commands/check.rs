//! `check`: one kernel on the emulator, with the checks watching.

use ptx_emulator::CheckSet;
use serde::Serialize;

use super::target;
use crate::cli::TargetArgs;
use crate::console::Console;
use crate::error::Error;

#[derive(Serialize)]
struct Output<'a> {
    command: &'static str,
    kernel: &'a str,
    printed: String,
}

/// Runs the command. What the checks find is shown at the end of the program.
///
/// # Errors
///
/// For a target and arguments that are not usable, and whatever the emulator finds wrong with the kernel.
pub fn run(arguments: &TargetArgs, console: &mut Console) -> Result<(), Error> {
    if console.checks().is_empty() {
        console.set_checks(CheckSet::ALL);
    }
    let mut config = target::config(&arguments.launch);
    config.checks = console.checks();
    let mut ran = target::run(arguments, config)?;
    console.found(&mut ran);
    ran.outcome?;
    let printed = console.take_printed()?;
    console.json(&Output { command: "check", kernel: &ran.kernel, printed })
}
