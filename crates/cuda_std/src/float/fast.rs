//! Approximations of one instruction, or a few.

use super::sealed::Sealed;
use crate::intrinsics;

macro_rules! fast {
    ($($name:ident($($x:ident),*) = $intrinsic:path, $text:literal, $ptx:literal;)+) => {
        /// Fast approximations of f32 functions, by the instructions that GPUs have for them: CUDA's `__sinf`, `__expf` and so on.
        ///
        /// Most are good to about 2 units in the last place where the argument is of moderate size, and lose bits beyond;
        /// the repository's `docs/maths.md` has them measured. On the host they panic.
        ///
        /// ```no_run
        /// use cuda_std::FastFloat;
        ///
        /// fn sigmoid(x: f32) -> f32 {
        ///     1.0_f32.fast_div(1.0 + (-x).fast_exp())
        /// }
        /// ```
        pub trait FastFloat: Copy + Sealed {
            $(
                #[doc = concat!($text, ". PTX: ", $ptx, ".")]
                #[must_use]
                fn $name(self $(, $x: Self)*) -> Self;
            )+
            /// Sine and cosine of `self` radians. PTX: `sin.approx`, `cos.approx`.
            #[must_use]
            fn fast_sin_cos(self) -> (Self, Self);
        }

        impl FastFloat for f32 {
            $(
                #[inline(always)]
                fn $name(self $(, $x: Self)*) -> Self {
                    $intrinsic(self $(, $x)*)
                }
            )+

            #[inline(always)]
            fn fast_sin_cos(self) -> (Self, Self) {
                (intrinsics::fast_sinf(self), intrinsics::fast_cosf(self))
            }
        }
    };
}

fast! {
    fast_sin() = intrinsics::fast_sinf, "The sine of `self` radians, best from -π to π", "`sin.approx`";
    fast_cos() = intrinsics::fast_cosf, "The cosine of `self` radians, best from -π to π", "`cos.approx`";
    fast_tan() = intrinsics::fast_tanf, "The tangent of `self` radians", "`sin.approx`, `cos.approx`, `div.approx`";
    fast_tanh() = intrinsics::fast_tanhf, "The hyperbolic tangent, to about 3 digits", "`tanh.approx`, PTX ISA 7.0, sm_75";
    fast_exp() = intrinsics::fast_expf, "`e` to the power of `self`", "`ex2.approx`";
    fast_exp2() = intrinsics::fast_exp2f, "2 to the power of `self`", "`ex2.approx`";
    fast_exp10() = intrinsics::fast_exp10f, "10 to the power of `self`", "`ex2.approx`";
    fast_log() = intrinsics::fast_logf, "The natural logarithm", "`lg2.approx`";
    fast_log2() = intrinsics::fast_log2f, "The logarithm to base 2", "`lg2.approx`";
    fast_log10() = intrinsics::fast_log10f, "The logarithm to base 10", "`lg2.approx`";
    fast_pow(n) = intrinsics::fast_powf, "`self`, which is positive, to the power of `n`", "`lg2.approx`, `ex2.approx`";
    fast_div(divisor) = intrinsics::fast_fdividef, "`self / divisor`; 0 for a divisor above 2^126", "`div.approx`";
    fast_recip() = intrinsics::rcp_approx, "`1 / self`", "`rcp.approx`";
    fast_sqrt() = intrinsics::sqrt_approx, "The square root", "`sqrt.approx`";
    fast_rsqrt() = intrinsics::rsqrtf, "`1 / sqrt(self)`", "`rsqrt.approx`";
}
