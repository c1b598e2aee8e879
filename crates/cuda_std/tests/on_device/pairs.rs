//! Pairs of 16-bit floating-point numbers, against exact results rounded once. Their kernels are in `tests/device_sm90`.

use cuda_std::{bf16, f16};

use crate::device::{Params, line, numbers};
use crate::sm90::device;

/// A sum, rounded to odd: a value between two numbers becomes the one whose last bit is set, so that rounding it again to fewer bits
/// rounds the exact sum (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums").
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let (other_a, other_b) = (sum - b, sum - (sum - b));
    let error = (a - other_a) + (b - other_b);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

/// The nearest f32 in the same way.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if !value.is_finite() || f64::from(near) == value || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = f64::from(near).abs() < value.abs();
    f32::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// The operations on one half of the words, in the kernels' order.
fn operations(words: [u16; 3], wide: fn(u16) -> f32, narrow: fn(f32) -> u16) -> [Option<u16>; 8] {
    let [a, b, c] = words.map(|word| f64::from(wide(word)));
    let rounded = |value: f64| (!value.is_nan()).then(|| narrow(to_odd(value)));
    let chosen = |value: f64, other: f64| rounded(if value.is_nan() { other } else { value });
    [
        rounded(sum_to_odd(a, b)),
        rounded(sum_to_odd(a, -b)),
        // Products of 11 bits are exact.
        rounded(a * b),
        rounded(sum_to_odd(a * b, c)),
        chosen(if b < a || b == a && b.is_sign_negative() { b } else { a }, b),
        chosen(if b > a || b == a && b.is_sign_positive() { b } else { a }, b),
        Some(words[0] ^ 0x8000),
        Some(words[0] & 0x7FFF),
    ]
}

fn check(kernel: &str, seed: u64, wide: fn(u16) -> f32, narrow: fn(f32) -> u16) {
    let mut device = device();
    let threads = 4096;
    // Any bits, which have zeros, subnormal and infinite numbers and NaN among them; and numbers of like size.
    let special = [0, 0x8000, 1, 0x8001, narrow(1.0), 0x7FFF, narrow(f32::INFINITY), narrow(-1.0)];
    let words: Vec<u32> = numbers(seed)
        .take(3 * threads)
        .map(|n| {
            let half = |bits: u64| match bits >> 16 & 3 {
                0 => special[(bits >> 18) as usize % special.len()],
                1 => narrow((bits as u16 as i16) as f32 / 1024.0),
                _ => bits as u16,
            };
            u32::from(half(n)) | u32::from(half(n >> 32)) << 16
        })
        .collect();
    let x = device.upload(&words);
    let out = device.upload(&vec![[0x5A5A_5A5A_u32; 8]; threads]);
    let params = Params::default().slice(x, words.len()).value(out);
    device.run(kernel, line(threads as u32 / 128, 128), &params);
    let found = device.download::<[u32; 8]>(out, threads);
    for (words, found) in words.chunks_exact(3).zip(found) {
        for shift in [0, 16] {
            let halves = [0, 1, 2].map(|word| (words[word] >> shift) as u16);
            let expected = operations(halves, wide, narrow);
            for (operation, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                let found = (found >> shift) as u16;
                match expected {
                    Some(expected) => {
                        assert_eq!(found, expected, "{kernel} {operation} of {halves:04x?}");
                    }
                    None => assert!(wide(found).is_nan(), "{kernel} {operation} of {halves:04x?}"),
                }
            }
        }
    }
}

#[test]
fn pairs_of_f16_round_once() {
    check("f16_pairs", 1, |bits| f16::from_bits(bits).to_f32(), |x| f16::from_f32(x).to_bits());
}

#[test]
fn pairs_of_bf16_round_once() {
    check("bf16_pairs", 2, |bits| bf16::from_bits(bits).to_f32(), |x| bf16::from_f32(x).to_bits());
}

#[test]
fn parts_of_pairs() {
    let words: Vec<u32> = numbers(50).take(77).map(|n| n as u32).collect();
    for kernel in ["f16_parts", "bf16_parts"] {
        let mut device = device();
        let pairs = device.upload(&words);
        let out = device.upload(&[[0x5A5A_u32; 3]; 77]);
        device.run(kernel, line(2, 64), &Params::default().slice(pairs, 77).value(out));
        let expected: Vec<[u32; 3]> = words
            .iter()
            .map(|word| {
                let (low, high) = (word & 0xFFFF, word >> 16);
                [low << 16 | high, low << 16 | low, high << 16 | high]
            })
            .collect();
        assert_eq!(device.download::<[u32; 3]>(out, 77), expected, "{kernel}");
    }
}
