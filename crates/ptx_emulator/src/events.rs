//! What the machine tells its checks.

use crate::op::Order;
use crate::registers::Affine;
use crate::row::{FULL, LANES, Row64, lanes};

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
    /// That of another block of the cluster, the one of this rank.
    Remote { rank: u32 },
    /// The stack of each lane; the same offset is other memory for each.
    Local,
    /// An allocation: its slot and first address.
    Global { slot: u32, base: u64 },
}

/// Bytes from the start of an area, by lane.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack for the time of one access")]
pub(crate) enum Offsets {
    /// Evenly spaced in each half of the warp; modulo 2^64, so that lanes can go downwards.
    Even(Affine),
    Each(Row64),
}

/// Lanes of half a warp.
const HALF: u32 = LANES as u32 / 2;

impl Offsets {
    #[inline]
    pub(crate) fn at(&self, lane: usize) -> u64 {
        match self {
            Offsets::Even(value) => value.lane(lane),
            Offsets::Each(row) => row[lane],
        }
    }

    /// Whether `each` is true of ranges, start and length, that together are what the lanes of `mask` access, `bytes` bytes
    /// each.
    #[inline]
    pub(crate) fn all_ranges(
        &self,
        mask: u32,
        bytes: u32,
        mut each: impl FnMut(usize, usize) -> bool,
    ) -> bool {
        let bytes = u64::from(bytes);
        let Offsets::Even(value) = self else {
            return lanes(mask).all(|lane| each(self.at(lane) as usize, bytes as usize));
        };
        if value.stride == bytes && value.is_line() && mask == FULL {
            return each(value.base as usize, LANES * bytes as usize);
        }
        [mask & 0xFFFF, mask & 0xFFFF << HALF].into_iter().filter(|half| *half != 0).all(|half| {
            let (lowest, above) = (half.trailing_zeros(), 32 - half.leading_zeros());
            let count = if value.stride == 0 { 1 } else { half.count_ones() };
            // Without gaps between lanes, or between their places.
            if value.stride == 0 || value.stride == bytes && count == above - lowest {
                return each(
                    value.lane(lowest as usize & 31) as usize,
                    count as usize * bytes as usize,
                );
            }
            lanes(half).all(|lane| each(value.lane(lane) as usize, bytes as usize))
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_what_the_lanes_access() {
        for stride in [0, 4, 8, (-4i64) as u64] {
            for step in [stride.wrapping_mul(16), 0, 256, 4] {
                for mask in [FULL, 0xFFFF, 0x0FF0_0000, 0x0F0F_0F0F, 1, 0x8000_0001] {
                    let value = Affine { base: 1000, stride, step };
                    let mut expected: Vec<u64> = lanes(mask)
                        .flat_map(|lane| (0..4).map(move |byte| value.lane(lane) + byte))
                        .collect();
                    for offsets in [
                        Offsets::Even(value),
                        Offsets::Each(std::array::from_fn(|lane| value.lane(lane))),
                    ] {
                        let mut found: Vec<u64> = Vec::new();
                        let all = offsets.all_ranges(mask, 4, |start, length| {
                            found.extend(start as u64..(start + length) as u64);
                            true
                        });
                        for bytes in [&mut expected, &mut found] {
                            bytes.sort_unstable();
                            bytes.dedup();
                        }
                        assert!(all);
                        assert_eq!(found, expected, "{stride} {step} {mask:#x}");
                    }
                }
            }
        }
    }
}
