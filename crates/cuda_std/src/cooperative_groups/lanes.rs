//! What groups of lanes do together.

use super::{CoalescedGroup, ThreadGroup};
use crate::warp::{
    WarpMatchValue, WarpShuffleValue, lane_id, warp_broadcast, warp_match_any, warp_vote_all,
    warp_vote_any, warp_vote_ballot,
};

pub(super) mod sealed {
    use crate::warp::WarpShuffleValue;

    pub trait Lanes {
        /// The lane with this number in the group.
        fn lane(&self, rank: u32) -> u32;

        /// The lanes of `mask`, which are some of the group's, by their numbers in it.
        fn by_rank(&self, mask: u32) -> u32;

        /// # Safety
        ///
        /// As for every operation of a group.
        unsafe fn scan<T: WarpShuffleValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T;
    }
}

/// A group of lanes of one warp: [`Tile`](super::Tile), [`CoalescedGroup`].
pub trait LaneGroup: ThreadGroup + sealed::Lanes {
    /// The group's lanes, bit *n* for lane *n*: for the functions of [`warp`](crate::warp).
    #[must_use]
    fn mask(&self) -> u32;

    /// How many groups the thread's parent was divided into.
    #[must_use]
    fn meta_group_size(&self) -> u32;

    /// The group's number among them, from 0.
    #[must_use]
    fn meta_group_rank(&self) -> u32;

    /// The value of thread `rank`; each thread may ask another one.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). The group has a thread `rank`.
    #[inline(always)]
    #[must_use]
    unsafe fn shfl<T: WarpShuffleValue>(&self, value: T, rank: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { warp_broadcast(self.mask(), value, self.lane(rank)) }
    }

    /// The value of thread `rank`, the same for all, in each of them: [`shfl`](Self::shfl) by another name.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). The group has a thread `rank`.
    #[inline(always)]
    #[must_use]
    unsafe fn broadcast<T: WarpShuffleValue>(&self, value: T, rank: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.shfl(value, rank) }
    }

    /// The value of the thread `delta` lower; the thread's own if there is none.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn shfl_up<T: WarpShuffleValue>(&self, value: T, delta: u32) -> T {
        let from =
            self.thread_rank().checked_sub(delta).map_or_else(lane_id, |rank| self.lane(rank));
        // SAFETY: the caller's promise; the lane is one of the group.
        unsafe { warp_broadcast(self.mask(), value, from) }
    }

    /// The value of the thread `delta` higher; the thread's own if there is none.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn shfl_down<T: WarpShuffleValue>(&self, value: T, delta: u32) -> T {
        let rank = self.thread_rank().saturating_add(delta);
        let from = if rank < self.num_threads() { self.lane(rank) } else { lane_id() };
        // SAFETY: the caller's promise; the lane is one of the group.
        unsafe { warp_broadcast(self.mask(), value, from) }
    }

    /// Whether `predicate` holds in any thread of the group.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn any(&self, predicate: bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe { warp_vote_any(self.mask(), predicate) }
    }

    /// Whether `predicate` holds in all threads of the group.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn all(&self, predicate: bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe { warp_vote_all(self.mask(), predicate) }
    }

    /// The threads in which `predicate` holds: bit *n* for the thread with the number *n* in the group.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn ballot(&self, predicate: bool) -> u32 {
        // SAFETY: the caller's promise.
        self.by_rank(unsafe { warp_vote_ballot(self.mask(), predicate) })
    }

    /// The threads that have the same value as this one: bit *n* for the thread with the number *n* in the group. Needs sm_70.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn match_any<T: WarpMatchValue>(&self, value: T) -> u32 {
        // SAFETY: the caller's promise.
        self.by_rank(unsafe { warp_match_any(self.mask(), value) })
    }

    /// Whether all threads of the group have the same value. Needs sm_70.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn match_all<T: WarpMatchValue>(&self, value: T) -> bool {
        // SAFETY: the caller's promise.
        unsafe { warp_match_any(self.mask(), value) == self.mask() }
    }

    /// The values of all threads, combined by an associative function in the order of their numbers; in each of them.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). `combine` contains none.
    #[inline(always)]
    #[must_use]
    unsafe fn reduce<T: WarpShuffleValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        // SAFETY: the caller's promise; the last lane is one of the group.
        unsafe {
            let sum = self.scan(value, combine);
            warp_broadcast(self.mask(), sum, 31 - self.mask().leading_zeros())
        }
    }

    /// The values of this thread and those with lower numbers, combined by an associative function in the order of their
    /// numbers.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). `combine` contains none.
    #[inline(always)]
    #[must_use]
    unsafe fn inclusive_scan<T: WarpShuffleValue>(
        &self,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.scan(value, combine) }
    }

    /// The values of the threads with lower numbers than this one, combined by an associative function in the order of their
    /// numbers; `first` in thread 0 (and in no other's result).
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). `combine` contains none.
    #[inline(always)]
    #[must_use]
    unsafe fn exclusive_scan<T: WarpShuffleValue>(
        &self,
        value: T,
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        // SAFETY: the caller's promise.
        let below = unsafe { self.shfl_up(self.scan(value, combine), 1) };
        if self.thread_rank() == 0 { first } else { below }
    }

    /// Divides the group by a label: threads with the same one are a group. Needs sm_70.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn labeled_partition<T: WarpMatchValue>(&self, label: T) -> CoalescedGroup {
        // SAFETY: the caller's promise.
        unsafe { part(self.mask(), warp_match_any(self.mask(), label)) }
    }

    /// Divides the group in two: the threads in which `predicate` holds, and the others.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    unsafe fn binary_partition(&self, predicate: bool) -> CoalescedGroup {
        // SAFETY: the caller's promise.
        unsafe {
            let chosen = warp_vote_ballot(self.mask(), predicate);
            part(self.mask(), if predicate { chosen } else { self.mask() & !chosen })
        }
    }

    /// Divides the group into groups of `size` threads with numbers in sequence; the last one is smaller if they do not come out
    /// even. Needs sm_70.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super). `size` is the same for all threads.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    #[inline(always)]
    #[must_use]
    unsafe fn partition(&self, size: u32) -> CoalescedGroup {
        assert!(size > 0, "a group cannot be divided into groups of no threads");
        // SAFETY: the caller's promise.
        unsafe { self.labeled_partition(self.thread_rank() / size) }
    }
}

/// The group of the lanes of `own`, one of those that the lanes of `parent` are divided into. The groups' numbers follow their
/// first lanes.
///
/// # Safety
///
/// As for every operation of the parent.
#[inline(always)]
unsafe fn part(parent: u32, own: u32) -> CoalescedGroup {
    let first = own.trailing_zeros();
    // SAFETY: the caller's promise.
    let firsts = unsafe { warp_vote_ballot(parent, lane_id() == first) };
    CoalescedGroup::new(own, (firsts & ((1 << first) - 1)).count_ones(), firsts.count_ones())
}
