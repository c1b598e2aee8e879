//! Counters: what a launch did, and what its memory accesses cost.
//!
//! What each counter means, and which of them are exact: instructions, lanes, requests, sectors, lines, wavefronts,
//! divergence, and atomics' largest number of lanes on one address follow from the program and its addresses alone, so they are exact, and the
//! rules for sectors and wavefronts are those recorded from an H200. No counter is a time: there are no caches and no
//! clock here.
//!
//! The functions of [`GlobalCost`] and [`SharedCost`] judge one warp instruction. The machine adds them up in a [`PerOp`]; [`Counters`]
//! is the result: totals, and a row for each PTX instruction and each line of the program's own source.

mod activity;
mod class;
mod global;
mod per_op;
mod shared;
mod summary;
mod table;

pub use activity::{Activity, GlobalTraffic, SharedTraffic};
pub use class::{MemorySpace, OpClass};
pub use global::{GlobalCost, LINE_BYTES, SECTOR_BYTES};
pub use per_op::{MemorySums, PerOp};
pub use shared::{SharedCost, SharedOp};
pub use summary::{ClassCounters, Counters, InstructionCounters, LineCounters};

use crate::row::lanes;

/// The addresses of a full warp, lane l at `base + l * stride`, wrapping.
fn addresses(base: u64, stride: i64) -> [u64; 32] {
    std::array::from_fn(|lane| base.wrapping_add((stride as u64).wrapping_mul(lane as u64)))
}

/// The addresses of the lanes of `mask` packed at the start of `buffer`, and whether they rise already.
fn active<'a>(
    addresses: &[u64; 32],
    mask: u32,
    buffer: &'a mut [u64; 32],
) -> (&'a mut [u64], bool) {
    let mut rising = true;
    let mut count = 0;
    if mask == u32::MAX {
        *buffer = *addresses;
        count = 32;
        for lane in 1..32 {
            rising &= addresses[lane - 1] <= addresses[lane];
        }
    } else {
        let mut previous = 0;
        for lane in lanes(mask) {
            rising &= previous <= addresses[lane];
            previous = addresses[lane];
            buffer[count] = previous;
            count += 1;
        }
    }
    (&mut buffer[..count], rising)
}

/// The largest number of active lanes that name one address: what an atomic has to do one after the other.
///
/// ```
/// assert_eq!(ptx_emulator::counters::same_address(&[64; 32], 0xFF), 8);
/// ```
#[must_use]
pub fn same_address(addresses: &[u64; 32], mask: u32) -> u32 {
    let mut buffer = [0; 32];
    let (active, sorted) = active(addresses, mask, &mut buffer);
    if !sorted {
        active.sort_unstable();
    }
    active.chunk_by(|a, b| a == b).map(|run| run.len() as u32).max().unwrap_or(0)
}

/// As [`same_address`] with all 32 lanes active, lane l at `base + l * stride`, in constant time.
#[must_use]
pub fn same_address_affine(stride: i64) -> u32 {
    match stride.trailing_zeros() {
        // Addresses wrap at 64 bits: a stride of 2^63 has two of them, and so on.
        zeros @ 60..64 => 1 << (zeros - 59),
        64 => 32,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_on_one_address() {
        let mut mixed: [u64; 32] = std::array::from_fn(|lane| 4 * (lane as u64 % 8));
        assert_eq!(same_address(&mixed, u32::MAX), 4);
        mixed[31] = 0;
        assert_eq!(same_address(&mixed, u32::MAX), 5);
        assert_eq!(same_address(&mixed, 0x7FFF_FFFF), 4);
        assert_eq!(same_address(&mixed, 0b11), 1);
        assert_eq!(same_address(&mixed, 0), 0);
    }

    #[test]
    fn lanes_on_one_affine_address() {
        let strides = (0..64).map(|bit| 1_i64 << bit).chain([0, 3, -4, 12, i64::MAX]);
        for stride in strides {
            let expected = same_address(&addresses(640, stride), u32::MAX);
            assert_eq!(same_address_affine(stride), expected, "stride {stride}");
        }
    }
}
