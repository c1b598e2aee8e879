//! Every operation of every type and scope, by 210 threads at once on 3 numbers.

use cuda_std::{bf16, f16};
use ptx_emulator::MachineConfig;

use super::history::could_be;
use crate::device::{Backend, Bytes, Device, Params, backend, line, numbers};

const TARGETS: usize = 3;
const BLOCKS: usize = 3;
const THREADS: usize = 70;
const ALL: usize = BLOCKS * THREADS;

/// The kernels' numbers of operations.
pub(super) const LOAD: u32 = 0;
pub(super) const EXCHANGE: u32 = 1;
pub(super) const COMPARE_EXCHANGE: u32 = 2;
pub(super) const ADD: u32 = 3;
pub(super) const SUB: u32 = 4;
pub(super) const MIN: u32 = 5;
pub(super) const MAX: u32 = 6;
const UPDATE: u32 = 7;
pub(super) const AND: u32 = 8;
pub(super) const OR: u32 = 9;
pub(super) const XOR: u32 = 10;
pub(super) const INC: u32 = 11;
pub(super) const DEC: u32 = 12;
const NAND: u32 = 13;

const FLOAT: &[u32] = &[LOAD, EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, UPDATE];
const INTEGER: &[u32] =
    &[LOAD, EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, UPDATE, AND, OR, XOR];
const COUNTER: &[u32] =
    &[LOAD, EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, UPDATE, AND, OR, XOR, INC, DEC];
const CORE: &[u32] = &[LOAD, EXCHANGE, COMPARE_EXCHANGE, ADD, SUB, MIN, MAX, AND, OR, XOR, NAND];

/// What the operations do, one after the other.
pub(super) trait Number: Bytes + Copy + PartialEq {
    /// Some of a few values, or of many; from a random number.
    fn of(random: u64, few: bool) -> Self;
    fn bits(self) -> u64;
    fn after(op: u32, old: Self, value: Self, comparand: Self) -> Self;
}

fn moved<T: Number>(op: u32, old: T, value: T, comparand: T) -> T {
    match op {
        LOAD => old,
        EXCHANGE => value,
        COMPARE_EXCHANGE if old.bits() == comparand.bits() => value,
        COMPARE_EXCHANGE => old,
        UPDATE if old == comparand => old,
        UPDATE => value,
        _ => unreachable!("operation {op}"),
    }
}

macro_rules! integers {
    ($($T:ident),+) => {$(
        impl Number for $T {
            fn of(random: u64, few: bool) -> Self {
                if few { (random % 4) as Self } else { (random >> 7) as Self }
            }

            fn bits(self) -> u64 {
                self as u64
            }

            fn after(op: u32, old: Self, value: Self, comparand: Self) -> Self {
                match op {
                    ADD => old.wrapping_add(value),
                    SUB => old.wrapping_sub(value),
                    MIN => old.min(value),
                    MAX => old.max(value),
                    AND => old & value,
                    OR => old | value,
                    XOR => old ^ value,
                    NAND => !(old & value),
                    INC => if old >= value { 0 } else { old + 1 },
                    DEC => if old == 0 || old > value { value } else { old - 1 },
                    _ => moved(op, old, value, comparand),
                }
            }
        }
    )+};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

macro_rules! floats {
    ($($T:ident, $from:expr, $wide:expr;)+) => {$(
        impl Number for $T {
            fn of(random: u64, few: bool) -> Self {
                let some = [0.0, -0.0, 1.5, -2.0];
                let many = (random % 2048) as f64 / 8.0 - 128.0;
                $from(if few { some[(random % 4) as usize] } else { many })
            }

            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }

            fn after(op: u32, old: Self, value: Self, comparand: Self) -> Self {
                // f64 holds a sum of two such numbers exactly, so it is rounded once.
                let (old_wide, value_wide) = ($wide(old), $wide(value));
                let below = old_wide.total_cmp(&value_wide).is_lt();
                match op {
                    ADD => $from(old_wide + value_wide),
                    SUB => $from(old_wide - value_wide),
                    MIN => if below { old } else { value },
                    MAX => if below { value } else { old },
                    AND => Self::from_bits(old.to_bits() & value.to_bits()),
                    OR => Self::from_bits(old.to_bits() | value.to_bits()),
                    XOR => Self::from_bits(old.to_bits() ^ value.to_bits()),
                    _ => moved(op, old, value, comparand),
                }
            }
        }
    )+};
}

