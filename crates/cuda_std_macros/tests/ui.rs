//! What the macros refuse, with what they say, and what they take.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p cuda_std_macros --test ui`, then read the difference.

use std::process::Command;

/// The macros' own errors: the same text from every rustc.
#[test]
fn refused_by_the_macros() {
    trybuild::TestCases::new().compile_fail("tests/ui/syntax/*.rs");
}

#[test]
fn accepted() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

/// Errors that rustc's type checker reports, by way of the macros' output. The text around the macros' own words differs
/// between versions of rustc, so it is compared under one of them, the one of `rust-toolchain.toml`.
#[test]
fn refused_by_the_type_checker() {
    const RECORDED_WITH: &str = "rustc 1.95.";
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs");
    if version.stdout.starts_with(RECORDED_WITH.as_bytes()) {
        let cases = trybuild::TestCases::new();
        // With a case that passes, trybuild builds instead of checking: only then are the constants of generic functions
        // evaluated.
        cases.pass("tests/ui/pass/statics.rs");
        cases.compile_fail("tests/ui/types/*.rs");
    } else {
        eprintln!("not compared: the messages were recorded with {RECORDED_WITH}x");
    }
}
