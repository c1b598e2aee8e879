//! What lanes tell each other.

use cuda_std::prelude::*;
use cuda_std::warp::*;

/// A struct that moves field by field.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Best {
    value: f64,
    index: u16,
}

impl WarpShuffleValue for Best {
    fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
        Self { value: self.value.map_words(&mut f), index: self.index.map_words(&mut f) }
    }
}

/// Each way of shuffling, for each lane: the value and whether it was in range.
#[kernel]
pub unsafe fn warp_shuffles(values: &[u64], by: u32, width: u32, out: *mut [u64; 8]) {
    let lane = lane_id() as usize;
    let value = values[lane];
    unsafe {
        let (down, down_ok) = warp_shuffle_down(FULL_MASK, value, by, width);
        let (up, up_ok) = warp_shuffle_up(FULL_MASK, value, by, width);
        let (idx, idx_ok) = warp_shuffle_idx(FULL_MASK, value, by, width);
        let (xor, xor_ok) = warp_shuffle_xor(FULL_MASK, value, by, width);
        *out.add(lane) =
            [down, down_ok as u64, up, up_ok as u64, idx, idx_ok as u64, xor, xor_ok as u64];
    }
}

/// Every type, moved one lane down.
#[kernel]
pub unsafe fn shuffled_types(out: *mut [u64; 10]) {
    let lane = lane_id();
    macro_rules! moved {
        ($value:expr) => {
            unsafe { warp_shuffle_down(FULL_MASK, $value, 1, 32) }.0
        };
    }
    let signed = -(lane as i64);
    let wide = moved!(u128::from(lane) << 100 | 5);
    let best = moved!(Best { value: f64::from(lane) / 2.0, index: lane as u16 });
    let (first, [second, third]) = moved!((lane as u8, [signed as i8, 1]));
    unsafe {
        *out.add(lane as usize) = [
            moved!(lane % 3 == 0) as u64,
            moved!(signed as i16) as i64 as u64,
            moved!(signed) as u64,
            (wide >> 64) as u64,
            wide as u64,
            u64::from(moved!(lane as f32 / 4.0).to_bits()),
            best.value.to_bits(),
            u64::from(best.index),
            u64::from(first) << 16 | u64::from(second as u8) << 8 | third as u64,
            moved!(i128::from(signed)) as u64,
        ];
    }
}

/// Lanes with equal values, among the even lanes: as 32 bits, 64 bits and floating-point numbers.
#[kernel]
pub unsafe fn warp_matches(keys: &[u64], out: *mut [u32; 6]) {
    let lane = lane_id() as usize;
    if lane % 2 != 0 {
        return;
    }
    const EVEN: u32 = 0x5555_5555;
    let key = keys[lane];
    unsafe {
        *out.add(lane) = [
            warp_match_any(EVEN, key as u32),
            warp_match_any(EVEN, key),
            warp_match_any(EVEN, f32::from_bits(key as u32)),
            warp_match_any(EVEN, key as i64),
            warp_match_all(EVEN, key).unwrap_or(0),
            warp_match_all(EVEN, f64::from_bits(7)).unwrap_or(0),
        ];
    }
}

/// Reductions of the lanes of a mask; the others leave.
#[kernel]
pub unsafe fn warp_reductions(values: &[u32], mask: u32, out: *mut [u32; 8]) {
    let lane = lane_id() as usize;
    if mask >> lane & 1 == 0 {
        return;
    }
    let value = values[lane];
    let signed = value as i32;
    unsafe {
        *out.add(lane) = [
            warp_reduce(mask, value, WarpReductionOp::Add),
            warp_reduce(mask, value, WarpReductionOp::Min),
            warp_reduce(mask, value, WarpReductionOp::Max),
            warp_reduce(mask, value, WarpReductionOp::And),
            warp_reduce(mask, value, WarpReductionOp::Or),
            warp_reduce(mask, value, WarpReductionOp::Xor),
            warp_reduce(mask, signed, WarpReductionOp::Min) as u32,
            warp_reduce(mask, signed, WarpReductionOp::Max) as u32,
        ];
    }
}

/// Scans with a function whose order counts.
#[kernel]
pub unsafe fn warp_scans(values: &[u32], mask: u32, out: *mut [u32; 4]) {
    let lane = lane_id() as usize;
    if mask >> lane & 1 == 0 {
        return;
    }
    // Digits of a number in base 3, and 3 to the power of their count: appending is associative, and its order shows.
    let append = |(a, p): (u32, u32), (b, q): (u32, u32)| (a.wrapping_mul(q).wrapping_add(b), p.wrapping_mul(q));
    let one = (values[lane], 3);
    unsafe {
        let all = warp_reduce_with(mask, one, append);
        let inclusive = warp_scan_inclusive(mask, one, append);
        let exclusive = warp_scan_exclusive(mask, one, (0, 1), append);
        let shared = warp_broadcast(mask, values[lane], 31 - mask.leading_zeros());
        *out.add(lane) = [all.0, inclusive.0, exclusive.0, shared];
    }
}

/// Lanes that agree with this one, whatever type they are compared by.
unsafe fn agreeing<T: WarpMatchValue>(value: T) -> u32 {
    unsafe { warp_match_any(FULL_MASK, value) }
}

/// What every operation makes of the lanes' values, in the order of the operations.
unsafe fn reduced<T: WarpReduceValue>(value: T, as_u64: fn(T) -> u64) -> [u64; 6] {
    use WarpReductionOp::{Add, And, Max, Min, Or, Xor};
    let mut results = [0; 6];
    for (result, op) in results.iter_mut().zip([Add, Min, Max, And, Or, Xor]) {
        *result = as_u64(unsafe { warp_reduce(FULL_MASK, value, op) });
    }
    results
}

/// Device functions that are generic over what lanes can be compared by and reduced: every type.
#[kernel]
pub unsafe fn generic_lanes(values: &[u64], matches: *mut [u32; 6], reductions: *mut [[u64; 6]; 4]) {
    let i = thread::index_1d() as usize;
    let value = values[i];
    unsafe {
        *matches.add(i) = [
            agreeing(value as u32),
            agreeing(value as i32),
            agreeing(f32::from_bits(value as u32)),
            agreeing(value),
            agreeing(value as i64),
            agreeing(f64::from_bits(value)),
        ];
        *reductions.add(i) = [
            reduced(value as u32, u64::from),
            reduced(value as i32, |value| value as i64 as u64),
            reduced(value, |value| value),
            reduced(value as i64, i64::cast_unsigned),
        ];
    }
}
