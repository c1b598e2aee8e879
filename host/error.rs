//! Everything that can go wrong in the host program, its wording, and the exit code it leads to.
//!
//! Messages say what was asked, what was found, the limit with its unit, and what to do. A kernel's
//! fault keeps the driver's full diagnostic, which can take several lines.

use std::io;
use std::path::PathBuf;

use cuda_host::Ending;

use crate::format::{bytes, count};

/// Most threads in a block, on every GPU since compute capability 2.0 (CUDA C++ Programming Guide, "Compute
/// Capabilities", technical specifications).
pub const MAX_BLOCK_THREADS: u32 = 1024;

/// What the process tells its caller, see [`ExitStatus::code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: everything worked and every result was right.
    Success,
    /// 1: a kernel failed, a check found an error, or a result differs from its reference.
    WrongResult,
    /// 2: the command line or an input or output file is not usable.
    Usage,
    /// 3: the kernel needs something that the emulator does not do.
    Unsupported,
    /// 4: the toolchain, the driver or the device is missing or failed.
    Environment,
}

impl ExitStatus {
    /// The process exit code, 0 to 4.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::WrongResult => 1,
            Self::Usage => 2,
            Self::Unsupported => 3,
            Self::Environment => 4,
        }
    }
}

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device layer reported an error: a kernel's fault, a bad launch, no device, …
    #[error(transparent)]
    Device(#[from] cuda_host::Error),

    /// A result differs from the reference by more than rounding explains.
    #[error(
        "{function} gave a wrong result: {place} is {found}, the f64 reference is {expected} and rounding explains at most {tolerance:.3e}"
    )]
    WrongResult {
        /// The function whose result is wrong.
        function: &'static str,
        /// Which element, such as `C[3, 5]`.
        place: String,
        /// The value found.
        found: f32,
        /// The reference value.
        expected: f64,
        /// The largest difference that rounding can explain.
        tolerance: f64,
    },

    /// A launch dimension is zero.
    #[error("--{option} 0: a launch needs at least one {unit}; give --{option} 1 or more")]
    ZeroDimension {
        /// `grid` or `block`.
        option: &'static str,
        /// What the dimension counts.
        unit: &'static str,
    },

    /// A block has more threads than CUDA allows.
    #[error(
        "--block {block}: a block of {threads} threads is more than the limit of {MAX_BLOCK_THREADS} threads; {help}"
    )]
    TooManyThreads {
        /// What was given as `--block`.
        block: u32,
        /// The block's threads, such as `64 x 64 = 4096`.
        threads: String,
        /// What to do.
        help: &'static str,
    },

    /// The matrices would not fit into memory.
    #[error(
        "{what} would take {} of {place} memory, but {} {available_is}; use a smaller size",
        bytes(*needed),
        bytes(u128::from(*available))
    )]
    TooMuchMemory {
        /// The computation, with its shapes.
        what: String,
        /// `host` or `device`.
        place: &'static str,
        /// Bytes needed.
        needed: u128,
        /// Bytes there.
        available: u64,
        /// `is free` or `is all there is`.
        available_is: &'static str,
    },

    /// The allocator refused.
    #[error("could not allocate {} of host memory for {what}", bytes(*needed))]
    Allocation {
        /// What the memory was for.
        what: &'static str,
        /// Bytes asked for.
        needed: u128,
    },

    /// The driver gave no page-locked host memory.
    #[error("could not allocate {} of page-locked host memory: {reason}", crate::format::bytes(*bytes as u128))]
    PageLocked {
        /// Bytes asked for.
        bytes: usize,
        /// The driver's reason.
        reason: String,
    },

    /// The columns of A and the rows of B differ.
    #[error(
        "cannot multiply: A ({}) is {a_rows} x {a_columns} and B ({}) is {b_rows} x {b_columns}, but A's columns ({a_columns}) must equal B's rows ({b_rows})",
        a.display(),
        b.display()
    )]
    InnerDimensions {
        /// A's file.
        a: PathBuf,
        /// B's file.
        b: PathBuf,
        /// Rows of A.
        a_rows: usize,
        /// Columns of A.
        a_columns: usize,
        /// Rows of B.
        b_rows: usize,
        /// Columns of B.
        b_columns: usize,
    },

    /// A file could not be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// A file could not be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What stood in the way.
        reason: String,
    },

    /// A file is not what NumPy's `.npy` format says.
    #[error("{} is not a usable .npy file: {reason}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: NpyReason,
    },

    /// No kernel has that name.
    #[error("no kernel is called `{name}` in {place}; it has {}", list(known))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The module searched.
        place: String,
        /// The names there are.
        known: Vec<String>,
    },

    /// The arguments of a launch on the emulator do not fit the kernel.
    #[error(transparent)]
    Arguments(Box<crate::emulate::ArgumentError>),

    /// The emulator stopped the kernel; the text is its whole report.
    #[error("{}", report(.0))]
    Fault(Box<ptx_emulator::Fault>),

    /// A benchmark of the emulator cannot run: its matrices do not fit.
    #[error("{0}; a smaller --size needs less")]
    Pattern(#[from] ptx_emulator::patterns::PatternError),

    /// The checks found something that is wrong.
    #[error("the checks found {}: see above", crate::findings::summary(*errors, *warnings))]
    Findings {
        /// Findings that are errors.
        errors: usize,
        /// Findings that are warnings.
        warnings: usize,
    },

    /// PTX that does not parse or validate.
    #[error("{place} is not valid PTX: {source}")]
    BrokenPtx {
        /// The file, or the kernels of this program.
        place: String,
        /// Line, column and excerpt.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// A program of the CUDA toolkit is not installed.
    #[error(
        "{tool} was not found (looked for {looked}); it comes with the CUDA toolkit, or alone with `pip install {package}`: put its folder on PATH"
    )]
    MissingTool {
        /// The program.
        tool: &'static str,
        /// The places that were searched.
        looked: String,
        /// The Python package that contains it.
        package: &'static str,
    },

    /// A program of the CUDA toolkit failed.
    #[error("{command} failed ({status}):\n{output}")]
    ToolFailed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },

    /// The LLVM IR of a PTX file is not known.
    #[error(
        "--llvm shows the kernels of this program only: a PTX file does not contain the LLVM IR it came from; use --ptx or --sass"
    )]
    NoLlvmIr,

    /// `doctor` found that something necessary is missing.
    #[error("{}: see the lines marked `missing` above", if *missing == 1 { "one necessary part is missing".to_owned() } else { format!("{missing} necessary parts are missing") })]
    Unhealthy {
        /// How many necessary parts are missing.
        missing: usize,
    },

    /// A project cannot be made.
    #[error(transparent)]
    Project(#[from] crate::project::ProjectError),

    /// Standard output or a temporary file failed.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
}

