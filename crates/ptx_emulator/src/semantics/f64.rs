//! Double-precision arithmetic (PTX ISA, section "Floating Point Instructions").
//!
//! Unlike f32, an f64 NaN keeps sign and payload and only becomes quiet (recorded). Of two NaNs, `add`, `sub`,
//! `mul`, `min` and `max` hand on **b**, `div` **a**, `fma` the first of **b**, **c**, **a**. Invalid operations
//! (inf - inf, 0 * inf, 0 / 0, sqrt(-1)) give `0xfff8000000000000`. f64 has no `.ftz`.

use super::rounding::{Exact, Format, Rounding};

/// The bits of the NaN that an invalid operation gives.
pub const INVALID: u64 = 0xfff8_0000_0000_0000;

const SIGN: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;

/// Whether these bits are a NaN.
#[inline]
const fn is_nan(bits: u64) -> bool {
    bits & !SIGN > INFINITY
}

/// Puts the right NaN where the host's operation gave some NaN: that of `first`, else of `second`, else the invalid one.
///
/// On the bits: the compiler need not keep the bits of a NaN that arithmetic gives, and may drop a floating-point
/// selection between two NaNs as having no effect.
#[inline]
const fn with_nan_of(result: f64, first: f64, second: f64) -> f64 {
    let (result, first, second) = (result.to_bits(), first.to_bits(), second.to_bits());
    let nan = if is_nan(second) { second | QUIET } else { INVALID };
    let nan = if is_nan(first) { first | QUIET } else { nan };
    f64::from_bits(if is_nan(result) { nan } else { result })
}

/// `add.rn.f64`.
#[inline]
#[must_use]
pub fn add(a: f64, b: f64) -> f64 {
    with_nan_of(a + b, b, a)
}

/// `sub.rn.f64`; the sign of a NaN in `b` stays.
#[inline]
#[must_use]
pub fn sub(a: f64, b: f64) -> f64 {
    with_nan_of(a - b, b, a)
}

/// `mul.rn.f64`.
#[inline]
#[must_use]
pub fn mul(a: f64, b: f64) -> f64 {
    with_nan_of(a * b, b, a)
}

/// `fma.rn.f64`: `a * b + c`, rounded once.
#[inline]
#[must_use]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    // mul_add is the hardware's instruction or the C library's exact fma; either way rounded once.
    let result = a.mul_add(b, c);
    let nan = with_nan_of(result, c, a);
    f64::from_bits(if is_nan(b.to_bits()) { b.to_bits() | QUIET } else { nan.to_bits() })
}

/// `div.rn.f64`.
#[inline]
#[must_use]
pub fn div(a: f64, b: f64) -> f64 {
    with_nan_of(a / b, a, b)
}

/// `rcp.rn.f64`: `1 / a`.
#[inline]
#[must_use]
pub fn rcp(a: f64) -> f64 {
    div(1.0, a)
}

/// `sqrt.rn.f64`.
#[inline]
#[must_use]
pub fn sqrt(a: f64) -> f64 {
    with_nan_of(a.sqrt(), a, a)
}

/// The exact value of a finite number.
#[inline]
fn exact(a: f64) -> Exact {
    Format::F64.decompose(a.to_bits())
}

/// Rounds an exact value.
#[inline]
fn rounded(value: Exact, rounding: Rounding) -> f64 {
    f64::from_bits(Format::F64.round(value, rounding, false))
}

/// Whether the host's rounding is the right one already, or nothing is rounded at all.
#[inline]
fn plain(operands: &[f64], rounding: Rounding) -> bool {
    rounding == Rounding::NearestEven || operands.iter().any(|x| !x.is_finite())
}

/// `add.rnd.f64`.
#[inline]
#[must_use]
pub fn add_rounded(a: f64, b: f64, rounding: Rounding) -> f64 {
    if plain(&[a, b], rounding) {
        return add(a, b);
    }
    rounded(exact(a).sum(exact(b), rounding == Rounding::Down), rounding)
}

