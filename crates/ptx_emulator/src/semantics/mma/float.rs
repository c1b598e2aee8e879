//! `mma` of f16, bf16, tf32, e4m3 and e5m2, as an H200's tensor cores add up.
//!
//! All products of an element are exact. They and the accumulator are brought to the largest exponent among them, cut off
//! below a fixed number of fraction bits, and added exactly. The sum is rounded once: to nearest for f16, towards zero for
//! f32. Subnormal numbers are ordinary ones.

use super::Shape;
use crate::semantics::cvt::{ConvertMode, Float8, FloatType, float_to_float};
use crate::semantics::f32 as single;
use crate::semantics::half;
use crate::semantics::rounding::{Exact, Format, Rounding};

/// Type of the multiplicands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multiplicand {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`: the upper 19 bits of a 32-bit register.
    Tf32,
    /// `.e4m3`
    E4m3,
    /// `.e5m2`
    E5m2,
}

impl Multiplicand {
    /// The type that a modifier names.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            _ => return None,
        })
    }

    /// Bits of an element in a register.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::E5m2 => 8,
        }
    }

    fn read(self, bits: u32) -> Number {
        match self {
            Self::F16 => Number::read(Format::F16, bits),
            Self::Bf16 => Number::read(Format::BF16, bits),
            // What lies below the type's 19 bits is ignored (recorded).
            Self::Tf32 => Number::read(Format::TF32, bits >> 13),
            Self::E4m3 => Number::read(Format::F16, Float8::E4m3.decode(bits as u8).into()),
            Self::E5m2 => Number::read(Format::F16, Float8::E5m2.decode(bits as u8).into()),
        }
    }
}

/// Type of the accumulator and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// `.f16`
    F16,
    /// `.f32`
    F32,
}

impl Accumulator {
    fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::F32 => Format::F32,
        }
    }

    /// Elements of a 32-bit register.
    #[must_use]
    pub fn per_register(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 1,
        }
    }

    /// `add.rn` of the type.
    fn sum(self, a: u32, b: u32) -> u32 {
        match self {
            Self::F16 => {
                u32::from(half::add::<half::F16>(a as u16, b as u16, half::HalfMode::default()))
            }
            Self::F32 => single::add(f32::from_bits(a), f32::from_bits(b)).to_bits(),
        }
    }

    fn nan(self) -> u32 {
        match self {
            Self::F16 => 0x7FFF,
            Self::F32 => 0x7FFF_FFFF,
        }
    }
}

/// Fraction bits that survive the alignment to the largest exponent.
const FRACTION_BITS: i32 = 25;

/// A number that was taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Finite(Term),
    Infinite { negative: bool },
    Nan,
}

/// `significand * 2^(exponent - fraction)`, where `exponent` is the one in the number's bits: a product's significand may
/// be 2 and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    negative: bool,
    significand: u64,
    fraction: i32,
    exponent: i32,
}

impl Number {
    fn read(format: Format, bits: u32) -> Number {
        let bits = u64::from(bits);
        if format.is_nan(bits) {
            return Number::Nan;
        }
        let negative = bits & format.sign() != 0;
        if format.is_infinite(bits) {
            return Number::Infinite { negative };
        }
        let exact = format.decompose(bits);
        let fraction = format.mantissa_bits as i32;
        Number::Finite(Term {
            negative,
            significand: exact.magnitude as u64,
            fraction,
            exponent: exact.exponent + fraction,
        })
    }

