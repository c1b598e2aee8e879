//! What to feed each function of f32, and its exact result.

use std::f32::consts::PI;

use cuda_std::intrinsics as exact;

use crate::device::numbers;

/// A function of f32s, computed in f64.
pub type Reference = fn(&[f64]) -> f64;

/// How an argument is drawn.
#[derive(Clone, Copy)]
pub enum Draw {
    /// Any finite number, all exponents alike.
    Any,
    /// Evenly between two numbers, and every fourth with its exponent drawn evenly.
    Between(f32, f32),
    /// A whole number.
    Integer(i32, i32),
}
use Draw::{Any, Between, Integer};

pub struct Function {
    pub name: &'static str,
    pub draws: &'static [Draw],
    pub reference: Reference,
    /// Whether the errors are measured from the size of the function's swings, because it goes through 0 where no other
    /// argument could be given: Bessel functions, and approximate sines.
    pub from_swing: bool,
}

macro_rules! functions {
    ($($name:literal [$($draw:expr),+] $reference:expr;)+) => {
        &[$(Function { name: $name, draws: &[$($draw),+], reference: $reference, from_swing: false },)+]
    };
}
macro_rules! swinging {
    ($($name:literal [$($draw:expr),+] $reference:expr;)+) => {
        &[$(Function { name: $name, draws: &[$($draw),+], reference: $reference, from_swing: true },)+]
    };
}

/// The functions of f32. The reference is that of f64 without libdevice, which the vectors hold to a few units in the last place
/// of an f64.
pub const FUNCTIONS: &[Function] = functions! {
    "sinf" [Any] |x| exact::sin(x[0]);
    "cosf" [Any] |x| exact::cos(x[0]);
    "tanf" [Any] |x| exact::tan(x[0]);
    "sinpif" [Any] |x| exact::sinpi(x[0]);
    "cospif" [Any] |x| exact::cospi(x[0]);
    "asinf" [Between(-1.0, 1.0)] |x| exact::asin(x[0]);
    "acosf" [Between(-1.0, 1.0)] |x| exact::acos(x[0]);
    "atanf" [Any] |x| exact::atan(x[0]);
    "atan2f" [Any, Any] |x| exact::atan2(x[0], x[1]);
    "sinhf" [Between(-90.0, 90.0)] |x| exact::sinh(x[0]);
    "coshf" [Between(-90.0, 90.0)] |x| exact::cosh(x[0]);
    "tanhf" [Between(-12.0, 12.0)] |x| exact::tanh(x[0]);
    "asinhf" [Any] |x| exact::asinh(x[0]);
    "acoshf" [Between(1.0, 1e6)] |x| exact::acosh(x[0]);
    "atanhf" [Between(-1.0, 1.0)] |x| exact::atanh(x[0]);
    "expf" [Between(-104.0, 89.0)] |x| exact::exp(x[0]);
    "exp2f" [Between(-150.0, 128.0)] |x| exact::exp2(x[0]);
    "exp10f" [Between(-46.0, 39.0)] |x| exact::exp10(x[0]);
    "expm1f" [Between(-20.0, 89.0)] |x| exact::expm1(x[0]);
    "logf" [Between(0.0, 3.0e38)] |x| exact::log(x[0]);
    "log2f" [Between(0.0, 3.0e38)] |x| exact::log2(x[0]);
    "log10f" [Between(0.0, 3.0e38)] |x| exact::log10(x[0]);
    "log1pf" [Between(-1.0, 4.0)] |x| exact::log1p(x[0]);
    "powf" [Between(0.0, 50.0), Between(-25.0, 25.0)] |x| exact::pow(x[0], x[1]);
    "powif" [Between(-8.0, 8.0), Integer(-40, 40)] |x| exact::pow(x[0], x[1]);
    "cbrtf" [Any] |x| exact::cbrt(x[0]);
    "rcbrtf" [Any] |x| exact::rcbrt(x[0]);
    "rsqrtf" [Between(0.0, 3.0e38)] |x| exact::rsqrt(x[0]);
    "hypotf" [Any, Any] |x| exact::hypot(x[0], x[1]);
    "rhypotf" [Any, Any] |x| exact::rhypot(x[0], x[1]);
    "norm3df" [Any, Any, Any] |x| exact::norm3d(x[0], x[1], x[2]);
    "rnorm3df" [Any, Any, Any] |x| exact::rnorm3d(x[0], x[1], x[2]);
    "norm4df" [Any, Any, Any, Any] |x| exact::norm4d(x[0], x[1], x[2], x[3]);
    "rnorm4df" [Any, Any, Any, Any] |x| exact::rnorm4d(x[0], x[1], x[2], x[3]);
    "erff" [Between(-5.0, 5.0)] |x| exact::erf(x[0]);
    "erfcf" [Between(-5.0, 11.0)] |x| exact::erfc(x[0]);
    "erfcxf" [Between(-9.0, 40.0)] |x| exact::erfcx(x[0]);
    "erfinvf" [Between(-1.0, 1.0)] |x| exact::erfinv(x[0]);
    "erfcinvf" [Between(0.0, 2.0)] |x| exact::erfcinv(x[0]);
    "normcdff" [Between(-15.0, 6.0)] |x| exact::normcdf(x[0]);
    "normcdfinvf" [Between(0.0, 1.0)] |x| exact::normcdfinv(x[0]);
    "tgammaf" [Between(0.0, 35.0)] |x| exact::tgamma(x[0]);
    "lgammaf" [Between(0.0, 1e30)] |x| exact::lgamma(x[0]);
    "cyl_bessel_i0f" [Between(-92.0, 92.0)] |x| exact::cyl_bessel_i0(x[0]);
    "cyl_bessel_i1f" [Between(-92.0, 92.0)] |x| exact::cyl_bessel_i1(x[0]);
    "frsqrt_rn" [Between(0.0, 3.0e38)] |x| exact::rsqrt(x[0]);
};

