//! One value of many, over the threads of a block: reductions, scans, broadcasts.
//!
//! For blocks of every shape, up to CUDA's 1024 threads. Values are combined in the order of the threads' numbers
//! ([`thread_rank`]), so functions need only be associative; sums of floating-point numbers, which are not quite, come out the
//! same each time, and in all threads. What CUB calls `BlockReduce` and `BlockScan`:
//!
//! | here | CUB | |
//! | --- | --- | --- |
//! | [`block_reduce_with`], [`block_sum`], [`block_min`], [`block_max`] | `BlockReduce` | the result in all threads |
//! | [`block_scan_inclusive`], [`block_inclusive_sum`] | `BlockScan::InclusiveScan` | this thread and those before it |
//! | [`block_scan_exclusive`], [`block_exclusive_sum`] | `BlockScan::ExclusiveScan` | those before it alone |
//! | [`block_broadcast`] | | one thread's value in all threads |
//! | [`block_reduce_items`], [`block_scan_inclusive_items`], [`block_scan_exclusive_items`] | the same, of arrays | several items a thread |
//! | [`load_blocked`], [`load_striped`], [`store_blocked`], [`store_striped`] | `BlockLoad`, `BlockStore` | a thread's items |
//! | [`striped_to_blocked`], [`blocked_to_striped`] | `BlockExchange` | from one arrangement to the other |
//!
//! ```
//! use cuda_std::block::block_sum;
//! use cuda_std::prelude::*;
//!
//! /// `sums[b]`: the sum of the elements of block `b`.
//! ///
//! /// # Safety
//! /// `sums` has an element for each block.
//! #[kernel]
//! pub unsafe fn sums(x: &[f32], sums: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     // No `return` for threads past the end: all threads of the block have to take part.
//!     let value = if i < x.len() { x[i] } else { 0.0 };
//!     let sum = unsafe { block_sum(value) };
//!     if thread::thread_idx_x() == 0 {
//!         unsafe { *sums.add(thread::block_idx_x() as usize) = sum };
//!     }
//! }
//! ```
//!
//! # What it costs
//!
//! Five shuffles, two barriers, one read of shared memory for each warp of the block, no barrier if there is only one. Shared
//! memory of 32 times the value's size, rounded up to a power of two; calls with values of about the same size share it. A value has
//! at most 256 bytes. PTX ISA 6.0, sm_30.
//!
//! # Safety of all of them
//!
//! Every thread of the block makes the same call, as with [`sync_threads`](crate::thread::sync_threads). More than there, a call
//! that only some threads make has them read what nobody wrote: that is why these functions are `unsafe`. The functions given
//! to them contain no such call and no barrier. They are barriers only as far as they need to be: to see what another thread
//! wrote to memory takes a [`sync_threads`](crate::thread::sync_threads) of its own.

mod items;
#[cfg(target_arch = "nvptx64")]
mod scratch;

pub use items::{
    block_reduce_items, block_scan_exclusive_items, block_scan_exclusive_items_total,
    block_scan_inclusive_items, block_scan_inclusive_items_total, blocked_to_striped, load_blocked,
    load_striped, store_blocked, store_striped, striped_to_blocked,
};

use core::ops::Add;

use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use crate::thread::sync_threads;
use crate::thread::{block_dim, thread_idx};
use crate::warp::WarpShuffleValue;
#[cfg(target_arch = "nvptx64")]
use crate::warp::{FULL_MASK, scan_lowest, warp_broadcast, warp_shuffle_up};

/// The thread's number in its block, x fastest and z slowest: 0 to `num_threads() - 1`. 32 in sequence are a warp.
///
/// ```no_run
/// # use cuda_std::block;
/// if block::thread_rank() == 0 {
///     // One thread of the block, whatever its shape.
/// }
/// ```
#[inline]
#[must_use]
pub fn thread_rank() -> u32 {
    let (thread, block) = (thread_idx(), block_dim());
    (thread.z * block.y + thread.y) * block.x + thread.x
}

/// Threads of a block: at most 1024.
#[inline]
#[must_use]
pub fn num_threads() -> u32 {
    let block = block_dim();
    block.x * block.y * block.z
}

/// The thread's warp in its block, and the block's warps.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy)]
struct Warp {
    rank: u32,
    /// The thread's number in the warp.
    lane: u32,
    /// The lanes that are threads: all, or the lowest in the last warp.
    lanes: u32,
    /// Warps of the block.
    count: u32,
}

