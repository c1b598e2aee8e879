//! Barriers that are made while the kernel runs.

use cuda_std::async_copy::{Barrier, BarrierToken};
use cuda_std::block;
use cuda_std::cooperative_groups::{ThreadGroup, this_cluster};
use cuda_std::prelude::*;
use cuda_std::shared::DynamicShared;

/// Turns the block's numbers around. Two barriers lie behind them in dynamic shared memory; each thread arrives at both before it
/// waits for either.
#[kernel]
pub unsafe fn dynamic_barriers(values: &[u32], out: *mut u32) {
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    let mut shared = DynamicShared::new();
    let cells = shared.array::<u32>(threads).cast::<u32>();
    let barriers = shared.array::<Barrier>(2).cast::<Barrier>();
    let barrier = |at: usize| unsafe { &*barriers.add(at) };
    if i == 0 {
        for at in 0..2 {
            unsafe {
                barriers.add(at).write(Barrier::uninit());
                barrier(at).init(threads as u32);
            }
        }
    }
    thread::sync_threads();
    unsafe {
        *cells.add(i) = values[i];
        let tokens: [BarrierToken; 2] = [barrier(0).arrive(), barrier(1).arrive()];
        for (at, token) in tokens.into_iter().enumerate() {
            barrier(at).wait(token);
        }
        *out.add(i) = *cells.add(threads - 1 - i);
    }
}

#[address_space(shared)]
static mut FULL: Barrier = Barrier::uninit();
#[address_space(shared)]
static mut EMPTY: Barrier = Barrier::uninit();

/// What one thread sees that arrives for several.
#[kernel]
pub unsafe fn counted_arrivals(out: *mut [u32; 4]) {
    let full = unsafe { &*(&raw const FULL) };
    unsafe {
        full.init(6);
        let first = full.arrive_n(2);
        let two_of_six = full.test_wait(first);
        let _ = full.arrive_n(3);
        let five_of_six = full.test_wait(first);
        let last = full.arrive_n(1);
        let all = full.test_wait(last);
        // The second phase wants six again.
        let second = full.arrive_n(6);
        *out = [two_of_six.into(), five_of_six.into(), all.into(), full.test_wait(second).into()];
    }
}

/// Passes numbers on from block to block, around the cluster, turned around each time. A block says at the next block's barrier that
/// they are there, and at the one's before that it has read what it got. Blocks of at most 64 threads.
#[kernel(cluster(4))]
pub unsafe fn around_the_cluster(rounds: u32, values: &[u32], out: *mut u32) {
    let cells = shared_array![u32; 64];
    let (full, empty) = unsafe { (&*(&raw const FULL), &*(&raw const EMPTY)) };
    let cluster = this_cluster();
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let (next, before) = ((rank + 1) % blocks, (rank + blocks - 1) % blocks);
    if i == 0 {
        unsafe {
            full.init(threads as u32);
            empty.init(threads as u32);
        }
    }
    cluster.sync();
    let theirs = unsafe { cluster.map_shared_rank(cells, next) };
    let mut value = values[thread::index_usize()];
    for round in 0..rounds {
        unsafe {
            if round > 0 {
                empty.wait_parity_in_cluster((round - 1) % 2);
            }
            *theirs.add(i) = value;
            full.arrive_at_rank(cluster, next, 1);
            while !full.try_wait_parity_in_cluster(round % 2) {}
            value = (*cells.add(threads - 1 - i)).wrapping_mul(3).wrapping_add(round);
            thread::sync_threads();
            // One thread answers for the whole block.
            if i == 0 {
                empty.arrive_at_rank(cluster, before, threads as u32);
            }
        }
    }
    unsafe { *out.add(thread::index_usize()) = value };
    cluster.sync();
}
