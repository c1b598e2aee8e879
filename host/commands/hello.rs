//! `hello`: a kernel in which every thread prints its index, launched asynchronously.

use cuda_host::{Device, launch};
use serde::Serialize;

use crate::cli::HelloArgs;
use crate::console::{Console, flush_everything};
use crate::error::{Error, MAX_BLOCK_THREADS};

/// What one launch printed.
#[derive(Debug, Serialize)]
pub struct Printed {
    /// Blocks in the grid.
    pub grid: u32,
    /// Threads in a block.
    pub block: u32,
    /// The lines in the order they came; empty unless the console collects them for JSON.
    pub printed: Vec<String>,
}

#[derive(Serialize)]
struct Output {
    command: &'static str,
    backend: String,
    device: String,
    #[serde(flatten)]
    launch: Printed,
}

/// Runs the command.
///
/// # Errors
///
/// For a grid or block that cannot be launched, and for whatever the device reports.
pub fn run(arguments: &HelloArgs, console: &mut Console) -> Result<(), Error> {
    let HelloArgs { grid, block } = *arguments;
    check(grid, block)?;
    let gpu = super::open()?;
    console.line(&gpu)?;
    let launch = launch_hello(&gpu, grid, block, console)?;
    let (backend, device) = (gpu.backend().to_string(), gpu.name()?);
    console.json(&Output { command: "hello", backend, device, launch })
}

/// Launches the kernel on `grid` blocks of `block` threads and waits for it.
///
/// # Errors
///
/// Whatever the device reports, and [`Error::Output`].
pub fn launch_hello(
    gpu: &Device,
    grid: u32,
    block: u32,
    console: &mut Console,
) -> Result<Printed, Error> {
    console.line(format_args!(
        "\nhello[{grid}, {block}]: each thread prints threadIdx.x + blockIdx.x * blockDim.x"
    ))?;
    // SAFETY: the kernel takes no memory; any grid and block are right.
    unsafe { launch!(kernels::hello[grid, block]()) }?;
    console.line("launched: the host has gone on and now waits for the device")?;
    gpu.synchronize()?;
    flush_everything();
    let printed = console.take_printed()?.lines().map(str::to_owned).collect();
    Ok(Printed { grid, block, printed })
}

fn check(grid: u32, block: u32) -> Result<(), Error> {
    if grid == 0 {
        return Err(Error::ZeroDimension { option: "grid", unit: "block" });
    }
    if block == 0 {
        return Err(Error::ZeroDimension { option: "block", unit: "thread" });
    }
    if block > MAX_BLOCK_THREADS {
        let help = "give --block 1024 or less, and a larger --grid for more threads";
        return Err(Error::TooManyThreads { block, threads: block.to_string(), help });
    }
    Ok(())
}
