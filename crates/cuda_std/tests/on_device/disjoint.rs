//! Every element of a shared-out output is written by one thread, once, whatever the launch's shape.

use crate::device::{Device, Params, Shape, line};

const SHAPES: [Shape; 5] = [
    line(3, 40),
    line(1, 1),
    Shape { grid: [2, 3, 1], block: [5, 7, 1], dynamic_shared_bytes: 0 },
    Shape { grid: [2, 1, 3], block: [4, 3, 6], dynamic_shared_bytes: 0 },
    Shape { grid: [1, 2, 2], block: [1, 1, 64], dynamic_shared_bytes: 0 },
];

fn threads(shape: Shape) -> usize {
    shape.grid.iter().chain(&shape.block).product::<u32>() as usize
}

fn before(len: usize) -> Vec<u32> {
    (0..len as u32).map(|n| n.wrapping_mul(0x9E37_79B9) ^ 0xA5A5).collect()
}

/// What is there when one thread has changed each element for which `changed` holds.
fn after(len: usize, changed: impl Fn(usize) -> bool) -> Vec<u32> {
    let value = |(place, old): (usize, u32)| match changed(place) {
        true => old.wrapping_mul(3).wrapping_add(place as u32),
        false => old,
    };
    before(len).into_iter().enumerate().map(value).collect()
}

#[test]
fn each_thread_has_the_element_with_its_number() {
    for shape in SHAPES {
        let threads = threads(shape);
        for len in [0, 1, threads - 1, threads, threads + 5] {
            for kernel in ["own_elements", "own_elements_by_index"] {
                let mut device = Device::new();
                // More than the slice has, to see that nothing else is written.
                let out = device.upload(&before(len + 3));
                device.run(kernel, shape, &Params::default().slice(out, len));
                let expected = after(len + 3, |place| place < len.min(threads));
                assert_eq!(device.download::<u32>(out, len + 3), expected, "{kernel}, {len}");
            }
        }
    }
}

#[test]
fn all_elements_are_dealt_out() {
    for shape in SHAPES {
        for len in [0, 1, 7, 500, 1001] {
            let mut device = Device::new();
            let out = device.upload(&before(len + 3));
            device.run("dealt_out", shape, &Params::default().slice(out, len));
            let expected = after(len + 3, |place| place < len);
            assert_eq!(device.download::<u32>(out, len + 3), expected, "{len}");
        }
    }
}

#[test]
fn each_thread_has_the_place_at_its_row_and_column() {
    for shape in SHAPES {
        let [x, y, z] = std::array::from_fn(|i| (shape.grid[i] * shape.block[i]) as usize);
        for (rows, columns) in [(y * z, x), (1, 1), (y * z + 2, x + 3), (y.div_ceil(2), 4), (0, 5)]
        {
            let mut device = Device::new();
            let len = rows * columns;
            let out = device.upload(&before(len + 3));
            let params = Params::default().value(out).value(rows as u64).value(columns as u64);
            device.run("own_places", shape, &params);
            let expected = after(len + 3, |place| {
                place < len && place / columns < y * z && place % columns < x
            });
            assert_eq!(device.download::<u32>(out, len + 3), expected, "{rows} x {columns}");
        }
    }
}

#[test]
fn an_element_may_be_an_array() {
    let mut device = Device::new();
    let x: Vec<f32> = (0..70_u8).map(f32::from).collect();
    let input = device.upload(&x);
    let out = device.upload(&[[f32::NAN; 4]; 70]);
    let params = Params::default().slice(input, 70).slice(out, 70).value(0.5_f32);
    device.run("four_each", line(3, 32), &params);
    let expected: Vec<[f32; 4]> = x.iter().map(|x| [*x, x * 0.5, -x, 0.5]).collect();
    assert_eq!(device.download::<[f32; 4]>(out, 70), expected);
}

#[test]
fn the_same_as_with_pointers() {
    let n = 1000;
    let x: Vec<f32> = before(n).iter().map(|bits| (bits >> 8) as f32).collect();
    let y: Vec<f32> = x.iter().rev().copied().collect();
    let mut results = Vec::new();
    for (kernel, ends) in [("axpy_pointer", false), ("axpy_disjoint", true)] {
        let mut device = Device::new();
        let (input, out) = (device.upload(&x), device.upload(&y));
        let params = Params::default().value(0.5_f32).slice(input, n);
        let params = if ends { params.slice(out, n) } else { params.value(out).value(n as u64) };
        device.run(kernel, line(4, 256), &params);
        results.push(device.download::<f32>(out, n));
    }
    // A fused multiplication and addition has one rounding.
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.5_f32.mul_add(*x, *y)).collect();
    assert_eq!(results, [expected.clone(), expected]);

    let (rows, columns) = (20, 45);
    let shape = Shape { grid: [2, 3, 1], block: [32, 8, 1], dynamic_shared_bytes: 0 };
    for kernel in ["outer_pointer", "outer_disjoint"] {
        let mut device = Device::new();
        let (a, b) = (device.upload(&x[..rows]), device.upload(&y[..columns]));
        let out = device.upload(&vec![f32::NAN; rows * columns]);
        // Pointer, rows and columns in both.
        let params = Params::default().slice(a, rows).slice(b, columns).value(out);
        device.run(kernel, shape, &params.value(rows as u64).value(columns as u64));
        let product = |place: usize| x[place / columns] * y[place % columns];
        let expected: Vec<f32> = (0..rows * columns).map(product).collect();
        assert_eq!(device.download::<f32>(out, rows * columns), expected, "{kernel}");
    }
}
