//! Clusters of blocks, against the same computed here. Their kernels are in `tests/device_sm90`.

use crate::device::{Params, Shape, line, numbers};
use crate::sm90::device;

fn product(size: [u32; 3]) -> u32 {
    size.iter().product()
}

/// Where number `linear` is in a box, x fastest.
fn place(linear: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [linear % x, linear / x % y, linear / x / y]
}

fn rank([i, j, k]: [u32; 3], [x, y, _]: [u32; 3]) -> u32 {
    (k * y + j) * x + i
}

fn each(f: impl Fn(usize) -> u32) -> [u32; 3] {
    [0, 1, 2].map(f)
}

#[test]
fn threads_know_their_place_in_the_cluster() {
    let mut device = device();
    for (kernel, cluster, grid, block) in [
        ("clusters_of_2_by_3", [2, 3, 1], [4, 6, 2], [5, 2, 1]),
        ("clusters_of_2_by_3", [2, 3, 1], [2, 3, 1], [33, 1, 1]),
        ("clusters_of_1_by_2_by_4", [1, 2, 4], [3, 2, 4], [4, 4, 4]),
        ("clusters_of_one", [1, 1, 1], [3, 2, 2], [7, 1, 2]),
    ] {
        let (blocks, threads) = (product(grid), product(block));
        let out = device.upload(&vec![0x5A5A_u32; 24 * (blocks * threads) as usize]);
        let shape = Shape { grid, block, dynamic_shared_bytes: 0 };
        device.run(kernel, shape, &Params::default().value(out));
        let found = device.download::<u32>(out, 24 * (blocks * threads) as usize);
        for (linear, found) in (0..).zip(found.chunks_exact(24)) {
            let at = place(linear / threads, grid);
            let thread = place(linear % threads, block);
            let inner = each(|axis| at[axis] % cluster[axis]);
            let block_rank = rank(inner, cluster);
            let mut expected = vec![
                block_rank,
                product(cluster),
                block_rank * threads + linear % threads,
                product(cluster) * threads,
            ];
            expected.extend(inner);
            expected.extend(cluster);
            expected.extend(each(|axis| at[axis] / cluster[axis]));
            expected.extend(each(|axis| grid[axis] / cluster[axis]));
            expected.extend(each(|axis| inner[axis] * block[axis] + thread[axis]));
            expected.extend(each(|axis| cluster[axis] * block[axis]));
            expected.resize(24, 0);
            assert_eq!(found, expected, "{kernel}, thread {linear}");
        }
    }
}

#[test]
fn blocks_read_each_others_shared_memory() {
    let mut device = device();
    for (seed, (clusters, threads)) in (1..).zip([(1, 64), (3, 33), (2, 1)]) {
        let all = (4 * clusters * threads) as usize;
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32).collect();
        let x = device.upload(&values);
        let (out, ranks) =
            (device.upload(&vec![0x5A5A_u32; all]), device.upload(&vec![99_u32; all]));
        let params = Params::default().slice(x, all).value(out).value(ranks);
        device.run("reversed_clusters", line(4 * clusters, threads), &params);
        let expected: Vec<u32> = values
            .chunks(4 * threads as usize)
            .flat_map(|part| part.iter().rev().copied())
            .collect();
        assert_eq!(device.download::<u32>(out, all), expected);
        let expected: Vec<u32> =
            (0..all as u32).map(|at| at / threads % 4).map(|rank| (3 - rank) * 10 + rank).collect();
        assert_eq!(device.download::<u32>(ranks, all), expected);
    }
}

#[test]
fn a_histogram_is_spread_over_the_cluster() {
    let mut device = device();
    for (seed, (clusters, threads, n)) in
        (1..).zip([(1, 64, 1000), (2, 32, 4097), (1, 96, 0), (2, 40, 3)])
    {
        let values: Vec<u8> = numbers(seed).take(n).map(|n| n as u8).collect();
        let x = device.upload(&values);
        let counts = device.upload(&vec![0x5A5A_u32; 256 * clusters]);
        let params = Params::default().slice(x, n).value(counts);
        device.run("cluster_histograms", line(8 * clusters as u32, threads), &params);
        let each = n.div_ceil(clusters).max(1);
        let mut expected = vec![0_u32; 256 * clusters];
        for (cluster, part) in values.chunks(each).enumerate() {
            part.iter().for_each(|value| expected[256 * cluster + usize::from(*value)] += 1);
        }
        assert_eq!(device.download::<u32>(counts, 256 * clusters), expected, "{n}");
    }
}

#[test]
fn threads_arrive_and_wait_apart() {
    let mut device = device();
    for (clusters, threads, rounds) in [(1, 64, 5), (3, 33, 1), (2, 7, 0)] {
        let all = (2 * clusters * threads) as usize;
        let out = device.upload(&vec![0x5A5A_u32; all]);
        let params = Params::default().value(rounds).value(out);
        device.run("passed_on", line(2 * clusters, threads), &params);
        let mut values: Vec<u32> = (0..all as u32).collect();
        let mut work = vec![0_u32; all];
        for round in 0..rounds {
            work =
                work.iter().zip(&values).map(|(w, v)| w.wrapping_add(*v).rotate_left(1)).collect();
            let given: Vec<u32> =
                values.iter().map(|value| value.wrapping_mul(3).wrapping_add(round)).collect();
            // The same thread of the cluster's other block.
            let other = |at: usize| {
                let (block, thread) = (at / threads as usize, at % threads as usize);
                (block ^ 1) * threads as usize + thread
            };
            values = (0..all).map(|at| given[other(at)]).collect();
        }
        let expected: Vec<u32> =
            values.iter().zip(&work).map(|(value, work)| value ^ work).collect();
        assert_eq!(device.download::<u32>(out, all), expected, "{rounds} rounds");
    }
}
