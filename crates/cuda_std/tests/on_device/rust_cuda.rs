//! The examples of rust-cuda, against the same computed on the CPU.

use sha2::{Digest, Sha256, Sha512};

use crate::device::{Device, Params, Shape, line, numbers};

/// Numbers from -1 to 1.
fn floats(seed: u64, len: usize) -> Vec<f32> {
    numbers(seed).take(len).map(|n| (n >> 40) as f32 / 8_388_608.0 - 1.0).collect()
}

#[test]
fn vecadd() {
    for len in [0, 1, 37, 1000] {
        let mut device = Device::new();
        let (a, b) = (floats(1, len), floats(2, len));
        let out = device.upload(&vec![f32::NAN; len + 1]);
        let (x, y) = (device.upload(&a), device.upload(&b));
        let params = Params::default().slice(x, len).slice(y, len).value(out);
        device.run("vecadd", line(len.div_ceil(128).max(1) as u32, 128), &params);
        let found = device.download::<f32>(out, len + 1);
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(found[..len], expected);
        assert!(found[len].is_nan());
    }
}

#[test]
fn gemm() {
    for (m, k, n) in [(1, 1, 1), (16, 16, 16), (33, 20, 17), (5, 40, 50), (3, 0, 3)] {
        let (a, b, c) = (floats(1, m * k), floats(2, k * n), floats(3, m * n));
        let (alpha, beta) = (0.75_f32, -2.0_f32);
        for kernel in ["gemm_naive", "gemm_tiled"] {
            let mut device = Device::new();
            let (x, y, out) = (device.upload(&a), device.upload(&b), device.upload(&c));
            let params = Params::default().slice(x, m * k).slice(y, k * n).value(out);
            let params =
                [m, n, k].into_iter().fold(params, |params, size| params.value(size as u64));
            let grid = [n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1];
            let shape = Shape { grid, block: [16, 16, 1], dynamic_shared_bytes: 0 };
            device.run(kernel, shape, &params.value(alpha).value(beta));
            let found = device.download::<f32>(out, m * n);
            for (place, found) in found.into_iter().enumerate() {
                let (row, column) = (place / n, place % n);
                let product = |i: usize| f64::from(a[row * k + i]) * f64::from(b[i * n + column]);
                let sum: f64 = (0..k).map(product).sum();
                let expected = f64::from(alpha) * sum + f64::from(beta) * f64::from(c[place]);
                let error = (f64::from(found) - expected).abs();
                assert!(
                    error <= 1e-6 * (k as f64 + 4.0),
                    "{kernel}: {found}, {expected} at {place}"
                );
            }
        }
    }
}

#[test]
fn sha2_of_a_crate_that_knows_no_gpu() {
    const STRIDE: usize = 300;
    // Around the ends of blocks of 64 and 128 bytes.
    let lengths = [0, 1, 3, 55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129, 200, 299];
    let messages: Vec<u8> = numbers(4).take(STRIDE * lengths.len()).map(|n| n as u8).collect();
    let each =
        || lengths.iter().enumerate().map(|(i, len)| &messages[i * STRIDE..][..*len as usize]);

    let mut device = Device::new();
    let (input, sizes) = (device.upload(&messages), device.upload(&lengths));
    let short = device.upload(&[[0xA5_u8; 32]; 16]);
    let long = device.upload(&[[0xA5_u8; 64]; 16]);
    let params = |out: u64| {
        let params = Params::default().slice(input, messages.len()).value(STRIDE as u64);
        params.slice(sizes, lengths.len()).value(out)
    };
    device.run("sha256_of_each", line(1, 32), &params(short));
    device.run("sha512_of_each", line(1, 32), &params(long));
    let expected: Vec<[u8; 32]> = each().map(|message| Sha256::digest(message).into()).collect();
    assert_eq!(device.download::<[u8; 32]>(short, 16), expected);
    let expected: Vec<[u8; 64]> = each().map(|message| Sha512::digest(message).into()).collect();
    assert_eq!(device.download::<[u8; 64]>(long, 16), expected);
}

#[test]
fn integers_of_128_bits() {
    let special = [0, 1, -1, i128::MIN, i128::MAX, 1 << 64, -(1 << 64), u64::MAX.into()];
    let wide = |seed: u64| {
        let pairs = numbers(seed).zip(numbers(seed + 100));
        pairs.map(|(low, high)| {
            i128::from(high.cast_signed()) << 64 >> (low % 120) | i128::from(low & 0xFFFF)
        })
    };
    let mut pairs: Vec<(i128, i128)> =
        special.iter().flat_map(|a| special.map(|b| (*a, b))).collect();
    pairs.extend(wide(5).zip(wide(6)).take(100));
    let (a, b): (Vec<i128>, Vec<i128>) = pairs.iter().copied().unzip();
    let len = pairs.len();

    let mut device = Device::new();
    let (x, y) = (device.upload(&a), device.upload(&b));
    let out = device.upload(&vec![[0x5A_i128; 8]; len]);
    let params = Params::default().slice(x, len).slice(y, len).value(out);
    device.run("i128_demo", line(len.div_ceil(64) as u32, 64), &params);
    for ((a, b), found) in pairs.into_iter().zip(device.download::<[i128; 8]>(out, len)) {
        let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
        let shift = (ub & 127) as u32;
        let bits = i128::from(a.leading_zeros()) << 32 | i128::from(a > b) << 8;
        let expected = [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a.checked_div(b).unwrap_or(if b == 0 { -1 } else { a.wrapping_div(b) }),
            ua.checked_rem(ub).map_or(-1, u128::cast_signed),
            (ua >> shift).cast_signed(),
            a.wrapping_shl(shift),
            bits | i128::from(ua.count_ones()),
        ];
        assert_eq!(found, expected, "{a:#x} and {b:#x}");
    }
}

#[test]
fn in_place() {
    let mut device = Device::new();
    let before: Vec<u32> = numbers(7).take(512).map(|n| n as u32 >> 1).collect();
    let data = device.upload(&before);
    device.run("increment", line(4, 128), &Params::default().value(data).value(26_u32));
    let expected: Vec<u32> = before.iter().map(|n| n + 26).collect();
    assert_eq!(device.download::<u32>(data, 512), expected);
}
