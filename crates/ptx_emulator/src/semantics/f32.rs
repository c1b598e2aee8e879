//! Single-precision arithmetic (PTX ISA, section "Floating Point Instructions").
//!
//! Every arithmetic result that is NaN is the canonical NaN `0x7fffffff` (CUDA C++ Programming Guide; recorded
//! for all forms, `abs` and `neg` included): no sign and no payload survives. The functions
//! without a [`FloatMode`] are the `.rn` forms and branch-free.
//!
//! Everything that needs more than one rounding of the host is computed in `f64`: the product of two `f32` is
//! exact there, and a sum is rounded to odd, so that the final rounding to `f32` is the only one.

use super::MinMaxMode;
use super::rounding::{Exact, FloatMode, Format, Rounding, narrow, sum_to_odd};

/// The bits of the NaN that f32 instructions give.
pub const CANONICAL_NAN: u32 = 0x7fff_ffff;

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// Replaces any NaN by the canonical one.
///
/// On the bits, not with `is_nan`: the compiler need not keep the bits of a NaN that arithmetic gives, and was seen
/// to drop a floating-point selection between two NaNs as having no effect.
#[inline]
#[must_use]
pub const fn canonical(a: f32) -> f32 {
    let bits = a.to_bits();
    f32::from_bits(if bits & !SIGN > INFINITY { CANONICAL_NAN } else { bits })
}

/// `.ftz` on an operand: a subnormal number becomes zero of its sign.
#[inline]
#[must_use]
pub const fn flush(a: f32) -> f32 {
    let bits = a.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & SIGN } else { bits })
}

/// `.sat`: clamps to 0.0 … 1.0; NaN and everything negative become +0.0.
#[inline]
#[must_use]
pub const fn saturate(a: f32) -> f32 {
    // Written so that NaN fails the first comparison and -0.0 too.
    if a > 0.0 { if a < 1.0 { a } else { 1.0 } } else { 0.0 }
}

/// `add.rn.f32`.
#[inline]
#[must_use]
pub fn add(a: f32, b: f32) -> f32 {
    canonical(a + b)
}

/// `sub.rn.f32`.
#[inline]
#[must_use]
pub fn sub(a: f32, b: f32) -> f32 {
    canonical(a - b)
}

/// `mul.rn.f32`.
#[inline]
#[must_use]
pub fn mul(a: f32, b: f32) -> f32 {
    canonical(a * b)
}

/// `fma.rn.f32`: `a * b + c`, rounded once.
///
/// `f32::mul_add` is a slow library call unless the build has the FMA target feature, and it keeps loops over
/// lanes from becoming vector code. Here the product is exact in `f64` (24 + 24 bits), and the sum is rounded to
/// odd: with 53 bits for a result of 24, rounding it again to `f32` gives what a single rounding gives.
#[inline]
#[must_use]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    canonical(sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32)
}

/// `div.rn.f32`.
#[inline]
#[must_use]
pub fn div(a: f32, b: f32) -> f32 {
    canonical(a / b)
}

/// `rcp.rn.f32`: `1 / a`.
#[inline]
#[must_use]
pub fn rcp(a: f32) -> f32 {
    canonical(1.0 / a)
}

/// `sqrt.rn.f32`.
#[inline]
#[must_use]
pub fn sqrt(a: f32) -> f32 {
    canonical(a.sqrt())
}

/// The bits of an exact result that is not NaN or infinite.
#[inline]
fn from_exact(value: Exact, mode: FloatMode) -> f32 {
    f32::from_bits(Format::F32.round(value, mode.rounding, mode.ftz) as u32)
}

/// The exact value of a finite number.
#[inline]
fn exact(a: f32) -> Exact {
    Format::F32.decompose(u64::from(a.to_bits()))
}

/// Rounds a value that is exact, or rounded to odd, in `f64`.
#[inline]
fn finish(value: f64, mode: FloatMode) -> f32 {
    let result = if mode.rounding == Rounding::NearestEven {
        // Recorded: .ftz flushes what rounds, to 24 bits with an unbounded exponent, below 2^-126. Those are the
        // values below the midpoint of 2^-126 and the 24-bit number under it; the midpoint rounds up to even.
        const BORDER: f64 = f64::MIN_POSITIVE * TWO_POW_896 * (1.0 - 1.0 / 33_554_432.0);
        let rounded = canonical(value as f32);
        if mode.ftz && value.abs() < BORDER { 0f32.copysign(rounded) } else { rounded }
    } else {
        f32::from_bits(narrow(Format::F32, value, mode.rounding, mode.ftz) as u32)
    };
    if mode.sat { saturate(result) } else { result }
}

