//! libdevice's functions that Rust's standard library has not.

use super::intrinsic_methods;
use crate::intrinsics;

intrinsic_methods! {
    /// More functions of f32 and f64: error functions, gamma, Bessel functions, those of the normal distribution.
    ///
    /// ```
    /// use cuda_std::FloatExt;
    ///
    /// assert_eq!(0.0_f64.norm_cdf(), 0.5);
    /// assert_eq!(5.0_f32.gamma(), 24.0);
    /// assert_eq!(12.0_f32.frexp(), (0.75, 4));
    /// ```
    pub trait FloatExt {
        sinpi() = sinpi, sinpif, "The sine of `π self` radians";
        cospi() = cospi, cospif, "The cosine of `π self` radians";
        error_function() = erf, erff, "The error function";
        complementary_error_function() = erfc, erfcf, "1 minus the error function, accurate also where that is small";
        scaled_complementary_error_function() = erfcx, erfcxf, "The complementary error function times `e` to the power of `self²`";
        inv_error_function() = erfinv, erfinvf, "The number whose error function is `self`";
        inv_complementary_error_function() = erfcinv, erfcinvf, "The number whose complementary error function is `self`, which is between 0 and 2";
        norm_cdf() = normcdf, normcdff, "The standard normal distribution up to `self`";
        inv_norm_cdf() = normcdfinv, normcdfinvf, "The number up to which the standard normal distribution is `self`, which is between 0 and 1";
        gamma() = tgamma, tgammaf, "The gamma function";
        log_gamma() = lgamma, lgammaf, "The natural logarithm of the absolute value of the gamma function";
        j0() = j0, j0f, "The Bessel function of the first kind, order 0";
        j1() = j1, j1f, "The Bessel function of the first kind, order 1";
        y0() = y0, y0f, "The Bessel function of the second kind, order 0";
        y1() = y1, y1f, "The Bessel function of the second kind, order 1";
        exp10() = exp10, exp10f, "10 to the power of `self`";
        log1p() = log1p, log1pf, "The natural logarithm of `1 + self`";
        rcbrt() = rcbrt, rcbrtf, "1 divided by the cube root";
        rsqrt() = rsqrt, rsqrtf, "1 divided by the square root; for f32 an approximation of one instruction, which a host lacks. PTX: `rsqrt.approx.f32`";
        ldexp(exp: i32) = ldexp, ldexpf, "`self` times 2 to the power of `exp`";
        scale_by_n(exp: i32) = scalbn, scalbnf, "`self` times 2 to the power of `exp`";
    }

    /// The Bessel function of the first kind, order `order`.
    fn jn(self, order: i32) -> Self {
        Bessel::first(self, order)
    }

    /// The Bessel function of the second kind, order `order`.
    fn yn(self, order: i32) -> Self {
        Bessel::second(self, order)
    }

    /// Fraction and exponent: `self` is their first times 2 to the power of the second, and the first is 0 or from 0.5 to below 1.
    fn frexp(self) -> (Self, i32) {
        libm::Libm::<Self>::frexp(self)
    }

    /// The exponent: `floor(log2(|self|))`; `i32::MIN` for 0 and NaN, `i32::MAX` for infinity.
    fn unbiased_exp(self) -> i32 {
        libm::Libm::<Self>::ilogb(self)
    }

    /// Sine and cosine of `π self` radians.
    fn sincospi(self) -> (Self, Self) {
        (self.sinpi(), self.cospi())
    }

    /// `self` clamped to 0 … 1; 0 for NaN.
    fn saturate(self) -> Self {
        if self > 0.0 { self.min(1.0) } else { 0.0 }
    }
}

/// Functions whose order goes first.
trait Bessel: Sized {
    fn first(self, order: i32) -> Self;
    fn second(self, order: i32) -> Self;
}

impl Bessel for f64 {
    #[inline(always)]
    fn first(self, order: i32) -> Self {
        intrinsics::jn(order, self)
    }

    #[inline(always)]
    fn second(self, order: i32) -> Self {
        intrinsics::yn(order, self)
    }
}

impl Bessel for f32 {
    #[inline(always)]
    fn first(self, order: i32) -> Self {
        intrinsics::jnf(order, self)
    }

    #[inline(always)]
    fn second(self, order: i32) -> Self {
        intrinsics::ynf(order, self)
    }
}
