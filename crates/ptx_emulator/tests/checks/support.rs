//! Running kernels under checks.

use ptx_emulator::{CheckSet, Finding, FindingKind, MachineConfig};

use crate::common::{Rig, SEEDS, params};

/// A machine with checks.
pub fn rig(source: &str, checks: &str, seed: Option<u64>) -> Rig {
    let mut config = MachineConfig::default();
    config.schedule_seed = seed;
    config.checks = checks.parse::<CheckSet>().expect("known checks");
    Rig::with(source, config)
}

/// What the checks find in a launch of [`kernel`](crate::common::kernel)'s kernel, with as many words of output as threads, and 64 more.
pub fn findings_of(
    source: &str,
    checks: &str,
    grid: u32,
    block: u32,
    seed: Option<u64>,
) -> Vec<Finding> {
    let mut rig = rig(source, checks, seed);
    let out = rig.words("out", &vec![0; (grid * block) as usize + 64]);
    rig.launch("k", grid, block, &params(out, grid))
        .unwrap_or_else(|fault| panic!("seed {seed:?}: {fault}"));
    rig.machine.take_findings()
}

/// The kinds found under every schedule, which must all find the same ones; sorted by line.
#[track_caller]
pub fn kinds(source: &str, checks: &str, grid: u32, block: u32) -> Vec<FindingKind> {
    let mut first: Option<Vec<FindingKind>> = None;
    for seed in SEEDS {
        let found = findings_of(source, checks, grid, block, seed);
        let mut kinds: Vec<FindingKind> = found.iter().map(Finding::kind).collect();
        kinds.sort_by_key(|kind| format!("{kind:?}"));
        kinds.dedup();
        match &first {
            None => first = Some(kinds),
            Some(first) => assert_eq!(*first, kinds, "seed {seed:?}"),
        }
    }
    first.expect("there are seeds")
}

/// Finds nothing, under every schedule.
#[track_caller]
pub fn clean(source: &str, checks: &str, grid: u32, block: u32) {
    for seed in SEEDS {
        let found = findings_of(source, checks, grid, block, seed);
        assert!(found.is_empty(), "seed {seed:?}: {}", found[0]);
    }
}

/// Finds something under every schedule, and nothing but hazards: which of two accesses comes first depends on the schedule.
#[track_caller]
pub fn races(source: &str, grid: u32, block: u32) {
    for seed in SEEDS {
        let found = findings_of(source, "racecheck", grid, block, seed);
        assert!(!found.is_empty(), "seed {seed:?}: nothing found");
    }
}

/// The texts of what is found in the fixed order.
pub fn texts(source: &str, checks: &str, grid: u32, block: u32) -> Vec<String> {
    findings_of(source, checks, grid, block, None).iter().map(Finding::to_string).collect()
}
