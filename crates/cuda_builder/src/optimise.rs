//! From the merged bitcode to the optimised module: unused code goes, all functions get one processor, panics inline,
//! mathematical functions become instructions or libdevice's, `core`'s calls of C functions get their functions, remainders become
//! exact, marked statics get their address spaces, LLVM optimises, and atomics get the orderings and scopes that LLVM would lose.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::llvm::{self, Argument, flag};
use crate::panics::PanicMessages;
use crate::toolchain::Toolchain;
use crate::{
    address_space, atomics, kernel_limits, libcalls, maths, panics, remainder, target_attributes,
};

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
    /// Whether f32 square roots may be approximate.
    pub(crate) fast_sqrt: bool,
    /// Whether f32 divisions may be off by 2 units in the last place.
    pub(crate) fast_div: bool,
    /// libdevice's file, if it is to be linked.
    pub(crate) libdevice: Option<&'a Path>,
    /// Whether the `libm` crate's functions become libdevice's.
    pub(crate) override_libm: bool,
    /// Whether unmarked immutable statics go to constant memory.
    pub(crate) immutable_statics_to_constant: bool,
    /// Whether panics leave what they say in the host's memory as well.
    pub(crate) panic_record: bool,
    /// What panics say.
    pub(crate) panic_messages: PanicMessages,
    /// For intermediate files.
    pub(crate) folder: &'a Path,
}

/// The optimised module.
pub(crate) struct Optimised {
    /// Its text.
    pub(crate) module: PathBuf,
    /// Whose mathematical functions it calls.
    pub(crate) maths: maths::Uses,
}

/// Optimises the module.
///
/// # Errors
///
/// If a tool fails, a marked static can't be placed, or an intermediate file can't be written.
pub(crate) fn optimise(
    request: &Request<'_>,
    bitcode: &Path,
) -> Result<Optimised, CudaBuilderError> {
    let Request { toolchain, folder, .. } = request;
    let [used, text, placed, linked, optimised] =
        ["used.bc", "used.ll", "placed.ll", "linked.bc", "optimised.ll"]
            .map(|name| folder.join(name));

    // Most of `core` is unused, and so are the sides of `cuda_std`'s switches that the options don't take; gone first, the rest is
    // small enough to handle as text.
    let mut arguments = vec![
        flag("-passes=nvvm-reflect,function(unreachableblockelim),globaldce"),
        Argument::Path(bitcode),
        Argument::Output(&used),
    ];
    arguments.extend(request.switches());
    llvm::run(toolchain, "opt", arguments)?;
    llvm::run(toolchain, "llvm-dis", [Argument::Path(&used), Argument::Output(&text)])?;
    let module = fs::read_to_string(&text).map_err(CudaBuilderError::io("read", &text))?;
    let module = target_attributes::strip(&module);
    let module = panics::rewrite(&module, request.panic_messages, request.optimise);
    let maths::Rewritten { module, uses: maths } =
        maths::rewrite(&module, request.libdevice.is_some() && request.override_libm);
    let module = libcalls::define(&module);
    let module = remainder::expand(&module);
    let module = atomics::expand(&module);
    kernel_limits::check(&module, request.arch)?;
    let module = kernel_limits::rewrite(&module)?;
    let module = address_space::rewrite(&module, request.immutable_statics_to_constant)?;
    fs::write(&placed, module.as_bytes()).map_err(CudaBuilderError::io("write", &placed))?;

    let input = match request.libdevice.filter(|_| maths.libdevice) {
        Some(libdevice) => {
            link(toolchain, &placed, libdevice, &linked)?;
            &linked
        }
        None => &placed,
    };

    let passes = if request.optimise {
        "-passes=nvvm-reflect,default<O3>"
    } else {
        "-passes=nvvm-reflect,function(unreachableblockelim),default<O0>,globaldce"
    };
    let mut arguments =
        vec![flag(passes), flag("-S"), Argument::Path(input), Argument::Output(&optimised)];
    arguments.extend(request.switches());
    arguments.extend(target_flags(request.arch, request.ptx_version));
    arguments.extend(denormal_flags(request.flush_to_zero));
    if !request.line_info {
        arguments.push(flag("-strip-debug"));
    }
    llvm::run(toolchain, "opt", arguments)?;
    let module = lower_atomics(request, &optimised)?;
    Ok(Optimised { module, maths })
}

