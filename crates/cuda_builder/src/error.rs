//! Every way a build can fail, and all the wording.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::NvvmArch;
use crate::toolchain::ToolchainReport;

/// Why [`CudaBuilder::build`](crate::CudaBuilder::build) failed, and what to do about it.
///
/// `Debug` prints the same text as `Display`: a build script that ends in `.unwrap()` or returns the error from `main` shows it
/// by `Debug`, and the text holds rustc's own output, which nobody can read with its line ends escaped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The path given to [`CudaBuilder::new`](crate::CudaBuilder::new) isn't a folder.
    #[error("there is no kernel crate at {path}\n\nhelp: a relative path starts at {directory}", path = path.display(), directory = current_directory())]
    CratePathDoesntExist {
        /// The path that was given.
        path: PathBuf,
    },

    /// The path is no crate that can be built to PTX.
    #[error("{path} can't be built as a kernel crate: {reason}\n\nhelp: {help}", path = path.display())]
    NotAKernelCrate {
        /// The path that was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        help: String,
    },

    /// No complete device toolchain was found.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),

    /// The kernel crate, or a crate it depends on, doesn't compile.
    #[error("{output}\n\nthe kernel crate `{package}` failed to compile{help}\n\ncommand: {command}", output = output.trim_end(), help = help_lines(help))]
    BuildFailed {
        /// The kernel crate's name.
        package: String,
        /// The command line that failed.
        command: String,
        /// What rustc and cargo said, in full.
        output: String,
        /// Hints for the errors that kernels often meet; may be empty.
        help: Vec<String>,
    },

    /// A marked static can't be placed.
    #[error(transparent)]
    AddressSpace(#[from] AddressSpaceError),

    /// Kernels call functions that no crate defines.
    #[error("{}", unresolved(symbols))]
    UnresolvedSymbols {
        /// The functions, with the places that call them.
        symbols: Vec<UnresolvedSymbol>,
    },

    /// Statics are larger than the memory they lie in.
    #[error(transparent)]
    TooMuchMemory(#[from] TooMuchMemory),

    /// A kernel has clusters, and the architecture has none.
    #[error(transparent)]
    NoClusters(#[from] NoClusters),

    /// Kernels use an operation that the GPU has no instruction for.
    #[error("{}", unsupported(operation))]
    UnsupportedOperation {
        /// The operation, with the places that use it.
        operation: UnsupportedOperation,
        /// What LLVM said, with Rust names readable.
        output: String,
    },

    /// ptxas, which [`CudaBuilder::ptxas`](crate::CudaBuilder::ptxas) asked for, refused the PTX.
    #[error("ptxas refused the PTX ({status})\n\n{output}\n\ncommand: {command}", output = output.trim_end())]
    PtxasFailed {
        /// How it ended.
        status: String,
        /// The command line that failed.
        command: String,
        /// What it said, with the functions that it complains of, readable.
        output: String,
    },

    /// An LLVM tool failed.
    #[error("{tool} failed on the kernel crate's code ({status})\n\n{output}\n\ncommand: {command}{help}", output = output.trim_end(), help = help_lines(help))]
    LlvmFailed {
        /// The tool: `opt`, `llc`, `llvm-dis` or `llvm-link`.
        tool: String,
        /// How it ended.
        status: String,
        /// The command line that failed.
        command: String,
        /// What the tool said, with Rust names readable.
        output: String,
        /// What to do; may be empty.
        help: Vec<String>,
    },

    /// A program could not be started.
    #[error("could not run {program}: {source}\n\ncommand: {command}", program = program.display())]
    CouldNotRun {
        /// The program.
        program: PathBuf,
        /// The command line.
        command: String,
        /// Why.
        source: io::Error,
    },

    /// libdevice's file was named, and can't be used.
    #[error("libdevice at {path}, which {by} names, can't be used: {reason}\n\nhelp: name the file libdevice.10.bc of a CUDA toolkit or of the PyPI package nvidia-nvvm, or leave it out to build without", path = path.display())]
    Libdevice {
        /// The path that was given.
        path: PathBuf,
        /// Who gave it.
        by: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// An option asks for something this version doesn't do.
    #[error("the builder option `{option}` can't be used: {reason}")]
    UnsupportedOption {
        /// The option.
        option: &'static str,
        /// Why, and what to use instead.
        reason: String,
    },

    /// The PTX was made, but could not be copied to the path given to [`CudaBuilder::copy_to`](crate::CudaBuilder::copy_to).
    #[error("the PTX is complete but could not be copied to {path}: {source}", path = path.display())]
    FailedToCopyPtxFile {
        /// The path given to `copy_to`.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// A file or folder the build needs could not be read or written.
    #[error("could not {action} {path}: {source}{}", writable(source), path = path.display())]
    Io {
        /// What was tried, such as "create".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Debug for CudaBuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CudaBuilderError {
    /// For `map_err` on file operations.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// A function that kernels call and nothing defines.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnresolvedSymbol {
    /// Its name, readable.
    pub name: String,
    /// The functions that use it, each with `file:line:column` where known.
    pub users: Vec<String>,
}

/// A kernel is launched in clusters, which the architecture of the build doesn't have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "kernel `{kernel}`{} has clusters, which GPUs have from sm_90 on, and this build is for {arch}\n\nhelp: build for sm_90 (the builder's `arch` or `build_archs`), and keep the kernel out of other builds with `#[cfg(target_feature = \"compute_90\")]`",
    place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default()
)]
#[non_exhaustive]
pub struct NoClusters {
    /// The kernel, readable.
    pub kernel: String,
    /// `file:line` of the kernel, where known.
    pub place: Option<String>,
    /// What the build is for.
    pub arch: NvvmArch,
}

/// An operation that LLVM can't make PTX of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedOperation {
    /// LLVM's name for it, such as `llvm.acos.f32`; `None` if it is an operator, such as the addition of two `f128`.
    pub operation: Option<String>,
    /// The functions that use it, each with `file:line:column` where known.
    pub users: Vec<String>,
}

fn unsupported(UnsupportedOperation { operation, users }: &UnsupportedOperation) -> String {
    let users: String = users.iter().map(|user| format!("  used in {user}\n")).collect();
    let (what, help) = match operation {
        Some(operation) => (
            format!("for `{operation}`"),
            "use cuda_std's float functions or the libm crate in place of core's intrinsics",
        ),
        None => (
            "for an operator used here".to_owned(),
            "the usual reasons are numbers of the type f128, for which f64 must do, and conversions between 128-bit integers and floating-point numbers, which go by two halves of 64 bits",
        ),
    };
    format!("the GPU has no instruction {what}, and no library to call\n\n{users}\nhelp: {help}")
}

/// Statics that are together larger than the memory they lie in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooMuchMemory {
    /// The shared memory of one kernel.
    #[error(
        "kernel `{kernel}` uses {bytes} bytes of shared memory in statics, and a kernel may use {limit} bytes ({} KiB)\n{}\nhelp: make them smaller, or use dynamic shared memory, whose size the launch states and whose limit is the GPU's own (227 KiB on sm_90)",
        limit >> 10,
        list(statics)
    )]
    Shared {
        /// The kernel, readable.
        kernel: String,
        /// What it uses, with the functions it calls.
        bytes: u64,
        /// What it may use, bytes.
        limit: u64,
        /// The statics, the largest first.
        statics: Vec<OversizedStatic>,
    },

    /// The constant memory of the whole module.
    #[error(
        "the kernels have {bytes} bytes of constant memory in statics, and a module may have {limit} bytes ({} KiB)\n{}\nhelp: leave the large ones in global memory: without `#[address_space(constant)]`, and without the builder's `use_constant_memory_space`",
        limit >> 10,
        list(statics)
    )]
    Constant {
        /// What all statics need.
        bytes: u64,
        /// What they may need, bytes.
        limit: u64,
        /// The statics, the largest first.
        statics: Vec<OversizedStatic>,
    },
}

