//! What a kernel can ask of outputs that its threads share out.

use crate::device::{Device, Params, Shape, line, numbers};

#[test]
fn a_slice_tells_its_length_and_the_thread_s_element() {
    for len in [0_usize, 1, 39, 40, 44] {
        let mut device = Device::checked();
        let values: Vec<u32> = numbers(51).take(len).map(|n| n as u32 >> 1).collect();
        let slice = device.upload(&values);
        let out = device.upload(&[[7_u32; 3]; 40]);
        let params = Params::default().slice(slice, len).value(out);
        device.run("asks_a_slice", line(2, 20), &params);
        let row = |i: usize| {
            [u32::from(len == 0), len as u32, values.get(i).copied().unwrap_or(u32::MAX)]
        };
        let expected: Vec<[u32; 3]> = (0..40).map(row).collect();
        assert_eq!(device.download::<[u32; 3]>(out, 40), expected, "{len}");
    }
}

#[test]
fn a_matrix_tells_its_extents_and_the_thread_s_element() {
    // 15 columns and 8 rows of threads.
    let shape = Shape { grid: [3, 2, 1], block: [5, 4, 1], dynamic_shared_bytes: 0 };
    for (rows, columns) in [(8_usize, 15_usize), (3, 7), (9, 20), (0, 4), (1, 1)] {
        let mut device = Device::checked();
        let values: Vec<u32> = numbers(52).take(rows * columns).map(|n| n as u32 >> 1).collect();
        let matrix = device.upload(&values);
        let out = device.upload(&[7_u32; 120]);
        let params = Params::default().value(matrix).value(rows as u64).value(columns as u64);
        device.run("asks_a_matrix", shape, &params.value(out));
        let extents = (100 * rows + columns) as u32;
        let after = values.iter().enumerate().map(|(place, value)| {
            let has_a_thread = place / columns < 8 && place % columns < 15;
            value + if has_a_thread { extents } else { 0 }
        });
        let found = device.download::<u32>(matrix, rows * columns);
        assert_eq!(found, after.collect::<Vec<_>>(), "{rows} x {columns}");
        // Threads are numbered block by block.
        let expected = (0..120_usize).map(|i| {
            let (block, thread) = (i / 20, i % 20);
            let (row, column) = (block / 3 * 4 + thread / 5, block % 3 * 5 + thread % 5);
            let exists = row < rows && column < columns;
            if exists { values[row * columns + column] } else { u32::MAX - extents }
        });
        let found = device.download::<u32>(out, 120);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{rows} x {columns}");
    }
}
