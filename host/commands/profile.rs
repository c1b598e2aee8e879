//! `profile`: one kernel on the emulator, and what it did.

use serde_json::json;

use super::target;
use crate::cli::ProfileArgs;
use crate::console::Console;
use crate::error::Error;
use crate::profile::{Sources, counters};

/// Runs the command.
///
/// # Errors
///
/// For a target and arguments that are not usable, and whatever the emulator finds wrong with the kernel; what was counted until then
/// is shown first.
pub fn run(arguments: &ProfileArgs, console: &mut Console) -> Result<(), Error> {
    let mut config = target::config(&arguments.target.launch);
    config.checks = console.checks();
    config.counters = true;
    let mut ran = target::run(&arguments.target, config)?;
    console.found(&mut ran);
    if let Some(counted) = &ran.counters {
        console.line(counted)?;
        if !counted.lines.is_empty() {
            let sources = Sources::of(counted);
            console.line(counted.line_listing(|file, line| sources.line(file, line)))?;
        }
        if arguments.ptx || counted.lines.is_empty() {
            console.line(counted.instruction_listing())?;
        }
    }
    ran.outcome?;
    let printed = console.take_printed()?;
    let counted = ran.counters.as_ref().map(counters);
    console.json(&json!({ "command": "profile", "printed": printed, "profile": counted }))
}
