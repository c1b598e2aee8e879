//! Barriers that are made while the kernel runs.

use cuda_std::async_copy::{Barrier, BarrierToken};
use cuda_std::block;
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
