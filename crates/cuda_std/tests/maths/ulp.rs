//! Distances from exact results, in units in the last place.

/// How far `got` is from `exact` in units in the last place of an f32 at `exact`, or at `scale` if that is larger.
pub fn of_f32(got: f32, exact: f64, scale: f64) -> f64 {
    // Past the largest number there is infinity, one unit further.
    let limit = 2_f64.powi(128);
    let value = |x: f64| if x.is_infinite() { limit.copysign(x) } else { x.clamp(-limit, limit) };
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let unit = unit(exact.abs().min(limit / 2.0).max(scale), -126, 23);
    (value(got.into()) - value(exact)).abs() / unit
}

/// The same for f64. The exact value is `near` and `rest` units in its last place.
pub fn of_f64(got: f64, near: f64, rest: f64, scale: f64) -> f64 {
    if !got.is_finite() {
        return f64::INFINITY;
    }
    let (own, unit) = (unit(near.abs(), -1022, 52), unit(near.abs().max(scale), -1022, 52));
    // Close numbers' difference is exact.
    ((got - near) / own - rest).abs() * (own / unit)
}

/// The distance of neighbouring numbers at `size`.
fn unit(size: f64, smallest_exponent: i32, fraction_bits: i32) -> f64 {
    let exponent =
        if size < f64::MIN_POSITIVE { -1022 } else { (size.to_bits() >> 52) as i32 - 1023 };
    times_power_of_two(1.0, exponent.max(smallest_exponent) - fraction_bits)
}

/// `x 2^n`, also where `2^n` is subnormal.
fn times_power_of_two(x: f64, n: i32) -> f64 {
    cuda_std::intrinsics::ldexp(x, n)
}

#[test]
fn units_are_those_of_the_type() {
    assert_eq!(of_f32(1.0 + f32::EPSILON, 1.0, 0.0), 1.0);
    assert_eq!(of_f32(f32::from_bits(3), 0.0, 0.0), 3.0);
    assert_eq!(of_f32(f32::INFINITY, 1e300, 0.0), 0.0);
    assert_eq!(of_f32(f32::MAX, 2_f64.powi(128), 0.0), 1.0);
    assert_eq!(of_f32(1.0, f64::NAN, 0.0), f64::INFINITY);
    // Seen from 1, a result near 0 may be off by more.
    assert_eq!(of_f32(f32::EPSILON, 0.0, 1.0), 1.0);
    assert_eq!(of_f64(1.0 + f64::EPSILON, 1.0, 0.25, 0.0), 0.75);
    assert_eq!(of_f64(f64::from_bits(1), 0.0, -0.5, 0.0), 1.5);
}