pub const SWINGING: &[Function] = swinging! {
    "j0f" [Between(0.0, 500.0)] |x| exact::j0(x[0]);
    "j1f" [Between(0.0, 500.0)] |x| exact::j1(x[0]);
    "jnf" [Integer(2, 12), Between(0.0, 500.0)] |x| exact::jn(x[0] as i32, x[1]);
    "y0f" [Between(0.0, 500.0)] |x| exact::y0(x[0]);
    "y1f" [Between(0.0, 500.0)] |x| exact::y1(x[0]);
    "ynf" [Integer(2, 12), Between(1.0, 500.0)] |x| exact::yn(x[0] as i32, x[1]);
};

/// Approximations, where they are meant to be used.
pub const FAST: &[Function] = functions! {
    "fast_expf" [Between(-10.0, 10.0)] |x| exact::exp(x[0]);
    "fast_exp2f" [Between(-125.0, 127.0)] |x| exact::exp2(x[0]);
    "fast_exp10f" [Between(-5.0, 5.0)] |x| exact::exp10(x[0]);
    "fast_logf" [Between(2.0, 1e30)] |x| exact::log(x[0]);
    "fast_log2f" [Between(2.0, 1e30)] |x| exact::log2(x[0]);
    "fast_log10f" [Between(2.0, 1e30)] |x| exact::log10(x[0]);
    "fast_powf" [Between(0.1, 10.0), Between(-4.0, 4.0)] |x| exact::pow(x[0], x[1]);
    "fast_fdividef" [Between(0.1, 1e6), Between(0.1, 1e6)] |x| x[0] / x[1];
    "fast_tanhf" [Between(-8.0, 8.0)] |x| exact::tanh(x[0]);
};

pub const FAST_SWINGING: &[Function] = swinging! {
    "fast_sinf" [Between(-PI, PI)] |x| exact::sin(x[0]);
    "fast_cosf" [Between(-PI, PI)] |x| exact::cos(x[0]);
};

/// Every function that is measured.
pub fn all() -> impl Iterator<Item = &'static Function> {
    [FUNCTIONS, SWINGING, FAST, FAST_SWINGING].into_iter().flatten()
}

impl Function {
    /// Arguments, and as f64s.
    pub fn arguments(&self, seed: u64, count: usize) -> (Vec<[u64; 4]>, Vec<Vec<f64>>) {
        let mut numbers = numbers(seed);
        let mut bits = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let mut words = [0; 4];
            let mut value = Vec::new();
            for (word, draw) in words.iter_mut().zip(self.draws) {
                let (argument, number) = draw.next(&mut numbers);
                *word = argument;
                value.push(number);
            }
            bits.push(words);
            values.push(value);
        }
        (bits, values)
    }
}

impl Draw {
    /// An argument's bits and its value.
    fn next(self, numbers: &mut impl Iterator<Item = u64>) -> (u64, f64) {
        let mut number = || numbers.next().expect("there is always another");
        let value = match self {
            Integer(low, high) => {
                let value = low + (number() % (high - low + 1) as u64) as i32;
                return (u64::from(value as u32), value.into());
            }
            Any => loop {
                let value = f32::from_bits(number() as u32);
                if value.is_finite() {
                    break value;
                }
            },
            Between(low, high) => {
                let (pick, fraction) = (number(), number() as f64 / 2_f64.powi(64));
                let span = f64::from(high) - f64::from(low);
                let even = (f64::from(low) + span * fraction) as f32;
                if pick % 4 == 0 || high > 1e6 {
                    // A factor with an even exponent brings numbers near 0, or near the lower end.
                    let range = if high > 1e6 { 260.0 } else { 30.0 };
                    let factor = 2_f64.powf(-range * ((pick >> 8) as f64 / 2_f64.powi(56)));
                    let base = if low > 0.0 { f64::from(low) } else { 0.0 };
                    ((f64::from(even) - base) * factor + base) as f32
                } else {
                    even
                }
            }
        };
        (value.to_bits().into(), value.into())
    }
}
