//! Where a thread is. Each kernel writes one row for each thread, at the thread's number in the launch.

use cuda_std::prelude::*;
use cuda_std::{UVec2, UVec3};

/// `thread_idx`, `block_idx`, `block_dim`, `grid_dim`: 12 columns.
#[kernel]
pub unsafe fn registers(out: *mut [u32; 12]) {
    let values = [
        thread::thread_idx_x(),
        thread::thread_idx_y(),
        thread::thread_idx_z(),
        thread::block_idx_x(),
        thread::block_idx_y(),
        thread::block_idx_z(),
        thread::block_dim_x(),
        thread::block_dim_y(),
        thread::block_dim_z(),
        thread::grid_dim_x(),
        thread::grid_dim_y(),
        thread::grid_dim_z(),
    ];
    unsafe { *out.add(thread::index() as usize) = values };
}

/// `index_1d`, `index_2d`, `index_3d`, and the same in 64 bits: 12 columns.
#[kernel]
pub unsafe fn indices(out: *mut [u32; 12]) {
    let (two, three) = (thread::index_2d(), thread::index_3d());
    let (x2, y2) = thread::index_2d_usize();
    let (x3, y3, z3) = thread::index_3d_usize();
    let values = [
        thread::index_1d(),
        two.x,
        two.y,
        three.x,
        three.y,
        three.z,
        thread::index_1d_usize() as u32,
        x2 as u32,
        y2 as u32,
        x3 as u32,
        y3 as u32,
        z3 as u32,
    ];
    unsafe { *out.add(thread::index_usize()) = values };
}

/// `grid_size_1d`, `grid_size_2d`, `grid_size_3d`, from the first thread.
#[kernel]
pub unsafe fn grid_sizes(out: *mut [usize; 6]) {
    if thread::first() {
        let (x2, y2) = thread::grid_size_2d();
        let (x3, y3, z3) = thread::grid_size_3d();
        unsafe { *out = [thread::grid_size_1d(), x2, y2, x3, y3, z3] };
    }
}

/// Each element counts how often it was visited.
#[kernel]
pub unsafe fn strided(counts: *mut u32, len: usize) {
    for i in thread::grid_stride(len) {
        unsafe { *counts.add(i) += 1 };
    }
}

/// The thread's place as glam's vectors: distances from the middle of the launch, and the place counted through.
#[kernel]
pub unsafe fn vectors_of_indices(out: *mut [u32; 4]) {
    let (two, three): (UVec2, UVec3) = (thread::index_2d(), thread::index_3d());
    let (block, grid): (UVec3, UVec3) = (thread::block_dim(), thread::grid_dim());
    let size = block * grid;
    let middle = size / UVec3::splat(2);
    let apart = three.max(middle) - three.min(middle);
    let from_the_end = size.truncate() - UVec2::ONE - two;
    let counted = three.dot(UVec3::new(1, size.x, size.x * size.y));
    unsafe { *out.add(thread::index_usize()) = [apart.element_sum(), from_the_end.x, from_the_end.y, counted] };
}