floats! {
    f32, |x: f64| x as f32, f64::from;
    f64, |x: f64| x, f64::from;
    f16, f16::from_f64, f16::to_f64;
    bf16, bf16::from_f64, bf16::to_f64;
}

/// A test's device, and on the emulator one with warps and blocks in another order, which also looks for races.
pub(super) fn devices() -> Vec<Device> {
    let mut devices = vec![Device::new()];
    if backend() == Backend::Emulator {
        let mut config = MachineConfig::default();
        config.schedule_seed = Some(7);
        config.checks = "racecheck".parse().expect("a check");
        devices.push(Device::emulated(config));
    }
    devices
}

/// One launch: checks that the operations can have happened one after the other. `words` are the kernel's parameters between the
/// targets and the values.
pub(super) fn contend<T: Number>(
    device: &mut Device,
    kernel: &str,
    op: u32,
    few: bool,
    per_block: bool,
    words: &[u32],
) {
    let mut random = numbers(u64::from(op) * 2 + u64::from(few));
    let mut next =
        |count| -> Vec<T> { (&mut random).take(count).map(|number| T::of(number, few)).collect() };
    let count = if per_block { TARGETS * BLOCKS } else { TARGETS };
    let (first, values, comparands) = (next(count), next(ALL), next(ALL));
    // A byte's atomic uses the four bytes around it.
    let spare = [first[0]; 4];
    let targets = device.upload(&[&first[..], &spare].concat());
    let (value, comparand) = (device.upload(&values), device.upload(&comparands));
    let out = device.upload(&next(ALL));
    let mut params = Params::default().value(targets);
    for &word in words {
        params = params.value(word);
    }
    let params = params.slice(value, ALL).slice(comparand, ALL).value(out);
    device.run(kernel, line(BLOCKS as u32, THREADS as u32), &params);
    assert_eq!(device.take_findings(), Vec::<String>::new());
    let (last, old) = (device.download::<T>(targets, count), device.download::<T>(out, ALL));
    for target in 0..count {
        let takes_part = |i: &usize| {
            i % TARGETS == target % TARGETS && (!per_block || i / THREADS == target / TARGETS)
        };
        let steps: Vec<_> = (0..ALL)
            .filter(takes_part)
            .map(|i| (old[i].bits(), T::after(op, old[i], values[i], comparands[i]).bits()))
            .collect();
        assert!(
            could_be(first[target].bits(), last[target].bits(), &steps),
            "{kernel}{words:?}, operation {op}, few values {few}, from {:#x} to {:#x}: {steps:x?}",
            first[target].bits(),
            last[target].bits()
        );
    }
}

fn contend_in_all_scopes<T: Number>(name: &str, ops: &[u32]) {
    for mut device in devices() {
        for (scope, modes) in [
            ("block", [[true, false], [true, true]]),
            ("device", [[false, false], [true, true]]),
            ("system", [[false, false], [true, true]]),
        ] {
            for &op in ops {
                for few in [true, false] {
                    for mode in modes {
                        let kernel = format!("contend_{name}_{scope}");
                        let [per_block, shared] = mode.map(u32::from);
                        let words = [per_block, shared, op];
                        contend::<T>(&mut device, &kernel, op, few, mode[0], &words);
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
            contend_in_all_scopes::<$T>(stringify!($T), $ops);
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
    half: f16, FLOAT;
    brain: bf16, FLOAT;
}

#[test]
fn cores_atomics_of_every_size() {
    fn test<T: Number>(name: &str) {
        for mut device in devices() {
            for &op in CORE {
                for few in [true, false] {
                    contend::<T>(&mut device, name, op, few, false, &[op]);
                }
            }
        }
    }
    test::<u8>("core_u8");
    test::<i8>("core_i8");
    test::<u16>("core_u16");
    test::<i16>("core_i16");
    test::<u32>("core_u32");
    test::<i32>("core_i32");
    test::<u64>("core_u64");
    test::<i64>("core_i64");
}
