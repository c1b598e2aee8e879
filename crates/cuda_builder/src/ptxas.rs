//! NVIDIA's assembler, where it is installed: it refuses PTX now that the driver would refuse later, and knows what each kernel needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arch::NvvmArch;
use crate::command;
use crate::cuda_tools;
use crate::error::CudaBuilderError;
use crate::llvm;

/// What a kernel needs, as ptxas says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resources {
    /// The kernel's name in the PTX.
    kernel: String,
    /// 32-bit registers per thread.
    registers: u32,
    /// Registers that did not fit, stored in local memory and loaded again, bytes per thread.
    spill_stores: u32,
    spill_loads: u32,
    /// Shared memory in statics, bytes per block.
    shared_bytes: u32,
}

/// ptxas: the file that PTXAS names and no other, else where [`cuda_tools`] looks.
///
/// # Errors
///
/// If there is none.
pub(crate) fn find() -> Result<PathBuf, CudaBuilderError> {
    cuda_tools::find("ptxas").ok_or_else(|| missing(cuda_tools::named("ptxas").as_deref()))
}

/// The error where there is no ptxas, or none in the place that the variable names.
fn missing(named: Option<&Path>) -> CudaBuilderError {
    let reason = match named {
        // A mistake, even where there is another ptxas.
        Some(path) => format!("PTXAS names {}, which is no file", path.display()),
        None => "there is no ptxas in PATH, $CUDA_PATH/bin, $CUDA_HOME/bin or /usr/local/cuda/bin; the CUDA toolkit and the PyPI package nvidia-cuda-nvcc have one, and the variable PTXAS may name it".to_owned(),
    };
    CudaBuilderError::UnsupportedOption { option: "ptxas", reason }
}

/// Assembles the PTX file for `arch`, beside it.
///
/// # Errors
///
/// If ptxas can't be run or refuses the PTX.
pub(crate) fn assemble(
    ptxas: &Path,
    ptx: &Path,
    arch: NvvmArch,
) -> Result<Vec<Resources>, CudaBuilderError> {
    let mut command = Command::new(ptxas);
    command.arg("--verbose").arg(format!("--gpu-name={arch}"));
    command.arg("--output-file").arg(ptx.with_extension("cubin")).arg(ptx);
    let output = command::output(&mut command)?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if output.status.success() {
        return Ok(report(&said));
    }
    let text = fs::read_to_string(ptx).unwrap_or_default();
    Err(CudaBuilderError::PtxasFailed {
        status: output.status.to_string(),
        command: command::line(&command),
        output: llvm::demangle_all(&complaints(&said, &text)),
    })
}

/// The lines that are not the report, those that name a line of the PTX with the function that is in.
fn complaints(said: &str, ptx: &str) -> String {
    let function = |line: &str| {
        let number: usize = line.split_once(", line ")?.1.split_once(';')?.0.parse().ok()?;
        let before: Vec<&str> = ptx.lines().take(number).collect();
        let header =
            before.iter().rev().find(|line| line.contains(".entry ") || line.contains(".func "))?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
        header.split_once(".entry ").map_or_else(
            || header.trim_end_matches(|c| !is_name(c)).rsplit(|c| !is_name(c)).next(),
            |(_, rest)| rest.split(|c| !is_name(c)).next(),
        )
    };
    let is_report = |line: &str| line.starts_with("ptxas info") || line.starts_with(' ');
    said.lines()
        .filter(|line| !is_report(line))
        .map(|line| match function(line) {
            Some(name) => format!("{line}\n  in `{name}`\n"),
            None => format!("{line}\n"),
        })
        .collect()
}

/// Reads what `ptxas --verbose` prints: for each kernel a line with its name, one with its spills, one with its registers.
fn report(said: &str) -> Vec<Resources> {
    let mut kernels: Vec<Resources> = Vec::new();
    let mut own = false;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or(rest).to_owned();
            kernels.push(Resources {
                kernel,
                registers: 0,
                spill_stores: 0,
                spill_loads: 0,
                shared_bytes: 0,
            });
        }
        let Some(last) = kernels.last_mut() else { continue };
        // The functions that a kernel calls have such lines too.
        if let Some((_, function)) = line.split_once("Function properties for ") {
            own = function.trim() == last.kernel;
        }
        // The word before each of these phrases is its number.
        let number = |phrase: &str| -> Option<u32> {
            line.split_once(phrase)?.0.split_whitespace().last()?.parse().ok()
        };
        if own && line.contains(" bytes spill stores") {
            last.spill_stores = number(" bytes spill stores").unwrap_or(0);
            last.spill_loads = number(" bytes spill loads").unwrap_or(0);
        }
        if line.contains(": Used ") {
            last.registers = number(" registers").unwrap_or(0);
            last.shared_bytes = number(" bytes smem").unwrap_or(0);
        }
    }
    kernels
}

impl std::fmt::Display for Resources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kernel, registers, spill_stores, spill_loads, shared_bytes } = self;
        write!(
            f,
            "kernel `{kernel}`: {registers} registers per thread, {spill_stores} bytes of spill stores and {spill_loads} of loads per thread, {shared_bytes} bytes of shared memory per block"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_names_no_file_is_told_apart_from_none() {
        let text = missing(Some(Path::new("/no/such/ptxas"))).to_string();
        assert!(text.contains("`ptxas`") && text.contains("/no/such/ptxas, which is no"), "{text}");
        assert!(missing(None).to_string().contains("the variable PTXAS may name it"));
    }

    #[test]
    fn the_report_is_read_kernel_by_kernel() {
        let said = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tile' for 'sm_90'
ptxas info    : Function properties for tile
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Function properties for helper
    0 bytes stack frame, 400 bytes spill stores, 800 bytes spill loads
ptxas info    : Compile time = 4.123 ms
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 6 registers, used 0 barriers, 360 bytes cmem[0]
";
        let lines: Vec<String> = report(said).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "kernel `tile`: 32 registers per thread, 4 bytes of spill stores and 8 of loads per thread, 2048 bytes of shared memory per block",
                "kernel `k`: 6 registers per thread, 0 bytes of spill stores and 0 of loads per thread, 0 bytes of shared memory per block",
            ]
        );
        assert!(report("").is_empty());
    }

    #[test]
    fn complaints_name_the_function_of_their_line() {
        let ptx = ".func  (.param .b32 r) helper(\n)\n{\n bad;\n}\n.visible .entry k(.param .u64 p)\n{\n bad;\n}\n";
        let said = "ptxas m.ptx, line 4; error   : Unknown\nptxas m.ptx, line 8; error   : Unknown\nptxas info    : 0 bytes gmem\nptxas error   : Entry function 'k' uses too much\n";
        assert_eq!(
            complaints(said, ptx),
            "ptxas m.ptx, line 4; error   : Unknown\n  in `helper`\nptxas m.ptx, line 8; error   : Unknown\n  in `k`\nptxas error   : Entry function 'k' uses too much\n"
        );
    }
}
