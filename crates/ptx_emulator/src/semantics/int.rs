//! Integer arithmetic (PTX ISA, sections "Integer Arithmetic Instructions" and
//! "Extended-Precision Integer Arithmetic Instructions"; the carry chain itself is in [`super::carry`]).
//!
//! All results wrap unless the instruction has `.sat`. `u16`, `i16`, … stand for `.u16`, `.s16`, ….

/// Functions that every width and signedness has.
macro_rules! integer {
    ($ty:ty, $wide:ty, $name:literal, $add:ident, $sub:ident, $mul_lo:ident, $mul_hi:ident, $mad_lo:ident, $mad_hi:ident,
     $sad:ident, $div:ident, $rem:ident, $min:ident, $max:ident) => {
        #[doc = concat!("`add", $name, "`: `a + b`.")]
        #[inline]
        #[must_use]
        pub const fn $add(a: $ty, b: $ty) -> $ty {
            a.wrapping_add(b)
        }

        #[doc = concat!("`sub", $name, "`: `a - b`.")]
        #[inline]
        #[must_use]
        pub const fn $sub(a: $ty, b: $ty) -> $ty {
            a.wrapping_sub(b)
        }

        #[doc = concat!("`mul.lo", $name, "`: the lower half of the product.")]
        #[inline]
        #[must_use]
        pub const fn $mul_lo(a: $ty, b: $ty) -> $ty {
            a.wrapping_mul(b)
        }

        #[doc = concat!("`mul.hi", $name, "`: the upper half of the product.")]
        #[inline]
        #[must_use]
        pub const fn $mul_hi(a: $ty, b: $ty) -> $ty {
            ((a as $wide * b as $wide) >> <$ty>::BITS) as $ty
        }

        #[doc = concat!("`mad.lo", $name, "`: the lower half of `a * b`, plus `c`.")]
        #[inline]
        #[must_use]
        pub const fn $mad_lo(a: $ty, b: $ty, c: $ty) -> $ty {
            a.wrapping_mul(b).wrapping_add(c)
        }

        #[doc = concat!("`mad.hi", $name, "`: the upper half of `a * b`, plus `c`.")]
        #[inline]
        #[must_use]
        pub const fn $mad_hi(a: $ty, b: $ty, c: $ty) -> $ty {
            $mul_hi(a, b).wrapping_add(c)
        }

        #[doc = concat!("`sad", $name, "`: `c + |a - b|`.")]
        #[inline]
        #[must_use]
        pub const fn $sad(a: $ty, b: $ty, c: $ty) -> $ty {
            c.wrapping_add(a.abs_diff(b) as $ty)
        }

        #[doc = concat!("`div", $name, "`: the quotient, rounded towards zero. Division by zero gives all ones")]
        /// (the ISA leaves it open; recorded), the smallest number by -1 wraps to itself.
        #[inline]
        #[must_use]
        pub const fn $div(a: $ty, b: $ty) -> $ty {
            if b == 0 { !0 } else { a.wrapping_div(b) }
        }

        #[doc = concat!("`rem", $name, "`: the remainder, with the sign of `a`. Division by zero gives all ones too")]
        /// (not the dividend; recorded).
        #[inline]
        #[must_use]
        pub const fn $rem(a: $ty, b: $ty) -> $ty {
            if b == 0 { !0 } else { a.wrapping_rem(b) }
        }

        #[doc = concat!("`min", $name, "`.")]
        #[inline]
        #[must_use]
        pub const fn $min(a: $ty, b: $ty) -> $ty {
            if a < b { a } else { b }
        }

        #[doc = concat!("`max", $name, "`.")]
        #[inline]
        #[must_use]
        pub const fn $max(a: $ty, b: $ty) -> $ty {
            if a > b { a } else { b }
        }
    };
}

