//! Memories and barriers.

use std::cmp::Ordering;

use crate::device::{Backend, Device, Params, Shape, backend, line};

#[test]
fn what_one_thread_writes_to_shared_memory_all_read_after_the_barrier() {
    let mut device = Device::new();
    let input = device.upload(&[7_u32, 8, 9]);
    let out = device.upload(&[0_u32; 3 * 100]);
    device.run("broadcast", line(3, 100), &Params::default().slice(input, 3).value(out));
    let expected = [[7_u32; 100], [8; 100], [9; 100]].concat();
    assert_eq!(device.download::<u32>(out, 300), expected);
}

#[test]
fn blocks_reverse_their_elements() {
    let dynamic = Shape { dynamic_shared_bytes: 64 * 4, ..line(3, 64) };
    for (kernel, shape) in [("reverse", line(3, 64)), ("reverse_dynamic", dynamic)] {
        let mut device = Device::new();
        let values: Vec<f32> = (0..192).map(|i| i as f32).collect();
        let x = device.upload(&values);
        device.run(kernel, shape, &Params::default().value(x));
        let expected: Vec<f32> =
            values.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
        assert_eq!(device.download::<f32>(x, 192), expected, "{kernel}");
    }
}

#[test]
fn dynamic_shared_memory_is_as_large_as_the_launch_says() {
    if backend() == Backend::Driver {
        return; // A GPU gives out shared memory by the kilobyte, and notices nothing.
    }
    let mut device = Device::new();
    let x = device.upload(&[0_f32; 64]);
    let too_small = Shape { dynamic_shared_bytes: 128, ..line(1, 64) };
    let fault = device.try_run("reverse_dynamic", too_small, &Params::default().value(x));
    assert!(fault.is_err());
}

#[test]
fn statics_have_places_of_their_own() {
    let mut device = Device::new();
    let out = device.upload(&[0_u32; 32]);
    device.run("two_tiles", line(1, 32), &Params::default().value(out));
    let expected: Vec<u32> = (0..32).map(|i| (31 - i) + 100 + (31 - i)).collect();
    assert_eq!(device.download::<u32>(out, 32), expected);
}

#[test]
fn static_shared_memory_is_counted() {
    let device = Device::new();
    // A GPU's assembler gives out shared memory in pieces of 16 bytes.
    let piece = if backend() == Backend::Driver { 16 } else { 1 };
    let bytes = |kernel| device.static_shared_bytes(kernel);
    assert_eq!(bytes("reverse"), 64 * 4);
    assert_eq!(bytes("broadcast").next_multiple_of(piece), 4_u32.next_multiple_of(piece));
    assert_eq!(bytes("two_tiles"), 2 * 32 * 4);
    assert_eq!(bytes("reverse_dynamic"), 0);
}

#[test]
fn constant_and_global_statics() {
    let mut device = Device::new();
    let out = device.upload(&[0_u32; 8]);
    let params = Params::default().value(out).value(8_u64);
    device.run("statics", line(1, 1), &params);
    let powers =
        |scale: u32, total: u32| (0..8).map(|i| 3_u32.pow(i) * scale + total).collect::<Vec<_>>();
    assert_eq!(device.download::<u32>(out, 8), powers(10, 5));

    // The host finds both by name, and writes the constant.
    let (scale, bytes) = device.global("SCALE").expect("a symbol");
    assert_eq!(bytes, 4);
    device.write(scale, &20_u32.to_le_bytes());
    device.run("statics", line(1, 1), &params);
    assert_eq!(device.download::<u32>(out, 8), powers(20, 6));
    let (total, _) = device.global("TOTAL").expect("a symbol");
    assert_eq!(device.download::<u32>(total, 1), [7]);
}

#[test]
fn barriers_that_count() {
    for (threads, limit) in [(100_u32, 40_u32), (64, 64), (33, 0), (1, 1)] {
        let mut device = Device::new();
        let out = device.upload(&vec![[u32::MAX; 6]; threads as usize]);
        device.run("reductions", line(1, threads), &Params::default().value(limit).value(out));
        let below = limit.min(threads);
        let expected = [
            threads.div_ceil(3),
            u32::from(threads == 1),
            1,
            below,
            u32::from(below == threads),
            u32::from(below > 0),
        ];
        assert_eq!(
            device.download::<[u32; 6]>(out, threads as usize),
            vec![expected; threads as usize]
        );
    }
}

#[test]
fn what_a_thread_can_ask_for() {
    let mut device = Device::new();
    let input = device.upload(&[77_u32]);
    let out = device.upload(&[u32::MAX; 14]);
    let shape = Shape { dynamic_shared_bytes: 96, ..line(1, 32) };
    device.run("questions", shape, &Params::default().value(input).value(out));
    let expected = [96, 1, 32, 1, 0, 1, 1, 77, 7, u32::MAX, 1, 0, 0xAAAA_AAAA, 1];
    assert_eq!(device.download::<u32>(out, 14), expected);
}

#[test]
fn bytes_are_compared_as_by_rust() {
    let (a, mut b) = ((0..64).collect::<Vec<u8>>(), (0..64).collect::<Vec<u8>>());
    for (at, byte) in [(63, 200), (40, 0), (9, 255)] {
        b[at] = byte;
        let mut device = Device::new();
        let inputs = [&a, &b].map(|bytes| device.upload(bytes));
        let out = device.upload(&[0xA5A5_A5A5_u32; 65]);
        let params = Params::default().slice(inputs[0], 64).slice(inputs[1], 64).value(out);
        device.run("compared_bytes", line(1, 65), &params);
        let expected: Vec<u32> = (0..=64)
            .map(|len| match a[..len].cmp(&b[..len]) {
                Ordering::Equal => 1,
                Ordering::Less => 2,
                Ordering::Greater => 4,
            })
            .collect();
        assert_eq!(device.download::<u32>(out, 65), expected);
    }
}