/// 2^896, which takes the smallest normal `f64` (2^-1022) to the smallest normal `f32` (2^-126).
const TWO_POW_896: f64 = f64::from_bits((896 + 1023) << 52);

/// The sum, rounded to odd, with the sign that a rounding direction gives to an exact zero.
#[inline]
fn sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = sum_to_odd(a, b);
    if rounding == Rounding::Down && sum == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        -0.0
    } else {
        sum
    }
}

/// An operand as the instruction sees it: flushed with `.ftz`.
#[inline]
fn operand(a: f32, mode: FloatMode) -> f32 {
    if mode.ftz { flush(a) } else { a }
}

/// `add{.rnd}{.ftz}{.sat}.f32`.
#[inline]
#[must_use]
pub fn add_with(a: f32, b: f32, mode: FloatMode) -> f32 {
    finish(sum(f64::from(operand(a, mode)), f64::from(operand(b, mode)), mode.rounding), mode)
}

/// `sub{.rnd}{.ftz}{.sat}.f32`.
#[inline]
#[must_use]
pub fn sub_with(a: f32, b: f32, mode: FloatMode) -> f32 {
    add_with(a, -b, mode)
}

/// `mul{.rnd}{.ftz}{.sat}.f32`.
#[inline]
#[must_use]
pub fn mul_with(a: f32, b: f32, mode: FloatMode) -> f32 {
    finish(f64::from(operand(a, mode)) * f64::from(operand(b, mode)), mode)
}

/// `fma.rnd{.ftz}{.sat}.f32`; `mad.rnd` is the same.
#[inline]
#[must_use]
pub fn fma_with(a: f32, b: f32, c: f32, mode: FloatMode) -> f32 {
    let product = f64::from(operand(a, mode)) * f64::from(operand(b, mode));
    finish(sum(product, f64::from(operand(c, mode)), mode.rounding), mode)
}

/// `div.rnd{.ftz}.f32`.
#[must_use]
pub fn div_with(a: f32, b: f32, mode: FloatMode) -> f32 {
    let (a, b) = (operand(a, mode), operand(b, mode));
    if !a.is_finite() || !b.is_finite() || b == 0.0 {
        return div(a, b);
    }
    from_exact(exact(a).quotient(exact(b)), mode)
}

/// `rcp.rnd{.ftz}.f32`.
#[must_use]
pub fn rcp_with(a: f32, mode: FloatMode) -> f32 {
    div_with(1.0, a, mode)
}

/// `sqrt.rnd{.ftz}.f32`.
#[must_use]
pub fn sqrt_with(a: f32, mode: FloatMode) -> f32 {
    let a = operand(a, mode);
    if a > 0.0 && a.is_finite() { from_exact(exact(a).square_root(), mode) } else { sqrt(a) }
}

/// `abs{.ftz}.f32`; unlike a plain clearing of the sign bit it makes a NaN canonical.
#[inline]
#[must_use]
pub const fn abs(a: f32, ftz: bool) -> f32 {
    let a = if ftz { flush(a) } else { a };
    canonical(f32::from_bits(a.to_bits() & !SIGN))
}

/// `neg{.ftz}.f32`; it makes a NaN canonical, without the sign.
#[inline]
#[must_use]
pub const fn neg(a: f32, ftz: bool) -> f32 {
    let a = if ftz { flush(a) } else { a };
    canonical(f32::from_bits(a.to_bits() ^ SIGN))
}

