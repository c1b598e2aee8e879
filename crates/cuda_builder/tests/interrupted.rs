//! Builds that are killed, and builds that get in each other's way.
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use common::program::{Program, text};
use common::{assert_contains, edit, scratch, toolchain};

/// How many builds are killed.
const ROUNDS: u32 = 6;

#[test]
fn a_killed_build_leaves_no_half_ptx_and_the_next_one_succeeds() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let source = program.kernels().join("src/lib.rs");
    let cache = scratch().join("caches/killed");
    let _ = fs::remove_dir_all(&cache);
    let whole = without_step(&program.run(), 111);
    let read = |path: &PathBuf| fs::read_to_string(path).expect("readable");
    // Other folders are of builders before this one, which wrote other PTX.
    let results: Vec<PathBuf> =
        results().into_iter().filter(|path| without_step(&read(path), 111) == whole).collect();
    assert_eq!(results.len(), 2, "the builder's own file and the copy: {results:?}");
    // A moment of a build, which takes a second or more.
    let seed = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").subsec_nanos();
    println!("seed {seed}");
    let mut former = 111;
    for round in 0..ROUNDS {
        let step = 112 + round;
        edit(&source, &format!("{{ {former} }}"), &format!("{{ {step} }}"));
        let mut cargo = program.cargo(&["build"]);
        // With the cache, so that it is killed while it is written, too.
        cargo.env("CUDA_BUILDER_CACHE", &cache).stderr(Stdio::null()).process_group(0);
        let build = cargo.spawn().expect("cargo runs");
        let moment = (seed / 1000 + round * 271) % 1500;
        std::thread::sleep(Duration::from_millis(u64::from(moment)));
        kill(build);
        // Whatever was reached: what is there is the whole PTX of one of the steps.
        for path in &results {
            let ptx = read(path);
            assert!(
                (111..=step).any(|step| without_step(&ptx, step) == whole),
                "{} after {moment} ms:\n{ptx}",
                path.display()
            );
        }
        former = step;
    }
    let mut cargo = program.cargo(&["run", "--quiet"]);
    let output = cargo.env("CUDA_BUILDER_CACHE", &cache).output().expect("cargo runs");
    assert!(output.status.success(), "{}", text(&output));
    let ptx = String::from_utf8(output.stdout).expect("PTX is ASCII");
    assert_eq!(without_step(&ptx, former), whole);
}

/// The PTX with the number that the kernel `increment` adds left out.
fn without_step(ptx: &str, step: u32) -> String {
    ptx.replace(&format!(", {step};"), ", STEP;")
}

/// The PTX files that build scripts of the program left, by the builder itself and by `copy_to`.
fn results() -> Vec<PathBuf> {
    let builds = scratch().join("program/debug/build");
    let outs =
        fs::read_dir(builds).into_iter().flatten().flatten().map(|entry| entry.path().join("out"));
    outs.flat_map(|out| ["kernels.ptx", "fixture_kernels.ptx"].map(|name| out.join(name)))
        .filter(|path| path.is_file())
        .collect()
}

/// Kills cargo and all that it started.
fn kill(mut build: Child) {
    let group = format!("-{}", build.id());
    // It may be done already, and then there is nothing to kill.
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    build.wait().expect("it was started");
}

#[test]
fn two_cargos_that_build_the_same_kernels_both_succeed() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    program.run();
    edit(&program.kernels().join("src/lib.rs"), "{ 111 }", "{ 555 }");
    // Two target folders of the program, one folder for the nested build.
    let shared = scratch().join("two_cargos/nested");
    let script = program.project.join("build.rs");
    edit(
        &script,
        "CudaBuilder::new(\"kernels\")",
        &format!("CudaBuilder::new(\"kernels\").target_dir({:?})", shared.display().to_string()),
    );
    let targets = ["one", "two"].map(|name| scratch().join("two_cargos").join(name));
    let run = |target: &Path| {
        let mut cargo = program.cargo(&["run", "--quiet"]);
        cargo.env("CARGO_TARGET_DIR", target).stdout(Stdio::piped()).stderr(Stdio::piped());
        cargo.spawn().expect("cargo runs")
    };
    let builds = [run(&targets[0]), run(&targets[1])];
    for build in builds {
        let output = build.wait_with_output().expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output));
        assert_contains(
            &String::from_utf8_lossy(&output.stdout),
            &[", 555;", ".entry multiply_add("],
        );
    }
}
