//! rust-cuda's functions, each by its name.

use super::contention::{
    ADD, AND, COMPARE_EXCHANGE, DEC, EXCHANGE, INC, MAX, MIN, Number, OR, SUB, XOR, contend,
    devices,
};
use crate::device::{Device, Params, line};

/// The kernels' number of the functions that take the ordering as an argument.
const MID: u32 = 5;

const FLOAT: &[u32] = &[EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, AND, OR, XOR];
const INTEGER: &[u32] = &[EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, AND, OR, XOR];
const COUNTER: &[u32] = &[EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, AND, OR, XOR, INC, DEC];

fn by_name<T: Number>(name: &str, ops: &[u32]) {
    for mut device in devices() {
        for (scope, per_block) in [("block", true), ("device", false), ("system", false)] {
            let kernel = format!("named_{name}_{scope}");
            for &op in ops {
                for order in (0..=MID).filter(|order| *order < MID || ![INC, DEC].contains(&op)) {
                    for few in [true, false] {
                        let words = [u32::from(per_block), op, order];
                        contend::<T>(&mut device, &kernel, op, few, per_block, &words);
                    }
                }
            }
        }
    }
}

macro_rules! tests {
    ($($name:ident: $T:ident, $ops:ident;)+) => {$(
        #[test]
        fn $name() {
            by_name::<$T>(stringify!($T), $ops);
        }
    )+};
}

tests! {
    unsigned: u32, COUNTER;
    unsigned_of_64_bits: u64, COUNTER;
    signed: i32, INTEGER;
    signed_of_64_bits: i64, INTEGER;
    single: f32, FLOAT;
    double: f64, FLOAT;
}

const SCOPES: [&str; 3] = ["block", "device", "system"];

#[test]
fn loads_and_stores() {
    let values: Vec<u32> = (0..96).map(|i: u32| i.wrapping_mul(0x9E37_79B9) >> 1).collect();
    let wide: Vec<u64> = values.iter().map(|value| u64::from(*value) << 31).collect();
    for scope in SCOPES {
        for order in 0..4_u32 {
            let mut device = Device::checked();
            let places = device.upload(&values);
            let out = device.upload(&[0xABCD_u32; 96]);
            let params = Params::default().value(places).value(order).value(out);
            device.run(&format!("named_moves_32_{scope}"), line(3, 32), &params);
            assert_eq!(device.download::<u32>(out, 96), values);
            let more: Vec<u32> = values.iter().map(|value| value + 1).collect();
            assert_eq!(device.download::<u32>(places, 96), more);

            let places = device.upload(&wide);
            let out = device.upload(&[0xABCD_u64; 96]);
            let params = Params::default().value(places).value(order).value(out);
            device.run(&format!("named_moves_64_{scope}"), line(3, 32), &params);
            assert_eq!(device.download::<u64>(out, 96), wide);
            let more: Vec<u64> = wide.iter().map(|value| value + 1).collect();
            assert_eq!(device.download::<u64>(places, 96), more);
        }
    }
}

/// Runs the kernel whose warps hand numbers over; what arrived.
fn hand_over(device: &mut Device, scope: &str, fence: u32) -> Vec<u32> {
    let numbers = device.upload(&[0_u32; 32]);
    let flags = device.upload(&[0_u32; 32]);
    let out = device.upload(&[u32::MAX; 32]);
    let params = Params::default().value(fence).value(numbers).value(flags).value(out);
    device.run(&format!("named_fences_{scope}"), line(1, 128), &params);
    device.download(out, 32)
}

#[test]
fn fences() {
    for scope in SCOPES {
        for fence in 0..4 {
            for mut device in devices() {
                let found = hand_over(&mut device, scope, fence);
                assert_eq!(found, (1..=32).collect::<Vec<u32>>());
                assert_eq!(device.take_findings(), Vec::<String>::new(), "{scope}, {fence}");
            }
        }
    }
}

#[test]
fn without_a_fence_it_is_a_race() {
    for scope in SCOPES {
        let mut device = super::handing_over::watched(Some(1));
        hand_over(&mut device, scope, 4);
        let findings = device.take_findings();
        assert!(findings.iter().any(|finding| finding.contains("race")), "{scope}: {findings:?}");
    }
}
