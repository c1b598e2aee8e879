//! Folders of LLVM tools, and whether the tools in one can be used.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools the pipeline runs.
const TOOLS: [&str; 3] = ["llc", "opt", "llvm-dis"];

/// The path of a tool in `folder`.
pub(super) fn tool(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Whether a folder holds any of the tools, so that it is worth a line in a report.
pub(super) fn has_any(folder: &Path) -> bool {
    TOOLS.iter().any(|name| super::is_file(&tool(folder, name)))
}

/// The version of the tools in `folder`, if all are there, of major version `major`, and able to write PTX; else what is
/// wrong.
pub(super) fn examine(folder: &Path, major: &str) -> Result<String, String> {
    let place = folder.display();
    let missing: Vec<&str> =
        TOOLS.into_iter().filter(|name| !super::is_file(&tool(folder, name))).collect();
    if !missing.is_empty() {
        return Err(format!("no {} in {place}", missing.join(", ")));
    }
    let llc = tool(folder, "llc");
    let output = Command::new(&llc)
        .arg("--version")
        .output()
        .map_err(|error| format!("{} doesn't run: {error}", llc.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{} doesn't run ({}): {said}", llc.display(), output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(version) = parse_version(&text) else {
        return Err(format!("{} --version names no LLVM version", llc.display()));
    };
    if super::candidate::major_of(version) != major {
        return Err(format!(
            "LLVM {version} in {place}, but this rustc writes LLVM {major} bitcode"
        ));
    }
    if !text.lines().any(|line| line.trim_start().starts_with("nvptx64")) {
        return Err(format!("LLVM {version} in {place} was built without the NVPTX target"));
    }
    Ok(version.to_owned())
}

/// The version in what `llc --version` prints: `LLVM version 22.1.8`, with vendors' words before and after.
fn parse_version(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("LLVM version ")?;
    let version = after.split_whitespace().next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_vendors_versions() {
        assert_eq!(parse_version("Debian LLVM version 22.1.8\n  Optimized build."), Some("22.1.8"));
        assert_eq!(
            parse_version("LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n"),
            Some("22.1.2-rust-1.95.0-stable")
        );
        assert_eq!(parse_version("LLVM version "), None);
        assert_eq!(parse_version("llc: not found"), None);
    }

    #[test]
    fn an_empty_folder_lacks_every_tool() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = examine(folder.path(), "22").expect_err("nothing is there");
        assert!(error.starts_with("no llc, opt, llvm-dis in "), "{error}");
        assert!(!has_any(folder.path()));
    }
}
