//! Mathematical functions: libdevice's where it is linked, else the `libm` crate's, or this crate's where that has none.

use crate::fallback::{bessel, error_function, norm, pi, root};

macro_rules! functions {
    ($($name:ident($($x:ident: $T:ty),+) -> $R:ty = $fallback:expr, $text:literal;)+) => {$(
        #[doc = concat!($text, ".")]
        #[inline]
        #[must_use]
        pub fn $name($($x: $T),+) -> $R {
            #[cfg(target_arch = "nvptx64")]
            if builder_says!(LIBDEVICE) {
                unsafe extern "C" {
                    #[link_name = concat!("__nv_", stringify!($name))]
                    fn libdevice($($x: $T),+) -> $R;
                }
                // SAFETY: libdevice's function of this signature, which computes a value from values.
                return unsafe { libdevice($($x),+) };
            }
            $fallback
        }
    )+};
}

functions! {
    sin(x: f64) -> f64 = libm::sin(x), "The sine of `x` radians";
    sinf(x: f32) -> f32 = libm::sinf(x), "The sine of `x` radians";
    cos(x: f64) -> f64 = libm::cos(x), "The cosine of `x` radians";
    cosf(x: f32) -> f32 = libm::cosf(x), "The cosine of `x` radians";
    tan(x: f64) -> f64 = libm::tan(x), "The tangent of `x` radians";
    tanf(x: f32) -> f32 = libm::tanf(x), "The tangent of `x` radians";
    sinpi(x: f64) -> f64 = pi::sinpi(x), "The sine of `π x` radians";
    sinpif(x: f32) -> f32 = pi::sinpi(x.into()) as f32, "The sine of `π x` radians";
    cospi(x: f64) -> f64 = pi::cospi(x), "The cosine of `π x` radians";
    cospif(x: f32) -> f32 = pi::cospi(x.into()) as f32, "The cosine of `π x` radians";
    asin(x: f64) -> f64 = libm::asin(x), "The angle in radians, -π/2 to π/2, whose sine is `x`";
    asinf(x: f32) -> f32 = libm::asinf(x), "The angle in radians, -π/2 to π/2, whose sine is `x`";
    acos(x: f64) -> f64 = libm::acos(x), "The angle in radians, 0 to π, whose cosine is `x`";
    acosf(x: f32) -> f32 = libm::acosf(x), "The angle in radians, 0 to π, whose cosine is `x`";
    atan(x: f64) -> f64 = libm::atan(x), "The angle in radians, -π/2 to π/2, whose tangent is `x`";
    atanf(x: f32) -> f32 = libm::atanf(x), "The angle in radians, -π/2 to π/2, whose tangent is `x`";
    atan2(y: f64, x: f64) -> f64 = libm::atan2(y, x), "The angle in radians, -π to π, of the point (`x`, `y`)";
    atan2f(y: f32, x: f32) -> f32 = libm::atan2f(y, x), "The angle in radians, -π to π, of the point (`x`, `y`)";
    sinh(x: f64) -> f64 = libm::sinh(x), "The hyperbolic sine";
    sinhf(x: f32) -> f32 = libm::sinhf(x), "The hyperbolic sine";
    cosh(x: f64) -> f64 = libm::cosh(x), "The hyperbolic cosine";
    coshf(x: f32) -> f32 = libm::coshf(x), "The hyperbolic cosine";
    tanh(x: f64) -> f64 = libm::tanh(x), "The hyperbolic tangent";
    tanhf(x: f32) -> f32 = libm::tanhf(x), "The hyperbolic tangent";
    asinh(x: f64) -> f64 = libm::asinh(x), "The number whose hyperbolic sine is `x`";
    asinhf(x: f32) -> f32 = libm::asinhf(x), "The number whose hyperbolic sine is `x`";
    acosh(x: f64) -> f64 = libm::acosh(x), "The number from 0 on whose hyperbolic cosine is `x`";
    acoshf(x: f32) -> f32 = libm::acoshf(x), "The number from 0 on whose hyperbolic cosine is `x`";
    atanh(x: f64) -> f64 = libm::atanh(x), "The number whose hyperbolic tangent is `x`";
    atanhf(x: f32) -> f32 = libm::atanhf(x), "The number whose hyperbolic tangent is `x`";

    exp(x: f64) -> f64 = libm::exp(x), "`e^x`";
    expf(x: f32) -> f32 = libm::expf(x), "`e^x`";
    exp2(x: f64) -> f64 = libm::exp2(x), "`2^x`";
    exp2f(x: f32) -> f32 = libm::exp2f(x), "`2^x`";
    exp10(x: f64) -> f64 = libm::exp10(x), "`10^x`";
    exp10f(x: f32) -> f32 = libm::exp10f(x), "`10^x`";
    expm1(x: f64) -> f64 = libm::expm1(x), "`e^x - 1`, accurate also near 0";
    expm1f(x: f32) -> f32 = libm::expm1f(x), "`e^x - 1`, accurate also near 0";
    log(x: f64) -> f64 = libm::log(x), "The natural logarithm";
    logf(x: f32) -> f32 = libm::logf(x), "The natural logarithm";
    log2(x: f64) -> f64 = libm::log2(x), "The logarithm to base 2";
    log2f(x: f32) -> f32 = libm::log2f(x), "The logarithm to base 2";
    log10(x: f64) -> f64 = libm::log10(x), "The logarithm to base 10";
    log10f(x: f32) -> f32 = libm::log10f(x), "The logarithm to base 10";
    log1p(x: f64) -> f64 = libm::log1p(x), "The natural logarithm of `1 + x`, accurate also near 0";
    log1pf(x: f32) -> f32 = libm::log1pf(x), "The natural logarithm of `1 + x`, accurate also near 0";
    pow(x: f64, y: f64) -> f64 = libm::pow(x, y), "`x^y`";
    powf(x: f32, y: f32) -> f32 = libm::powf(x, y), "`x^y`";
    powi(x: f64, n: i32) -> f64 = root::powi(x, n), "`x^n`";
    powif(x: f32, n: i32) -> f32 = root::powi(x.into(), n) as f32, "`x^n`";

    cbrt(x: f64) -> f64 = libm::cbrt(x), "The cube root";
    cbrtf(x: f32) -> f32 = libm::cbrtf(x), "The cube root";
    rcbrt(x: f64) -> f64 = root::rcbrt(x), "`1 / cbrt(x)`";
    rcbrtf(x: f32) -> f32 = root::rcbrt(x.into()) as f32, "`1 / cbrt(x)`";
    rsqrt(x: f64) -> f64 = root::rsqrt(x), "`1 / sqrt(x)`";
    hypot(x: f64, y: f64) -> f64 = libm::hypot(x, y), "`sqrt(x² + y²)`, without overflow or underflow on the way";
    hypotf(x: f32, y: f32) -> f32 = libm::hypotf(x, y), "`sqrt(x² + y²)`, without overflow or underflow on the way";
    rhypot(x: f64, y: f64) -> f64 = norm::reciprocal(&[x, y]), "`1 / sqrt(x² + y²)`, without overflow or underflow on the way";
    rhypotf(x: f32, y: f32) -> f32 = norm::reciprocal_f32(&[x, y]), "`1 / sqrt(x² + y²)`, without overflow or underflow on the way";
    norm3d(x: f64, y: f64, z: f64) -> f64 = norm::norm(&[x, y, z]), "`sqrt(x² + y² + z²)`, without overflow or underflow on the way";
    norm3df(x: f32, y: f32, z: f32) -> f32 = norm::norm_f32(&[x, y, z]), "`sqrt(x² + y² + z²)`, without overflow or underflow on the way";
    rnorm3d(x: f64, y: f64, z: f64) -> f64 = norm::reciprocal(&[x, y, z]), "`1 / sqrt(x² + y² + z²)`, without overflow or underflow on the way";
    rnorm3df(x: f32, y: f32, z: f32) -> f32 = norm::reciprocal_f32(&[x, y, z]), "`1 / sqrt(x² + y² + z²)`, without overflow or underflow on the way";
    norm4d(x: f64, y: f64, z: f64, w: f64) -> f64 = norm::norm(&[x, y, z, w]), "`sqrt(x² + y² + z² + w²)`, without overflow or underflow on the way";
    norm4df(x: f32, y: f32, z: f32, w: f32) -> f32 = norm::norm_f32(&[x, y, z, w]), "`sqrt(x² + y² + z² + w²)`, without overflow or underflow on the way";
    rnorm4d(x: f64, y: f64, z: f64, w: f64) -> f64 = norm::reciprocal(&[x, y, z, w]), "`1 / sqrt(x² + y² + z² + w²)`, without overflow or underflow on the way";
    rnorm4df(x: f32, y: f32, z: f32, w: f32) -> f32 = norm::reciprocal_f32(&[x, y, z, w]), "`1 / sqrt(x² + y² + z² + w²)`, without overflow or underflow on the way";

    erf(x: f64) -> f64 = libm::erf(x), "The error function";
    erff(x: f32) -> f32 = libm::erff(x), "The error function";
    erfc(x: f64) -> f64 = libm::erfc(x), "`1 - erf(x)`, accurate also where that is small";
    erfcf(x: f32) -> f32 = libm::erfcf(x), "`1 - erf(x)`, accurate also where that is small";
    erfcx(x: f64) -> f64 = error_function::erfcx(x), "`e^(x²) erfc(x)`";
    erfcxf(x: f32) -> f32 = error_function::erfcx(x.into()) as f32, "`e^(x²) erfc(x)`";
    erfinv(x: f64) -> f64 = error_function::erfinv(x), "The number whose error function is `x`";
    erfinvf(x: f32) -> f32 = error_function::erfinv(x.into()) as f32, "The number whose error function is `x`";
    erfcinv(x: f64) -> f64 = error_function::erfcinv(x), "The number whose complementary error function is `x`";
    erfcinvf(x: f32) -> f32 = error_function::erfcinv(x.into()) as f32, "The number whose complementary error function is `x`";
    normcdf(x: f64) -> f64 = error_function::normcdf(x), "The standard normal distribution up to `x`";
    normcdff(x: f32) -> f32 = error_function::normcdf(x.into()) as f32, "The standard normal distribution up to `x`";
    normcdfinv(x: f64) -> f64 = error_function::normcdfinv(x), "The number up to which the standard normal distribution is `x`";
    normcdfinvf(x: f32) -> f32 = error_function::normcdfinv(x.into()) as f32, "The number up to which the standard normal distribution is `x`";
    tgamma(x: f64) -> f64 = libm::tgamma(x), "The gamma function";
    tgammaf(x: f32) -> f32 = libm::tgammaf(x), "The gamma function";
    lgamma(x: f64) -> f64 = libm::lgamma(x), "The natural logarithm of the absolute value of the gamma function";
    lgammaf(x: f32) -> f32 = libm::lgammaf(x), "The natural logarithm of the absolute value of the gamma function";
    j0(x: f64) -> f64 = libm::j0(x), "The Bessel function of the first kind, order 0";
    j0f(x: f32) -> f32 = libm::j0f(x), "The Bessel function of the first kind, order 0";
    j1(x: f64) -> f64 = libm::j1(x), "The Bessel function of the first kind, order 1";
    j1f(x: f32) -> f32 = libm::j1f(x), "The Bessel function of the first kind, order 1";
    jn(n: i32, x: f64) -> f64 = libm::jn(n, x), "The Bessel function of the first kind, order `n`";
    jnf(n: i32, x: f32) -> f32 = libm::jnf(n, x), "The Bessel function of the first kind, order `n`";
    y0(x: f64) -> f64 = libm::y0(x), "The Bessel function of the second kind, order 0";
    y0f(x: f32) -> f32 = libm::y0f(x), "The Bessel function of the second kind, order 0";
    y1(x: f64) -> f64 = libm::y1(x), "The Bessel function of the second kind, order 1";
    y1f(x: f32) -> f32 = libm::y1f(x), "The Bessel function of the second kind, order 1";
    yn(n: i32, x: f64) -> f64 = libm::yn(n, x), "The Bessel function of the second kind, order `n`";
    ynf(n: i32, x: f32) -> f32 = libm::ynf(n, x), "The Bessel function of the second kind, order `n`";
    cyl_bessel_i0(x: f64) -> f64 = bessel::i0(x), "The modified Bessel function of the first kind, order 0";
    cyl_bessel_i0f(x: f32) -> f32 = bessel::i0(x.into()) as f32, "The modified Bessel function of the first kind, order 0";
    cyl_bessel_i1(x: f64) -> f64 = bessel::i1(x), "The modified Bessel function of the first kind, order 1";
    cyl_bessel_i1f(x: f32) -> f32 = bessel::i1(x.into()) as f32, "The modified Bessel function of the first kind, order 1";

    fmod(x: f64, y: f64) -> f64 = libm::fmod(x, y), "The rest of `x / y` for a quotient rounded towards zero, exactly: the sign is that of `x`";
    fmodf(x: f32, y: f32) -> f32 = libm::fmodf(x, y), "The rest of `x / y` for a quotient rounded towards zero, exactly: the sign is that of `x`";
    remainder(x: f64, y: f64) -> f64 = libm::remainder(x, y), "The rest of `x / y` for a quotient rounded to the nearest integer, exactly";
    remainderf(x: f32, y: f32) -> f32 = libm::remainderf(x, y), "The rest of `x / y` for a quotient rounded to the nearest integer, exactly";
    nextafter(x: f64, y: f64) -> f64 = libm::nextafter(x, y), "The next number after `x` towards `y`";
    nextafterf(x: f32, y: f32) -> f32 = libm::nextafterf(x, y), "The next number after `x` towards `y`";
    ldexp(x: f64, n: i32) -> f64 = libm::ldexp(x, n), "`x 2^n`";
    ldexpf(x: f32, n: i32) -> f32 = libm::ldexpf(x, n), "`x 2^n`";
    scalbn(x: f64, n: i32) -> f64 = libm::scalbn(x, n), "`x 2^n`";
    scalbnf(x: f32, n: i32) -> f32 = libm::scalbnf(x, n), "`x 2^n`";
    logb(x: f64) -> f64 = root::logb(x), "The exponent of `x` as a number: `floor(log2(|x|))`";
    logbf(x: f32) -> f32 = root::logb(x.into()) as f32, "The exponent of `x` as a number: `floor(log2(|x|))`";
    ilogb(x: f64) -> i32 = libm::ilogb(x), "The exponent of `x`: `floor(log2(|x|))`; `i32::MIN` for 0 and NaN, `i32::MAX` for infinity";
    ilogbf(x: f32) -> i32 = libm::ilogbf(x), "The exponent of `x`: `floor(log2(|x|))`; `i32::MIN` for 0 and NaN, `i32::MAX` for infinity";
}