integer!(
    u16, u32, ".u16", add_u16, sub_u16, mul_lo_u16, mul_hi_u16, mad_lo_u16, mad_hi_u16, sad_u16,
    div_u16, rem_u16, min_u16, max_u16
);
integer!(
    i16, i32, ".s16", add_s16, sub_s16, mul_lo_s16, mul_hi_s16, mad_lo_s16, mad_hi_s16, sad_s16,
    div_s16, rem_s16, min_s16, max_s16
);
integer!(
    u32, u64, ".u32", add_u32, sub_u32, mul_lo_u32, mul_hi_u32, mad_lo_u32, mad_hi_u32, sad_u32,
    div_u32, rem_u32, min_u32, max_u32
);
integer!(
    i32, i64, ".s32", add_s32, sub_s32, mul_lo_s32, mul_hi_s32, mad_lo_s32, mad_hi_s32, sad_s32,
    div_s32, rem_s32, min_s32, max_s32
);
integer!(
    u64, u128, ".u64", add_u64, sub_u64, mul_lo_u64, mul_hi_u64, mad_lo_u64, mad_hi_u64, sad_u64,
    div_u64, rem_u64, min_u64, max_u64
);
integer!(
    i64, i128, ".s64", add_s64, sub_s64, mul_lo_s64, mul_hi_s64, mad_lo_s64, mad_hi_s64, sad_s64,
    div_s64, rem_s64, min_s64, max_s64
);

/// Products twice as wide as their operands.
macro_rules! wide {
    ($ty:ty, $wide:ty, $name:literal, $mul_wide:ident, $mad_wide:ident) => {
        #[doc = concat!("`mul.wide", $name, "`: the whole product, twice as wide.")]
        #[inline]
        #[must_use]
        pub const fn $mul_wide(a: $ty, b: $ty) -> $wide {
            a as $wide * b as $wide
        }

        #[doc = concat!("`mad.wide", $name, "`: the whole product plus `c`, twice as wide.")]
        #[inline]
        #[must_use]
        pub const fn $mad_wide(a: $ty, b: $ty, c: $wide) -> $wide {
            (a as $wide * b as $wide).wrapping_add(c)
        }
    };
}

wide!(u16, u32, ".u16", mul_wide_u16, mad_wide_u16);
wide!(i16, i32, ".s16", mul_wide_s16, mad_wide_s16);
wide!(u32, u64, ".u32", mul_wide_u32, mad_wide_u32);
wide!(i32, i64, ".s32", mul_wide_s32, mad_wide_s32);

/// Sign changes.
macro_rules! signed {
    ($ty:ty, $name:literal, $abs:ident, $neg:ident) => {
        #[doc = concat!("`abs", $name, "`: the magnitude; the smallest number stays itself.")]
        #[inline]
        #[must_use]
        pub const fn $abs(a: $ty) -> $ty {
            a.wrapping_abs()
        }

        #[doc = concat!("`neg", $name, "`: `-a`; the smallest number stays itself.")]
        #[inline]
        #[must_use]
        pub const fn $neg(a: $ty) -> $ty {
            a.wrapping_neg()
        }
    };
}

signed!(i16, ".s16", abs_s16, neg_s16);
signed!(i32, ".s32", abs_s32, neg_s32);
signed!(i64, ".s64", abs_s64, neg_s64);

/// `add.sat.s32`: the sum, clamped to the range of `.s32`.
#[inline]
#[must_use]
pub const fn add_sat_s32(a: i32, b: i32) -> i32 {
    a.saturating_add(b)
}

/// `sub.sat.s32`: the difference, clamped to the range of `.s32`.
#[inline]
#[must_use]
pub const fn sub_sat_s32(a: i32, b: i32) -> i32 {
    a.saturating_sub(b)
}

/// `mad.hi.sat.s32`: the upper half of `a * b`, plus `c`, clamped.
#[inline]
#[must_use]
pub const fn mad_hi_sat_s32(a: i32, b: i32, c: i32) -> i32 {
    mul_hi_s32(a, b).saturating_add(c)
}

/// `min.relu.s32`: the smaller operand, 0 when that is negative.
#[inline]
#[must_use]
pub const fn min_relu_s32(a: i32, b: i32) -> i32 {
    max_s32(min_s32(a, b), 0)
}

