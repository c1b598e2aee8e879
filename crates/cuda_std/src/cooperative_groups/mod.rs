//! Groups of threads that work together: CUDA's cooperative groups.
//!
//! | here | CUDA C++ | who |
//! | --- | --- | --- |
//! | [`tiled_partition::<N>()`](tiled_partition) | `tiled_partition<N>(this_thread_block())` | `N` lanes side by side: 1, 2, 4, 8, 16 or 32 |
//! | [`coalesced_threads()`](coalesced_threads) | `coalesced_threads()` | the lanes that got here together |
//! | [`this_thread_block()`](this_thread_block) | `this_thread_block()` | the block |
//! | [`this_cluster()`](this_cluster) | `this_cluster()` | up to 8 blocks side by side |
//! | [`this_grid()`](this_grid) | `this_grid()` | all threads of the launch |
//!
//! Groups of lanes ([`LaneGroup`]) exchange values, vote, reduce and scan; their members are numbered from 0 by
//! [`thread_rank`](ThreadGroup::thread_rank), in the order of the lanes, and everything goes by that number. They can be divided again
//! by a label or a condition ([`LaneGroup::labeled_partition`]).
//!
//! ```
//! use cuda_std::cooperative_groups::{LaneGroup, ThreadGroup, tiled_partition};
//! use cuda_std::prelude::*;
//!
//! /// The sum of each row of four elements, one thread an element.
//! ///
//! /// # Safety
//! /// `x` has an element for each thread, `sums` one for each four of them.
//! #[kernel]
//! pub unsafe fn row_sums(x: *const f32, sums: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     let row = tiled_partition::<4>();
//!     let sum = unsafe { row.reduce(*x.add(i), |a, b| a + b) };
//!     if row.thread_rank() == 0 {
//!         unsafe { *sums.add(i / 4) = sum };
//!     }
//! }
//! ```
//!
//! # Safety of a group's operations
//!
//! Operations of a group wait for its members: all of them make the same calls in the same order, and none has left the kernel.
//! Otherwise results are undefined, hence `unsafe`.
//!
//! A thread can be in several groups that overlap, by lanes or by labels, say. Between operations of one and of another, a
//! [`sync`](ThreadGroup::sync) of a group that contains both keeps lanes that are ahead from waiting for some that are still in the
//! first one.

mod block;
mod cluster;
mod coalesced;
mod grid;
mod lanes;
mod tile;

pub use block::{ThreadBlock, this_thread_block};
pub use cluster::{Cluster, ClusterArrival, this_cluster};
pub use coalesced::{CoalescedGroup, coalesced_threads};
pub use grid::{Grid, this_grid};
pub use lanes::LaneGroup;
pub use tile::{Tile, tiled_partition};

/// What every group that is smaller than a grid can tell and do.
pub trait ThreadGroup {
    /// Threads of the group.
    #[must_use]
    fn num_threads(&self) -> u32;

    /// The thread's number in the group, 0 to `num_threads() - 1`.
    #[must_use]
    fn thread_rank(&self) -> u32;

    /// Waits until all threads of the group are here; what they wrote to memory before is then visible to each other.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call: see the [module](self).
    unsafe fn sync(&self);

    /// [`num_threads`](Self::num_threads), by CUDA's older name.
    #[must_use]
    fn size(&self) -> u32 {
        self.num_threads()
    }
}
