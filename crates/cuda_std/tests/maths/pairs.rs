//! Functions with pointers, and the traits' approximations.

use std::f64::consts::PI;

use crate::device::{Source, numbers, run};
use crate::ulp;

/// f32s and f64s of all sizes, the same values in both.
fn arguments(count: usize) -> (Vec<f32>, Vec<[u64; 4]>, Vec<[u64; 4]>) {
    let values: Vec<f32> = numbers(31)
        .map(|number| f32::from_bits(number as u32))
        .filter(|value| value.is_finite())
        .take(count)
        .chain([0.0, -0.0, 1.0, -0.75, f32::from_bits(1), f32::MAX])
        .collect();
    let narrow = values.iter().map(|x| [x.to_bits().into(), 0, 0, 0]).collect();
    let wide = values.iter().map(|&x| [f64::from(x).to_bits(), 0, 0, 0]).collect();
    (values, narrow, wide)
}

#[test]
fn fractions_and_exponents_come_apart() {
    let (values, narrow, wide) = arguments(801);
    for source in Source::all() {
        let of_f32 = run(source, "k_frexpf", &narrow);
        let of_f64 = run(source, "k_frexp", &wide);
        for ((&x, a), b) in values.iter().zip(&of_f32).zip(&of_f64) {
            let (fraction, exponent) = (f32::from_bits(a[0] as u32), a[1] as i32);
            assert_eq!(f64::from(fraction) * 2_f64.powi(exponent), f64::from(x), "{x} {source:?}");
            assert!(x == 0.0 && exponent == 0 || (0.5..1.0).contains(&fraction.abs()), "{x}");
            assert_eq!((f64::from_bits(b[0]), b[1]), (fraction.into(), a[1]), "{x} {source:?}");
        }
        let of_f32 = run(source, "k_modff", &narrow);
        let of_f64 = run(source, "k_modf", &wide);
        for ((&x, a), b) in values.iter().zip(&of_f32).zip(&of_f64) {
            let expected = [x.fract().copysign(x), x.trunc()];
            assert_eq!(a.map(|word| f32::from_bits(word as u32)), expected, "{x} {source:?}");
            assert_eq!(b.map(f64::from_bits), expected.map(f64::from), "{x} {source:?}");
            assert_eq!(a[0] >> 31, u64::from(x.is_sign_negative()), "{x} keeps its sign");
        }
    }
}

#[test]
fn remainders_come_with_the_quotient() {
    let numbers: Vec<u64> = numbers(32).take(2 * 700).collect();
    let values: Vec<[f32; 2]> = numbers
        .chunks_exact(2)
        .map(|pair| {
            [(pair[0] as i32 >> 8) as f32 / 64.0, ((pair[1] as i32 >> 20) as f32 + 0.5) / 16.0]
        })
        .collect();
    let narrow: Vec<[u64; 4]> =
        values.iter().map(|[x, y]| [x.to_bits().into(), y.to_bits().into(), 0, 0]).collect();
    let wide: Vec<[u64; 4]> = values
        .iter()
        .map(|&[x, y]| [f64::from(x).to_bits(), f64::from(y).to_bits(), 0, 0])
        .collect();
    for source in Source::all() {
        let of_f32 = run(source, "k_remquof", &narrow);
        let of_f64 = run(source, "k_remquo", &wide);
        for (i, &[x, y]) in values.iter().enumerate() {
            // Both are multiples of 1/64 and 1/32, so integers do it exactly.
            let (a, b) = ((x * 64.0) as i64, (y * 64.0) as i64);
            let mut quotient = a.div_euclid(b);
            let twice = 2 * (a - quotient * b);
            if twice.abs() > b.abs() || twice.abs() == b.abs() && quotient % 2 != 0 {
                quotient += b.signum();
            }
            let rest = (a - quotient * b) as f64 / 64.0;
            for (found, low) in [
                (f64::from(f32::from_bits(of_f32[i][0] as u32)), of_f32[i][1] as i32),
                (f64::from_bits(of_f64[i][0]), of_f64[i][1] as i32),
            ] {
                assert_eq!(found, rest, "{x}, {y} {source:?}");
                assert_eq!(i64::from(low) & 7, quotient & 7, "{x}, {y} {source:?}");
                assert!(low == 0 || (low < 0) == (quotient < 0), "{x}, {y} {source:?}");
            }
        }
    }
}

#[test]
fn sine_and_cosine_are_those_of_the_single_functions() {
    let (_, narrow, wide) = arguments(600);
    for source in Source::all() {
        for (both, sin, cos, words) in [
            ("sincosf", "sinf", "cosf", &narrow),
            ("sincospif", "sinpif", "cospif", &narrow),
            ("fast_sincosf", "fast_sinf", "fast_cosf", &narrow),
            ("sincos", "sin", "cos", &wide),
            ("sincospi", "sinpi", "cospi", &wide),
        ] {
            let [both, sin, cos] =
                [both, sin, cos].map(|name| run(source, &format!("k_{name}"), words));
            for ((both, sin), cos) in both.iter().zip(&sin).zip(&cos) {
                assert_eq!(*both, [sin[0], cos[0]], "{source:?}");
            }
        }
    }
}

