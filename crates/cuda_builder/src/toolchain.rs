//! Finding a rustc, its library's source, and LLVM tools that fit together.
//!
//! Compiling for the GPU takes four things: a `rustc` from 1.95 on, the source of its standard library (no distribution ships
//! `core` compiled for `nvptx64-nvidia-cuda`), `opt`, `llc` and `llvm-dis` of the same LLVM major version as that rustc (bitcode
//! isn't compatible across majors), and a `cargo` to drive it. They are looked for in this order, and the first complete set
//! wins:
//!
//! 1. what `CUDA_BUILDER_RUSTC` and `CUDA_BUILDER_LLVM_BIN` name: nothing else is tried when one of them is set;
//! 2. the active toolchain with rustup's components `rust-src` and `llvm-tools`;
//! 3. the distribution's packages: `/usr/bin/rustc`, its source, and `/usr/lib/llvm-N/bin`;
//! 4. any other installed rustc with its source, with LLVM tools from anywhere.

use std::fmt;
use std::path::{Path, PathBuf};

mod candidate;
mod llvm;
mod locations;
mod mend;
mod report;

pub use report::{CandidateReport, Item, ToolchainReport};

use crate::error::ToolchainError;
use candidate::Candidate;

/// The environment variable that names the rustc to use.
pub const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";

/// The environment variable that names the folder of LLVM tools to use.
pub const LLVM_BIN_VARIABLE: &str = "CUDA_BUILDER_LLVM_BIN";

/// The oldest rustc that compiles this project's kernels, as (major, minor).
pub const MINIMUM_RUST: (u32, u32) = (1, 95);

/// A complete device toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Toolchain {
    /// Where it comes from, in words.
    pub origin: String,
    /// The compiler.
    pub rustc: PathBuf,
    /// Its version, such as `1.96.0`.
    pub rustc_version: String,
    /// The cargo that drives it.
    pub cargo: PathBuf,
    /// The root of the standard library's source.
    pub rust_src: PathBuf,
    /// The folder with `opt`, `llc` and `llvm-dis`.
    pub llvm_bin: PathBuf,
    /// The LLVM tools' version, such as `22.1.8`.
    pub llvm_version: String,
}

impl Toolchain {
    /// Finds the first complete toolchain, in the order of the module's description.
    ///
    /// # Errors
    ///
    /// If none is complete. The error lists what was looked for, what was found, and the commands that mend it.
    pub fn discover() -> Result<Self, ToolchainError> {
        let mut report = ToolchainReport::default();
        for candidate in Candidate::all() {
            match candidate.examine() {
                (entry, Some(toolchain)) => {
                    report.add(entry);
                    return Ok(toolchain);
                }
                (entry, None) => report.add(entry),
            }
        }
        Err(ToolchainError::new(report))
    }

    /// Examines every toolchain there is, for showing; [`ToolchainReport::chosen`] is what [`discover`](Self::discover) finds.
    #[must_use]
    pub fn report() -> ToolchainReport {
        let mut report = ToolchainReport::default();
        for candidate in Candidate::all() {
            let (entry, toolchain) = candidate.examine();
            report.add(entry);
            report.choose(toolchain);
        }
        report
    }

    /// The path of one of the LLVM tools.
    pub(crate) fn llvm_tool(&self, name: &str) -> PathBuf {
        llvm::tool(&self.llvm_bin, name)
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rustc, rustc_version, llvm_bin, llvm_version, .. } = self;
        write!(
            f,
            "rustc {rustc_version} ({}), LLVM {llvm_version} ({})",
            rustc.display(),
            llvm_bin.display()
        )
    }
}

/// What `rustc -vV` says: release, commit, host and LLVM; `None` if it doesn't run.
pub(crate) fn verbose_version(rustc: &Path) -> Option<String> {
    let output = std::process::Command::new(rustc).arg("-vV").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a file exists; a broken link doesn't.
fn is_file(path: &Path) -> bool {
    path.is_file()
}
