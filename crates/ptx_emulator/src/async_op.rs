//! Decoded asynchronous copies and operations on mbarrier objects.

use crate::op::{Address, Pred, Space};

/// `cp.async` and what belongs to it.
#[derive(Debug)]
pub(crate) enum AsyncCopyOp {
    /// A copy of 4, 8 or 16 bytes from global to shared memory.
    Copy { target: Address, source: Address, bytes: u32, kept: Kept },
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group`: at most so many of the newest groups may go on.
    WaitGroup { pending: u32 },
    /// `cp.async.wait_all`
    WaitAll,
    /// `cp.async.mbarrier.arrive`; `increment` without `.noinc`.
    Arrive { space: Space, address: Address, increment: bool },
}

impl AsyncCopyOp {
    /// The addresses it uses.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Address> {
        let (first, second) = match self {
            AsyncCopyOp::Copy { target, source, .. } => (Some(target), Some(source)),
            AsyncCopyOp::Arrive { address, .. } => (Some(address), None),
            AsyncCopyOp::Commit | AsyncCopyOp::WaitGroup { .. } | AsyncCopyOp::WaitAll => {
                (None, None)
            }
        };
        first.into_iter().chain(second)
    }
}

/// How much of a copy's source is read; the rest of the target becomes zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    All,
    /// So many bytes as a 32-bit row says.
    Bytes(u32),
    /// Nothing where the predicate is true.
    Unless(Pred),
}

/// An `mbarrier` instruction with an address.
#[derive(Debug)]
pub(crate) struct MbarrierOp {
    pub(crate) kind: MbarrierKind,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// 32-bit row of the count, or of the bytes; [`NONE`](crate::op::NONE): 1.
    pub(crate) count: u32,
    /// 64-bit row that takes the state ([`NONE`](crate::op::NONE): not wanted), or that it is given in.
    pub(crate) state: u32,
}

/// What an [`MbarrierOp`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierKind {
    /// `.init`
    Init,
    /// `.inval`
    Invalidate,
    /// `.arrive`, `.arrive_drop`; not `completes`: `.noComplete`.
    Arrive { drop: bool, completes: bool },
    /// `.arrive.expect_tx`, `.arrive_drop.expect_tx`
    ArriveExpecting { drop: bool },
    /// `.expect_tx`
    Expect,
    /// `.complete_tx`
    Complete,
    /// `.test_wait`, `.try_wait`: the predicate row. `parity`: the count row has the parity to wait for; otherwise
    /// there is a state.
    Wait { p: u32, parity: bool },
}

impl MbarrierKind {
    /// Whether it is an arrival that those who wait for the object may wait for.
    pub(crate) fn arrives(self) -> bool {
        match self {
            MbarrierKind::Arrive { .. }
            | MbarrierKind::ArriveExpecting { .. }
            | MbarrierKind::Complete => true,
            MbarrierKind::Init
            | MbarrierKind::Invalidate
            | MbarrierKind::Expect
            | MbarrierKind::Wait { .. } => false,
        }
    }
}
