//! Functions that write a second result through a pointer, or read their arguments through one.

use crate::fallback::{norm, pi};

macro_rules! functions {
    ($($name:ident($($x:ident: $T:ty),+) $(-> $R:ty)? = $fallback:expr, $text:literal, $safety:literal;)+) => {$(
        #[doc = concat!($text, ".")]
        ///
        /// # Safety
        ///
        #[doc = concat!($safety, ".")]
        #[inline]
        pub unsafe fn $name($($x: $T),+) $(-> $R)? {
            #[cfg(target_arch = "nvptx64")]
            if builder_says!(LIBDEVICE) {
                unsafe extern "C" {
                    #[link_name = concat!("__nv_", stringify!($name))]
                    fn libdevice($($x: $T),+) $(-> $R)?;
                }
                // SAFETY: libdevice's function of this signature; the pointers are the caller's promise.
                return unsafe { libdevice($($x),+) };
            }
            // SAFETY: the pointers are the caller's promise.
            unsafe { $fallback }
        }
    )+};
}

/// Writes the second of two results; the first.
#[inline(always)]
unsafe fn split<T, U>((first, second): (T, U), to: *mut U) -> T {
    // SAFETY: the caller's promise.
    unsafe { to.write(second) };
    first
}

/// Writes both of two results.
#[inline(always)]
unsafe fn both<T>((first, second): (T, T), one: *mut T, other: *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        one.write(first);
        other.write(second);
    }
}

functions! {
    frexp(x: f64, exponent: *mut i32) -> f64 = split(libm::frexp(x), exponent), "The fraction of `x`, from 0.5 to below 1 with the sign of `x`, and to `exponent` the power of 2 it is multiplied by", "`exponent` is valid for a write";
    frexpf(x: f32, exponent: *mut i32) -> f32 = split(libm::frexpf(x), exponent), "The fraction of `x`, from 0.5 to below 1 with the sign of `x`, and to `exponent` the power of 2 it is multiplied by", "`exponent` is valid for a write";
    modf(x: f64, integer: *mut f64) -> f64 = split(libm::modf(x), integer), "The part of `x` behind the point, and to `integer` the part before it; both have the sign of `x`", "`integer` is valid for a write";
    modff(x: f32, integer: *mut f32) -> f32 = split(libm::modff(x), integer), "The part of `x` behind the point, and to `integer` the part before it; both have the sign of `x`", "`integer` is valid for a write";
    remquo(x: f64, y: f64, quotient: *mut i32) -> f64 = split(libm::remquo(x, y), quotient), "[`remainder`](super::remainder), and to `quotient` the lowest bits of the quotient (three at least) with its sign", "`quotient` is valid for a write";
    remquof(x: f32, y: f32, quotient: *mut i32) -> f32 = split(libm::remquof(x, y), quotient), "[`remainderf`](super::remainderf), and to `quotient` the lowest bits of the quotient (three at least) with its sign", "`quotient` is valid for a write";
    sincos(x: f64, sin: *mut f64, cos: *mut f64) = both(libm::sincos(x), sin, cos), "Sine and cosine of `x` radians", "`sin` and `cos` are valid for writes";
    sincosf(x: f32, sin: *mut f32, cos: *mut f32) = both(libm::sincosf(x), sin, cos), "Sine and cosine of `x` radians", "`sin` and `cos` are valid for writes";
    sincospi(x: f64, sin: *mut f64, cos: *mut f64) = both(pi::sincospi(x), sin, cos), "Sine and cosine of `π x` radians", "`sin` and `cos` are valid for writes";
    sincospif(x: f32, sin: *mut f32, cos: *mut f32) = both((pi::sinpi(x.into()) as f32, pi::cospi(x.into()) as f32), sin, cos), "Sine and cosine of `π x` radians", "`sin` and `cos` are valid for writes";
    norm(dim: i32, t: *const f64) -> f64 = norm::norm(values(dim, t)), "The root of the sum of `dim` squares, without overflow or underflow on the way", "`t` points to `dim` numbers";
    normf(dim: i32, t: *const f32) -> f32 = norm::norm_f32(values(dim, t)), "The root of the sum of `dim` squares, without overflow or underflow on the way", "`t` points to `dim` numbers";
    rnorm(dim: i32, t: *const f64) -> f64 = norm::reciprocal(values(dim, t)), "1 divided by the root of the sum of `dim` squares, without overflow or underflow on the way", "`t` points to `dim` numbers";
    rnormf(dim: i32, t: *const f32) -> f32 = norm::reciprocal_f32(values(dim, t)), "1 divided by the root of the sum of `dim` squares, without overflow or underflow on the way", "`t` points to `dim` numbers";
}

/// Sine and cosine, approximately: [`fast_sinf`](super::fast_sinf) and [`fast_cosf`](super::fast_cosf).
///
/// # Safety
///
/// `sin` and `cos` are valid for writes.
#[inline(always)]
pub unsafe fn fast_sincosf(x: f32, sin: *mut f32, cos: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { both((super::fast_sinf(x), super::fast_cosf(x)), sin, cos) };
}

/// The numbers at `t`, none if `dim` is negative.
unsafe fn values<'a, T>(dim: i32, t: *const T) -> &'a [T] {
    match usize::try_from(dim) {
        // SAFETY: the caller's promise.
        Ok(len) if len > 0 => unsafe { core::slice::from_raw_parts(t, len) },
        _ => &[],
    }
}

/// A quiet NaN that carries the number in the text at `tag`, as C's `nan` makes it: decimal, octal after `0`, hexadecimal after
/// `0x`; 0 if the text is no number, or `tag` is null.
///
/// # Safety
///
/// `tag` is null or points to a text that ends with a zero byte.
#[inline]
#[must_use]
pub unsafe fn nan(tag: *const i8) -> f64 {
    // SAFETY: the caller's promise.
    let payload = unsafe { payload(tag) };
    f64::from_bits(0x7FF8_0000_0000_0000 | payload & 0x0007_FFFF_FFFF_FFFF)
}

/// A quiet NaN that carries the number in the text at `tag`: [`nan`] for f32.
///
/// # Safety
///
/// As for [`nan`].
#[inline]
#[must_use]
pub unsafe fn nanf(tag: *const i8) -> f32 {
    // SAFETY: the caller's promise.
    let payload = unsafe { payload(tag) };
    f32::from_bits(0x7FC0_0000 | payload as u32 & 0x003F_FFFF)
}

/// The number in a C text; 0 if it is none.
unsafe fn payload(tag: *const i8) -> u64 {
    if tag.is_null() {
        return 0;
    }
    // SAFETY: no byte behind the one that is zero is read; the caller's promise.
    let byte = |at: usize| unsafe { tag.add(at).read() as u8 };
    let (radix, mut at) = match (byte(0), byte(0) != 0 && byte(1) | 0x20 == b'x') {
        (b'0', true) => (16, 2),
        (b'0', false) => (8, 1),
        _ => (10, 0),
    };
    let mut value = 0_u64;
    while byte(at) != 0 {
        let Some(digit) = char::from(byte(at)).to_digit(radix) else { return 0 };
        value = value.wrapping_mul(radix.into()).wrapping_add(digit.into());
        at += 1;
    }
    value
}
