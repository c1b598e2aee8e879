//! Several items of each thread: of a block, of a warp; and loops written out over them.

use core::mem::MaybeUninit;

use cuda_std::block::*;
use cuda_std::prelude::*;
use cuda_std::unroll;
use cuda_std::warp::{
    FULL_MASK, lane_id, lanemask_eq, lanemask_ge, lanemask_gt, lanemask_le, lanemask_lt,
    warp_reduce_items, warp_scan_exclusive_items, warp_scan_inclusive_items,
};

/// Digits of a number in base 3, and 3 to the power of their count: appending is associative, and its order shows.
fn append((a, p): (u32, u32), (b, q): (u32, u32)) -> (u32, u32) {
    (a.wrapping_mul(q).wrapping_add(b), p.wrapping_mul(q))
}

/// Items past the end count for nothing.
const NOTHING: (u32, u32) = (0, 1);

unsafe fn scans<const N: usize>(digits: &[u32], out: *mut [u32; 5], len: usize) {
    let items = load_blocked::<u32, N>(digits, 0, 9);
    let items = items.map(|digit| if digit == 9 { NOTHING } else { (digit, 3) });
    let (inclusive, total) = unsafe { block_scan_inclusive_items_total(items, append) };
    let (exclusive, same) = unsafe { block_scan_exclusive_items_total(items, NOTHING, append) };
    let reduced = unsafe { block_reduce_items(items, append) };
    let again = unsafe { block_scan_inclusive_items(items, append) };
    let before = unsafe { block_scan_exclusive_items(items, (2, 1), append) };
    let first = thread_rank() == 0;
    let rows: [[u32; 5]; N] = core::array::from_fn(|i| {
        let marked = before[i].0 == if first && i == 0 { 2 } else { exclusive[i].0 };
        let agree = again[i] == inclusive[i] && same == total && marked;
        [inclusive[i].0, exclusive[i].0, total.0, reduced.0, agree.into()]
    });
    unsafe { store_blocked(out, len, 0, rows) };
}

/// Scans of one block with 1, 2, 3, 4 or 7 items a thread.
#[kernel]
pub unsafe fn item_scans(n: u32, digits: &[u32], out: *mut [u32; 5], len: usize) {
    unsafe {
        match n {
            1 => scans::<1>(digits, out, len),
            2 => scans::<2>(digits, out, len),
            3 => scans::<3>(digits, out, len),
            4 => scans::<4>(digits, out, len),
            _ => scans::<7>(digits, out, len),
        }
    }
}

/// From striped to blocked and back, with a value that shows the place in between. Each block has `3 * num_threads()` elements.
#[kernel]
pub unsafe fn item_exchanges(x: &[u64], blocked: *mut u64, striped: *mut u64) {
    let scratch = shared_array![u64; 3 * 256].cast::<MaybeUninit<u64>>();
    let start = thread::block_idx_x() as usize * 3 * num_threads() as usize;
    let items = load_striped::<u64, 3>(x, start, 7);
    let items = unsafe { striped_to_blocked(items, scratch) };
    unsafe { store_blocked(blocked, x.len(), start, items) };
    let place = |i: usize| start + thread_rank() as usize * 3 + i;
    let marked = core::array::from_fn(|i| items[i] ^ (place(i) as u64) << 40);
    let items: [u64; 3] = unsafe { blocked_to_striped(marked, scratch) };
    unsafe { store_striped(striped, x.len(), start, items) };
}

/// Four items a lane, and the lane masks.
#[kernel]
pub unsafe fn warp_items(digits: &[u32], out: *mut [u32; 14]) {
    let i = thread::index_usize();
    let items: [(u32, u32); 4] = core::array::from_fn(|item| (digits[4 * i + item], 3));
    let inclusive = unsafe { warp_scan_inclusive_items(items, append) };
    let exclusive = unsafe { warp_scan_exclusive_items(items, NOTHING, append) };
    let upper = 0xFFFF_0000;
    let mask = if lane_id() < 16 { FULL_MASK ^ upper } else { upper };
    let mut row = [0; 14];
    unroll! {
        for item in 0..4 {
            row[item] = inclusive[item].0;
            row[4 + item] = exclusive[item].0;
        }
    }
    row[8] = unsafe { warp_reduce_items(mask, items, append) }.0;
    row[9..].copy_from_slice(&[
        lanemask_eq(),
        lanemask_lt(),
        lanemask_le(),
        lanemask_gt(),
        lanemask_ge(),
    ]);
    unsafe { *out.add(i) = row };
}

/// Counts each element of a matrix.
#[kernel]
pub unsafe fn strided_2d(counts: *mut u32, rows: usize, columns: usize) {
    for (row, column) in thread::grid_stride_2d(rows, columns) {
        unsafe { *counts.add(row * columns + column) += 1 };
    }
}

/// A polynomial with eight coefficients, its loop written out.
#[kernel]
pub unsafe fn unrolled(x: &[u32], out: *mut u32) {
    let i = thread::index_usize();
    let coefficients = [3, 1, 4, 1, 5, 9, 2, 6_u32];
    let mut sum = 0_u32;
    unroll! {
        for power in 0..8 {
            sum = sum.wrapping_mul(x[i]).wrapping_add(coefficients[power]);
        }
    }
    unsafe { *out.add(i) = sum };
}
