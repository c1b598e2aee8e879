//! The methods of `GpuFloat`, `FloatExt` and `FastFloat`: those that are an intrinsic give its bits, whose accuracy is tested
//! elsewhere, and the others what the standard library gives.

use crate::device::{Source, numbers, run};

/// A method's kernels for f64 and f32, the types of its arguments, and the kernels of the intrinsics that it is.
struct Method {
    kernels: [&'static str; 2],
    takes: &'static [&'static str],
    intrinsics: [&'static str; 2],
}

macro_rules! methods {
    ($($wide:ident, $narrow:ident = $Trait:ident::$method:ident($($A:ident),+), $of_f64:ident, $of_f32:ident;)+) => {
        const METHODS: &[Method] = &[$(Method {
            kernels: [stringify!($wide), stringify!($narrow)],
            takes: &[$(stringify!($A)),+],
            intrinsics: [stringify!($of_f64), stringify!($of_f32)],
        }),+];
    };
}

include!("../device_maths/src/method_table.rs");

/// A type of numbers, by its place in [`Method`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    F64,
    F32,
}

const WIDTHS: [Width; 2] = [Width::F64, Width::F32];

impl Width {
    fn of(self, names: [&'static str; 2]) -> &'static str {
        names[self as usize]
    }

    fn word(self, value: f64) -> u64 {
        match self {
            Self::F64 => value.to_bits(),
            Self::F32 => (value as f32).to_bits().into(),
        }
    }

    fn value(self, word: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(word),
            Self::F32 => f32::from_bits(word as u32).into(),
        }
    }

    /// Whether two words are the same number with the same sign. NaNs are all the same: their bits are nobody's promise.
    fn same(self, a: u64, b: u64) -> bool {
        a == b || self.value(a).is_nan() && self.value(b).is_nan()
    }

    /// The numbers that differ from others: zeros, ones, the ends of the ranges.
    fn special(self) -> Vec<u64> {
        let (least, normal, most) = match self {
            Self::F64 => (f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX),
            Self::F32 => (f32::from_bits(1).into(), f32::MIN_POSITIVE.into(), f32::MAX.into()),
        };
        let positive = [0.0, 1.0, 0.5, 2.5, 40.0, least, normal, most, f64::INFINITY];
        let mut words: Vec<u64> =
            positive.iter().flat_map(|&value| [self.word(value), self.word(-value)]).collect();
        words.push(self.word(f64::NAN));
        words
    }

    /// A number of any size, a moderate or a small one, or a special one.
    fn draw(self, numbers: &mut impl Iterator<Item = u64>) -> u64 {
        let mut next = || numbers.next().expect("there is always another");
        let (pick, number) = (next(), next());
        let fraction = number as i64 as f64 / 2_f64.powi(63);
        let special = self.special();
        match (pick % 4, self) {
            (0, Self::F64) => number,
            (0, Self::F32) => number & u64::from(u32::MAX),
            (1, _) => self.word(fraction),
            (2, _) => self.word(40.0 * fraction),
            _ => special[(pick >> 8) as usize % special.len()],
        }
    }
}

/// An integer near 0, or one of those that move a number to the ends of its range and beyond.
fn draw_integer(numbers: &mut impl Iterator<Item = u64>) -> u64 {
    const FAR: [i32; 10] = [i32::MIN, i32::MAX, -150, 150, -280, 280, -1100, 1100, -2200, 2200];
    let number = numbers.next().expect("there is always another");
    let near = (number >> 8) as i32 % 41;
    let far = FAR[(number >> 8) as usize % FAR.len()];
    u64::from(if number.is_multiple_of(4) { far } else { near } as u32)
}

/// Arguments of these types: each special number first, then anything.
fn arguments(width: Width, seed: u64, takes: &[&str]) -> Vec<[u64; 4]> {
    let mut numbers = numbers(seed);
    let mut words = |_| {
        let mut words = [0; 4];
        for (word, ty) in words.iter_mut().zip(takes) {
            *word = match *ty {
                "i32" => draw_integer(&mut numbers),
                _ => width.draw(&mut numbers),
            };
        }
        words
    };
    let mut arguments: Vec<[u64; 4]> = (0..261).map(&mut words).collect();
    for (arguments, special) in arguments.iter_mut().zip(width.special()) {
        arguments[0] = special;
    }
    arguments
}

#[test]
fn methods_that_are_intrinsics_give_their_bits() {
    for source in Source::all() {
        for (seed, method) in (60..).zip(METHODS) {
            for width in WIDTHS {
                let arguments = arguments(width, seed, method.takes);
                let kernel = width.of(method.kernels);
                let found = run(source, kernel, &arguments);
                let expected = run(source, width.of(method.intrinsics), &arguments);
                for ((found, expected), arguments) in found.iter().zip(expected).zip(arguments) {
                    let [found, expected] = [found[0], expected[0]];
                    let same = width.same(found, expected);
                    assert!(
                        same,
                        "{kernel} of {arguments:x?}, {source:?}: {found:x}, not {expected:x}"
                    );
                }
            }
        }
    }
}

/// A method with an intrinsic for each result, or one whose order goes first: kernels for f64 and f32.
struct Several {
    kernels: [&'static str; 2],
    intrinsics: &'static [[&'static str; 2]],
    takes: &'static [&'static str],
}

