//! What lanes tell each other, against the same computed lane by lane here.

use crate::device::{Device, Params, line, numbers};

const MASKS: [u32; 5] = [u32::MAX, 1, 0x8000_0000, 0x0F0F_8001, 0x5555_5555];

#[test]
fn shuffles_ask_lanes_of_their_segment() {
    let mut device = Device::new();
    let values: Vec<u64> = numbers(1).take(32).collect();
    let input = device.upload(&values);
    for width in [1, 2, 4, 8, 16, 32] {
        for by in [0, 1, 3, 7, 16, 31] {
            let out = device.upload(&[[0_u64; 8]; 32]);
            let params = Params::default().slice(input, 32).value(by).value(width).value(out);
            device.run("warp_shuffles", line(1, 32), &params);
            for (lane, found) in (0_u32..).zip(device.download::<[u64; 8]>(out, 32)) {
                let first = lane / width * width;
                let last = first + width - 1;
                let ask =
                    |from: Option<u32>| match from.filter(|from| (first..=last).contains(from)) {
                        Some(from) => [values[from as usize], 1],
                        None => [values[lane as usize], 0],
                    };
                // A lane of an earlier segment is no reason against an exclusive or.
                let crossed = match lane ^ by {
                    from if from <= last => [values[from as usize], 1],
                    _ => [values[lane as usize], 0],
                };
                let expected = [
                    ask(Some(lane + by)),
                    ask(lane.checked_sub(by)),
                    ask(Some(first + by % width)),
                    crossed,
                ];
                assert_eq!(found, *expected.as_flattened(), "lane {lane}, {by} of {width}");
            }
        }
    }
}

#[test]
fn values_of_every_type_move() {
    let mut device = Device::new();
    let out = device.upload(&[[0_u64; 10]; 32]);
    device.run("shuffled_types", line(1, 32), &Params::default().value(out));
    for (lane, found) in (0_u64..).zip(device.download::<[u64; 10]>(out, 32)) {
        let from = (lane + 1).min(31);
        let signed = -(from as i64);
        let expected = [
            u64::from(from % 3 == 0),
            signed as u64,
            signed as u64,
            from << 36,
            5,
            u64::from((from as f32 / 4.0).to_bits()),
            (from as f64 / 2.0).to_bits(),
            from,
            from << 16 | u64::from(signed as u8) << 8 | 1,
            signed as u64,
        ];
        assert_eq!(found, expected, "lane {lane}");
    }
}

#[test]
fn equal_values_are_found_bit_by_bit() {
    let mut device = Device::new();
    // Some equal in all bits, some only in the low half, and a NaN, which is equal to itself here.
    let pick = [3_u64, 1 << 32 | 3, 0x7FC0_0001, 0x8000_0000, 0];
    let keys: Vec<u64> = numbers(2).take(32).map(|n| pick[(n % 5) as usize]).collect();
    let input = device.upload(&keys);
    let out = device.upload(&[[0_u32; 6]; 32]);
    device.run("warp_matches", line(1, 32), &Params::default().slice(input, 32).value(out));
    let found = device.download::<[u32; 6]>(out, 32);
    for lane in (0..32).step_by(2) {
        let like = |same: &dyn Fn(u64) -> bool| {
            (0..32)
                .step_by(2)
                .filter(|other| same(keys[*other]))
                .fold(0, |mask, lane| mask | 1 << lane)
        };
        let wide = like(&|key| key == keys[lane]);
        let narrow = like(&|key| key as u32 == keys[lane] as u32);
        let all = if wide == 0x5555_5555 { wide } else { 0 };
        assert_eq!(found[lane], [narrow, wide, narrow, wide, all, 0x5555_5555], "lane {lane}");
    }
}

