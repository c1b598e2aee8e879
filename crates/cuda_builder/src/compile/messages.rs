//! What the nested cargo prints as JSON (The Cargo Book, "External tools").

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cache::unit_hash;

/// The parts of cargo's messages that the builder uses.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Errors as rustc renders them.
    pub(super) errors: Vec<Diagnostic>,
    /// Warnings of crates on this disk.
    pub(super) warnings: Vec<Diagnostic>,
    /// The manifests of the crates on this disk that were built.
    pub(super) manifests: Vec<PathBuf>,
    /// The hashes by which cargo names the units of crates that are the same in every project: the standard library's, and those
    /// from registries and repositories.
    pub(super) shared_units: BTreeSet<String>,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnostic {
    /// The crate it is about.
    pub(super) krate: String,
    /// The text, as rustc would print it.
    pub(super) rendered: String,
    /// The message alone with its place, on one line.
    pub(super) line: String,
}

impl Messages {
    /// Reads cargo's standard output, one JSON object a line; lines that are none (a build script's chatter) are skipped.
    pub(super) fn read(stdout: &[u8], rust_src: &Path) -> Self {
        let mut messages = Self::default();
        for line in String::from_utf8_lossy(stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            messages.shared_units.extend(shared_units(&message, rust_src));
            match message["reason"].as_str() {
                Some("compiler-message") => messages.diagnostic(&message),
                Some("compiler-artifact") if is_local(&message) => {
                    messages.manifests.extend(message["manifest_path"].as_str().map(PathBuf::from));
                }
                _ => {}
            }
        }
        messages.manifests.sort();
        messages.manifests.dedup();
        messages
    }

    fn diagnostic(&mut self, message: &Value) {
        let Some(rendered) = message["message"]["rendered"].as_str() else { return };
        let diagnostic = Diagnostic {
            krate: message["target"]["name"].as_str().unwrap_or_default().to_owned(),
            rendered: rendered.to_owned(),
            line: one_line(&message["message"]),
        };
        match message["message"]["level"].as_str() {
            Some(level) if level.starts_with("error") => self.errors.push(diagnostic),
            // "2 warnings emitted" has no place in the source and says nothing new.
            Some("warning")
                if is_local(message)
                    && message["message"]["spans"]
                        .as_array()
                        .is_some_and(|spans| !spans.is_empty()) =>
            {
                self.warnings.push(diagnostic);
            }
            _ => {}
        }
    }
}

/// Whether a message is about a crate on this disk, rather than one from a registry.
fn is_local(message: &Value) -> bool {
    message["package_id"].as_str().is_some_and(|id| id.starts_with("path+file:"))
}

/// The hashes in a message about files that cargo made, if it is about a crate that no project has its own of.
fn shared_units(message: &Value, rust_src: &Path) -> Vec<String> {
    let of_std =
        message["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(rust_src));
    let of_std_script =
        message["package_id"].as_str().is_some_and(|id| id.contains(&*rust_src.to_string_lossy()));
    if is_local(message) && !of_std && !of_std_script {
        return Vec::new();
    }
    let files = message["filenames"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A build script's program lies in the folder with the hash, what it wrote in a folder there.
    files
        .iter()
        .chain([&message["out_dir"]])
        .filter_map(|path| path.as_str())
        .flat_map(|path| Path::new(path).iter().rev().take(2))
        .filter_map(|name| unit_hash(name.to_str()?).map(str::to_owned))
        .collect()
}

/// `unused variable: x (src/lib.rs:3:5)`
fn one_line(message: &Value) -> String {
    let text = message["message"].as_str().unwrap_or_default().replace('\n', " ");
    let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    match spans.iter().find(|span| span["is_primary"] == Value::Bool(true)) {
        Some(span) => format!(
            "{text} ({}:{}:{})",
            span["file_name"].as_str().unwrap_or("?"),
            span["line_start"],
            span["column_start"]
        ),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_errors_warnings_and_manifests() {
        let stdout = concat!(
            "chatter\n",
            r#"{"reason":"compiler-message","package_id":"path+file:///k#0.1.0","target":{"name":"k"},"message":{"level":"error","message":"bad","rendered":"error: bad\n","spans":[]}}"#,
            "\n",
            r#"{"reason":"compiler-message","package_id":"path+file:///k#0.1.0","target":{"name":"k"},"message":{"level":"warning","message":"unused\nthing","rendered":"warning: unused\n","spans":[{"is_primary":true,"file_name":"src/lib.rs","line_start":3,"column_start":5}]}}"#,
            "\n",
            r#"{"reason":"compiler-message","package_id":"registry+https://x#d@1.0.0","target":{"name":"d"},"message":{"level":"warning","message":"w","rendered":"w","spans":[{}]}}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"path+file:///k#0.1.0","manifest_path":"/k/Cargo.toml"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"registry+https://x#d@1.0.0","manifest_path":"/d/Cargo.toml"}"#,
            "\n",
        );
        let messages = Messages::read(stdout.as_bytes(), Path::new("/std"));
        assert_eq!(messages.errors.len(), 1);
        assert_eq!(messages.errors[0].rendered, "error: bad\n");
        assert_eq!(messages.warnings.len(), 1);
        assert_eq!(messages.warnings[0].line, "unused thing (src/lib.rs:3:5)");
        assert_eq!(messages.manifests, [PathBuf::from("/k/Cargo.toml")]);
    }

    #[test]
    fn units_that_projects_share_are_told_from_their_own() {
        let stdout = concat!(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///k#0.1.0","manifest_path":"/k/Cargo.toml","filenames":["/t/deps/libk-0000000000000001.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"path+file:///std/library/core#0.0.0","manifest_path":"/std/library/core/Cargo.toml","filenames":["/t/deps/libcore-0000000000000002.rlib","/t/deps/libcore-0000000000000002.rmeta"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"registry+https://x#d@1.0.0","manifest_path":"/d/Cargo.toml","filenames":["/t/build/d-0000000000000003/build-script-build"]}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"registry+https://x#d@1.0.0","out_dir":"/t/build/d-0000000000000004/out"}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"path+file:///k#0.1.0","out_dir":"/t/build/k-0000000000000005/out"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        let messages = Messages::read(stdout.as_bytes(), Path::new("/std"));
        let units: Vec<&str> = messages.shared_units.iter().map(|hash| &hash[15..]).collect();
        assert_eq!(units, ["2", "3", "4"]);
    }
}
