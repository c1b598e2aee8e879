//! Where the NVIDIA driver's library may lie: the loader's search path, by absolute path.
//!
//! It is never opened by its bare name, because in the stand-alone library we are `libcuda.so.1`
//! ourselves and the loader would answer with us.

use std::path::{Path, PathBuf};

/// Candidates in the order in which the loader would look, without duplicates.
pub(super) fn candidates() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    if let Some(path) = std::env::var_os(LOADER_PATH_VARIABLE) {
        directories
            .extend(std::env::split_paths(&path).filter(|directory| directory.is_absolute()));
    }
    directories.extend(configured_directories());
    directories.extend(USUAL_DIRECTORIES.iter().map(PathBuf::from));
    if let Some(root) = std::env::var_os("SystemRoot") {
        directories.push(Path::new(&root).join("System32"));
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in directories {
        for name in LIBRARY_NAMES {
            let candidate = directory.join(name);
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
    }
    found
}

#[cfg(windows)]
const LOADER_PATH_VARIABLE: &str = "PATH";
#[cfg(not(windows))]
const LOADER_PATH_VARIABLE: &str = "LD_LIBRARY_PATH";

#[cfg(windows)]
const LIBRARY_NAMES: &[&str] = &["nvcuda.dll"];
#[cfg(not(windows))]
const LIBRARY_NAMES: &[&str] = &["libcuda.so.1"];

#[cfg(windows)]
const USUAL_DIRECTORIES: &[&str] = &[];
#[cfg(not(windows))]
const USUAL_DIRECTORIES: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/run/opengl-driver/lib",
    "/usr/lib",
    "/lib64",
    "/lib/x86_64-linux-gnu",
];

/// The directories of `/etc/ld.so.conf` and `/etc/ld.so.conf.d`, from which the loader's cache is made.
fn configured_directories() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = std::fs::read_dir("/etc/ld.so.conf.d") {
        let mut more: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        more.sort();
        files.extend(more);
    }
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| directories_of(&text))
        .collect()
}

/// The directories that one configuration file names.
fn directories_of(text: &str) -> Vec<PathBuf> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| line.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loader_configuration_is_read() {
        let text = "# comment\n/opt/cuda/compat # newest first\n\n  /usr/local/lib\ninclude /etc/ld.so.conf.d/*.conf\n";
        assert_eq!(
            directories_of(text),
            [PathBuf::from("/opt/cuda/compat"), PathBuf::from("/usr/local/lib")]
        );
    }

    #[test]
    fn candidates_are_absolute_and_appear_once() {
        let candidates = candidates();
        assert!(!candidates.is_empty() || cfg!(windows));
        for (index, candidate) in candidates.iter().enumerate() {
            assert!(candidate.is_absolute(), "{}", candidate.display());
            assert!(!candidates[..index].contains(candidate), "{}", candidate.display());
        }
    }
}
