//! rust-cuda's types, and functions that are generic over atomics.

use super::contention::{ADD, AND, LOAD, Number, OR, SUB, XOR, contend, devices};
use crate::device::{Device, Params, line, numbers};

const OPERATIONS: [u32; 6] = [LOAD, ADD, SUB, AND, OR, XOR];

fn all_of<T: Number>(name: &str) {
    for mut device in devices() {
        for (scope, per_block) in [("block_", true), ("", false), ("system_", false)] {
            for op in OPERATIONS {
                for few in [true, false] {
                    let kernel = format!("contend_{scope}atomic_{name}");
                    let words = [u32::from(per_block), op];
                    contend::<T>(&mut device, &kernel, op, few, per_block, &words);
                }
            }
        }
    }
    for scope in ["block_", "", "system_"] {
        let values: Vec<T> = numbers(3).take(96).map(|number| T::of(number, false)).collect();
        let mut device = Device::checked();
        let places = device.upload(&[[0xA5_u8; 8]; 96]);
        let source = device.upload(&values);
        let params = Params::default().value(places).slice(source, 96);
        device.run(&format!("store_{scope}atomic_{name}"), line(3, 32), &params);
        let found = device.download::<T>(places, 96);
        assert!(found.iter().zip(&values).all(|(found, value)| found.bits() == value.bits()));
    }
}

#[test]
fn single() {
    all_of::<f32>("f32");
}

#[test]
fn double() {
    all_of::<f64>("f64");
}

#[test]
fn generic_functions() {
    let mut device = Device::checked();
    let largest = device.upload(&[-1.0_f32]);
    let flipped = device.upload(&[0_i64]);
    let counter = device.upload(&[0_u32]);
    let sum = device.upload(&[0_u32]);
    let params = Params::default().value(largest).value(flipped).value(counter).value(sum);
    device.run("generic_atomics", line(3, 33), &params);
    assert_eq!(device.download::<f32>(largest, 1), [49.0]);
    // Bits 0 to 34 are flipped twice, the others once.
    assert_eq!(device.download::<i64>(flipped, 1), [-1_i64 << 35]);
    // 99 steps around a circle of 10.
    assert_eq!(device.download::<u32>(counter, 1), [9]);
    assert_eq!(device.download::<u32>(sum, 1), [98 * 99 / 2]);
}
