//! Memory that is no atomic, handed from block to block by one that is.

use ptx_emulator::MachineConfig;

use crate::device::{Device, Params, line};

const BLOCKS: usize = 40;

/// An emulated machine that looks for races, its blocks in an order of the seed's.
pub(super) fn watched(seed: Option<u64>) -> Device {
    let mut config = MachineConfig::default();
    config.schedule_seed = seed;
    config.checks = "racecheck".parse().expect("a check");
    Device::emulated(config)
}

const SEEDS: [Option<u64>; 3] = [None, Some(1), Some(2)];

/// Runs a look-back; what each block summed up.
fn look_back(device: &mut Device, kernel: &str) -> Vec<u32> {
    let next = device.upload(&[0_u32]);
    let flags = device.upload(&[0_u32; BLOCKS]);
    let sums = device.upload(&[u32::MAX; BLOCKS]);
    let params = Params::default().value(next).value(flags).value(sums);
    device.run(kernel, line(BLOCKS as u32, 32), &params);
    device.download(sums, BLOCKS)
}

const CORRECT: [&str; 7] = [
    "look_back_stores",
    "look_back_sums",
    "look_back_system",
    "look_back_fences",
    "look_back_core",
    "look_back_core_swap",
    "byte_flags",
];

#[test]
fn blocks_see_what_came_before_the_flag() {
    let expected: Vec<u32> = (0..BLOCKS as u32).map(|i| i * (i + 1) / 2).collect();
    for kernel in CORRECT {
        assert_eq!(look_back(&mut Device::new(), kernel), expected, "{kernel}");
        for seed in SEEDS {
            let mut device = watched(seed);
            assert_eq!(look_back(&mut device, kernel), expected, "{kernel}");
            assert_eq!(device.take_findings(), Vec::<String>::new(), "{kernel}, seed {seed:?}");
        }
    }
}

#[test]
fn a_flag_that_orders_nothing_is_a_race() {
    for kernel in [
        "look_back_relaxed",
        "look_back_relaxed_sums",
        "look_back_in_block",
        "look_back_core_relaxed",
    ] {
        for seed in SEEDS {
            let mut device = watched(seed);
            look_back(&mut device, kernel);
            assert_ne!(device.take_findings(), Vec::<String>::new(), "{kernel}, seed {seed:?}");
        }
    }
}

#[test]
fn a_lock_guards_what_is_no_atomic() {
    let run = |device: &mut Device| {
        let lock = device.upload(&[0_u32]);
        let total = device.upload(&[0_u64]);
        device.run("spin_lock", line(20, 64), &Params::default().value(lock).value(total));
        assert_eq!(device.download::<u64>(total, 1), [4 * 210]);
    };
    run(&mut Device::new());
    for seed in SEEDS {
        let mut device = watched(seed);
        run(&mut device);
        assert_eq!(device.take_findings(), Vec::<String>::new(), "seed {seed:?}");
    }
}

#[test]
fn the_scope_of_a_block_is_too_narrow_for_blocks_that_share() {
    let mut device = watched(None);
    let (targets, values) = (device.upload(&[0_u32; 3]), device.upload(&[1_u32; 128]));
    let out = device.upload(&[0_u32; 128]);
    for (per_block, is_race) in [(1_u32, false), (0, true)] {
        let targets = if per_block == 1 { device.upload(&[0_u32; 6]) } else { targets };
        let add = 3_u32;
        let params = Params::default().value(targets).value(per_block).value(0_u32).value(add);
        let params = params.slice(values, 128).slice(values, 128).value(out);
        device.run("contend_u32_block", line(2, 64), &params);
        assert_eq!(!device.take_findings().is_empty(), is_race);
    }
}