/// `sub.rnd.f64`.
#[inline]
#[must_use]
pub fn sub_rounded(a: f64, b: f64, rounding: Rounding) -> f64 {
    if plain(&[a, b], rounding) {
        return sub(a, b);
    }
    add_rounded(a, -b, rounding)
}

/// `mul.rnd.f64`.
#[inline]
#[must_use]
pub fn mul_rounded(a: f64, b: f64, rounding: Rounding) -> f64 {
    if plain(&[a, b], rounding) {
        return mul(a, b);
    }
    rounded(exact(a).product(exact(b)), rounding)
}

/// `fma.rnd.f64`; `mad.rnd` is the same.
#[inline]
#[must_use]
pub fn fma_rounded(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if plain(&[a, b, c], rounding) {
        return fma(a, b, c);
    }
    rounded(exact(a).product(exact(b)).sum(exact(c), rounding == Rounding::Down), rounding)
}

/// `div.rnd.f64`.
#[inline]
#[must_use]
pub fn div_rounded(a: f64, b: f64, rounding: Rounding) -> f64 {
    if plain(&[a, b], rounding) || b == 0.0 {
        return div(a, b);
    }
    rounded(exact(a).quotient(exact(b)), rounding)
}

/// `rcp.rnd.f64`.
#[inline]
#[must_use]
pub fn rcp_rounded(a: f64, rounding: Rounding) -> f64 {
    div_rounded(1.0, a, rounding)
}

/// `sqrt.rnd.f64`.
#[inline]
#[must_use]
pub fn sqrt_rounded(a: f64, rounding: Rounding) -> f64 {
    if plain(&[a], rounding) || a <= 0.0 {
        return sqrt(a);
    }
    rounded(exact(a).square_root(), rounding)
}

/// `abs.f64`; even the sign of a NaN stays, it only becomes quiet.
#[inline]
#[must_use]
pub const fn abs(a: f64) -> f64 {
    let bits = a.to_bits();
    f64::from_bits(if is_nan(bits) { bits | QUIET } else { bits & !SIGN })
}

/// `neg.f64`; even the sign of a NaN stays, it only becomes quiet.
#[inline]
#[must_use]
pub const fn neg(a: f64) -> f64 {
    let bits = a.to_bits();
    f64::from_bits(if is_nan(bits) { bits | QUIET } else { bits ^ SIGN })
}

