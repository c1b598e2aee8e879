//! NVIDIA's own programs, where they are installed: `ptxas` compiles PTX to a GPU's instructions and knows the
//! registers that takes; `nvdisasm` and `cuobjdump` show those instructions. Nothing else needs them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// What `ptxas` says about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Resources {
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Statically declared shared memory, bytes per block.
    pub shared_bytes: u32,
    /// Registers that did not fit and are stored in local memory, bytes per thread.
    pub spill_store_bytes: u32,
    /// Stack in local memory, bytes per thread.
    pub stack_bytes: u32,
}

/// A kernel compiled by `ptxas`.
#[derive(Debug)]
pub struct Compiled {
    /// What it needs.
    pub resources: Resources,
    cubin: PathBuf,
    _folder: tempfile::TempDir,
}

/// A program by its name, where `cuda_builder` would find it; `None` when there is none.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    cuda_builder::find_cuda_tool(name)
}

/// The error for a program that [`find`] did not find.
#[must_use]
pub fn missing(tool: &'static str) -> Error {
    let package = match tool {
        "ptxas" => "nvidia-cuda-nvcc",
        "cuobjdump" => "nvidia-cuda-cuobjdump",
        _ => "nvidia-cuda-nvdisasm",
    };
    let looked = format!(
        "the variable {}, PATH, $CUDA_PATH/bin, $CUDA_HOME/bin, /usr/local/cuda/bin",
        tool.to_uppercase()
    );
    Error::MissingTool { tool, looked, package }
}

/// Compiles one kernel of a PTX module for `arch`, such as `sm_90`.
///
/// # Errors
///
/// [`Error::ToolFailed`] with what `ptxas` said, or [`Error::Output`] when no temporary file can be made.
pub fn compile(ptxas: &Path, ptx: &str, kernel: &str, arch: &str) -> Result<Compiled, Error> {
    let folder = tempfile::tempdir().map_err(Error::Output)?;
    let (source, cubin) = (folder.path().join("kernels.ptx"), folder.path().join("kernel.cubin"));
    std::fs::write(&source, ptx).map_err(Error::Output)?;
    let mut command = Command::new(ptxas);
    command
        .args(["--verbose", "--gpu-name", arch, "--entry", kernel, "--output-file"])
        .arg(&cubin)
        .arg(&source);
    let report = run(command)?;
    Ok(Compiled { resources: parse_report(&report, kernel), cubin, _folder: folder })
}

impl Compiled {
    /// The kernel's SASS, by `nvdisasm` or else `cuobjdump`.
    ///
    /// # Errors
    ///
    /// [`Error::MissingTool`] when neither is installed, [`Error::ToolFailed`] when the one found fails.
    pub fn sass(&self) -> Result<String, Error> {
        let mut command = if let Some(nvdisasm) = find("nvdisasm") {
            let mut command = Command::new(nvdisasm);
            command.arg("--print-code");
            command
        } else if let Some(cuobjdump) = find("cuobjdump") {
            let mut command = Command::new(cuobjdump);
            command.arg("--dump-sass");
            command
        } else {
            return Err(missing("nvdisasm"));
        };
        command.arg(&self.cubin);
        run(command)
    }
}

/// Runs a program and returns all that it printed.
fn run(mut command: Command) -> Result<String, Error> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    let failed = |status: String, output: String| Error::ToolFailed {
        command: line.clone(),
        status,
        output,
    };
    let output = command
        .output()
        .map_err(|error| failed("it could not be started".to_owned(), error.to_string()))?;
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    if output.status.success() { Ok(text) } else { Err(failed(output.status.to_string(), text)) }
}

/// Reads the lines `ptxas --verbose` prints for `kernel`.
fn parse_report(report: &str, kernel: &str) -> Resources {
    let marker = format!("Compiling entry function '{kernel}' ");
    let own = report.split_once(&marker).map_or(report, |(_, rest)| rest);
    let own = own.split_once("Compiling entry function").map_or(own, |(own, _)| own);
    // The word before each of these phrases is its number.
    let number_before = |phrase: &str| {
        let (before, _) = own.split_once(phrase)?;
        before.split_whitespace().last()?.parse().ok()
    };
    Resources {
        registers: number_before("registers").unwrap_or(0),
        shared_bytes: number_before("bytes smem").unwrap_or(0),
        spill_store_bytes: number_before("bytes spill stores").unwrap_or(0),
        stack_bytes: number_before("bytes stack frame").unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_ptxas_is_read() {
        let report = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tile' for 'sm_90'
ptxas info    : Function properties for tile
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Compile time = 4.123 ms
";
        let expected =
            Resources { registers: 32, shared_bytes: 2048, spill_store_bytes: 4, stack_bytes: 16 };
        assert_eq!(parse_report(report, "tile"), expected);
    }

    #[test]
    fn a_failing_program_is_an_error_with_its_words() {
        let error = compile(Path::new("/no/such/ptxas"), "", "k", "sm_90").unwrap_err();
        assert!(error.to_string().starts_with("/no/such/ptxas --verbose"), "{error}");
        assert_eq!(error.exit_status(), crate::error::ExitStatus::Environment);
    }
}
