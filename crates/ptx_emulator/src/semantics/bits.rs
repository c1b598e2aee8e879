//! Shifts, bit fields, bit counting, byte permutation and dot products (PTX ISA, sections
//! "Logic and Shift Instructions", "Integer Arithmetic Instructions" and "Data Movement: `prmt`").

/// Shifts clamp their amount, which is always 32 bits wide: the width or more shifts everything out.
macro_rules! shifts {
    ($unsigned:ty, $signed:ty, $width:literal, $shl:ident, $shr_u:ident, $shr_s:ident) => {
        #[doc = concat!("`shl.b", $width, "`: left, 0 when `amount` is ", $width, " or more.")]
        #[inline]
        #[must_use]
        pub const fn $shl(a: $unsigned, amount: u32) -> $unsigned {
            if amount < <$unsigned>::BITS { a << (amount % <$unsigned>::BITS) } else { 0 }
        }

        #[doc = concat!("`shr.u", $width, "`, `shr.b", $width, "`: right, 0 when `amount` is ", $width, " or more.")]
        #[inline]
        #[must_use]
        pub const fn $shr_u(a: $unsigned, amount: u32) -> $unsigned {
            if amount < <$unsigned>::BITS { a >> (amount % <$unsigned>::BITS) } else { 0 }
        }

        #[doc = concat!("`shr.s", $width, "`: right with sign fill, all sign when `amount` is ", $width, " or more.")]
        #[inline]
        #[must_use]
        pub const fn $shr_s(a: $signed, amount: u32) -> $signed {
            a >> if amount < <$unsigned>::BITS { amount } else { <$unsigned>::BITS - 1 }
        }
    };
}

shifts!(u16, i16, "16", shl_b16, shr_u16, shr_s16);
shifts!(u32, i32, "32", shl_b32, shr_u32, shr_s32);
shifts!(u64, i64, "64", shl_b64, shr_u64, shr_s64);

/// The pair `b:a` that a funnel shift moves through.
#[inline]
const fn funnel(a: u32, b: u32) -> u64 {
    (b as u64) << 32 | a as u64
}

/// `shf.l.wrap.b32`: the upper word of `b:a` shifted left by the low 5 bits of `amount`.
#[inline]
#[must_use]
pub const fn shf_l_wrap(a: u32, b: u32, amount: u32) -> u32 {
    ((funnel(a, b) << (amount & 31)) >> 32) as u32
}

/// `shf.l.clamp.b32`: the upper word of `b:a` shifted left by `amount`, at most 32.
#[inline]
#[must_use]
pub const fn shf_l_clamp(a: u32, b: u32, amount: u32) -> u32 {
    ((funnel(a, b) << if amount < 32 { amount } else { 32 }) >> 32) as u32
}

/// `shf.r.wrap.b32`: the lower word of `b:a` shifted right by the low 5 bits of `amount`.
#[inline]
#[must_use]
pub const fn shf_r_wrap(a: u32, b: u32, amount: u32) -> u32 {
    (funnel(a, b) >> (amount & 31)) as u32
}

/// `shf.r.clamp.b32`: the lower word of `b:a` shifted right by `amount`, at most 32.
#[inline]
#[must_use]
pub const fn shf_r_clamp(a: u32, b: u32, amount: u32) -> u32 {
    (funnel(a, b) >> if amount < 32 { amount } else { 32 }) as u32
}

/// The lowest `length` bits set, all for 64 or more.
#[inline]
const fn low_mask(length: u32) -> u64 {
    if length < 64 { (1 << length) - 1 } else { u64::MAX }
}

/// The field of `length` bits at `position` of a number `width` bits wide. A signed field that
/// reaches past the top is filled with the top bit, as is everything above the field.
#[inline]
const fn extract(a: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let field = if position < width { a >> position } else { 0 };
    let available = width.saturating_sub(position);
    let kept = if length < available { length } else { available };
    let last = if position.saturating_add(length) < width {
        position.saturating_add(length)
    } else {
        width
    };
    let fill = signed && length > 0 && a >> (last - 1) & 1 != 0;
    field & low_mask(kept) | if fill { !low_mask(kept) } else { 0 }
}

