//! The functions that Rust's standard library has for floating-point numbers and `core` has not.

use super::intrinsic_methods;

intrinsic_methods! {
    /// The floating-point methods of Rust's standard library, for kernels, which have only `core`.
    ///
    /// On the host the standard library's own methods go before these.
    ///
    /// ```
    /// use cuda_std::GpuFloat;
    ///
    /// fn length<T: GpuFloat>(x: T, y: T) -> T {
    ///     x.hypot(y)
    /// }
    /// assert_eq!(length(3.0_f32, 4.0), 5.0);
    /// ```
    pub trait GpuFloat {
        floor() = floor, floorf, "`self` rounded down to an integer";
        ceil() = ceil, ceilf, "`self` rounded up to an integer";
        round() = round, roundf, "`self` rounded to the nearest integer, from halfway away from zero";
        trunc() = trunc, truncf, "`self` rounded towards zero to an integer";
        abs() = fabs, fabsf, "The absolute value";
        copysign(sign: Self) = copysign, copysignf, "The absolute value with the sign of `sign`";
        mul_add(a: Self, b: Self) = fma, fmaf, "`self * a + b`, rounded once";
        powi(n: i32) = powi, powif, "`self` to the power of an integer";
        powf(n: Self) = pow, powf, "`self` to the power of `n`";
        sqrt() = sqrt, sqrtf, "The square root";
        exp() = exp, expf, "`e` to the power of `self`";
        exp2() = exp2, exp2f, "2 to the power of `self`";
        ln() = log, logf, "The natural logarithm";
        log2() = log2, log2f, "The logarithm to base 2";
        log10() = log10, log10f, "The logarithm to base 10";
        cbrt() = cbrt, cbrtf, "The cube root";
        hypot(other: Self) = hypot, hypotf, "`sqrt(self² + other²)`, without overflow or underflow on the way";
        sin() = sin, sinf, "The sine of `self` radians";
        cos() = cos, cosf, "The cosine of `self` radians";
        tan() = tan, tanf, "The tangent of `self` radians";
        asin() = asin, asinf, "The angle in radians, -π/2 to π/2, with this sine";
        acos() = acos, acosf, "The angle in radians, 0 to π, with this cosine";
        atan() = atan, atanf, "The angle in radians, -π/2 to π/2, with this tangent";
        atan2(other: Self) = atan2, atan2f, "The angle in radians, -π to π, of the point (`other`, `self`)";
        exp_m1() = expm1, expm1f, "`e` to the power of `self`, minus 1, accurate also near 0";
        ln_1p() = log1p, log1pf, "The natural logarithm of `1 + self`, accurate also near 0";
        sinh() = sinh, sinhf, "The hyperbolic sine";
        cosh() = cosh, coshf, "The hyperbolic cosine";
        tanh() = tanh, tanhf, "The hyperbolic tangent";
        asinh() = asinh, asinhf, "The number with this hyperbolic sine";
        acosh() = acosh, acoshf, "The number from 0 on with this hyperbolic cosine";
        atanh() = atanh, atanhf, "The number with this hyperbolic tangent";
    }

    /// `self` minus its integer part.
    fn fract(self) -> Self {
        self - GpuFloat::trunc(self)
    }

    /// 1 with the sign of `self`; NaN for NaN.
    fn signum(self) -> Self {
        if self.is_nan() { self } else { GpuFloat::copysign(1.0, self) }
    }

    /// The logarithm to `base`: [`ln`](Self::ln) divided by that of `base`, so it may be off by a unit in the last place where
    /// [`log2`](Self::log2) and [`log10`](Self::log10) are exact.
    fn log(self, base: Self) -> Self {
        GpuFloat::ln(self) / GpuFloat::ln(base)
    }

    /// The quotient, rounded so that [`rem_euclid`](Self::rem_euclid) is not negative.
    fn div_euclid(self, rhs: Self) -> Self {
        let quotient = GpuFloat::trunc(self / rhs);
        if self % rhs >= 0.0 {
            quotient
        } else if rhs > 0.0 {
            quotient - 1.0
        } else {
            quotient + 1.0
        }
    }

    /// The least number that is not negative and differs from `self` by a multiple of `rhs`; rounded, it may be `|rhs|` itself.
    fn rem_euclid(self, rhs: Self) -> Self {
        let rest = self % rhs;
        if rest < 0.0 { rest + GpuFloat::abs(rhs) } else { rest }
    }

    /// Sine and cosine of `self` radians.
    fn sin_cos(self) -> (Self, Self) {
        (GpuFloat::sin(self), GpuFloat::cos(self))
    }
}
