//! How long a megabyte of PTX takes: parsing, validating, graphs, printing.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptx::ast::Item;
use ptx::cfg::{Cfg, noreturn_functions};

/// At least `bytes` of what LLVM makes of Rust: the functions of a fixture again and again, each time
/// under new names.
fn module(bytes: usize) -> String {
    let fixture = include_str!("../tests/fixtures/kernels.ptx");
    let start = fixture.find(".address_size 64").map_or(0, |at| at + ".address_size 64".len());
    let (header, body) = fixture.split_at(start);
    let mut text = header.to_owned();
    let mut copy = 0;
    while text.len() < bytes {
        let names =
            ["_RNv", "mat_mul", "switch", "indirect", "parameters", "threads", "alloc_", "anon_"];
        let renamed = names.iter().fold(body.to_owned(), |text, name| {
            text.replace(name, &format!("{}{copy}{name}", &name[..1]))
        });
        text.push_str(&renamed);
        copy += 1;
    }
    text
}

fn one_megabyte(criterion: &mut Criterion) {
    let source = module(1 << 20);
    let module = match ptx::parse(&source).and_then(|m| ptx::validate(&m, &source).map(|()| m)) {
        Ok(module) => module,
        Err(error) => panic!("{error}"),
    };
    let mut group = criterion.benchmark_group("one megabyte");
    group.throughput(Throughput::Bytes(source.len() as u64));
    group.bench_function("parse", |bencher| bencher.iter(|| ptx::parse(black_box(&source))));
    group.bench_function("validate", |bencher| {
        bencher.iter(|| ptx::validate(black_box(&module), &source))
    });
    group.bench_function("print", |bencher| bencher.iter(|| ptx::print(black_box(&module))));
    group.bench_function("graphs", |bencher| {
        bencher.iter(|| {
            let noreturn = noreturn_functions(&module);
            for item in &module.items {
                if let Item::Function(function) = item {
                    let body = function.body.as_deref().unwrap_or_default();
                    let _ = black_box(Cfg::build_with(body, |name| noreturn.contains(name)));
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, one_megabyte);
criterion_main!(benches);