const SEVERAL: [Several; 5] = [
    Several {
        kernels: ["m_sin_cos_f64", "m_sin_cos_f32"],
        intrinsics: &[["k_sin", "k_sinf"], ["k_cos", "k_cosf"]],
        takes: &["T"],
    },
    Several {
        kernels: ["m_sincospi_f64", "m_sincospi_f32"],
        intrinsics: &[["k_sinpi", "k_sinpif"], ["k_cospi", "k_cospif"]],
        takes: &["T"],
    },
    Several {
        kernels: ["m_jn_f64", "m_jn_f32"],
        intrinsics: &[["k_jn", "k_jnf"]],
        takes: &["order", "T"],
    },
    Several {
        kernels: ["m_yn_f64", "m_yn_f32"],
        intrinsics: &[["k_yn", "k_ynf"]],
        takes: &["order", "T"],
    },
    Several {
        kernels: ["m_unbiased_exp_f64", "m_unbiased_exp_f32"],
        intrinsics: &[["k_ilogb", "k_ilogbf"]],
        takes: &["T"],
    },
];

/// Compares the results of a kernel with those of others, one for each result.
#[track_caller]
fn check_several(width: Width, source: Source, names: (&str, &[&str]), arguments: &[[u64; 4]]) {
    let (kernel, intrinsics) = names;
    let found = run(source, kernel, arguments);
    for (result, name) in intrinsics.iter().enumerate() {
        let expected = run(source, name, arguments);
        for ((found, expected), arguments) in found.iter().zip(expected).zip(arguments) {
            let [found, expected] = [found[result], expected[0]];
            let same = width.same(found, expected);
            assert!(
                same,
                "{kernel} of {arguments:x?}, {source:?}: {found:x}, not {expected:x} as {name}"
            );
        }
    }
}

#[test]
fn methods_of_several_intrinsics_give_their_bits() {
    for source in Source::all() {
        for (seed, method) in (200..).zip(SEVERAL) {
            for width in WIDTHS {
                let mut arguments = arguments(width, seed, method.takes);
                if method.takes[0] == "order" {
                    // Few steps: a Bessel function takes one for each order.
                    for (order, words) in (0..).zip(&mut arguments) {
                        words[0] = u64::from((order % 17 - 4) as u32);
                    }
                }
                let intrinsics: Vec<&str> =
                    method.intrinsics.iter().map(|names| width.of(*names)).collect();
                let names = (width.of(method.kernels), &*intrinsics);
                check_several(width, source, names, &arguments);
            }
        }
        let arguments = arguments(Width::F32, 210, &["T"]);
        let names = ("m_fast_sin_cos", &["k_fast_sinf", "k_fast_cosf"][..]);
        check_several(Width::F32, source, names, &arguments);
    }
}

/// Divides as a type of that width does.
fn quotient(width: Width, a: u64, b: u64) -> u64 {
    match width {
        Width::F64 => (f64::from_bits(a) / f64::from_bits(b)).to_bits(),
        Width::F32 => (f32::from_bits(a as u32) / f32::from_bits(b as u32)).to_bits().into(),
    }
}

