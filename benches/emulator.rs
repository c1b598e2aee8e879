//! The matrix product's kernels at n = 256 on whatever device there is: `CUDA_DRIVER_BACKEND=emulator cargo bench --bench emulator`.
//! The emulator is to take less than a second for each.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuda_host::Device;
use ferrowarp::KERNELS_PTX;
use ferrowarp::error::Error;
use ferrowarp::matmul::{DeviceProduct, Kernel};
use ferrowarp::matrix::Matrix;

const N: usize = 256;

fn product() -> Result<(Device, DeviceProduct), Error> {
    let gpu = Device::open()?;
    gpu.load(KERNELS_PTX)?;
    let product =
        DeviceProduct::new(&gpu, &Matrix::random(N, N, 1)?, &Matrix::random(N, N, 2)?, 16)?;
    Ok((gpu, product))
}

fn kernels(criterion: &mut Criterion) {
    let (gpu, mut product) = match product() {
        Ok(product) => product,
        Err(error) => return eprintln!("no benchmark: {error}"),
    };
    let mut group = criterion.benchmark_group(format!("{N} x {N} on {gpu}"));
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    // Multiply-adds.
    group.throughput(Throughput::Elements((N * N * N) as u64));
    for (name, kernel) in
        [("mat_mul_naive_kernel", Kernel::Naive), ("mat_mul_shared_kernel", Kernel::Shared)]
    {
        group.bench_function(name, |bencher| {
            // The kernel's own time by events, without poisoning C.
            bencher.iter_custom(|times| {
                let ms = (0..times).map(|_| product.run(kernel)).sum::<Result<f64, Error>>();
                // A benchmark has no figure to give when the device fails.
                Duration::from_secs_f64(ms.unwrap_or_else(|error| panic!("{error}")) / 1e3)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
