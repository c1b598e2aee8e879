//! How the addresses of an access lie to each other, remembered by each operation.
//!
//! In a loop that is the same again and again while the addresses themselves move on, so what follows from it is found out
//! once: the bytes between the lowest and the highest, how to move them, and what the access costs.

use super::counting::{Cost, What};
use super::launch::Engine;
use super::places::Places;
use crate::counters::LINE_BYTES;
use crate::op::{NONE, Space};
use crate::registers::Affine;
use crate::row::LANES;

/// How the lanes' elements lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layout {
    /// All lanes have the same one.
    #[default]
    Same,
    /// Each half of the warp has one.
    TwoElements,
    /// One after the other.
    Row,
    /// In each half one after the other.
    TwoRows,
    /// With the same distance from lane to lane, in each half.
    Apart,
}

/// The last pattern of an operation's addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pattern {
    stride: u64,
    step: u64,
    /// The lanes that were active; 0: there is no pattern yet.
    mask: u32,
    /// The allocation in global memory.
    pub(super) slot: u32,
    /// Bytes from the lowest element to that of lane 0.
    pub(super) low: u64,
    /// Bytes from the lowest element to the end of the highest.
    pub(super) span: u64,
    pub(super) layout: Layout,
    /// What of the address counts for the cost; the rest of it changes nothing.
    phase_mask: u64,
    phase: u64,
    /// How often it came since it was counted.
    times: u64,
    cost: Cost,
    /// Bytes that all lanes together ask for.
    bytes: u32,
}

impl Pattern {
    /// Whether addresses lie to each other as they did last, and cost the same.
    #[inline(always)]
    pub(super) fn is(&self, at: Affine, mask: u32) -> bool {
        at.stride == self.stride
            && at.step == self.step
            && mask == self.mask
            && at.base & self.phase_mask == self.phase
    }

    /// Whether it stays the same however often the addresses move on by so much.
    pub(super) fn stays(&self, by: u64) -> bool {
        // Small moves change what counts of an address in the end, even if it is not its lowest bits.
        self.phase_mask == 0 || by.is_multiple_of(LINE_BYTES)
    }

    #[inline(always)]
    pub(super) fn count(&mut self, times: u64) {
        self.times += times;
    }
}

/// The layout of elements of `bytes` bytes.
fn layout(at: Affine, bytes: u64) -> Layout {
    match (at.stride, at.step) {
        (0, 0) => Layout::Same,
        (0, _) => Layout::TwoElements,
        (stride, _) if stride == bytes && at.is_line() => Layout::Row,
        (stride, _) if stride == bytes => Layout::TwoRows,
        _ => Layout::Apart,
    }
}

/// What of the first address decides, together with the distances, what an access costs. Elements are aligned to their size, so
/// none of them lies in two sectors or lines.
fn phase_mask(at: Affine, space: Space) -> u64 {
    let distances = at.stride | at.step;
    match space {
        _ if distances == 0 => 0,
        Space::Global if distances.is_multiple_of(LINE_BYTES) => 0,
        // Every element lies at the same place of its own sector, and only the sectors' places in lines differ.
        Space::Global if distances.is_multiple_of(32) => LINE_BYTES - 32,
        _ => LINE_BYTES - 1,
    }
}

impl Engine<'_> {
    /// Remembers the pattern of an access of `bytes` bytes a lane. False if it is not one of the simple ones, which are
    /// aligned and near each other.
    #[inline(never)]
    pub(super) fn learn(
        &mut self,
        pc: u32,
        what: What,
        space: Space,
        at: Affine,
        mask: u32,
        bytes: u32,
    ) -> bool {
        self.count_pattern(pc);
        let slot = match space {
            Space::Shared => NONE,
            _ => match self.caches.get(pc as usize) {
                Some(slot) if self.memory.slot(*slot).is_some_and(|found| !found.is_constant()) => {
                    *slot
                }
                _ => return false,
            },
        };
        let Some(pattern) = self.patterns.get_mut(pc as usize) else {
            return false;
        };
        if (at.stride | at.step) & (u64::from(bytes) - 1) != 0 || !at.is_near() {
            return false;
        }
        let from_first = |corner: u64| corner.wrapping_sub(at.base).cast_signed();
        let distances = at.corners().map(from_first);
        let lowest = distances.into_iter().min().unwrap_or(0);
        let highest = distances.into_iter().max().unwrap_or(0);
        *pattern = Pattern {
            stride: at.stride,
            step: at.step,
            mask,
            slot,
            low: lowest.unsigned_abs(),
            span: highest.abs_diff(lowest) + u64::from(bytes),
            layout: layout(at, u64::from(bytes)),
            phase_mask: 0,
            phase: 0,
            times: 0,
            cost: Cost::default(),
            bytes: bytes.wrapping_mul(mask.count_ones()),
        };
        if self.counting.is_some() {
            pattern.phase_mask = phase_mask(at, space);
            pattern.phase = at.base & pattern.phase_mask;
            pattern.cost = Cost::of(what, space, Places::Even(at), mask, bytes);
        }
        true
    }

    /// Adds what a pattern cost to the counters.
    fn count_pattern(&mut self, pc: u32) {
        if let Some(pattern) = self.patterns.get_mut(pc as usize)
            && let Some(counting) = &mut self.counting
        {
            let times = std::mem::take(&mut pattern.times);
            counting.add(pc, pattern.cost, pattern.bytes, times);
        }
    }

    /// Adds what was not counted yet.
    pub(super) fn count_patterns(&mut self) {
        (0..self.patterns.len() as u32).for_each(|pc| self.count_pattern(pc));
    }
}

const _: () = assert!(LANES == 32, "a pattern is one of two halves of 16 lanes");
