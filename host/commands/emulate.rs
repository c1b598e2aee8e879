//! `emulate`: a kernel of any PTX file, on the emulator.

use serde::Serialize;

use super::target;
use crate::cli::{EmulateArgs, LaunchArgs};
use crate::console::Console;
use crate::emulate::{Finished, OutputArray};
use crate::error::Error;
use crate::format::count;

/// Elements of an array that are shown.
const SHOWN: usize = 16;

#[derive(Serialize)]
struct Output<'a> {
    command: &'static str,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    /// What the kernel printed.
    printed: String,
    warp_instructions: u64,
    thread_instructions: u64,
    divergent_branches: u64,
    outputs: Vec<ArrayOutput<'a>>,
}

#[derive(Serialize)]
struct ArrayOutput<'a> {
    argument: &'a str,
    #[serde(rename = "type")]
    ty: String,
    /// The first elements, as text: JSON has no NaN and no 64-bit integers.
    first: Vec<String>,
    file: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// For files and arguments that are not usable, and whatever the emulator finds wrong with the kernel.
pub fn run(arguments: &EmulateArgs, console: &mut Console) -> Result<(), Error> {
    let source = target::read(&arguments.file)?;
    let place = arguments.file.display().to_string();
    let launch = &arguments.launch;
    let mut config = target::config(launch);
    config.checks = console.checks();
    let mut ran =
        target::job(&source, &place, arguments.kernel.as_deref(), launch, config).run()?;
    console.found(&mut ran);
    show(&ran.kernel, &ran.outcome?, launch, console)
}

fn show(
    kernel: &str,
    finished: &Finished,
    launch: &LaunchArgs,
    console: &mut Console,
) -> Result<(), Error> {
    let report = &finished.report;
    console.line(format_args!(
        "{}, grid {}, block {}: {} warp instructions, {} thread instructions, {} divergent branches",
        kernel,
        launch.grid,
        launch.block,
        count(report.warp_instructions.into()),
        count(report.thread_instructions.into()),
        count(report.divergent_branches.into()),
    ))?;
    for output in &finished.outputs {
        console.line(text(output))?;
    }
    let printed = console.take_printed()?;
    console.json(&Output {
        command: "emulate",
        kernel,
        grid: launch.grid.0,
        block: launch.block.0,
        printed,
        warp_instructions: report.warp_instructions,
        thread_instructions: report.thread_instructions,
        divergent_branches: report.divergent_branches,
        outputs: finished.outputs.iter().map(json).collect(),
    })
}

/// `out:f32[4]: 1 2 3 4`, or where it was written.
fn text(output: &OutputArray) -> String {
    let OutputArray { argument, array, file } = output;
    if let Some(file) = file {
        return format!("  wrote {} ({})", file.display(), array.ty);
    }
    let elements = array.data.len() / array.ty.element.bytes() as usize;
    let first: Vec<String> = array.first(SHOWN).collect();
    let more = if elements > SHOWN { " …" } else { "" };
    format!("  {argument}: {}{more}", first.join(" "))
}

fn json(output: &OutputArray) -> ArrayOutput<'_> {
    ArrayOutput {
        argument: &output.argument,
        ty: output.array.ty.to_string(),
        first: output.array.first(SHOWN).collect(),
        file: output.file.as_ref().map(|file| file.display().to_string()),
    }
}
