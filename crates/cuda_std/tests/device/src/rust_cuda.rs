//! What rust-cuda's examples do, with the same part of the API: vectors, matrix products, SHA-2 of a crate that knows nothing of GPUs,
//! 128-bit integers, work in place.

use core::mem::MaybeUninit;

use cuda_std::prelude::*;
use sha2::{Digest, Sha256, Sha512};

/// `c = a + b`.
#[kernel]
#[allow(improper_ctypes_definitions, clippy::missing_safety_doc)]
pub unsafe fn vecadd(a: &[f32], b: &[f32], c: *mut f32) {
    let idx = thread::index_1d() as usize;
    if idx < a.len() {
        let elem = unsafe { &mut *c.add(idx) };
        *elem = a[idx] + b[idx];
    }
}

/// `C = alpha * A * B + beta * C`, row-major: A is `[m, k]`, B is `[k, n]`.
#[kernel]
pub unsafe fn gemm_naive(
    mat_a: &[f32],
    mat_b: &[f32],
    mat_c: *mut f32,
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    beta: f32,
) {
    let place = thread::index_2d();
    let (row, column) = (place.y as usize, place.x as usize);
    if row < m && column < n {
        let mut sum = 0.0;
        for i in 0..k {
            sum += mat_a[row * k + i] * mat_b[i * n + column];
        }
        let elem = unsafe { &mut *mat_c.add(row * n + column) };
        *elem = alpha * sum + beta * *elem;
    }
}

const TILE: usize = 16;

/// As [`gemm_naive`], through tiles in shared memory, blocks of 16 x 16 threads.
#[kernel]
pub unsafe fn gemm_tiled(
    mat_a: &[f32],
    mat_b: &[f32],
    mat_c: *mut f32,
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    beta: f32,
) {
    #[address_space(shared)]
    static mut TILE_A: [MaybeUninit<f32>; TILE * TILE] = [const { MaybeUninit::uninit() }; TILE * TILE];
    #[address_space(shared)]
    static mut TILE_B: [MaybeUninit<f32>; TILE * TILE] = [const { MaybeUninit::uninit() }; TILE * TILE];

    let (tile_a, tile_b) = ((&raw mut TILE_A).cast::<f32>(), (&raw mut TILE_B).cast::<f32>());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let column = thread::block_idx_x() as usize * TILE + x;
    let row = thread::block_idx_y() as usize * TILE + y;
    let mut sum = 0.0;
    for start in (0..k).step_by(TILE) {
        let a = if row < m && start + x < k { mat_a[row * k + start + x] } else { 0.0 };
        let b = if start + y < k && column < n { mat_b[(start + y) * n + column] } else { 0.0 };
        unsafe {
            tile_a.add(y * TILE + x).write(a);
            tile_b.add(y * TILE + x).write(b);
        }
        thread::sync_threads();
        for i in 0..TILE {
            sum += unsafe { *tile_a.add(y * TILE + i) * *tile_b.add(i * TILE + x) };
        }
        thread::sync_threads();
    }
    if row < m && column < n {
        let elem = unsafe { &mut *mat_c.add(row * n + column) };
        *elem = alpha * sum + beta * *elem;
    }
}

/// The SHA-256 of the first `lengths[i]` bytes of message `i`, which begins at `i * stride`.
#[kernel]
pub unsafe fn sha256_of_each(messages: &[u8], stride: usize, lengths: &[u32], out: *mut [u8; 32]) {
    let i = thread::index_1d() as usize;
    if i < lengths.len() {
        let message = &messages[i * stride..][..lengths[i] as usize];
        unsafe { *out.add(i) = Sha256::digest(message).into() };
    }
}

/// The same with SHA-512.
#[kernel]
pub unsafe fn sha512_of_each(messages: &[u8], stride: usize, lengths: &[u32], out: *mut [u8; 64]) {
    let i = thread::index_1d() as usize;
    if i < lengths.len() {
        let message = &messages[i * stride..][..lengths[i] as usize];
        unsafe { *out.add(i) = Sha512::digest(message).into() };
    }
}

/// Arithmetic of 128-bit integers, two a thread.
#[kernel]
pub unsafe fn i128_demo(a: &[i128], b: &[i128], out: *mut [i128; 8]) {
    let i = thread::index_1d() as usize;
    if i < a.len() {
        let (a, b) = (a[i], b[i]);
        let (ua, ub) = (a as u128, b as u128);
        let shift = (ub & 127) as u32;
        let results = [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            if b == 0 { -1 } else { a.wrapping_div(b) },
            if ub == 0 { -1 } else { (ua % ub) as i128 },
            (ua >> shift) as i128,
            a.wrapping_shl(shift),
            i128::from(a.leading_zeros()) << 32 | i128::from(a > b) << 8 | i128::from(ua.count_ones()),
        ];
        unsafe { *out.add(i) = results };
    }
}

/// Adds to every element, in place.
#[kernel]
pub unsafe fn increment(g_data: *mut u32, inc_value: u32) {
    let idx = thread::index_1d() as usize;
    unsafe { *g_data.add(idx) += inc_value };
}
