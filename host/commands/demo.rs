//! No command: the hello kernels, then the matrix product in six functions.

use serde::Serialize;

use super::hello::{Printed, launch_hello};
use super::matmul::Task;
use crate::cli::MatmulArgs;
use crate::console::Console;
use crate::error::Error;
use crate::report::Report;

#[derive(Serialize)]
struct Output {
    command: &'static str,
    backend: String,
    device: String,
    hello: Vec<Printed>,
    matmul: Report,
}

/// Runs the demonstration.
///
/// # Errors
///
/// Whatever the device reports, or a wrong result.
pub fn run(console: &mut Console) -> Result<(), Error> {
    let gpu = super::open()?;
    console.line(&gpu)?;
    let hello = vec![launch_hello(&gpu, 1, 2, console)?, launch_hello(&gpu, 2, 4, console)?];
    let arguments =
        MatmulArgs { size: None, a: None, b: None, out: None, block: 16, seed: 1, cpu: false };
    let (report, _) = Task::random(&gpu, &arguments)?.run(&gpu, console)?;
    console
        .line("\nOther commands: `ferrowarp --help`; other sizes: `ferrowarp matmul --size 512`")?;
    let (backend, device) = (gpu.backend().to_string(), gpu.name()?);
    console.json(&Output { command: "demo", backend, device, hello, matmul: report })
}
