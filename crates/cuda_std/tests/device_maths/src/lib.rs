//! A kernel for each mathematical function, which the test `maths` runs.
#![no_std]

use cuda_std::prelude::*;
use cuda_std::{FastFloat, intrinsics};

mod algebra;
mod methods;
mod pairs;

/// A value in 64 bits.
trait Bits {
    fn of_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($T:ident: $of:expr, $to:expr;)+) => {$(
        impl Bits for $T {
            fn of_bits(bits: u64) -> Self {
                $of(bits)
            }

            fn bits(self) -> u64 {
                $to(self)
            }
        }
    )+};
}

bits! {
    f32: |bits: u64| f32::from_bits(bits as u32), |x: f32| x.to_bits().into();
    f64: f64::from_bits, f64::to_bits;
    i16: |bits: u64| bits as i16, |x: i16| (x as u16).into();
    i32: |bits: u64| bits as i32, |x: i32| (x as u32).into();
    i64: |bits: u64| bits as i64, |x: i64| x as u64;
}

macro_rules! functions {
    ($($kernel:ident = $module:ident::$function:ident($($T:ident),+) -> $R:ident;)+) => {$(
        #[kernel]
        pub unsafe fn $kernel(arguments: &[[u64; 4]], results: *mut [u64; 2]) {
            let i = thread::index_1d() as usize;
            if i < arguments.len() {
                let mut words = arguments[i].into_iter();
                let result: $R =
                    $module::$function($(<$T>::of_bits(words.next().unwrap_or_default())),+);
                unsafe { *results.add(i) = [result.bits(), 0] };
            }
        }
    )+};
}

include!("table.rs");