#[cfg(target_arch = "nvptx64")]
impl Warp {
    #[inline(always)]
    fn of_this_thread() -> Self {
        let (thread, threads) = (thread_rank(), num_threads());
        let rank = thread / 32;
        let lanes = match threads - rank * 32 {
            rest @ 1..32 => (1 << rest) - 1,
            _ => FULL_MASK,
        };
        Self { rank, lane: thread % 32, lanes, count: threads.div_ceil(32) }
    }

    fn last_lane(self) -> u32 {
        31 - self.lanes.leading_zeros()
    }

    /// Puts each warp's value, of its last lane, where [`read`](Self::read) finds it.
    ///
    /// # Safety
    ///
    /// As [`super::block`] says.
    #[inline(always)]
    unsafe fn publish<T: Copy>(self, value: T) {
        // Before, threads may still read what an earlier call left.
        sync_threads();
        if self.lane == self.last_lane() {
            // SAFETY: there is a slot for each warp, and no other thread writes to this one.
            unsafe { scratch::slots::<T>().add(self.rank as usize).write(value) };
        }
        sync_threads();
    }

    /// The value of warp `rank`.
    ///
    /// # Safety
    ///
    /// It has been published with the same type, and `rank` is one of the block's warps.
    #[inline(always)]
    unsafe fn read<T: Copy>(rank: u32) -> T {
        // SAFETY: written before the barrier in `publish`, and not again before the next one.
        unsafe { scratch::slots::<T>().add(rank as usize).read() }
    }

    /// The values of warps 0 to `end`, without it, combined.
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read), and `end` is not 0.
    #[inline(always)]
    unsafe fn fold<T: Copy>(end: u32, combine: impl Fn(T, T) -> T) -> T {
        // SAFETY: the caller's promise.
        let mut all = unsafe { Self::read(0) };
        for rank in 1..end {
            // SAFETY: as above.
            all = combine(all, unsafe { Self::read(rank) });
        }
        all
    }
}

/// The values of all threads of the block, combined by an associative function in the order of the threads' numbers; in each of
/// them.
///
/// ```no_run
/// # use cuda_std::block::block_reduce_with;
/// # let (x, i) = (&[0.0_f32][..], 0);
/// // The largest element and its place, the first of several.
/// let (largest, place) = unsafe {
///     block_reduce_with((x[i], i as u32), |a, b| if b.0 > a.0 { b } else { a })
/// };
/// # let _ = (largest, place);
/// ```
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn block_reduce_with<T: WarpShuffleValue>(value: T, combine: impl Fn(T, T) -> T) -> T {
    let warp = Warp::of_this_thread();
    // SAFETY: the caller's promise: all threads are here, and these are the lanes of the warp that are threads.
    unsafe {
        let own = scan_lowest(warp.lanes, value, &combine);
        if warp.count == 1 {
            return warp_broadcast(warp.lanes, own, warp.last_lane());
        }
        warp.publish(own);
        Warp::fold(warp.count, combine)
    }
}

/// The sum of the values of all threads of the block, in each of them.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_sum<T: WarpShuffleValue + Add<Output = T>>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { block_reduce_with(value, |a, b| a + b) }
}

/// The least of the values of all threads of the block, in each of them. A NaN counts only if there is nothing else.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_min<T: WarpShuffleValue + PartialOrd>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { block_reduce_with(value, |a, b| if b < a || is_nan(&a) { b } else { a }) }
}

/// The greatest of the values of all threads of the block, in each of them. A NaN counts only if there is nothing else.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_max<T: WarpShuffleValue + PartialOrd>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { block_reduce_with(value, |a, b| if b > a || is_nan(&a) { b } else { a }) }
}

/// Whether a value is not even like itself.
#[inline(always)]
fn is_nan<T: PartialOrd>(value: &T) -> bool {
    value.partial_cmp(value).is_none()
}

/// The values of this thread and those with lower numbers, combined by an associative function in the order of the threads'
/// numbers.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_inclusive<T: WarpShuffleValue>(
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: the caller's promise.
    unsafe { scan(value, combine) }.inclusive
}

