//! From the merged bitcode to the optimised module: unused code goes, all functions get one processor, panics inline, marked
//! statics get their address spaces, and LLVM optimises.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::llvm::{self, Argument, flag};
use crate::toolchain::Toolchain;
use crate::{address_space, panics, target_attributes};

/// How to optimise.
pub(crate) struct Request<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) arch: NvvmArch,
    pub(crate) ptx_version: (u32, u32),
    /// `O3` if set, else only what is needed for correct code.
    pub(crate) optimise: bool,
    /// Whether the line numbers stay.
    pub(crate) line_info: bool,
    /// Whether f32 subnormals count as zero.
    pub(crate) flush_to_zero: bool,
    /// Whether unmarked immutable statics go to constant memory.
    pub(crate) immutable_statics_to_constant: bool,
    /// For intermediate files.
    pub(crate) folder: &'a Path,
}

/// Optimises the module and gives the path of its text.
///
/// # Errors
///
/// If a tool fails, a marked static can't be placed, or an intermediate file can't be written.
pub(crate) fn optimise(request: &Request<'_>, bitcode: &Path) -> Result<PathBuf, CudaBuilderError> {
    let Request { toolchain, folder, .. } = request;
    let [used, text, placed, optimised] =
        ["used.bc", "used.ll", "placed.ll", "optimised.ll"].map(|name| folder.join(name));

    // Most of `core` is unused; gone first, the rest is small enough to handle as text.
    llvm::run(
        toolchain,
        "opt",
        [flag("-passes=globaldce"), Argument::Path(bitcode), Argument::Output(&used)],
    )?;
    llvm::run(toolchain, "llvm-dis", [Argument::Path(&used), Argument::Output(&text)])?;
    let module = fs::read_to_string(&text).map_err(CudaBuilderError::io("read", &text))?;
    let module = target_attributes::strip(&module);
    let module = if request.optimise { panics::inline(&module) } else { module };
    let module = address_space::rewrite(&module, request.immutable_statics_to_constant)?;
    fs::write(&placed, module.as_bytes()).map_err(CudaBuilderError::io("write", &placed))?;

    let passes =
        if request.optimise { "-passes=default<O3>" } else { "-passes=default<O0>,globaldce" };
    let mut arguments =
        vec![flag(passes), flag("-S"), Argument::Path(&placed), Argument::Output(&optimised)];
    arguments.extend(target_flags(request.arch, request.ptx_version));
    arguments.extend(denormal_flags(request.flush_to_zero));
    if !request.line_info {
        arguments.push(flag("-strip-debug"));
    }
    llvm::run(toolchain, "opt", arguments)?;
    Ok(optimised)
}

/// The processor and the PTX version, as `opt` and `llc` take them.
pub(crate) fn target_flags<'a>(arch: NvvmArch, (major, minor): (u32, u32)) -> [Argument<'a>; 2] {
    [flag(format!("-mcpu={}", arch.target_cpu())), flag(format!("-mattr=+ptx{major}{minor}"))]
}

/// How `opt` and `llc` treat f32 subnormals: kept by default, as IEEE 754 has it.
pub(crate) fn denormal_flags<'a>(flush_to_zero: bool) -> Option<Argument<'a>> {
    flush_to_zero.then(|| flag("-denormal-fp-math-f32=preserve-sign"))
}
