//! Half-precision arithmetic: `.f16`, `.bf16` and their packed pairs (PTX ISA, section "Half Precision
//! Floating Point Instructions").
//!
//! Numbers are 16-bit patterns; [`F16`] and [`Bf16`] say how to read them. A packed form is the scalar form in
//! [`pairwise`] and its relatives. A NaN result is `0x7fff` in both formats (recorded).
//!
//! Arithmetic goes through `f64`: products are exact there and sums are rounded to odd, so that rounding to 16
//! bits is the only rounding.

use super::MinMaxMode;
use super::rounding::{Format, Rounding, narrow, sum_to_odd};

/// The bits of the NaN that f16 and bf16 instructions give.
pub const CANONICAL_NAN: u16 = 0x7fff;

const SIGN: u16 = 0x8000;

/// One of the two 16-bit formats.
pub trait HalfFormat {
    /// Its layout.
    const FORMAT: Format;

    /// The value as `f32`, exact; a NaN stays one, its payload moved up.
    fn widen(bits: u16) -> f32;
}

/// `.f16`: 5 bits of exponent, 10 of mantissa.
#[derive(Clone, Copy, Debug)]
pub struct F16;

/// `.bf16`: 8 bits of exponent, 7 of mantissa.
#[derive(Clone, Copy, Debug)]
pub struct Bf16;

impl HalfFormat for F16 {
    const FORMAT: Format = Format::F16;

    #[inline]
    fn widen(bits: u16) -> f32 {
        let magnitude = u32::from(bits & !SIGN) << 13;
        // Read as f32 the exponent is 112 too small; one exact multiplication corrects it, for subnormals too.
        const SCALE: f32 = f32::from_bits((112 + 127) << 23);
        let finite = (f32::from_bits(magnitude) * SCALE).to_bits();
        let special = magnitude | 0x7f80_0000;
        let magnitude = if bits & 0x7c00 == 0x7c00 { special } else { finite };
        f32::from_bits(magnitude | u32::from(bits & SIGN) << 16)
    }
}

impl HalfFormat for Bf16 {
    const FORMAT: Format = Format::BF16;

    #[inline]
    fn widen(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }
}

/// What happens to a result at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Clamp {
    /// Nothing.
    #[default]
    None,
    /// `.sat`: clamped to 0.0 … 1.0, NaN becomes +0.0.
    Saturate,
    /// `.relu`: negative results become +0.0, NaN stays.
    Relu,
}

/// The qualifiers of half-precision arithmetic; the rounding is always `.rn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct HalfMode {
    /// `.ftz`: subnormal inputs and results become zero of the same sign (f16 only).
    pub ftz: bool,
    /// `.sat` or `.relu`.
    pub clamp: Clamp,
    /// `.oob` (`fma` only): the out-of-bounds NaN `0x7ff7` or `0xfff7` in `a` or `b` makes the result +0.0.
    pub oob: bool,
}

/// `.ftz` on an operand: a subnormal number becomes zero of its sign.
#[inline]
#[must_use]
pub fn flush<F: HalfFormat>(a: u16) -> u16 {
    F::FORMAT.flush(u64::from(a)) as u16
}

/// Whether these bits are a NaN.
#[inline]
#[must_use]
pub fn is_nan<F: HalfFormat>(a: u16) -> bool {
    F::FORMAT.is_nan(u64::from(a))
}

/// An operand as the instruction sees it, widened.
#[inline]
fn operand<F: HalfFormat>(a: u16, mode: HalfMode) -> f64 {
    f64::from(F::widen(if mode.ftz { flush::<F>(a) } else { a }))
}

/// Rounds and clamps a value that is exact, or rounded to odd, in `f64`.
#[inline]
fn finish<F: HalfFormat>(value: f64, mode: HalfMode) -> u16 {
    let result = narrow(F::FORMAT, value, Rounding::NearestEven, mode.ftz) as u16;
    match mode.clamp {
        Clamp::None => result,
        Clamp::Saturate => F::FORMAT.saturate(u64::from(result)) as u16,
        Clamp::Relu => relu(result),
    }
}

/// `.relu`: what is negative becomes +0.0. NaN results have no sign and stay.
#[inline]
const fn relu(result: u16) -> u16 {
    if result & SIGN != 0 { 0 } else { result }
}

/// `add{.rn}{.ftz}{.sat}` of f16 or bf16.
#[inline]
#[must_use]
pub fn add<F: HalfFormat>(a: u16, b: u16, mode: HalfMode) -> u16 {
    finish::<F>(sum_to_odd(operand::<F>(a, mode), operand::<F>(b, mode)), mode)
}

