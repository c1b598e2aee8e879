//! The environment of the nested cargo.
//!
//! A build script inherits everything that the outer cargo, clippy, a CI job or a coverage tool set for the *host's* build:
//! flags, wrappers, target folders, profile overrides. None of that is meant for the GPU, and some of it (a shared build
//! folder, incremental compilation with link-time optimisation) stops the build. So the nested cargo gets no `CARGO…` or
//! `RUST…` variable but those that say how to reach registries, how to print, and how to link host programs.

use std::env;
use std::process::Command;

use crate::toolchain::Toolchain;

/// `CARGO_…` variables that are kept, by prefix: where cargo keeps its files, network and registries, output, and the number
/// of jobs with the outer cargo's job server.
const KEPT: [&str; 9] = [
    "CARGO_HOME",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
    "CARGO_MAKEFLAGS",
    "CARGO_BUILD_JOBS",
];

/// `RUST…` variables that are dropped; the others (`RUST_BACKTRACE`, `RUSTUP_…`) don't change what is built.
const DROPPED: [&str; 7] = [
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC",
    "RUSTDOC",
    "RUSTC_LINKER",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
];

/// Whether the nested cargo may see a variable of this name.
fn keeps(name: &str) -> bool {
    if let Some(setting) = name.strip_prefix("CARGO_TARGET_") {
        // Build scripts and procedural macros of the kernel crate are linked for the host.
        return setting.ends_with("_LINKER");
    }
    if name == "CARGO" || name.starts_with("CARGO_") {
        return KEPT
            .iter()
            .any(|kept| if kept.ends_with('_') { name.starts_with(kept) } else { name == *kept });
    }
    !DROPPED.contains(&name)
}

/// Gives `cargo` the environment described above, and the compiler to use.
pub(super) fn clean(cargo: &mut Command, toolchain: &Toolchain) {
    for (name, _) in env::vars_os() {
        if !name.to_str().is_none_or(keeps) {
            cargo.env_remove(name);
        }
    }
    cargo
        .env("RUSTC", &toolchain.rustc)
        // Stock rustc has all that kernels need, but behind unstable flags: `-Zbuild-std`, `abi_ptx`, inline PTX.
        .env("RUSTC_BOOTSTRAP", "1")
        // Set but empty, they override wrappers from cargo's configuration files as well.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_reaches_the_network_and_drops_what_changes_the_build() {
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_TERM_COLOR",
            "CARGO_MAKEFLAGS",
            "MAKEFLAGS",
            "RUST_BACKTRACE",
        ] {
            assert!(keeps(name), "{name}");
        }
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_INCREMENTAL",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_FEATURE_STD",
            "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS",
            "CARGO_HOMEPAGE_",
        ] {
            assert!(!keeps(name), "{name}");
        }
        assert!(keeps("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER"));
    }
}
