//! Where compilers and LLVM tools are usually installed.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of rustup's LLVM tools in a sysroot (component `llvm-tools`).
pub(super) fn sysroot_llvm(sysroot: &Path, host: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(host).join("bin")
}

/// Where packages put the tools of one LLVM major version.
pub(super) fn packaged_llvm(major: &str) -> Vec<PathBuf> {
    if cfg!(windows) {
        return env::var_os("ProgramFiles")
            .map(|folder| Path::new(&folder).join("LLVM").join("bin"))
            .into_iter()
            .collect();
    }
    [
        format!("/usr/lib/llvm-{major}/bin"), // Debian, Ubuntu, apt.llvm.org
        format!("/usr/lib/llvm{major}/bin"),  // Alpine
        format!("/usr/lib64/llvm{major}/bin"), // Fedora
        format!("/usr/lib/llvm/{major}/bin"), // Gentoo
        format!("/opt/homebrew/opt/llvm@{major}/bin"), // Homebrew on Apple silicon
        "/opt/homebrew/opt/llvm/bin".to_owned(),
        format!("/usr/local/opt/llvm@{major}/bin"), // Homebrew on Intel
        "/usr/local/opt/llvm/bin".to_owned(),
        "/usr/bin".to_owned(), // Arch
    ]
    .into_iter()
    .map(PathBuf::from)
    .collect()
}

/// The folders of `PATH`.
pub(super) fn path_folders() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// The first file called `name` on `PATH`.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    path_folders().into_iter().map(|folder| folder.join(&file)).find(|path| super::is_file(path))
}

/// The compilers rustup has installed, by toolchain name.
pub(super) fn rustup_compilers() -> Vec<PathBuf> {
    let home = env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".rustup")));
    let Some(folder) = home.map(|home| home.join("toolchains")) else { return Vec::new() };
    let mut compilers: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX)))
        .filter(|path| super::is_file(path))
        .collect();
    compilers.sort();
    compilers
}
