//! One value of many: reductions and scans over the lanes of a warp.
//!
//! Values are combined in the order of their lanes, so functions need only be associative; sums of floating-point numbers, which
//! are not quite, come out the same each time.

use super::shuffle::WarpShuffleValue;
#[cfg(target_arch = "nvptx64")]
use super::shuffle::{warp_broadcast, warp_shuffle_up, warp_shuffle_xor};
#[cfg(target_arch = "nvptx64")]
use super::{FULL_MASK, lane_id};
use crate::gpu_only;

/// What [`warp_reduce`] does with the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpReductionOp {
    /// The sum, modulo 2^32.
    Add,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The bits that all have.
    And,
    /// The bits that any has.
    Or,
    /// The bits that an odd number of them has.
    Xor,
}

mod sealed {
    pub trait Reduce {
        fn combine(self, other: Self, op: super::WarpReductionOp) -> Self;
    }
}

/// A value that [`warp_reduce`] takes.
pub trait WarpReduceValue: WarpShuffleValue + sealed::Reduce {}

macro_rules! reduce {
    ($($T:ty),+) => {$(
        impl sealed::Reduce for $T {
            #[inline(always)]
            fn combine(self, other: Self, op: WarpReductionOp) -> Self {
                match op {
                    WarpReductionOp::Add => self.wrapping_add(other),
                    WarpReductionOp::Min => self.min(other),
                    WarpReductionOp::Max => self.max(other),
                    WarpReductionOp::And => self & other,
                    WarpReductionOp::Or => self | other,
                    WarpReductionOp::Xor => self ^ other,
                }
            }
        }
        impl WarpReduceValue for $T {}
    )+};
}

reduce!(i32, u32, i64, u64);

/// What `op` makes of the values of all lanes of `mask`, in each of them.
///
/// Five shuffles for a full mask, one for each lane of another; PTX ISA 6.0, sm_30. (`redux.sync` would need sm_80.)
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the caller's promise.
    unsafe { warp_reduce_with(mask, value, |a, b| a.combine(b, op)) }
}

/// The values of all lanes of `mask`, combined by an associative function in the order of the lanes; in each of them.
///
/// Five shuffles for a full mask, one for each lane of another; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). `combine` must not contain another such call that not all lanes
/// make.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_reduce_with<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    if mask == FULL_MASK {
        let lane = lane_id();
        let mut sum = value;
        let mut distance = 1;
        while distance < 32 {
            // SAFETY: all lanes are here.
            let (other, _) = unsafe { warp_shuffle_xor(mask, sum, distance, 32) };
            // Each group of lanes holds the sum of its own; the lower group's goes first.
            sum = if lane & distance == 0 { combine(sum, other) } else { combine(other, sum) };
            distance *= 2;
        }
        return sum;
    }
    // SAFETY: the caller's promise; lanes of the mask are asked.
    let first = unsafe { warp_broadcast(mask, value, mask.trailing_zeros()) };
    let mut rest = mask & mask.wrapping_sub(1);
    let mut sum = first;
    while rest != 0 {
        // SAFETY: as above.
        let next = unsafe { warp_broadcast(mask, value, rest.trailing_zeros()) };
        sum = combine(sum, next);
        rest &= rest - 1;
    }
    sum
}

/// The values of this lane and the lower ones of `mask`, combined by an associative function in the order of the lanes.
///
/// Five shuffles for a full mask, one for each lane of another; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for [`warp_reduce_with`].
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_scan_inclusive<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    if mask == FULL_MASK {
        // SAFETY: all lanes are here.
        return unsafe { scan_lowest(mask, value, combine) };
    }
    let lane = lane_id();
    let mut sum = value;
    let mut before = None;
    let mut rest = mask;
    while rest != 0 {
        let from = rest.trailing_zeros();
        // SAFETY: the caller's promise; lanes of the mask are asked.
        let next = unsafe { warp_broadcast(mask, value, from) };
        let all = match before {
            None => next,
            Some(before) => combine(before, next),
        };
        if from == lane {
            sum = all;
        }
        before = Some(all);
        rest &= rest - 1;
    }
    sum
}

/// [`warp_scan_inclusive`] in five shuffles, for a mask of all lanes or of the lowest ones without a gap.
///
/// # Safety
///
/// As for [`warp_reduce_with`], and the mask is such a one.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) unsafe fn scan_lowest<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    let mut sum = value;
    let mut distance = 1;
    while distance < 32 {
        // SAFETY: the caller's promise. A lower lane than one of the mask is in it too, or there is none.
        let (lower, exists) = unsafe { warp_shuffle_up(mask, sum, distance, 32) };
        if exists {
            sum = combine(lower, sum);
        }
        distance *= 2;
    }
    sum
}

/// The values of the lanes of `mask` below this one, combined by an associative function in the order of the lanes;
/// `first` in the lowest lane.
///
/// One shuffle more than [`warp_scan_inclusive`] for a full mask; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for [`warp_reduce_with`].
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_scan_exclusive<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    first: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: the caller's promise.
    let sum = unsafe { warp_scan_inclusive(mask, value, combine) };
    let below = mask & ((1 << lane_id()) - 1);
    // The lowest lane asks itself: every lane of the mask has to take part.
    let from = if below == 0 { lane_id() } else { 31 - below.leading_zeros() };
    // SAFETY: the caller's promise; lanes of the mask are asked.
    let lower = unsafe { warp_broadcast(mask, sum, from) };
    if below == 0 { first } else { lower }
}
