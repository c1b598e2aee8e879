//! The carry chain: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc` (PTX ISA, section
//! "Extended-Precision Integer Arithmetic Instructions").
//!
//! There is one flag, `CC.CF`, per thread: the carry out of the adder. Subtraction adds the complement, so
//! `sub.cc` sets the flag to *not borrow* and `subc` computes `a + !b + CC` (recorded). A chain that mixes
//! `sub.cc` with `addc` therefore sees the inverted sense.
//!
//! Each function takes the incoming flag and returns the result and the flag; an instruction
//! without `.cc` drops the flag. Instructions that read no flag are these with a constant: `add.cc` is
//! [`addc_u32`] with `false`, `sub.cc` is [`subc_u32`] with `true`. Signed forms give the same bits.

macro_rules! carry {
    ($ty:ty, $name:literal, $addc:ident, $subc:ident, $madc_lo:ident) => {
        #[doc = concat!("`addc{.cc}", $name, "`: `a + b + carry`.")]
        #[inline]
        #[must_use]
        pub const fn $addc(a: $ty, b: $ty, carry: bool) -> ($ty, bool) {
            let (partial, first) = a.overflowing_add(b);
            let (sum, second) = partial.overflowing_add(carry as $ty);
            (sum, first | second)
        }

        #[doc = concat!("`subc{.cc}", $name, "`: `a + !b + carry`; a set flag means no borrow.")]
        #[inline]
        #[must_use]
        pub const fn $subc(a: $ty, b: $ty, carry: bool) -> ($ty, bool) {
            $addc(a, !b, carry)
        }

        #[doc = concat!("`madc.lo{.cc}", $name, "`: the lower half of `a * b`, plus `c` and the carry.")]
        #[inline]
        #[must_use]
        pub const fn $madc_lo(a: $ty, b: $ty, c: $ty, carry: bool) -> ($ty, bool) {
            $addc(a.wrapping_mul(b), c, carry)
        }
    };
}

carry!(u32, ".u32", addc_u32, subc_u32, madc_lo_u32);
carry!(u64, ".u64", addc_u64, subc_u64, madc_lo_u64);

/// `madc.hi{.cc}.u32`: the upper half of `a * b`, plus `c` and the carry.
#[inline]
#[must_use]
pub const fn madc_hi_u32(a: u32, b: u32, c: u32, carry: bool) -> (u32, bool) {
    addc_u32(super::int::mul_hi_u32(a, b), c, carry)
}

/// `madc.hi{.cc}.s32`: the upper half of the signed `a * b`, plus `c` and the carry.
#[inline]
#[must_use]
pub const fn madc_hi_s32(a: u32, b: u32, c: u32, carry: bool) -> (u32, bool) {
    addc_u32(super::int::mul_hi_s32(a as i32, b as i32) as u32, c, carry)
}

/// `madc.hi{.cc}.u64`: the upper half of `a * b`, plus `c` and the carry.
#[inline]
#[must_use]
pub const fn madc_hi_u64(a: u64, b: u64, c: u64, carry: bool) -> (u64, bool) {
    addc_u64(super::int::mul_hi_u64(a, b), c, carry)
}

/// `madc.hi{.cc}.s64`: the upper half of the signed `a * b`, plus `c` and the carry.
#[inline]
#[must_use]
pub const fn madc_hi_s64(a: u64, b: u64, c: u64, carry: bool) -> (u64, bool) {
    addc_u64(super::int::mul_hi_s64(a as i64, b as i64) as u64, c, carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_words_adds_like_a_wide_number() {
        for (a, b) in [(u128::MAX, 1), (u64::MAX as u128, 1), (1 << 127, 1 << 127), (12345, 67890)]
        {
            let (low, carry) = addc_u64(a as u64, b as u64, false);
            let (high, _) = addc_u64((a >> 64) as u64, (b >> 64) as u64, carry);
            assert_eq!((high as u128) << 64 | low as u128, a.wrapping_add(b));
            let (low, carry) = subc_u64(a as u64, b as u64, true);
            let (high, _) = subc_u64((a >> 64) as u64, (b >> 64) as u64, carry);
            assert_eq!((high as u128) << 64 | low as u128, a.wrapping_sub(b));
        }
    }

    #[test]
    fn subtraction_sets_the_flag_when_nothing_is_borrowed() {
        assert_eq!(subc_u32(5, 3, true), (2, true));
        assert_eq!(subc_u32(3, 5, true), (0xffff_fffe, false));
        assert_eq!(subc_u32(3, 3, true), (0, true));
    }

    #[test]
    fn both_additions_can_carry() {
        assert_eq!(addc_u32(u32::MAX, u32::MAX, true), (u32::MAX, true));
        assert_eq!(addc_u32(u32::MAX, 0, true), (0, true));
        assert_eq!(madc_hi_s32(u32::MAX, 1, 1, true), (1, true));
        assert_eq!(madc_hi_u32(u32::MAX, 1, 1, true), (2, false));
    }
}