#[test]
fn reductions_take_the_lanes_of_the_mask() {
    let mut device = Device::new();
    let values: Vec<u32> = numbers(3).take(32).map(|n| n as u32).collect();
    let input = device.upload(&values);
    for mask in MASKS {
        let out = device.upload(&[[7_u32; 8]; 32]);
        let params = Params::default().slice(input, 32).value(mask).value(out);
        device.run("warp_reductions", line(1, 32), &params);
        let taken = || (0..32).filter(|lane| mask >> lane & 1 != 0).map(|lane| values[lane]);
        let signed = || taken().map(u32::cast_signed);
        let expected = [
            taken().fold(0, u32::wrapping_add),
            taken().min().unwrap(),
            taken().max().unwrap(),
            taken().fold(u32::MAX, |all, value| all & value),
            taken().fold(0, |any, value| any | value),
            taken().fold(0, |odd, value| odd ^ value),
            signed().min().unwrap().cast_unsigned(),
            signed().max().unwrap().cast_unsigned(),
        ];
        for (lane, found) in device.download::<[u32; 8]>(out, 32).into_iter().enumerate() {
            let expected = if mask >> lane & 1 != 0 { expected } else { [7; 8] };
            assert_eq!(found, expected, "lane {lane} of {mask:#x}");
        }
    }
}

#[test]
fn scans_keep_the_order_of_the_lanes() {
    let mut device = Device::new();
    let values: Vec<u32> = numbers(4).take(32).map(|n| n as u32 % 3).collect();
    let input = device.upload(&values);
    for mask in MASKS {
        let out = device.upload(&[[7_u32; 4]; 32]);
        let params = Params::default().slice(input, 32).value(mask).value(out);
        device.run("warp_scans", line(1, 32), &params);
        let lanes = || (0..32_usize).filter(|lane| mask >> lane & 1 != 0);
        let append = |number: u32, lane: usize| number.wrapping_mul(3).wrapping_add(values[lane]);
        let all = lanes().fold(0, append);
        let last = values[lanes().next_back().unwrap()];
        for (lane, found) in device.download::<[u32; 4]>(out, 32).into_iter().enumerate() {
            let below = lanes().filter(|other| *other < lane).fold(0, append);
            let expected = [all, append(below, lane), below, last];
            let expected = if mask >> lane & 1 != 0 { expected } else { [7; 4] };
            assert_eq!(found, expected, "lane {lane} of {mask:#x}");
        }
    }
}

#[test]
fn generic_functions_take_every_type_that_lanes_compare_and_reduce() {
    let mut device = Device::checked();
    // Few different values in both halves, of both signs.
    let half = |n: u64| [0, 1, 0x8000_0000, 0xFFFF_FFFF, 0x7F80_0001][n as usize % 5];
    let values: Vec<u64> = numbers(6).take(64).map(|n| half(n) | half(n >> 20) << 32).collect();
    let input = device.upload(&values);
    let matches = device.upload(&[[7_u32; 6]; 64]);
    let reductions = device.upload(&[[[7_u64; 6]; 4]; 64]);
    let params = Params::default().slice(input, 64).value(matches).value(reductions);
    device.run("generic_lanes", line(2, 32), &params);
    let matches = device.download::<[u32; 6]>(matches, 64);
    let reductions = device.download::<[[u64; 6]; 4]>(reductions, 64);
    for (lanes, warp) in values.chunks(32).enumerate() {
        macro_rules! reduced {
            ($T:ty) => {{
                let values = || warp.iter().map(|&value| value as $T);
                [
                    values().fold(0, <$T>::wrapping_add),
                    values().min().expect("a warp has lanes"),
                    values().max().expect("a warp has lanes"),
                    values().fold(!0, |all, value| all & value),
                    values().fold(0, |any, value| any | value),
                    values().fold(0, |odd, value| odd ^ value),
                ]
                .map(|value| value as i64 as u64)
            }};
        }
        let unsigned = reduced!(u32).map(|value| value & u64::from(u32::MAX));
        let expected = [unsigned, reduced!(i32), reduced!(u64), reduced!(i64)];
        for (lane, value) in warp.iter().enumerate() {
            let equal = |mask: u64| {
                let same = |other: &u64| (value ^ other) & mask == 0;
                (0..32).filter(|&bit| same(&warp[bit])).fold(0_u32, |found, bit| found | 1 << bit)
            };
            let (narrow, wide) = (equal(0xFFFF_FFFF), equal(u64::MAX));
            let at = 32 * lanes + lane;
            assert_eq!(matches[at], [narrow, narrow, narrow, wide, wide, wide], "thread {at}");
            assert_eq!(reductions[at], expected, "thread {at}");
        }
    }
}
