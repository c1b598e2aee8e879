//! Reductions and scans of several items of each thread.

use core::mem::MaybeUninit;

use super::{block_reduce_with, num_threads, scan, thread_rank};
#[cfg(target_arch = "nvptx64")]
use crate::thread::sync_threads;
use crate::warp::WarpShuffleValue;
use crate::warp::items::{Prefixed, fold_items};

/// The items of all threads of the block, combined by an associative function in their order; in each thread.
///
/// The items of thread 0 come first, then those of thread 1: CUB's *blocked* arrangement, that of [`load_blocked`]. CUB:
/// `BlockReduce::Reduce` of an array.
///
/// ```no_run
/// # use cuda_std::block::{block_reduce_items, load_blocked};
/// # let (x, start) = (&[0_u32][..], 0);
/// let items = load_blocked::<u32, 4>(x, start, 0);
/// let sum = unsafe { block_reduce_items(items, |a, b| a + b) };
/// # let _ = sum;
/// ```
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super).
#[inline(always)]
#[must_use]
pub unsafe fn block_reduce_items<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    combine: impl Fn(T, T) -> T,
) -> T {
    let own = fold_items(&items, &combine);
    // SAFETY: the caller's promise.
    unsafe { block_reduce_with(own, combine) }
}

/// For each item: it and all before it, combined by an associative function. The items of thread 0 come first, then those of thread 1.
///
/// CUB: `BlockScan::InclusiveScan` of an array.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_inclusive_items<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    combine: impl Fn(T, T) -> T,
) -> [T; N] {
    // SAFETY: the caller's promise.
    unsafe { block_scan_inclusive_items_total(items, combine) }.0
}

/// [`block_scan_inclusive_items`], and besides it what [`block_reduce_items`] gives.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_inclusive_items_total<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    combine: impl Fn(T, T) -> T,
) -> ([T; N], T) {
    let own = Prefixed::new(items, &combine);
    // SAFETY: the caller's promise.
    let all = unsafe { scan(own.last(), &combine) };
    (own.inclusive(all.before, combine), all.total)
}

/// For each item: all before it, combined by an associative function; `first` for the first item of thread 0 (and in no other's
/// result). The items of thread 0 come first, then those of thread 1.
///
/// CUB: `BlockScan::ExclusiveScan` of an array.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_exclusive_items<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    first: T,
    combine: impl Fn(T, T) -> T,
) -> [T; N] {
    // SAFETY: the caller's promise.
    unsafe { block_scan_exclusive_items_total(items, first, combine) }.0
}

/// [`block_scan_exclusive_items`], and besides it what [`block_reduce_items`] gives.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super).
#[inline(always)]
#[must_use]
pub unsafe fn block_scan_exclusive_items_total<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    first: T,
    combine: impl Fn(T, T) -> T,
) -> ([T; N], T) {
    let own = Prefixed::new(items, &combine);
    // SAFETY: the caller's promise.
    let all = unsafe { scan(own.last(), &combine) };
    (own.exclusive(all.before, first, combine), all.total)
}

/// The thread's `N` elements of those from `start` on, `otherwise` past the end: side by side, those of thread 0 first.
///
/// Neighbouring threads read places that are `N` elements apart; [`load_striped`] and [`striped_to_blocked`] read neighbouring ones.
/// CUB: `BlockLoad` with `BLOCK_LOAD_DIRECT`.
#[inline]
#[must_use]
pub fn load_blocked<T: Copy, const N: usize>(from: &[T], start: usize, otherwise: T) -> [T; N] {
    let first = start + thread_rank() as usize * N;
    core::array::from_fn(|item| from.get(first + item).copied().unwrap_or(otherwise))
}

/// The thread's `N` elements of those from `start` on, `otherwise` past the end: one of each `num_threads()` in sequence, so that a
/// warp reads neighbouring elements.
///
/// CUB: `BlockLoad` with `BLOCK_LOAD_STRIPED`.
#[inline]
#[must_use]
pub fn load_striped<T: Copy, const N: usize>(from: &[T], start: usize, otherwise: T) -> [T; N] {
    let (first, threads) = (start + thread_rank() as usize, num_threads() as usize);
    core::array::from_fn(|item| from.get(first + item * threads).copied().unwrap_or(otherwise))
}

