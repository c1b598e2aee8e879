//! Rust's `%` of floating-point numbers.

use cuda_std::prelude::*;

/// The rest of each pair, with `%` and with `%=`; and of the first number by a constant.
#[kernel]
pub unsafe fn remainders(
    narrow: &[[f32; 2]],
    wide: &[[f64; 2]],
    of_f32: *mut [f32; 3],
    of_f64: *mut [f64; 3],
) {
    let i = thread::index_1d() as usize;
    if let (Some([x, y]), Some([a, b])) = (narrow.get(i), wide.get(i)) {
        let (mut rest, mut wide_rest) = (*x, *a);
        rest %= y;
        wide_rest %= b;
        unsafe {
            *of_f32.add(i) = [x % y, rest, x % 0.1];
            *of_f64.add(i) = [a % b, wide_rest, a % 0.1];
        }
    }
}