/// A number that orders as the float does, with -0.0 below +0.0.
#[inline]
const fn order(a: f64) -> i64 {
    let bits = a.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// Chooses the operand that `first` marks, after the NaN rules.
#[inline]
const fn select(a: f64, b: f64, first: bool) -> f64 {
    let (a, b) = (a.to_bits(), b.to_bits());
    let chosen = if first { a } else { b };
    let chosen = if is_nan(a) { b } else { chosen };
    let chosen = if is_nan(b) { a } else { chosen };
    f64::from_bits(if is_nan(a) && is_nan(b) { b | QUIET } else { chosen })
}

/// `min.f64`: -0.0 is below +0.0; one NaN gives the other operand.
#[inline]
#[must_use]
pub const fn min(a: f64, b: f64) -> f64 {
    select(a, b, order(a) < order(b))
}

/// `max.f64`: +0.0 is above -0.0; one NaN gives the other operand.
#[inline]
#[must_use]
pub const fn max(a: f64, b: f64) -> f64 {
    select(a, b, order(a) > order(b))
}

/// `copysign.f64 d, a, b`: the sign of **a** with the magnitude of **b**. A NaN keeps its bits.
#[inline]
#[must_use]
pub const fn copysign(a: f64, b: f64) -> f64 {
    f64::from_bits(a.to_bits() & SIGN | b.to_bits() & !SIGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u64 = 0xfff0_0000_0000_0123;
    const B: u64 = 0x7ff8_0000_0000_0456;
    const C: u64 = 0x7ff0_0000_0000_0789;

    fn nans() -> (f64, f64, f64) {
        (f64::from_bits(A), f64::from_bits(B), f64::from_bits(C))
    }

    #[test]
    fn which_nan_is_handed_on() {
        let (a, b, c) = nans();
        for result in
            [add(a, b), sub(a, b), mul(a, b), min(a, b), max(a, b), fma(a, b, c), sub(1.0, b)]
        {
            assert_eq!(result.to_bits(), B | QUIET);
        }
        assert_eq!(div(a, b).to_bits(), A | QUIET);
        assert_eq!(fma(a, 1.0, c).to_bits(), C | QUIET);
        assert_eq!(fma(a, 1.0, 1.0).to_bits(), A | QUIET);
        assert_eq!(add_rounded(a, 1.0, Rounding::Up).to_bits(), A | QUIET);
    }

    #[test]
    fn sign_changes_leave_the_sign_of_a_nan() {
        let (a, b, _) = nans();
        assert_eq!(abs(a).to_bits(), A | QUIET);
        assert_eq!(neg(b).to_bits(), B);
    }

    #[test]
    fn invalid_operations_give_the_negative_quiet_nan() {
        for result in [
            add(f64::INFINITY, f64::NEG_INFINITY),
            mul(0.0, f64::INFINITY),
            div(0.0, 0.0),
            sqrt(-1.0),
            fma(0.0, f64::INFINITY, 1.0),
        ] {
            assert_eq!(result.to_bits(), INVALID);
        }
    }

    #[test]
    fn directed_roundings() {
        let tiny = f64::from_bits(1);
        assert_eq!(add_rounded(1.0, tiny, Rounding::Up), 1.0 + f64::EPSILON);
        assert_eq!(add_rounded(1.0, -tiny, Rounding::Down), 1.0 - f64::EPSILON / 2.0);
        assert_eq!(add_rounded(1.0, tiny, Rounding::Zero), 1.0);
        assert_eq!(add_rounded(1.0, -1.0, Rounding::Down).to_bits(), SIGN);
        assert_eq!(div_rounded(1.0, 3.0, Rounding::Down).to_bits(), 0x3fd5_5555_5555_5555);
        assert_eq!(div_rounded(1.0, 3.0, Rounding::Up).to_bits(), 0x3fd5_5555_5555_5556);
        assert_eq!(sqrt_rounded(2.0, Rounding::Down).to_bits(), 0x3ff6_a09e_667f_3bcc);
        assert_eq!(sqrt_rounded(2.0, Rounding::Up).to_bits(), 0x3ff6_a09e_667f_3bcd);
        assert_eq!(mul_rounded(f64::MAX, 2.0, Rounding::Zero), f64::MAX);
        assert_eq!(mul_rounded(tiny, tiny, Rounding::Up), tiny);
        assert_eq!(div_rounded(1.0, -0.0, Rounding::Zero), f64::NEG_INFINITY);
        assert_eq!(sqrt_rounded(-0.0, Rounding::Up).to_bits(), SIGN);
    }

    #[test]
    fn the_exact_path_rounds_to_nearest_like_the_host() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 29
            };
            let (a, b, c) =
                (f64::from_bits(next()), f64::from_bits(next()), f64::from_bits(next()));
            let near = f64::from_bits((-(a * b)).to_bits().wrapping_add(next() % 5));
            if ![a, b, c, near].iter().all(|x| x.is_finite()) || b == 0.0 {
                continue;
            }
            let rn = Rounding::NearestEven;
            for c in [c, near] {
                let sum = rounded(exact(a).product(exact(b)).sum(exact(c), false), rn);
                assert_eq!(sum.to_bits(), a.mul_add(b, c).to_bits(), "{a:e} * {b:e} + {c:e}");
            }
            assert_eq!(rounded(exact(a).sum(exact(b), false), rn), a + b);
            assert_eq!(rounded(exact(a).quotient(exact(b)), rn), a / b);
            assert_eq!(rounded(exact(a.abs()).square_root(), rn), a.abs().sqrt());
        }
    }

    #[test]
    fn zeros_are_ordered() {
        assert_eq!(min(0.0, -0.0).to_bits(), SIGN);
        assert_eq!(max(-0.0, 0.0).to_bits(), 0);
        assert_eq!(max(f64::from_bits(C), 1.0), 1.0);
    }
}
