//! One value of many, over the threads of a block.

use cuda_std::block::*;
use cuda_std::prelude::*;
use cuda_std::warp::WarpShuffleValue;

/// Digits of a number in base 3, and 3 to the power of their count: appending is associative, and its order shows.
fn append((a, p): (u32, u32), (b, q): (u32, u32)) -> (u32, u32) {
    (a.wrapping_mul(q).wrapping_add(b), p.wrapping_mul(q))
}

/// Reduction, scans and their totals with a function whose order counts, twice over with only the functions' own barriers in
/// between.
#[kernel]
pub unsafe fn block_scans(values: &[u32], out: *mut [u32; 7]) {
    let i = thread::index_usize();
    let mut sums = [0; 7];
    for round in 0..2 {
        let one = ((values[i] + round) % 3, 3);
        let (inclusive, total) = unsafe { block_scan_inclusive_total(one, append) };
        let (exclusive, same) = unsafe { block_scan_exclusive_total(one, (0, 1), append) };
        let again = unsafe {
            [
                block_reduce_with(one, append).0,
                block_scan_inclusive(one, append).0,
                block_scan_exclusive(one, (0, 1), append).0,
            ]
        };
        let all = [again[0], again[1], again[2], inclusive.0, total.0, exclusive.0, same.0];
        for (sum, value) in sums.iter_mut().zip(all) {
            *sum = append((*sum, 1), (value, 3_u32.pow(5))).0;
        }
    }
    unsafe { *out.add(i) = sums };
}

/// Sums, least and greatest, of several types.
#[kernel]
pub unsafe fn block_numbers(values: &[i64], floats: &[f64], out: *mut [u64; 9]) {
    let i = thread::index_usize();
    let (value, float) = (values[i], floats[i]);
    unsafe {
        *out.add(i) = [
            block_sum(value) as u64,
            block_min(value) as u64,
            block_max(value as u8).into(),
            block_sum(float).to_bits(),
            block_min(float).to_bits(),
            block_max(float).to_bits(),
            block_inclusive_sum(value) as u64,
            block_exclusive_sum(value) as u64,
            block_sum(value as u32 as f32).to_bits().into(),
        ];
    }
}

/// A value of 32 bytes, one of 3, one of 256, from each 37th thread in turn.
#[kernel]
pub unsafe fn block_broadcasts(values: &[u64], out: *mut [u64; 4]) {
    let i = thread::index_usize();
    let value = values[i];
    let mut sums = [0_u64; 4];
    for from in (0..num_threads()).step_by(37) {
        let wide = unsafe { block_broadcast([value, !value, value + 1, value * 2], from) };
        let narrow = unsafe { block_broadcast((value as u8, [value > 1 << 62, true]), from) };
        let huge = unsafe { block_broadcast([value; 32], from) };
        sums[0] = sums[0].rotate_left(7).wrapping_add(wide[0] ^ wide[1] ^ wide[3]);
        sums[1] = sums[1].rotate_left(7).wrapping_add(wide[2]);
        sums[2] = sums[2].rotate_left(7).wrapping_add(u64::from(narrow.0) + u64::from(narrow.1[0]));
        sums[3] = sums[3].rotate_left(7).wrapping_add(huge[from as usize % 32]);
    }
    unsafe { *out.add(i) = sums };
}

/// A struct of the user's own: the largest value and the first thread that has it.
#[derive(Clone, Copy)]
struct Best {
    value: i64,
    thread: u16,
}

impl WarpShuffleValue for Best {
    fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
        Self { value: self.value.map_words(&mut f), thread: self.thread.map_words(&mut f) }
    }
}

/// Where the largest value of each block is; the thread's number.
#[kernel]
pub unsafe fn block_best(values: &[i64], out: *mut [u32; 2]) {
    let i = thread::index_usize();
    let own = Best { value: values[i], thread: thread_rank() as u16 };
    let best = unsafe { block_reduce_with(own, |a, b| if b.value > a.value { b } else { a }) };
    unsafe { *out.add(i) = [best.thread.into(), thread_rank()] };
}