/// `sub{.rn}{.ftz}{.sat}` of f16 or bf16.
#[inline]
#[must_use]
pub fn sub<F: HalfFormat>(a: u16, b: u16, mode: HalfMode) -> u16 {
    add::<F>(a, b ^ SIGN, mode)
}

/// `mul{.rn}{.ftz}{.sat}` of f16 or bf16.
#[inline]
#[must_use]
pub fn mul<F: HalfFormat>(a: u16, b: u16, mode: HalfMode) -> u16 {
    finish::<F>(operand::<F>(a, mode) * operand::<F>(b, mode), mode)
}

/// `fma.rn{.ftz}{.sat|.relu|.oob}` of f16 or bf16.
#[inline]
#[must_use]
pub fn fma<F: HalfFormat>(a: u16, b: u16, c: u16, mode: HalfMode) -> u16 {
    if mode.oob && (a & !SIGN == 0x7ff7 || b & !SIGN == 0x7ff7) {
        return 0;
    }
    let product = operand::<F>(a, mode) * operand::<F>(b, mode);
    finish::<F>(sum_to_odd(product, operand::<F>(c, mode)), mode)
}

/// `abs{.ftz}` of f16 or bf16; a NaN becomes canonical.
#[inline]
#[must_use]
pub fn abs<F: HalfFormat>(a: u16, ftz: bool) -> u16 {
    let a = if ftz { flush::<F>(a) } else { a };
    if is_nan::<F>(a) { CANONICAL_NAN } else { a & !SIGN }
}

/// `neg{.ftz}` of f16 or bf16; a NaN becomes canonical.
#[inline]
#[must_use]
pub fn neg<F: HalfFormat>(a: u16, ftz: bool) -> u16 {
    let a = if ftz { flush::<F>(a) } else { a };
    if is_nan::<F>(a) { CANONICAL_NAN } else { a ^ SIGN }
}

/// A number that orders as the float does, with -0.0 below +0.0.
#[inline]
const fn order(a: u16) -> i16 {
    let bits = a as i16;
    bits ^ ((bits >> 15) as u16 >> 1) as i16
}

/// The qualifiers around a choice of one operand.
#[inline]
fn min_max<F: HalfFormat>(a: u16, b: u16, mode: MinMaxMode, smaller: bool) -> u16 {
    let sign = (a ^ b) & SIGN;
    let (a, b) = if mode.ftz { (flush::<F>(a), flush::<F>(b)) } else { (a, b) };
    let (a, b) = if mode.xorsign_abs { (a & !SIGN, b & !SIGN) } else { (a, b) };
    let (a_nan, b_nan) = (is_nan::<F>(a), is_nan::<F>(b));
    if (a_nan && b_nan) || (mode.nan && (a_nan || b_nan)) {
        return CANONICAL_NAN;
    }
    let result = if a_nan || (!b_nan && (order(b) < order(a)) == smaller) { b } else { a };
    if mode.xorsign_abs { result | sign } else { result }
}

/// `min{.ftz}{.NaN}{.xorsign.abs}` of f16 or bf16.
#[inline]
#[must_use]
pub fn min<F: HalfFormat>(a: u16, b: u16, mode: MinMaxMode) -> u16 {
    min_max::<F>(a, b, mode, true)
}

/// `max{.ftz}{.NaN}{.xorsign.abs}` of f16 or bf16.
#[inline]
#[must_use]
pub fn max<F: HalfFormat>(a: u16, b: u16, mode: MinMaxMode) -> u16 {
    min_max::<F>(a, b, mode, false)
}

/// A packed instruction of one operand, half by half.
#[inline]
#[must_use]
pub fn halfwise(a: u32, instruction: impl Fn(u16) -> u16) -> u32 {
    u32::from(instruction(a as u16)) | u32::from(instruction((a >> 16) as u16)) << 16
}

