//! What the machine tells its checks.

use crate::op::Order;
use crate::row::Row64;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    /// Reads, computes and writes, all in one.
    Atomic,
}

/// Memory that bounds are known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Shared memory of the block.
    Shared,
    /// The stack of each lane; the same offset is other memory for each.
    Local,
    /// An allocation: its slot and first address.
    Global { slot: u32, base: u64 },
}

/// Lanes of a warp access memory with one instruction. All of it is there, and aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'a> {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    pub(crate) action: Action,
    pub(crate) area: Area,
    /// By lane: bytes from the start of the area.
    pub(crate) offsets: &'a Row64,
    /// Bytes that each lane accesses.
    pub(crate) bytes: u32,
    pub(crate) order: Order,
}

/// What the lanes of an access are about to write.
pub(crate) trait Values {
    /// Whether two lanes write the same.
    fn equal(&mut self, a: usize, b: usize) -> bool;

    /// Whether a lane writes what is there already.
    fn unchanged(&mut self, lane: usize) -> bool;
}