/// `max.relu.s32`: the larger operand, 0 when that is negative.
#[inline]
#[must_use]
pub const fn max_relu_s32(a: i32, b: i32) -> i32 {
    max_s32(max_s32(a, b), 0)
}

/// The 48-bit product of the low 24 bits of each operand, unsigned.
#[inline]
const fn product24_u32(a: u32, b: u32) -> u64 {
    (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64
}

/// The 48-bit product of the low 24 bits of each operand, sign-extended.
#[inline]
const fn product24_s32(a: i32, b: i32) -> i64 {
    (a << 8 >> 8) as i64 * (b << 8 >> 8) as i64
}

/// `mul24.lo.u32`: bits 31 … 0 of the product of the low 24 bits.
#[inline]
#[must_use]
pub const fn mul24_lo_u32(a: u32, b: u32) -> u32 {
    product24_u32(a, b) as u32
}

/// `mul24.lo.s32`: bits 31 … 0 of the product of the sign-extended low 24 bits.
#[inline]
#[must_use]
pub const fn mul24_lo_s32(a: i32, b: i32) -> i32 {
    product24_s32(a, b) as i32
}

/// `mul24.hi.u32`: bits 47 … 16 of the product of the low 24 bits.
#[inline]
#[must_use]
pub const fn mul24_hi_u32(a: u32, b: u32) -> u32 {
    (product24_u32(a, b) >> 16) as u32
}

/// `mul24.hi.s32`: bits 47 … 16 of the product of the sign-extended low 24 bits.
#[inline]
#[must_use]
pub const fn mul24_hi_s32(a: i32, b: i32) -> i32 {
    (product24_s32(a, b) >> 16) as i32
}

/// `mad24.lo.u32`: [`mul24_lo_u32`] plus `c`.
#[inline]
#[must_use]
pub const fn mad24_lo_u32(a: u32, b: u32, c: u32) -> u32 {
    mul24_lo_u32(a, b).wrapping_add(c)
}

/// `mad24.lo.s32`: [`mul24_lo_s32`] plus `c`.
#[inline]
#[must_use]
pub const fn mad24_lo_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_lo_s32(a, b).wrapping_add(c)
}

/// `mad24.hi.u32`: [`mul24_hi_u32`] plus `c`.
#[inline]
#[must_use]
pub const fn mad24_hi_u32(a: u32, b: u32, c: u32) -> u32 {
    mul24_hi_u32(a, b).wrapping_add(c)
}

/// `mad24.hi.s32`: [`mul24_hi_s32`] plus `c`.
#[inline]
#[must_use]
pub const fn mad24_hi_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_hi_s32(a, b).wrapping_add(c)
}

/// `mad24.hi.sat.s32`: [`mul24_hi_s32`] plus `c`, clamped.
#[inline]
#[must_use]
pub const fn mad24_hi_sat_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_hi_s32(a, b).saturating_add(c)
}

/// Both 16-bit halves of a 32-bit register.
#[inline]
const fn halves(a: u32) -> (u16, u16) {
    (a as u16, (a >> 16) as u16)
}

/// A register from its low and high half.
#[inline]
const fn joined(low: u16, high: u16) -> u32 {
    low as u32 | (high as u32) << 16
}

/// Instructions on two packed 16-bit numbers.
macro_rules! packed {
    ($name:ident, $ptx:literal, $ty:ty, |$a:ident, $b:ident| $value:expr) => {
        #[doc = concat!("`", $ptx, "`, half by half.")]
        #[inline]
        #[must_use]
        pub const fn $name(a: u32, b: u32) -> u32 {
            const fn half($a: $ty, $b: $ty) -> $ty {
                $value
            }
            let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
            joined(
                half(a_low as $ty, b_low as $ty) as u16,
                half(a_high as $ty, b_high as $ty) as u16,
            )
        }
    };
}

