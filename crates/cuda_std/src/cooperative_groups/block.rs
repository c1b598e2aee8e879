//! The block as a group.

use super::{ThreadGroup, Tile, tiled_partition};
use glam::UVec3;

use crate::block;
use crate::thread::{block_dim, block_idx, sync_threads, thread_idx};
use crate::warp::WarpShuffleValue;

/// All threads of the block: [`this_thread_block`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadBlock(());

/// The block that this thread is in.
///
/// ```no_run
/// # use cuda_std::cooperative_groups::{ThreadGroup, this_thread_block};
/// let block = this_thread_block();
/// if block.thread_rank() == 0 {
///     // One thread of the block prepares something in shared memory.
/// }
/// block.sync();
/// ```
#[inline(always)]
#[must_use]
pub fn this_thread_block() -> ThreadBlock {
    ThreadBlock(())
}

impl ThreadBlock {
    /// The block's index in the grid: `block_idx()`.
    #[inline]
    #[must_use]
    pub fn group_index(self) -> UVec3 {
        block_idx()
    }

    /// The thread's index in the block: `thread_idx()`.
    #[inline]
    #[must_use]
    pub fn thread_index(self) -> UVec3 {
        thread_idx()
    }

    /// Threads along x, y and z: `block_dim()`.
    #[inline]
    #[must_use]
    pub fn dim_threads(self) -> UVec3 {
        block_dim()
    }

    /// Waits for all threads of the block: [`sync_threads`], with what it asks for.
    #[inline(always)]
    pub fn sync(self) {
        sync_threads();
    }

    /// The tile of `N` threads that this thread is in: [`tiled_partition`].
    #[inline(always)]
    #[must_use]
    pub fn tiled_partition<const N: u32>(self) -> Tile<N> {
        tiled_partition()
    }

    /// The values of all threads: [`block_reduce_with`](block::block_reduce_with).
    ///
    /// # Safety
    ///
    /// Every thread of the block makes this call: see [`block`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn reduce<T: WarpShuffleValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        // SAFETY: the caller's promise.
        unsafe { block::block_reduce_with(value, combine) }
    }

    /// The values of this thread and those before it: [`block_scan_inclusive`](block::block_scan_inclusive).
    ///
    /// # Safety
    ///
    /// Every thread of the block makes this call: see [`block`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn inclusive_scan<T: WarpShuffleValue>(
        self,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        // SAFETY: the caller's promise.
        unsafe { block::block_scan_inclusive(value, combine) }
    }

    /// The values of the threads before this one: [`block_scan_exclusive`](block::block_scan_exclusive).
    ///
    /// # Safety
    ///
    /// Every thread of the block makes this call: see [`block`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn exclusive_scan<T: WarpShuffleValue>(
        self,
        value: T,
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        // SAFETY: the caller's promise.
        unsafe { block::block_scan_exclusive(value, first, combine) }
    }

    /// One thread's value in all threads: [`block_broadcast`](block::block_broadcast).
    ///
    /// # Safety
    ///
    /// Every thread of the block makes this call, with the same `rank`: see [`block`].
    ///
    /// # Panics
    ///
    /// If the block has no thread `rank`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn broadcast<T: WarpShuffleValue>(self, value: T, rank: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { block::block_broadcast(value, rank) }
    }
}

impl ThreadGroup for ThreadBlock {
    #[inline(always)]
    fn num_threads(&self) -> u32 {
        block::num_threads()
    }

    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        block::thread_rank()
    }

    #[inline(always)]
    unsafe fn sync(&self) {
        sync_threads();
    }
}
