//! What rust-cuda's matrix product does, after NVIDIA's sample: tiles in shared memory, checked against the same in f64.

use cuda_host::{Device, Result, launch};

use crate::kernels::{matmul, numbers, open};

/// Numbers from -1 to 1.
fn matrix(seed: u64, elements: usize) -> Vec<f32> {
    numbers(seed).take(elements).map(|n| (n as i32) as f32 / 2_f32.powi(31)).collect()
}

fn check(gpu: &Device, block: usize, (m, k, n): (usize, usize, usize)) -> Result<()> {
    let (a, b) = (matrix(1 + m as u64, m * k), matrix(2 + n as u64, k * n));
    let (x, y) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let mut c = gpu.to_device(&vec![f32::NAN; m * n])?;
    let grid = (n.div_ceil(block), m.div_ceil(block));
    // SAFETY: the matrices have these sizes, and the blocks cover `c`.
    unsafe {
        match block {
            16 => launch!(matmul::matrix_product_16[grid, (16, 16)](&x, &y, &mut c, m, k, n)),
            _ => launch!(matmul::matrix_product_32[grid, (32, 32)](&x, &y, &mut c, m, k, n)),
        }
    }?;
    for (at, found) in c.to_host()?.into_iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let terms = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column]));
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        // Each of `k` steps rounds by at most half a unit in the last place of the sum so far (Higham, "Accuracy and Stability of
        // Numerical Algorithms", 3.1).
        let most = k as f64 * f64::from(f32::EPSILON) * size;
        let error = (f64::from(found) - sum).abs();
        assert!(error <= most, "{m} x {k} x {n}, ({row}, {column}): {found}, not {sum}");
    }
    Ok(())
}

#[test]
fn tiles_give_the_product() -> Result<()> {
    let gpu = open()?;
    for block in [16, 32] {
        for shape in [(64, 96, 32), (33, 17, 50), (1, 1, 1), (1, 70, 3), (5, 0, 4)] {
            check(&gpu, block, shape)?;
        }
    }
    Ok(())
}

#[test]
fn the_sample_s_constant_matrices() -> Result<()> {
    let gpu = open()?;
    let (m, k, n) = (64, 160, 96);
    let (a, b) = (gpu.to_device(&vec![1.0_f32; m * k])?, gpu.to_device(&vec![0.01_f32; k * n])?);
    let mut c = gpu.to_device(&vec![f32::NAN; m * n])?;
    // SAFETY: the matrices have these sizes, and the blocks cover `c`.
    unsafe {
        launch!(matmul::matrix_product_32[(n / 32, m / 32), (32, 32)](&a, &b, &mut c, m, k, n))
    }?;
    let expected = k as f64 * f64::from(0.01_f32);
    for found in c.to_host()? {
        assert!((f64::from(found) / expected - 1.0).abs() < 1e-6, "{found}");
    }
    Ok(())
}
