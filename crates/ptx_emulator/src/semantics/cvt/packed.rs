//! `cvt` to packed pairs, to `.tf32` and to and from 8-bit floats, and `cvt.pack`.

use super::super::half::{CANONICAL_NAN, halfwise};
use super::super::rounding::{Exact, Format, Rounding};
use super::{ConvertMode, FloatType, float_to_float};

/// `cvt.{rn,rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b`: `a` becomes the **upper** half.
#[must_use]
pub fn pack_halves(a: u32, b: u32, to: FloatType, mode: ConvertMode) -> u32 {
    let half = |x: u32| float_to_float(u64::from(x), FloatType::F32, to, mode) as u32;
    half(a) << 16 | half(b)
}

/// `cvt.{rn,rz}{.relu}{.satfinite}.tf32.f32` and `cvt.rna{.satfinite}.tf32.f32`; the lower 13 bits of the result are 0.
///
/// `.rna` works on the bits, without a look at NaN: `0x7f800001` becomes infinity, and with `.satfinite` everything
/// from infinity on becomes the number below it (recorded).
#[must_use]
pub fn f32_to_tf32(a: u32, rounding: Rounding, relu: bool, satfinite: bool) -> u32 {
    const UNUSED: u32 = 0x1fff;
    let limit = |bits: u32| {
        if satfinite && bits & 0x7fff_ffff == 0x7f80_0000 {
            bits & 0x8000_0000 | 0x7f7f_e000
        } else {
            bits
        }
    };
    if rounding == Rounding::NearestAway {
        return rna_tf32(a, satfinite);
    }
    if f32::from_bits(a).is_nan() {
        return 0x7fff_e000;
    }
    let result = if a & 0x7fff_ffff == 0x7f80_0000 {
        a
    } else {
        (Format::TF32.round(Format::F32.decompose(u64::from(a)), rounding, false) as u32)
            << UNUSED.count_ones()
    };
    if relu && result >> 31 != 0 { 0 } else { limit(result) }
}

/// The bit arithmetic of `cvt.rna.tf32.f32`.
fn rna_tf32(a: u32, satfinite: bool) -> u32 {
    // The addition stops at the largest magnitude instead of running into the sign.
    let magnitude = ((a & 0x7fff_ffff) + 0x1000).min(0x7fff_ffff) & !0x1fff;
    let magnitude =
        if satfinite && magnitude >= 0x7f80_0000 { magnitude - 0x2000 } else { magnitude };
    a & 0x8000_0000 | magnitude
}

/// An 8-bit float format of a packed pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float8 {
    /// `.e4m3`: no infinity, the largest number is 448, one NaN per sign.
    E4m3,
    /// `.e5m2`: the layout of f16 cut to 8 bits, the largest number is 57344.
    E5m2,
}

impl Float8 {
    /// The format that the PTX type of a pair names, `e4m3x2` or `e5m2x2`.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "e4m3x2" => Self::E4m3,
            "e5m2x2" => Self::E5m2,
            _ => return None,
        })
    }

    /// `.rn.satfinite{.relu}`: rounds a number of some format; NaN gives 0x7f, overflow the largest number.
    fn encode(self, a: u64, from: Format, relu: bool) -> u8 {
        if from.is_nan(a) {
            return 0x7f;
        }
        let negative = a & from.sign() != 0;
        if relu && negative {
            return 0;
        }
        let magnitude = Exact { negative: false, ..from.decompose(a) };
        let infinite = from.is_infinite(a);
        let bits = match self {
            Self::E5m2 if infinite => 0x7b,
            Self::E5m2 => {
                Format::E5M2.round(magnitude, Rounding::NearestEven, false).min(0x7b) as u8
            }
            Self::E4m3 if infinite => 0x7e,
            Self::E4m3 => Self::e4m3(magnitude),
        };
        bits | u8::from(negative) << 7
    }

    /// e4m3 keeps the top exponent for numbers, so that the rounding of the IEEE layouts does not fit it.
    fn e4m3(value: Exact) -> u8 {
        if value.magnitude == 0 {
            return 0;
        }
        let top = 127 - value.magnitude.leading_zeros() as i32 + value.exponent;
        if top > 8 {
            return 0x7e;
        }
        let mut power = top.max(-6);
        let mut digits = value.rounded_at(power - 3, Rounding::NearestEven);
        if digits > 15 {
            digits >>= 1;
            power += 1;
        }
        if digits < 8 {
            return digits as u8;
        }
        (((power + 7) as i64) << 3 | (digits as i64 - 8)).min(0x7e) as u8
    }

    /// The exact value as f16 bits; NaN gives the canonical NaN.
    pub(crate) fn decode(self, bits: u8) -> u16 {
        let sign = u16::from(bits & 0x80) << 8;
        let magnitude = bits & 0x7f;
        match self {
            Self::E5m2 if magnitude > 0x7c => CANONICAL_NAN,
            Self::E5m2 => u16::from(bits) << 8,
            Self::E4m3 if magnitude == 0x7f => CANONICAL_NAN,
            Self::E4m3 => {
                let (exponent, mantissa) = (magnitude >> 3, u128::from(magnitude & 7));
                let exact = if exponent == 0 {
                    Exact { negative: false, magnitude: mantissa, exponent: -9 }
                } else {
                    Exact {
                        negative: false,
                        magnitude: 8 + mantissa,
                        exponent: i32::from(exponent) - 10,
                    }
                };
                sign | Format::F16.round(exact, Rounding::NearestEven, false) as u16
            }
        }
    }
}

