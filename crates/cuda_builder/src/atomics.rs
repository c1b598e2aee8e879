//! Atomics with the orderings and scopes that the source asks for.
//!
//! LLVM's own way from an atomic instruction to PTX loses some of them (seen with LLVM 22, for sm_70 and newer):
//!
//! | LLVM instruction | LLVM's PTX | lost |
//! | --- | --- | --- |
//! | `atomicrmw` of 32 and 64 bits that PTX has | `atom.add.u32` | ordering (it is relaxed) and scope (it is the device) |
//! | `atomicrmw and`, `or`, `xor` of 8 and 16 bits | `atom.or.b32` | the same |
//! | other `atomicrmw`, `cmpxchg` of 8 and 16 bits | a loop around `atom.cas` | its first load is no atomic |
//! | `load`, `store`, `fence`, `cmpxchg` of 32 and 64 bits | as it should be | |
//! | `fence syncscope("singlethread")` (`compiler_fence`) | LLVM ends with an error | |
//!
//! Before sm_70, PTX has neither orderings nor (before sm_60) scopes, and LLVM ends with an error for all but relaxed loads and
//! stores.
//!
//! Two passes over the module's text mend that. [`lower()`] goes over the optimised module and replaces what LLVM would get
//! wrong by calls of small functions that are inlined at once: inline PTX with the ordering and scope in it, fences where PTX
//! has no such instruction, or a loop.
//!
//! [`expand()`] goes over the module before it is optimised. Rust can say orderings but no scopes, and has no atomics of
//! floating-point numbers, so `cuda_std::atomic` calls functions that nobody defines, named `cuda_std.atomic.…`; they become
//! LLVM's own instructions, which have both. So LLVM sees atomics, and finds for instance which ones stay in shared memory.

mod expand;
mod helper;
mod line;
mod lower;

pub(crate) use expand::expand;
pub(crate) use helper::Target;
pub(crate) use lower::lower;

/// LLVM's names for the scopes of PTX ("User Guide for NVPTX Back-end", Memory Scopes) and PTX's own. No name is the whole
/// system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Block,
    Device,
    System,
}

impl Scope {
    const ALL: [Self; 3] = [Self::Block, Self::Device, Self::System];

    /// ` syncscope("…")` behind an instruction's operands.
    fn llvm(self) -> &'static str {
        match self {
            Self::Block => " syncscope(\"block\")",
            Self::Device => " syncscope(\"device\")",
            Self::System => "",
        }
    }

    fn ptx(self) -> &'static str {
        match self {
            Self::Block => "cta",
            Self::Device => "gpu",
            Self::System => "sys",
        }
    }
}

/// LLVM's atomic orderings, weakest first (LLVM Language Reference, "Atomic Memory Ordering Constraints").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ordering {
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Ordering {
    const ALL: [Self; 5] = [
        Self::Monotonic,
        Self::Acquire,
        Self::Release,
        Self::AcquireRelease,
        Self::SequentiallyConsistent,
    ];

    fn llvm(self) -> &'static str {
        match self {
            Self::Monotonic => "monotonic",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcquireRelease => "acq_rel",
            Self::SequentiallyConsistent => "seq_cst",
        }
    }

    fn from_llvm(word: &str) -> Option<Self> {
        // Weaker than monotonic; Rust has no such ordering.
        let word = if word == "unordered" { "monotonic" } else { word };
        Self::ALL.into_iter().find(|ordering| ordering.llvm() == word)
    }

    fn acquires(self) -> bool {
        !matches!(self, Self::Monotonic | Self::Release)
    }

    fn releases(self) -> bool {
        !matches!(self, Self::Monotonic | Self::Acquire)
    }
}