/// `bfe.u32`: the bit field, zero-extended; position and length count modulo 256.
#[inline]
#[must_use]
pub const fn bfe_u32(a: u32, position: u32, length: u32) -> u32 {
    extract(a as u64, position & 255, length & 255, 32, false) as u32
}

/// `bfe.s32`: the bit field, sign-extended; position and length count modulo 256.
#[inline]
#[must_use]
pub const fn bfe_s32(a: u32, position: u32, length: u32) -> u32 {
    extract(a as u64, position & 255, length & 255, 32, true) as u32
}

/// `bfe.u64`: the bit field, zero-extended. Unlike in 32 bits, all of position and length counts (recorded).
#[inline]
#[must_use]
pub const fn bfe_u64(a: u64, position: u32, length: u32) -> u64 {
    extract(a, position, length, 64, false)
}

/// `bfe.s64`: the bit field, sign-extended. Unlike in 32 bits, all of position and length counts (recorded).
#[inline]
#[must_use]
pub const fn bfe_s64(a: u64, position: u32, length: u32) -> u64 {
    extract(a, position, length, 64, true)
}

/// `bfi.b64`: `b` with the low `length` bits of `a` at `position`. All of position and length counts (recorded).
#[inline]
#[must_use]
pub const fn bfi_b64(a: u64, b: u64, position: u32, length: u32) -> u64 {
    if position >= 64 {
        return b;
    }
    let mask = low_mask(length) << position;
    b & !mask | (a << position) & mask
}

/// `bfi.b32`: `b` with the low `length` bits of `a` at `position`; both count modulo 256.
#[inline]
#[must_use]
pub const fn bfi_b32(a: u32, b: u32, position: u32, length: u32) -> u32 {
    bfi_b64(a as u64, b as u64, position & 255, length & 255) as u32
}

/// Finding and counting bits.
macro_rules! counts {
    ($unsigned:ty, $signed:ty, $width:literal, $bfind_u:ident, $bfind_s:ident, $shiftamt_u:ident, $shiftamt_s:ident,
     $brev:ident, $clz:ident, $popc:ident) => {
        #[doc = concat!("`bfind.u", $width, "`: the position of the highest set bit, all ones for none.")]
        #[inline]
        #[must_use]
        pub const fn $bfind_u(a: $unsigned) -> u32 {
            (<$unsigned>::BITS - 1).wrapping_sub(a.leading_zeros())
        }

        #[doc = concat!("`bfind.s", $width, "`: the position of the highest bit that differs from the sign, all ones for none.")]
        #[inline]
        #[must_use]
        pub const fn $bfind_s(a: $signed) -> u32 {
            $bfind_u(a as $unsigned ^ (a >> (<$unsigned>::BITS - 1)) as $unsigned)
        }

        #[doc = concat!("`bfind.shiftamt.u", $width, "`: the left shift that brings the highest set bit to the top, all ones for none.")]
        #[inline]
        #[must_use]
        pub const fn $shiftamt_u(a: $unsigned) -> u32 {
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }

        #[doc = concat!("`bfind.shiftamt.s", $width, "`: the left shift that brings the bit found to the top, all ones for none.")]
        #[inline]
        #[must_use]
        pub const fn $shiftamt_s(a: $signed) -> u32 {
            $shiftamt_u(a as $unsigned ^ (a >> (<$unsigned>::BITS - 1)) as $unsigned)
        }

        #[doc = concat!("`brev.b", $width, "`: the bits in reverse order.")]
        #[inline]
        #[must_use]
        pub const fn $brev(a: $unsigned) -> $unsigned {
            a.reverse_bits()
        }

        #[doc = concat!("`clz.b", $width, "`: the number of leading zeros, ", $width, " for 0.")]
        #[inline]
        #[must_use]
        pub const fn $clz(a: $unsigned) -> u32 {
            a.leading_zeros()
        }

        #[doc = concat!("`popc.b", $width, "`: the number of set bits.")]
        #[inline]
        #[must_use]
        pub const fn $popc(a: $unsigned) -> u32 {
            a.count_ones()
        }
    };
}