    fn product(self, other: Number) -> Number {
        match (self, other) {
            (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
            (Number::Finite(a), Number::Finite(b)) => Number::Finite(Term {
                negative: a.negative != b.negative,
                significand: a.significand * b.significand,
                fraction: a.fraction + b.fraction,
                exponent: a.exponent + b.exponent,
            }),
            (Number::Infinite { negative }, Number::Infinite { negative: other }) => {
                Number::Infinite { negative: negative != other }
            }
            (Number::Infinite { .. }, Number::Finite(b)) if b.significand == 0 => Number::Nan,
            (Number::Finite(a), Number::Infinite { .. }) if a.significand == 0 => Number::Nan,
            (Number::Infinite { negative }, Number::Finite(b)) => {
                Number::Infinite { negative: negative != b.negative }
            }
            (Number::Finite(a), Number::Infinite { negative }) => {
                Number::Infinite { negative: negative != a.negative }
            }
        }
    }
}

impl Term {
    /// The value in units of `2^(top - FRACTION_BITS)`, cut off towards zero.
    fn aligned(self, top: i32) -> i64 {
        let left = FRACTION_BITS - self.fraction - (top - self.exponent);
        let magnitude = if left >= 0 {
            // At most 25 bits above a significand of 24.
            self.significand << left.min(39)
        } else {
            self.significand.checked_shr(left.unsigned_abs()).unwrap_or(0)
        };
        if self.negative { -(magnitude as i64) } else { magnitude as i64 }
    }
}

/// The sum of exact products and the accumulator, as the hardware makes it in one step.
fn add_up(products: &[Number], c: u32, accumulator: Accumulator) -> u32 {
    let format = accumulator.format();
    let signed =
        |negative: bool, bits: u64| (bits | if negative { format.sign() } else { 0 }) as u32;
    let mut infinite: Option<bool> = None;
    let mut top = i32::MIN;
    let terms = || products.iter().copied().chain([Number::read(format, c)]);
    for number in terms() {
        match number {
            Number::Nan => return accumulator.nan(),
            Number::Infinite { negative } => match infinite {
                Some(other) if other != negative => return accumulator.nan(),
                _ => infinite = Some(negative),
            },
            Number::Finite(term) if term.significand != 0 => top = top.max(term.exponent),
            Number::Finite(_) => {}
        }
    }
    if let Some(negative) = infinite {
        return signed(negative, format.infinity());
    }
    let aligned = terms().map(|number| match number {
        Number::Finite(term) if term.significand != 0 => term.aligned(top),
        _ => 0,
    });
    let sum: i64 = aligned.sum();
    // A zero has no sign, a sum that underflows neither (recorded).
    if sum == 0 {
        return 0;
    }
    let magnitude = sum.unsigned_abs();
    let exponent = top - FRACTION_BITS;
    // Too large a sum is infinite, although f32 is rounded towards zero (recorded).
    if 63 - magnitude.leading_zeros() as i32 + exponent > format.bias() {
        return signed(sum < 0, format.infinity());
    }
    let rounding = match accumulator {
        Accumulator::F16 => Rounding::NearestEven,
        Accumulator::F32 => Rounding::Zero,
    };
    let exact = Exact { negative: sum < 0, magnitude: magnitude.into(), exponent };
    let bits = format.round(exact, rounding, false);
    if bits & (format.sign() - 1) == 0 { 0 } else { bits as u32 }
}

/// `mma` with floating-point multiplicands of types `left` (A) and `right` (B), an element in the low bits of each number.
#[must_use]
pub fn multiply_float(
    shape: Shape,
    [left, right]: [Multiplicand; 2],
    accumulator: Accumulator,
    a: &[u32],
    b: &[u32],
    c: &[u32],
) -> Vec<u32> {
    let a: Vec<Number> = a.iter().map(|bits| left.read(*bits)).collect();
    let b: Vec<Number> = b.iter().map(|bits| right.read(*bits)).collect();
    let mut products = Vec::with_capacity(shape.k);
    let mut d = Vec::with_capacity(shape.m * shape.n);
    for row in a.chunks(shape.k.max(1)).take(shape.m) {
        for column in b.chunks(shape.k.max(1)).take(shape.n) {
            let c = c.get(d.len()).copied().unwrap_or_default();
            let mut step = |sum: u32, chosen: &dyn Fn(usize) -> bool| {
                let pairs = row.iter().zip(column).enumerate().filter(|(k, _)| chosen(*k));
                products.clear();
                products.extend(pairs.map(|(_, (a, b))| a.product(*b)));
                add_up(&products, sum, accumulator)
            };
            d.push(if left.bits() == 8 {
                // Two multiplications of f16, the first with the lower half of each register; C comes last (recorded).
                let lower = step(0, &|k| k % 4 < 2);
                accumulator.sum(c, step(lower, &|k| k % 4 >= 2))
            } else {
                step(c, &|_| true)
            });
        }
    }
    d
}

/// One of the four multiplications of `mma.m8n8k4` with f16 multiplicands. The hardware has no such instruction any more;
/// the assembler writes out f32 arithmetic (recorded).
#[must_use]
pub fn multiply_quad_pair(
    shape: Shape,
    from: Accumulator,
    to: Accumulator,
    a: &[u32],
    b: &[u32],
    c: &[u32],
) -> Vec<u32> {
    shape.each(a, b, c, |row, column, c| {
        let at =
            |numbers: &[u32], k: usize| half_to_f32(numbers.get(k).copied().unwrap_or_default());
        let c = match from {
            Accumulator::F16 => half_to_f32(c),
            Accumulator::F32 => f32::from_bits(c),
        };
        let chain = |sum: f32, k: usize| single::fma(at(row, k), at(column, k), sum);
        let product = |k: usize| single::mul(at(row, k), at(column, k));
        match to {
            Accumulator::F32 => {
                single::add(c, chain(chain(chain(chain(0.0, 0), 1), 2), 3)).to_bits()
            }
            Accumulator::F16 => {
                let (first, second) = (chain(product(0), 1), chain(product(2), 3));
                f32_to_half(single::add(single::add(c, first), second))
            }
        }
    })
}

fn half_to_f32(half: u32) -> f32 {
    let mode = ConvertMode::default();
    f32::from_bits(float_to_float(half.into(), FloatType::F16, FloatType::F32, mode) as u32)
}

fn f32_to_half(value: f32) -> u32 {
    let mode = ConvertMode::default();
    float_to_float(value.to_bits().into(), FloatType::F32, FloatType::F16, mode) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(multiplicand: Multiplicand, a: &[u32], b: &[u32], c: f32) -> f32 {
        let shape = Shape { m: 1, n: 1, k: a.len() };
        let both = [multiplicand, multiplicand];
        f32::from_bits(multiply_float(shape, both, Accumulator::F32, a, b, &[c.to_bits()])[0])
    }

    #[test]
    fn small_numbers_are_exact() {
        // 1, 2, 3, -4 and 0.5 in each type.
        for (multiplicand, numbers) in [
            (Multiplicand::F16, [0x3C00, 0x4000, 0x4200, 0xC400, 0x3800]),
            (Multiplicand::Bf16, [0x3F80, 0x4000, 0x4040, 0xC080, 0x3F00]),
            (Multiplicand::Tf32, [0x3F80_0000, 0x4000_0000, 0x4040_0000, 0xC080_0000, 0x3F00_0000]),
            (Multiplicand::E4m3, [0x38, 0x40, 0x44, 0xC8, 0x30]),
            (Multiplicand::E5m2, [0x3C, 0x40, 0x42, 0xC4, 0x38]),
        ] {
            let [one, two, three, minus_four, half] = numbers;
            let a = [one, two, three, minus_four];
            let b = [two, three, minus_four, half];
            assert_eq!(dot(multiplicand, &a, &b, 100.25), 100.25 + 2.0 + 6.0 - 12.0 - 2.0);
        }
    }

    #[test]
    fn what_lies_far_below_the_largest_term_is_cut_off() {
        let (one, tiny) = (0x3F80, 0x3F80 - (13 << 7)); // 1 and 2^-13
        // 2^-26 is below the 25 fraction bits of 1, however often it is added.
        assert_eq!(dot(Multiplicand::Bf16, &[tiny; 15], &[tiny; 15], 1.0), 1.0);
        assert_eq!(dot(Multiplicand::Bf16, &[one, tiny], &[one, tiny], -1.0), 0.0);
        // Without anything larger, nothing is lost.
        assert_eq!(dot(Multiplicand::Bf16, &[tiny], &[tiny], 0.0), 2f32.powi(-26));
    }

    #[test]
    fn f32_results_are_cut_off_too() {
        // 1 + 3 * 2^-25: nearest would be 1 + 2^-23.
        let (three, tiny) = (0x4040, 0x3F80 - (25 << 7));
        assert_eq!(dot(Multiplicand::Bf16, &[three], &[tiny], 1.0), 1.0);
    }

    #[test]
    fn infinities_and_nan() {
        let (one, infinity) = (0x3C00, 0x7C00);
        let f16 = Multiplicand::F16;
        assert_eq!(dot(f16, &[infinity], &[one], 1.0), f32::INFINITY);
        assert_eq!(dot(f16, &[infinity], &[one], f32::NEG_INFINITY).to_bits(), 0x7FFF_FFFF);
        assert_eq!(dot(f16, &[infinity], &[0], 0.0).to_bits(), 0x7FFF_FFFF);
        assert_eq!(dot(f16, &[0x7E01], &[0], 0.0).to_bits(), 0x7FFF_FFFF);
        assert_eq!(dot(Multiplicand::Bf16, &[0x7F00], &[0x7F00], 0.0), f32::INFINITY);
    }
}
