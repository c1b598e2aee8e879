//! Talking to cargo from a build script (The Cargo Book, "Build Scripts").

use std::env;
use std::path::{Path, PathBuf};

/// The build script this runs in, if it does.
pub(crate) struct BuildScript {
    out_dir: Option<PathBuf>,
}

impl BuildScript {
    /// Cargo sets `OUT_DIR` for tests too, `TARGET` only for build scripts.
    pub(crate) fn detect() -> Self {
        let out_dir = env::var_os("OUT_DIR").filter(|_| env::var_os("TARGET").is_some());
        Self { out_dir: out_dir.map(PathBuf::from) }
    }

    /// The folder cargo gives a build script for its files.
    pub(crate) fn out_dir(&self) -> Option<&Path> {
        self.out_dir.as_deref()
    }

    /// Runs the script again when the file changes.
    pub(crate) fn watch(&self, file: &Path) {
        self.say("rerun-if-changed", &file.display().to_string());
    }

    /// Runs the script again when the environment variable changes.
    pub(crate) fn watch_variable(&self, name: &str) {
        self.say("rerun-if-env-changed", name);
    }

    /// Shows a warning to whoever builds.
    pub(crate) fn warn(&self, text: &str) {
        self.say("warning", text);
    }

    /// Says something that only `cargo build -vv` shows.
    pub(crate) fn note(&self, text: &str) {
        if self.out_dir.is_some() {
            println!("{text}");
        }
    }

    fn say(&self, instruction: &str, value: &str) {
        if self.out_dir.is_some() && !value.contains('\n') {
            println!("cargo::{instruction}={value}");
        }
    }
}
