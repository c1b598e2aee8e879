//! One value of many, over the threads of a block, against the same computed thread by thread here.

use crate::device::{Device, Params, Shape, numbers};

/// Blocks of one warp and of several, full and not, along one axis and several; several blocks.
const SHAPES: [([u32; 3], [u32; 3]); 10] = [
    ([2, 1, 1], [1, 1, 1]),
    ([1, 1, 1], [7, 1, 1]),
    ([2, 2, 1], [32, 1, 1]),
    ([3, 1, 1], [33, 1, 1]),
    ([1, 1, 2], [5, 7, 3]),
    ([2, 1, 1], [4, 4, 4]),
    ([1, 1, 1], [1, 1, 64]),
    ([2, 1, 1], [127, 1, 1]),
    ([1, 1, 1], [1001, 1, 1]),
    ([1, 1, 1], [32, 8, 4]),
];

fn shapes() -> impl Iterator<Item = (Shape, usize, usize)> {
    SHAPES.into_iter().map(|(grid, block)| {
        let threads = block.iter().product::<u32>() as usize;
        let blocks = grid.iter().product::<u32>() as usize;
        (Shape { grid, block, dynamic_shared_bytes: 0 }, threads, threads * blocks)
    })
}

/// Digits of a number in base 3.
fn append(number: u32, digit: u32) -> u32 {
    number.wrapping_mul(3).wrapping_add(digit)
}

#[test]
fn scans_keep_the_order_of_the_threads() {
    let mut device = Device::checked();
    for (seed, (shape, threads, all)) in (10..).zip(shapes()) {
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32 % 100).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![[0x5A5A_5A5A_u32; 7]; all]);
        device.run("block_scans", shape, &Params::default().slice(input, all).value(out));
        let found = device.download::<[u32; 7]>(out, all);
        for (block, values) in values.chunks(threads).enumerate() {
            let mut expected = vec![[0_u32; 7]; threads];
            for round in 0..2 {
                let digits: Vec<u32> = values.iter().map(|value| (value + round) % 3).collect();
                let total = digits.iter().copied().fold(0, append);
                let mut before = 0;
                for (sums, &digit) in expected.iter_mut().zip(&digits) {
                    let inclusive = append(before, digit);
                    let results = [total, inclusive, before, inclusive, total, before, total];
                    for (sum, result) in sums.iter_mut().zip(results) {
                        *sum = sum.wrapping_mul(243).wrapping_add(result);
                    }
                    before = inclusive;
                }
            }
            let found = &found[block * threads..][..threads];
            assert_eq!(found, expected, "block {block} of {:?}, {:?}", shape.grid, shape.block);
        }
    }
}

