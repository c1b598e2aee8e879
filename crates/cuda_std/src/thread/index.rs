//! The thread's place in the whole grid.

use crate::block::{num_threads, thread_rank};

use super::{
    block_dim, block_dim_x, block_dim_y, block_dim_z, block_idx, block_idx_x, block_idx_y,
    block_idx_z, grid_dim, grid_dim_x, grid_dim_y, grid_dim_z, thread_idx, thread_idx_x,
    thread_idx_y, thread_idx_z,
};
use glam::{UVec2, UVec3};

/// The thread's index along x in the grid: `block_idx_x() * block_dim_x() + thread_idx_x()`.
///
/// Unique in a launch whose grid and blocks extend along x alone. A launch of more than 2^32 threads along x needs
/// [`index_1d_usize`]: here a debug kernel panics and a release kernel wraps around.
///
/// ```no_run
/// # let (n, x): (usize, *mut f32) = (0, core::ptr::null_mut());
/// let i = cuda_std::thread::index_1d() as usize;
/// if i < n {
///     unsafe { *x.add(i) *= 2.0 };
/// }
/// ```
#[inline]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The thread's index along x and y in the grid.
#[inline]
#[must_use]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The thread's index along x, y and z in the grid.
#[inline]
#[must_use]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y } = index_2d();
    UVec3::new(x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// The thread's number in the launch, unique whatever the launch's dimensions.
///
/// Blocks are numbered with x fastest and z slowest, and so are the threads in a block: the threads of block 0 come
/// first. In a launch along x alone it equals [`index_1d`]. Past 2^32 threads see [`index_usize`].
#[inline]
#[must_use]
pub fn index() -> u32 {
    let (b, grid) = (block_idx(), grid_dim());
    let block_number = (b.z * grid.y + b.y) * grid.x + b.x;
    block_number * num_threads() + thread_rank()
}

/// [`index_1d`] in 64 bits, which no launch can exceed.
#[inline]
#[must_use]
pub fn index_1d_usize() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// [`index_2d`] in 64 bits: `(x, y)`.
#[inline]
#[must_use]
pub fn index_2d_usize() -> (usize, usize) {
    let y = block_idx_y() as usize * block_dim_y() as usize + thread_idx_y() as usize;
    (index_1d_usize(), y)
}

/// [`index_3d`] in 64 bits: `(x, y, z)`.
#[inline]
#[must_use]
pub fn index_3d_usize() -> (usize, usize, usize) {
    let (x, y) = index_2d_usize();
    let z = block_idx_z() as usize * block_dim_z() as usize + thread_idx_z() as usize;
    (x, y, z)
}

/// [`index`] in 64 bits: the thread's number in the launch, unique whatever the launch's dimensions.
#[inline]
#[must_use]
pub fn index_usize() -> usize {
    let (grid, block) = (grid_dim(), block_dim());
    // Most launches extend along x alone, and asking costs less than what the others need.
    if grid.y | grid.z | block.y | block.z == 1 {
        return index_1d_usize();
    }
    let b = block_idx();
    let block_number =
        (b.z as usize * grid.y as usize + b.y as usize) * grid.x as usize + b.x as usize;
    // At most 1024 threads in a block: 32 bits hold everything inside it.
    block_number * num_threads() as usize + thread_rank() as usize
}

/// Threads of the launch along x: `grid_dim_x() * block_dim_x()`.
#[inline]
#[must_use]
pub fn grid_size_1d() -> usize {
    grid_dim_x() as usize * block_dim_x() as usize
}

/// Threads of the launch along x and y.
#[inline]
#[must_use]
pub fn grid_size_2d() -> (usize, usize) {
    let y = grid_dim_y() as usize * block_dim_y() as usize;
    (grid_size_1d(), y)
}

/// Threads of the launch along x, y and z.
#[inline]
#[must_use]
pub fn grid_size_3d() -> (usize, usize, usize) {
    let (x, y) = grid_size_2d();
    (x, y, grid_dim_z() as usize * block_dim_z() as usize)
}

/// Whether this is the launch's first thread: block (0, 0, 0), thread (0, 0, 0).
#[inline]
#[must_use]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}