/// A number that orders as the float does, with -0.0 below +0.0.
#[inline]
const fn order(a: f32) -> i32 {
    let bits = a.to_bits() as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// Chooses the operand that `first` marks, after the NaN rules.
#[inline]
const fn select(a: f32, b: f32, first: bool) -> f32 {
    let chosen = if first { a } else { b };
    let chosen = if a.is_nan() { b } else { chosen };
    canonical(if b.is_nan() { a } else { chosen })
}

/// `min.f32`: -0.0 is below +0.0; one NaN gives the other operand, two the canonical NaN.
#[inline]
#[must_use]
pub const fn min(a: f32, b: f32) -> f32 {
    select(a, b, order(a) < order(b))
}

/// `max.f32`: +0.0 is above -0.0; one NaN gives the other operand, two the canonical NaN.
#[inline]
#[must_use]
pub const fn max(a: f32, b: f32) -> f32 {
    select(a, b, order(a) > order(b))
}

/// The qualifiers around a choice of one operand.
#[inline]
fn min_max(a: f32, b: f32, mode: MinMaxMode, choose: fn(f32, f32) -> f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & SIGN;
    let (a, b) = if mode.ftz { (flush(a), flush(b)) } else { (a, b) };
    let (a, b) = if mode.xorsign_abs { (a.abs(), b.abs()) } else { (a, b) };
    if mode.nan && (a.is_nan() || b.is_nan()) {
        return f32::from_bits(CANONICAL_NAN);
    }
    let result = choose(a, b);
    if mode.xorsign_abs && !result.is_nan() {
        f32::from_bits(result.to_bits() | sign)
    } else {
        result
    }
}

/// `min{.ftz}{.NaN}{.xorsign.abs}.f32`.
#[inline]
#[must_use]
pub fn min_with(a: f32, b: f32, mode: MinMaxMode) -> f32 {
    min_max(a, b, mode, min)
}

/// `max{.ftz}{.NaN}{.xorsign.abs}.f32`.
#[inline]
#[must_use]
pub fn max_with(a: f32, b: f32, mode: MinMaxMode) -> f32 {
    min_max(a, b, mode, max)
}

/// `copysign.f32 d, a, b`: the sign of **a** with the magnitude of **b**. A NaN keeps its bits.
#[inline]
#[must_use]
pub const fn copysign(a: f32, b: f32) -> f32 {
    f32::from_bits(a.to_bits() & SIGN | b.to_bits() & !SIGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RZ: FloatMode = FloatMode { rounding: Rounding::Zero, ftz: false, sat: false };
    const RM: FloatMode = FloatMode { rounding: Rounding::Down, ftz: false, sat: false };
    const RP: FloatMode = FloatMode { rounding: Rounding::Up, ftz: false, sat: false };
    const FTZ: FloatMode = FloatMode { rounding: Rounding::NearestEven, ftz: true, sat: false };

    #[test]
    fn no_sign_or_payload_of_a_nan_survives() {
        let nan = f32::from_bits(0xffc1_2345);
        for result in [
            add(nan, 1.0),
            sub(1.0, nan),
            mul(nan, nan),
            fma(1.0, 1.0, nan),
            div(nan, 1.0),
            sqrt(-1.0),
            rcp(nan),
            abs(nan, false),
            neg(nan, true),
            min(nan, nan),
            add(f32::INFINITY, f32::NEG_INFINITY),
            fma(0.0, f32::INFINITY, 1.0),
        ] {
            assert_eq!(result.to_bits(), CANONICAL_NAN);
        }
        assert_eq!(copysign(-1.0, f32::from_bits(0x7f81_2345)).to_bits(), 0xff81_2345);
    }

    #[test]
    fn fused_product_and_sum_round_once() {
        // The sum of product and addend lies exactly between two f32 in f64, but not exactly.
        let cases = [
            (1.0 + f32::EPSILON, 1.0 + f32::EPSILON, -1.0),
            (f32::from_bits(0x3f80_0001), f32::from_bits(0x3f80_0001), f32::from_bits(0x1a80_0000)),
            (f32::from_bits(0x3fff_ffff), f32::from_bits(0x3fff_ffff), f32::from_bits(0x0000_0001)),
            (f32::MIN_POSITIVE, f32::MIN_POSITIVE, f32::from_bits(1)),
            (f32::MAX, f32::MAX, f32::NEG_INFINITY),
            (f32::MAX, 2.0, -f32::MAX),
            (-0.0, 1.0, -0.0),
        ];
        for (a, b, c) in cases {
            assert_eq!(
                fma(a, b, c).to_bits(),
                canonical(a.mul_add(b, c)).to_bits(),
                "{a:e} {b:e} {c:e}"
            );
        }
        // A pseudo-random walk over all bit patterns, close exponents and far ones.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..200_000 {
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as u32
            };
            let (a, b, c) =
                (f32::from_bits(next()), f32::from_bits(next()), f32::from_bits(next()));
            let near = f32::from_bits((-(a * b)).to_bits().wrapping_add(next() % 5));
            for c in [c, near] {
                assert_eq!(
                    fma(a, b, c).to_bits(),
                    canonical(a.mul_add(b, c)).to_bits(),
                    "{a:e} {b:e} {c:e}"
                );
            }
        }
    }

    #[test]
    fn directed_roundings_bracket_the_exact_value() {
        let third = 1.0 / 3.0;
        assert_eq!(div_with(1.0, 3.0, RZ).to_bits(), 0x3eaa_aaaa);
        assert_eq!(div_with(1.0, 3.0, RP).to_bits(), 0x3eaa_aaab);
        assert_eq!(div_with(-1.0, 3.0, RM), -third);
        assert_eq!(sqrt_with(2.0, RM).to_bits(), 0x3fb5_04f3);
        assert_eq!(sqrt_with(2.0, RP).to_bits(), 0x3fb5_04f4);
        assert_eq!(add_with(1.0, f32::from_bits(1), RP).to_bits(), 0x3f80_0001);
        assert_eq!(add_with(1.0, -f32::from_bits(1), RZ).to_bits(), 0x3f7f_ffff);
        assert_eq!(mul_with(f32::MAX, 2.0, RZ), f32::MAX);
        assert_eq!(mul_with(-f32::MAX, 2.0, RP), -f32::MAX);
        assert_eq!(mul_with(-f32::MAX, 2.0, RM), f32::NEG_INFINITY);
        assert_eq!(mul_with(f32::from_bits(1), 0.25, RP).to_bits(), 1);
        assert_eq!(rcp_with(f32::MAX, RZ).to_bits(), 0x0020_0000);
    }

    #[test]
    fn an_exact_zero_is_negative_only_when_rounding_down() {
        assert_eq!(add_with(1.0, -1.0, RM).to_bits(), SIGN);
        assert_eq!(add_with(1.0, -1.0, RZ).to_bits(), 0);
        assert_eq!(add_with(0.0, 0.0, RM).to_bits(), 0);
        assert_eq!(fma_with(1.0, 1.0, -1.0, RM).to_bits(), SIGN);
        assert_eq!(sub_with(-0.0, 0.0, RP).to_bits(), SIGN);
    }

    #[test]
    fn flushing_looks_at_the_value_rounded_with_an_unbounded_exponent() {
        let half = f32::from_bits(0x2000_0000); // 2^-63
        let below = f32::from_bits(0x1fff_ffff); // (2 - 2^-23) * 2^-64
        // (2 - 2^-23) * 2^-127 has 24 bits and is below 2^-126: flushed, though as a subnormal it would round to 2^-126.
        assert_eq!(mul_with(half, below, FTZ), 0.0);
        assert_eq!(mul(half, below), f32::MIN_POSITIVE);
        // (2 - 2^-23)^2 / 4 * 2^-126 is far enough below.
        assert_eq!(mul_with(below, below, FTZ), 0.0);
        // (1 + 2^-23)(1 - 2^-24) * 2^-126 = (1 + 2^-24 - …) * 2^-126 stays.
        assert_eq!(
            mul_with(f32::from_bits(0x2000_0001), f32::from_bits(0x1f7f_ffff + 0x0080_0000), FTZ),
            f32::MIN_POSITIVE
        );
        assert_eq!(add_with(-f32::from_bits(5), -0.0, FTZ).to_bits(), SIGN);
    }

    #[test]
    fn saturation_turns_nan_and_negative_zero_into_zero() {
        for (input, output) in
            [(f32::NAN, 0.0f32), (-0.0, 0.0), (0.25, 0.25), (1.5, 1.0), (f32::NEG_INFINITY, 0.0)]
        {
            assert_eq!(saturate(input).to_bits(), output.to_bits());
        }
    }

    #[test]
    fn minimum_and_maximum_order_zeros_and_pass_over_nan() {
        let signalling = f32::from_bits(0x7f80_0001);
        assert_eq!(min(0.0, -0.0).to_bits(), SIGN);
        assert_eq!(max(-0.0, 0.0).to_bits(), 0);
        assert_eq!(min(signalling, 3.0), 3.0);
        assert_eq!(max(3.0, signalling), 3.0);
        let nan = MinMaxMode { nan: true, ..MinMaxMode::default() };
        assert_eq!(min_with(signalling, 3.0, nan).to_bits(), CANONICAL_NAN);
        let xor = MinMaxMode { xorsign_abs: true, ..MinMaxMode::default() };
        assert_eq!(max_with(-3.0, 2.0, xor), -3.0);
        assert_eq!(min_with(f32::from_bits(0xffc0_0000), 2.0, xor), -2.0);
    }
}
