//! Any lanes of a warp.

use super::lanes::sealed::Lanes;
use super::{LaneGroup, ThreadGroup};
use crate::warp::{
    FULL_MASK, WarpShuffleValue, activemask, lane_id, sync_warp, warp_scan_inclusive,
};

/// Any lanes of a warp: those that got somewhere together ([`coalesced_threads`]), or a part of another group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoalescedGroup {
    mask: u32,
    rank: u32,
    meta_rank: u32,
    meta_size: u32,
}

/// The lanes that execute this call together.
///
/// After a branch these are at most the lanes that took the same side; the hardware may have split them further (see
/// [`activemask`]), so that a program must be right for any division.
///
/// ```no_run
/// # use cuda_std::cooperative_groups::{LaneGroup, ThreadGroup, coalesced_threads};
/// # let (found, counter) = (true, core::ptr::null_mut::<u32>());
/// if found {
///     // One thread counts for all that found something.
///     let group = coalesced_threads();
///     if group.thread_rank() == 0 {
///         unsafe { *counter += group.num_threads() };
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn coalesced_threads() -> CoalescedGroup {
    CoalescedGroup::new(activemask(), 0, 1)
}

impl CoalescedGroup {
    #[inline(always)]
    pub(super) fn new(mask: u32, meta_rank: u32, meta_size: u32) -> Self {
        let rank = (mask & ((1 << lane_id()) - 1)).count_ones();
        Self { mask, rank, meta_rank, meta_size }
    }
}

impl ThreadGroup for CoalescedGroup {
    #[inline(always)]
    fn num_threads(&self) -> u32 {
        self.mask.count_ones()
    }

    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        self.rank
    }

    #[inline(always)]
    unsafe fn sync(&self) {
        // SAFETY: the caller's promise.
        unsafe { sync_warp(self.mask) }
    }
}

impl Lanes for CoalescedGroup {
    #[inline(always)]
    fn lane(&self, rank: u32) -> u32 {
        nth_lane(self.mask, rank)
    }

    #[inline(always)]
    fn by_rank(&self, mask: u32) -> u32 {
        compress(mask, self.mask)
    }

    #[inline(always)]
    unsafe fn scan<T: WarpShuffleValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        // SAFETY: the caller's promise.
        unsafe { warp_scan_inclusive(self.mask, value, combine) }
    }
}

impl LaneGroup for CoalescedGroup {
    #[inline(always)]
    fn mask(&self) -> u32 {
        self.mask
    }

    #[inline(always)]
    fn meta_group_size(&self) -> u32 {
        self.meta_size
    }

    #[inline(always)]
    fn meta_group_rank(&self) -> u32 {
        self.meta_rank
    }
}

/// The lane of `mask` with `rank` lanes of it below; 32 if there is none.
#[inline]
fn nth_lane(mask: u32, rank: u32) -> u32 {
    if mask == FULL_MASK {
        return rank;
    }
    let mut rest = mask;
    for _ in 0..rank {
        rest &= rest.wrapping_sub(1);
    }
    rest.trailing_zeros()
}

/// The bits of `bits` at the places that `places` has, moved together.
#[inline]
fn compress(bits: u32, places: u32) -> u32 {
    if places == FULL_MASK {
        return bits;
    }
    let (mut rest, mut out, mut to) = (places, 0, 0);
    while rest != 0 {
        out |= (bits >> rest.trailing_zeros() & 1) << to;
        to += 1;
        rest &= rest - 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{compress, nth_lane};

    #[test]
    fn lanes_are_found_by_their_number() {
        let mask = 0x8000_F00A;
        let lanes: std::vec::Vec<u32> = (0..7).map(|rank| nth_lane(mask, rank)).collect();
        assert_eq!(lanes, [1, 3, 12, 13, 14, 15, 31]);
        assert_eq!(nth_lane(mask, 7), 32);
        assert_eq!(nth_lane(u32::MAX, 17), 17);
    }

    #[test]
    fn bits_move_together() {
        assert_eq!(compress(0x8000_5008, 0x8000_F00A), 0b101_0110);
        assert_eq!(compress(0x1234_5678, u32::MAX), 0x1234_5678);
        assert_eq!(compress(u32::MAX, 0), 0);
    }
}
