//! Checks and counters through the driver: asked for by the program, or by the environment. The emulator is the whole
//! process's, so there is one test for each way.

mod common;

use std::process::Command;

use common::*;
use cuda_driver::{CheckSet, set_checks, set_counters, take_counters, take_findings};

/// Thread t writes word t of shared memory and reads word t + 1, which its neighbour in another warp may not have written
/// yet; with the barrier between there is no race.
const KERNELS: &str = "
.visible .entry racy(.param .u64 out) {
    .shared .align 4 .b8 tile[260]; .reg .b32 %r<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3; st.shared.b32 [%r2], %r1; st.shared.b32 [tile+256], 7;
    ld.shared.b32 %r4, [%r2+4]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r4; ret;
}
.visible .entry ordered(.param .u64 out) {
    .shared .align 4 .b8 tile[256]; .reg .b32 %r<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2;
    xor.b32 %r4, %r3, 128; add.u32 %r3, %r2, %r3; add.u32 %r4, %r2, %r4;
    st.shared.b32 [%r3], %r1; bar.sync 0;
    ld.shared.b32 %r4, [%r4]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r4; ret;
}";

/// Runs both kernels on 64 threads, `ordered` twice.
fn run() {
    let _context = Context::new();
    let module = load(KERNELS);
    let out = alloc(256);
    for name in ["racy", "ordered", "ordered"] {
        ok(launch(function(module, name), [1; 3], [64, 1, 1], 0, &[out]));
    }
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
    assert_eq!(download(out, 64)[..2], [32, 33]);
}

#[test]
fn the_program_asks() {
    if std::env::var_os("FERROWARP_CHECK").is_some() {
        return;
    }
    assert!(set_checks(CheckSet::ALL));
    assert!(set_counters(true));
    run();
    let findings = take_findings();
    assert!(findings.iter().any(|found| found.kernel() == "racy"), "{findings:?}");
    assert!(findings.iter().all(|found| found.kernel() != "ordered"), "{findings:?}");
    assert!(take_findings().is_empty());

    let profiles = take_counters();
    let launches: Vec<(&str, u64)> = profiles
        .iter()
        .map(|profile| (profile.counters.kernel.as_str(), profile.launches))
        .collect();
    assert_eq!(launches, [("racy", 1), ("ordered", 2)]);
    // Two warps, two launches.
    assert_eq!(profiles[1].counters.total.barriers, 4);
    assert_eq!(profiles[1].counters.total.global_stores.sectors, 4 * 4);
    assert!(take_counters().is_empty());

    // It runs already: not now, but the next one.
    assert!(!set_checks(CheckSet::NONE));
    assert!(!set_counters(false));
    cuda_driver::reset_emulator();
    run();
    assert!(take_findings().is_empty() && take_counters().is_empty());
}

/// What the child processes below run.
#[test]
#[ignore = "run by the tests below, with an environment of its own"]
fn child() {
    run();
    // They were printed.
    assert!(take_findings().is_empty());
}

fn child_in(variables: &[(&str, &str)]) -> std::process::Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn child_with(checks: &str) -> std::process::Output {
    child_in(&[("FERROWARP_CHECK", checks)])
}

#[test]
fn the_environment_gives_a_number_of_jobs() {
    for jobs in ["2", "auto", "3,any-order"] {
        let ran = child_in(&[("FERROWARP_JOBS", jobs), ("FERROWARP_CHECK", "none")]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    let wrong = child_in(&[("FERROWARP_JOBS", "many"), ("FERROWARP_CHECK", "none")]);
    let stderr = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success());
    assert!(stderr.contains("FERROWARP_JOBS") && stderr.contains("many"), "{stderr}");
}

#[test]
fn the_environment_asks() {
    let found = child_with("racecheck");
    let stderr = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "findings must not change the program's end: {stderr}");
    assert!(stderr.contains("racecheck") && stderr.contains("racy"), "{stderr}");
    assert!(!stderr.contains("kernel:  ordered"), "{stderr}");

    let quiet = child_with("none");
    assert!(quiet.status.success());
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("racy"));

    let wrong = child_with("racechek");
    let stderr = String::from_utf8_lossy(&wrong.stderr);
    assert!(!wrong.status.success());
    assert!(stderr.contains("FERROWARP_CHECK") && stderr.contains("racechek"), "{stderr}");
}