counts!(
    u32,
    i32,
    "32",
    bfind_u32,
    bfind_s32,
    bfind_shiftamt_u32,
    bfind_shiftamt_s32,
    brev_b32,
    clz_b32,
    popc_b32
);
counts!(
    u64,
    i64,
    "64",
    bfind_u64,
    bfind_s64,
    bfind_shiftamt_u64,
    bfind_shiftamt_s64,
    brev_b64,
    clz_b64,
    popc_b64
);

/// `bmsk.clamp.b32`: `length` set bits from `position` on; both clamp to 32.
#[inline]
#[must_use]
pub const fn bmsk_clamp(position: u32, length: u32) -> u32 {
    let length = if length < 32 { length } else { 32 };
    shl_b32(low_mask(length) as u32, position)
}

/// `bmsk.wrap.b32`: `length` set bits from `position` on; both count modulo 32.
#[inline]
#[must_use]
pub const fn bmsk_wrap(position: u32, length: u32) -> u32 {
    (low_mask(length & 31) as u32) << (position & 31)
}

/// The low `length` bits of `a`, `length` at most 32, zero-extended.
#[inline]
const fn zero_extended(a: u32, length: u32) -> u32 {
    a & low_mask(length) as u32
}

/// The low `length` bits of `a`, `length` at most 32, sign-extended; 0 for none.
#[inline]
const fn sign_extended(a: u32, length: u32) -> u32 {
    if length == 0 { 0 } else { ((a << (32 - length)) as i32 >> (32 - length)) as u32 }
}

/// `szext.clamp.u32`: the low `amount` bits, zero-extended; `amount` clamps to 32.
#[inline]
#[must_use]
pub const fn szext_clamp_u32(a: u32, amount: u32) -> u32 {
    zero_extended(a, if amount < 32 { amount } else { 32 })
}

/// `szext.clamp.s32`: the low `amount` bits, sign-extended; `amount` clamps to 32.
#[inline]
#[must_use]
pub const fn szext_clamp_s32(a: u32, amount: u32) -> u32 {
    sign_extended(a, if amount < 32 { amount } else { 32 })
}

/// `szext.wrap.u32`: the low `amount` modulo 32 bits, zero-extended.
#[inline]
#[must_use]
pub const fn szext_wrap_u32(a: u32, amount: u32) -> u32 {
    zero_extended(a, amount & 31)
}

/// `szext.wrap.s32`: the low `amount` modulo 32 bits, sign-extended.
#[inline]
#[must_use]
pub const fn szext_wrap_s32(a: u32, amount: u32) -> u32 {
    sign_extended(a, amount & 31)
}

/// `fns.b32`: the position of the n-th set bit of `mask` at or above `base` (below it for a negative `offset`),
/// all ones for none. Offset 0 tests the bit at `base` only.
#[must_use]
pub const fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let mut left = if offset == 0 { 1 } else { offset.unsigned_abs() };
    let mut position = base;
    while position < 32 {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position;
            }
        }
        if offset == 0 {
            break;
        }
        // Below 0 the position wraps to a large number, which ends the search.
        position = if offset > 0 { position + 1 } else { position.wrapping_sub(1) };
    }
    u32::MAX
}

/// `lop3.b32`: the bitwise function of three operands whose truth table is `table`.
#[inline]
#[must_use]
pub const fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    /// The table's bit, spread over a word.
    const fn spread(table: u8, index: u32) -> u32 {
        0u32.wrapping_sub((table >> index & 1) as u32)
    }
    !a & (!b & (!c & spread(table, 0) | c & spread(table, 1))
        | b & (!c & spread(table, 2) | c & spread(table, 3)))
        | a & (!b & (!c & spread(table, 4) | c & spread(table, 5))
            | b & (!c & spread(table, 6) | c & spread(table, 7)))
}

/// `prmt.b32`: four bytes chosen from `b:a` by the nibbles of `selector`; bit 3 of a nibble takes the
/// byte's sign instead.
#[inline]
#[must_use]
pub const fn prmt(a: u32, b: u32, selector: u32) -> u32 {
    let pair = funnel(a, b);
    let mut result = 0;
    let mut index = 0;
    while index < 4 {
        let nibble = selector >> (4 * index) & 15;
        let byte = (pair >> (8 * (nibble & 7))) as u8;
        let chosen = if nibble & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        result |= (chosen as u32) << (8 * index);
        index += 1;
    }
    result
}

