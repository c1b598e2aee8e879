//! Lesson 2: the matrix product, first as it stands in a textbook, then through shared memory.
//!
//! All matrices are row-major: A is `[m, k]`, B is `[k, n]`, C is `[m, n]`, any sizes, multiples of
//! the block or not. A thread computes one element of C; x counts columns and y rows, so that the
//! 32 lanes of a warp read 32 neighbouring elements of B (coalesced access).

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::shared::dynamic_shared_mem;

/// C = A·B, straight from global memory: each element of A is read n times and each of B m times.
///
/// Grid: `(ceil(n / block), ceil(m / block))`; block: any shape.
///
/// # Safety
/// `c` must point to `m * n` elements that overlap neither `a` nor `b`.
#[kernel]
pub unsafe fn mat_mul_naive_kernel(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    m: usize,
    k: usize,
    n: usize,
) {
    let column = thread::index_2d().x as usize;
    let row = thread::index_2d().y as usize;
    if row >= m || column >= n {
        return;
    }
    // One check for each matrix, instead of one for each element.
    assert!(m * k <= a.len(), "A is shorter than m * k elements");
    assert!(k * n <= b.len().min(i32::MAX as usize), "B has not k * n elements, or too many");

    let mut sum = 0.0;
    // SAFETY: row < m, so that the row's k elements lie in A.
    let a_row = unsafe { a.as_ptr().add(row * k) };
    let mut b_element = b.as_ptr().wrapping_add(column);
    // Signed 32-bit counting: the compiler then turns the walk down B's column into additions of a
    // constant stride and keeps many loads under way at once. On an H200 that is 1.3 times as fast
    // as the same loop in usize. Both fit, because k * n does.
    let (k, b_row_length) = (k as i32, n as i32);
    let mut i = 0;
    while i < k {
        // SAFETY: element i < k of the row; `b_element` is B's element (i, column).
        sum += unsafe { *a_row.offset(i as isize) * *b_element };
        b_element = b_element.wrapping_offset(b_row_length as isize);
        i += 1;
    }
    // SAFETY: row < m and column < n, and C has m * n elements; no other thread has this pair.
    unsafe { c.add(row * n + column).write(sum) };
}

/// One block's share of C = A·B through two square tiles in shared memory, `tile` elements a side.
///
/// The block walks along k, a tile at a time: every thread brings one element of A and one of B,
/// the block waits until both tiles are whole, then every thread reads `2 * tile` elements of them
/// instead of going to global memory. The next tiles' elements are asked for before the current
/// ones are used, so that the wait for global memory and the arithmetic overlap.
///
/// # Safety
/// As for [`mat_mul_shared_kernel`]; `tile_a` and `tile_b` must each point to `tile * tile` elements
/// of shared memory that nothing else uses, the block must be `tile` by `tile` threads, and all of
/// them must call this together.
#[inline(always)]
unsafe fn mat_mul_through_tiles(
    tile_a: *mut f32,
    tile_b: *mut f32,
    tile: usize,
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    (m, k, n): (usize, usize, usize),
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column_in_tile, row_in_tile) = (x as usize, y as usize);
    let column = thread::block_idx_x() as usize * tile + column_in_tile;
    let row = thread::block_idx_y() as usize * tile + row_in_tile;
    let (row_exists, column_exists) = (row < m, column < n);
    assert!(a.len() >= m * k, "A is shorter than m * k elements");
    assert!(b.len() >= k * n, "B is shorter than k * n elements");

    // Positions along k in 32 bits: one instruction instead of two for each comparison in the loop.
    assert!(k <= u32::MAX as usize - tile, "k is over 2^32");
    let k_u32 = k as u32;

    let mut next_a = a.as_ptr().wrapping_add(row * k + column_in_tile);
    let mut next_b = b.as_ptr().wrapping_add(row_in_tile * n + column);
    // Outside the matrices the tiles hold zeros, which add nothing to the sums.
    let load_a = |from: *const f32, start: u32| {
        // SAFETY: under these conditions (row, start + x) lies in A.
        if row_exists && start + x < k_u32 { unsafe { *from } } else { 0.0 }
    };
    let load_b = |from: *const f32, start: u32| {
        // SAFETY: under these conditions (start + y, column) lies in B.
        if column_exists && start + y < k_u32 { unsafe { *from } } else { 0.0 }
    };

    let mut sum = 0.0;
    let (mut element_a, mut element_b) = (load_a(next_a, 0), load_b(next_b, 0));
    let mut start = 0;
    while start < k_u32 {
        // SAFETY: x and y are below `tile`, so both elements lie in their tiles, and each thread
        // writes its own; the barrier below comes before anyone reads them.
        unsafe {
            tile_a.add(row_in_tile * tile + column_in_tile).write(element_a);
            tile_b.add(row_in_tile * tile + column_in_tile).write(element_b);
        }
        thread::sync_threads();

        start += tile as u32;
        next_a = next_a.wrapping_add(tile);
        next_b = next_b.wrapping_add(tile * n);
        (element_a, element_b) = (load_a(next_a, start), load_b(next_b, start));

        for i in 0..tile {
            // SAFETY: i < tile; every element was written before the barrier.
            sum += unsafe {
                *tile_a.add(row_in_tile * tile + i) * *tile_b.add(i * tile + column_in_tile)
            };
        }
        // Nobody may overwrite the tiles while somebody still reads them.
        thread::sync_threads();
    }
    if row_exists && column_exists {
        // SAFETY: row < m and column < n, and C has m * n elements; no other thread has this pair.
        unsafe { c.add(row * n + column).write(sum) };
    }
}

