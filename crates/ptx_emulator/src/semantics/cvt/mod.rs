//! Conversions (PTX ISA, sections "Data Movement and Conversion Instructions: `cvt`" and "`cvt.pack`").
//!
//! Values travel in the low bits of a `u64`; the types say how many bits count. An integer result is extended to
//! 64 bits as its signedness asks, so that its low bits are right for a wider destination register too.
//! Packed pairs and the formats that are no register type of their own are in the `packed` file.

mod packed;

use super::half::{Bf16, Clamp, F16, HalfFormat};
use super::rounding::{Exact, Format, Rounding, narrow};

pub use packed::{
    Float8, cvt_pack, f32_to_tf32, pack_float8_f16x2, pack_float8_f32, pack_halves,
    unpack_float8_f16x2,
};

/// An integer type of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntType {
    /// `.u8`
    U8,
    /// `.s8`
    S8,
    /// `.u16`
    U16,
    /// `.s16`
    S16,
    /// `.u32`
    U32,
    /// `.s32`
    S32,
    /// `.u64`
    U64,
    /// `.s64`
    S64,
}

impl IntType {
    /// The type that a PTX modifier names, without its dot.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "u8" => Self::U8,
            "s8" => Self::S8,
            "u16" => Self::U16,
            "s16" => Self::S16,
            "u32" => Self::U32,
            "s32" => Self::S32,
            "u64" => Self::U64,
            "s64" => Self::S64,
            _ => return None,
        })
    }

    /// Its width, bits.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 => 16,
            Self::U32 | Self::S32 => 32,
            Self::U64 | Self::S64 => 64,
        }
    }

    /// Whether it has a sign.
    #[inline]
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// The value that the low bits stand for, extended to 64 bits.
    #[inline]
    #[must_use]
    pub const fn extend(self, bits: u64) -> u64 {
        let unused = 64 - self.bits();
        if self.is_signed() {
            ((bits << unused) as i64 >> unused) as u64
        } else {
            bits << unused >> unused
        }
    }

    /// The smallest and the largest value.
    #[inline]
    const fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// The value as a number.
    #[inline]
    const fn number(self, bits: u64) -> i128 {
        let extended = self.extend(bits);
        if self.is_signed() { extended as i64 as i128 } else { extended as i128 }
    }
}

/// A floating-point type of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatType {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
}

impl FloatType {
    /// The type that a PTX modifier names, without its dot.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// Its layout.
    #[inline]
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::Bf16 => Format::BF16,
            Self::F32 => Format::F32,
            Self::F64 => Format::F64,
        }
    }

    /// Its width, bits.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// The value as `f64`, exact; a NaN gives some NaN.
    #[inline]
    fn widen(self, bits: u64) -> f64 {
        match self {
            Self::F16 => f64::from(F16::widen(bits as u16)),
            Self::Bf16 => f64::from(Bf16::widen(bits as u16)),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }

    /// The bits that count.
    #[inline]
    const fn truncate(self, bits: u64) -> u64 {
        bits << (64 - self.bits()) >> (64 - self.bits())
    }
}

/// `cvt{.sat}` between integers: the low bits, or with `.sat` the nearest value of the destination.
#[inline]
#[must_use]
pub const fn int_to_int(a: u64, from: IntType, to: IntType, sat: bool) -> u64 {
    if !sat {
        return to.extend(from.extend(a));
    }
    let number = from.number(a);
    let (low, high) = to.range();
    (if number < low {
        low
    } else if number > high {
        high
    } else {
        number
    }) as u64
}

