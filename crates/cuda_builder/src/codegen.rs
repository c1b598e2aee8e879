//! From the optimised module to PTX.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::llvm::{self, Argument, flag};
use crate::optimise::{denormal_flags, target_flags};
use crate::selection;
use crate::toolchain::Toolchain;

/// How to write the PTX.
pub(crate) struct Request<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) arch: NvvmArch,
    pub(crate) ptx_version: (u32, u32),
    pub(crate) optimise: bool,
    pub(crate) flush_to_zero: bool,
    /// Whether `a * b + c` may become one fused multiply-add, rounded once.
    pub(crate) contract: bool,
    /// Whether f32 square roots may be approximate.
    pub(crate) fast_sqrt: bool,
    /// Whether f32 divisions may be off by 2 units in the last place.
    pub(crate) fast_div: bool,
    /// For the output.
    pub(crate) folder: &'a Path,
}

/// Writes the PTX and gives its path.
///
/// # Errors
///
/// If the module asks for an operation that the GPU lacks, or `llc` fails otherwise.
pub(crate) fn codegen(request: &Request<'_>, module: &Path) -> Result<PathBuf, CudaBuilderError> {
    let ptx = request.folder.join("module.ptx");
    let mut arguments = vec![flag(if request.optimise { "-O3" } else { "-O0" })];
    arguments.extend(target_flags(request.arch, request.ptx_version));
    arguments.extend(denormal_flags(request.flush_to_zero));
    arguments.push(flag(if request.contract { "-fp-contract=fast" } else { "-fp-contract=off" }));
    if request.fast_sqrt {
        arguments.push(flag("-nvptx-prec-sqrtf32=0"));
    }
    if request.fast_div {
        // 1 is `div.full`, as nvcc's -prec-div=false; 0 would be `div.approx`, wrong for large divisors.
        arguments.push(flag("-nvptx-prec-divf32=1"));
    }
    arguments.extend([flag("-filetype=asm"), Argument::Path(module), Argument::Output(&ptx)]);
    llvm::run(request.toolchain, "llc", arguments).map_err(|error| explained(error, module))?;
    Ok(ptx)
}

/// The error with the lines of Rust that are to blame, where they can be found.
fn explained(error: CudaBuilderError, module: &Path) -> CudaBuilderError {
    let CudaBuilderError::LlvmFailed { output, .. } = &error else { return error };
    let text = fs::read_to_string(module).unwrap_or_default();
    match selection::explain(output, &text) {
        Some(operation) => {
            CudaBuilderError::UnsupportedOperation { operation, output: output.clone() }
        }
        None => error,
    }
}
