//! Rust's `%` of floating-point numbers: exact, as on the host.

use crate::device::{Device, Params, line, numbers};

/// Any pairs of bits, pairs near each other, and those whose quotient rounds up to an integer.
fn pairs(bits: u32, quotients: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let ends = match bits {
        32 => [0, 1, 0x80_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000],
        _ => [0, 1, 1 << 52, 1023 << 52, 0x7FEF_FFFF_FFFF_FFFF, 2047 << 52, 0x7FF8 << 48],
    };
    let sign = 1_u64 << (bits - 1);
    let mut pairs = quotients.to_vec();
    for &x in &ends {
        pairs.extend(ends.iter().flat_map(|&y| [[x, y], [x | sign, y], [x, y | sign]]));
    }
    let random: Vec<u64> = numbers(u64::from(bits)).take(1200).map(|n| n >> (64 - bits)).collect();
    for pair in random.chunks_exact(2) {
        let near = pair[0] & !0xFFFF | pair[1] & 0xFFFF;
        // A divisor some powers of two smaller, with other lower bits.
        let smaller = near.saturating_sub((pair[1] >> 8 & 31) << if bits == 32 { 23 } else { 52 });
        pairs.extend([[pair[0], pair[1]], [pair[0], smaller]]);
    }
    pairs
}

/// As numbers, to be compared: bits, and one NaN for all.
fn canonical(values: &[[f64; 3]]) -> Vec<[u64; 3]> {
    let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    values.iter().map(|row| row.map(bits)).collect()
}

#[test]
fn rests_are_exact_and_have_the_sign_of_the_dividend() {
    let known = [[1.0, 0.1], [-1.0, 0.1], [0.3, 0.1], [1e20, 3.0], [-0.0, 13.5], [360.0, 0.1]];
    let of_f32 = known.map(|pair| pair.map(|x| u64::from((x as f32).to_bits())));
    let of_f64 = known.map(|pair: [f64; 2]| pair.map(f64::to_bits));
    let narrow: Vec<[f32; 2]> = pairs(32, &of_f32)
        .into_iter()
        .map(|pair| pair.map(|word| f32::from_bits(word as u32)))
        .collect();
    let wide: Vec<[f64; 2]> =
        pairs(64, &of_f64).into_iter().map(|pair| pair.map(f64::from_bits)).collect();
    let len = narrow.len();
    assert_eq!(wide.len(), len);

    let mut device = Device::checked();
    let inputs = [device.upload(&narrow), device.upload(&wide)];
    let narrow_out = device.upload(&vec![[7_f32; 3]; len]);
    let wide_out = device.upload(&vec![[7_f64; 3]; len]);
    let params = Params::default().slice(inputs[0], len).slice(inputs[1], len);
    let shape = line(len.div_ceil(96) as u32, 96);
    device.run("remainders", shape, &params.value(narrow_out).value(wide_out));

    let expected: Vec<[f64; 3]> =
        narrow.iter().map(|[x, y]| [x % y, x % y, x % 0.1].map(f64::from)).collect();
    let found: Vec<[f64; 3]> = device
        .download::<[f32; 3]>(narrow_out, len)
        .into_iter()
        .map(|row| row.map(f64::from))
        .collect();
    for (i, (found, expected)) in canonical(&found).iter().zip(canonical(&expected)).enumerate() {
        assert_eq!(*found, expected, "{:e} and {:e}", narrow[i][0], narrow[i][1]);
    }
    let expected: Vec<[f64; 3]> = wide.iter().map(|[x, y]| [x % y, x % y, x % 0.1]).collect();
    let found = device.download::<[f64; 3]>(wide_out, len);
    for (i, (found, expected)) in canonical(&found).iter().zip(canonical(&expected)).enumerate() {
        assert_eq!(*found, expected, "{:e} and {:e}", wide[i][0], wide[i][1]);
    }
}
