//! Decimal digits of floating-point numbers: the shortest that give the same number again, or as many as wanted, rounded to nearest,
//! even. Exact, with integers as long as it takes: Steele and White, "How to print floating-point numbers accurately" (1990), in the
//! form that Burger and Dybvig gave it (1996). Short and slow, as befits a kernel that is about to end.

use core::mem::MaybeUninit;

use super::tag::{Tag, by};
use super::text::Text;
use super::value::{Options, decimal, flag};

/// A binary interchange format of IEEE 754.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the significand, without the hidden one.
    significand_bits: u32,
    exponent_bits: u32,
}

const F32: Format = Format { significand_bits: 23, exponent_bits: 8 };
const F64: Format = Format { significand_bits: 52, exponent_bits: 11 };

/// 2^1074, times ten and two, and a limb for what is carried.
const LIMBS: usize = 36;

/// More digits than a text has room for.
const MOST_DIGITS: i32 = 1000;

/// A natural number, the lowest limb first.
struct Big {
    limbs: [u32; LIMBS],
}

impl Big {
    /// Becomes `value * 2^shift`.
    #[inline(never)]
    fn set(&mut self, value: u64, shift: u32) {
        self.limbs = [0; LIMBS];
        let limb = self.limbs.as_mut_ptr();
        let first = shift as usize / 32;
        let shift = shift % 32;
        let low = value << shift;
        let high = if shift == 0 { 0 } else { value >> (64 - shift) };
        // SAFETY: a shift is at most 1074, and values have 53 bits.
        unsafe {
            *limb.add(first) = low as u32;
            *limb.add(first + 1) = (low >> 32) as u32;
            *limb.add(first + 2) = high as u32;
        }
    }

    /// Times a small number.
    #[inline(never)]
    fn multiply(&mut self, factor: u32) {
        let limb = self.limbs.as_mut_ptr();
        let mut carry = 0;
        let mut index = 0;
        while index < LIMBS {
            // SAFETY: less than their number.
            unsafe {
                let product = u64::from(*limb.add(index)) * u64::from(factor) + carry;
                *limb.add(index) = product as u32;
                carry = product >> 32;
            }
            index += 1;
        }
    }

    /// Plus `sign` times another number, where `sign` is 1 or -1 and the result is natural.
    #[inline(never)]
    fn add(&mut self, other: &Self, sign: i64) {
        let (limb, others) = (self.limbs.as_mut_ptr(), other.limbs.as_ptr());
        let mut carry = 0;
        let mut index = 0;
        while index < LIMBS {
            // SAFETY: less than their number.
            unsafe {
                let sum =
                    i64::from(*limb.add(index)) + sign * i64::from(*others.add(index)) + carry;
                *limb.add(index) = sum as u32;
                carry = sum >> 32;
            }
            index += 1;
        }
    }

    /// Negative, zero or positive as this number is less, equal or greater.
    #[inline(never)]
    fn compare(&self, other: &Self) -> i32 {
        let (limb, others) = (self.limbs.as_ptr(), other.limbs.as_ptr());
        let mut index = LIMBS;
        while index > 0 {
            index -= 1;
            // SAFETY: less than their number.
            let (a, b) = unsafe { (*limb.add(index), *others.add(index)) };
            if a != b {
                return if a < b { -1 } else { 1 };
            }
        }
        0
    }
}

/// A number between 0 and infinity as a fraction that is scaled to lie between 1/10 and 1, of which digits are taken.
struct Digits {
    numerator: Big,
    denominator: Big,
    /// Half the distance to the next smaller number, in the numerator's unit.
    below: Big,
    /// Half the distance to the next larger number.
    above: Big,
    /// Whether the middle between two numbers is read as this one.
    is_even: bool,
    /// The number is 0.d₁d₂d₃… · 10^exponent.
    exponent: i32,
}

impl Digits {
    /// Becomes the number with these bits, which is finite and not 0, without its sign. `shortest` says which digits are wanted.
    #[inline(always)]
    fn set(&mut self, bits: u64, format: Format, shortest: bool) {
        let hidden = 1 << format.significand_bits;
        let fraction = bits & (hidden - 1);
        let exponent = (bits >> format.significand_bits) as i32;
        let significand = if exponent == 0 { fraction } else { fraction | hidden };
        // The number is significand * 2^power.
        let bias = (1 << (format.exponent_bits - 1)) - 1 + format.significand_bits as i32;
        let power = if exponent == 0 { 1 } else { exponent } - bias;
        let (up, down) = (power.max(0) as u32, (-power).max(0) as u32);
        // The gap below a power of two is half as wide; all is counted in quarters of the wide one.
        let is_narrow = fraction == 0 && exponent > 1;
        self.numerator.set(4 * significand, up);
        self.denominator.set(4, down);
        self.below.set(if is_narrow { 1 } else { 2 }, up);
        self.above.set(2, up);
        self.is_even = significand % 2 == 0;
        self.exponent = 0;
        while self.is_at_least_one(shortest) {
            self.denominator.multiply(10);
            self.exponent += 1;
        }
        // The last step is for the first digit.
        loop {
            self.multiply(10);
            if self.is_at_least_one(shortest) {
                return;
            }
            self.exponent -= 1;
        }
    }

    /// Whether the fraction, or the upper end of the numbers that are read as it, is 1 or more.
    #[inline(always)]
    fn is_at_least_one(&mut self, with_above: bool) -> bool {
        if !with_above {
            return self.numerator.compare(&self.denominator) >= 0;
        }
        self.numerator.add(&self.above, 1);
        let order = self.numerator.compare(&self.denominator);
        self.numerator.add(&self.above, -1);
        order > 0 || order == 0 && self.is_even
    }

