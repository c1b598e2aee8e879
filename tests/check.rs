//! `ferrowarp check`, `--check` and `ferrowarp profile`.

mod common;

use common::{Outcome, fails, ferrowarp, fixture, json, outcome, text};
use serde_json::Value;

/// The kernels of this program.
fn kernels() -> Vec<String> {
    let names = json(&["inspect"])["kernels"].clone();
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

const NOTHING: &str = "memcheck,racecheck,initcheck,synccheck: nothing found\n";

#[test]
fn the_kernels_of_this_program_are_clean() {
    let kernels = kernels();
    assert!(kernels.len() >= 7, "{kernels:?}");
    for kernel in kernels {
        // Every one has inputs of its own.
        let text = text(&["check", &kernel, "--size", "33"]);
        assert!(text.ends_with(NOTHING), "{kernel}: {text}");
        let value = json(&["check", &kernel, "--size", "33", "--seed", "5"]);
        assert_eq!((&value["kernel"], &value["findings"]), (&kernel.into(), &Value::Array(vec![])));
    }
}

#[test]
fn findings_are_shown_and_decide_the_exit_code() {
    let file = fixture("checks.ptx");
    let racy =
        ["check", &file, "--kernel", "racy", "--block", "64", "--check", "racecheck,memcheck"];
    let Outcome { code, stdout, stderr } = outcome(ferrowarp(&racy));
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("racecheck") && stdout.contains("ld.shared.b32 %r4"), "{stdout}");
    assert!(stderr.starts_with("error: the checks found 2 errors"), "{stderr}");
    let Outcome { code, stdout, .. } = outcome(ferrowarp(&[&racy[..], &["--json"]].concat()));
    assert_eq!(code, 1);
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["command"], "check");
    assert_eq!(value["findings"][0]["check"], "racecheck");
    assert_eq!(value["findings"][0]["severity"], "error");

    // The same with the barrier, and with a check that does not look for races.
    let ordered = ["check", &file, "--kernel", "ordered", "--block", "64"];
    assert!(text(&ordered).ends_with(NOTHING));
    let memcheck = ["check", &file, "--kernel", "racy", "--block", "64", "--check", "memcheck"];
    assert!(text(&memcheck).ends_with("memcheck: nothing found\n"));
}

#[test]
fn every_launching_command_checks() {
    for arguments in [
        &["hello"][..],
        &["transform", "--count", "10"],
        &["matmul", "--size", "20"],
        &["emulate", &fixture("checks.ptx"), "--kernel", "ordered", "--block", "64"],
    ] {
        let checked = [arguments, &["--check", "all"]].concat();
        assert!(text(&checked).ends_with(NOTHING), "{arguments:?}");
        assert_eq!(json(&checked)["findings"], Value::Array(vec![]), "{arguments:?}");
        assert!(json(arguments).get("findings").is_none(), "{arguments:?}");
    }
    let racy = ["emulate", &fixture("checks.ptx"), "--kernel", "racy", "--block", "64"];
    text(&racy);
    let checked = [&racy[..], &["--check", "all"]].concat();
    assert_eq!(outcome(ferrowarp(&checked)).code, 1);
}

#[test]
fn checks_run_on_the_emulator_whatever_the_environment_says() {
    let mut command = ferrowarp(&["hello", "--check", "racecheck"]);
    command.env("CUDA_DRIVER_BACKEND", "gpu");
    let Outcome { code, stdout, stderr } = outcome(command);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.ends_with("racecheck: nothing found\n"), "{stdout}");
}

#[test]
fn the_environment_asks_for_checks_and_the_exit_code_stays() {
    let mut command = ferrowarp(&["hello"]);
    command.env("FERROWARP_CHECK", "all");
    assert_eq!(outcome(command).code, 0);
    let mut command = ferrowarp(&["hello"]);
    command.env("FERROWARP_CHECK", "everything");
    let Outcome { code, stderr, .. } = outcome(command);
    assert_ne!(code, 0);
    assert!(stderr.contains("FERROWARP_CHECK") && stderr.contains("everything"), "{stderr}");
}

#[test]
fn faults_come_with_what_was_found_before() {
    let file = fixture("checks.ptx");
    let arguments = ["check", &file, "--kernel", "racy_then_trap", "--block", "64"];
    let Outcome { code, stdout, stderr } = outcome(ferrowarp(&arguments));
    assert_eq!(code, 1);
    assert!(stdout.contains("racecheck"), "{stdout}");
    assert!(stderr.starts_with("error: the kernel executed a trap"), "{stderr}");
    let Outcome { stdout, .. } = outcome(ferrowarp(&[&arguments[..], &["--json"]].concat()));
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["exit_code"], 1);
    assert!(!value["findings"].as_array().unwrap().is_empty(), "{value}");
}

