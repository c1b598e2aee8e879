//! The matrix product by tiles in shared memory, as NVIDIA's first sample has it.

use cuda_std::prelude::*;

/// `c = a * b`, by blocks of `B` x `B` threads, each of which computes an element: both matrices come by in tiles of that size.
///
/// # Safety
/// Row-major matrices: `a` is `m` x `k`, `b` is `k` x `n`, `c` is `m` x `n`. The tiles are the block's own shared memory, of `B` * `B`
/// elements each.
unsafe fn product<const B: usize>(
    (a, b, c): (*const f32, *const f32, *mut f32),
    (m, k, n): (usize, usize, usize),
    (tile_a, tile_b): (*mut f32, *mut f32),
) {
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let row = thread::block_idx_y() as usize * B + ty;
    let column = thread::block_idx_x() as usize * B + tx;
    let own = ty * B + tx;
    let mut sum = 0.0;
    for start in (0..k).step_by(B) {
        // SAFETY: in bounds, and what is not in the matrix counts as zero; each thread writes its own elements of the tiles, with
        // barriers between writing and reading.
        unsafe {
            let (of_a, of_b) = (start + tx, start + ty);
            *tile_a.add(own) = if row < m && of_a < k { *a.add(row * k + of_a) } else { 0.0 };
            *tile_b.add(own) = if of_b < k && column < n { *b.add(of_b * n + column) } else { 0.0 };
            thread::sync_threads();
            for i in 0..B {
                sum += *tile_a.add(ty * B + i) * *tile_b.add(i * B + tx);
            }
            thread::sync_threads();
        }
    }
    if row < m && column < n {
        // SAFETY: in bounds.
        unsafe { *c.add(row * n + column) = sum };
    }
}

/// Blocks of 16 x 16.
///
/// # Safety
/// As for [`product`], in such blocks, which cover `c`.
#[kernel]
pub unsafe fn matrix_product_16(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: usize,
    k: usize,
    n: usize,
) {
    let tiles = (shared_array![f32; 16 * 16], shared_array![f32; 16 * 16]);
    // SAFETY: the caller's promise.
    unsafe { product::<16>((a, b, c), (m, k, n), tiles) };
}

/// Blocks of 32 x 32.
///
/// # Safety
/// As for [`product`], in such blocks, which cover `c`.
#[kernel]
pub unsafe fn matrix_product_32(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: usize,
    k: usize,
    n: usize,
) {
    let tiles = (shared_array![f32; 32 * 32], shared_array![f32; 32 * 32]);
    // SAFETY: the caller's promise.
    unsafe { product::<32>((a, b, c), (m, k, n), tiles) };
}
