//! How a launch can end badly. The text is written in [`crate::diagnostic`].

use std::fmt;

use crate::error::LaunchProblem;
use crate::program::SourceLine;

/// The four ends of a launch that did not succeed; they are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The kernel did something that no device allows.
    KernelBug,
    /// The kernel may be right; the emulator cannot execute it.
    Unsupported,
    /// A limit of the emulator was reached: its fuel, its share of the host's memory.
    LimitReached,
    /// The launch itself was wrong.
    HostMisuse,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access to memory that is not there, or that may not be written.
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// An address of one state space used in another.
    InvalidAddressSpace,
    /// A generic address outside shared memory, given to an instruction that works there only.
    NotSharedMemory,
    /// A call of something that is not the address of a function.
    InvalidPc,
    /// `trap`.
    Trap,
    /// `brkpt`; there is no debugger.
    Breakpoint,
    /// `__assertfail`, or a panic handler that reports through it.
    Assert {
        /// What failed.
        message: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
        /// Function it happened in; may be empty.
        function: String,
    },
    /// No thread of a block can go on.
    Deadlock,
    /// A barrier number above 15, or thread counts that disagree.
    InvalidBarrier,
    /// A warp instruction whose member mask does not contain the lane that executes it.
    InvalidWarpMask,
    /// A warp instruction that needs all 32 lanes, in a warp that does not have them.
    IncompleteWarp,
    /// An mbarrier instruction on something that is no mbarrier object, or with counts out of range.
    InvalidMbarrier,
    /// The end of a function without `ret` or `exit`.
    FellOffEnd,
    /// An instruction that the emulator does not implement.
    UnsupportedInstruction {
        /// The instruction.
        mnemonic: String,
    },
    /// A call of a function that is defined nowhere.
    UnresolvedFunction {
        /// Its name.
        name: String,
    },
    /// The launch executed as many instructions as it may.
    FuelExhausted,
    /// The blocks in progress need more of the host's memory than a launch may take
    /// ([`MachineConfig::launch_bytes`](crate::MachineConfig::launch_bytes)), or than the host has.
    OutOfHostMemory,
    /// More stack than a thread has: than [`MachineConfig::stack_limit`](crate::MachineConfig::stack_limit) where that counts, or
    /// than all local memory of a thread.
    StackOverflow,
    /// More calls nested than the emulator follows ([`MachineConfig::call_depth`](crate::MachineConfig::call_depth)).
    CallDepth,
    /// The launch was refused.
    BadLaunch(LaunchProblem),
}

impl FaultKind {
    /// Which of the four endings this is.
    pub fn ending(&self) -> Ending {
        match self {
            FaultKind::UnsupportedInstruction { .. } | FaultKind::UnresolvedFunction { .. } => {
                Ending::Unsupported
            }
            FaultKind::FuelExhausted | FaultKind::OutOfHostMemory | FaultKind::CallDepth => {
                Ending::LimitReached
            }
            FaultKind::BadLaunch(_) => Ending::HostMisuse,
            _ => Ending::KernelBug,
        }
    }
}

/// The access that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessInfo {
    /// `read`, `write` or `atomic`.
    pub action: &'static str,
    /// Bytes that one lane accesses.
    pub bytes: u32,
    /// State space: `global`, `shared`, ….
    pub space: &'static str,
    /// Address of the first failing lane, in that space.
    pub address: u64,
    /// How the address lies to what is there.
    pub place: String,
}

/// A function on the call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackEntry {
    /// Demangled name.
    pub function: String,
    /// Source line it was at, when the module has lines.
    pub line: Option<SourceLine>,
}

/// Where in the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
}

/// Where in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) source: Option<SourceLine>,
}

/// A launch that ended badly. Its `Display` is the whole diagnostic, several lines long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) threads: Option<Threads>,
    pub(crate) access: Option<AccessInfo>,
    pub(crate) code: Option<Code>,
    /// Innermost first.
    pub(crate) stack: Vec<StackEntry>,
    /// Further facts, one a line.
    pub(crate) notes: Vec<String>,
    pub(crate) help: String,
    /// The panic's message, if this is the end of a Rust panic.
    pub(crate) panic: Option<String>,
}

impl Fault {
    /// What happened.
    pub fn kind(&self) -> &FaultKind {
        &self.kind
    }

    /// Which of the four endings this is.
    pub fn ending(&self) -> Ending {
        self.kind.ending()
    }

    /// The kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The block's index, when a block was running.
    pub fn block(&self) -> Option<[u32; 3]> {
        self.threads.as_ref().map(|threads| threads.block)
    }

    /// The warp's number in its block.
    pub fn warp(&self) -> Option<u32> {
        self.threads.as_ref().map(|threads| threads.warp)
    }

    /// The lanes concerned, one bit each; 0 when no warp was running.
    pub fn lanes(&self) -> u32 {
        self.threads.as_ref().map_or(0, |threads| threads.lanes)
    }

    /// The access that failed.
    pub fn access(&self) -> Option<&AccessInfo> {
        self.access.as_ref()
    }

    /// Line of the instruction in the PTX text, 1-based.
    pub fn ptx_line(&self) -> Option<u32> {
        self.code.as_ref().map(|code| code.line)
    }

    /// The instruction's source line.
    pub fn source(&self) -> Option<&SourceLine> {
        self.code.as_ref()?.source.as_ref()
    }

    /// Functions that were active, the innermost first.
    pub fn stack(&self) -> &[StackEntry] {
        &self.stack
    }

    /// The message, when the kernel ended with a Rust panic.
    pub fn panic_message(&self) -> Option<&str> {
        self.panic.as_deref()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::diagnostic::write(self, f)
    }
}

impl std::error::Error for Fault {}