#[test]
fn memory_that_a_kernel_keeps_is_a_leak() {
    let file = fixture("checks.ptx");
    let leak = ["check", &file, "--kernel", "leak", "--block", "2", "--arg", "u32:16"];
    let Outcome { code, stdout, stderr } = outcome(ferrowarp(&leak));
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("memcheck error: leak of 16 bytes"), "{stdout}");
    assert!(stderr.starts_with("error: the checks found 2 errors"), "{stderr}");
    let Outcome { stdout, .. } = outcome(ferrowarp(&[&leak[..], &["--json"]].concat()));
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["findings"][0]["title"], "leak of 16 bytes");
    // Not what memcheck was not asked for.
    text(&[&leak[..], &["--check", "racecheck"]].concat());
}

#[test]
fn what_cannot_be_checked() {
    fails(&["check", "no_such_kernel"], 2, &["no kernel is called `no_such_kernel`", "hello"]);
    fails(&["check", "no/such.ptx"], 2, &["cannot read no/such.ptx"]);
    fails(&["check", "hello", "--check", "racechek"], 2, &["`racechek` is no check", "racecheck"]);
    fails(&["check", "hello", "--size", "0"], 2, &["--size"]);
    fails(&["check", "mat_mul_naive_kernel", "--arg", "u32:1"], 2, &["takes 8 arguments"]);
    fails(&["profile", "no_such_kernel"], 2, &["no kernel is called `no_such_kernel`"]);
    fails(&["check"], 2, &["KERNEL|FILE.ptx"]);
}

/// The counters of a kernel of this program with 64 x 64 matrices.
fn profile(kernel: &str) -> Value {
    json(&["profile", kernel, "--size", "64"])["profile"].clone()
}

#[test]
fn profiles_have_the_figures_that_the_kernels_are_written_for() {
    let naive = profile("mat_mul_naive_kernel");
    let shared = profile("mat_mul_shared_kernel_16");
    let count = |value: &Value, path: &str| {
        let found = value.pointer(path).unwrap_or_else(|| panic!("{path} in {value}"));
        found.as_u64().unwrap()
    };
    for value in [&naive, &shared] {
        assert_eq!(count(value, "/total/divergent_branches"), 0);
        assert_eq!(value["total"]["average_active_lanes"], 32.0);
        // C: a warp writes two rows of 16 floats.
        assert_eq!(count(value, "/total/global_stores/requests"), 128);
        assert_eq!(count(value, "/total/global_stores/sectors"), 128 * 4);
        assert_eq!(value["total"]["global_stores"]["efficiency"], 1.0);
        assert_eq!(count(value, "/total/local_load_bytes"), 0);
        let lines = value["lines"].as_array().unwrap();
        let whole: u64 = lines.iter().map(|line| count(line, "/counters/warp_instructions")).sum();
        assert!(whole <= count(value, "/total/warp_instructions"));
        assert!(lines.iter().any(|line| line["file"].as_str().unwrap().ends_with("mat_mul.rs")));
    }
    // Every element of A and B goes through each of 4 blocks once instead of through each of 64 threads.
    let loads = |value: &Value| count(value, "/total/global_loads/requests");
    assert_eq!(loads(&naive), 128 * 64 * 2);
    assert_eq!(loads(&shared), 128 * 4 * 2);
    assert_eq!(count(&naive, "/total/shared_loads/requests"), 0);
    assert!(count(&shared, "/total/shared_loads/requests") > 0);
    // The tiles are laid out so that nobody waits for a bank.
    assert_eq!(count(&shared, "/total/shared_loads/bank_conflicts"), 0);
    assert_eq!(count(&shared, "/total/shared_stores/bank_conflicts"), 0);
    assert!(count(&shared, "/total/barriers") > 0);
}

#[test]
fn profiles_as_text() {
    let shown = text(&["profile", "mat_mul_naive_kernel", "--size", "16"]);
    assert!(
        shown.starts_with("mat_mul_naive_kernel, grid (1, 1, 1), block (16, 16, 1)\n"),
        "{shown}"
    );
    assert!(shown.contains("\n  warp instructions "), "{shown}");
    assert!(shown.contains("mat_mul.rs:\n"), "{shown}");
    // The text of a source line stands beside its counters.
    assert!(shown.contains("sum += unsafe { *a_row"), "{shown}");
    assert!(!shown.contains("ld.global"), "{shown}");
    let shown = text(&["profile", "mat_mul_naive_kernel", "--size", "16", "--ptx"]);
    assert!(shown.contains("ld.global"), "{shown}");
    // Without source lines there is the PTX.
    let file = fixture("checks.ptx");
    let shown = text(&["profile", &file, "--kernel", "ordered", "--block", "64"]);
    assert!(shown.contains("ld.shared.b32 %r4"), "{shown}");
    // What was counted before a fault is shown.
    let arguments = ["profile", &file, "--kernel", "racy_then_trap", "--block", "64"];
    let Outcome { code, stdout, .. } = outcome(ferrowarp(&arguments));
    assert_eq!(code, 1);
    assert!(stdout.contains("shared stores "), "{stdout}");
}
