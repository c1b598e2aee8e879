//! What can go wrong in a maintenance command, and all its wording.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Failure of a maintenance command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A step ran and said no.
    #[error("`{command}` failed with {status}")]
    Failed { command: String, status: std::process::ExitStatus },
    /// A program could not be started.
    #[error("cannot run `{program}`: {source}; is it installed and on PATH?")]
    Start { program: String, source: std::io::Error },
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// Not inside the repository.
    #[error("{} is not inside a checkout of ferrowarp; change to one first", folder.display())]
    NotInWorkspace { folder: PathBuf },
    /// ptxas is nowhere and could not be installed.
    #[error(
        "no ptxas found: looked at $PTXAS, PATH, the usual CUDA folders and {}; install it with `python3 -m pip install --target {} nvidia-cuda-nvcc`",
        folder.display(), folder.display()
    )]
    NoPtxas { folder: PathBuf },
    /// ptxas accepted what it must refuse, so its yes means nothing.
    #[error("ptxas accepted broken PTX, so the check itself does not work")]
    PtxasAcceptsAnything,
    /// A generated page is out of date.
    #[error("{} is out of date; run `cargo xtask tables` and commit the result", page.display())]
    Stale { page: PathBuf },
    /// Cargo's build messages made no sense.
    #[error("cargo reported no executable for {what}")]
    NoExecutable { what: String },
    /// rustdoc's JSON is of another version, or none.
    #[error(
        "cannot read {}: {source}; it should be rustdoc's JSON of format {expected}, which Rust 1.95 writes",
        path.display()
    )]
    Documentation { path: PathBuf, expected: u32, source: serde_json::Error },
    /// Public items that no test uses.
    #[error("{} public items of cuda_std are not tested:\n  {}", items.len(), items.join("\n  "))]
    Untested { items: Vec<String> },
    /// The tests' kernels did not compile.
    #[error(transparent)]
    Kernels(Box<cuda_builder::CudaBuilderError>),
    /// A record of the tests' results that is none.
    #[error("{}: {source}", path.display())]
    Record { path: PathBuf, source: crate::numba_suite::BadLine },
    /// The table of reasons is wrong.
    #[error("{}: {source}", path.display())]
    Reasons { path: PathBuf, source: Box<toml::de::Error> },
    /// Tests that do not pass and nobody knows why.
    #[error(
        "{} tests do not pass and have no reason in {}:\n  {}",
        tests.len(), table.display(), tests.join("\n  ")
    )]
    Unexplained { tests: Vec<String>, table: PathBuf },
    /// A bundle over its limit.
    #[error("the bundle takes {found} MiB, the limit is {limit} MiB")]
    TooLarge { found: u64, limit: u64 },
}

impl Error {
    /// An input or output error at a path.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// 4 when a tool is missing, else 1.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Start { .. } | Self::NoPtxas { .. } => ExitCode::from(4),
            _ => ExitCode::FAILURE,
        }
    }
}