/// Two logarithms divided, and near what the standard library gives where that is an ordinary number.
#[test]
fn logarithms_to_a_base_are_quotients() {
    for source in Source::all() {
        for (width, epsilon) in [(Width::F64, f64::EPSILON), (Width::F32, f32::EPSILON.into())] {
            let arguments = arguments(width, 310, &["T", "T"]);
            let bases: Vec<[u64; 4]> = arguments.iter().map(|a| [a[1], 0, 0, 0]).collect();
            let found = run(source, width.of(["m_log_f64", "m_log_f32"]), &arguments);
            let [of_x, of_base] =
                [&arguments, &bases].map(|words| run(source, width.of(["k_log", "k_logf"]), words));
            let mut ordinary = 0;
            for (i, words) in arguments.iter().enumerate() {
                let [x, base] = [words[0], words[1]].map(|word| width.value(word));
                let expected = quotient(width, of_x[i][0], of_base[i][0]);
                let same = width.same(found[i][0], expected);
                let found = width.value(found[i][0]);
                assert!(same, "log of {x:e} to {base:e}, {source:?}: {found}");
                let exact = x.log(base);
                if exact.is_normal() {
                    ordinary += 1;
                    let near = (found - exact).abs() <= 4.0 * epsilon * exact.abs();
                    assert!(near, "log of {x:e} to {base:e}, {source:?}: {found}, not {exact}");
                }
            }
            assert!(ordinary > 20, "{ordinary} of {}", arguments.len());
        }
    }
}

/// Kernels for f64 and f32, and the standard library's method of both.
type Standard = ([&'static str; 2], fn(f64, f64) -> f64, fn(f32, f32) -> f32);

const STANDARD: [Standard; 4] = [
    (["m_fract_f64", "m_fract_f32"], |x, _| x.fract(), |x, _| x.fract()),
    (["m_signum_f64", "m_signum_f32"], |x, _| x.signum(), |x, _| x.signum()),
    (["m_div_euclid_f64", "m_div_euclid_f32"], f64::div_euclid, f32::div_euclid),
    (["m_rem_euclid_f64", "m_rem_euclid_f32"], f64::rem_euclid, f32::rem_euclid),
];

#[test]
fn the_other_methods_are_the_standard_librarys() {
    for source in Source::all() {
        for (seed, (kernels, of_f64, of_f32)) in (320..).zip(STANDARD) {
            for width in WIDTHS {
                let kernel = width.of(kernels);
                let arguments = arguments(width, seed, &["T", "T"]);
                let found = run(source, kernel, &arguments);
                for (found, &[x, y, ..]) in found.iter().zip(&arguments) {
                    let expected = match width {
                        Width::F64 => of_f64(f64::from_bits(x), f64::from_bits(y)).to_bits(),
                        Width::F32 => {
                            let [x, y] = [x, y].map(|word| f32::from_bits(word as u32));
                            of_f32(x, y).to_bits().into()
                        }
                    };
                    let same = width.same(found[0], expected);
                    let [x, y] = [x, y].map(|word| width.value(word));
                    assert!(
                        same,
                        "{kernel} of {x:e}, {y:e}, {source:?}: {:x}, not {expected:x}",
                        found[0]
                    );
                }
            }
        }
    }
}

#[test]
fn saturated_numbers_are_from_0_to_1() {
    for source in Source::all() {
        for width in WIDTHS {
            let arguments = arguments(width, 330, &["T"]);
            let kernel = width.of(["m_saturate_f64", "m_saturate_f32"]);
            for (found, &[x, ..]) in run(source, kernel, &arguments).iter().zip(&arguments) {
                let x = width.value(x);
                let expected = if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
                assert_eq!(width.value(found[0]), expected, "{kernel} of {x}, {source:?}");
            }
        }
    }
}

#[test]
fn fractions_and_exponents_make_the_number_again() {
    for source in Source::all() {
        for width in WIDTHS {
            let arguments = arguments(width, 340, &["T"]);
            let kernel = width.of(["m_frexp_f64", "m_frexp_f32"]);
            for (found, &[word, ..]) in run(source, kernel, &arguments).iter().zip(&arguments) {
                let (fraction, exponent) = (width.value(found[0]), found[1] as u32 as i32);
                let x = width.value(word);
                if x == 0.0 || !x.is_finite() {
                    // Zeros, infinities and NaNs are their own fraction; only zeros have an exponent then (C23, 7.12.6.7).
                    assert!(width.same(found[0], word), "{kernel} of {x}, {source:?}");
                    assert!(x != 0.0 || exponent == 0, "{kernel} of {x}, {source:?}");
                } else {
                    assert!((0.5..1.0).contains(&fraction.abs()), "{kernel} of {x:e}, {source:?}");
                    // In two steps, since 2^1024 is no f64: both are exact.
                    let half = exponent / 2;
                    let again = fraction * 2_f64.powi(half) * 2_f64.powi(exponent - half);
                    assert_eq!(again, x, "{kernel} of {x:e}, {source:?}");
                }
            }
        }
    }
}
