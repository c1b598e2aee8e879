//! Lanes side by side.

use super::lanes::sealed::Lanes;
use super::{LaneGroup, ThreadGroup};
use crate::block;
use crate::warp::{WarpShuffleValue, sync_warp, warp_broadcast, warp_shuffle_up};

/// `N` threads of the block with numbers in sequence, from a multiple of `N` on: [`tiled_partition`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile<const N: u32> {
    mask: u32,
    /// The tile's first lane.
    first: u32,
    rank: u32,
    meta_rank: u32,
    meta_size: u32,
}

/// The tile of `N` threads that this thread is in: 1, 2, 4, 8, 16 or 32; another number is a compile error.
///
/// Threads are numbered within the block, x fastest and z slowest. If the number of the block's threads is no multiple of `N`, the last
/// tile has fewer (in CUDA C++ that is not allowed).
///
/// ```no_run
/// # use cuda_std::cooperative_groups::{LaneGroup, tiled_partition};
/// # let value = 1_u32;
/// let tile = tiled_partition::<8>();
/// let sum = unsafe { tile.reduce(value, |a, b| a + b) };
/// # let _ = sum;
/// ```
///
/// ```compile_fail
/// let _ = cuda_std::cooperative_groups::tiled_partition::<12>();
/// ```
#[inline(always)]
#[must_use]
pub fn tiled_partition<const N: u32>() -> Tile<N> {
    const {
        assert!(N.is_power_of_two() && N <= 32, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    }
    let (thread, threads) = (block::thread_rank(), block::num_threads());
    let lane = thread % 32;
    let first = lane & !(N - 1);
    let in_warp = match threads - (thread - lane) {
        rest @ 1..32 => (1 << rest) - 1,
        _ => u32::MAX,
    };
    let all = if N == 32 { u32::MAX } else { (1 << N) - 1 };
    Tile {
        mask: all << first & in_warp,
        first,
        rank: lane - first,
        meta_rank: thread / N,
        meta_size: threads.div_ceil(N),
    }
}

impl<const N: u32> Tile<N> {
    /// The value of the thread whose number is this one's with the bits of `mask` flipped; the thread's own if there is none.
    ///
    /// # Safety
    ///
    /// As for every operation of a group: see the [module](super).
    #[inline(always)]
    #[must_use]
    pub unsafe fn shfl_xor<T: WarpShuffleValue>(&self, value: T, mask: u32) -> T {
        let rank = self.rank ^ mask;
        let from = self.first + if rank < self.num_threads() { rank } else { self.rank };
        // SAFETY: the caller's promise; the lane is one of the group.
        unsafe { warp_broadcast(self.mask, value, from) }
    }
}

impl<const N: u32> ThreadGroup for Tile<N> {
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

impl<const N: u32> Lanes for Tile<N> {
    #[inline(always)]
    fn lane(&self, rank: u32) -> u32 {
        self.first + rank
    }

    #[inline(always)]
    fn by_rank(&self, mask: u32) -> u32 {
        mask >> self.first
    }

    #[inline(always)]
    unsafe fn scan<T: WarpShuffleValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut sum = value;
        let mut distance = 1;
        while distance < N {
            // SAFETY: the caller's promise. A lower lane of the segment is in the tile, too.
            let (lower, exists) = unsafe { warp_shuffle_up(self.mask, sum, distance, N) };
            if exists {
                sum = combine(lower, sum);
            }
            distance *= 2;
        }
        sum
    }
}

impl<const N: u32> LaneGroup for Tile<N> {
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