/// `cvt.{rn,rz,rm,rp}{.sat}` from an integer to a float, rounded once.
#[inline]
#[must_use]
pub fn int_to_float(a: u64, from: IntType, to: FloatType, rounding: Rounding, sat: bool) -> u64 {
    let extended = from.extend(a);
    let number = from.number(a);
    if rounding == Rounding::NearestEven && !sat {
        // Rust's casts round to nearest even too, once.
        match (to, from.is_signed()) {
            (FloatType::F32, true) => return u64::from((extended as i64 as f32).to_bits()),
            (FloatType::F32, false) => return u64::from((extended as f32).to_bits()),
            (FloatType::F64, true) => return (extended as i64 as f64).to_bits(),
            (FloatType::F64, false) => return (extended as f64).to_bits(),
            _ => {}
        }
    }
    let exact = Exact { negative: number < 0, magnitude: number.unsigned_abs(), exponent: 0 };
    let result = to.format().round(exact, rounding, false);
    if sat { to.format().saturate(result) } else { result }
}

/// Rounds to an integral value, zero keeping its sign.
#[inline]
fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// `cvt.{rni,rzi,rmi,rpi}{.ftz}{.sat}` from a float to an integer.
///
/// Out of range clamps, with and without `.sat`. NaN gives 0, but `100…0` from f64 or into 64 bits, unsigned
/// types included (PTX ISA, `cvt`; recorded).
#[inline]
#[must_use]
pub fn float_to_int(a: u64, from: FloatType, to: IntType, rounding: Rounding, ftz: bool) -> u64 {
    let a = from.truncate(a);
    let a = if ftz && from == FloatType::F32 { from.format().flush(a) } else { a };
    let value = from.widen(a);
    if value.is_nan() {
        let indefinite = from == FloatType::F64 || to.bits() == 64;
        return if indefinite { to.extend(1 << (to.bits() - 1)) } else { 0 };
    }
    // The casts below round towards zero by themselves.
    let value = if rounding == Rounding::Zero { value } else { integral(value, rounding) };
    let (low, high) = to.range();
    // Rust's casts saturate; the clamp then applies the narrower range.
    if to.is_signed() {
        (value as i64).clamp(low as i64, high as i64) as u64
    } else {
        (value as u64).min(high as u64)
    }
}

/// The qualifiers of a conversion between floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ConvertMode {
    /// The rounding of `.rn`, `.rz`, `.rm`, `.rp` or of `.rni`, `.rzi`, `.rmi`, `.rpi`; any for an exact conversion.
    pub rounding: Rounding,
    /// The rounding is one of `.rni` …: to an integral value, source and destination of one type.
    pub integral: bool,
    /// `.ftz`.
    pub ftz: bool,
    /// `.sat` or `.relu`.
    pub clamp: Clamp,
    /// `.satfinite`: overflow gives the largest finite number; NaN stays.
    pub satfinite: bool,
}

/// What a NaN becomes (recorded).
fn convert_nan(a: u64, from: FloatType, to: FloatType, mode: ConvertMode) -> u64 {
    use FloatType::{Bf16, F16, F32, F64};
    if mode.clamp == Clamp::Saturate {
        return 0;
    }
    let move_only = from == to && !mode.integral && !mode.ftz;
    let sign = a >> (from.bits() - 1) << (to.bits() - 1);
    match (from, to) {
        // cvt.f32.f32 and cvt.f64.f64 are plain moves.
        (F32, F32) | (F64, F64) if move_only => a,
        (F64, F64) => a | 1 << 51,
        // A shift: signalling NaNs stay signalling.
        (Bf16, F32) if !mode.ftz => a << 16,
        (F16 | Bf16 | F32, F64) if mode.ftz => 0x7fff_ffff_e000_0000,
        (F16 | Bf16 | F32, F64) => {
            let mantissa_bits = from.format().mantissa_bits;
            let payload = (a & ((1 << mantissa_bits) - 1)) << (52 - mantissa_bits);
            sign | 0x7ff8 << 48 | payload
        }
        (F64, F16 | Bf16 | F32) => {
            let format = to.format();
            let payload = (a & ((1 << 52) - 1)) >> (52 - format.mantissa_bits);
            sign | format.infinity() | 1 << (format.mantissa_bits - 1) | payload
        }
        _ => to.format().sign() - 1,
    }
}

