//! What the compiler says about a launch that does not fit its kernel.
//!
//! `TRYBUILD=overwrite cargo test -p cuda_host --test ui` rewrites the expected messages, under the toolchain that
//! `rust-toolchain.toml` names.

use std::process::Command;

/// The compiler whose words the `.stderr` files hold. Another one says the same in other words.
const WORDS_OF: &str = "rustc 1.95.";

#[test]
fn launches_that_do_not_compile() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    if !version.starts_with(WORDS_OF) {
        eprintln!("skipped: the expected messages are those of {WORDS_OF}x, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
