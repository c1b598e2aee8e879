//! What a kernel can ask of outputs that its threads share out.

use cuda_std::prelude::*;

/// Whether there is anything to do, from threads that have an element and from those that have none.
#[kernel]
pub unsafe fn asks_a_slice(slice: DisjointSlice<u32>, out: *mut [u32; 3]) {
    let i = thread::unique_index();
    let own = slice.get(i).copied().unwrap_or(u32::MAX);
    unsafe { *out.add(i.get()) = [u32::from(slice.is_empty()), slice.len() as u32, own] };
}

/// Each thread adds the matrix's extents to what it reads at its own place, if it has one.
#[kernel]
pub unsafe fn asks_a_matrix(mut matrix: DisjointMatrix<u32>, out: *mut u32) {
    let at = thread::unique_index_2d();
    let own = matrix.get(at).copied();
    let extents = (100 * matrix.rows() + matrix.columns()) as u32;
    if let Some(own) = own {
        matrix[at] = own + extents;
    }
    unsafe { *out.add(thread::index_usize()) = own.unwrap_or(u32::MAX - extents) };
}