/// `cvt` between floats, including the rounding to integral values.
#[inline]
#[must_use]
pub fn float_to_float(a: u64, from: FloatType, to: FloatType, mode: ConvertMode) -> u64 {
    let (source, target) = (from.format(), to.format());
    let a = from.truncate(a);
    if source.is_nan(a) {
        return convert_nan(a, from, to, mode);
    }
    if mode == ConvertMode::default() {
        let value = from.widen(a);
        return match to {
            FloatType::F64 => value.to_bits(),
            FloatType::F32 => u64::from((value as f32).to_bits()),
            FloatType::F16 | FloatType::Bf16 => narrow(target, value, Rounding::NearestEven, false),
        };
    }
    // cvt.ftz.f16.f32 keeps its subnormal inputs (seen with .rm and .rp).
    let a = if mode.ftz && from == FloatType::F32 && to != FloatType::F16 {
        source.flush(a)
    } else {
        a
    };
    let negative = a & source.sign() != 0;
    let mut result = if source.is_infinite(a) {
        target.infinity() | if negative { target.sign() } else { 0 }
    } else if mode.integral {
        // The integral value of a format is a number of that format.
        target.round(
            Format::F64.decompose(integral(from.widen(a), mode.rounding).to_bits()),
            Rounding::NearestEven,
            false,
        )
    } else {
        target.round(source.decompose(a), mode.rounding, mode.ftz && to == FloatType::F32)
    };
    if mode.clamp == Clamp::Relu && result & target.sign() != 0 {
        result = 0;
    }
    if mode.satfinite && target.is_infinite(result) {
        result -= 1;
    }
    if mode.clamp == Clamp::Saturate { target.saturate(result) } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ConvertMode = ConvertMode {
        rounding: Rounding::NearestEven,
        integral: false,
        ftz: false,
        clamp: Clamp::None,
        satfinite: false,
    };

    fn f32_to(a: f32, to: IntType, rounding: Rounding) -> u64 {
        float_to_int(u64::from(a.to_bits()), FloatType::F32, to, rounding, false)
    }

    #[test]
    fn nan_to_integer_depends_on_both_types() {
        let (nan32, nan64) = (u64::from(f32::NAN.to_bits()), f64::NAN.to_bits());
        let rz = Rounding::Zero;
        assert_eq!(float_to_int(nan32, FloatType::F32, IntType::U32, rz, false), 0);
        assert_eq!(float_to_int(nan32, FloatType::F32, IntType::S8, rz, false), 0);
        assert_eq!(float_to_int(nan32, FloatType::F32, IntType::U64, rz, false), 1 << 63);
        assert_eq!(float_to_int(0x7e00, FloatType::F16, IntType::S64, rz, false), 1 << 63);
        assert_eq!(float_to_int(nan64, FloatType::F64, IntType::U8, rz, false), 0x80);
        assert_eq!(float_to_int(nan64, FloatType::F64, IntType::S8, rz, false) as u32, 0xffff_ff80);
        assert_eq!(float_to_int(nan64, FloatType::F64, IntType::U32, rz, false), 0x8000_0000);
    }

    #[test]
    fn floats_out_of_range_clamp() {
        assert_eq!(f32_to(-1.5, IntType::U32, Rounding::Zero), 0);
        assert_eq!(f32_to(3e9, IntType::S32, Rounding::Zero), 0x7fff_ffff);
        assert_eq!(f32_to(f32::NEG_INFINITY, IntType::S64, Rounding::Zero), 1 << 63);
        assert_eq!(f32_to(300.0, IntType::U8, Rounding::Zero), 255);
        assert_eq!(f32_to(-300.0, IntType::S8, Rounding::Zero) as i64, -128);
        assert_eq!(f32_to(f32::INFINITY, IntType::U64, Rounding::Up), u64::MAX);
    }

    #[test]
    fn roundings_to_integers() {
        for (value, rni, rzi, rmi, rpi) in [
            (0.5f32, 0i64, 0, 0, 1),
            (1.5, 2, 1, 1, 2),
            (2.5, 2, 2, 2, 3),
            (-0.5, 0, 0, -1, 0),
            (-1.5, -2, -1, -2, -1),
        ] {
            for (rounding, expected) in [
                (Rounding::NearestEven, rni),
                (Rounding::Zero, rzi),
                (Rounding::Down, rmi),
                (Rounding::Up, rpi),
            ] {
                assert_eq!(
                    f32_to(value, IntType::S32, rounding) as i64,
                    expected,
                    "{value} {rounding:?}"
                );
            }
        }
        let rni = ConvertMode { integral: true, ..PLAIN };
        assert_eq!(
            float_to_float(u64::from((-0.4f32).to_bits()), FloatType::F32, FloatType::F32, rni),
            0x8000_0000
        );
    }

    #[test]
    fn integers_round_once() {
        // 2^53 + 2^29 + 1 is above a tie of f32; through f64 it would be the tie itself.
        let a = (1u64 << 53) + (1 << 29) + 1;
        assert_eq!(
            int_to_float(a, IntType::U64, FloatType::F32, Rounding::NearestEven, false),
            u64::from((a as f32).to_bits())
        );
        assert_eq!(
            int_to_float(u64::MAX, IntType::U64, FloatType::F64, Rounding::Zero, false),
            (u64::MAX as f64).to_bits() - 1
        );
        assert_eq!(
            int_to_float(70_000, IntType::U32, FloatType::F16, Rounding::NearestEven, false),
            0x7c00
        );
        assert_eq!(
            int_to_float(70_000, IntType::U32, FloatType::F16, Rounding::Zero, false),
            0x7bff
        );
        assert_eq!(
            int_to_float(0xff, IntType::S8, FloatType::F32, Rounding::NearestEven, false),
            u64::from((-1f32).to_bits())
        );
        assert_eq!(int_to_float(0xff, IntType::S8, FloatType::F32, Rounding::NearestEven, true), 0);
    }

    #[test]
    fn integers_narrow_or_saturate() {
        assert_eq!(int_to_int(0x1_80, IntType::U32, IntType::S8, false) as i64, -128);
        assert_eq!(int_to_int(0x180, IntType::U32, IntType::S8, true), 127);
        assert_eq!(int_to_int(u64::MAX, IntType::S64, IntType::U16, true), 0);
        assert_eq!(int_to_int(0xffff_ffff, IntType::S32, IntType::U64, false), u64::MAX);
    }

    #[test]
    fn nan_payloads_between_floats() {
        use FloatType::{Bf16, F16, F32, F64};
        assert_eq!(float_to_float(0xfff0_0000_2000_0000, F64, F32, PLAIN), 0xffc0_0001);
        assert_eq!(float_to_float(0xff80_0001, F32, F64, PLAIN), 0xfff8_0000_2000_0000);
        assert_eq!(float_to_float(0xff80_0001, F32, F16, PLAIN), 0x7fff);
        assert_eq!(float_to_float(0xff80_0001, F32, F32, PLAIN), 0xff80_0001);
        assert_eq!(float_to_float(0xff81, Bf16, F32, PLAIN), 0xff81_0000);
        assert_eq!(float_to_float(0xfc01, F16, F32, PLAIN), 0x7fff_ffff);
        assert_eq!(
            float_to_float(0xff80_0001, F32, F64, ConvertMode { ftz: true, ..PLAIN }),
            0x7fff_ffff_e000_0000
        );
        assert_eq!(
            float_to_float(0xff80_0001, F32, F32, ConvertMode { clamp: Clamp::Saturate, ..PLAIN }),
            0
        );
    }

    #[test]
    fn f64_to_half_rounds_once() {
        // Just above a tie of f16 by less than f32 can tell.
        let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(float_to_float(value.to_bits(), FloatType::F64, FloatType::F16, PLAIN), 0x3c01);
        let satfinite = ConvertMode { satfinite: true, ..PLAIN };
        assert_eq!(
            float_to_float(u64::from(1e9f32.to_bits()), FloatType::F32, FloatType::F16, satfinite),
            0x7bff
        );
        assert_eq!(
            pack_halves(2f32.to_bits(), 1f32.to_bits(), FloatType::Bf16, PLAIN),
            0x4000_3f80
        );
    }
}