#[test]
fn sums_and_extremes_of_numbers() {
    let mut device = Device::checked();
    for (seed, (shape, threads, all)) in (30..).zip(shapes()) {
        let values: Vec<i64> = numbers(seed).take(all).map(|n| n.cast_signed() >> 12).collect();
        // Eighths, of which sums are exact in any order; and NaN here and there.
        let floats: Vec<f64> =
            numbers(seed + 100).take(all).map(|n| (n % 4096) as f64 / 8.0 - 256.0).collect();
        let mut with_nan = floats.clone();
        for (place, n) in (0..all).zip(numbers(seed + 200)) {
            if n % 4 == 0 {
                with_nan[place] = f64::NAN;
            }
        }
        let run = |device: &mut Device, floats: &[f64]| {
            let (a, b) = (device.upload(&values), device.upload(floats));
            let out = device.upload(&vec![[0x5A5A_u64; 9]; all]);
            let params = Params::default().slice(a, all).slice(b, all).value(out);
            device.run("block_numbers", shape, &params);
            device.download::<[u64; 9]>(out, all)
        };
        let found = run(&mut device, &floats);
        let found_with_nan = run(&mut device, &with_nan);
        for block in 0..all / threads {
            let range = block * threads..(block + 1) * threads;
            let (values, floats) = (&values[range.clone()], &floats[range.clone()]);
            let with_nan = &with_nan[range.clone()];
            let sum = values.iter().fold(0, |a: i64, &b| a.wrapping_add(b));
            let f32s: f64 = values.iter().map(|&value| f64::from(value as u32)).sum();
            let mut before = 0_i64;
            for (thread, place) in range.enumerate() {
                let [a, b, c, d, e, f, inclusive, exclusive, singles] = found[place];
                assert_eq!(a, sum.cast_unsigned());
                assert_eq!(b, values.iter().min().unwrap().cast_unsigned());
                assert_eq!(c, values.iter().map(|&value| u64::from(value as u8)).max().unwrap());
                assert_eq!(f64::from_bits(d), floats.iter().sum::<f64>());
                assert_eq!(f64::from_bits(e), floats.iter().copied().fold(f64::NAN, f64::min));
                assert_eq!(f64::from_bits(f), floats.iter().copied().fold(f64::NAN, f64::max));
                assert_eq!(exclusive, before.cast_unsigned(), "thread {thread}");
                before = before.wrapping_add(values[thread]);
                assert_eq!(inclusive, before.cast_unsigned(), "thread {thread}");
                // Every addition may round, of numbers of one sign.
                let single = f64::from(f32::from_bits(singles as u32));
                let error = (single - f32s).abs();
                assert!(
                    error <= f32s * threads as f64 * f64::from(f32::EPSILON),
                    "{single} {f32s}"
                );
                assert_eq!(singles, found[block * threads][8], "the same in all threads");
                let [.., e, f, _, _, _] = found_with_nan[place];
                let least = with_nan.iter().copied().fold(f64::NAN, f64::min);
                let greatest = with_nan.iter().copied().fold(f64::NAN, f64::max);
                assert_eq!(f64::from_bits(e).to_string(), least.to_string());
                assert_eq!(f64::from_bits(f).to_string(), greatest.to_string());
            }
        }
    }
}

#[test]
fn broadcasts_come_from_any_thread() {
    let mut device = Device::checked();
    for (seed, (shape, threads, all)) in (50..).zip(shapes()) {
        let values: Vec<u64> = numbers(seed).take(all).map(|n| n >> 1).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![[1_u64; 4]; all]);
        device.run("block_broadcasts", shape, &Params::default().slice(input, all).value(out));
        let found = device.download::<[u64; 4]>(out, all);
        for (block, values) in values.chunks(threads).enumerate() {
            let mut expected = [0_u64; 4];
            for &value in values.iter().step_by(37) {
                let narrow = u64::from(value as u8) + u64::from(value > 1 << 62);
                let results = [value ^ !value ^ (value * 2), value + 1, narrow, value];
                for (sum, result) in expected.iter_mut().zip(results) {
                    *sum = sum.rotate_left(7).wrapping_add(result);
                }
            }
            for (thread, found) in found[block * threads..][..threads].iter().enumerate() {
                assert_eq!(*found, expected, "thread {thread} of {:?}", shape.block);
            }
        }
    }
}

#[test]
fn the_largest_value_keeps_its_place() {
    let mut device = Device::checked();
    for (seed, (shape, threads, all)) in (70..).zip(shapes()) {
        // Few different values, so that several threads have the largest.
        let values: Vec<i64> = numbers(seed).take(all).map(|n| (n % 7).cast_signed() - 9).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![[u32::MAX; 2]; all]);
        device.run("block_best", shape, &Params::default().slice(input, all).value(out));
        for (place, found) in device.download::<[u32; 2]>(out, all).into_iter().enumerate() {
            let values = &values[place / threads * threads..][..threads];
            let largest = values.iter().max().unwrap();
            let best = values.iter().position(|value| value == largest).unwrap();
            assert_eq!(found, [best as u32, (place % threads) as u32], "{:?}", shape.block);
        }
    }
}

#[test]
fn scratch_is_as_large_as_the_values_need() {
    let device = Device::new();
    // Two words for digits and the power of 3; 16 bytes for the struct.
    assert_eq!(device.static_shared_bytes("block_scans"), 32 * 8);
    assert_eq!(device.static_shared_bytes("block_best"), 32 * 16);
    // 4, 32 and 256 bytes for the broadcasts; LLVM may see that only one slot of each is in use.
    let broadcasts = device.static_shared_bytes("block_broadcasts");
    assert!((4 + 32 + 256..=32 * (4 + 32 + 256)).contains(&broadcasts), "{broadcasts}");
}