    /// Times a small number.
    #[inline(always)]
    fn multiply(&mut self, factor: u32) {
        self.numerator.multiply(factor);
        self.below.multiply(factor);
        self.above.multiply(factor);
    }

    /// Takes the fraction's whole part, which is a digit.
    #[inline(always)]
    fn take(&mut self) -> u8 {
        let mut digit = b'0';
        while self.numerator.compare(&self.denominator) >= 0 {
            self.numerator.add(&self.denominator, -1);
            digit += 1;
        }
        digit
    }

    /// The fraction's order to a half.
    #[inline(always)]
    fn compare_half(&mut self) -> i32 {
        self.numerator.multiply(2);
        self.numerator.compare(&self.denominator)
    }

    /// The digits that no other number is nearer to.
    #[inline(always)]
    fn write_shortest(&mut self, out: &mut Text) {
        loop {
            let digit = self.take();
            out.push_byte(digit);
            let low = self.numerator.compare(&self.below);
            let low = low < 0 || low == 0 && self.is_even;
            let high = self.is_at_least_one(true);
            if low || high {
                if high && (!low || self.compare_half() >= 0) {
                    let last = out.len() - 1;
                    out.set_byte(last, digit + 1);
                }
                return;
            }
            self.multiply(10);
        }
    }

    /// `count` digits, none if it isn't positive. The exponent grows if they are rounded up to the next power of ten.
    #[inline(always)]
    fn write_exact(&mut self, out: &mut Text, count: i32) {
        let start = out.len();
        let mut written = 0;
        let mut odd = false;
        while written < count {
            let digit = self.take();
            out.push_byte(digit);
            odd = digit % 2 == 1;
            self.numerator.multiply(10);
            written += 1;
        }
        // What is left has been multiplied for a digit that isn't written.
        self.denominator.multiply(10);
        let half = self.compare_half();
        if count < 0 || half < 0 || half == 0 && !odd {
            return;
        }
        let mut index = out.len();
        while index > start {
            index -= 1;
            let digit = out.byte(index);
            if digit < b'9' {
                out.set_byte(index, digit + 1);
                return;
            }
            out.set_byte(index, b'0');
        }
        out.insert(start, 1, u32::from(b'1'));
        self.exponent += 1;
    }
}

/// Writes a number, without filling it up to a width.
///
/// # Safety
///
/// There is one of the tag's type at `at`.
#[inline(never)]
pub(super) unsafe fn write(out: &mut Text, at: usize, tag: Tag, options: &Options) {
    // SAFETY: the caller's promise.
    let (bits, format) = unsafe {
        if tag.ty() & 0xF == 3 {
            (*(at as *const u64), F64)
        } else {
            (u64::from(*(at as *const u32)), F32)
        }
    };
    let sign = 1 << (format.significand_bits + format.exponent_bits);
    let magnitude = bits & (sign - 1);
    let infinity = ((1 << format.exponent_bits) - 1) << format.significand_bits;
    if magnitude <= infinity {
        if bits & sign != 0 {
            out.push_byte(b'-');
        } else if options.has(flag::PLUS) {
            out.push_byte(b'+');
        }
        out.begin_body();
    }
    if magnitude >= infinity {
        out.push_str(if magnitude == infinity { "inf" } else { "NaN" });
        return;
    }
    let wanted = options.has(flag::PRECISION).then_some(options.precision as i32);
    // All in memory: what a function that calls others remembers in registers adds to every kernel's.
    let mut memory = MaybeUninit::<Digits>::zeroed();
    // SAFETY: zeros are numbers, and false.
    let digits = unsafe { memory.assume_init_mut() };
    let (mut exponent, mut rounded) = (1, 1);
    let upper = tag.by() == by::UPPER_EXP;
    let mut is_exponential = upper || tag.by() == by::LOWER_EXP;
    if magnitude == 0 {
        out.push_byte(b'0');
    } else {
        digits.set(magnitude, format, wanted.is_none());
        exponent = digits.exponent;
        // `{:?}` of numbers from 1e16 on, and below 1e-4.
        is_exponential |=
            tag.by() == by::DEBUG && wanted.is_none() && !(-3..=16).contains(&exponent);
        let before = if is_exponential { 1 } else { exponent };
        match wanted {
            None => digits.write_shortest(out),
            Some(wanted) => digits.write_exact(out, (before + wanted).min(MOST_DIGITS)),
        }
        rounded = digits.exponent;
    }
    if is_exponential && rounded > exponent && wanted.is_some() {
        // A one more in front, so a zero less at the end.
        out.pop();
    }
    let least = match wanted {
        Some(wanted) => wanted,
        None => i32::from(tag.by() == by::DEBUG && !is_exponential),
    };
    let before = match wanted {
        _ if is_exponential => 1,
        // Of a number that rounds to zero there are no digits.
        Some(wanted) => rounded.max(-wanted),
        None => rounded,
    };
    point(out, before, least);
    if is_exponential {
        out.push_byte(if upper { b'E' } else { b'e' });
        if rounded < 1 {
            out.push_byte(b'-');
        }
        decimal(out, u64::from((rounded - 1).unsigned_abs()));
    }
}

/// Puts the point into digits: behind the first `before`, with at least `least` digits behind it; zeros where there are none.
#[inline(always)]
fn point(out: &mut Text, before: i32, least: i32) {
    let zero = u32::from(b'0');
    let body = out.body();
    let mut before = before;
    if before < 1 {
        out.insert(body, (1 - before) as usize, zero);
        before = 1;
    }
    let end = out.len();
    let written = (end - body) as i32;
    out.insert(end, (before + least - written).max(0) as usize, zero);
    if (out.len() - body) as i32 > before {
        out.insert(body + before as usize, 1, u32::from(b'.'));
    }
}
