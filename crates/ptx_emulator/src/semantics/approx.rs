//! The approximate functions: `div.approx`, `div.full`, `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`
//! (PTX ISA, section "Floating Point Instructions").
//!
//! The hardware looks results up in tables, and only their error bounds are documented. Here each function is
//! computed in `f64` and rounded once, which is always inside the bound and leaves next to nothing of the differences
//! between the mathematical libraries of hosts. Infinities, NaN, zeros, overflow and flushing are those of recorded
//! hardware. A NaN result is canonical.

use super::f32::{canonical, flush};
use super::half::HalfFormat;
use super::rounding::{Rounding, narrow};

/// A unary function with `.ftz` around it.
#[inline]
fn unary(a: f32, ftz: bool, function: impl Fn(f64) -> f64) -> f32 {
    let a = if ftz { flush(a) } else { a };
    let result = canonical(function(f64::from(a)) as f32);
    if ftz { flush(result) } else { result }
}

/// `rcp.approx{.ftz}.f32`: `1 / a`.
#[inline]
#[must_use]
pub fn rcp(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, |x| 1.0 / x)
}

/// `sqrt.approx{.ftz}.f32`.
#[inline]
#[must_use]
pub fn sqrt(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, f64::sqrt)
}

/// `rsqrt.approx{.ftz}.f32`: `1 / sqrt(a)`; -0.0 gives minus infinity.
#[inline]
#[must_use]
pub fn rsqrt(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, |x| 1.0 / x.sqrt())
}

/// `sin.approx{.ftz}.f32`, `a` in radians. Subnormal inputs are flushed with and without `.ftz` (recorded).
#[inline]
#[must_use]
pub fn sin(a: f32, ftz: bool) -> f32 {
    unary(flush(a), ftz, f64::sin)
}

/// `cos.approx{.ftz}.f32`, `a` in radians.
#[inline]
#[must_use]
pub fn cos(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, f64::cos)
}

/// `lg2.approx{.ftz}.f32`: the logarithm to base 2; zeros give minus infinity.
#[inline]
#[must_use]
pub fn lg2(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, f64::log2)
}

/// `ex2.approx{.ftz}.f32`: 2 to the power of `a`.
#[inline]
#[must_use]
pub fn ex2(a: f32, ftz: bool) -> f32 {
    unary(a, ftz, f64::exp2)
}

/// `tanh.approx.f32`.
#[inline]
#[must_use]
pub fn tanh(a: f32) -> f32 {
    unary(a, false, f64::tanh)
}

/// `div.approx{.ftz}.f32`. For a divisor beyond 2^126 the quotient is 0 of the right sign, or NaN when `a` is infinite:
/// the reciprocal that the hardware multiplies by is subnormal there and flushed.
#[inline]
#[must_use]
pub fn div(a: f32, b: f32, ftz: bool) -> f32 {
    const LIMIT: f32 = f32::from_bits((126 + 127) << 23);
    if b.abs() > LIMIT && !b.is_nan() {
        let a = if ftz { flush(a) } else { a };
        return canonical(a * 0f32.copysign(b));
    }
    div_full(a, b, ftz)
}

/// `div.full{.ftz}.f32`: the quotient over the whole range.
#[inline]
#[must_use]
pub fn div_full(a: f32, b: f32, ftz: bool) -> f32 {
    if !ftz {
        return canonical(a / b);
    }
    flush(canonical(flush(a) / flush(b)))
}

/// `ex2.approx{.ftz}` of f16 (`.ftz` for bf16): the f32 function cut off towards zero (recorded for all inputs),
/// infinity where it overflows.
#[must_use]
pub fn ex2_half<F: HalfFormat>(a: u16, ftz: bool) -> u16 {
    let result = ex2(F::widen(a), ftz);
    let cut = narrow(F::FORMAT, f64::from(result), Rounding::Zero, false) as u16;
    // The cut itself stops at the largest number.
    let infinity = F::FORMAT.infinity() as u16;
    let overflows = f64::from(result)
        >= f64::from(F::widen(infinity - 1))
            + f64::from(F::widen(infinity - 1) - F::widen(infinity - 2));
    if overflows { infinity } else { cut }
}

/// `tanh.approx` of f16 or bf16: the f32 function cut off towards zero (recorded for all inputs).
///
/// Near zero the hardware's f32 function answers with its argument, so that cutting off changes nothing there.
#[must_use]
pub fn tanh_half<F: HalfFormat>(a: u16) -> u16 {
    /// The largest f16 that is its own result in the record.
    const IDENTITY: f32 = f32::from_bits(0x3b80_e000);
    let wide = F::widen(a);
    if wide.abs() <= IDENTITY {
        return a;
    }
    narrow(F::FORMAT, f64::from(tanh(wide)), Rounding::Zero, false) as u16
}

/// The bits of the NaN that the `.approx.ftz.f64` forms give.
const GROSS_NAN: u64 = 0x7fff_ffff_0000_0000;

/// Keeps the upper word, which is all that the gross approximations read and write; subnormals are flushed.
#[inline]
fn upper_word(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits })
}

