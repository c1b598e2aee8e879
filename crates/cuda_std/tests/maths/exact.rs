//! Operations on floating-point numbers with one right result, and the reciprocal that looks at half of a number.

use crate::device::{Source, numbers, run};

/// Numbers of any size, as f32 or f64 by `bits`: bits drawn evenly, with the ends of the ranges among them.
fn values(seed: u64, bits: u32, count: usize) -> Vec<u64> {
    const F64: [u64; 11] = [
        0,
        1,
        0x000F_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x3FF0_0000_0000_0000,
        0x3FF0_0000_0000_0001,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0x4340_0000_0000_0000,
        0x0000_0000_0001_0001,
    ];
    const F32: [u64; 11] = [
        0,
        1,
        0x007F_FFFF,
        0x0080_0000,
        0x3F80_0000,
        0x3F80_0001,
        0x7F7F_FFFF,
        0x7F80_0000,
        0x7FC0_0000,
        0x4B80_0000,
        0x0000_0101,
    ];
    let ends = if bits == 64 { F64 } else { F32 };
    let value = |number: u64| {
        let sign = (number >> 7 & 1) << (bits - 1);
        match number % 4 {
            0 => ends[(number >> 8) as usize % ends.len()] | sign,
            // From 2^-8 to 2^8, where sums round and cancel.
            1 if bits == 64 => number >> 12 | (1015 + number % 17) << 52 | sign,
            1 => (number >> 12 & 0x7F_FFFF) | (119 + (number >> 40) % 17) << 23 | sign,
            _ => number.rotate_left(17) >> (64 - bits),
        }
    };
    numbers(seed).map(value).take(count).collect()
}

/// As many numbers of arguments as `N`, from one list.
fn groups<const N: usize>(values: &[u64]) -> Vec<[u64; 4]> {
    let group = |chunk: &[u64]| {
        let mut words = [0; 4];
        words[..N].copy_from_slice(chunk);
        words
    };
    values.chunks_exact(N).map(group).collect()
}

fn wide(word: u64) -> f64 {
    f64::from_bits(word)
}

fn narrow(word: u64) -> f32 {
    f32::from_bits(word as u32)
}

/// Runs the kernels for f64 and f32 and compares bits; any NaN is a NaN.
#[track_caller]
fn check(
    kernels: [&str; 2],
    arguments: [Vec<[u64; 4]>; 2],
    of_f64: impl Fn([u64; 4]) -> f64,
    of_f32: impl Fn([u64; 4]) -> f32,
) {
    for source in Source::all() {
        for (found, &words) in run(source, kernels[0], &arguments[0]).iter().zip(&arguments[0]) {
            let (found, expected) = (wide(found[0]), of_f64(words));
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{} of {words:x?}, {source:?}: {found:e}, not {expected:e}", kernels[0]);
        }
        for (found, &words) in run(source, kernels[1], &arguments[1]).iter().zip(&arguments[1]) {
            let (found, expected) = (narrow(found[0]), of_f32(words));
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{} of {words:x?}, {source:?}: {found:e}, not {expected:e}", kernels[1]);
        }
    }
}

#[test]
fn products_and_sums_are_rounded_once() {
    let mut wide_arguments = groups::<3>(&values(70, 64, 3 * 701));
    let mut narrow_arguments = groups::<3>(&values(71, 32, 3 * 701));
    // A product and nearly its negative: only what the product's rounding would lose is left.
    for words in wide_arguments.iter_mut().step_by(3) {
        words[2] = (-(wide(words[0]) * wide(words[1]))).to_bits();
    }
    for words in narrow_arguments.iter_mut().step_by(3) {
        words[2] = (-(narrow(words[0]) * narrow(words[1]))).to_bits().into();
    }
    check(
        ["k_fma", "k_fmaf"],
        [wide_arguments, narrow_arguments],
        |[x, y, z, _]| wide(x).mul_add(wide(y), wide(z)),
        |[x, y, z, _]| narrow(x).mul_add(narrow(y), narrow(z)),
    );
}

