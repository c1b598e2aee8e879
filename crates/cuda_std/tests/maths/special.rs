//! NaN, zeros, infinities, the smallest and the largest numbers.

use crate::device::{Source, run};
use crate::ulp;

const VALUES: [f64; 11] =
    [f64::NAN, 0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 0.5, -0.5, 2.0, -3.0];

type Unary = fn(f64) -> f64;
/// Two arguments and the result.
type Case = (f64, f64, f64);

/// Unary functions of the standard library; f32's have an `f` at the end here.
const STANDARD: &[(&str, Unary)] = &[
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("asinh", f64::asinh),
    ("acosh", f64::acosh),
    ("atanh", f64::atanh),
    ("exp", f64::exp),
    ("exp2", f64::exp2),
    ("expm1", f64::exp_m1),
    ("log", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("log1p", f64::ln_1p),
    ("cbrt", f64::cbrt),
    ("sqrt", f64::sqrt),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
    ("round", f64::round),
    ("rint", f64::round_ties_even),
    ("nearbyint", f64::round_ties_even),
    ("fabs", f64::abs),
];

/// What the others give (C23, 7.12 and annex F; CUDA's guide for those that C lacks): argument, result.
const OTHERS: &[(&str, &[(f64, f64)])] = {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    &[
        (
            "sinpi",
            &[
                (NAN, NAN),
                (INF, NAN),
                (0.0, 0.0),
                (-0.0, -0.0),
                (3.0, 0.0),
                (-3.0, -0.0),
                (0.5, 1.0),
                (1.5, -1.0),
            ],
        ),
        (
            "cospi",
            &[
                (NAN, NAN),
                (INF, NAN),
                (0.0, 1.0),
                (-0.0, 1.0),
                (3.0, -1.0),
                (0.5, 0.0),
                (-1.5, 0.0),
            ],
        ),
        (
            "exp10",
            &[
                (NAN, NAN),
                (INF, INF),
                (-INF, 0.0),
                (0.0, 1.0),
                (2.0, 100.0),
                (-400.0, 0.0),
                (400.0, INF),
            ],
        ),
        (
            "rcbrt",
            &[
                (NAN, NAN),
                (INF, 0.0),
                (-INF, -0.0),
                (0.0, INF),
                (-0.0, -INF),
                (8.0, 0.5),
                (-8.0, -0.5),
            ],
        ),
        ("erf", &[(NAN, NAN), (INF, 1.0), (-INF, -1.0), (0.0, 0.0), (-0.0, -0.0), (30.0, 1.0)]),
        ("erfc", &[(NAN, NAN), (INF, 0.0), (-INF, 2.0), (0.0, 1.0), (-30.0, 2.0), (30.0, 0.0)]),
        ("erfcx", &[(NAN, NAN), (INF, 0.0), (-INF, INF), (0.0, 1.0), (-30.0, INF)]),
        (
            "erfinv",
            &[
                (NAN, NAN),
                (1.0, INF),
                (-1.0, -INF),
                (0.0, 0.0),
                (-0.0, -0.0),
                (1.5, NAN),
                (-INF, NAN),
            ],
        ),
        (
            "erfcinv",
            &[(NAN, NAN), (0.0, INF), (2.0, -INF), (1.0, 0.0), (-0.5, NAN), (2.5, NAN), (INF, NAN)],
        ),
        ("normcdf", &[(NAN, NAN), (INF, 1.0), (-INF, 0.0), (0.0, 0.5), (50.0, 1.0), (-50.0, 0.0)]),
        ("normcdfinv", &[(NAN, NAN), (0.0, -INF), (1.0, INF), (0.5, 0.0), (-0.5, NAN), (1.5, NAN)]),
        (
            "tgamma",
            &[
                (NAN, NAN),
                (INF, INF),
                (-INF, NAN),
                (0.0, INF),
                (-0.0, -INF),
                (-2.0, NAN),
                (5.0, 24.0),
                (200.0, INF),
            ],
        ),
        (
            "lgamma",
            &[(NAN, NAN), (INF, INF), (-INF, INF), (0.0, INF), (-2.0, INF), (1.0, 0.0), (2.0, 0.0)],
        ),
        ("j0", &[(NAN, NAN), (INF, 0.0), (-INF, 0.0), (0.0, 1.0)]),
        ("j1", &[(NAN, NAN), (INF, 0.0), (0.0, 0.0), (-0.0, -0.0)]),
        ("y0", &[(NAN, NAN), (INF, 0.0), (0.0, -INF), (-1.0, NAN)]),
        ("y1", &[(NAN, NAN), (INF, 0.0), (0.0, -INF), (-1.0, NAN)]),
        ("cyl_bessel_i0", &[(NAN, NAN), (INF, INF), (-INF, INF), (0.0, 1.0), (800.0, INF)]),
        ("cyl_bessel_i1", &[(NAN, NAN), (INF, INF), (-INF, -INF), (0.0, 0.0), (-800.0, -INF)]),
        ("logb", &[(NAN, NAN), (INF, INF), (-INF, INF), (0.0, -INF), (8.0, 3.0), (0.75, -1.0)]),
    ]
};

/// Binary functions: arguments, result.
const BINARY: &[(&str, &[Case])] = {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    use std::f64::consts::{FRAC_PI_2, PI};
    &[
        (
            "pow",
            &[
                (0.0, 0.0, 1.0),
                (NAN, 0.0, 1.0),
                (1.0, NAN, 1.0),
                (-8.0, 0.5, NAN),
                (-2.0, 3.0, -8.0),
                (0.0, -1.0, INF),
                (-0.0, -3.0, -INF),
                (-INF, 3.0, -INF),
                (2.0, INF, INF),
                (0.5, INF, 0.0),
                (-1.0, INF, 1.0),
                (NAN, 1.0, NAN),
            ],
        ),
        (
            "atan2",
            &[
                (0.0, 1.0, 0.0),
                (-0.0, 1.0, -0.0),
                (0.0, -1.0, PI),
                (-0.0, -1.0, -PI),
                (1.0, 0.0, FRAC_PI_2),
                (INF, 1.0, FRAC_PI_2),
                (NAN, 1.0, NAN),
                (1.0, NAN, NAN),
            ],
        ),
        (
            "hypot",
            &[
                (INF, NAN, INF),
                (NAN, -INF, INF),
                (NAN, 1.0, NAN),
                (0.0, -0.0, 0.0),
                (3.0, -4.0, 5.0),
            ],
        ),
        ("rhypot", &[(INF, 1.0, 0.0), (0.0, 0.0, INF), (NAN, 1.0, NAN), (0.0, 0.25, 4.0)]),
        (
            "fmod",
            &[
                (5.5, 2.0, 1.5),
                (-5.5, 2.0, -1.5),
                (1.0, 0.0, NAN),
                (INF, 1.0, NAN),
                (1.0, INF, 1.0),
                (-0.0, 1.0, -0.0),
                (NAN, 1.0, NAN),
            ],
        ),
        (
            "remainder",
            &[
                (5.5, 2.0, -0.5),
                (-5.0, 2.0, -1.0),
                (1.0, 0.0, NAN),
                (INF, 1.0, NAN),
                (1.0, INF, 1.0),
            ],
        ),
        ("fdim", &[(3.0, 1.0, 2.0), (1.0, 3.0, 0.0), (NAN, 1.0, NAN), (INF, -INF, INF)]),
        (
            "fmax",
            &[
                (NAN, 1.0, 1.0),
                (1.0, NAN, 1.0),
                (NAN, NAN, NAN),
                (-1.0, 2.0, 2.0),
                (-INF, INF, INF),
            ],
        ),
        (
            "fmin",
            &[
                (NAN, 1.0, 1.0),
                (1.0, NAN, 1.0),
                (NAN, NAN, NAN),
                (-1.0, 2.0, -1.0),
                (-INF, INF, -INF),
            ],
        ),
        ("copysign", &[(1.0, -0.0, -1.0), (-INF, 2.0, INF)]),
    ]
};

/// What is wrong with a result, if anything: NaN for NaN, zeros with their sign, the rest to 4 units in the last place.
fn check(got: f64, exact: f64, error: f64, what: &str) -> Option<String> {
    let good = if exact.is_nan() {
        got.is_nan()
    } else if exact == 0.0 || exact.is_infinite() {
        got.to_bits() == exact.to_bits()
    } else {
        error <= 4.0
    };
    (!good).then(|| format!("{what} is {got}, not {exact}"))
}

fn both_widths(
    source: Source,
    name: &str,
    arguments: &[Vec<f64>],
    exact: &[f64],
    wrong: &mut Vec<String>,
) {
    let narrow: Vec<[u64; 4]> = arguments
        .iter()
        .map(|a| std::array::from_fn(|i| a.get(i).map_or(0, |&x| (x as f32).to_bits().into())))
        .collect();
    let wide: Vec<[u64; 4]> = arguments
        .iter()
        .map(|a| std::array::from_fn(|i| a.get(i).map_or(0, |x| x.to_bits())))
        .collect();
    let of_f32 = run(source, &format!("k_{name}f"), &narrow);
    let of_f64 = run(source, &format!("k_{name}"), &wide);
    for (i, &exact) in exact.iter().enumerate() {
        let what = format!("{name} of {:?} from {source:?}", arguments[i]);
        let got = f32::from_bits(of_f32[i][0] as u32);
        wrong.extend(check(
            got.into(),
            exact,
            ulp::of_f32(got, exact, 0.0),
            &format!("f32 {what}"),
        ));
        let got = f64::from_bits(of_f64[i][0]);
        wrong.extend(check(got, exact, ulp::of_f64(got, exact, 0.0, 0.0), &what));
    }
}

#[test]
fn special_values_give_what_the_standards_say() {
    let mut wrong = Vec::new();
    for source in Source::all() {
        for (name, function) in STANDARD {
            let arguments: Vec<Vec<f64>> = VALUES.iter().map(|&x| vec![x]).collect();
            both_widths(source, name, &arguments, &VALUES.map(function), &mut wrong);
        }
        for (name, cases) in OTHERS {
            let arguments: Vec<Vec<f64>> = cases.iter().map(|case| vec![case.0]).collect();
            let exact: Vec<f64> = cases.iter().map(|case| case.1).collect();
            both_widths(source, name, &arguments, &exact, &mut wrong);
        }
        for (name, cases) in BINARY {
            let arguments: Vec<Vec<f64>> = cases.iter().map(|case| vec![case.0, case.1]).collect();
            let exact: Vec<f64> = cases.iter().map(|case| case.2).collect();
            both_widths(source, name, &arguments, &exact, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn subnormal_numbers_are_kept() {
    // Smallest subnormal numbers of both types: results that are exact, or round to themselves.
    let tiny = [f64::from(f32::from_bits(1)), f64::from(f32::from_bits(0x007F_FFFF))];
    let bits = tiny.map(|x| [u64::from((x as f32).to_bits()), 0, 0, 0]);
    for source in Source::all() {
        for name in
            ["sinf", "tanf", "asinf", "atanf", "sinhf", "tanhf", "asinhf", "expm1f", "log1pf"]
        {
            let found = run(source, &format!("k_{name}"), &bits);
            for (found, x) in found.iter().zip(tiny) {
                assert_eq!(f64::from(f32::from_bits(found[0] as u32)), x, "{name} from {source:?}");
            }
        }
        let wide = [1_u64, 0x000F_FFFF_FFFF_FFFF];
        let words = wide.map(|word| [word, 0, 0, 0]);
        for name in ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "expm1", "log1p"] {
            let found = run(source, &format!("k_{name}"), &words);
            let found: Vec<u64> = found.iter().map(|found| found[0]).collect();
            assert_eq!(found, wide, "{name} from {source:?}");
        }
    }
}

#[test]
fn classes_and_integers_of_numbers() {
    let narrow: Vec<[u64; 4]> =
        VALUES.iter().map(|&x| [(x as f32).to_bits().into(), 0, 0, 0]).collect();
    let wide: Vec<[u64; 4]> = VALUES.iter().map(|x| [x.to_bits(), 0, 0, 0]).collect();
    type Class = (&'static str, &'static str, fn(f64) -> i64);
    let classes: [Class; 8] = [
        ("isnanf", "isnand", |x| (x != x).into()),
        ("isinff", "isinfd", |x| (x.abs() == f64::INFINITY).into()),
        ("finitef", "isfinited", |x| (x.abs() < f64::INFINITY).into()),
        ("signbitf", "signbitd", |x| (x.to_bits() >> 63) as i64),
        ("ilogbf", "ilogb", |x| match x.abs() {
            0.5 => -1,
            1.0 => 0,
            2.0 | 3.0 => 1,
            f64::INFINITY => i32::MAX.into(),
            _ => i32::MIN.into(),
        }),
        ("llrintf", "llrint", |x| x.round_ties_even() as i64),
        ("llroundf", "llround", |x| x.round() as i64),
        ("saturatef", "", |x| f32::to_bits(if x > 0.0 { x.min(1.0) as f32 } else { 0.0 }).into()),
    ];
    for source in Source::all() {
        for (of_f32, of_f64, expected) in classes {
            for (name, words) in [(of_f32, &narrow), (of_f64, &wide)] {
                if name.is_empty() {
                    continue;
                }
                let found = run(source, &format!("k_{name}"), words);
                for (found, &x) in found.iter().zip(&VALUES) {
                    let expected = expected(x);
                    let bits = if name.starts_with("ll") { u64::MAX } else { u32::MAX.into() };
                    assert_eq!(found[0], expected as u64 & bits, "{name} of {x} from {source:?}");
                }
            }
        }
    }
}