/// The special modes of `prmt` (PTX ISA, section "`prmt`").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermuteMode {
    /// `.f4e`: four bytes forward from the selected one.
    Forward4,
    /// `.b4e`: four bytes backward from the selected one.
    Backward4,
    /// `.rc8`: the selected byte four times.
    Replicate8,
    /// `.ecl`: edge clamp left.
    EdgeClampLeft,
    /// `.ecr`: edge clamp right.
    EdgeClampRight,
    /// `.rc16`: the selected half word twice.
    Replicate16,
}

impl PermuteMode {
    /// The mode that a PTX modifier names, without its dot.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "f4e" => Self::Forward4,
            "b4e" => Self::Backward4,
            "rc8" => Self::Replicate8,
            "ecl" => Self::EdgeClampLeft,
            "ecr" => Self::EdgeClampRight,
            "rc16" => Self::Replicate16,
            _ => return None,
        })
    }

    /// The selector of plain `prmt` that does the same, for each value of the low two bits of the control operand.
    const fn selectors(self) -> [u32; 4] {
        match self {
            Self::Forward4 => [0x3210, 0x4321, 0x5432, 0x6543],
            Self::Backward4 => [0x5670, 0x6701, 0x7012, 0x0123],
            Self::Replicate8 => [0x0000, 0x1111, 0x2222, 0x3333],
            Self::EdgeClampLeft => [0x3210, 0x3211, 0x3222, 0x3333],
            Self::EdgeClampRight => [0x0000, 0x1110, 0x2210, 0x3210],
            Self::Replicate16 => [0x1010, 0x3232, 0x1010, 0x3232],
        }
    }
}

/// `prmt.b32.f4e` and the other special modes: only the low two bits of `control` count.
#[inline]
#[must_use]
pub const fn prmt_mode(a: u32, b: u32, control: u32, mode: PermuteMode) -> u32 {
    prmt(a, b, mode.selectors()[(control & 3) as usize])
}

/// Byte `index` of `a`, sign-extended when `signed`.
#[inline]
const fn byte(a: u32, index: u32, signed: bool) -> u32 {
    let byte = (a >> (8 * index)) as u8;
    if signed { byte as i8 as u32 } else { byte as u32 }
}

/// `dp4a`: `c` plus the four products of the bytes of `a` and `b`; each operand's bytes are signed or not.
#[inline]
#[must_use]
pub const fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c;
    let mut index = 0;
    while index < 4 {
        sum = sum.wrapping_add(byte(a, index, a_signed).wrapping_mul(byte(b, index, b_signed)));
        index += 1;
    }
    sum
}

