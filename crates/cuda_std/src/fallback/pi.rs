//! Sine and cosine of multiples of π.

use core::f64::consts::PI;

use super::Double;

/// What rounding π to f64 leaves out.
const PI_REST: f64 = 1.224_646_799_147_353_2e-16;

/// `sin(π x)`.
pub(crate) fn sinpi(x: f64) -> f64 {
    sincospi(x).0
}

/// `cos(π x)`.
pub(crate) fn cospi(x: f64) -> f64 {
    sincospi(x).1
}

/// `(sin(π x), cos(π x))`.
pub(crate) fn sincospi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Both subtractions are exact: x = 2 k + quarter turns / 2 + rest, and the rest is between -1/4 and 1/4.
    let turn = x - 2.0 * libm::rint(0.5 * x);
    let quarter = libm::rint(2.0 * turn);
    let rest = turn - 0.5 * quarter;
    let (sin, cos) = eighth(rest);
    match (quarter as i32 & 3, rest == 0.0) {
        // Zeros have the signs that IEEE 754 gives them (sinPi, cosPi): that of x, and plus.
        (0, false) => (sin, cos),
        (0, true) => (0_f64.copysign(x), cos),
        (1, false) => (cos, -sin),
        (1, true) => (cos, 0.0),
        (2, false) => (-sin, -cos),
        (2, true) => (0_f64.copysign(x), -cos),
        (_, false) => (-cos, sin),
        (_, true) => (-cos, 0.0),
    }
}

/// Sine and cosine of `π x` for `x` from -1/4 to 1/4.
fn eighth(x: f64) -> (f64, f64) {
    let Double { high, low } = Double::product(PI, x);
    let low = low + PI_REST * x;
    let (sin, cos) = libm::sincos(high);
    // sin(a + b) = sin a + b cos a, as far as b is visible.
    (sin + low * cos, cos - low * sin)
}
