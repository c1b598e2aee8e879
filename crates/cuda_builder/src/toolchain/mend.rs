//! The commands that complete a toolchain on this machine.

use std::path::Path;

use super::{LLVM_BIN_VARIABLE, RUSTC_VARIABLE, locations};

/// Commands of which any one is enough, the simplest first.
pub(super) fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    if locations::on_path("rustup").is_some() {
        let toolchain = std::env::var("RUSTUP_TOOLCHAIN")
            .map_or_else(|_| String::new(), |name| format!(" --toolchain {name}"));
        commands.push(format!("rustup component add rust-src llvm-tools{toolchain}"));
    }
    if locations::on_path("apt-get").is_some() {
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        commands.push(format!(
            "sudo apt-get update && sudo apt-get install {}",
            debian_packages(&release)
        ));
    }
    commands.push(format!("set {RUSTC_VARIABLE} to a rustc that has its rust-src, and {LLVM_BIN_VARIABLE} to the folder with opt, llc and llvm-dis of its LLVM version"));
    if Path::new("x").is_file() {
        commands.push("./x setup".to_owned());
    }
    commands
}

/// The packages with a rustc from 1.95 on. Debian 12 has it as `rustc-web`, beside a `rustc` that is too old.
fn debian_packages(os_release: &str) -> &'static str {
    if os_release.lines().any(|line| line.trim_end() == "VERSION_CODENAME=bookworm") {
        "rustc-web rust-web-src llvm-22"
    } else {
        "rustc rust-src llvm"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_as_the_release_names_them() {
        assert_eq!(
            debian_packages("ID=debian\nVERSION_CODENAME=bookworm\n"),
            "rustc-web rust-web-src llvm-22"
        );
        assert_eq!(debian_packages("ID=debian\nVERSION_CODENAME=forky\n"), "rustc rust-src llvm");
    }

    #[test]
    fn there_is_always_something_to_do() {
        assert!(commands().iter().any(|line| line.contains(RUSTC_VARIABLE)));
    }
}
