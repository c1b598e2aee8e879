//! On the host, each method is the standard library's of the same name, or the function its name says.

use super::{FloatExt, GpuFloat};

/// A test that compares methods of `GpuFloat` with inherent ones.
macro_rules! methods {
    ($test:ident, $F:ident) => {
        #[test]
        fn $test() {
            let values: [$F; 11] =
                [0.3, -0.7, 1.5, 2.5, -3.25, 10.0, 0.0, 1.0, -1.0, $F::INFINITY, $F::NAN];
            for x in values {
                methods! {
                    @compare $F, x;
                    floor() ceil() round() trunc() fract() abs() signum() copysign(-2.0)
                    mul_add(3.0, 0.1) div_euclid(1.25) div_euclid(-0.75) rem_euclid(1.25) rem_euclid(-0.75)
                    powi(3) powi(-2) powf(1.7) sqrt() exp() exp2() ln() log(3.0) log2() log10() cbrt()
                    hypot(1.5) sin() cos() tan() asin() acos() atan() atan2(-0.4) exp_m1() ln_1p()
                    sinh() cosh() tanh() asinh() acosh() atanh()
                }
                let (sin, cos) = GpuFloat::sin_cos(x);
                assert!(sin.is_nan() && cos.is_nan() || (sin, cos) == (GpuFloat::sin(x), GpuFloat::cos(x)));
            }
        }
    };
    (@compare $F:ident, $x:ident; $($name:ident($($y:expr),*))+) => {$(
        let (found, expected) = (<$F as GpuFloat>::$name($x $(, $y)*), $F::$name($x $(, $y)*));
        let near = (found - expected).abs() <= 8.0 * $F::EPSILON * expected.abs();
        assert!(
            near || found == expected || found.is_nan() && expected.is_nan(),
            "{} of {}: {found}, {expected}", stringify!($name), $x
        );
    )+};
}

methods!(methods_of_f32_are_the_standard_librarys, f32);
methods!(methods_of_f64_are_the_standard_librarys, f64);

#[test]
fn further_methods_are_what_their_names_say() {
    // DLMF's tables and definitions.
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() <= 1e-15 * expected.abs().max(1.0), "{found}, {expected}");
    };
    near(0.25.sinpi(), 0.5_f64.sqrt());
    near(0.25.cospi(), 0.5_f64.sqrt());
    near(1.5.error_function(), 0.966_105_146_475_310_7);
    near(1.5.complementary_error_function(), 0.033_894_853_524_689_27);
    near(1.5.scaled_complementary_error_function(), 0.321_585_416_454_317_5);
    near(0.5.inv_error_function(), 0.476_936_276_204_469_9);
    near(0.5.inv_complementary_error_function(), 0.476_936_276_204_469_9);
    near(1.0.norm_cdf(), 0.841_344_746_068_542_9);
    near(0.975.inv_norm_cdf(), 1.959_963_984_540_054);
    near(5.0.gamma(), 24.0);
    near(5.0.log_gamma(), 24_f64.ln());
    near(1.0.j0(), 0.765_197_686_557_966_6);
    near(1.0.j1(), 0.440_050_585_744_933_5);
    near(1.0.jn(2), 0.114_903_484_931_900_5);
    near(1.0.y0(), 0.088_256_964_215_676_96);
    near(1.0.y1(), -0.781_212_821_300_288_7);
    near(1.0.yn(2), -1.650_682_606_816_254_4);
    near(2.0.exp10(), 100.0);
    near(1.0.log1p(), 2_f64.ln());
    near(27.0.rcbrt(), 1.0 / 3.0);
    near(16.0.rsqrt(), 0.25);
    near(0.75.ldexp(4), 12.0);
    near(0.75.scale_by_n(-2), 0.1875);
    assert_eq!(FloatExt::frexp(12.0_f64), (0.75, 4));
    assert_eq!(12.0_f32.unbiased_exp(), 3);
    assert_eq!(0.5_f64.sincospi(), (1.0, 0.0));
    assert_eq!([-1.0_f64, 0.5, 7.0, f64::NAN].map(FloatExt::saturate), [0.0, 0.5, 1.0, 0.0]);
}
