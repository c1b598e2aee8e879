//! Lesson 1: a kernel runs once in every thread of the grid, and a thread knows where it stands.

use cuda_std::prelude::*;

/// Each thread prints its index within the whole grid: `threadIdx.x + blockIdx.x * blockDim.x`.
///
/// The lines come in no promised order: threads of different warps and blocks run independently.
#[kernel]
pub unsafe fn hello() {
    let index = thread::thread_idx_x() + thread::block_idx_x() * thread::block_dim_x();
    println!("{}", index);
}