/// Writes the thread's items as [`load_blocked`] reads them, as far as `to` has `len` elements. CUB: `BlockStore` with
/// `BLOCK_STORE_DIRECT`.
///
/// # Safety
///
/// `to` points to `len` elements, and no other thread uses those that are this thread's.
#[inline]
pub unsafe fn store_blocked<T: Copy, const N: usize>(
    to: *mut T,
    len: usize,
    start: usize,
    items: [T; N],
) {
    let first = start + thread_rank() as usize * N;
    for (item, value) in items.into_iter().enumerate() {
        if first + item < len {
            // SAFETY: one of the elements, by the caller's promise this thread's own.
            unsafe { to.add(first + item).write(value) };
        }
    }
}

/// Writes the thread's items as [`load_striped`] reads them, as far as `to` has `len` elements. CUB: `BlockStore` with
/// `BLOCK_STORE_STRIPED`.
///
/// # Safety
///
/// As for [`store_blocked`].
#[inline]
pub unsafe fn store_striped<T: Copy, const N: usize>(
    to: *mut T,
    len: usize,
    start: usize,
    items: [T; N],
) {
    let (first, threads) = (start + thread_rank() as usize, num_threads() as usize);
    for (item, value) in items.into_iter().enumerate() {
        let place = first + item * threads;
        if place < len {
            // SAFETY: one of the elements, by the caller's promise this thread's own.
            unsafe { to.add(place).write(value) };
        }
    }
}

/// Passes items from the arrangement of [`load_striped`] to that of [`load_blocked`], by way of shared memory. CUB:
/// `BlockExchange::StripedToBlocked`.
///
/// # Safety
///
/// Every thread of the block makes this call: see the [module](super). `scratch` points to shared memory with room for `N` items of each
/// thread, the same for all threads, which no thread uses meanwhile.
#[inline(always)]
#[must_use]
pub unsafe fn striped_to_blocked<T: Copy, const N: usize>(
    items: [T; N],
    scratch: *mut MaybeUninit<T>,
) -> [T; N] {
    let (rank, threads) = (thread_rank() as usize, num_threads() as usize);
    // SAFETY: the caller's promise; the places are a permutation of `0..N * threads`.
    unsafe { exchange(items, scratch, |item| rank + item * threads, |item| rank * N + item) }
}

/// Passes items from the arrangement of [`load_blocked`] to that of [`load_striped`], by way of shared memory. CUB:
/// `BlockExchange::BlockedToStriped`.
///
/// # Safety
///
/// As for [`striped_to_blocked`].
#[inline(always)]
#[must_use]
pub unsafe fn blocked_to_striped<T: Copy, const N: usize>(
    items: [T; N],
    scratch: *mut MaybeUninit<T>,
) -> [T; N] {
    let (rank, threads) = (thread_rank() as usize, num_threads() as usize);
    // SAFETY: as above.
    unsafe { exchange(items, scratch, |item| rank * N + item, |item| rank + item * threads) }
}

/// # Safety
///
/// As for [`striped_to_blocked`]; `from` and `to` each name every place once, over all threads.
#[inline(always)]
#[crate::gpu_only]
unsafe fn exchange<T: Copy, const N: usize>(
    items: [T; N],
    scratch: *mut MaybeUninit<T>,
    from: impl Fn(usize) -> usize,
    to: impl Fn(usize) -> usize,
) -> [T; N] {
    sync_threads();
    for (item, value) in items.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { scratch.add(from(item)).write(MaybeUninit::new(value)) };
    }
    sync_threads();
    // SAFETY: written above, each place by one thread.
    core::array::from_fn(|item| unsafe { scratch.add(to(item)).read().assume_init() })
}
