//! Rounding exact values to floating-point formats, in every direction PTX has.
//!
//! The host's rounding mode stays as it is: Rust gives no sound way to change MXCSR. Instead an
//! operation is computed exactly, or exactly up to a jammed last bit (round to odd), and
//! then rounded once, here. Round to odd keeps everything a later rounding needs to know: an inexact
//! value never sits on a representable number or on a tie of a format at least two bits shorter.

/// The direction of a rounding (PTX ISA, section "Rounding Modifiers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// `.rn`, `.rni`: to nearest, ties to even.
    #[default]
    NearestEven,
    /// `.rna`: to nearest, ties away from zero (`cvt` to `.tf32` only).
    NearestAway,
    /// `.rz`, `.rzi`: towards zero.
    Zero,
    /// `.rm`, `.rmi`: towards minus infinity.
    Down,
    /// `.rp`, `.rpi`: towards plus infinity.
    Up,
}

impl Rounding {
    /// The rounding that a PTX modifier names, without its dot: `rn`, `rni`, `rna`, `rz`, ….
    ///
    /// ```
    /// use ptx_emulator::semantics::Rounding;
    /// assert_eq!(Rounding::from_modifier("rzi"), Some(Rounding::Zero));
    /// assert_eq!(Rounding::from_modifier("sat"), None);
    /// ```
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "rn" | "rni" => Self::NearestEven,
            "rna" => Self::NearestAway,
            "rz" | "rzi" => Self::Zero,
            "rm" | "rmi" => Self::Down,
            "rp" | "rpi" => Self::Up,
            _ => return None,
        })
    }

    /// Whether a magnitude is rounded up, given its part below the last kept digit.
    #[inline]
    fn increments(self, negative: bool, odd: bool, rest: u128, half: u128) -> bool {
        match self {
            Self::NearestEven => rest > half || (rest == half && odd),
            Self::NearestAway => rest >= half,
            Self::Zero => false,
            Self::Down => negative && rest != 0,
            Self::Up => !negative && rest != 0,
        }
    }
}

/// The qualifiers of a floating-point instruction: rounding, `.ftz` and `.sat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatMode {
    /// The rounding, `.rn` where the instruction names none.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results become zero of the same sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to 0.0 … 1.0, NaN becomes +0.0.
    pub sat: bool,
}

/// The layout of a binary floating-point format: sign, exponent, mantissa, with subnormals,
/// infinities and NaNs placed as IEEE 754 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Width of the exponent field, bits.
    pub exponent_bits: u32,
    /// Width of the mantissa field without the hidden bit, bits.
    pub mantissa_bits: u32,
}

impl Format {
    /// `.f16`.
    pub const F16: Self = Self::new(5, 10);
    /// `.bf16`.
    pub const BF16: Self = Self::new(8, 7);
    /// `.f32`.
    pub const F32: Self = Self::new(8, 23);
    /// `.f64`.
    pub const F64: Self = Self::new(11, 52);
    /// `.tf32` without the 13 zero bits that fill its register.
    pub const TF32: Self = Self::new(8, 10);
    /// `.e5m2`.
    pub const E5M2: Self = Self::new(5, 2);

    const fn new(exponent_bits: u32, mantissa_bits: u32) -> Self {
        Self { exponent_bits, mantissa_bits }
    }

