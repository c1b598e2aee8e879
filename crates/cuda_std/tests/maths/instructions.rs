//! Functions with one rounding mode, against exact results that are rounded here.

use crate::device::{Source, flushing_ptx, numbers, run};

/// The four ways to round, by the ends of names.
const MODES: [&str; 4] = ["rn", "rz", "ru", "rd"];

/// Rounds the exact value `value + rest`, where `value` is the nearest number and `rest` says by its sign where the exact value
/// lies.
fn directed(value: f64, rest: f64, mode: &str) -> f64 {
    match mode {
        "ru" if rest > 0.0 => value.next_up(),
        "rd" if rest < 0.0 => value.next_down(),
        "rz" if rest < 0.0 && value > 0.0 => value.next_down(),
        "rz" if rest > 0.0 && value < 0.0 => value.next_up(),
        _ => value,
    }
}

/// The same for the f32 next to `value + rest`.
fn directed_f32(value: f64, rest: f64, mode: &str) -> f32 {
    // `rest` decides only where `value` is an f32, or lies halfway between two.
    let near = value as f32;
    let mut off = value - f64::from(near);
    if off == 0.0 {
        off = rest;
    }
    let halfway = value - f64::from(near) != 0.0 && is_halfway(value);
    if mode == "rn" {
        return match (halfway, rest) {
            (true, rest) if rest > 0.0 && f64::from(near) < value => near.next_up(),
            (true, rest) if rest < 0.0 && f64::from(near) > value => near.next_down(),
            _ => near,
        };
    }
    match mode {
        "ru" if off > 0.0 => near.next_up(),
        "rd" if off < 0.0 => near.next_down(),
        "rz" if off < 0.0 && near > 0.0 => near.next_down(),
        "rz" if off > 0.0 && near < 0.0 => near.next_up(),
        _ => near,
    }
}