#[test]
fn norms_take_any_number_of_components() {
    let values: Vec<[f32; 4]> = numbers(33)
        .map(|n| [0, 13, 27, 40].map(|shift| (n >> shift & 0xFFF) as f32 / 64.0 - 30.0))
        .take(500)
        .collect();
    let narrow: Vec<[u64; 4]> = values.iter().map(|v| v.map(|x| x.to_bits().into())).collect();
    let wide: Vec<[u64; 4]> = values.iter().map(|v| v.map(|x| f64::from(x).to_bits())).collect();
    for source in Source::all() {
        let of_f32 = run(source, "k_normf", &narrow);
        let of_f64 = run(source, "k_norm", &wide);
        for (i, value) in values.iter().enumerate() {
            let square = |n: usize| value[..n].iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
            let exact = [square(4).sqrt(), 1.0 / square(3).sqrt()];
            for (j, exact) in exact.into_iter().enumerate() {
                let got = f32::from_bits(of_f32[i][j] as u32);
                assert!(ulp::of_f32(got, exact, 0.0) < 4.0, "{value:?}: {got}, {exact}");
                let got = f64::from_bits(of_f64[i][j]);
                assert!(ulp::of_f64(got, exact, 0.0, 0.0) < 8.0, "{value:?}: {got}, {exact}");
            }
        }
    }
}

#[test]
fn nans_carry_their_tag() {
    let tags = [0_u64, 1, 2, 3, 4].map(|tag| [tag, 0, 0, 0]);
    let found = run(Source::Fallback, "k_nan", &tags);
    for (found, payload) in found.iter().zip([0_u64, 0x1234, 0o77, 99, 0]) {
        assert_eq!(*found, [0x7FF8 << 48 | payload, 0x7FC0_0000 | payload]);
    }
}

/// PTX ISA, "Floating Point Instructions": the largest relative errors, or absolute where the result goes through 0.
#[test]
fn approximations_keep_to_the_errors_that_ptx_allows() {
    type Case = (&'static str, usize, fn(f64, f64) -> f64, f64, (f64, f64));
    let cases: [Case; 15] = [
        ("fast_recip", 1, |x, _| 1.0 / x, 2e-7, (0.01, 100.0)),
        ("fast_sqrt", 1, |x, _| x.sqrt(), 2e-7, (0.01, 100.0)),
        ("fast_rsqrt", 1, |x, _| 1.0 / x.sqrt(), 2e-7, (0.01, 100.0)),
        ("fast_div", 2, |x, y| x / y, 3e-7, (0.01, 100.0)),
        ("fast_sin", 1, |x, _| x.sin(), 1e-6, (-PI, PI)),
        ("fast_cos", 1, |x, _| x.cos(), 1e-6, (-PI, PI)),
        ("fast_tan", 1, |x, _| x.tan(), 3e-6, (-1.0, 1.0)),
        ("fast_tanh", 1, |x, _| x.tanh(), 1e-3, (-8.0, 8.0)),
        ("fast_exp", 1, |x, _| x.exp(), 2e-6, (-5.0, 5.0)),
        ("fast_exp2", 1, |x, _| x.exp2(), 3e-7, (-5.0, 5.0)),
        ("fast_exp10", 1, |x, _| 10_f64.powf(x), 2e-6, (-3.0, 3.0)),
        ("fast_log", 1, |x, _| x.ln(), 1e-6, (0.01, 100.0)),
        ("fast_log2", 1, |x, _| x.log2(), 1e-6, (0.01, 100.0)),
        ("fast_log10", 1, |x, _| x.log10(), 1e-6, (0.01, 100.0)),
        ("fast_pow", 2, f64::powf, 3e-6, (0.1, 5.0)),
    ];
    for (seed, (name, count, exact, limit, (low, high))) in (40..).zip(cases) {
        let values: Vec<[f32; 2]> = numbers(seed)
            .map(|n| {
                [n as u32, (n >> 32) as u32]
                    .map(|part| (low + (high - low) * f64::from(part) / 2_f64.powi(32)) as f32)
            })
            .take(701)
            .collect();
        let words: Vec<[u64; 4]> =
            values.iter().map(|[x, y]| [x.to_bits().into(), y.to_bits().into(), 0, 0]).collect();
        for source in Source::all() {
            let found = run(source, &format!("m_{name}"), &words);
            for (found, &[x, y]) in found.iter().zip(&values) {
                let exact = exact(x.into(), if count == 2 { y.into() } else { 0.0 });
                let got = f64::from(f32::from_bits(found[0] as u32));
                // Relative above 1, absolute below.
                let error = (got - exact).abs() / exact.abs().max(1.0);
                assert!(error <= limit, "{name} of {x}, {y}: {got}, not {exact}");
            }
        }
    }
}
