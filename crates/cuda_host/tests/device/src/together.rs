//! Kernels whose blocks work together.

use cuda_std::cooperative_groups::{this_cluster, this_grid};
use cuda_std::prelude::*;

/// In each of `rounds`: each element becomes the sum of itself and both neighbours, at the ends of itself and one.
///
/// # Safety
/// `x` and `y` have `n` elements. A cooperative launch. The result is in `x` after an even number of rounds, else in `y`.
#[kernel]
pub unsafe fn sums_of_neighbours(x: *mut u32, y: *mut u32, n: usize, rounds: u32) {
    let grid = this_grid();
    let (mut from, mut to) = (x, y);
    for _ in 0..rounds {
        for i in thread::grid_stride(n) {
            // SAFETY: in bounds, and all have read `to` before the barrier.
            unsafe {
                let left = if i == 0 { 0 } else { *from.add(i - 1) };
                let right = if i + 1 == n { 0 } else { *from.add(i + 1) };
                *to.add(i) = (*from.add(i)).wrapping_add(left).wrapping_add(right);
            }
        }
        grid.sync();
        (from, to) = (to, from);
    }
}

/// Each thread's element goes to the same thread of the next block of the cluster.
///
/// # Safety
/// `out` has an element for each thread of the launch, in blocks of at most 128.
unsafe fn pass_on(x: &[u32], out: *mut u32) {
    let cell = shared_array![u32; 128];
    let cluster = this_cluster();
    let (i, at) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    // SAFETY: the cluster's barriers are between all accesses of different blocks.
    unsafe {
        cluster.sync();
        *cluster.map_shared_rank(cell, next).add(i) = x[at];
        cluster.sync();
        *out.add(at) = *cell.add(i);
    }
}

/// In the launch's clusters.
///
/// # Safety
/// As for [`pass_on`].
#[kernel]
pub unsafe fn passed_on(x: &[u32], out: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { pass_on(x, out) };
}

/// In clusters of 2 x 2.
///
/// # Safety
/// As for [`pass_on`].
#[kernel(cluster(2, 2))]
pub unsafe fn passed_on_in_fours(x: &[u32], out: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { pass_on(x, out) };
}

/// Both at once: rounds of [`passed_on`] in which the grid's barrier separates the reading of `x` from the writing.
///
/// # Safety
/// As for [`pass_on`], with `x` written. A cooperative launch in clusters.
#[kernel]
pub unsafe fn passed_on_in_place(x: *mut u32, rounds: u32) {
    let cell = shared_array![u32; 128];
    let (cluster, grid) = (this_cluster(), this_grid());
    let (i, at) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    for _ in 0..rounds {
        // SAFETY: as in `pass_on`; each thread has its own element of `x`.
        unsafe {
            cluster.sync();
            *cluster.map_shared_rank(cell, next).add(i) = (*x.add(at)).wrapping_add(1);
            cluster.sync();
            *x.add(at) = *cell.add(i);
        }
        grid.sync();
    }
}