/// A gross approximation to 20 bits: the lower word of input and result does not count.
#[inline]
fn gross(a: f64, function: impl Fn(f64) -> f64) -> f64 {
    // The upper word of a signalling NaN can be that of infinity, and then counts as such (recorded).
    let result = function(upper_word(a));
    // An integer selection, as in f32::canonical.
    let bits = if result.is_nan() { GROSS_NAN } else { upper_word(result).to_bits() };
    f64::from_bits(bits)
}

/// `rcp.approx.ftz.f64`: `1 / a` to 20 bits, the lower word zero.
#[inline]
#[must_use]
pub fn rcp_f64(a: f64) -> f64 {
    gross(a, |x| 1.0 / x)
}

/// `rsqrt.approx.ftz.f64`: `1 / sqrt(a)` to 20 bits, the lower word zero.
#[inline]
#[must_use]
pub fn rsqrt_ftz_f64(a: f64) -> f64 {
    gross(a, |x| 1.0 / x.sqrt())
}

/// `rsqrt.approx.f64`: `1 / sqrt(a)` to about 52 bits, subnormals supported.
#[inline]
#[must_use]
pub fn rsqrt_f64(a: f64) -> f64 {
    super::f64::rcp(super::f64::sqrt(a))
}

#[cfg(test)]
mod tests {
    use super::super::half::{Bf16, F16};
    use super::*;

    #[test]
    fn special_values() {
        assert_eq!(rcp(-0.0, false), f32::NEG_INFINITY);
        assert_eq!(rsqrt(-0.0, false), f32::NEG_INFINITY);
        assert_eq!(sqrt(-0.0, false).to_bits(), 0x8000_0000);
        assert_eq!(sqrt(-f32::from_bits(1), true).to_bits(), 0x8000_0000);
        assert_eq!(sqrt(-f32::from_bits(1), false).to_bits(), 0x7fff_ffff);
        assert_eq!(lg2(-0.0, false), f32::NEG_INFINITY);
        assert_eq!(lg2(-1.0, false).to_bits(), 0x7fff_ffff);
        assert_eq!(ex2(f32::NEG_INFINITY, false).to_bits(), 0);
        assert_eq!(sin(f32::INFINITY, false).to_bits(), 0x7fff_ffff);
        assert_eq!(cos(f32::NEG_INFINITY, true).to_bits(), 0x7fff_ffff);
        assert_eq!(sin(-f32::from_bits(7), false).to_bits(), 0x8000_0000);
        assert_eq!(tanh(f32::from_bits(7)).to_bits(), 7);
    }

    #[test]
    fn subnormals_follow_the_flush_qualifier() {
        let tiny = f32::from_bits(0x0040_0000); // 2^-127
        assert_eq!(lg2(tiny, false), -127.0);
        assert_eq!(lg2(tiny, true), f32::NEG_INFINITY);
        assert_eq!(ex2(-127.0, false), tiny);
        assert_eq!(ex2(-127.0, true), 0.0);
        assert_eq!(rcp(f32::MAX, true), 0.0);
        assert_eq!(rcp(tiny, true), f32::INFINITY);
        assert_eq!(rsqrt(tiny, true), f32::INFINITY);
    }

    #[test]
    fn a_huge_divisor_makes_the_approximate_quotient_zero() {
        assert_eq!(div(f32::MAX, -f32::MAX, false).to_bits(), 0x8000_0000);
        assert_eq!(div(f32::INFINITY, f32::MAX, false).to_bits(), 0x7fff_ffff);
        assert_eq!(div_full(f32::MAX, -f32::MAX, false), -1.0);
        assert_eq!(div(1.0, f32::from_bits((126 + 127) << 23), false), f32::MIN_POSITIVE);
    }

    #[test]
    fn halves_are_cut_off() {
        assert_eq!(ex2_half::<F16>(0x4c00, false), 0x7c00); // 2^16
        assert_eq!(ex2_half::<F16>(0x4bff, false), 0x7bf4); // 2^15.99
        assert_eq!(ex2_half::<F16>(0xce00, false), 1); // 2^-24
        assert_eq!(ex2_half::<Bf16>(0x4300, true), 0x7f80); // 2^128
        assert_eq!(tanh_half::<Bf16>(0x7f80), 0x3f80);
        assert_eq!(tanh_half::<F16>(0x7e00), 0x7fff);
        assert_eq!(tanh_half::<F16>(0x9c07), 0x9c07);
        assert_eq!(tanh_half::<F16>(0x1c08), 0x1c07);
    }

    #[test]
    fn gross_reciprocals_use_the_upper_word() {
        assert_eq!(rcp_f64(1.5).to_bits(), 0x3fe5_5555_0000_0000);
        assert_eq!(rcp_f64(f64::from_bits(0x3fef_ffff_ffff_ffff)), 1.0);
        assert_eq!(rcp_f64(f64::MAX), 0.0);
        assert_eq!(rcp_f64(f64::from_bits(0x7ff0_0000_0000_0001)).to_bits(), 0);
        assert_eq!(rcp_f64(-f64::from_bits(9)), f64::NEG_INFINITY);
        assert_eq!(rsqrt_ftz_f64(-1.0).to_bits(), GROSS_NAN);
        assert_eq!(rsqrt_f64(f64::from_bits(1)).to_bits(), 0x6180_0000_0000_0000);
    }
}
