//! Places and sizes, in launches of one, two and three dimensions.

use crate::device::{Device, Params, Shape, line};

const SHAPES: [Shape; 4] = [
    line(3, 40),
    Shape { grid: [2, 3, 1], block: [5, 7, 1], dynamic_shared_bytes: 0 },
    Shape { grid: [2, 1, 3], block: [4, 3, 6], dynamic_shared_bytes: 0 },
    Shape { grid: [1, 2, 2], block: [1, 1, 64], dynamic_shared_bytes: 0 },
];

fn count(size: [u32; 3]) -> usize {
    size.iter().product::<u32>() as usize
}

/// All indices below `size`, x fastest.
fn all(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..size[2])
        .flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

/// Runs a kernel that writes a row for each thread, and gives block, thread and row, in the order of the rows.
fn rows(kernel: &str, shape: Shape) -> Vec<([u32; 3], [u32; 3], [u32; 12])> {
    let mut device = Device::new();
    let threads = count(shape.grid) * count(shape.block);
    let out = device.upload(&vec![[u32::MAX; 12]; threads]);
    device.run(kernel, shape, &Params::default().value(out));
    let places =
        all(shape.grid).flat_map(|block| all(shape.block).map(move |thread| (block, thread)));
    let rows = device.download::<[u32; 12]>(out, threads);
    places.zip(rows).map(|((block, thread), row)| (block, thread, row)).collect()
}

#[test]
fn every_register_and_a_number_of_its_own_for_every_thread() {
    for shape in SHAPES {
        for (block, thread, row) in rows("registers", shape) {
            let expected = [thread, block, shape.block, shape.grid].concat();
            assert_eq!(row[..], expected[..]);
        }
    }
}

#[test]
fn indices_in_32_and_64_bits() {
    for shape in SHAPES {
        for (block, thread, row) in rows("indices", shape) {
            let [x, y, z] = std::array::from_fn(|i| block[i] * shape.block[i] + thread[i]);
            assert_eq!(row, [x, x, y, x, y, z, x, x, y, x, y, z]);
        }
    }
}

#[test]
fn sizes_of_the_grid() {
    for shape in SHAPES {
        let mut device = Device::new();
        let out = device.upload(&[0_u64; 6]);
        device.run("grid_sizes", shape, &Params::default().value(out));
        let [x, y, z] = std::array::from_fn(|i| u64::from(shape.grid[i] * shape.block[i]));
        assert_eq!(device.download::<u64>(out, 6), [x, x, y, x, y, z]);
    }
}

#[test]
fn a_grid_stride_loop_visits_each_element_once() {
    // Fewer threads than elements, as many, more; none at all.
    for (shape, len) in [
        (line(2, 32), 1000_usize),
        (line(4, 25), 100),
        (line(8, 128), 10),
        (line(1, 1), 7),
        (line(1, 32), 0),
    ] {
        let mut device = Device::new();
        let counts = device.upload(&vec![0_u32; len + 1]);
        device.run("strided", shape, &Params::default().value(counts).value(len as u64));
        let mut expected = vec![1; len];
        expected.push(0);
        assert_eq!(device.download::<u32>(counts, len + 1), expected);
    }
}

#[test]
fn indices_are_vectors_of_glam() {
    for shape in SHAPES {
        let mut device = Device::checked();
        let threads = count(shape.grid) * count(shape.block);
        let out = device.upload(&vec![[u32::MAX; 4]; threads]);
        device.run("vectors_of_indices", shape, &Params::default().value(out));
        let size: [u32; 3] = std::array::from_fn(|i| shape.grid[i] * shape.block[i]);
        let places =
            all(shape.grid).flat_map(|block| all(shape.block).map(move |thread| (block, thread)));
        for ((block, thread), row) in places.zip(device.download::<[u32; 4]>(out, threads)) {
            let place: [u32; 3] = std::array::from_fn(|i| block[i] * shape.block[i] + thread[i]);
            let apart = (0..3).map(|i| place[i].abs_diff(size[i] / 2)).sum();
            let counted = place[0] + size[0] * (place[1] + size[1] * place[2]);
            let expected = [apart, size[0] - 1 - place[0], size[1] - 1 - place[1], counted];
            assert_eq!(row, expected, "{place:?} of {size:?}");
        }
    }
}
