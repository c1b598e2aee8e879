//! What checks find. The text is written in [`crate::diagnostic`].

use std::fmt;

use super::set::Check;
use crate::fault::{Code, StackEntry, Threads};
use crate::program::SourceLine;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Legal, or harmless on today's devices, and seldom meant.
    Warning,
    /// The result depends on chance, or is undefined.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// racecheck: a read of what another thread wrote, with nothing that orders the two (RAW).
    ReadAfterWrite,
    /// racecheck: a write over what another thread read, with nothing that orders the two (WAR).
    WriteAfterRead,
    /// racecheck: a write over what another thread wrote, with nothing that orders the two (WAW).
    WriteAfterWrite,
    /// racecheck: lanes of one warp write the same bytes with one instruction.
    WriteByManyLanes,
    /// racecheck: `ld.global.nc` of memory that the launch writes.
    NonCoherentRead,
    /// racecheck: an access to the target of an asynchronous copy that was not waited for.
    PendingCopy,
    /// racecheck: a block of a cluster that can end, with its shared memory, while another block accesses that.
    BlockEndsTooSoon,
    /// initcheck: a read of memory that nothing has written.
    UninitializedMemory,
    /// initcheck: a value that comes from a register or local variable that was never written decides something:
    /// an address, a branch, a result, a value stored where others read it.
    UninitializedValue,
    /// synccheck: lanes of one warp came to a barrier from different places.
    DivergentWarpBarrier,
    /// synccheck: warps of a block came to one barrier from different places.
    DivergentBlockBarrier,
    /// synccheck: a barrier of the whole block that some threads did not come to, because they had exited.
    BarrierAfterExit,
    /// synccheck: a barrier number above 15.
    BarrierNumber,
    /// synccheck: lanes execute a warp instruction together with member masks that overlap and differ.
    MasksDiffer,
    /// synccheck: a lane takes a value from a lane that takes no part in the shuffle.
    ShuffleFromAbsentLane,
}

impl FindingKind {
    /// The check that finds it.
    pub fn check(self) -> Check {
        use FindingKind as Kind;
        match self {
            Kind::ReadAfterWrite
            | Kind::WriteAfterRead
            | Kind::WriteAfterWrite
            | Kind::WriteByManyLanes
            | Kind::NonCoherentRead
            | Kind::PendingCopy
            | Kind::BlockEndsTooSoon => Check::Racecheck,
            Kind::UninitializedMemory | Kind::UninitializedValue => Check::Initcheck,
            Kind::DivergentWarpBarrier
            | Kind::DivergentBlockBarrier
            | Kind::BarrierAfterExit
            | Kind::BarrierNumber
            | Kind::MasksDiffer
            | Kind::ShuffleFromAbsentLane => Check::Synccheck,
        }
    }
}

/// Some lanes of a warp, and what they did where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// `write of 4 bytes`, `wait`, …
    pub(crate) action: String,
    pub(crate) threads: Threads,
    pub(crate) code: Option<Code>,
    /// The source line's text, where the file is there.
    pub(crate) excerpt: Option<String>,
    /// Innermost first; empty where it is not known.
    pub(crate) stack: Vec<StackEntry>,
}

impl Party {
    pub(crate) fn new(
        action: String,
        threads: Threads,
        code: Option<Code>,
        stack: Vec<StackEntry>,
    ) -> Party {
        let source = code.as_ref().and_then(|code| code.source.as_ref());
        let excerpt = source.and_then(crate::diagnostic::excerpt);
        Party { action, threads, code, excerpt, stack }
    }

    /// What they did.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The block's index.
    pub fn block(&self) -> [u32; 3] {
        self.threads.block
    }

    /// The warp's number in its block.
    pub fn warp(&self) -> u32 {
        self.threads.warp
    }

    /// The lanes, one bit each.
    pub fn lanes(&self) -> u32 {
        self.threads.lanes
    }

    /// Line of the instruction in the PTX text, 1-based.
    pub fn ptx_line(&self) -> Option<u32> {
        self.code.as_ref().map(|code| code.line)
    }

    /// The instruction as written.
    pub fn ptx_text(&self) -> Option<&str> {
        self.code.as_ref().map(|code| code.text.as_str())
    }

    /// The instruction's source line.
    pub fn source(&self) -> Option<&SourceLine> {
        self.code.as_ref()?.source.as_ref()
    }

    /// The text of the source line, where its file can be read.
    pub fn excerpt(&self) -> Option<&str> {
        self.excerpt.as_deref()
    }

    /// Functions that were active, the innermost first; empty where it is not known.
    pub fn stack(&self) -> &[StackEntry] {
        &self.stack
    }
}

/// Memory that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingAddress {
    /// Address in its state space.
    pub address: u64,
    /// State space: `global`, `shared`, `local`.
    pub space: &'static str,
    /// Where that is: offset, name and size of the variable or allocation.
    pub place: String,
}

/// Something that a check found. Its `Display` is the whole diagnostic, several lines long. The launch goes on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub(crate) kind: FindingKind,
    pub(crate) severity: Severity,
    pub(crate) title: String,
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) address: Option<FindingAddress>,
    /// Who did it, then the other side, if there is one.
    pub(crate) parties: Vec<Party>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: String,
    pub(crate) count: u64,
}

impl Finding {
    /// The check that found it.
    pub fn check(&self) -> Check {
        self.kind.check()
    }

    /// What was found.
    pub fn kind(&self) -> FindingKind {
        self.kind
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The first line of the text, without check and severity.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The memory concerned.
    pub fn address(&self) -> Option<&FindingAddress> {
        self.address.as_ref()
    }

    /// Who did it: the later one of two accesses.
    pub fn party(&self) -> Option<&Party> {
        self.parties.first()
    }

    /// The other side: the earlier one of two accesses, those who wait elsewhere.
    pub fn others(&self) -> &[Party] {
        self.parties.get(1..).unwrap_or_default()
    }

    /// Further facts, one a line.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What to do.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// How often instructions at these places did this in the launch. The rest of the finding describes the first time.
    pub fn count(&self) -> u64 {
        self.count
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::diagnostic::write_finding(self, f)
    }
}
