//! The builder where it is meant to run: in the build script of a program, under a real cargo.

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::program::{Program, text};
use common::{assert_contains, edit, scratch, toolchain};

#[test]
fn the_ptx_is_built_again_exactly_when_something_in_it_changes() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let kernels = program.kernels();
    let source = kernels.join("src/lib.rs");
    assert_contains(&program.run(), &[".entry increment(", ", 111;"]);

    let (ran, time) = program.build();
    assert!(!ran, "nothing changed");
    println!("no change: {time:?}");
    // Cargo alone; a builder that ran at all would take longer even on a busy machine.
    assert!(time < Duration::from_secs(5), "{time:?}");

    fs::write(kernels.join("README.md"), "not part of the PTX").expect("writable");
    assert!(!program.build().0, "a file that no kernel reads changed");

    edit(&source, "111", "112");
    let (ran, time) = program.build();
    assert!(ran, "a kernel changed");
    println!("one kernel edited: {time:?}");
    assert_contains(&program.run(), &[", 112;"]);

    edit(&kernels.join("device/src/lib.rs"), "WEIGHTS[2]", "WEIGHTS[2] + 64.0");
    assert!(program.build().0, "a crate that the kernels use changed");
    assert_contains(&program.run(), &["0f42800000"]);

    edit(&kernels.join("Cargo.toml"), "tripled = []", "default = [\"tripled\"]\ntripled = []");
    assert!(program.build().0, "the manifest changed");
    assert_contains(&program.run(), &[", 333;"]);
}

#[test]
fn a_variable_that_a_kernel_reads_is_watched() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let source = program.kernels().join("src/lib.rs");
    edit(
        &source,
        "{ 111 }",
        "{ option_env!(\"FIXTURE_STEP\").map_or(111, |step| 1000 + step.len() as u32) }",
    );
    assert_contains(&program.run(), &[", 111;"]);
    let mut cargo = program.cargo(&["run", "--quiet"]);
    let output = cargo.env("FIXTURE_STEP", "four").output().expect("cargo runs");
    assert_contains(&String::from_utf8_lossy(&output.stdout), &[", 1004;"]);
    assert_contains(&program.run(), &[", 111;"]);
}

#[test]
fn a_failed_build_shows_why_and_the_next_one_recovers() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let source = program.kernels().join("src/lib.rs");
    assert_contains(&program.run(), &[", 111;"]);

    edit(&source, "111", "one hundred");
    let said = program.failure(program.cargo(&["build"]));
    assert_contains(
        &said,
        &[
            "error: expected",
            "src/lib.rs:",
            "the kernel crate `fixture-kernels` failed to compile",
            "command: ",
        ],
    );
    // Rust's `Debug` of the text would have these.
    assert!(!said.contains("\\n") && !said.contains('\u{1b}'), "{said}");
    let mut coloured = program.cargo(&["build"]);
    coloured.env("CARGO_TERM_COLOR", "always");
    assert_contains(
        &program.failure(coloured),
        &["\u{1b}[", "the kernel crate `fixture-kernels` failed to compile"],
    );

    edit(&source, "one hundred", "100");
    assert_contains(&program.run(), &[", 100;"]);
}

#[test]
fn ptx_from_the_cache_is_watched_as_built_ptx_is() {
    if toolchain().is_none() {
        return;
    }
    let cache = scratch().join("caches/build_script");
    if cache.exists() {
        fs::remove_dir_all(&cache).expect("removable");
    }
    let program = Program::new();
    let source = program.kernels().join("src/lib.rs");
    edit(
        &source,
        "{ 111 }",
        "{ option_env!(\"FIXTURE_STEP\").map_or(111, |step| 1000 + step.len() as u32) }",
    );
    // What cargo shows of the build script, and the PTX.
    let run = |step: Option<&str>| {
        let mut cargo = program.cargo(&["run", "-vv"]);
        cargo.env("CUDA_BUILDER_CACHE", &cache);
        step.map(|step| cargo.env("FIXTURE_STEP", step));
        let output = cargo.output().expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output));
        let said = text(&output) + &String::from_utf8_lossy(&output.stdout);
        (said.contains("taken from the cache"), said)
    };
    let has = |said: &str, step: u32| said.contains(&format!(", {step};"));
    let (served, said) = run(None);
    assert!(!served && has(&said, 111), "{said}");
    let (served, said) = run(Some("four"));
    assert!(!served && has(&said, 1004), "{said}");
    let (served, said) = run(None);
    assert!(served && has(&said, 111), "the first entry: {said}");
    // The variable is still watched, though nothing was compiled.
    let (served, said) = run(Some("four"));
    assert!(served && has(&said, 1004), "the second entry: {said}");
    // So are the sources, those of a dependency too.
    let device = program.kernels().join("device/src/lib.rs");
    edit(&device, "WEIGHTS[2]", "WEIGHTS[2] + 64.0");
    let (served, said) = run(Some("four"));
    assert!(!served && said.contains("0f42800000"), "{said}");
    // And the manifest.
    edit(
        &program.kernels().join("Cargo.toml"),
        "tripled = []",
        "default = [\"tripled\"]\ntripled = []",
    );
    let (served, said) = run(None);
    assert!(!served && has(&said, 333), "{said}");
}