/// `cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f32 d, a, b`: `a` becomes the **upper** byte.
#[must_use]
pub fn pack_float8_f32(a: u32, b: u32, to: Float8, relu: bool) -> u16 {
    let byte = |x: u32| u16::from(to.encode(u64::from(x), Format::F32, relu));
    byte(a) << 8 | byte(b)
}

/// `cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f16x2`, half by byte.
#[must_use]
pub fn pack_float8_f16x2(a: u32, to: Float8, relu: bool) -> u16 {
    let byte = |x: u32| u16::from(to.encode(u64::from(x & 0xffff), Format::F16, relu));
    byte(a >> 16) << 8 | byte(a)
}

/// `cvt.rn{.relu}.f16x2.{e4m3x2,e5m2x2}`, byte by half.
#[must_use]
pub fn unpack_float8_f16x2(a: u16, from: Float8, relu: bool) -> u32 {
    halfwise(u32::from(a & 0xff) | u32::from(a >> 8) << 16, |byte| {
        let half = from.decode(byte as u8);
        if relu && half >> 15 != 0 { 0 } else { half }
    })
}

/// `cvt.pack.sat.{u16,s16,u8,s8,u4,s4,u2,s2}.s32{.b32} d, a, b{, c}`.
///
/// `a` and `b` are clamped to `bits` wide integers and put beside each other, `a` above `b`. With `c` (the `.b32` form) the rest
/// of the result is `c` shifted up, otherwise 0.
#[must_use]
pub const fn cvt_pack(a: i32, b: i32, c: u32, bits: u32, signed: bool) -> u32 {
    let (low, high) = if signed {
        (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    let mask = (1u64 << bits) - 1;
    let clamped = [a as i64, b as i64];
    let mut packed = [0u64; 2];
    let mut index = 0;
    while index < 2 {
        let value = clamped[index];
        let value = if value < low {
            low
        } else if value > high {
            high
        } else {
            value
        };
        packed[index] = value as u64 & mask;
        index += 1;
    }
    (packed[0] << bits | packed[1] | (c as u64) << (2 * bits)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf32_ties_away_on_the_bits() {
        assert_eq!(f32_to_tf32(0x3f80_1000, Rounding::NearestAway, false, false), 0x3f80_2000);
        assert_eq!(f32_to_tf32(0x3f80_1000, Rounding::NearestEven, false, false), 0x3f80_0000);
        assert_eq!(f32_to_tf32(0x7f80_0001, Rounding::NearestAway, false, false), 0x7f80_0000);
        assert_eq!(f32_to_tf32(0x7f80_0001, Rounding::NearestAway, false, true), 0x7f7f_e000);
        assert_eq!(f32_to_tf32(0xffe1_2345, Rounding::NearestAway, false, true), 0xffe1_0000);
        assert_eq!(f32_to_tf32(0xffff_ffff, Rounding::NearestAway, false, false), 0xffff_e000);
        assert_eq!(f32_to_tf32(0xffc0_0000, Rounding::Zero, true, false), 0x7fff_e000);
        assert_eq!(f32_to_tf32(0xbf80_0000, Rounding::NearestEven, true, false), 0);
    }

    #[test]
    fn eight_bit_floats() {
        let pack = |x: f32, to| pack_float8_f32(0, x.to_bits(), to, false) as u8;
        assert_eq!(pack(448.0, Float8::E4m3), 0x7e);
        assert_eq!(pack(1e30, Float8::E4m3), 0x7e);
        assert_eq!(pack(f32::NEG_INFINITY, Float8::E5m2), 0xfb);
        assert_eq!(pack(f32::NAN, Float8::E5m2), 0x7f);
        assert_eq!(pack(2f32.powi(-9), Float8::E4m3), 1);
        assert_eq!(pack(2f32.powi(-10), Float8::E4m3), 0);
        // Every finite byte survives the way to f16 and back.
        for format in [Float8::E4m3, Float8::E5m2] {
            for byte in 0..=0xffu8 {
                let half = format.decode(byte);
                if Format::F16.is_nan(u64::from(half)) || Format::F16.is_infinite(u64::from(half)) {
                    continue;
                }
                assert_eq!(
                    format.encode(u64::from(half), Format::F16, false),
                    byte,
                    "{format:?} {byte:02x}"
                );
            }
        }
        assert_eq!(unpack_float8_f16x2(0xb8_38, Float8::E4m3, true), 0x0000_3c00);
    }

    #[test]
    fn packing_saturates_each_half() {
        assert_eq!(cvt_pack(70_000, -70_000, 0, 16, true), 0x7fff_8000);
        assert_eq!(cvt_pack(300, -1, 0xabcd, 8, false), 0xabcd_ff00);
        assert_eq!(cvt_pack(-9, 9, 1, 4, true), 0x187);
        assert_eq!(cvt_pack(3, 1, 0, 2, false), 0xd);
    }
}