/// A static of a [`TooMuchMemory`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OversizedStatic {
    /// Its path, readable.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Functions that use it, each with `file:line:column` where known.
    pub users: Vec<String>,
}

/// At most this many statics are listed.
const MAX_STATICS: usize = 8;

fn list(statics: &[OversizedStatic]) -> String {
    let mut text = String::new();
    for one in statics.iter().take(MAX_STATICS) {
        text.push_str(&format!("\n  {}: {} bytes\n", one.name, one.bytes));
        one.users.iter().for_each(|user| text.push_str(&format!("    used in {user}\n")));
    }
    if statics.len() > MAX_STATICS {
        text.push_str(&format!("\n  and {} smaller ones\n", statics.len() - MAX_STATICS));
    }
    text
}

/// Why a marked static can't be placed in its address space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressSpaceError {
    /// The section begins with `.cuda.` but names no address space.
    #[error(
        "static `{}` is in the link section `{section}`, which names no address space\n\nhelp: the sections are .cuda.shared, .cuda.shared.dynamic, .cuda.constant and .cuda.global; `#[address_space(…)]` of cuda_std writes them",
        readable(name)
    )]
    UnknownSection {
        /// The static's symbol.
        name: String,
        /// The section.
        section: String,
    },

    /// A shared static has an initial value.
    #[error(
        "shared static `{}` has an initial value, but shared memory starts uninitialised in every block\n\nhelp: declare it as `MaybeUninit<T>` with `MaybeUninit::uninit()`, and let the threads fill it before a barrier",
        readable(name)
    )]
    InitialisedShared {
        /// The static's symbol.
        name: String,
    },

    /// Another static holds the address of a shared one.
    #[error(
        "static `{}` holds the address of shared static `{}`, which is another one in every block\n\nhelp: take the address in the kernel",
        readable(holder),
        readable(shared)
    )]
    SharedAddressInStatic {
        /// The shared static's symbol.
        shared: String,
        /// The static that holds its address.
        holder: String,
    },
}