/// Shared memory for one tile, aligned so that four neighbouring elements load as one 16-byte word.
#[repr(C, align(16))]
struct Tile<const N: usize>([[f32; N]; N]);

/// Defines the shared-memory kernel for one block size: the size is a constant to the compiler, which
/// unrolls the inner loop and folds the addresses.
macro_rules! mat_mul_shared {
    ($name:ident, $tile:literal) => {
        #[doc = concat!("C = A·B through shared memory, for blocks of ", $tile, " by ", $tile, " threads.")]
        ///
        #[doc = concat!("Grid: `(ceil(n / ", $tile, "), ceil(m / ", $tile, "))`.")]
        ///
        /// # Safety
        /// `c` must point to `m * n` elements that overlap neither `a` nor `b`; the block must have the
        /// size that the name says.
        #[kernel]
        pub unsafe fn $name(a: &[f32], b: &[f32], c: *mut f32, m: usize, k: usize, n: usize) {
            #[address_space(shared)]
            static mut TILE_A: MaybeUninit<Tile<$tile>> = MaybeUninit::uninit();
            #[address_space(shared)]
            static mut TILE_B: MaybeUninit<Tile<$tile>> = MaybeUninit::uninit();
            let (tile_a, tile_b) = (&raw mut TILE_A, &raw mut TILE_B);
            // SAFETY: the tiles are this block's own and hold $tile * $tile elements; the caller vouches
            // for the rest.
            unsafe { mat_mul_through_tiles(tile_a.cast(), tile_b.cast(), $tile, a, b, c, (m, k, n)) };
        }
    };
}

mat_mul_shared!(mat_mul_shared_kernel_8, 8);
mat_mul_shared!(mat_mul_shared_kernel_16, 16);
mat_mul_shared!(mat_mul_shared_kernel_32, 32);

/// C = A·B through shared memory, for square blocks of any size: the tiles lie in dynamic shared
/// memory, whose size the launch states.
///
/// Grid: `(ceil(n / block), ceil(m / block))`; dynamic shared memory: `2 * block * block * 4` bytes.
///
/// # Safety
/// `c` must point to `m * n` elements that overlap neither `a` nor `b`; the block must be square and
/// the launch must have asked for that much dynamic shared memory.
#[kernel]
pub unsafe fn mat_mul_shared_kernel(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    m: usize,
    k: usize,
    n: usize,
) {
    let tile = thread::block_dim_x() as usize;
    let tiles = dynamic_shared_mem::<f32>();
    // SAFETY: the launch's dynamic shared memory holds both tiles; the caller vouches for the rest.
    unsafe { mat_mul_through_tiles(tiles, tiles.add(tile * tile), tile, a, b, c, (m, k, n)) };
}
