//! Tiles, and several arrays in dynamic shared memory.

use cuda_std::shared::SharedLayout;

use crate::device::{Device, Params, Shape, line, numbers};
use crate::faults::{Failed, failing};

#[test]
fn tiles_hold_what_was_written_to_row_and_column() {
    let mut device = Device::checked();
    let values: Vec<u32> = numbers(1).take(1024).map(|n| n as u32).collect();
    let input = device.upload(&values);
    for rows in [1, 5, 8, 32] {
        let out = device.upload(&[[0_u32; 3]; 1024]);
        let shape = Shape { grid: [1, 1, 1], block: [32, rows, 1], dynamic_shared_bytes: 0 };
        device.run("transposed_tiles", shape, &Params::default().slice(input, 1024).value(out));
        for (place, found) in device.download::<[u32; 3]>(out, 1024).into_iter().enumerate() {
            let expected = values[place % 32 * 32 + place / 32];
            assert_eq!(found, [expected; 3], "place {place}, {rows} rows");
        }
    }
    assert_eq!(device.static_shared_bytes("transposed_tiles"), (32 * 33 + 2 * 32 * 32) * 4);
}

#[test]
fn groups_of_a_swizzled_tile_stay_together() {
    let mut device = Device::checked();
    let values: Vec<f32> = numbers(2).take(128).map(|n| n as u32 as f32).collect();
    let input = device.upload(&values);
    let out = device.upload(&[[-1_f32; 4]; 32]);
    device.run("swizzled_groups", line(1, 32), &Params::default().slice(input, 128).value(out));
    for (i, found) in device.download::<[f32; 4]>(out, 32).into_iter().enumerate() {
        let (row, column) = (i % 8, i / 8 * 4);
        assert_eq!(found, values[row * 16 + column..][..4], "thread {i}");
    }
}

#[test]
fn dynamic_arrays_lie_one_behind_the_other() {
    let mut device = Device::checked();
    for n in [1_usize, 33, 255, 1024] {
        let layout = SharedLayout::new()
            .array::<u8>(n)
            .array::<u128>(n)
            .array::<u32>(1)
            .array::<[u16; 3]>(2 * n);
        let used = layout.bytes();
        let bytes = used.next_multiple_of(16) + 16;
        if bytes > 48 << 10 {
            assert_eq!(n, 1024);
            continue;
        }
        let shape = Shape { dynamic_shared_bytes: bytes, ..line(1, n as u32) };
        let out = device.upload(&vec![[7_u64; 5]; n]);
        device.run("dynamic_arrays", shape, &Params::default().value(out));
        for (i, found) in device.download::<[u64; 5]>(out, n).into_iter().enumerate() {
            let other = (n - 1 - i) as u64;
            let [all, used] = [u64::from(bytes), u64::from(used) * 2 + 1];
            assert_eq!(found, [other & 0xFF, other, other + n as u64, all, used], "{i} of {n}");
        }
    }
}

#[track_caller]
fn message(failed: Failed) -> String {
    match failed {
        Failed::Emulator(fault) => fault.to_string(),
        Failed::Driver { said, .. } => said,
    }
}

#[test]
fn too_little_dynamic_shared_memory_is_a_panic() {
    let shape = Shape { dynamic_shared_bytes: 64, ..line(1, 1) };
    let failed = failing(
        "tiles::too_little_dynamic_shared_memory_is_a_panic",
        "too_many_dynamic_arrays",
        shape,
        |_| Params::default(),
    );
    let text = message(failed);
    assert!(text.contains("too little dynamic shared memory"), "{text}");
}

#[test]
fn a_row_past_the_end_of_a_tile_is_a_panic() {
    let test = "tiles::a_row_past_the_end_of_a_tile_is_a_panic";
    let failed = failing(test, "past_the_tile", line(1, 1), |_| Params::default().value(4_u64));
    let text = message(failed);
    assert!(text.contains("no such row or column"), "{text}");
}

#[test]
fn a_tile_may_be_a_thread_s_own() {
    let mut device = Device::checked();
    let values: Vec<u32> = numbers(3).take(50).map(|n| n as u32 >> 8).collect();
    let input = device.upload(&values);
    let out = device.upload(&[[u32::MAX; 21]; 50]);
    let params = Params::default().slice(input, 50).value(out);
    device.run("tiles_of_one_thread", line(2, 25), &params);
    for (first, found) in values.iter().zip(device.download::<[u32; 21]>(out, 50)) {
        let mut expected: Vec<u32> = (0..15).map(|place| first + place).collect();
        // Columns 1 to 4 of the first two rows, and the sizes.
        expected.extend([4 * first + 10, 4 * first + 30, 15, 8, 6, 12]);
        assert_eq!(found[..], expected);
    }
}

#[test]
fn dynamic_shared_memory_is_the_same_as_every_type() {
    for n in [0_usize, 1, 7, 8, 100] {
        let mut device = Device::checked();
        let out = device.upload(&[[7_u32; 4]]);
        let shape = Shape { dynamic_shared_bytes: 16, ..line(1, 1) };
        device.run("dynamic_bytes", shape, &Params::default().value(n as u64).value(out));
        let bytes = n.next_multiple_of(8) + 8 * n + 6;
        assert_eq!(device.download::<[u32; 4]>(out, 1), [[bytes as u32, 1, 3, 0]], "{n}");
    }
}
