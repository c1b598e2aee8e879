//! What one request to shared memory costs: wavefronts.
//!
//! Shared memory has 32 banks, each 4 bytes wide: the 4-byte word w lies in bank w mod 32. A wavefront reads or writes one
//! word of every bank. The lanes of a warp are served in groups, and a group takes as many wavefronts as the largest number
//! of *different words* that it has in one bank; lanes on the same word share it. The rules below are those recorded from
//! an H200 (`tests/data/golden/banks.jsonl.gz`), and equal to it in every pattern:
//!
//! - up to 4 bytes a lane: one group of 32 lanes; 8 bytes: two of 16; 16 bytes: four of 8.
//! - Loads of 8 and 16 bytes: when over the whole warp each lane has the address of its neighbour (lane xor 1), or of the lane after
//!   that (lane xor 2), or one of such two is off, then groups are twice as large.
//! - Atomics of 4 bytes: lanes on one word do not share it.
//!
//! Not recorded, so modelled by the same rules: accesses of 32 bytes (groups of 4) and atomics of other widths.

use crate::row::lanes;

/// Banks of shared memory.
const BANKS: usize = 32;
/// Bytes of a bank's word.
const WORD_BYTES: u64 = 4;

/// What is done to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedOp {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`, `red`
    Atomic,
}

/// The cost of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCost {
    /// Passes over the banks.
    pub wavefronts: u32,
    /// Passes that the same request takes without bank conflicts: one a group that has an active lane. `wavefronts -
    /// ideal_wavefronts` is what profilers count as bank conflicts.
    pub ideal_wavefronts: u32,
    /// The conflict degree: the most passes that one group takes; 1 is free of conflicts, 32 the worst.
    pub degree: u32,
}

impl SharedCost {
    /// The cost of `bytes` bytes for each lane of `mask`.
    ///
    /// ```
    /// use ptx_emulator::counters::{SharedCost, SharedOp};
    ///
    /// let column: [u64; 32] = std::array::from_fn(|lane| 128 * lane as u64);
    /// let padded: [u64; 32] = std::array::from_fn(|lane| 132 * lane as u64);
    /// assert_eq!(SharedCost::of(SharedOp::Load, &column, u32::MAX, 4).wavefronts, 32);
    /// assert_eq!(SharedCost::of(SharedOp::Load, &padded, u32::MAX, 4).wavefronts, 1);
    /// ```
    #[must_use]
    pub fn of(op: SharedOp, addresses: &[u64; 32], mask: u32, bytes: u32) -> SharedCost {
        let bytes = bytes.max(1);
        let mut group = group_lanes(bytes);
        if op == SharedOp::Load && group < 32 && pairs(addresses, mask) {
            group *= 2;
        }
        let mut cost = SharedCost::default();
        for start in (0..32).step_by(group) {
            let active = mask & ((u64::MAX >> (64 - group)) << start) as u32;
            if active != 0 {
                cost.add(passes(op, addresses, active, bytes));
            }
        }
        cost
    }

    /// As [`of`](SharedCost::of) with all 32 lanes active, lane l at `base + l * stride` (wrapping), in constant time wherever the
    /// stride is a multiple of the word and of `bytes`, and `bytes` is at most 16.
    #[must_use]
    pub fn affine(op: SharedOp, base: u64, stride: i64, bytes: u32) -> SharedCost {
        let wide = u64::from(bytes);
        let step = stride.unsigned_abs();
        let unit = wide.max(WORD_BYTES);
        let regular = wide.is_power_of_two()
            && wide <= 16
            && step.is_multiple_of(unit)
            && base.is_multiple_of(wide)
            && step < 1 << 58;
        if !regular {
            // Within the width of all banks, words of different banks: 32 bytes for instance.
            let reach = step.saturating_mul(31).saturating_add(base % WORD_BYTES);
            if wide <= WORD_BYTES
                && base.is_multiple_of(wide.max(1))
                && step.is_multiple_of(wide.max(1))
                && reach < WORD_BYTES * (BANKS as u64 - 1)
                && op != SharedOp::Atomic
            {
                return SharedCost { wavefronts: 1, ideal_wavefronts: 1, degree: 1 };
            }
            return SharedCost::of(op, &super::addresses(base, stride), u32::MAX, bytes);
        }
        let mut groups = 32 / group_lanes(bytes) as u32;
        let each = if step == 0 {
            match op {
                SharedOp::Load => groups = groups.div_ceil(2),
                SharedOp::Store => {}
                SharedOp::Atomic => return atomic_on_one(groups),
            }
            1
        } else {
            // Lanes start 32 / g different banks apart, where g is what stride and number of banks have in common; a group's lanes
            // are spread over those evenly, none on another's words.
            let common = 1_u32 << (step / WORD_BYTES).trailing_zeros().min(5);
            common / groups
        };
        SharedCost { wavefronts: groups * each, ideal_wavefronts: groups, degree: each }
    }

    fn add(&mut self, passes: u32) {
        self.wavefronts += passes;
        self.ideal_wavefronts += 1;
        self.degree = self.degree.max(passes);
    }
}

/// All lanes' atomics on one address.
fn atomic_on_one(groups: u32) -> SharedCost {
    SharedCost { wavefronts: 32, ideal_wavefronts: groups, degree: 32 / groups }
}

