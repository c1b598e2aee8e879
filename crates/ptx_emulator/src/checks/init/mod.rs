//! initcheck: use of memory and registers that nobody has written.
//!
//! Registers and local memory may be copied, and computed with, before they are written: compilers do that where the
//! result does not matter. It is reported when such a value decides something: an address, a branch, a word that other
//! threads can read. Reading unwritten global or shared memory is reported at once.

mod effects;
mod registers;
mod unassigned;

pub(crate) use effects::{Effect, Effects, Flow};
pub(crate) use registers::Registers;
pub(crate) use unassigned::{Unassigned, value_class};

use crate::memory::Written;
use crate::row::lanes;

/// State of a block.
#[derive(Debug)]
pub(crate) struct BlockInit {
    pub(crate) shared: Written,
    pub(crate) warps: Vec<WarpInit>,
}

/// State of a warp.
#[derive(Debug, Default)]
pub(crate) struct WarpInit {
    pub(crate) registers: Registers,
    pub(crate) local: LocalMemory,
}

/// Which bytes of the lanes' stacks were written: for each word and lane 4 bits.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    words: Vec<[u8; 32]>,
}

impl LocalMemory {
    /// The words from `start` to `end` are as new for the lanes of `mask`.
    pub(crate) fn forget(&mut self, start: u32, end: u32, mask: u32) {
        for word in start..end {
            if let Some(word) = self.words.get_mut(word as usize) {
                lanes(mask).for_each(|lane| word[lane] = 0);
            }
        }
    }

    /// The bits of up to 32 bytes of a lane at `address`.
    pub(crate) fn get(&self, lane: usize, address: u64, bytes: u32) -> u32 {
        let mut bits = 0;
        for byte in 0..bytes {
            let at = address + u64::from(byte);
            let word = self.words.get((at / 4) as usize).map_or(0, |word| word[lane]);
            bits |= u32::from(word >> (at % 4) & 1) << byte;
        }
        bits
    }

    pub(crate) fn put(&mut self, lane: usize, address: u64, bytes: u32, bits: u32) {
        let end = ((address + u64::from(bytes)).div_ceil(4)) as usize;
        if self.words.len() < end {
            self.words.resize(end, [0; 32]);
        }
        for byte in 0..bytes {
            let at = address + u64::from(byte);
            let word = &mut self.words[(at / 4) as usize][lane];
            let bit = 1 << (at % 4);
            *word = *word & !bit | if bits >> byte & 1 != 0 { bit } else { 0 };
        }
    }
}

impl BlockInit {
    pub(crate) fn new(shared_bytes: usize, warps: usize) -> Option<BlockInit> {
        let mut list = Vec::new();
        list.resize_with(warps, WarpInit::default);
        Some(BlockInit { shared: Written::new(shared_bytes)?, warps: list })
    }
}

/// From one bit a byte to the bits of a register that are not defined.
pub(crate) fn undefined_bits(written: u32, bytes: u32) -> u64 {
    (0..bytes.min(8))
        .filter(|byte| written >> byte & 1 == 0)
        .fold(0, |bits, byte| bits | 0xFF << (8 * byte))
}

/// From the bits of a register that are not defined to one bit a byte: written, if any bit of it is defined.
pub(crate) fn written_bytes(undefined: u64, bytes: u32) -> u32 {
    (0..bytes.min(8))
        .filter(|byte| undefined >> (8 * byte) & 0xFF != 0xFF)
        .fold(0, |bits, byte| bits | 1 << byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_bits() {
        for written in 0..256 {
            assert_eq!(written_bytes(undefined_bits(written, 8), 8), written);
        }
        assert_eq!(undefined_bits(0b0010, 4), 0xFFFF_00FF);
        assert_eq!(written_bytes(0xFE, 1), 1);
    }

    #[test]
    fn local_memory_is_each_lanes_own() {
        let mut local = LocalMemory::default();
        local.put(3, 258, 4, 0b1011);
        assert_eq!((local.get(3, 256, 8), local.get(4, 256, 8)), (0b10_1100, 0));
        local.forget(65, 66, 1 << 3);
        assert_eq!(local.get(3, 256, 8), 0b1100);
        assert_eq!(local.get(3, 4096, 4), 0);
    }
}