/// No complete device toolchain: a rustc with its library's source, and LLVM tools of the same major version.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no toolchain on this machine can compile kernels to PTX\n\nlooked for:\n{report}\n{}", mend(&report.mend()))]
pub struct ToolchainError {
    report: Box<ToolchainReport>,
}

impl ToolchainError {
    pub(crate) fn new(report: ToolchainReport) -> Self {
        Self { report: Box::new(report) }
    }

    /// What was looked for and what is missing.
    #[must_use]
    pub fn report(&self) -> &ToolchainReport {
        &self.report
    }
}

/// There is no architecture of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown GPU architecture `{0}`; known are {known}", known = known_architectures())]
pub struct UnknownArch(pub(crate) String);

fn known_architectures() -> String {
    NvvmArch::ALL.iter().map(|arch| arch.target_cpu()).collect::<Vec<_>>().join(", ")
}

/// A symbol as its author wrote it: `@_RNvCs…_1k4TILE` is `k::TILE`.
pub(crate) fn readable(symbol: &str) -> String {
    let name = symbol.trim_start_matches('@').trim_matches('"');
    format!("{:#}", rustc_demangle::demangle(name))
}

/// What to do about a folder that can't be written.
fn writable(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "\n\nhelp: the build needs a folder that it may write to: `CudaBuilder::target_dir` or the variable CARGO_TARGET_DIR names another"
        }
        io::ErrorKind::StorageFull => "\n\nhelp: a build takes up to 400 MiB there",
        _ => "",
    }
}

fn current_directory() -> String {
    std::env::current_dir()
        .map_or_else(|_| "the current folder".to_owned(), |path| path.display().to_string())
}

fn help_lines(help: &[String]) -> String {
    help.iter().map(|line| format!("\n\nhelp: {line}")).collect()
}

fn mend(commands: &[String]) -> String {
    let lines: Vec<String> = commands.iter().map(|line| format!("  {line}")).collect();
    format!("help: any one of these completes a toolchain:\n{}", lines.join("\n"))
}

fn unresolved(symbols: &[UnresolvedSymbol]) -> String {
    let mut text = String::from("kernels call functions that nothing defines:\n");
    for symbol in symbols {
        text.push_str(&format!("\n  {}\n", symbol.name));
        for user in &symbol.users {
            text.push_str(&format!("    called in {user}\n"));
        }
    }
    text.push_str(
        "\nhelp: a GPU has no C library to link with; write the function in Rust, or depend on a no_std crate that has it",
    );
    if symbols.iter().any(|symbol| symbol.name.starts_with("llvm.")) {
        text.push_str("\nhelp: names that begin with llvm. are LLVM's intrinsics, and this LLVM has none of that name: compare the spelling, or ask for the instruction with inline PTX (`core::arch::asm!`)");
    }
    if symbols.iter().any(|symbol| symbol.name.starts_with("__nv_")) {
        text.push_str("\nhelp: functions named __nv_… are libdevice's, which is not linked or lacks them; cuda_std::intrinsics has all of them with and without it");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cant_be_written_says_how_to_name_another() {
        let error = |kind: io::ErrorKind| {
            CudaBuilderError::io("create", Path::new("/read/only"))(kind.into()).to_string()
        };
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            let text = error(kind);
            assert!(text.starts_with("could not create /read/only: "), "{text}");
            assert!(text.contains("help: ") && text.contains("target_dir"), "{text}");
        }
        assert!(!error(io::ErrorKind::NotADirectory).contains("help"));
    }
}