    /// The largest exponent of a finite number, and the amount that stored exponents are biased by.
    #[inline]
    #[must_use]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The sign bit.
    #[inline]
    #[must_use]
    pub const fn sign(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// Positive infinity.
    #[inline]
    #[must_use]
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// 1.0.
    #[inline]
    #[must_use]
    pub const fn one(self) -> u64 {
        ((self.bias()) as u64) << self.mantissa_bits
    }

    /// Whether these bits are a NaN.
    #[inline]
    #[must_use]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Whether these bits are an infinity of either sign.
    #[inline]
    #[must_use]
    pub const fn is_infinite(self, bits: u64) -> bool {
        bits & (self.sign() - 1) == self.infinity()
    }

    /// `.ftz` on an operand: a subnormal number becomes zero of its sign.
    #[inline]
    #[must_use]
    pub const fn flush(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }

    /// `.sat` on a result: clamps to 0.0 … 1.0; NaN and everything negative become +0.0.
    #[inline]
    #[must_use]
    pub const fn saturate(self, bits: u64) -> u64 {
        if self.is_nan(bits) || bits & self.sign() != 0 {
            0
        } else if bits > self.one() {
            self.one()
        } else {
            bits
        }
    }

    /// Splits a finite number into sign, integer magnitude and the power of two that scales it.
    #[inline]
    #[must_use]
    pub const fn decompose(self, bits: u64) -> Exact {
        let field = ((bits & (self.sign() - 1)) >> self.mantissa_bits) as i32;
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let (magnitude, field) =
            if field == 0 { (mantissa, 1) } else { (mantissa | 1 << self.mantissa_bits, field) };
        Exact {
            negative: bits & self.sign() != 0,
            magnitude: magnitude as u128,
            exponent: field - self.bias() - self.mantissa_bits as i32,
        }
    }

    /// Rounds an exact value to this format.
    ///
    /// With `flush`, the recorded `.ftz` rule of the hardware decides about tiny results: the result becomes zero
    /// when the value, rounded to the format's precision with an unbounded exponent, lies below the
    /// smallest normal number. That is neither a test before rounding nor one of the rounded subnormal.
    #[must_use]
    pub fn round(self, value: Exact, rounding: Rounding, flush: bool) -> u64 {
        let sign = if value.negative { self.sign() } else { 0 };
        if value.magnitude == 0 {
            return sign;
        }
        let mantissa_bits = self.mantissa_bits as i32;
        let smallest = 1 - self.bias();
        let top = 127 - value.magnitude.leading_zeros() as i32 + value.exponent;
        if flush && top < smallest {
            let carried =
                value.rounded_at(top - mantissa_bits, rounding) >> (mantissa_bits + 1) != 0;
            if !(carried && top + 1 == smallest) {
                return sign;
            }
        }
        let mut power = top.max(smallest);
        let mut digits = value.rounded_at(power - mantissa_bits, rounding);
        if digits >> (mantissa_bits + 1) != 0 {
            digits >>= 1;
            power += 1;
        }
        if power > self.bias() {
            let to_infinity = match rounding {
                Rounding::NearestEven | Rounding::NearestAway => true,
                Rounding::Zero => false,
                Rounding::Down => value.negative,
                Rounding::Up => !value.negative,
            };
            return sign | if to_infinity { self.infinity() } else { self.infinity() - 1 };
        }
        let hidden = 1 << mantissa_bits;
        let digits = digits as u64;
        sign | if digits < hidden {
            digits
        } else {
            (((power + self.bias()) as u64) << mantissa_bits) | (digits - hidden)
        }
    }
}

/// An exact finite value: `magnitude * 2^exponent` with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// The sign, which zero has too.
    pub negative: bool,
    /// The magnitude's integer part; its last bit may stand for "inexact below" (round to odd).
    pub magnitude: u128,
    /// The power of two that scales the magnitude.
    pub exponent: i32,
}

impl Exact {
    /// The magnitude as a multiple of `2^unit`, rounded.
    ///
    /// The caller keeps the result below 2^128: `unit` is at most 2^mantissa_bits below the top bit.
    #[inline]
    #[must_use]
    pub fn rounded_at(self, unit: i32, rounding: Rounding) -> u128 {
        let shift = unit - self.exponent;
        if shift <= 0 {
            return self.magnitude << (-shift).min(127);
        }
        if shift > 127 {
            // Everything lies below half a unit.
            return u128::from(rounding.increments(
                self.negative,
                false,
                u128::from(self.magnitude != 0),
                2,
            ));
        }
        let whole = self.magnitude >> shift;
        let rest = self.magnitude & ((1 << shift) - 1);
        whole
            + u128::from(rounding.increments(self.negative, whole & 1 != 0, rest, 1 << (shift - 1)))
    }

    /// The sum of two exact values, its last bit jammed when digits had to be left out.
    ///
    /// The magnitudes must be below 2^107 (a product of two f64 mantissas fits). Digits are only left
    /// out when the operands are so far apart that at most one leading bit can cancel, so that over
    /// 100 bits stay correct. `down` is the sign rule of an exact zero sum: negative when rounding down.
    #[must_use]
    pub fn sum(self, other: Self, down: bool) -> Self {
        if self.magnitude == 0 || other.magnitude == 0 {
            return if self.magnitude != 0 {
                self
            } else if other.magnitude != 0 {
                other
            } else {
                let negative = if self.negative == other.negative { self.negative } else { down };
                Self { negative, magnitude: 0, exponent: 0 }
            };
        }
        // Bring both top bits to bit 125, so that the sum fits and the larger exponent is the larger number.
        let raised = |x: Self| {
            let shift = x.magnitude.leading_zeros() as i32 - 2;
            (x.magnitude << shift, x.exponent - shift)
        };
        let ((a, a_exponent), (b, b_exponent)) = (raised(self), raised(other));
        let exponent = a_exponent.max(b_exponent);
        let (a, b) =
            (shifted_right(a, exponent - a_exponent), shifted_right(b, exponent - b_exponent));
        if self.negative == other.negative {
            return Self { negative: self.negative, magnitude: a + b, exponent };
        }
        let (negative, magnitude) = if a > b {
            (self.negative, a - b)
        } else if b > a {
            (other.negative, b - a)
        } else {
            (down, 0)
        };
        Self { negative, magnitude, exponent }
    }

