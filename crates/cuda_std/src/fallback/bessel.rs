//! Modified Bessel functions of the first kind.

use core::f64::consts::PI;

use super::Double;

/// From here on the asymptotic series is used: its smallest term is about `e^(-2 x)`.
const FAR: f64 = 20.0;

/// `I_0(x)`.
pub(crate) fn i0(x: f64) -> f64 {
    let x = x.abs();
    if x < FAR { series(x, 0.0) } else { far(x, 0.0) }
}

/// `I_1(x)`.
pub(crate) fn i1(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < FAR { 0.5 * size * series(size, 1.0) } else { far(size, 1.0) };
    value.copysign(x)
}

/// Abramowitz and Stegun, 9.6.10: the sum over k of `(x²/4)^k / (k! (k + order)!)`. In 106 bits, because each of the many
/// steps rounds.
fn series(x: f64, order: f64) -> f64 {
    let square = Double::product(0.5 * x, 0.5 * x);
    let terms = 20 + (2.0 * x) as i32;
    let mut sum = Double { high: 1.0, low: 0.0 };
    for k in (1..=terms).rev() {
        let k = f64::from(k);
        sum = square.times(sum).over(k * (k + order)).plus(1.0);
    }
    sum.value()
}

/// Abramowitz and Stegun, 9.7.1: `e^x / sqrt(2 π x)` times the sum over k of the products of `((2 k - 1)² - 4 order²) / (8 k x)`.
fn far(x: f64, order: f64) -> f64 {
    // The largest f64 is I_0(713.98…).
    if x > 720.0 {
        return f64::INFINITY;
    }
    let sum = (1..=34).rev().fold(1.0, |sum, k| {
        let k = f64::from(k);
        let odd = 2.0 * k - 1.0;
        1.0 + sum * (odd * odd - 4.0 * order * order) / (8.0 * k * x)
    });
    // In two steps, because `e^x` overflows before the result does.
    let half = libm::exp(0.5 * x);
    half * (sum / libm::sqrt(2.0 * PI * x)) * half
}
