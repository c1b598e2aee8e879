//! Reductions and scans of several items of each lane.

use super::{WarpShuffleValue, warp_reduce_with, warp_scan_inclusive, warp_shuffle_up};

/// A thread's items, combined.
#[inline(always)]
pub(crate) fn fold_items<T: Copy, const N: usize>(
    items: &[T; N],
    combine: impl Fn(T, T) -> T,
) -> T {
    const { assert!(N > 0, "a thread needs at least one item") };
    let mut all = items[0];
    for item in &items[1..] {
        all = combine(all, *item);
    }
    all
}

/// A thread's items, each combined with those before it in the thread.
pub(crate) struct Prefixed<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Prefixed<T, N> {
    #[inline(always)]
    pub(crate) fn new(mut items: [T; N], combine: impl Fn(T, T) -> T) -> Self {
        const { assert!(N > 0, "a thread needs at least one item") };
        for item in 1..N {
            items[item] = combine(items[item - 1], items[item]);
        }
        Self(items)
    }

    /// All of the thread's items.
    #[inline(always)]
    pub(crate) fn last(&self) -> T {
        self.0[N - 1]
    }

    /// With what is before the thread.
    #[inline(always)]
    pub(crate) fn inclusive(self, before: Option<T>, combine: impl Fn(T, T) -> T) -> [T; N] {
        match before {
            Some(before) => self.0.map(|item| combine(before, item)),
            None => self.0,
        }
    }

    /// With what is before the thread, and without the item itself.
    #[inline(always)]
    pub(crate) fn exclusive(
        self,
        before: Option<T>,
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> [T; N] {
        let inclusive = self.0;
        core::array::from_fn(|item| match (item, before) {
            (0, before) => before.unwrap_or(first),
            (_, Some(before)) => combine(before, inclusive[item - 1]),
            (_, None) => inclusive[item - 1],
        })
    }
}

/// The items of all lanes of `mask`, combined by an associative function in their order; in each of them. The items of the lowest lane
/// come first.
///
/// CUB: `WarpReduce` of an array.
///
/// # Safety
///
/// As for [`warp_reduce_with`].
#[inline(always)]
#[must_use]
pub unsafe fn warp_reduce_items<T: WarpShuffleValue, const N: usize>(
    mask: u32,
    items: [T; N],
    combine: impl Fn(T, T) -> T,
) -> T {
    let own = fold_items(&items, &combine);
    // SAFETY: the caller's promise.
    unsafe { warp_reduce_with(mask, own, combine) }
}

/// For each item: it and all before it, combined by an associative function. The items of the lowest lane come first. All lanes of the
/// warp take part.
///
/// CUB: `WarpScan::InclusiveScan` of an array.
///
/// # Safety
///
/// All 32 lanes of the warp make this call together.
#[inline(always)]
#[must_use]
pub unsafe fn warp_scan_inclusive_items<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    combine: impl Fn(T, T) -> T,
) -> [T; N] {
    let own = Prefixed::new(items, &combine);
    // SAFETY: the caller's promise.
    let before = unsafe { before(own.last(), &combine) };
    own.inclusive(before, combine)
}

/// For each item: all before it, combined by an associative function; `first` for the first item of lane 0 (and in no other's result).
/// All lanes of the warp take part.
///
/// CUB: `WarpScan::ExclusiveScan` of an array.
///
/// # Safety
///
/// All 32 lanes of the warp make this call together.
#[inline(always)]
#[must_use]
pub unsafe fn warp_scan_exclusive_items<T: WarpShuffleValue, const N: usize>(
    items: [T; N],
    first: T,
    combine: impl Fn(T, T) -> T,
) -> [T; N] {
    let own = Prefixed::new(items, &combine);
    // SAFETY: the caller's promise.
    let before = unsafe { before(own.last(), &combine) };
    own.exclusive(before, first, combine)
}

/// What the lower lanes have, if there are any.
///
/// # Safety
///
/// All 32 lanes of the warp make this call together.
#[inline(always)]
unsafe fn before<T: WarpShuffleValue>(own: T, combine: impl Fn(T, T) -> T) -> Option<T> {
    // SAFETY: the caller's promise.
    let (lower, exists) = unsafe {
        let inclusive = warp_scan_inclusive(super::FULL_MASK, own, combine);
        warp_shuffle_up(super::FULL_MASK, inclusive, 1, 32)
    };
    exists.then_some(lower)
}
