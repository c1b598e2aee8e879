//! Pairs of 16-bit floating-point numbers.

use cuda_std::prelude::*;
use cuda_std::{Bf16x2, F16x2};

/// Every operation on three words that hold pairs: sum, difference, product, fused, least, greatest, negative, absolute.
macro_rules! operations {
    ($kernel:ident, $Pair:ident) => {
        #[kernel]
        pub unsafe fn $kernel(x: &[u32], out: *mut [u32; 8]) {
            let i = thread::index_usize();
            let [a, b, c] = core::array::from_fn(|word| $Pair::from_bits(x[3 * i + word]));
            let results = [a + b, a - b, a * b, a.mul_add(b, c), a.min(b), a.max(b), -a, a.abs()];
            unsafe { *out.add(i) = results.map($Pair::to_bits) };
        }
    };
}

operations!(f16_pairs, F16x2);
operations!(bf16_pairs, Bf16x2);