/// [`block_scan_inclusive`], and besides it what [`block_reduce_with`] gives: the values of all threads.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_inclusive_total<T: WarpShuffleValue>(
    value: T,
    combine: impl Fn(T, T) -> T,
) -> (T, T) {
    // SAFETY: the caller's promise.
    let scan = unsafe { scan(value, combine) };
    (scan.inclusive, scan.total)
}

/// The values of the threads with lower numbers than this one, combined by an associative function in the order of the threads'
/// numbers; `first` in thread 0 (and in no other's result).
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_exclusive<T: WarpShuffleValue>(
    value: T,
    first: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: the caller's promise.
    unsafe { scan(value, combine) }.before.unwrap_or(first)
}

/// [`block_scan_exclusive`], and besides it what [`block_reduce_with`] gives: the values of all threads.
///
/// ```no_run
/// # use cuda_std::block::block_scan_exclusive_total;
/// # let (keep, out, x) = (true, core::ptr::null_mut::<f32>(), 0.0);
/// // Puts the elements to keep one behind the other, and tells how many there are.
/// let (place, kept) = unsafe { block_scan_exclusive_total(u32::from(keep), 0, |a, b| a + b) };
/// if keep {
///     unsafe { *out.add(place as usize) = x };
/// }
/// # let _ = kept;
/// ```
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_exclusive_total<T: WarpShuffleValue>(
    value: T,
    first: T,
    combine: impl Fn(T, T) -> T,
) -> (T, T) {
    // SAFETY: the caller's promise.
    let scan = unsafe { scan(value, combine) };
    (scan.before.unwrap_or(first), scan.total)
}

/// The sum of the values of this thread and those with lower numbers.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_inclusive_sum<T: WarpShuffleValue + Add<Output = T>>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { block_scan_inclusive(value, |a, b| a + b) }
}

/// The sum of the values of the threads with lower numbers than this one: zero, which is `T::default()`, in thread 0.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](self).
#[inline(always)]
#[must_use]
pub unsafe fn block_exclusive_sum<T: WarpShuffleValue + Add<Output = T> + Default>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { block_scan_exclusive(value, T::default(), |a, b| a + b) }
}

/// What a scan can tell.
struct Scan<T> {
    inclusive: T,
    /// `None` in thread 0.
    before: Option<T>,
    total: T,
}

/// All of it; what is not used goes when the function is inlined.
#[inline(always)]
#[gpu_only]
unsafe fn scan<T: WarpShuffleValue>(value: T, combine: impl Fn(T, T) -> T) -> Scan<T> {
    let warp = Warp::of_this_thread();
    // SAFETY: the caller's promise: all threads are here, and these are the lanes of the warp that are threads.
    unsafe {
        let inclusive = scan_lowest(warp.lanes, value, &combine);
        let (lower, exists) = warp_shuffle_up(warp.lanes, inclusive, 1, 32);
        let lower = exists.then_some(lower);
        if warp.count == 1 {
            let total = warp_broadcast(warp.lanes, inclusive, warp.last_lane());
            return Scan { inclusive, before: lower, total };
        }
        warp.publish(inclusive);
        let total = Warp::fold(warp.count, &combine);
        if warp.rank == 0 {
            return Scan { inclusive, before: lower, total };
        }
        let before = Warp::fold(warp.rank, &combine);
        Scan {
            inclusive: combine(before, inclusive),
            before: Some(match lower {
                Some(lower) => combine(before, lower),
                None => before,
            }),
            total,
        }
    }
}

/// The value of the thread with the number `from`, the same for all threads, in each of them.
///
/// # Safety
///
/// Every thread of the block makes this call, with the same `from`: see the [module](self).
///
/// # Panics
///
/// If the block has no such thread.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn block_broadcast<T: WarpShuffleValue>(value: T, from: u32) -> T {
    assert!(from < num_threads(), "a broadcast needs a thread of the block to come from");
    let warp = Warp::of_this_thread();
    if warp.count == 1 {
        // SAFETY: the caller's promise, and the thread exists.
        return unsafe { warp_broadcast(warp.lanes, value, from) };
    }
    // Before, threads may still read what an earlier call left.
    sync_threads();
    if thread_rank() == from {
        // SAFETY: there are 32 slots, and only this thread writes.
        unsafe { scratch::slots::<T>().write(value) };
    }
    sync_threads();
    // SAFETY: written above, and not again before another barrier.
    unsafe { Warp::read(0) }
}