/// Lanes that are served together.
fn group_lanes(bytes: u32) -> usize {
    match bytes {
        0..=4 => 32,
        5..=8 => 16,
        9..=16 => 8,
        _ => 4,
    }
}

/// Whether loads of neighbouring lanes can be served as one: each lane of `mask` has the address of lane xor 1, or each that
/// of lane xor 2; lanes that are off fit any.
fn pairs(addresses: &[u64; 32], mask: u32) -> bool {
    [1, 2].iter().any(|distance| {
        lanes(mask).all(|lane| {
            let other = lane ^ distance;
            mask >> other & 1 == 0 || addresses[lane] == addresses[other]
        })
    })
}

/// The passes that one group takes.
fn passes(op: SharedOp, addresses: &[u64; 32], active: u32, bytes: u32) -> u32 {
    // The different words of each bank, as lists: `first` by bank, `next` by word.
    const END: u8 = u8::MAX;
    let mut first = [END; BANKS];
    let mut next = [END; 2 * BANKS];
    let mut words = [0; 2 * BANKS];
    let mut depth = [0_u32; BANKS];
    let mut count = 0;
    for lane in lanes(active) {
        let start = addresses[lane] / WORD_BYTES;
        let end = addresses[lane].saturating_add(u64::from(bytes) - 1) / WORD_BYTES;
        'word: for word in start..=end {
            let bank = (word % BANKS as u64) as usize;
            if op != SharedOp::Atomic {
                let mut at = first[bank];
                while at != END {
                    if words[usize::from(at)] == word {
                        continue 'word;
                    }
                    at = next[usize::from(at)];
                }
                if let Some(slot) = words.get_mut(count) {
                    *slot = word;
                    next[count] = first[bank];
                    first[bank] = count as u8;
                    count += 1;
                }
            }
            depth[bank] += 1;
        }
    }
    depth.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const OPS: [SharedOp; 3] = [SharedOp::Load, SharedOp::Store, SharedOp::Atomic];

    /// The most different words in one bank, counted plainly.
    fn plain(addresses: &[u64; 32], active: u32, bytes: u32) -> u32 {
        let words: BTreeSet<u64> = lanes(active)
            .flat_map(|lane| addresses[lane]..addresses[lane] + u64::from(bytes))
            .map(|byte| byte / 4)
            .collect();
        (0..32).map(|bank| words.iter().filter(|w| *w % 32 == bank).count() as u32).max().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_group_takes_the_most_different_words_of_a_bank(
            offsets in prop::array::uniform32(0_u64..200), mask in 1_u32.., shift in 0_u32..3,
        ) {
            let bytes = 1 << shift;
            let addresses = offsets.map(|offset| offset * u64::from(bytes) * 4);
            let cost = SharedCost::of(SharedOp::Store, &addresses, mask, bytes);
            let passes = plain(&addresses, mask, bytes);
            let expected = SharedCost { wavefronts: passes, ideal_wavefronts: 1, degree: passes };
            prop_assert_eq!(cost, expected);
        }

        #[test]
        fn affine_costs_are_the_general_ones(
            op in prop::sample::select(&OPS[..]),
            base in 0_u64..40_000,
            stride in prop_oneof![-600_i64..600, any::<i64>()],
            shift in 0_u32..6, aligned: bool,
        ) {
            let bytes = 1 << shift;
            let fit = if aligned { i64::from(bytes) } else { 1 };
            let (base, stride) = (base / fit as u64 * fit as u64, stride.wrapping_mul(fit));
            prop_assert_eq!(
                SharedCost::affine(op, base, stride, bytes),
                SharedCost::of(op, &super::super::addresses(base, stride), u32::MAX, bytes),
                "{:?} {} + {} x lane, {} bytes", op, base, stride, bytes
            );
        }
    }

    #[test]
    fn nothing_costs_nothing() {
        for op in OPS {
            assert_eq!(SharedCost::of(op, &[0; 32], 0, 4), SharedCost::default());
        }
    }

    #[test]
    fn a_wide_broadcast_is_cheaper_to_load_than_to_store() {
        let cost = |op, bytes| SharedCost::of(op, &[64; 32], u32::MAX, bytes).wavefronts;
        assert_eq!([4, 8, 16].map(|bytes| cost(SharedOp::Load, bytes)), [1, 1, 2]);
        assert_eq!([4, 8, 16].map(|bytes| cost(SharedOp::Store, bytes)), [1, 2, 4]);
        assert_eq!([4, 8].map(|bytes| cost(SharedOp::Atomic, bytes)), [32, 32]);
    }

    #[test]
    fn only_different_words_of_one_bank_conflict() {
        // Every second lane 128 bytes further: two words of each bank; the same with the same word: none.
        let two: [u64; 32] =
            std::array::from_fn(|lane| (lane as u64 / 2) * 4 + (lane as u64 % 2) * 128);
        assert_eq!(SharedCost::of(SharedOp::Load, &two, u32::MAX, 4).degree, 2);
        let same = two.map(|address| address % 128);
        assert_eq!(SharedCost::of(SharedOp::Load, &same, u32::MAX, 4).degree, 1);
        assert_eq!(SharedCost::of(SharedOp::Load, &two, 0x5555_5555, 4).degree, 1);
    }
}