/// `x 2^n`, rounded once to the nearest and in halves to the even number: with integers, of which none is too long.
fn scaled(x: f64, n: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let bits = x.to_bits() & !(1 << 63);
    let exponent = (bits >> 52) as i64;
    let (mantissa, exponent) = match exponent {
        0 => (bits, -1074),
        _ => (bits & ((1 << 52) - 1) | 1 << 52, exponent - 1075),
    };
    // The mantissa with 53 bits.
    let shift = mantissa.leading_zeros() - 11;
    let (mantissa, exponent) = (mantissa << shift, exponent - i64::from(shift) + i64::from(n));
    let size = if exponent > 971 {
        f64::INFINITY
    } else if exponent >= -1074 {
        f64::from_bits((mantissa & ((1 << 52) - 1)) | ((exponent + 1075) as u64) << 52)
    } else {
        // Past 54 bits nothing is left but a remainder.
        let lost = (-1074 - exponent).min(60) as u32;
        let (kept, rest, half) =
            (mantissa >> lost, mantissa & ((1 << lost) - 1), 1_u64 << (lost - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        f64::from_bits(kept + u64::from(up))
    };
    size.copysign(x)
}

#[test]
fn the_reference_for_scaling_agrees_with_multiplication() {
    assert_eq!(scaled(1.5, 3), 12.0);
    assert_eq!(scaled(-1.0, -1074), -f64::from_bits(1));
    assert_eq!(scaled(1.0, -1075), 0.0);
    assert_eq!(scaled(1.5, -1075), f64::from_bits(1));
    assert_eq!(scaled(1.5, -1074), f64::from_bits(2));
    assert_eq!(scaled(f64::from_bits(3), 1073), 1.5);
    assert_eq!(scaled(f64::from_bits(3), -1), f64::from_bits(2));
    assert_eq!(scaled(f64::MAX, 1), f64::INFINITY);
    assert_eq!(scaled(1.0, i32::MIN), 0.0);
    assert_eq!(scaled(f64::from_bits(1), i32::MAX), f64::INFINITY);
    for (x, n) in numbers(72).take(500).map(|n| (f64::from_bits(n), (n % 1000) as i32 - 500)) {
        let (found, expected) = (scaled(x, n), x * 2_f64.powi(n));
        assert!(found == expected || x.is_nan() && found.is_nan(), "{x:e} {n}");
    }
}

/// Exponents that move numbers within their range, to its ends, and beyond.
fn with_exponents(words: Vec<[u64; 4]>, bits: u32, seed: u64) -> Vec<[u64; 4]> {
    const FAR: [i32; 12] =
        [i32::MIN, i32::MIN + 1, i32::MAX, 0, 1, -1, 1023, -1074, -1075, 2098, -149, 277];
    let range = if bits == 64 { 2200 } else { 320 };
    let exponent = |number: u64| match number % 4 {
        0 => FAR[(number >> 8) as usize % FAR.len()],
        1 => (number >> 8) as i32 % 60,
        _ => (number >> 8) as i32 % range,
    };
    words
        .into_iter()
        .zip(numbers(seed))
        .map(|([x, ..], number)| [x, u64::from(exponent(number) as u32), 0, 0])
        .collect()
}

#[test]
fn powers_of_two_scale_and_round_once() {
    for kernels in [["k_ldexp", "k_ldexpf"], ["k_scalbn", "k_scalbnf"]] {
        let wide_arguments = with_exponents(groups::<1>(&values(73, 64, 1501)), 64, 75);
        let narrow_arguments = with_exponents(groups::<1>(&values(74, 32, 1501)), 32, 76);
        check(
            kernels,
            [wide_arguments, narrow_arguments],
            |[x, n, ..]| scaled(wide(x), n as u32 as i32),
            // With a moderate exponent, the f64 is exact and is rounded once, to an f32.
            |[x, n, ..]| scaled(narrow(x).into(), (n as u32 as i32).clamp(-600, 600)) as f32,
        );
    }
}

#[test]
fn the_next_number_lies_towards_the_other() {
    let pairs = |bits, seed| {
        let mut words = groups::<2>(&values(seed, bits, 2 * 901));
        // Equal numbers, neighbours, and zeros of either sign.
        for (i, words) in words.iter_mut().enumerate().filter(|(i, _)| i % 3 == 0) {
            words[1] = match i % 4 {
                0 => words[0],
                1 => words[0] ^ 1,
                2 => words[0] ^ 1 << (bits - 1),
                _ => 0,
            };
        }
        words
    };
    macro_rules! next {
        ($x:expr, $y:expr) => {{
            let (x, y) = ($x, $y);
            if x.is_nan() || y.is_nan() {
                x + y
            } else if x == y {
                // C23, 7.12.11.3: the second one, so that its sign counts.
                y
            } else if x < y {
                x.next_up()
            } else {
                x.next_down()
            }
        }};
    }
    check(
        ["k_nextafter", "k_nextafterf"],
        [pairs(64, 77), pairs(32, 78)],
        |[x, y, ..]| next!(wide(x), wide(y)),
        |[x, y, ..]| next!(narrow(x), narrow(y)),
    );
}

/// PTX ISA, `rcp.approx.ftz.f64`: the reciprocal of the upper half, whose error is 2^-20 relative to it, with a lower half of
/// zeros; subnormal numbers count as zeros of their sign.
#[test]
fn the_reciprocal_of_the_upper_half() {
    let words = groups::<1>(&values(79, 64, 2001));
    for source in Source::all() {
        for (found, &[word, ..]) in run(source, "k_rcp64h", &words).iter().zip(&words) {
            let (found, d) = (found[0], wide(word & !0xFFFF_FFFF));
            assert_eq!(found as u32, 0, "{word:x} {source:?}");
            let (found, exact) = (wide(found), 1.0 / d);
            if d.is_nan() {
                assert!(found.is_nan(), "{word:x} {source:?}: {found}");
            } else if d.is_subnormal() || d == 0.0 {
                assert_eq!(found, f64::INFINITY.copysign(d), "{word:x} {source:?}");
            } else if exact.is_subnormal() || exact == 0.0 {
                assert_eq!(found.to_bits(), 0_f64.copysign(d).to_bits(), "{word:x} {source:?}");
            } else {
                // An H200 was seen to err by 1.04 times 2^-20.
                let error = ((found - exact) / exact).abs();
                assert!(error <= 1.05 * 2_f64.powi(-20), "{word:x} {source:?}: {found} {exact}");
            }
        }
    }
}
