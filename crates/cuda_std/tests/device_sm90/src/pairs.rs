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

/// Takes pairs apart and puts them together: low and high exchanged, and one of each number twice, in an array.
macro_rules! parts {
    ($kernel:ident, $Pair:ident) => {
        #[kernel]
        pub unsafe fn $kernel(pairs: &[u32], out: *mut [u32; 3]) {
            let i = thread::index_1d() as usize;
            if i < pairs.len() {
                let pair = $Pair::from_bits(pairs[i]);
                let [first, second] = pair.to_array();
                let exchanged = $Pair::new(pair.high(), pair.low());
                let twice = [$Pair::splat(first), $Pair::splat(second)];
                let words = [exchanged, twice[0], twice[1]].map($Pair::to_bits);
                unsafe { *out.add(i) = words };
            }
        }
    };
}

parts!(f16_parts, F16x2);
parts!(bf16_parts, Bf16x2);
