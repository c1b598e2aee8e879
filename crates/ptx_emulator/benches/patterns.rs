//! Speed of the patterns that kernels consist of, in lane operations a second: one PTX instruction of one active lane each.
//!
//! Counters are on unless a name says otherwise.
#![allow(missing_docs)] // criterion's macros make undocumented items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptx_emulator::patterns::Pattern;
use ptx_emulator::{CheckSet, Jobs, MachineConfig};

/// Rows and columns.
const N: u32 = 256;

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

fn two_jobs() -> MachineConfig {
    let mut config = counting();
    config.jobs = Jobs::new(2);
    config
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("patterns");
    group.sample_size(10);
    let mut cases: Vec<(Pattern, &str, MachineConfig)> =
        Pattern::ALL.map(|pattern| (pattern, "", counting())).into();
    cases.extend([
        (Pattern::Coalesced, ", no counters", MachineConfig::default()),
        (Pattern::Coalesced, ", 2 jobs", two_jobs()),
        (Pattern::Coalesced, ", memcheck", checking("memcheck")),
        (Pattern::Coalesced, ", racecheck", checking("racecheck")),
        (Pattern::Coalesced, ", all checks", checking("all")),
        (Pattern::Tiled, ", racecheck", checking("racecheck")),
        (Pattern::Tiled, ", all checks", checking("all")),
    ]);
    for (pattern, how, config) in cases {
        let mut prepared = pattern.prepare(N, config).expect("the kernels are valid");
        let mut run = || prepared.run().expect("the kernel ends");
        group.throughput(Throughput::Elements(run().thread_instructions));
        let name = format!("{}{how}", pattern.name());
        group.bench_function(name, |b| b.iter(|| black_box(run())));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
