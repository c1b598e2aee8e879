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

/// Bytes from the start of an area, by lane.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack for the time of one access")]
pub(crate) enum Offsets {
    /// Evenly spaced: lane 0's offset, and the distance from lane to lane; modulo 2^64, so that lanes can go downwards.
    Even {
        first: u64,
        stride: u64,
    },
    Each(Row64),
}

impl Offsets {
    #[inline]
    pub(crate) fn at(&self, lane: usize) -> u64 {
        match self {
            Offsets::Even { first, stride } => first.wrapping_add(stride.wrapping_mul(lane as u64)),
            Offsets::Each(row) => row[lane],
        }
    }
}

/// Lanes of a warp access memory with one instruction. All of it is there, and aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'a> {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    pub(crate) action: Action,
    pub(crate) area: Area,
    pub(crate) offsets: &'a Offsets,
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
