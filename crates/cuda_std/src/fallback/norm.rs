//! Lengths of vectors.

use super::Double;

/// The root of the sum of squares.
pub(crate) fn norm(values: &[f64]) -> f64 {
    match scaled(values) {
        Scaled::Value(value) => value,
        Scaled::Root { root, rest, exponent } => libm::scalbn(root + rest, exponent),
    }
}

/// 1 divided by the root of the sum of squares.
pub(crate) fn reciprocal(values: &[f64]) -> f64 {
    match scaled(values) {
        Scaled::Value(value) => 1.0 / value,
        Scaled::Root { root, rest, exponent } => {
            let quotient = 1.0 / root;
            let left = libm::fma(-quotient, root, 1.0) - quotient * rest;
            libm::scalbn(libm::fma(quotient, left, quotient), -exponent)
        }
    }
}

/// [`norm`] of f32s: their squares are exact in f64, and neither overflow nor underflow there.
pub(crate) fn norm_f32(values: &[f32]) -> f32 {
    libm::sqrt(sum_f32(values)) as f32
}

/// [`reciprocal`] of f32s.
pub(crate) fn reciprocal_f32(values: &[f32]) -> f32 {
    (1.0 / libm::sqrt(sum_f32(values))) as f32
}

fn sum_f32(values: &[f32]) -> f64 {
    // An infinite component counts more than one that is NaN (IEEE 754, hypot).
    if values.iter().any(|value| value.is_infinite()) {
        return f64::INFINITY;
    }
    values.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
}

enum Scaled {
    /// 0, infinity or NaN.
    Value(f64),
    /// `(root + rest) * 2^exponent`
    Root { root: f64, rest: f64, exponent: i32 },
}

fn scaled(values: &[f64]) -> Scaled {
    let mut largest = 0_f64;
    let mut nan = false;
    for value in values {
        if value.is_infinite() {
            return Scaled::Value(f64::INFINITY);
        }
        nan |= value.is_nan();
        largest = largest.max(value.abs());
    }
    if nan || largest == 0.0 {
        return Scaled::Value(if nan { f64::NAN } else { 0.0 });
    }
    let exponent = libm::ilogb(largest);
    let mut sum = Double { high: 0.0, low: 0.0 };
    for &value in values {
        let value = libm::scalbn(value, -exponent);
        let square = Double::product(value, value);
        sum = sum.plus(square.high);
        sum.low += square.low;
    }
    let root = libm::sqrt(sum.high);
    let rest = (libm::fma(-root, root, sum.high) + sum.low) / (2.0 * root);
    Scaled::Root { root, rest, exponent }
}
