//! Speed of the patterns that kernels consist of, in lane operations a second: one PTX instruction of one active lane each.
//!
//! Counters are on unless a name says otherwise.
#![allow(missing_docs)] // criterion's macros make undocumented items

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptx_emulator::{CheckSet, Launch, Machine, MachineConfig, Program};

const PRODUCT: &str = include_str!("kernels/product.ptx");
const TILED: &str = include_str!("kernels/tiled.ptx");
const MANDELBROT: &str = include_str!("kernels/mandelbrot.ptx");

/// Rows and columns.
const N: u64 = 256;

/// Neighbouring lanes read neighbouring elements.
const COALESCED: &str = "add.s64 %rd12, %rd2, %rd11; shl.b64 %rd13, %rd4, 2;";
/// Neighbouring lanes read elements of neighbouring rows.
const STRIDED: &str =
    "mul.lo.s64 %rd12, %rd11, %rd4; add.s64 %rd12, %rd2, %rd12; mov.b64 %rd13, 4;";
/// Every other lane is off.
const EVEN_LANES: &str = "and.b32 %r12, %r3, 1; setp.ne.b32 %p1, %r12, 0; @%p1 bra DONE;";

fn product(guard: &str, column: &str) -> String {
    // The comment at the top names the places too.
    let (comment, code) = PRODUCT.split_once(".visible").unwrap_or_default();
    format!("{comment}.visible{}", code.replace("GUARD", guard).replace("COLUMN", column))
}

fn tiled() -> String {
    let steps: String = (0..16)
        .map(|k| {
            format!(
                "ld.shared.b32 %r34, [%r29+{}]; ld.shared.b32 %r35, [%r30+{}]; fma.rn.f32 %r9, %r34, %r35, %r9;\n",
                4 * k,
                64 * k
            )
        })
        .collect();
    let (comment, code) = TILED.split_once(".visible").unwrap_or_default();
    format!("{comment}.visible{}", code.replace("STEPS", &steps))
}

fn counting() -> MachineConfig {
    let mut config = MachineConfig::default();
    config.counters = true;
    config
}

fn checking(checks: &str) -> MachineConfig {
    let mut config = counting();
    config.checks = checks.parse::<CheckSet>().expect("names of checks");
    config
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("patterns");
    group.sample_size(10);
    let coalesced = product("", COALESCED);
    let cases = [
        ("product, coalesced", &coalesced, 32, counting()),
        ("product, strided", &product("", STRIDED), 32, counting()),
        ("product, every other lane off", &product(EVEN_LANES, COALESCED), 32, counting()),
        ("product, 16x16 blocks", &coalesced, 16, counting()),
        ("product in shared memory, 16x16 blocks", &tiled(), 16, counting()),
        ("mandelbrot in f64", &MANDELBROT.to_owned(), 32, counting()),
        ("product, coalesced, no counters", &coalesced, 32, MachineConfig::default()),
        ("product, coalesced, memcheck", &coalesced, 32, checking("memcheck")),
        ("product, coalesced, racecheck", &coalesced, 32, checking("racecheck")),
        ("product, coalesced, all checks", &coalesced, 32, checking("all")),
        ("product in shared memory, racecheck", &tiled(), 16, checking("racecheck")),
        ("product in shared memory, all checks", &tiled(), 16, checking("all")),
    ];
    for (name, source, block, config) in cases {
        let program = Arc::new(Program::compile(source).expect("the kernels are valid"));
        let mut machine = Machine::new(config);
        let module = machine.load(program).expect("the module has no variables");
        let mut params = Vec::new();
        for label in ["a", "b", "c"] {
            let address = machine.memory_mut().alloc(4 * N * N, label).expect("memory");
            machine.memory_mut().fill(address, &1f32.to_le_bytes(), N * N).expect("allocated");
            params.extend_from_slice(&address.to_le_bytes());
        }
        params.extend_from_slice(&N.to_le_bytes());
        let blocks = N as u32 / block;
        let launch = Launch {
            kernel: "kernel",
            grid: [blocks, blocks, 1],
            block: [block, block, 1],
            dynamic_shared_bytes: 0,
            params: &params,
        };
        let mut run = || machine.launch(module, &launch, &mut Vec::new()).expect("the kernel ends");
        group.throughput(Throughput::Elements(run().thread_instructions));
        group.bench_function(name, |b| b.iter(|| black_box(run())));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
