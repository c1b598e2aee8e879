//! Groups of threads, against the same computed from the list of a group's members here.

use crate::device::{Backend, Device, Params, Shape, backend, line, numbers};
use crate::faults::{Failed, failing};

/// Blocks whose last warp is full and not, along one axis and several.
const BLOCKS: [[u32; 3]; 6] =
    [[32, 1, 1], [1, 1, 1], [5, 7, 3], [16, 16, 1], [45, 1, 1], [7, 1, 2]];

fn shape(grid: [u32; 3], block: [u32; 3]) -> (Shape, usize) {
    let all = grid.iter().chain(&block).product::<u32>() as usize;
    (Shape { grid, block, dynamic_shared_bytes: 0 }, all)
}

/// Digits of a number in base 3.
fn append(number: u32, value: u32) -> u32 {
    number.wrapping_mul(3).wrapping_add(value % 3)
}

/// What the kernels' `operations` give for the member `rank` of a group whose members have these values.
fn operations(values: &[u32], rank: usize, meta_size: u32, meta_rank: u32) -> [u32; 16] {
    let bits = |holds: &dyn Fn(u32) -> bool| {
        values.iter().enumerate().filter(|(_, v)| holds(**v)).fold(0, |bits, (i, _)| bits | 1 << i)
    };
    let (own, n) = (values[rank], values.len());
    [
        n as u32,
        rank as u32,
        meta_size,
        meta_rank,
        values[n - 1 - rank],
        values[(n - 1) / 2],
        rank.checked_sub(3).map_or(own, |other| values[other]),
        values.get(rank + 2).copied().unwrap_or(own),
        u32::from(values.iter().any(|value| value % 16 == 0)),
        u32::from(values.iter().all(|value| value % 16 != 0)),
        bits(&|value| value % 2 == 1),
        bits(&|value| value % 5 == own % 5),
        u32::from(values.iter().all(|value| value % 2 == own % 2)),
        values.iter().copied().fold(0, append),
        values[..=rank].iter().copied().fold(0, append),
        values[..rank].iter().copied().fold(0, append),
    ]
}

#[test]
fn tiles_work_on_their_threads() {
    let mut device = Device::checked();
    for (seed, block) in (1..).zip(BLOCKS) {
        let (shape, all) = shape([2, 1, 1], block);
        let threads = all / 2;
        // Small tiles with the same value in all threads are to be found, too.
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32 % 50).collect();
        let input = device.upload(&values);
        for n in [1_usize, 2, 4, 8, 16, 32] {
            let out = device.upload(&vec![[0x5A5A_u32; 17]; all]);
            let params = Params::default().value(n as u32).slice(input, all).value(out);
            device.run("tile_operations", shape, &params);
            let found = device.download::<[u32; 17]>(out, all);
            for (block, values) in values.chunks(threads).enumerate() {
                for (tile, members) in values.chunks(n).enumerate() {
                    for rank in 0..members.len() {
                        let found = found[block * threads + tile * n + rank];
                        let tiles = threads.div_ceil(n) as u32;
                        let expected = operations(members, rank, tiles, tile as u32);
                        let crossed = members.get(rank ^ 5).unwrap_or(&members[rank]);
                        assert_eq!(found[..16], expected, "thread {rank} of tile {tile} of {n}");
                        assert_eq!(found[16], *crossed, "thread {rank} of tile {tile} of {n}");
                    }
                }
            }
        }
    }
}

/// Checks a lane's results in a group whose mask it tells, and gives the mask.
fn check(found: [u32; 17], values: &[u32], lane: usize, meta_size: u32, meta_rank: u32) -> u32 {
    let mask = found[16];
    assert!(mask >> lane & 1 == 1, "lane {lane} is not in {mask:#x}");
    let lanes: Vec<usize> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    let members: Vec<u32> = lanes.iter().map(|lane| values[*lane]).collect();
    let rank = lanes.iter().position(|other| *other == lane).expect("it is in its group");
    let expected = operations(&members, rank, meta_size, meta_rank);
    assert_eq!(found[..16], expected, "lane {lane} of {mask:#x}");
    mask
}

#[test]
fn coalesced_threads_are_lanes_that_came_together() {
    let mut device = Device::checked();
    for (seed, block) in (20..).zip(BLOCKS) {
        let (shape, all) = shape([1, 1, 1], block);
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32 % 50).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![[0x5A5A_u32; 17]; all]);
        device.run("coalesced_operations", shape, &Params::default().slice(input, all).value(out));
        let found = device.download::<[u32; 17]>(out, all);
        for (values, found) in values.chunks(32).zip(found.chunks(32)) {
            for (lane, found) in found.iter().enumerate() {
                if values[lane] % 3 == 0 {
                    assert_eq!(*found, [0x5A5A; 17]);
                    continue;
                }
                let mask = check(*found, values, lane, 1, 0);
                for other in (0..32).filter(|other| mask >> other & 1 == 1) {
                    assert!(values[other] % 3 != 0, "lane {other} was elsewhere");
                }
            }
        }
    }
}

