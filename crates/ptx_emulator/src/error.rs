//! Errors of loading and of the host's memory calls, and their wording. What a launch ends with is
//! in [`crate::fault`].

use std::fmt;

use thiserror::Error;

/// A memory call of the host that cannot be done. Nothing was changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MemoryError {
    /// Device capacity or host memory does not suffice.
    #[error(
        "cannot allocate {requested} bytes of device memory: {used} of {capacity} bytes are in use; free some, or raise the emulator's memory limit"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes allocated already.
        used: u64,
        /// Bytes of the device.
        capacity: u64,
    },
    /// An allocation of no bytes.
    #[error("cannot allocate 0 bytes of device memory; ask for at least 1")]
    ZeroSize,
    /// The address is not part of any allocation, or (for a free) not the start of one.
    #[error("{address:#x} is not the address of a device allocation{}", nearest_text(.nearest))]
    NotAnAllocation {
        /// The address.
        address: u64,
        /// How it lies to the nearest allocation, if there is any.
        nearest: Option<String>,
    },
    /// The allocation was freed before.
    #[error("{address:#x} belongs to `{label}` ({bytes} bytes), which was freed already")]
    AlreadyFreed {
        /// The address.
        address: u64,
        /// The allocation's label.
        label: String,
        /// Its size.
        bytes: u64,
    },
    /// The range starts inside an allocation and ends past it.
    #[error(
        "{bytes} bytes at {address:#x} reach past the end of `{label}` ({size} bytes at {base:#x})"
    )]
    OutOfRange {
        /// First address of the range.
        address: u64,
        /// Bytes of the range.
        bytes: u64,
        /// First address of the allocation.
        base: u64,
        /// Bytes of the allocation.
        size: u64,
        /// The allocation's label.
        label: String,
    },
}

fn nearest_text(nearest: &Option<String>) -> String {
    match nearest {
        Some(text) => format!("; it is {text}"),
        None => "; there is none".to_owned(),
    }
}

/// What kind of thing is wrong with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileErrorKind {
    /// The text is not PTX.
    Syntax,
    /// It is PTX, but breaks a rule of the language: an undeclared register, a wrong operand.
    Invalid,
    /// A variable without a definition.
    UnresolvedSymbol,
    /// Legal PTX that the emulator cannot load.
    Unsupported,
}

/// Why a module could not be loaded; its `Display` names the line and shows it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct CompileError {
    kind: CompileErrorKind,
    text: String,
}

impl CompileError {
    pub(crate) fn new(kind: CompileErrorKind, text: impl fmt::Display) -> CompileError {
        CompileError { kind, text: text.to_string() }
    }

    /// What kind of thing is wrong.
    pub fn kind(&self) -> CompileErrorKind {
        self.kind
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A fault of decoding before its position is known to the reader: what, and where in bytes.
#[derive(Debug)]
pub(crate) struct DecodeError {
    pub(crate) kind: CompileErrorKind,
    pub(crate) message: String,
    pub(crate) span: ptx::Span,
}

/// A launch that no device could start.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LaunchProblem {
    /// No memory for the barrier of a cooperative launch.
    #[error("there is no memory for the barrier of the grid: {0}")]
    GridBarrier(MemoryError),
    /// The module was unloaded, or belongs to another machine.
    #[error("the module is not loaded")]
    UnknownModule,
    /// No such kernel.
    #[error("the module has no kernel `{name}`; it has {available}")]
    UnknownKernel {
        /// Name asked for.
        name: String,
        /// The names there are.
        available: String,
    },
    /// A grid without blocks.
    #[error("the grid is {}; each direction needs at least 1 block", shape(.0))]
    EmptyGrid([u32; 3]),
    /// A grid that is too large.
    #[error("the grid is {}; at most (2147483647, 65535, 65535) blocks are possible", shape(.0))]
    GridTooLarge([u32; 3]),
    /// A block without threads.
    #[error("the block is {}; each direction needs at least 1 thread", shape(.0))]
    EmptyBlock([u32; 3]),
    /// A block that is too large.
    #[error(
        "the block is {}, {} threads; at most 1024 threads are possible, and (1024, 1024, 64) in each direction",
        shape(.0), threads(.0)
    )]
    BlockTooLarge([u32; 3]),
    /// More threads than `.maxntid` allows.
    #[error("the block is {}; the kernel is compiled for at most {} threads", shape(.block), shape(.limit))]
    OverMaxThreads {
        /// Block asked for.
        block: [u32; 3],
        /// `.maxntid`.
        limit: [u32; 3],
    },
    /// A shape other than `.reqntid`.
    #[error("the block is {}; the kernel is compiled for exactly {} threads", shape(.block), shape(.required))]
    WrongThreads {
        /// Block asked for.
        block: [u32; 3],
        /// `.reqntid`.
        required: [u32; 3],
    },
    /// A cluster without blocks, or with too many.
    #[error("the cluster is {}; clusters of 1 to {limit} blocks are possible", shape(.cluster))]
    ClusterSize {
        /// Cluster asked for.
        cluster: [u32; 3],
        /// The most blocks a cluster may have.
        limit: u64,
    },
    /// Clusters other than `.reqnctapercluster`.
    #[error("the cluster is {}; the kernel is compiled for clusters of exactly {} blocks", shape(.cluster), shape(.required))]
    WrongCluster {
        /// Cluster asked for.
        cluster: [u32; 3],
        /// `.reqnctapercluster`.
        required: [u32; 3],
    },
    /// A grid that is not made of whole clusters.
    #[error("the grid is {}; it cannot be divided into clusters of {} blocks", shape(.grid), shape(.cluster))]
    PartsOfClusters {
        /// Grid asked for.
        grid: [u32; 3],
        /// Cluster asked for.
        cluster: [u32; 3],
    },
    /// Too much shared memory.
    #[error(
        "{fixed} bytes of static and {dynamic} bytes of dynamic shared memory are more than the {limit} bytes of a block"
    )]
    SharedTooLarge {
        /// Bytes declared by the kernel.
        fixed: u32,
        /// Bytes asked for at launch.
        dynamic: u32,
        /// Bytes a block may have.
        limit: u32,
    },
    /// A parameter block of the wrong size.
    #[error("{given} bytes of parameters are given; the kernel takes {expected} bytes")]
    WrongParams {
        /// Bytes given.
        given: usize,
        /// Bytes the kernel's parameters take.
        expected: u32,
    },
}

fn shape(shape: &[u32; 3]) -> String {
    format!("({}, {}, {})", shape[0], shape[1], shape[2])
}

fn threads(shape: &[u32; 3]) -> u128 {
    shape.iter().map(|axis| u128::from(*axis)).product()
}
