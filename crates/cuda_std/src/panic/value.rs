//! One value of a message, as `core::fmt` would show it.

use core::mem::MaybeUninit;

use super::float;
use super::message::{Module, Pair, Reader};
use super::tag::{Tag, by, kind, ty};
use super::text::Text;

/// What follows the colon in `{…:…}`, as `core::fmt::FormattingOptions` keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) flags: u32,
    /// Characters; 0 if there is none.
    pub(super) width: usize,
    /// Digits behind the point or characters, if the flags say that there is a precision.
    pub(super) precision: usize,
}

/// Bits of [`Options::flags`].
pub(super) mod flag {
    /// A character.
    pub const FILL: u32 = 0x1F_FFFF;
    pub const PLUS: u32 = 1 << 21;
    pub const ALTERNATE: u32 = 1 << 23;
    pub const ZERO: u32 = 1 << 24;
    pub const DEBUG_LOWER_HEX: u32 = 1 << 25;
    pub const DEBUG_UPPER_HEX: u32 = 1 << 26;
    pub const PRECISION: u32 = 1 << 28;
    pub const ALIGN_SHIFT: u32 = 29;
}

/// Where a value stands in its width; two bits of [`Options::flags`].
mod align {
    pub const LEFT: u32 = 0;
    pub const RIGHT: u32 = 1;
    pub const CENTER: u32 = 2;
    pub const UNSET: u32 = 3;
}

impl Options {
    /// `{}`.
    pub(super) const NONE: Self =
        Self { flags: b' ' as u32 | align::UNSET << flag::ALIGN_SHIFT, width: 0, precision: 0 };

