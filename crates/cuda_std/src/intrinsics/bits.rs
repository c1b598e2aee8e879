//! Integers, and floating-point numbers as bits: what Rust's own operators and methods do, under libdevice's names.

macro_rules! functions {
    ($($name:ident($($x:ident: $T:ty),*) -> $R:ty = $value:expr, $text:literal;)+) => {$(
        #[doc = concat!($text, ".")]
        #[inline]
        #[must_use]
        pub fn $name($($x: $T),*) -> $R {
            $value
        }
    )+};
}

functions! {
    abs(x: i32) -> i32 = x.wrapping_abs(), "The absolute value of `x`; that of `i32::MIN` is itself";
    llabs(x: i64) -> i64 = x.wrapping_abs(), "The absolute value of `x`; that of `i64::MIN` is itself";
    max(x: i32, y: i32) -> i32 = x.max(y), "The greater of two signed numbers";
    min(x: i32, y: i32) -> i32 = x.min(y), "The lesser of two signed numbers";
    umax(x: i32, y: i32) -> i32 = (x as u32).max(y as u32) as i32, "The greater of two unsigned numbers";
    umin(x: i32, y: i32) -> i32 = (x as u32).min(y as u32) as i32, "The lesser of two unsigned numbers";
    llmax(x: i64, y: i64) -> i64 = x.max(y), "The greater of two signed numbers";
    llmin(x: i64, y: i64) -> i64 = x.min(y), "The lesser of two signed numbers";
    ullmax(x: i64, y: i64) -> i64 = (x as u64).max(y as u64) as i64, "The greater of two unsigned numbers";
    ullmin(x: i64, y: i64) -> i64 = (x as u64).min(y as u64) as i64, "The lesser of two unsigned numbers";

    clz(x: i32) -> i32 = x.leading_zeros() as i32, "How many of the highest bits are 0: 0 to 32";
    clzll(x: i64) -> i32 = x.leading_zeros() as i32, "How many of the highest bits are 0: 0 to 64";
    popc(x: i32) -> i32 = x.count_ones() as i32, "How many bits are 1";
    popcll(x: i64) -> i32 = x.count_ones() as i32, "How many bits are 1";
    ffs(x: i32) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 }, "The place of the lowest bit that is 1, counted from 1; 0 for 0";
    ffsll(x: i64) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 }, "The place of the lowest bit that is 1, counted from 1; 0 for 0";
    brev(x: i32) -> i32 = x.reverse_bits(), "The bits in reverse order";
    brevll(x: i64) -> i64 = x.reverse_bits(), "The bits in reverse order";

    mulhi(x: i32, y: i32) -> i32 = ((i64::from(x) * i64::from(y)) >> 32) as i32, "The upper 32 bits of the product of two signed numbers";
    umulhi(x: i32, y: i32) -> i32 = ((u64::from(x as u32) * u64::from(y as u32)) >> 32) as i32, "The upper 32 bits of the product of two unsigned numbers";
    mul64hi(x: i64, y: i64) -> i64 = ((i128::from(x) * i128::from(y)) >> 64) as i64, "The upper 64 bits of the product of two signed numbers";
    umul64hi(x: i64, y: i64) -> i64 = ((u128::from(x as u64) * u128::from(y as u64)) >> 64) as i64, "The upper 64 bits of the product of two unsigned numbers";
    mul24(x: i32, y: i32) -> i32 = (x << 8 >> 8).wrapping_mul(y << 8 >> 8), "The lower 32 bits of the product of two signed numbers' lower 24 bits";
    umul24(x: i32, y: i32) -> i32 = (x & 0xFF_FFFF).wrapping_mul(y & 0xFF_FFFF), "The lower 32 bits of the product of two unsigned numbers' lower 24 bits";
    sad(x: i32, y: i32, z: i32) -> i32 = (x.abs_diff(y) as i32).wrapping_add(z), "`|x - y| + z`, for signed `x` and `y`";
    usad(x: i32, y: i32, z: i32) -> i32 = ((x as u32).abs_diff(y as u32) as i32).wrapping_add(z), "`|x - y| + z`, for unsigned numbers";
    hadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y)) >> 1) as i32, "The mean of two signed numbers, rounded down; it does not overflow";
    rhadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y) + 1) >> 1) as i32, "The mean of two signed numbers, rounded up; it does not overflow";
    uhadd(x: i32, y: i32) -> i32 = ((u64::from(x as u32) + u64::from(y as u32)) >> 1) as i32, "The mean of two unsigned numbers, rounded down; it does not overflow";
    urhadd(x: i32, y: i32) -> i32 = ((u64::from(x as u32) + u64::from(y as u32) + 1) >> 1) as i32, "The mean of two unsigned numbers, rounded up; it does not overflow";

    float_as_int(x: f32) -> i32 = x.to_bits() as i32, "The bits of `x`";
    float_as_uint(x: f32) -> i32 = x.to_bits() as i32, "The bits of `x`";
    int_as_float(x: i32) -> f32 = f32::from_bits(x as u32), "The number with the bits `x`";
    uint_as_float(x: i32) -> f32 = f32::from_bits(x as u32), "The number with the bits `x`";
    double_as_longlong(x: f64) -> i64 = x.to_bits() as i64, "The bits of `x`";
    longlong_as_double(x: i64) -> f64 = f64::from_bits(x as u64), "The number with the bits `x`";
    double2hiint(d: f64) -> i32 = (d.to_bits() >> 32) as i32, "The upper 32 bits of `d`: sign, exponent, and 20 bits of the fraction";
    double2loint(d: f64) -> i32 = d.to_bits() as i32, "The lower 32 bits of `d`";
    hiloint2double(hi: i32, lo: i32) -> f64 = f64::from_bits(u64::from(hi as u32) << 32 | u64::from(lo as u32)), "The number with these upper and lower 32 bits";

    fabs(x: f64) -> f64 = x.abs(), "The absolute value";
    fabsf(x: f32) -> f32 = x.abs(), "The absolute value";
    copysign(x: f64, y: f64) -> f64 = x.copysign(y), "The absolute value of `x` with the sign of `y`";
    copysignf(x: f32, y: f32) -> f32 = x.copysign(y), "The absolute value of `x` with the sign of `y`";
    fmax(x: f64, y: f64) -> f64 = x.max(y), "The greater number; the other one if one is NaN";
    fmaxf(x: f32, y: f32) -> f32 = x.max(y), "The greater number; the other one if one is NaN";
    fmin(x: f64, y: f64) -> f64 = x.min(y), "The lesser number; the other one if one is NaN";
    fminf(x: f32, y: f32) -> f32 = x.min(y), "The lesser number; the other one if one is NaN";
    isnand(x: f64) -> i32 = x.is_nan().into(), "1 if `x` is NaN, else 0";
    isnanf(x: f32) -> i32 = x.is_nan().into(), "1 if `x` is NaN, else 0";
    isinfd(x: f64) -> i32 = x.is_infinite().into(), "1 if `x` is infinite, else 0";
    isinff(x: f32) -> i32 = x.is_infinite().into(), "1 if `x` is infinite, else 0";
    isfinited(x: f64) -> i32 = x.is_finite().into(), "1 if `x` is neither infinite nor NaN, else 0";
    finitef(x: f32) -> i32 = x.is_finite().into(), "1 if `x` is neither infinite nor NaN, else 0";
    signbitd(x: f64) -> i32 = x.is_sign_negative().into(), "1 if the sign bit is set, as it is for -0, else 0";
    signbitf(x: f32) -> i32 = x.is_sign_negative().into(), "1 if the sign bit is set, as it is for -0, else 0";
}

/// Four bytes picked from the eight of `x` (bytes 0 to 3, the lowest first) and `y` (4 to 7).
///
/// Byte *n* of the result is the byte whose number is in the lower three bits of hexadecimal digit *n* of `selector`. PTX: `prmt`.
#[inline]
#[must_use]
pub fn byte_perm(x: i32, y: i32, selector: i32) -> i32 {
    // PTX's instruction repeats a byte's sign where a digit's fourth bit is set; CUDA's function ignores that bit.
    let selector = selector & 0x7777;
    #[cfg(target_arch = "nvptx64")]
    {
        let result: i32;
        // SAFETY: computes a value from values.
        unsafe {
            core::arch::asm!("prmt.b32 {}, {}, {}, {};", out(reg32) result, in(reg32) x, in(reg32) y, in(reg32) selector, options(pure, nomem, nostack, preserves_flags));
        }
        result
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let bytes = u64::from(y as u32) << 32 | u64::from(x as u32);
        let byte = |n: u32| (bytes >> (8 * (selector >> (4 * n) & 7)) & 0xFF) << (8 * n);
        (byte(0) | byte(1) | byte(2) | byte(3)) as i32
    }
}