macro_rules! exact {
    ($($name:ident($($x:ident: $T:ty),+) -> $R:ty = $value:expr, $text:literal;)+) => {$(
        #[doc = concat!($text, ".")]
        #[inline]
        #[must_use]
        pub fn $name($($x: $T),+) -> $R {
            $value
        }
    )+};
}

// The builder makes instructions of these functions of the `libm` crate.
exact! {
    floor(x: f64) -> f64 = libm::floor(x), "`x` rounded down to an integer";
    floorf(x: f32) -> f32 = libm::floorf(x), "`x` rounded down to an integer";
    ceil(x: f64) -> f64 = libm::ceil(x), "`x` rounded up to an integer";
    ceilf(x: f32) -> f32 = libm::ceilf(x), "`x` rounded up to an integer";
    trunc(x: f64) -> f64 = libm::trunc(x), "`x` rounded towards zero to an integer";
    truncf(x: f32) -> f32 = libm::truncf(x), "`x` rounded towards zero to an integer";
    round(x: f64) -> f64 = libm::round(x), "`x` rounded to the nearest integer, from halfway away from zero";
    roundf(x: f32) -> f32 = libm::roundf(x), "`x` rounded to the nearest integer, from halfway away from zero";
    rint(x: f64) -> f64 = libm::rint(x), "`x` rounded to the nearest integer, from halfway to the even one";
    rintf(x: f32) -> f32 = libm::rintf(x), "`x` rounded to the nearest integer, from halfway to the even one";
    nearbyint(x: f64) -> f64 = libm::rint(x), "`x` rounded to the nearest integer, from halfway to the even one";
    nearbyintf(x: f32) -> f32 = libm::rintf(x), "`x` rounded to the nearest integer, from halfway to the even one";
    llrint(x: f64) -> i64 = libm::rint(x) as i64, "`x` rounded to the nearest integer, from halfway to the even one; the nearest `i64` if it is out of range, 0 for NaN";
    llrintf(x: f32) -> i64 = libm::rintf(x) as i64, "`x` rounded to the nearest integer, from halfway to the even one; the nearest `i64` if it is out of range, 0 for NaN";
    llround(x: f64) -> i64 = libm::round(x) as i64, "`x` rounded to the nearest integer, from halfway away from zero; the nearest `i64` if it is out of range, 0 for NaN";
    llroundf(x: f32) -> i64 = libm::roundf(x) as i64, "`x` rounded to the nearest integer, from halfway away from zero; the nearest `i64` if it is out of range, 0 for NaN";
    sqrt(x: f64) -> f64 = libm::sqrt(x), "The square root, correctly rounded";
    sqrtf(x: f32) -> f32 = libm::sqrtf(x), "The square root, correctly rounded, or approximate with the builder's `fast_sqrt`";
    fma(x: f64, y: f64, z: f64) -> f64 = libm::fma(x, y, z), "`x * y + z`, rounded once";
    fmaf(x: f32, y: f32, z: f32) -> f32 = libm::fmaf(x, y, z), "`x * y + z`, rounded once";
    fdim(x: f64, y: f64) -> f64 = libm::fdim(x, y), "`x - y` if that is positive, else 0";
    fdimf(x: f32, y: f32) -> f32 = libm::fdimf(x, y), "`x - y` if that is positive, else 0";
}
