//! Pairs of 16-bit floating-point numbers, of which one instruction computes both.

use core::fmt;
use core::ops::{Add, Mul, Neg, Sub};

use half::{bf16, f16};

use crate::gpu_only;
use crate::warp::WarpShuffleValue;

/// The sign bits of both numbers.
const SIGNS: u32 = 0x8000_8000;

#[cfg(target_arch = "nvptx64")]
macro_rules! instruction {
    ($text:expr, $($operand:expr),+) => {{
        let result: u32;
        // SAFETY: computes with registers.
        unsafe {
            core::arch::asm!(
                $text, out(reg32) result, $(in(reg32) $operand,)+
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        result
    }};
}

macro_rules! pair {
    (
        $(#[$doc:meta])+
        $Pair:ident of $T:ident,
        add: $add:ident = $add_text:literal, subtract: $subtract:ident = $subtract_text:literal,
        multiply: $multiply:ident = $multiply_text:literal, fma: $fma:literal, min: $min:literal, max: $max:literal
    ) => {
        $(#[$doc])+
        ///
        /// Every result is rounded to the nearest, ties to even, by itself: sums and products are not contracted to
        /// [`mul_add`](Self::mul_add). Arithmetic is for kernels alone.
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $Pair(u32);

        impl $Pair {
            /// The pair, `low` in the lower half of the 32 bits.
            #[inline]
            #[must_use]
            pub const fn new(low: $T, high: $T) -> Self {
                Self(low.to_bits() as u32 | (high.to_bits() as u32) << 16)
            }

            /// The same number twice.
            #[inline]
            #[must_use]
            pub const fn splat(value: $T) -> Self {
                Self::new(value, value)
            }

            /// The pair with these bits.
            #[inline]
            #[must_use]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[inline]
            #[must_use]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            /// The number in the lower half.
            #[inline]
            #[must_use]
            pub const fn low(self) -> $T {
                $T::from_bits(self.0 as u16)
            }

            /// The number in the upper half.
            #[inline]
            #[must_use]
            pub const fn high(self) -> $T {
                $T::from_bits((self.0 >> 16) as u16)
            }

            /// Both, the lower one first.
            #[inline]
            #[must_use]
            pub const fn to_array(self) -> [$T; 2] {
                [self.low(), self.high()]
            }

            /// Both without their signs.
            #[inline]
            #[must_use]
            pub const fn abs(self) -> Self {
                Self(self.0 & !SIGNS)
            }

            #[doc = concat!("`self * factor + addend`, rounded once. PTX: `", $fma, "`.")]
            #[inline]
            #[must_use]
            #[gpu_only]
            pub fn mul_add(self, factor: Self, addend: Self) -> Self {
                Self(instruction!(concat!($fma, " {}, {}, {}, {};"), self.0, factor.0, addend.0))
            }

            #[doc = concat!("The lesser of each two; of a number and a NaN the number. PTX: `", $min, "`, PTX ISA 7.0, sm_80.")]
            #[inline]
            #[must_use]
            #[gpu_only]
            pub fn min(self, other: Self) -> Self {
                Self(instruction!(concat!($min, " {}, {}, {};"), self.0, other.0))
            }

            #[doc = concat!("The greater of each two; of a number and a NaN the number. PTX: `", $max, "`, PTX ISA 7.0, sm_80.")]
            #[inline]
            #[must_use]
            #[gpu_only]
            pub fn max(self, other: Self) -> Self {
                Self(instruction!(concat!($max, " {}, {}, {};"), self.0, other.0))
            }
        }

        #[gpu_only]
        fn $add(a: $Pair, b: $Pair) -> $Pair {
            $Pair(instruction!($add_text, a.0, b.0))
        }

        #[gpu_only]
        fn $subtract(a: $Pair, b: $Pair) -> $Pair {
            $Pair(instruction!($subtract_text, a.0, b.0))
        }

        #[gpu_only]
        fn $multiply(a: $Pair, b: $Pair) -> $Pair {
            $Pair(instruction!($multiply_text, a.0, b.0))
        }

        impl Add for $Pair {
            type Output = Self;

            #[inline]
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
        }

        impl Sub for $Pair {
            type Output = Self;

            #[inline]
            fn sub(self, other: Self) -> Self {
                $subtract(self, other)
            }
        }

        impl Mul for $Pair {
            type Output = Self;

            #[inline]
            fn mul(self, other: Self) -> Self {
                $multiply(self, other)
            }
        }

        impl Neg for $Pair {
            type Output = Self;

            #[inline]
            fn neg(self) -> Self {
                Self(self.0 ^ SIGNS)
            }
        }

        impl From<[$T; 2]> for $Pair {
            #[inline]
            fn from([low, high]: [$T; 2]) -> Self {
                Self::new(low, high)
            }
        }

        /// As numbers: zeros of both signs are equal, NaNs to nothing.
        impl PartialEq for $Pair {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl fmt::Debug for $Pair {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Pair)).field(&self.low()).field(&self.high()).finish()
            }
        }

        impl WarpShuffleValue for $Pair {
            #[inline(always)]
            fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
                Self(f(self.0))
            }
        }
    };
}

pair! {
    /// Two `f16`: CUDA's `__half2`. Sums, products and [`mul_add`](Self::mul_add) need PTX ISA 4.2, sm_53.
    ///
    /// ```
    /// use cuda_std::{F16x2, f16};
    ///
    /// let pair = F16x2::new(f16::from_f32(1.5), f16::from_f32(-2.0));
    /// assert_eq!((-pair).high().to_f32(), 2.0);
    /// assert_eq!(pair.abs(), F16x2::from([f16::from_f32(1.5), f16::from_f32(2.0)]));
    /// ```
    F16x2 of f16,
    add: add_f16x2 = "add.rn.f16x2 {}, {}, {};", subtract: subtract_f16x2 = "sub.rn.f16x2 {}, {}, {};",
    multiply: multiply_f16x2 = "mul.rn.f16x2 {}, {}, {};", fma: "fma.rn.f16x2", min: "min.f16x2", max: "max.f16x2"
}

// `add.bf16x2` and its kin came with sm_90. A multiplication by one, and the addition of minus zero, change nothing, not even a zero's
// sign, so that `fma` does the same on sm_80.
pair! {
    /// Two `bf16`: CUDA's `__nv_bfloat162`. Sums, products and [`mul_add`](Self::mul_add) need PTX ISA 7.0, sm_80.
    ///
    /// ```
    /// use cuda_std::{Bf16x2, bf16};
    ///
    /// let pair = Bf16x2::splat(bf16::from_f32(0.5));
    /// assert_eq!(pair.low(), pair.high());
    /// ```
    Bf16x2 of bf16,
    add: add_bf16x2 = "{{ .reg .b32 %one; mov.b32 %one, 0x3F803F80; fma.rn.bf16x2 {0}, {1}, %one, {2}; }}",
    subtract: subtract_bf16x2 = "{{ .reg .b32 %minus; mov.b32 %minus, 0xBF80BF80; fma.rn.bf16x2 {0}, {2}, %minus, {1}; }}",
    multiply: multiply_bf16x2 = "{{ .reg .b32 %zero; mov.b32 %zero, 0x80008000; fma.rn.bf16x2 {0}, {1}, {2}, %zero; }}",
    fma: "fma.rn.bf16x2", min: "min.bf16x2", max: "max.bf16x2"
}