/// A packed instruction of two operands, half by half.
///
/// ```
/// use ptx_emulator::semantics::half::{self, F16, HalfMode};
/// // add.f16x2 of (1.0, 2.0) and (0.5, 0.5)
/// let sum = half::pairwise(0x4000_3c00, 0x3800_3800, |a, b| half::add::<F16>(a, b, HalfMode::default()));
/// assert_eq!(sum, 0x4100_3e00);
/// ```
#[inline]
#[must_use]
pub fn pairwise(a: u32, b: u32, instruction: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(instruction(a as u16, b as u16))
        | u32::from(instruction((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// A packed instruction of three operands, half by half.
#[inline]
#[must_use]
pub fn triplewise(a: u32, b: u32, c: u32, instruction: impl Fn(u16, u16, u16) -> u16) -> u32 {
    u32::from(instruction(a as u16, b as u16, c as u16))
        | u32::from(instruction((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    const RN: HalfMode = HalfMode { ftz: false, clamp: Clamp::None, oob: false };

    #[test]
    fn widening_agrees_with_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (F16::widen(bits), ::half::f16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "{bits:04x}"
            );
            let (ours, theirs) = (Bf16::widen(bits), ::half::bf16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "{bits:04x}"
            );
        }
    }

    #[test]
    fn rounding_to_f16_agrees_with_the_half_crate() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(
                    narrow(Format::F16, f64::from(value), Rounding::NearestEven, false) as u16,
                    ::half::f16::from_f32(value).to_bits()
                );
                assert_eq!(
                    narrow(Format::BF16, f64::from(value), Rounding::NearestEven, false) as u16,
                    ::half::bf16::from_f32(value).to_bits()
                );
            }
        }
    }

    #[test]
    fn no_nan_payload_survives() {
        assert_eq!(add::<F16>(0xfe12, 0x3c00, RN), CANONICAL_NAN);
        assert_eq!(neg::<Bf16>(0x7f81, false), CANONICAL_NAN);
        assert_eq!(abs::<F16>(0x7c01, true), CANONICAL_NAN);
        assert_eq!(fma::<Bf16>(0, 0x7f80, 0, RN), CANONICAL_NAN);
    }

    #[test]
    fn a_fused_operation_rounds_once() {
        // 2^10 * (1 + 2^-10) + 2^-24: the tiny addend decides the tie between 1025 - and so on - upwards.
        assert_eq!(fma::<F16>(0x3c01, 0x3c01, 0x0001, RN), 0x3c02);
        // (1 + 2^-10) * (1 + 2^-1) lies exactly between two f16; a subnormal tips it.
        assert_eq!(mul::<F16>(0x3c01, 0x3e00, RN), 0x3e02);
        assert_eq!(fma::<F16>(0x3c01, 0x3e00, 0x8001, RN), 0x3e01);
        assert_eq!(fma::<F16>(0x3c01, 0x3e00, 0x0001, RN), 0x3e02);
    }

    #[test]
    fn clamps() {
        let sat = HalfMode { clamp: Clamp::Saturate, ..RN };
        let relu = HalfMode { clamp: Clamp::Relu, ..RN };
        assert_eq!(add::<F16>(0x4000, 0, sat), 0x3c00);
        assert_eq!(add::<F16>(0x7e00, 0, sat), 0);
        assert_eq!(fma::<F16>(0xbc00, 0x3c00, 0, relu), 0);
        assert_eq!(fma::<F16>(0x7e00, 0x3c00, 0, relu), CANONICAL_NAN);
        assert_eq!(fma::<Bf16>(0x8000, 0x3f80, 0x8000, relu), 0);
    }

    #[test]
    fn the_out_of_bounds_nan_counts_only_in_the_factors() {
        let oob = HalfMode { oob: true, ..RN };
        assert_eq!(fma::<F16>(0xfff7, 0x3c00, 0x3c00, oob), 0);
        assert_eq!(fma::<Bf16>(0x3f80, 0x7ff7, 0x7fff, oob), 0);
        assert_eq!(fma::<F16>(0x3c00, 0x3c00, 0x7ff7, oob), CANONICAL_NAN);
        assert_eq!(fma::<F16>(0x7ff7, 0x3c00, 0x3c00, RN), CANONICAL_NAN);
    }

    #[test]
    fn subnormals_are_flushed_only_on_demand() {
        let ftz = HalfMode { ftz: true, ..RN };
        assert_eq!(add::<F16>(0x8001, 0x8000, ftz), 0x8000);
        assert_eq!(add::<F16>(0x8001, 0x8000, RN), 0x8001);
        assert_eq!(mul::<F16>(0x0400, 0x3800, ftz), 0);
    }

    #[test]
    fn minimum_and_maximum() {
        let plain = MinMaxMode::default();
        assert_eq!(min::<F16>(0, 0x8000, plain), 0x8000);
        assert_eq!(max::<F16>(0x8000, 0, plain), 0);
        assert_eq!(min::<Bf16>(0x7fc1, 0x3f80, plain), 0x3f80);
        assert_eq!(max::<F16>(0x3c00, 0x7c01, plain), 0x3c00);
        assert_eq!(max::<F16>(0x3c00, 0x7c01, MinMaxMode { nan: true, ..plain }), CANONICAL_NAN);
        assert_eq!(max::<F16>(0xbc00, 0x7c01, MinMaxMode { xorsign_abs: true, ..plain }), 0xbc00);
    }
}
