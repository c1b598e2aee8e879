//! The rewriting judged by LLVM: the module it writes must be valid, and compile to the right instructions.

use std::fs;
use std::process::Command;

use super::*;
use crate::toolchain::Toolchain;

/// Runs an LLVM tool in a folder; fails with what it says.
fn run(toolchain: &Toolchain, tool: &str, folder: &std::path::Path, arguments: &[&str]) {
    let output = Command::new(toolchain.llvm_tool(tool))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the tool runs");
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn llvm_accepts_the_module_and_selects_the_spaces() {
    let toolchain = match Toolchain::discover() {
        Ok(toolchain) => toolchain,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let before = include_str!("fixtures/uses.ll");
    let after = rewrite(before, false).expect("the module is well formed");
    fs::write(folder.join("before.ll"), before).expect("writable");
    fs::write(folder.join("after.ll"), after.as_bytes()).expect("writable");

    // The fixture must be valid itself, or the test would show nothing.
    run(&toolchain, "opt", folder, &["-passes=verify", "before.ll", "-o", "before.bc"]);
    run(&toolchain, "opt", folder, &["-passes=verify", "after.ll", "-o", "after.bc"]);
    run(&toolchain, "llc", folder, &["-O3", "-mcpu=sm_75", "before.bc", "-o", "before.ptx"]);
    run(&toolchain, "llc", folder, &["-O3", "-mcpu=sm_75", "after.bc", "-o", "after.ptx"]);

    let ptx = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    let (before, after) = (ptx("before.ptx"), ptx("after.ptx"));
    for instruction in
        ["st.shared", "atom.relaxed.sys.shared", "ld.const", "ld.global", "st.global"]
    {
        assert!(after.contains(instruction), "no {instruction} in:\n{after}");
    }
    for instruction in [".shared", "ld.const"] {
        assert!(!before.contains(instruction), "{instruction} in:\n{before}");
    }
    for definition in [
        ".shared .align 4 .b8 tile[256];",
        ".extern .shared .align 16 .b8 dynamic[];",
        ".visible .const .align 4 .b8 table[22]",
        ".visible .global .align 4 .u32 counter = 7;",
        "pointers[3] = {generic(table), ",
        "chain = generic(counter);",
    ] {
        assert!(after.contains(definition), "no `{definition}` in:\n{after}");
    }
}