#[test]
fn groups_are_divided_by_labels_and_conditions() {
    let mut device = Device::checked();
    for (seed, block) in (40..).zip(BLOCKS) {
        let (shape, all) = shape([1, 1, 1], block);
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32 % 50).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![[[0x5A5A_u32; 17]; 4]; all]);
        device.run("partition_operations", shape, &Params::default().slice(input, all).value(out));
        let found = device.download::<[[u32; 17]; 4]>(out, all);
        for (values, found) in values.chunks(32).zip(found.chunks(32)) {
            // Parent and label of each lane's part, for each way to divide.
            let kind = |way: usize, lane: usize| {
                let value = values[lane];
                let labels = [value % 7, u32::from(value % 4 == 1), lane as u32 / 5, value % 2];
                (if way == 3 { value % 7 } else { 0 }, labels[way])
            };
            for (lane, found) in found.iter().enumerate() {
                for (way, found) in found.iter().enumerate() {
                    let (parent, label) = kind(way, lane);
                    let mut labels = Vec::new();
                    let mut mask = 0_u32;
                    for other in 0..values.len() {
                        let other_kind = kind(way, other);
                        if other_kind.0 == parent && !labels.contains(&other_kind.1) {
                            labels.push(other_kind.1);
                        }
                        mask |= u32::from(other_kind == (parent, label)) << other;
                    }
                    assert_eq!(found[16], mask, "lane {lane}, way {way}");
                    let number = labels.iter().position(|other| *other == label).unwrap();
                    check(*found, values, lane, labels.len() as u32, number as u32);
                }
            }
        }
    }
}

#[test]
fn block_and_grid_know_their_threads() {
    let mut device = Device::checked();
    for (seed, block) in (60..).zip(BLOCKS) {
        let grid = [2, 1, 3];
        let (shape, all) = shape(grid, block);
        let threads = all / 6;
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32 % 50).collect();
        let input = device.upload(&values);
        let params = |out: u64| Params::default().slice(input, all).value(out);
        for cooperative in [false, true] {
            let out = device.upload(&vec![[u64::MAX; 12]; all]);
            if cooperative {
                device.run_cooperative("block_and_grid", shape, &params(out));
            } else {
                device.run("block_and_grid", shape, &params(out));
            }
            for (place, found) in device.download::<[u64; 12]>(out, all).into_iter().enumerate() {
                let (number, rank) = (place / threads, place % threads);
                let values = &values[number * threads..][..threads];
                let [x, y] = [block[0] as usize, block[1] as usize];
                let (i, j, k) = (rank % x, rank / x % y, rank / (x * y));
                let (i, k) = (number % 2 * x + i, number / 2 * block[2] as usize + k);
                let sum = |values: &[u32]| u64::from(values.iter().copied().fold(0, append));
                let expected = [
                    threads as u64,
                    rank as u64,
                    6,
                    number as u64,
                    all as u64,
                    place as u64,
                    // NVIDIA's driver gives other launches a workspace, too.
                    if cooperative || backend() == Backend::Emulator {
                        u64::from(cooperative)
                    } else {
                        found[6]
                    },
                    ((k * y + j) * 2 * x + i) as u64,
                    sum(values),
                    sum(&values[..=rank]),
                    sum(&values[..rank]),
                    u64::from(values[threads / 2]),
                ];
                assert_eq!(found, expected, "thread {place} of {block:?}");
            }
        }
    }
}

#[test]
fn a_cooperative_launch_has_a_barrier_of_the_grid() {
    let mut device = Device::checked();
    for (seed, (grid, block, rounds)) in (80..).zip([
        ([1, 1, 1], [33, 1, 1], 3),
        ([7, 1, 1], [40, 1, 1], 9),
        ([3, 2, 2], [8, 4, 2], 6),
    ]) {
        let (shape, all) = shape(grid, block);
        let threads = block.iter().product::<u32>() as usize;
        let mut values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32).collect();
        let a = device.upload(&values);
        let b = device.upload(&vec![0x5A5A_u32; all]);
        device.run_cooperative(
            "grid_rounds",
            shape,
            &Params::default().value(a).value(b).value(rounds),
        );
        for round in 0..rounds {
            values = (0..all)
                .map(|i| {
                    let next = values[(i + threads) % all];
                    values[i].wrapping_mul(3).wrapping_add(next ^ round)
                })
                .collect();
        }
        let result = if rounds % 2 == 0 { a } else { b };
        assert_eq!(device.download::<u32>(result, all), values, "{grid:?} {block:?}");
    }
}

#[test]
fn a_barrier_of_the_grid_needs_a_cooperative_launch() {
    let test = "groups::a_barrier_of_the_grid_needs_a_cooperative_launch";
    let failed = failing(test, "grid_rounds", line(2, 32), |device| {
        let a = device.upload(&[0_u32; 64]);
        Params::default().value(a).value(a).value(1_u32)
    });
    let text = match failed {
        Failed::Emulator(fault) => fault.to_string(),
        Failed::Driver { said, .. } => said,
    };
    assert!(text.contains("needs a cooperative launch"), "{text}");
}

#[test]
fn structs_go_through_groups() {
    let mut device = Device::checked();
    let values: Vec<f64> = numbers(90).take(100).map(|n| (n % 9) as f64 - 4.5).collect();
    let input = device.upload(&values);
    let out = device.upload(&[99_u32; 100]);
    device.run("largest_lane", line(1, 100), &Params::default().slice(input, 100).value(out));
    for (i, found) in device.download::<u32>(out, 100).into_iter().enumerate() {
        let tile = i / 16 * 16;
        let members = &values[tile..100.min(tile + 16)];
        let largest = members.iter().copied().fold(f64::MIN, f64::max);
        let lane = members.iter().position(|value| *value == largest).unwrap() + tile % 32;
        assert_eq!(found, lane as u32, "thread {i}");
    }
}