/// Adds to the module those of libdevice's functions that it declares, and what they call.
fn link(
    toolchain: &Toolchain,
    module: &Path,
    libdevice: &Path,
    linked: &Path,
) -> Result<(), CudaBuilderError> {
    // Internal, they are gone once they are inlined. The flag is for the files after the first.
    let arguments = [
        flag("--only-needed"),
        flag("--internalize"),
        Argument::Path(module),
        Argument::Path(libdevice),
        Argument::Output(linked),
    ];
    llvm::run(toolchain, "llvm-link", arguments)
}

impl Request<'_> {
    /// What `__nvvm_reflect` says. libdevice asks for the first ones (NVVM IR Specification, "Reflection"), `cuda_std` also for
    /// those with its name.
    fn switches<'a>(&self) -> impl Iterator<Item = Argument<'a>> {
        let is = |messages| (self.panic_messages == messages).into();
        [
            ("__CUDA_FTZ", self.flush_to_zero.into()),
            ("__CUDA_PREC_SQRT", (!self.fast_sqrt).into()),
            ("__CUDA_PREC_DIV", (!self.fast_div).into()),
            ("__CUDA_ARCH", 10 * self.arch.capability_value()),
            ("__CUDA_STD_LIBDEVICE", self.libdevice.is_some().into()),
            ("__CUDA_STD_CONSTANT_MESSAGES", is(PanicMessages::Constant)),
            ("__CUDA_STD_FULL_MESSAGES", is(PanicMessages::Full)),
            ("__CUDA_STD_PANIC_RECORD", self.panic_record.into()),
        ]
        .into_iter()
        .map(|(name, value)| flag(format!("-nvvm-reflect-add={name}={value}")))
    }
}

/// Puts into the optimised module what stands for its atomics; gives the path of the result.
fn lower_atomics(request: &Request<'_>, optimised: &Path) -> Result<PathBuf, CudaBuilderError> {
    let Request { toolchain, arch, ptx_version, folder, .. } = *request;
    let target = atomics::Target { capability: arch.capability_value(), ptx: ptx_version };
    let read = |path: &Path| fs::read_to_string(path).map_err(CudaBuilderError::io("read", path));
    if matches!(atomics::lower(&read(optimised)?, target), Cow::Borrowed(_)) {
        return Ok(optimised.to_owned());
    }
    let [inferred, lowered, result] =
        ["inferred.ll", "lowered.ll", "atomics.ll"].map(|name| folder.join(name));
    let run = |passes: &str, from: &Path, to: &Path| {
        let mut arguments =
            vec![flag(passes), flag("-S"), Argument::Path(from), Argument::Output(to)];
        arguments.extend(target_flags(arch, ptx_version));
        llvm::run(toolchain, "opt", arguments)
    };
    // `llc` would do this too, but not see through inline PTX.
    run("-passes=infer-address-spaces", optimised, &inferred)?;
    let module = read(&inferred)?;
    fs::write(&lowered, atomics::lower(&module, target).as_bytes())
        .map_err(CudaBuilderError::io("write", &lowered))?;
    run("-passes=always-inline,globaldce", &lowered, &result)?;
    Ok(result)
}

/// The processor and the PTX version, as `opt` and `llc` take them.
pub(crate) fn target_flags<'a>(arch: NvvmArch, (major, minor): (u32, u32)) -> [Argument<'a>; 2] {
    [flag(format!("-mcpu={}", arch.target_cpu())), flag(format!("-mattr=+ptx{major}{minor}"))]
}

/// How `opt` and `llc` treat f32 subnormals: kept by default, as IEEE 754 has it.
pub(crate) fn denormal_flags<'a>(flush_to_zero: bool) -> Option<Argument<'a>> {
    flush_to_zero.then(|| flag("-denormal-fp-math-f32=preserve-sign"))
}
