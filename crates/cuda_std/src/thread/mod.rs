//! Which thread this is, how large the launch is, and how the threads of a block wait for each other.
//!
//! CUDA's and Numba's names beside these:
//!
//! | here | CUDA C++ | Numba |
//! | --- | --- | --- |
//! | [`thread_idx_x()`] | `threadIdx.x` | `cuda.threadIdx.x` |
//! | [`block_idx_x()`] | `blockIdx.x` | `cuda.blockIdx.x` |
//! | [`block_dim_x()`] | `blockDim.x` | `cuda.blockDim.x` |
//! | [`grid_dim_x()`] | `gridDim.x` | `cuda.gridDim.x` |
//! | [`index_1d()`], [`index_2d()`], [`index_3d()`] | `blockIdx.x * blockDim.x + threadIdx.x`, … | `cuda.grid(1)`, … |
//! | [`grid_size_1d()`], … | `gridDim.x * blockDim.x`, … | `cuda.gridsize(1)`, … |
//! | [`grid_stride(n)`](grid_stride()) | a grid-stride loop | `range(cuda.grid(1), n, cuda.gridsize(1))` |
//! | [`unique_index()`], [`unique_index_2d()`] | the same as a token for [safe outputs](crate::DisjointSlice) | |
//! | [`sync_threads()`] | `__syncthreads()` | `cuda.syncthreads()` |
//!
//! Everything here works from PTX ISA 1.0 and sm_10 on unless an item says otherwise. On the host the functions
//! exist, so that a kernel crate compiles there too, and panic when called.

mod barrier;
mod grid_stride;
mod index;
mod registers;
mod unique;

pub use barrier::{
    block_fence, device_fence, grid_fence, nanosleep, sync_threads, sync_threads_and,
    sync_threads_count, sync_threads_or, system_fence,
};
pub use grid_stride::{GridStride, GridStride2d, grid_stride, grid_stride_2d};
pub use index::{
    first, grid_size_1d, grid_size_2d, grid_size_3d, index, index_1d, index_1d_usize, index_2d,
    index_2d_usize, index_3d, index_3d_usize, index_usize,
};
pub use registers::{
    block_dim, block_dim_x, block_dim_y, block_dim_z, block_idx, block_idx_x, block_idx_y,
    block_idx_z, grid_dim, grid_dim_x, grid_dim_y, grid_dim_z, thread_idx, thread_idx_x,
    thread_idx_y, thread_idx_z, warp_size,
};
pub use unique::{UniqueIndex, UniqueIndex2d, unique_index, unique_index_2d};
