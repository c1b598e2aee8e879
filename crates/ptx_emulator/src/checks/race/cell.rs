//! What is remembered of the accesses to one word.

use super::vector::{Thread, Time};

/// Bytes that a cell stands for, as long as it is whole.
pub(super) const GRANULE: usize = 4;
/// Readers remembered besides the last one. With more at the same time, later ones are forgotten: a hazard may be missed
/// by that, never invented.
const MORE_READERS: usize = 3;

/// What is special about an access, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    /// Volatile, relaxed and stronger accesses, and atomics.
    pub(super) const STRONG: u8 = 1;
    /// A strong access whose scope is the block.
    pub(super) const BLOCK_SCOPE: u8 = 2;
    pub(super) const ATOMIC: u8 = 4;
    pub(super) const NON_COHERENT: u8 = 8;
    pub(super) const VOLATILE: u8 = 16;
    /// The cell's 4 bytes have cells of their own, at the number in `more`.
    pub(super) const SPLIT: u8 = 128;

    #[inline]
    pub(super) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// The last write. Time 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    pub(super) time: Time,
    pub(super) block: u32,
    pub(super) pc: u32,
    pub(super) thread: Thread,
    pub(super) flags: Flags,
}

/// The last read of a warp. Time 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    pub(super) time: Time,
    pub(super) block: u32,
    pub(super) pc: u32,
    pub(super) lanes: u32,
    pub(super) warp: u8,
    pub(super) flags: Flags,
}

/// Accesses to 4 bytes, or to one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) write: Write,
    pub(super) read: Read,
    /// Number of a list of further readers, plus 1; of the parts, if the cell is split.
    pub(super) more: u32,
}

/// Further readers of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readers {
    pub(super) list: [Read; MORE_READERS],
}

/// Whether a cell has as many readers as are remembered, so that further ones make no difference until something is
/// ordered anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crowd {
    No,
    /// Its last write is ordered before all accesses of the block.
    Block,
    /// The launch has not written it.
    Any,
    /// It was written just now.
    Written,
}

/// Lists of readers, used again when a write has emptied them.
#[derive(Debug, Default)]
pub(super) struct ReaderLists {
    lists: Vec<Readers>,
    unused: Vec<u32>,
}

impl ReaderLists {
    /// The list of a cell, if it has one.
    pub(super) fn get(&self, more: u32) -> Option<&Readers> {
        self.lists.get((more as usize).checked_sub(1)?)
    }

    pub(super) fn get_mut(&mut self, more: u32) -> Option<&mut Readers> {
        self.lists.get_mut((more as usize).checked_sub(1)?)
    }

    pub(super) fn create(&mut self) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.lists[number as usize - 1] = Readers::default();
            return number;
        }
        self.lists.push(Readers::default());
        self.lists.len() as u32
    }

    pub(super) fn release(&mut self, more: u32) {
        if more != 0 {
            self.unused.push(more);
        }
    }
}