packed!(add_u16x2, "add.u16x2", u16, |a, b| a.wrapping_add(b));
packed!(add_s16x2, "add.s16x2", i16, |a, b| a.wrapping_add(b));
packed!(min_u16x2, "min.u16x2", u16, |a, b| min_u16(a, b));
packed!(min_s16x2, "min.s16x2", i16, |a, b| min_s16(a, b));
packed!(max_u16x2, "max.u16x2", u16, |a, b| max_u16(a, b));
packed!(max_s16x2, "max.s16x2", i16, |a, b| max_s16(a, b));
packed!(min_relu_s16x2, "min.relu.s16x2", i16, |a, b| max_s16(min_s16(a, b), 0));
packed!(max_relu_s16x2, "max.relu.s16x2", i16, |a, b| max_s16(max_s16(a, b), 0));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_zero_gives_all_ones_in_quotient_and_remainder() {
        assert_eq!(div_u16(5, 0), 0xffff);
        assert_eq!(rem_u16(5, 0), 0xffff);
        assert_eq!(div_s32(-7, 0), -1);
        assert_eq!(rem_s32(-7, 0), -1);
        assert_eq!(rem_u64(7, 0), u64::MAX);
        assert_eq!(div_s64(0, 0), -1);
    }

    #[test]
    fn the_smallest_number_wraps() {
        assert_eq!(div_s32(i32::MIN, -1), i32::MIN);
        assert_eq!(rem_s32(i32::MIN, -1), 0);
        assert_eq!(div_s16(i16::MIN, -1), i16::MIN);
        assert_eq!(abs_s64(i64::MIN), i64::MIN);
        assert_eq!(neg_s16(i16::MIN), i16::MIN);
    }

    #[test]
    fn division_truncates_and_the_remainder_has_the_sign_of_the_dividend() {
        assert_eq!((div_s32(-7, 2), rem_s32(-7, 2)), (-3, -1));
        assert_eq!((div_s32(7, -2), rem_s32(7, -2)), (-3, 1));
    }

    #[test]
    fn upper_halves_of_products() {
        assert_eq!(mul_hi_u64(u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(mul_hi_s64(i64::MIN, i64::MIN), 1 << 62);
        assert_eq!(mul_hi_s32(-1, 1), -1);
        assert_eq!(mul_hi_u16(0xffff, 0xffff), 0xfffe);
        assert_eq!(mul_wide_s16(-32768, -32768), 1 << 30);
        assert_eq!(mad_wide_u32(u32::MAX, u32::MAX, u64::MAX), 0xffff_fffe_0000_0000);
    }

    #[test]
    fn saturation_clamps_only_the_sum() {
        assert_eq!(mad_hi_sat_s32(i32::MIN, i32::MIN, i32::MAX), i32::MAX);
        assert_eq!(mad_hi_s32(i32::MIN, i32::MIN, i32::MAX), i32::MAX.wrapping_add(1 << 30));
        assert_eq!(sub_sat_s32(i32::MIN, 1), i32::MIN);
    }

    #[test]
    fn twenty_four_bit_products_ignore_the_upper_byte() {
        assert_eq!(mul24_lo_u32(0xff00_0003, 5), 15);
        assert_eq!(mul24_lo_s32(0x00ff_ffff, 5), -5);
        assert_eq!(mul24_hi_s32(0x0080_0000, 0x0080_0000), 1 << 30);
        assert_eq!(mul24_hi_u32(0xffff_ffff, 0xffff_ffff), 0xffff_fe00);
    }

    #[test]
    fn sum_of_absolute_differences_survives_extremes() {
        assert_eq!(sad_s16(i16::MIN, i16::MAX, 1), 0);
        assert_eq!(sad_u64(0, u64::MAX, 0), u64::MAX);
        assert_eq!(sad_s32(-5, 7, 100), 112);
    }

    #[test]
    fn packed_halves_do_not_carry_into_each_other() {
        assert_eq!(add_u16x2(0x0001_ffff, 0x0001_0001), 0x0002_0000);
        assert_eq!(min_s16x2(0x8000_0001, 0x0000_ffff), 0x8000_ffff);
        assert_eq!(max_u16x2(0x8000_0001, 0x0000_ffff), 0x8000_ffff);
        assert_eq!(min_relu_s16x2(0x8000_0003, 0x0000_0005), 0x0000_0003);
    }
}
