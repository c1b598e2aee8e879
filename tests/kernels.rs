//! The matrix product and the point transformation on the device, against references on the host.
//!
//! They run on whatever `CUDA_DRIVER_BACKEND` gives: the emulator on a machine without a GPU, else the GPU.

use cuda_host::Device;
use ferrowarp::KERNELS_PTX;
use ferrowarp::matmul::{DeviceProduct, HostOptimized, Kernel, Shape, host_naive, launch_product};
use ferrowarp::matrix::Matrix;
use ferrowarp::reference::Reference;
use ferrowarp::transform::View;
use nalgebra::Vector4;

/// Elements behind C that no kernel may touch.
const GUARD: usize = 64;
const UNTOUCHED: f32 = -123.5;

fn device() -> Device {
    let gpu = Device::open().unwrap();
    gpu.load(KERNELS_PTX).unwrap();
    gpu
}

/// Runs `kernel` into a poisoned C with a guard behind it, and checks both.
fn check(gpu: &Device, kernel: Kernel, block: u32, (m, k, n): (usize, usize, usize), seed: u64) {
    let (a, b) = (Matrix::random(m, k, seed).unwrap(), Matrix::random(k, n, seed + 1000).unwrap());
    let reference = Reference::product(&a, &b, |_| ());
    let mut poisoned = vec![f32::NAN; m * n];
    poisoned.extend([UNTOUCHED; GUARD]);

    let (device_a, device_b) =
        (gpu.to_device(a.as_slice()).unwrap(), gpu.to_device(b.as_slice()).unwrap());
    let mut c = gpu.to_device(&poisoned).unwrap();
    let target = c.slice_mut(..m * n).unwrap();
    launch_product(
        gpu,
        kernel,
        block,
        Shape { m, k, n },
        device_a.as_slice(),
        device_b.as_slice(),
        target,
    )
    .unwrap();
    gpu.synchronize().unwrap();

    let mut c = c.to_host().unwrap();
    let guard = c.split_off(m * n);
    assert_eq!(
        guard, [UNTOUCHED; GUARD],
        "{kernel:?} wrote behind C: block {block}, {m} x {k} x {n}"
    );
    let c = Matrix::from_vec(m, n, c).unwrap();
    if let Err(error) = reference.check("the kernel", &c) {
        panic!("{kernel:?}, block {block}, {m} x {k} x {n}: {error}");
    }
    assert_eq!(device_a.to_host().unwrap(), a.as_slice(), "{kernel:?} changed A");
}

const BLOCKS: [u32; 5] = [1, 3, 8, 16, 32];

const SHAPES: [(usize, usize, usize); 12] = [
    (1, 1, 1),
    (1, 100, 1),
    (2, 3, 4),
    (16, 16, 16),
    (17, 33, 9),
    (5, 40, 31),
    (40, 1, 40),
    (33, 65, 32),
    // Nothing to add up: C is zero, not what was there before.
    (2, 0, 3),
    // Nothing to compute.
    (0, 4, 4),
    (4, 4, 0),
    (0, 0, 0),
];

#[test]
fn the_naive_kernel_is_right_for_every_shape_and_block() {
    let gpu = device();
    for block in BLOCKS {
        for (seed, shape) in (1..).zip(SHAPES) {
            check(&gpu, Kernel::Naive, block, shape, seed);
        }
    }
}

#[test]
fn the_shared_kernels_are_right_for_every_shape_and_block() {
    let gpu = device();
    for block in BLOCKS {
        for (seed, shape) in (1..).zip(SHAPES) {
            check(&gpu, Kernel::Shared, block, shape, seed);
        }
    }
}

#[test]
fn a_c_with_more_rows_than_one_grid_covers() {
    let gpu = device();
    let m = 70_000;
    assert!(m > gpu.attributes().max_grid[1] as usize, "choose a taller matrix");
    check(&gpu, Kernel::Naive, 1, (m, 2, 1), 5);
    check(&gpu, Kernel::Shared, 1, (m, 2, 1), 6);
}

#[test]
fn the_host_functions_give_what_the_kernels_give() {
    let gpu = device();
    let (a, b) = (Matrix::random(37, 50, 1).unwrap(), Matrix::random(50, 21, 2).unwrap());
    let reference = Reference::product(&a, &b, |_| ());
    for block in [4, 16] {
        let mut product = DeviceProduct::new(&gpu, &a, &b, block).unwrap();
        assert!(product.run(Kernel::Naive).unwrap() >= 0.0);
        let naive = product.result().unwrap();
        reference.check("naive", &naive).unwrap();
        product.run(Kernel::Shared).unwrap();
        let shared = product.result().unwrap();
        reference.check("shared", &shared).unwrap();

        // The same kernels in the same order on the same values give the same bits.
        assert_eq!(host_naive(&gpu, &a, &b, block).unwrap(), naive);
        let mut optimized = HostOptimized::new(&gpu, &a, &b, block).unwrap();
        optimized.run().unwrap();
        assert_eq!(optimized.result().unwrap(), shared);
        optimized.run().unwrap();
        assert_eq!(optimized.result().unwrap(), shared);
    }
}

#[test]
fn empty_matrices_on_the_host_functions() {
    let gpu = device();
    for (m, k, n) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0)] {
        let (a, b) = (Matrix::filled(m, k, 1.0).unwrap(), Matrix::filled(k, n, 1.0).unwrap());
        let zeros = Matrix::filled(m, n, 0.0).unwrap();
        assert_eq!(host_naive(&gpu, &a, &b, 16).unwrap(), zeros, "{m} x {k} x {n}");
        let mut optimized = HostOptimized::new(&gpu, &a, &b, 16).unwrap();
        optimized.run().unwrap();
        assert_eq!(optimized.result().unwrap(), zeros, "{m} x {k} x {n}");
    }
}

#[test]
fn points_are_where_the_host_says() {
    let gpu = device();
    for (count, degrees) in [(0, 30.0), (1, 0.0), (255, -45.0), (257, 90.0), (1000, 30.0)] {
        let cube = Matrix::random(count, 3, count as u64).unwrap();
        let points: Vec<_> =
            (0..count).map(|i| cube.row(i)).map(|p| Vector4::new(p[0], p[1], p[2], 1.0)).collect();
        let view = View::new(degrees);
        let (device, host) = (view.on_device(&gpu, &points).unwrap(), view.on_host(&points));
        assert_eq!(device.len(), count);
        view.compare(&points, &device, &host).unwrap();
        assert!(device.iter().all(|p| p.w == 1.0), "the perspective division leaves w = 1");
    }
}
