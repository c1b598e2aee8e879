//! Inverses of the error function, and functions of the normal distribution.

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI, SQRT_2};

use super::Double;

/// What rounding `1 / sqrt(2)` to f64 leaves out.
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;
const SQRT_PI: f64 = 1.772_453_850_905_516;

/// `e^(x²) erfc(x)`.
pub(crate) fn erfcx(x: f64) -> f64 {
    if x < 10.0 {
        let Double { high, low } = Double::product(x, x);
        let exponential = libm::exp(high);
        // Without `low`, the rounding of x² would be multiplied by x².
        let exponential = if exponential.is_finite() {
            libm::fma(exponential, low, exponential)
        } else {
            exponential
        };
        return exponential * libm::erfc(x);
    }
    // Abramowitz and Stegun, 7.1.23: 1 - 1 t + 1·3 t² - 1·3·5 t³ + … with t = 1 / (2 x²); from 10 on, 12 terms are enough.
    let t = 0.5 / (x * x);
    let series = (1..=12).rev().fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * t * sum);
    series / (x * SQRT_PI)
}

/// The `y` with `erf(y) = x`.
pub(crate) fn erfinv(x: f64) -> f64 {
    let size = x.abs();
    if size > 0.5 {
        // 1 - |x| is exact here, and all that is left of the bits that matter.
        return erfcinv(1.0 - size).copysign(x);
    }
    if size == 0.0 || x.is_nan() {
        return x;
    }
    // The first terms of the Taylor series.
    let square = x * x * (PI / 4.0);
    let start = x
        * (SQRT_PI / 2.0)
        * (1.0 + square * (1.0 / 3.0 + square * (7.0 / 30.0 + square * (127.0 / 630.0))));
    (0..2).fold(start, |y, _| closer(y, libm::erf(y) - x))
}

/// The `y` with `erfc(y) = x`.
pub(crate) fn erfcinv(x: f64) -> f64 {
    if x >= 0.5 {
        // The subtractions are exact.
        return if x <= 1.5 {
            erfinv(1.0 - x)
        } else if x < 2.0 {
            -erfcinv(2.0 - x)
        } else if x == 2.0 {
            f64::NEG_INFINITY
        } else {
            f64::NAN
        };
    }
    if x < 1e-3 {
        return far_erfcinv(x);
    }
    // Winitzki's approximation, good for two digits or more.
    const A: f64 = 0.147;
    let logarithm = libm::log(x * (2.0 - x));
    let half = 2.0 / (PI * A) + 0.5 * logarithm;
    let start = libm::sqrt(libm::sqrt(half * half - logarithm / A) - half);
    (0..3).fold(start, |y, _| closer(y, x - libm::erfc(y)))
}

/// [`erfcinv`] for `x` below 0.001, where `erfc` may be subnormal: its logarithm is not.
fn far_erfcinv(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    let logarithm = libm::log(x);
    // erfc(y) is about e^(-y²) / (y sqrt(π)).
    let mut y = libm::sqrt(-logarithm);
    for _ in 0..2 {
        y = libm::sqrt(-logarithm - libm::log(SQRT_PI * y));
    }
    // Newton's method on ln erfc(y) = ln erfcx(y) - y², whose derivative is -2 / (sqrt(π) erfcx(y)).
    for _ in 0..3 {
        let scaled = erfcx(y);
        let Double { high, low } = Double::product(y, y);
        let off = (-high - logarithm) + libm::log(scaled) - low;
        y += off * scaled * (SQRT_PI / 2.0);
    }
    y
}

/// One step of Halley's method: a better `y`, given `erf(y)` minus what it should be.
fn closer(y: f64, off: f64) -> f64 {
    let step = off / (FRAC_2_SQRT_PI * libm::exp(-y * y));
    y - step / (1.0 + y * step)
}

/// The standard normal distribution up to `x`: `erfc(-x / sqrt(2)) / 2`.
pub(crate) fn normcdf(x: f64) -> f64 {
    // Beyond, the result is 0 or 1, and the products below could overflow.
    let x = x.clamp(-40.0, 40.0);
    let Double { high, low } = Double::product(-x, FRAC_1_SQRT_2);
    let low = low - x * FRAC_1_SQRT_2_REST;
    // Far from 0, the rounding of `high` would be multiplied by twice its square.
    let slope = FRAC_2_SQRT_PI * libm::exp(-high * high);
    0.5 * (libm::erfc(high) - slope * low)
}

/// The number up to which the standard normal distribution is `x`.
pub(crate) fn normcdfinv(x: f64) -> f64 {
    if (0.25..=0.75).contains(&x) {
        // The subtraction is exact, and 0 in the middle keeps its sign.
        SQRT_2 * erfinv(2.0 * x - 1.0)
    } else {
        -SQRT_2 * erfcinv(2.0 * x)
    }
}