    /// The exact product of two values whose magnitudes are below 2^53.
    #[inline]
    #[must_use]
    pub const fn product(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient of two values with magnitudes below 2^53, the last bit jammed when
    /// inexact. A zero divisor gives zero; callers answer it before.
    #[must_use]
    pub fn quotient(self, divisor: Self) -> Self {
        let negative = self.negative != divisor.negative;
        if self.magnitude == 0 || divisor.magnitude == 0 {
            return Self { negative, magnitude: 0, exponent: 0 };
        }
        // A dividend of 126 bits over at most 53 bits leaves a quotient of at least 73.
        let shift = self.magnitude.leading_zeros() as i32 - 2;
        let dividend = self.magnitude << shift;
        let quotient = dividend / divisor.magnitude;
        let inexact = !dividend.is_multiple_of(divisor.magnitude);
        Self {
            negative,
            magnitude: quotient | u128::from(inexact),
            exponent: self.exponent - shift - divisor.exponent,
        }
    }

    /// The square root of a positive value, the last bit jammed when inexact.
    #[must_use]
    pub fn square_root(self) -> Self {
        if self.magnitude == 0 {
            return self;
        }
        // An even exponent and 125 or 126 bits under the root leave a root of 63.
        let mut shift = self.magnitude.leading_zeros() as i32 - 2;
        if (self.exponent - shift) % 2 != 0 {
            shift -= 1;
        }
        let radicand = if shift >= 0 { self.magnitude << shift } else { self.magnitude >> -shift };
        let root = radicand.isqrt();
        Self {
            negative: false,
            magnitude: root | u128::from(root * root != radicand),
            exponent: (self.exponent - shift) / 2,
        }
    }
}

/// `value >> distance`, the last bit jammed when a set bit fell out.
#[inline]
fn shifted_right(value: u128, distance: i32) -> u128 {
    if distance > 127 {
        return u128::from(value != 0);
    }
    let kept = value >> distance;
    kept | u128::from(kept << distance != value)
}

/// `a + b` rounded to odd: when the exact sum is not an `f64`, the neighbour with the odd mantissa.
///
/// A result that is rounded again to a format of at most 51 mantissa bits is then rounded once in effect
/// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008). Branch-free: the error
/// of the sum is found exactly by Knuth's TwoSum. The sum must not overflow.
#[inline]
#[must_use]
pub fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // Written as two comparisons: the error of an infinite or NaN sum is NaN and must not count.
    let inexact = (error > 0.0) | (error < 0.0);
    let even = bits & 1 == 0;
    let outward = (error.to_bits() ^ bits) >> 63 == 0;
    let step = if outward { 1u64 } else { u64::MAX };
    f64::from_bits(bits.wrapping_add(if inexact & even { step } else { 0 }))
}

/// Rounds a finite, infinite or NaN `f64` (possibly itself rounded to odd) to a narrower format.
/// A NaN gives the canonical NaN, all ones without the sign.
#[inline]
#[must_use]
pub fn narrow(format: Format, value: f64, rounding: Rounding, flush: bool) -> u64 {
    let bits = value.to_bits();
    let sign = (bits >> 63) << (format.exponent_bits + format.mantissa_bits);
    let power = (bits >> 52 & 0x7ff) as i32 - 1023;
    let smallest = 1 - format.bias();
    // The digits below the last kept one; more are dropped for a subnormal result.
    let shift = (52 - format.mantissa_bits) as i32 + (smallest - power).max(0);
    if power == 1024 || shift > 54 || (flush && power < smallest) {
        return narrow_special(format, value, rounding, flush);
    }
    let digits = bits & ((1 << 52) - 1) | 1 << 52;
    let kept = digits >> shift;
    let rest = digits & ((1 << shift) - 1);
    let half = 1u64 << (shift - 1);
    let up = match rounding {
        Rounding::NearestEven => rest + (kept & 1) > half,
        Rounding::NearestAway => rest >= half,
        Rounding::Zero => false,
        Rounding::Down => value < 0.0 && rest != 0,
        Rounding::Up => value > 0.0 && rest != 0,
    };
    // The hidden bit of a normal number adds 1 to the exponent field, and so does a carry out of the mantissa.
    let field = (power.max(smallest) - smallest) as u64;
    let magnitude = (field << format.mantissa_bits) + kept + u64::from(up);
    if magnitude >= format.infinity() {
        return narrow_special(format, value, rounding, flush);
    }
    sign | magnitude
}

