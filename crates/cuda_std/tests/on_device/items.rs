//! Several items of each thread, against the same computed one after the other here.

use crate::device::{Device, Params, Shape, line, numbers, ptx_of};

/// Digits of a number in base 3.
fn append(number: u32, digit: u32) -> u32 {
    number.wrapping_mul(3).wrapping_add(digit)
}

#[test]
fn items_are_scanned_in_their_order() {
    let mut device = Device::checked();
    for (seed, block) in (1..).zip([[1, 1, 1], [32, 1, 1], [33, 1, 1], [5, 7, 3], [127, 1, 1]]) {
        let threads = block.iter().product::<u32>() as usize;
        for n in [1_usize, 2, 3, 4, 7] {
            // Whole, short of a whole number of items, one, none.
            for len in [threads * n, (threads * n).saturating_sub(2), 1, 0] {
                let digits: Vec<u32> = numbers(seed).take(len).map(|n| n as u32 % 3).collect();
                let x = device.upload(&digits);
                let out = device.upload(&vec![[0x5A5A_5A5A_u32; 5]; len + 1]);
                let shape = Shape { grid: [1, 1, 1], block, dynamic_shared_bytes: 0 };
                let params = Params::default().value(n as u32).slice(x, len).value(out);
                device.run("item_scans", shape, &params.value(len as u64));
                let total = digits.iter().copied().fold(0, append);
                let mut before = 0;
                let mut expected = Vec::new();
                for digit in &digits {
                    let inclusive = append(before, *digit);
                    expected.push([inclusive, before, total, total, 1]);
                    before = inclusive;
                }
                expected.push([0x5A5A_5A5A; 5]);
                let found = device.download::<[u32; 5]>(out, len + 1);
                assert_eq!(found, expected, "{n} items of {block:?}, {len} in all");
            }
        }
    }
}

#[test]
fn items_change_their_arrangement() {
    let mut device = Device::checked();
    for (seed, (blocks, threads, len)) in
        (20..).zip([(1, 32, 96), (3, 256, 2304), (2, 45, 200), (1, 1, 3), (1, 64, 0)])
    {
        let values: Vec<u64> = numbers(seed).take(len).map(|n| n >> 30).collect();
        let x = device.upload(&values);
        let outs = [1, 2].map(|_| device.upload(&vec![0x5A5A_u64; len]));
        let params = Params::default().slice(x, len).value(outs[0]).value(outs[1]);
        device.run("item_exchanges", line(blocks, threads), &params);
        assert_eq!(device.download::<u64>(outs[0], len), values);
        let marked: Vec<u64> = (0..).zip(&values).map(|(at, value)| value ^ at << 40).collect();
        assert_eq!(device.download::<u64>(outs[1], len), marked);
    }
}

#[test]
fn items_of_a_warp_and_masks_of_lanes() {
    let mut device = Device::checked();
    let threads = 96;
    let digits: Vec<u32> = numbers(40).take(4 * threads).map(|n| n as u32 % 3).collect();
    let x = device.upload(&digits);
    let out = device.upload(&vec![[0x5A5A_5A5A_u32; 14]; threads]);
    let params = Params::default().slice(x, digits.len()).value(out);
    device.run("warp_items", line(1, threads as u32), &params);
    for (thread, found) in device.download::<[u32; 14]>(out, threads).into_iter().enumerate() {
        let (warp, lane) = (thread / 32, thread % 32);
        let of_warp = &digits[warp * 128..][..128];
        let up_to = |end: usize| of_warp[..end].iter().copied().fold(0, append);
        let mut expected: Vec<u32> = (0..4).map(|item| up_to(4 * lane + item + 1)).collect();
        expected.extend((0..4).map(|item| up_to(4 * lane + item)));
        let half = &of_warp[lane / 16 * 64..][..64];
        expected.push(half.iter().copied().fold(0, append));
        let bits = |holds: &dyn Fn(usize) -> bool| {
            (0..32).filter(|lane| holds(*lane)).fold(0_u32, |mask, lane| mask | 1 << lane)
        };
        expected.extend([
            bits(&|other| other == lane),
            bits(&|other| other < lane),
            bits(&|other| other <= lane),
            bits(&|other| other > lane),
            bits(&|other| other >= lane),
        ]);
        assert_eq!(found[..], expected, "thread {thread}");
    }
}

#[test]
fn a_grid_stride_loop_visits_each_element_of_a_matrix_once() {
    for (grid, block, (rows, columns)) in [
        ([2, 2, 1], [8, 4, 1], (37, 50)),
        ([1, 1, 1], [32, 1, 1], (3, 7)),
        ([4, 4, 1], [16, 16, 1], (5, 5)),
        ([1, 1, 1], [1, 1, 1], (2, 3)),
        ([2, 1, 1], [8, 2, 1], (0, 9)),
        ([2, 1, 1], [8, 2, 1], (9, 0)),
    ] {
        let mut device = Device::checked();
        let counts = device.upload(&vec![0_u32; rows * columns + 1]);
        let shape = Shape { grid, block, dynamic_shared_bytes: 0 };
        let params = Params::default().value(counts).value(rows as u64).value(columns as u64);
        device.run("strided_2d", shape, &params);
        let mut expected = vec![1; rows * columns];
        expected.push(0);
        assert_eq!(device.download::<u32>(counts, rows * columns + 1), expected);
    }
}

#[test]
fn a_loop_is_written_out() {
    let mut device = Device::checked();
    let values: Vec<u32> = numbers(60).take(64).map(|n| n as u32).collect();
    let x = device.upload(&values);
    let out = device.upload(&[0x5A5A_u32; 64]);
    device.run("unrolled", line(2, 32), &Params::default().slice(x, 64).value(out));
    let polynomial = |x: u32| {
        [3, 1, 4, 1, 5, 9, 2, 6].iter().fold(0_u32, |sum, c| sum.wrapping_mul(x).wrapping_add(*c))
    };
    let expected: Vec<u32> = values.iter().map(|x| polynomial(*x)).collect();
    assert_eq!(device.download::<u32>(out, 64), expected);
    // No loop, and no array in local memory.
    let ptx = ptx_of("unrolled");
    assert!(!ptx.contains(".local"), "{ptx}");
}
