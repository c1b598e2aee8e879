//! Roots and powers.

/// `1 / cbrt(x)`.
pub(crate) fn rcbrt(x: f64) -> f64 {
    1.0 / libm::cbrt(x)
}

/// `1 / sqrt(x)`.
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / libm::sqrt(x)
}

/// `x^n`. Repeated multiplication would lose bits with each step.
pub(crate) fn powi(x: f64, n: i32) -> f64 {
    libm::pow(x, n.into())
}

/// The exponent of `x`, as a number.
pub(crate) fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        libm::ilogb(x).into()
    } else {
        x * x
    }
}