/// [`narrow`] for zero, infinity and NaN, for results that overflow and for tiny ones.
#[cold]
fn narrow_special(format: Format, value: f64, rounding: Rounding, flush: bool) -> u64 {
    if value.is_nan() {
        return format.sign() - 1;
    }
    if value.is_infinite() {
        return format.infinity() | if value < 0.0 { format.sign() } else { 0 };
    }
    format.round(Format::F64.decompose(value.to_bits()), rounding, flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDINGS: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::NearestAway,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
    ];

    #[test]
    fn both_ways_of_narrowing_agree() {
        let mut state = 7u64;
        for step in 0..300_000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Exponents around those of the target formats, mantissas with few digits as well as many.
            let power = 1023 - 160 + state % 320;
            let mantissa = (state >> 9) & ((1 << 52) - 1) & (u64::MAX << (step % 53));
            let value = f64::from_bits((step & 1) << 63 | power << 52 | mantissa);
            for format in [Format::F16, Format::BF16, Format::F32, Format::E5M2] {
                for rounding in ROUNDINGS {
                    for flush in [false, true] {
                        let exact =
                            format.round(Format::F64.decompose(value.to_bits()), rounding, flush);
                        assert_eq!(
                            narrow(format, value, rounding, flush),
                            exact,
                            "{value:e} {format:?} {rounding:?} {flush}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn rounding_to_nearest_is_that_of_the_host() {
        for value in [
            0.1,
            -1e-40,
            3.5e38,
            -3.4028236e38,
            1e-46,
            f64::MIN_POSITIVE,
            -0.0,
            f64::NEG_INFINITY,
            16_777_217.0,
        ] {
            assert_eq!(
                narrow(Format::F32, value, Rounding::NearestEven, false),
                u64::from((value as f32).to_bits()),
                "{value:e}"
            );
        }
    }

    #[test]
    fn sums_far_apart_keep_a_trace_of_the_smaller() {
        let large = Exact { negative: false, magnitude: 1, exponent: 400 };
        let small = Exact { negative: true, magnitude: 1, exponent: -400 };
        let sum = large.sum(small, false);
        assert_eq!(Format::F64.round(sum, Rounding::Zero, false), (2f64.powi(400)).to_bits() - 1);
        assert_eq!(
            Format::F64.round(sum, Rounding::NearestEven, false),
            (2f64.powi(400)).to_bits()
        );
        let zero = large.sum(Exact { negative: true, ..large }, true);
        assert_eq!((zero.magnitude, zero.negative), (0, true));
    }

    #[test]
    fn a_sum_rounded_to_odd_is_exact_or_odd() {
        assert_eq!(sum_to_odd(1.0, 2.0), 3.0);
        assert_eq!(sum_to_odd(1.0, 1e-300), 1.0 + f64::EPSILON);
        assert_eq!(sum_to_odd(1.0, -1e-300), 1.0 - f64::EPSILON / 2.0);
        assert_eq!(sum_to_odd(-1.0, -1e-300), -1.0 - f64::EPSILON);
        assert_eq!(sum_to_odd(f64::INFINITY, 1.0), f64::INFINITY);
        assert!(sum_to_odd(f64::INFINITY, f64::NEG_INFINITY).is_nan());
    }

    #[test]
    fn roots_and_quotients_mark_inexactness() {
        let two = Exact { negative: false, magnitude: 2, exponent: 0 };
        let nine = Exact { negative: false, magnitude: 9, exponent: 4 };
        assert_eq!(
            Format::F32.round(nine.square_root(), Rounding::Up, false),
            u64::from(12f32.to_bits())
        );
        assert_eq!(Format::F32.round(two.square_root(), Rounding::Up, false), 0x3fb5_04f4);
        assert_eq!(Format::F16.round(two.quotient(nine), Rounding::Down, false), 0x231c);
    }
}