    #[inline(always)]
    pub(super) const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Writes the value that was read.
///
/// # Safety
///
/// There is a value of the tag's type at its address.
#[inline(always)]
pub(super) unsafe fn write<M: Module>(out: &mut Text, reader: &Reader) {
    let Reader { value, tag, ref options, .. } = *reader;
    let is = |of: usize, needed: u32| M::has(needed) && tag.ty() == of;
    out.begin();
    // SAFETY: the caller's promise, for all of them.
    unsafe {
        if is(ty::CHAR, kind::CHAR) {
            let character = *(value as *const u32);
            if M::has(kind::QUOTED) && tag.by() == by::DEBUG {
                quote(out, &raw const character as *const u8, 0, b'\'');
                return;
            }
            let end = out.len();
            out.insert(end, 1, character);
            pad_text::<M>(out, options);
        } else if is(ty::STR, kind::STR) {
            let [text, len] = *(value as *const Pair);
            if M::has(kind::QUOTED) && tag.by() == by::DEBUG {
                quote(out, text as *const u8, len, b'"');
                return;
            }
            out.push(text as *const u8, len);
            pad_text::<M>(out, options);
        } else if is(ty::BOOL, kind::WORD) {
            out.push_str(if *(value as *const bool) { "true" } else { "false" });
            pad_text::<M>(out, options);
        } else if is(ty::UNIT, kind::WORD) {
            out.push_str("()");
            pad_text::<M>(out, options);
        } else if M::has(kind::FLOAT) && tag.ty() & 0xF0 == ty::FLOAT {
            float::write(out, value, tag, options);
            pad::<M>(out, options);
        } else if M::has(kind::WIDE_INTEGER) && tag.ty() & 0xF == 4 && tag.ty() < ty::FLOAT {
            wide_integer(out, value, tag, options);
            pad::<M>(out, options);
        } else if is(ty::POINTER, kind::RADIX) {
            let mut options = *options;
            if options.has(flag::ALTERNATE) {
                options.flags |= flag::ZERO;
                if options.width == 0 {
                    options.width = 2 + 2 * size_of::<usize>();
                }
            }
            options.flags |= flag::ALTERNATE;
            let tag = Tag((ty::UNSIGNED + 3) | (by::LOWER_HEX << 8));
            integer::<M>(out, value, tag, &options);
            pad::<M>(out, &options);
        } else if M::has(kind::INTEGER) {
            integer::<M>(out, value, tag, options);
            pad::<M>(out, options);
        }
    }
}

/// Bits of a digit, 0 for decimal ones.
#[inline(always)]
fn digit_bits(tag: Tag, options: &Options) -> u32 {
    let by = match tag.by() {
        by::DEBUG if options.has(flag::DEBUG_LOWER_HEX | flag::DEBUG_UPPER_HEX) => by::LOWER_HEX,
        by => by,
    };
    match by {
        by::LOWER_HEX | by::UPPER_HEX => 4,
        by::OCTAL => 3,
        by::BINARY => 1,
        _ => 0,
    }
}

/// What is added to digits beyond 9.
#[inline(always)]
fn letters(tag: Tag, options: &Options) -> u8 {
    let debug_upper = tag.by() == by::DEBUG && options.has(flag::DEBUG_UPPER_HEX);
    if tag.by() == by::UPPER_HEX || debug_upper { b'A' - 10 } else { b'a' - 10 }
}

/// Sign and `0x` of an integer.
#[inline(always)]
fn write_sign(out: &mut Text, is_negative: bool, bits: u32, options: &Options) {
    if is_negative {
        out.push_byte(b'-');
    } else if options.has(flag::PLUS) {
        out.push_byte(b'+');
    }
    if bits != 0 && options.has(flag::ALTERNATE) {
        out.push_byte(b'0');
        out.push_byte(match bits {
            4 => b'x',
            3 => b'o',
            _ => b'b',
        });
    }
    out.begin_body();
}

/// An integer of at most 64 bits.
///
/// # Safety
///
/// There is one of the tag's type at `at`.
#[inline(always)]
unsafe fn integer<M: Module>(out: &mut Text, at: usize, tag: Tag, options: &Options) {
    // SAFETY: the caller's promise.
    let mut value = unsafe { load(at, tag) };
    let bits = if M::has(kind::RADIX) { digit_bits(tag, options) } else { 0 };
    let is_negative = bits == 0 && tag.ty() & ty::SIGNED != 0 && (value as i64) < 0;
    if is_negative {
        value = value.wrapping_neg();
    } else if bits != 0 {
        // The bits of the type.
        value &= u64::MAX >> (64 - (8 << (tag.ty() & 0xF)));
    }
    if M::has(kind::OPTION | kind::RADIX) {
        write_sign(out, is_negative, bits, options);
    } else if is_negative {
        out.push_byte(b'-');
    }
    if bits == 0 { decimal(out, value) } else { radix(out, value, bits, letters(tag, options)) }
}

/// The integer at `at`, with the sign of its type.
///
/// # Safety
///
/// There is one of the tag's type, of at most 64 bits.
#[inline(never)]
unsafe fn load(at: usize, tag: Tag) -> u64 {
    // From its bytes, the highest first.
    let mut left = 1_usize << (tag.ty() & 0xF);
    let mut value = 0;
    if tag.ty() & ty::SIGNED != 0 {
        // SAFETY: the caller's promise.
        value = unsafe { i64::from(*(at as *const i8).add(left - 1) >> 7) } as u64;
    }
    while left > 0 {
        left -= 1;
        // SAFETY: the caller's promise.
        value = value << 8 | u64::from(unsafe { *(at as *const u8).add(left) });
    }
    value
}

/// A number in decimal digits.
#[inline(never)]
pub(super) fn decimal(out: &mut Text, value: u64) {
    let mut digits = [MaybeUninit::<u8>::uninit(); 20];
    let start = digits.as_mut_ptr().cast::<u8>();
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        // SAFETY: there are at most 20 digits.
        unsafe { *start.add(at) = b'0' + (rest % 10) as u8 };
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    // SAFETY: they have been written.
    unsafe { out.push(start.add(at), digits.len() - at) };
}

/// A number in digits of so many bits; `letters` is added to those beyond 9.
#[inline(never)]
fn radix(out: &mut Text, value: u64, bits: u32, letters: u8) {
    let mut shift = 0;
    while shift + bits < 64 && value >> (shift + bits) != 0 {
        shift += bits;
    }
    loop {
        let digit = (value >> shift) as u8 & ((1 << bits) - 1);
        out.push_byte(digit + if digit < 10 { b'0' } else { letters });
        if shift == 0 {
            return;
        }
        shift -= bits;
    }
}

/// An integer of 128 bits.
///
/// # Safety
///
/// There is one at `at`.
#[inline(never)]
unsafe fn wide_integer(out: &mut Text, at: usize, tag: Tag, options: &Options) {
    // SAFETY: the caller's promise.
    let mut value = unsafe { *(at as *const u128) };
    let bits = digit_bits(tag, options);
    let is_negative = bits == 0 && tag.ty() & ty::SIGNED != 0 && (value as i128) < 0;
    if is_negative {
        value = value.wrapping_neg();
    }
    write_sign(out, is_negative, bits, options);
    let letters = letters(tag, options);
    let mut digits = [MaybeUninit::<u8>::uninit(); 128];
    let start = digits.as_mut_ptr().cast::<u8>();
    let mut first = digits.len();
    let mut limbs =
        [value as u32, (value >> 32) as u32, (value >> 64) as u32, (value >> 96) as u32];
    let limb = limbs.as_mut_ptr();
    loop {
        let (mut rest, mut all) = (0, 0);
        let mut index = 4;
        while index > 0 {
            index -= 1;
            // SAFETY: there are four.
            unsafe {
                let with_rest = u64::from(rest) << 32 | u64::from(*limb.add(index));
                // Division by a power of two is a shift, and by the constant 10 a multiplication.
                (*limb.add(index), rest) = if bits == 0 {
                    ((with_rest / 10) as u32, (with_rest % 10) as u32)
                } else {
                    ((with_rest >> bits) as u32, with_rest as u32 & ((1 << bits) - 1))
                };
                all |= *limb.add(index);
            }
        }
        first -= 1;
        let digit = rest as u8 + if rest < 10 { b'0' } else { letters };
        // SAFETY: there are at most 128 digits.
        unsafe { *start.add(first) = digit };
        if all == 0 {
            break;
        }
    }
    // SAFETY: they have been written.
    unsafe { out.push(start.add(first), digits.len() - first) };
}

/// Cuts to the precision and fills up to the width: as texts, which stand left.
#[inline(always)]
fn pad_text<M: Module>(out: &mut Text, options: &Options) {
    if M::has(kind::OPTION) {
        if options.has(flag::PRECISION) {
            out.keep_characters(options.precision);
        }
        fill(out, options, align::LEFT);
    }
}

/// Fills up to the width: zeros behind the sign, or as numbers, which stand right.
#[inline(always)]
fn pad<M: Module>(out: &mut Text, options: &Options) {
    if M::has(kind::OPTION | kind::RADIX) {
        fill(out, options, align::RIGHT);
    }
}

/// Fills the value up to the width.
#[inline(never)]
fn fill(out: &mut Text, options: &Options, usual: u32) {
    // Zero, if there is none.
    let missing = options.width.saturating_sub(out.characters());
    if missing == 0 {
        return;
    }
    let (mut at, mut before, mut character) = (out.start(), missing, options.flags & flag::FILL);
    if usual == align::RIGHT && options.has(flag::ZERO) {
        (at, character) = (out.body(), u32::from(b'0'));
    } else {
        match options.flags >> flag::ALIGN_SHIFT & 3 {
            align::UNSET if usual == align::RIGHT => {}
            align::RIGHT => {}
            align::CENTER => before /= 2,
            _ => before = 0,
        }
    }
    out.insert(at, before, character);
    let end = out.len();
    out.insert(end, missing - before, character);
}

/// A text in quotes, with escapes; a character, which is 4 bytes, if `len` is 0 and the quote a single one.
///
/// # Safety
///
/// `len` bytes of UTF-8, or a character, can be read at `text`.
#[inline(never)]
unsafe fn quote(out: &mut Text, text: *const u8, len: usize, quote: u8) {
    out.push_byte(quote);
    let mut index = 0;
    let is_char = quote == b'\'';
    while index < len || is_char && index == 0 {
        // SAFETY: less than `len`, or a character.
        let character =
            unsafe { if is_char { *text.cast::<u32>() } else { u32::from(*text.add(index)) } };
        index += 1;
        let letter = match character {
            0 => b'0',
            0x09 => b't',
            0x0A => b'n',
            0x0D => b'r',
            0x5C => b'\\',
            other if other == u32::from(quote) => quote,
            0x01..0x20 | 0x7F => b'u',
            other => {
                // Of a text's characters that take more than a byte, each byte by itself.
                if is_char {
                    let end = out.len();
                    out.insert(end, 1, other);
                } else {
                    out.push_byte(other as u8);
                }
                continue;
            }
        };
        out.push_byte(b'\\');
        out.push_byte(letter);
        if letter == b'u' {
            out.push_byte(b'{');
            radix(out, u64::from(character), 4, b'a' - 10);
            out.push_byte(b'}');
        }
    }
    out.push_byte(quote);
}