/// Whether a normal number lies in the middle of two f32s.
fn is_halfway(value: f64) -> bool {
    value.to_bits() & 0x1FFF_FFFF == 0x1000_0000
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// Nearest result and the sign of what is left, for two or three operands.
type Exact = fn(f64, f64, f64) -> (f64, f64);

const OPERATIONS: [(&str, Exact); 4] = [
    ("add", |x, y, _| two_sum(x, y)),
    ("sub", |x, y, _| two_sum(x, -y)),
    ("mul", |x, y, _| (x * y, x.mul_add(y, -(x * y)))),
    // x / y - q has the sign of (x - q y) / y.
    ("div", |x, y, _| (x / y, (-(x / y)).mul_add(y, x) * y.signum())),
];
const RECIPROCAL: Exact = |x, _, _| (1.0 / x, (-(1.0 / x)).mul_add(x, 1.0) * x.signum());
const ROOT: Exact = |x, _, _| (x.abs().sqrt(), (-x.abs().sqrt()).mul_add(x.abs().sqrt(), x.abs()));
/// Exact where the product fits an f64, which the tests' arguments see to.
const FUSED: Exact = |x, y, z| two_sum(x * y, z);

/// f64s between 2^-20 and 2^20 in size, of `bits` significant bits.
fn values(seed: u64, bits: u32) -> impl Iterator<Item = f64> {
    numbers(seed).map(move |number| {
        let fraction = number & ((1 << 52) - 1) & !((1 << (53 - bits)) - 1);
        let exponent = 1003 + (number >> 56) % 40;
        f64::from_bits(number & 1 << 55 << 8 | exponent << 52 | fraction)
    })
}

fn check_f64(name: &str, exact: Exact, arguments: &[[f64; 3]]) {
    let words: Vec<[u64; 4]> =
        arguments.iter().map(|a| [a[0].to_bits(), a[1].to_bits(), a[2].to_bits(), 0]).collect();
    for mode in MODES {
        let found = run(Source::Fallback, &format!("k_{name}_{mode}"), &words);
        for (found, &[x, y, z]) in found.iter().zip(arguments) {
            let (value, rest) = exact(x, y, z);
            let expected = directed(value, rest, mode);
            assert_eq!(f64::from_bits(found[0]), expected, "{name}_{mode} of {x}, {y}, {z}");
        }
    }
}

fn check_f32(name: &str, exact: Exact, arguments: &[[f64; 3]]) {
    let words: Vec<[u64; 4]> = arguments
        .iter()
        .map(|a| {
            let [x, y, z] = a.map(|x| u64::from((x as f32).to_bits()));
            [x, y, z, 0]
        })
        .collect();
    for mode in MODES {
        let found = run(Source::Fallback, &format!("k_{name}_{mode}"), &words);
        for (found, &[x, y, z]) in found.iter().zip(arguments) {
            let (value, rest) = exact(x, y, z);
            let expected = directed_f32(value, rest, mode);
            let found = f32::from_bits(found[0] as u32);
            assert_eq!(found, expected, "{name}_{mode} of {x}, {y}, {z}");
        }
    }
}

fn triples(seed: u64, bits: u32) -> Vec<[f64; 3]> {
    let numbers: Vec<f64> = values(seed, bits).take(3 * 777).collect();
    numbers.chunks_exact(3).map(|chunk| [chunk[0], chunk[1], chunk[2]]).collect()
}

#[test]
fn arithmetic_rounds_as_its_name_says() {
    let (wide, narrow) = (triples(11, 53), triples(12, 24));
    for (name, exact) in OPERATIONS {
        check_f64(&format!("d{name}"), exact, &wide);
        check_f32(&format!("f{name}"), exact, &narrow);
    }
    check_f64("drcp", RECIPROCAL, &wide);
    check_f32("frcp", RECIPROCAL, &narrow);
    let positive = |triples: &[[f64; 3]]| -> Vec<[f64; 3]> {
        triples.iter().map(|triple| triple.map(f64::abs)).collect()
    };
    check_f64("dsqrt", ROOT, &positive(&wide));
    check_f32("fsqrt", ROOT, &positive(&narrow));
    // 26 bits twice are 52: the product is exact.
    check_f64("fma", FUSED, &triples(13, 26));
    check_f32("fmaf", FUSED, &narrow);
    check_f32("fmaf_ieee", FUSED, &narrow);
}

/// `value` rounded to an integer and clamped.
fn integer(value: f64, mode: &str, (low, high): (i128, i128)) -> u64 {
    let rounded = match mode {
        "rn" => value.round_ties_even(),
        "rz" => value.trunc(),
        "ru" => value.ceil(),
        _ => value.floor(),
    };
    (rounded as i128).clamp(low, high) as u64
}

const INTEGERS: [(&str, u32, (i128, i128)); 4] = [
    ("int", 32, (i32::MIN as i128, i32::MAX as i128)),
    ("uint", 32, (0, u32::MAX as i128)),
    ("ll", 64, (i64::MIN as i128, i64::MAX as i128)),
    ("ull", 64, (0, u64::MAX as i128)),
];

#[test]
fn conversions_to_integers_round_and_clamp() {
    let mut arguments: Vec<f32> = values(21, 24).take(900).map(|x| x as f32).collect();
    arguments.extend([0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 3e9, -3e9, 1e20, -1e20, 1e-45]);
    arguments.extend([f32::INFINITY, f32::NEG_INFINITY]);
    let narrow: Vec<[u64; 4]> = arguments.iter().map(|x| [x.to_bits().into(), 0, 0, 0]).collect();
    let wide: Vec<[u64; 4]> =
        arguments.iter().map(|&x| [f64::from(x).to_bits(), 0, 0, 0]).collect();
    for (name, bits, range) in INTEGERS {
        for mode in MODES {
            let from_f32 = run(Source::Fallback, &format!("k_float2{name}_{mode}"), &narrow);
            let from_f64 = run(Source::Fallback, &format!("k_double2{name}_{mode}"), &wide);
            for ((a, b), &x) in from_f32.iter().zip(&from_f64).zip(&arguments) {
                let expected = integer(x.into(), mode, range) & u64::MAX >> (64 - bits);
                assert_eq!([a[0], b[0]], [expected; 2], "{name}_{mode} of {x}");
            }
        }
    }
}

#[test]
fn conversions_from_integers_round() {
    let mut arguments: Vec<u64> = numbers(22).take(900).map(|n| n >> (n % 64)).collect();
    arguments.extend([0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, (1 << 31) - 1, 1 << 31]);
    let words: Vec<[u64; 4]> = arguments.iter().map(|&n| [n, 0, 0, 0]).collect();
    for (name, bits, (low, _)) in INTEGERS {
        for mode in MODES {
            let value = |word: u64| match (bits, low) {
                (32, 0) => i128::from(word as u32),
                (32, _) => i128::from(word as i32),
                (_, 0) => i128::from(word),
                (..) => i128::from(word as i64),
            };
            let found = run(Source::Fallback, &format!("k_{name}2float_{mode}"), &words);
            for (found, &word) in found.iter().zip(&arguments) {
                let exact = value(word);
                // Rounding twice goes wrong only if the first lands on an f32 or halfway, and says in which direction it went.
                let near = exact as f64;
                let expected = directed_f32(near, (exact - near as i128) as f64, mode);
                assert_eq!(f32::from_bits(found[0] as u32), expected, "{name}_{mode} of {word:x}");
            }
            if bits == 32 && mode != "rn" {
                continue;
            }
            let found = run(Source::Fallback, &format!("k_{name}2double_{mode}"), &words);
            for (found, &word) in found.iter().zip(&arguments) {
                let exact = value(word);
                let near = exact as f64;
                let expected = directed(near, (exact - near as i128) as f64, mode);
                assert_eq!(f64::from_bits(found[0]), expected, "{name}_{mode} of {word:x}");
            }
        }
    }
}

#[test]
fn conversions_between_floats_round() {
    let arguments: Vec<f64> = values(23, 53).take(901).collect();
    let words: Vec<[u64; 4]> = arguments.iter().map(|x| [x.to_bits(), 0, 0, 0]).collect();
    for mode in MODES {
        let found = run(Source::Fallback, &format!("k_double2float_{mode}"), &words);
        for (found, &x) in found.iter().zip(&arguments) {
            assert_eq!(
                f32::from_bits(found[0] as u32),
                directed_f32(x, 0.0, mode),
                "{mode} of {x}"
            );
        }
    }
    // All halves, there and back.
    let halves: Vec<[u64; 4]> = (0..1 << 16).map(|half| [half, 0, 0, 0]).collect();
    let floats = run(Source::Fallback, "k_half2float", &halves);
    let back: Vec<[u64; 4]> = floats.iter().map(|float| [float[0], 0, 0, 0]).collect();
    let back = run(Source::Fallback, "k_float2half_rn", &back);
    for ((half, float), back) in halves.iter().zip(&floats).zip(&back) {
        let (half, float) = (half[0] as u16, f32::from_bits(float[0] as u32));
        if half & 0x7FFF > 0x7C00 {
            assert!(float.is_nan() && back[0] & 0x7FFF > 0x7C00, "{half:x}");
            continue;
        }
        let fraction = f64::from(half & 0x3FF);
        let size = match half >> 10 & 31 {
            0 => fraction * 2_f64.powi(-24),
            31 => f64::INFINITY,
            exponent => (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
        };
        let expected = if half >> 15 == 1 { -size } else { size };
        assert_eq!((f64::from(float), back[0]), (expected, half.into()), "{half:x}");
    }
}

#[test]
fn flushing_to_zero_reaches_the_instructions() {
    let Some(ptx) = flushing_ptx() else { return };
    let kernel = |name: &str| {
        let start = ptx.find(&format!(".entry {name}(")).expect("the kernel is there");
        let end = ptx[start..].find("// -- End function").expect("it ends");
        &ptx[start..start + end]
    };
    for (name, instruction) in [
        ("k_fadd_rz", "add.rz.ftz.f32"),
        ("k_fmaf_ru", "fma.rp.ftz.f32"),
        ("k_fsqrt_rd", "sqrt.rm.ftz.f32"),
        ("k_float2int_rn", "cvt.rni.ftz.s32.f32"),
        ("k_double2float_rz", "cvt.rz.ftz.f32.f64"),
        ("k_saturatef", "cvt.sat.ftz.f32.f32"),
        ("k_sqrtf", "sqrt.rn.ftz.f32"),
        ("k_fmaf", "fma.rn.ftz.f32"),
        ("m_fast_exp", "ex2.approx.ftz.f32"),
        // These say in their names that they don't.
        ("k_fmaf_ieee_rn", "fma.rn.f32"),
        ("k_dadd_rz", "add.rz.f64"),
    ] {
        assert!(kernel(name).contains(instruction), "{instruction} is not in {}", kernel(name));
    }
}