#[test]
fn recursion_is_a_warning_with_the_line() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let source = program.kernels().join("src/lib.rs");
    edit(&source, "{ 111 }", "{ deep(unsafe { *a }, 7) }");
    let text_of = fs::read_to_string(&source).expect("readable");
    let deep = "\n#[inline(never)]\nfn deep(m: u32, n: u32) -> u32 {\n    if m == 0 { n + 1 } else { deep(m - 1, n) + deep(n & 3, m) }\n}\n";
    fs::write(&source, text_of.clone() + deep).expect("writable");
    let line = text_of.lines().count() + 4;
    let warnings = || {
        let output = program.cargo(&["build"]).output().expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    assert_contains(
        &warnings(),
        &[
            "warning: program",
            &format!("`fixture_kernels::deep` calls itself at src/lib.rs:{line}:"),
            "CU_LIMIT_STACK_SIZE",
        ],
    );
    // Without a circle, the same functions are nothing to warn of.
    edit(&source, "{ deep(m - 1, n) + deep(n & 3, m) }", "{ m * n }");
    assert!(!warnings().contains("recursion"));
}

#[test]
fn a_missing_toolchain_lists_what_was_looked_for_and_what_to_do() {
    if toolchain().is_none() {
        return;
    }
    let program = Program::new();
    let mut cargo = program.cargo(&["build"]);
    cargo.env("CUDA_BUILDER_RUSTC", "/nowhere/rustc").env("CUDA_BUILDER_LLVM_BIN", "/nowhere/llvm");
    let said = program.failure(cargo);
    assert_contains(
        &said,
        &[
            "no toolchain on this machine can compile kernels",
            "CUDA_BUILDER_RUSTC and CUDA_BUILDER_LLVM_BIN",
            "missing rustc: /nowhere/rustc doesn't exist",
            "help: any one of these",
        ],
    );

    // The compiler is there, the tools are not: both are said, each once.
    let mut cargo = program.cargo(&["build"]);
    cargo.env("CUDA_BUILDER_LLVM_BIN", "/nowhere/llvm");
    let said = program.failure(cargo);
    assert_contains(
        &said,
        &["ok      rustc: ", "missing LLVM tools: no llc, opt, llvm-dis in /nowhere/llvm"],
    );

    // The variables are watched: without them, the build works again.
    assert_contains(&program.run(), &[".entry increment("]);
}

/// A compiler and tools that only say they are what they say.
#[cfg(unix)]
#[test]
fn a_toolchain_that_does_not_fit_says_how() {
    use std::os::unix::fs::PermissionsExt;

    let Some(toolchain) = toolchain() else { return };
    let program = Program::new();
    let folder = program.project.join("tools");
    fs::create_dir_all(&folder).expect("writable");
    let script = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("settable");
        path
    };
    let old = script("old_rustc", "printf 'release: 1.63.0\\nhost: x\\nLLVM version: 14.0.6\\n'");
    let mut cargo = program.cargo(&["build"]);
    cargo.env("CUDA_BUILDER_RUSTC", &old);
    assert_contains(&program.failure(cargo), &["is 1.63.0; 1.95 or newer is needed"]);

    for tool in ["opt", "llvm-dis"] {
        script(tool, "exit 1");
    }
    let with_tools = |program: &Program| {
        let mut cargo = program.cargo(&["build"]);
        cargo.env("CUDA_BUILDER_RUSTC", &toolchain.rustc).env("CUDA_BUILDER_LLVM_BIN", &folder);
        program.failure(cargo)
    };
    script("llc", "printf 'LLVM version 14.0.6\\n'");
    assert_contains(&with_tools(&program), &["LLVM 14.0.6 in ", "but this rustc writes LLVM "]);
    script(
        "llc",
        &format!("printf 'LLVM version {}\\n  x86-64 - 64-bit X86\\n'", toolchain.llvm_version),
    );
    assert_contains(&with_tools(&program), &["was built without the NVPTX target"]);
}

#[test]
fn another_libdevice_is_another_build() {
    let Some(toolchain) = toolchain() else { return };
    let program = Program::new();
    let file = program.project.join("libdevice.10.bc");
    let run = |libdevice: &str| {
        let mut cargo = program.cargo(&["run", "--quiet"]);
        cargo.env("CUDA_BUILDER_LIBDEVICE", libdevice);
        cargo
    };
    let ptx = |libdevice: &Path| {
        let output = run(&libdevice.display().to_string()).output().expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8(output.stdout).expect("PTX is ASCII")
    };
    assert_contains(&ptx(Path::new("none")), &["// Mathematical functions from the libm crate"]);
    common::write_libdevice(&toolchain, &file, 1111);
    let first = ptx(&file);
    assert_contains(&first, &["// Mathematical functions from libdevice.10.bc (", "0f448AF000"]);
    // Another content under the same name; cargo compares times.
    std::thread::sleep(Duration::from_millis(1100));
    common::write_libdevice(&toolchain, &file, 2222);
    let second = ptx(&file);
    assert_contains(&second, &["0f450AE800"]);
    assert_ne!(first.lines().next(), second.lines().next());

    let missing = program.failure(run("/nowhere/libdevice.10.bc"));
    assert_contains(
        &missing,
        &["/nowhere/libdevice.10.bc", "CUDA_BUILDER_LIBDEVICE", "no such file"],
    );
}