/// What is wrong with a `.npy` file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyReason {
    /// The magic bytes are missing.
    #[error("it does not start with NumPy's magic bytes \\x93NUMPY; write it with numpy.save")]
    Magic,
    /// An unknown format version.
    #[error("format version {0}.{1} is not known; NumPy writes 1.0, 2.0 or 3.0")]
    Version(u8, u8),
    /// The header is not the Python dictionary it should be.
    #[error("its header is damaged: {0}")]
    Header(String),
    /// The file ends within the header.
    #[error("it is truncated: it ends inside its header")]
    TruncatedHeader,
    /// The file ends within the data.
    #[error(
        "it is truncated: its header says {} {dtype} values of shape {shape}, which take {}, but only {} follow",
        count(u128::from(*values)),
        bytes(*expected),
        bytes(*found)
    )]
    Truncated {
        /// Values the header promises.
        values: u64,
        /// Their type's name in NumPy.
        dtype: Box<str>,
        /// The shape the header gives.
        shape: String,
        /// Bytes the header promises.
        expected: u128,
        /// Bytes that follow the header.
        found: u128,
    },
    /// Not float32.
    #[error(
        "its dtype is {found}, but float32 ('<f4' or '>f4') is needed; convert it in Python: np.save({file:?}, np.load({file:?}).astype(np.float32))"
    )]
    Dtype {
        /// The dtype as NumPy writes it, with its NumPy name.
        found: String,
        /// The file's name.
        file: String,
    },
    /// A type that is no plain number.
    #[error(
        "its dtype is {0}, but a kernel takes plain numbers of 1, 2, 4 or 8 bytes: bool, int, uint or float"
    )]
    NotNumbers(String),
    /// Not two-dimensional.
    #[error("it holds a {dimensions}-dimensional array of shape {shape}, but {wanted} is needed")]
    Dimensions {
        /// How many dimensions there are.
        dimensions: usize,
        /// The shape found.
        shape: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// Points that have neither three nor four coordinates.
    #[error("its shape is {shape}, but points need shape (n, 3) or (n, 4)")]
    Points {
        /// The shape found.
        shape: String,
    },
    /// More elements than this machine can address.
    #[error("its header gives the shape {0}, which is more than this machine can address")]
    TooLarge(String),
}

impl From<crate::emulate::ArgumentError> for Error {
    fn from(error: crate::emulate::ArgumentError) -> Self {
        Self::Arguments(Box::new(error))
    }
}

impl Error {
    /// The exit status that this error leads to.
    #[must_use]
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Device(error) => device_status(error),
            Self::Fault(fault) => match fault.ending() {
                // As `cuda_host` has it: a kernel that runs into a limit has failed.
                ptx_emulator::Ending::KernelBug | ptx_emulator::Ending::LimitReached => {
                    ExitStatus::WrongResult
                }
                ptx_emulator::Ending::HostMisuse => ExitStatus::Usage,
                ptx_emulator::Ending::Unsupported => ExitStatus::Unsupported,
            },
            Self::WrongResult { .. } | Self::Findings { .. } => ExitStatus::WrongResult,
            Self::MissingTool { .. }
            | Self::ToolFailed { .. }
            | Self::Unhealthy { .. }
            | Self::PageLocked { .. }
            | Self::Output(_) => ExitStatus::Environment,
            _ => ExitStatus::Usage,
        }
    }
}

/// The exit status of an error of the device layer.
fn device_status(error: &cuda_host::Error) -> ExitStatus {
    match error.ending() {
        Ending::KernelFailed => ExitStatus::WrongResult,
        Ending::HostMisuse => ExitStatus::Usage,
        Ending::Unsupported => ExitStatus::Unsupported,
        Ending::DeviceTrouble => ExitStatus::Environment,
    }
}

/// A fault's report; the word "error" stands before every message already.
fn report(fault: &ptx_emulator::Fault) -> String {
    let text = fault.to_string();
    text.strip_prefix("error: ").map_or_else(|| text.clone(), str::to_owned)
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "no kernels".to_owned() } else { names.join(", ") }
}