/// `dp2a.lo` and `dp2a.hi`: `c` plus the two products of the halves of `a` and the lower or, when `high`,
/// upper two bytes of `b`.
#[inline]
#[must_use]
pub const fn dp2a(a: u32, b: u32, c: u32, high: bool, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c;
    let mut index = 0;
    while index < 2 {
        let half = (a >> (16 * index)) as u16;
        let half = if a_signed { half as i16 as u32 } else { half as u32 };
        sum = sum.wrapping_add(half.wrapping_mul(byte(b, index + 2 * high as u32, b_signed)));
        index += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_amounts_clamp() {
        assert_eq!(shl_b32(1, 31), 1 << 31);
        assert_eq!(shl_b32(1, 32), 0);
        assert_eq!(shl_b64(1, 0x8000_0000), 0);
        assert_eq!(shr_s16(-2, 16), -1);
        assert_eq!(shr_s64(i64::MIN, u32::MAX), -1);
        assert_eq!(shr_u16(0xffff, 16), 0);
    }

    #[test]
    fn funnel_shifts_at_their_limits() {
        let (a, b) = (0x89ab_cdef, 0x0123_4567);
        assert_eq!(shf_l_clamp(a, b, 32), a);
        assert_eq!(shf_l_clamp(a, b, u32::MAX), a);
        assert_eq!(shf_l_wrap(a, b, 32), b);
        assert_eq!(shf_r_clamp(a, b, 33), b);
        assert_eq!(shf_r_wrap(a, b, 33), a >> 1 | b << 31);
    }

    #[test]
    fn fields_in_32_bits_count_modulo_256_but_not_in_64() {
        assert_eq!(bfe_u32(0xffff_ffff, 256, 257), 1);
        assert_eq!(bfe_u64(u64::MAX, 0, 256), u64::MAX);
        assert_eq!(bfe_u64(u64::MAX, 256, 1), 0);
        assert_eq!(bfi_b64(u64::MAX, 0, 256, 1), 0);
        assert_eq!(bfi_b32(1, 0, 256, 1), 1);
    }

    #[test]
    fn signed_fields_past_the_top_take_the_top_bit() {
        assert_eq!(bfe_s32(0x8000_0000, 31, 1), u32::MAX);
        assert_eq!(bfe_s32(0x8000_0000, 40, 8), u32::MAX);
        assert_eq!(bfe_s32(0x8000_0000, 40, 0), 0);
        assert_eq!(bfe_s64(0x7fff_ffff_ffff_ffff, 60, 8), 7);
        assert_eq!(bfe_s64(u64::MAX, u32::MAX, u32::MAX), u64::MAX);
    }

    #[test]
    fn found_bits() {
        assert_eq!(bfind_u32(0), u32::MAX);
        assert_eq!(bfind_s32(-1), u32::MAX);
        assert_eq!(bfind_s64(i64::MIN), 62);
        assert_eq!(bfind_shiftamt_u64(1), 63);
        assert_eq!(bfind_shiftamt_s32(0), u32::MAX);
        assert_eq!((clz_b64(0), popc_b32(u32::MAX), brev_b32(1)), (64, 32, 1 << 31));
    }

    #[test]
    fn masks_and_extensions() {
        assert_eq!(bmsk_clamp(4, 33), 0xffff_fff0);
        assert_eq!(bmsk_clamp(32, 1), 0);
        assert_eq!(bmsk_wrap(33, 33), 2);
        assert_eq!(szext_clamp_s32(0xffff_ffff, 0), 0);
        assert_eq!(szext_clamp_s32(0x8000_0000, 32), 0x8000_0000);
        assert_eq!(szext_wrap_s32(0x8000_0001, 33), u32::MAX);
        assert_eq!(szext_wrap_u32(7, 34), 3);
    }

    #[test]
    fn nth_set_bit() {
        assert_eq!(fns(0xaaaa_aaaa, 0, 2), 3);
        assert_eq!(fns(0xaaaa_aaaa, 3, -2), 1);
        assert_eq!(fns(0xaaaa_aaaa, 3, 0), 3);
        assert_eq!(fns(0xaaaa_aaaa, 4, 0), u32::MAX);
        assert_eq!(fns(1, 32, 1), u32::MAX);
        assert_eq!(fns(1, 0, i32::MIN), u32::MAX);
    }

    #[test]
    fn truth_tables() {
        let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa);
        for table in 0..=255u8 {
            assert_eq!(lop3(a, b, c, table), u32::from(table) * 0x0101_0101);
        }
    }

    #[test]
    fn byte_permutation() {
        let (a, b) = (0x0383_8180, 0x0786_8504);
        assert_eq!(prmt(a, b, 0x3210), a);
        assert_eq!(prmt(a, b, 0x7654), b);
        assert_eq!(prmt(a, b, 0xba98), 0x00ff_ffff);
        assert_eq!(prmt_mode(a, b, 5, PermuteMode::Forward4), 0x0403_8381);
        assert_eq!(prmt_mode(a, b, 1, PermuteMode::Backward4), 0x8607_8081);
        assert_eq!(prmt_mode(a, b, 3, PermuteMode::Replicate16), 0x0383_0383);
    }

    #[test]
    fn dot_products() {
        assert_eq!(dp4a(0x0102_0304, 0x0101_0101, 5, false, false), 15);
        assert_eq!(dp4a(0xffff_ffff, 0x0101_0101, 0, true, false), -4i32 as u32);
        assert_eq!(dp2a(0xffff_0002, 0x0000_ff03, 0, false, true, true), 7);
        assert_eq!(dp2a(0xffff_0002, 0x0403_0000, 0, true, false, false), 0xffff * 4 + 6);
    }
}
