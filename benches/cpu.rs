//! The matrix product on the CPU: `cargo bench --bench cpu`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ferrowarp::cpu::{cpu_mat_mul, cpu_mat_mul_fast};
use ferrowarp::matrix::Matrix;
use ferrowarp::reference::Reference;

fn products(criterion: &mut Criterion) {
    for n in [256_usize, 512] {
        let (Ok(a), Ok(b)) = (Matrix::random(n, n, 1), Matrix::random(n, n, 2)) else { return };
        let mut group = criterion.benchmark_group(format!("product of {n} x {n} matrices"));
        group.sample_size(20);
        // Multiply-adds.
        group.throughput(Throughput::Elements((n * n * n) as u64));
        group.bench_function("cpu_mat_mul", |bencher| {
            bencher.iter(|| cpu_mat_mul(black_box(&a), black_box(&b)))
        });
        group.bench_function("cpu_mat_mul_fast", |bencher| {
            bencher.iter(|| cpu_mat_mul_fast(black_box(&a), black_box(&b)))
        });
        group.bench_function("f64 reference", |bencher| {
            bencher.iter(|| Reference::product(black_box(&a), black_box(&b), |_| ()))
        });
        group.finish();
    }
}

criterion_group!(benches, products);
criterion_main!(benches);
