//! Copies that go on by themselves, and barriers to arrive at. Their kernels are in `tests/device_sm90`.

use crate::device::{Params, Shape, line, numbers};
use crate::sm90::device;

#[test]
fn the_next_tile_is_copied_meanwhile() {
    let mut device = device();
    for (bytes, block) in [(4, [33, 1, 1]), (8, [8, 8, 2]), (16, [64, 1, 1]), (16, [1, 1, 1])] {
        let threads = block.iter().product::<u32>() as usize;
        let words = bytes / 4;
        for n in [0, 1, 2, 7] {
            let values: Vec<u32> =
                numbers(n as u64 + 1).take(n * threads * words + 1).map(|n| n as u32).collect();
            let x = device.upload(&values);
            let out = device.upload(&vec![0x5A5A_u32; threads]);
            let params = Params::default().value(bytes as u32).value(x).value(n as u64).value(out);
            let shape = Shape { grid: [1, 1, 1], block, dynamic_shared_bytes: 0 };
            device.run("pipelines", shape, &params);
            let expected: Vec<u32> = (0..threads)
                .map(|i| {
                    let own = |tile: &[u32]| tile[(threads - 1 - i) * words..][..words].to_vec();
                    let tiles = values[..n * threads * words].chunks(threads * words);
                    tiles.flat_map(own).fold(0_u32, |sum, x| sum.wrapping_mul(31).wrapping_add(x))
                })
                .collect();
            assert_eq!(device.download::<u32>(out, threads), expected, "{n} tiles, {bytes} bytes");
        }
    }
}

#[test]
fn barriers_separate_phases() {
    let mut device = device();
    for how in 0..4_u32 {
        for (threads, rounds) in [(1, 3), (32, 5), (77, 6), (256, 2)] {
            let mut values: Vec<u32> =
                numbers(u64::from(how) + 10).take(threads).map(|n| n as u32).collect();
            let input = device.upload(&values);
            let out = device.upload(&vec![0x5A5A_u32; threads]);
            let params =
                Params::default().value(how).value(rounds).slice(input, threads).value(out);
            device.run("around", line(1, threads as u32), &params);
            for _ in 0..rounds {
                values = (0..threads)
                    .map(|i| values[i].wrapping_mul(3).wrapping_add(values[(i + 1) % threads]))
                    .collect();
            }
            assert_eq!(device.download::<u32>(out, threads), values, "{how}, {threads} threads");
        }
    }
}

#[test]
fn copies_arrive_at_barriers() {
    let mut device = device();
    for threads in [1, 40, 256] {
        let values: Vec<u32> = numbers(20).take(threads).map(|n| n as u32).collect();
        let x = device.upload(&values);
        let out = device.upload(&vec![0x5A5A_u32; threads]);
        device.run(
            "arriving_copies",
            line(1, threads as u32),
            &Params::default().value(x).value(out),
        );
        let expected: Vec<u32> = values.iter().rev().copied().collect();
        assert_eq!(device.download::<u32>(out, threads), expected);
    }
}

#[test]
fn a_phase_ends_with_its_arrivals_and_bytes() {
    let mut device = device();
    let out = device.upload(&[7_u32; 8]);
    device.run("phases", line(1, 1), &Params::default().value(out));
    // The third phase, of parity 0, has ended, and so has its token's.
    assert_eq!(device.download::<u32>(out, 8), [0, 0, 0, 1, 0, 1, 1, 1]);
}

#[test]
fn barriers_may_lie_in_dynamic_shared_memory() {
    for threads in [1_usize, 31, 64, 200] {
        let mut device = device();
        let values: Vec<u32> = numbers(30).take(threads).map(|n| n as u32).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![0x5A5A_u32; threads]);
        let params = Params::default().slice(input, threads).value(out);
        let bytes = (4 * threads).next_multiple_of(8) + 16;
        let shape = Shape { dynamic_shared_bytes: bytes as u32, ..line(1, threads as u32) };
        device.run("dynamic_barriers", shape, &params);
        let expected: Vec<u32> = values.into_iter().rev().collect();
        assert_eq!(device.download::<u32>(out, threads), expected, "{threads} threads");
    }
}

#[test]
fn what_is_past_the_end_is_zero() {
    let mut device = device();
    for (kernel, words) in [("edges_4", 1), ("edges_8", 2), ("edges_16", 4)] {
        for (blocks, threads, len) in [(2, 40, 70), (1, 64, 64), (1, 33, 1), (1, 8, 0)] {
            let values: Vec<u32> = numbers(30).take(words * len).map(|n| n as u32).collect();
            let x = device.upload(&values);
            let all = blocks * threads;
            let out = device.upload(&vec![[0x5A5A_u32; 4]; all]);
            let params = Params::default().slice(x, len).value(out);
            device.run(kernel, line(blocks as u32, threads as u32), &params);
            let expected: Vec<[u32; 4]> = (0..all)
                .map(|at| at / threads * threads + (threads - 1 - at % threads))
                .map(|at| {
                    let word = |i: usize| values.get(words * at + i).copied().unwrap_or(0);
                    std::array::from_fn(|i| if i < words { word(i) } else { 0 })
                })
                .collect();
            assert_eq!(device.download::<[u32; 4]>(out, all), expected, "{kernel}, {len}");
        }
    }
}

#[test]
fn some_of_the_bytes_are_zero() {
    let mut device = device();
    let values: Vec<u32> = numbers(31).take(4).map(|n| n as u32 | 0x0101_0101).collect();
    let x = device.upload(&values);
    let out = device.upload(&[[0x5A5A_u32; 4]; 17]);
    device.run("partly_zero", line(1, 17), &Params::default().value(x).value(out));
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for (zeros, found) in device.download::<[u32; 4]>(out, 17).into_iter().enumerate() {
        let mut expected = bytes.clone();
        expected[16 - zeros..].fill(0);
        let found: Vec<u8> = found.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(found, expected, "{zeros} zeros");
    }
}

#[test]
fn a_thread_arrives_for_several() {
    let mut device = device();
    let out = device.upload(&[7_u32; 4]);
    device.run("counted_arrivals", line(1, 1), &Params::default().value(out));
    assert_eq!(device.download::<u32>(out, 4), [0, 0, 1, 1]);
}

#[test]
fn blocks_arrive_at_each_others_barriers() {
    let mut device = device();
    for (clusters, threads, rounds) in [(1, 64, 6), (2, 33, 3), (3, 1, 4), (1, 7, 0)] {
        let all = 4 * clusters * threads;
        let mut values: Vec<u32> =
            numbers(30 + rounds).take(all).map(|number| number as u32).collect();
        let input = device.upload(&values);
        let out = device.upload(&vec![0x5A5A_u32; all]);
        let params = Params::default().value(rounds as u32).slice(input, all).value(out);
        let shape = line(4 * clusters as u32, threads as u32);
        device.run("around_the_cluster", shape, &params);
        for round in 0..rounds as u32 {
            // What the block before had, turned around.
            let given = |at: usize| {
                let (cluster, block, i) = (at / threads / 4, at / threads % 4, at % threads);
                values[(4 * cluster + (block + 3) % 4) * threads + threads - 1 - i]
            };
            values = (0..all).map(|at| given(at).wrapping_mul(3).wrapping_add(round)).collect();
        }
        assert_eq!(device.download::<u32>(out, all), values, "{rounds} rounds, {threads} threads");
    }
}
