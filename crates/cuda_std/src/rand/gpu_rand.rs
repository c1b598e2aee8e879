//! [`GpuRand`]: random numbers as floating-point numbers.

use rand_core::Rng;

use crate::{GpuFloat, intrinsics};

/// Floating-point numbers from any generator of random bits.
///
/// Uniform numbers are in [0, 1): 0 occurs, 1 does not. Normal ones have mean 0 and variance 1 and come in pairs from pairs of
/// uniform ones, by the transform of Box and Muller; the methods for one number drop the second.
///
/// The uniform ones are the same bits everywhere. The normal ones agree as far as the logarithm, sine and cosine of
/// [`intrinsics`] do on host and device, to a few units in the last place.
///
/// ```
/// use cuda_std::rand::{DefaultRand, GpuRand, SeedableRng};
///
/// let mut rng = DefaultRand::seed_from_u64(1);
/// assert!((0.0..1.0).contains(&rng.uniform_f32()));
/// assert!(rng.normal_f64().abs() < 9.0);
/// ```
pub trait GpuRand: Rng {
    /// A multiple of 2^-24 in [0, 1), from the upper bits of one `u32`.
    #[inline]
    fn uniform_f32(&mut self) -> f32 {
        unit_f32(self.next_u32())
    }

    /// A multiple of 2^-53 in [0, 1), from the upper bits of one `u64`.
    #[inline]
    fn uniform_f64(&mut self) -> f64 {
        unit_f64(self.next_u64())
    }

    /// A normally distributed number, at most 5.8 from 0. Takes two `u32`.
    #[inline]
    fn normal_f32(&mut self) -> f32 {
        self.normal_f32_2()[0]
    }

    /// A normally distributed number, at most 8.6 from 0. Takes two `u64`.
    #[inline]
    fn normal_f64(&mut self) -> f64 {
        self.normal_f64_2()[0]
    }

    /// Two independent normally distributed numbers. Takes two `u32`.
    #[inline]
    fn normal_f32_2(&mut self) -> [f32; 2] {
        // In (0, 1], for the logarithm.
        let square = -2.0 * GpuFloat::ln(1.0 - self.uniform_f32());
        let (radius, half_turns) = (GpuFloat::sqrt(square), 2.0 * self.uniform_f32());
        [radius * intrinsics::cospif(half_turns), radius * intrinsics::sinpif(half_turns)]
    }

    /// Two independent normally distributed numbers. Takes two `u64`.
    #[inline]
    fn normal_f64_2(&mut self) -> [f64; 2] {
        // In (0, 1], for the logarithm.
        let square = -2.0 * GpuFloat::ln(1.0 - self.uniform_f64());
        let (radius, half_turns) = (GpuFloat::sqrt(square), 2.0 * self.uniform_f64());
        [radius * intrinsics::cospi(half_turns), radius * intrinsics::sinpi(half_turns)]
    }
}

impl<R: Rng + ?Sized> GpuRand for R {}

/// The upper 24 bits as a fraction.
#[inline]
fn unit_f32(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / (1_u32 << 24) as f32)
}

/// The upper 53 bits as a fraction.
#[inline]
pub(super) fn unit_f64(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
