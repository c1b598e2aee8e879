//! What the tests of the program share: starting it on the emulator, and reading what it says.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// The program, on the emulator whatever the machine has, and without any CUDA toolkit's programs.
pub fn ferrowarp(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowarp"));
    command.env("CUDA_DRIVER_BACKEND", "emulator");
    for tool in ["PTXAS", "NVDISASM", "CUOBJDUMP"] {
        command.env(tool, "/no/such/tool");
    }
    command.args(arguments);
    command
}

/// How one run ended.
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs to the end.
#[track_caller]
pub fn outcome(mut command: Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code().expect("ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs, which must succeed, and gives the standard output.
#[track_caller]
pub fn text(arguments: &[&str]) -> String {
    let Outcome { code, stdout, stderr } = outcome(ferrowarp(arguments));
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    assert_eq!(stderr, "", "{arguments:?}");
    stdout
}

/// Runs with `--json`, which must succeed, and gives the value.
#[track_caller]
pub fn json(arguments: &[&str]) -> Value {
    let text = text(&[arguments, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error} in {text}"))
}

/// Runs, which must fail with this exit code, and asserts that the error text has all `parts`; then once more with `--json`,
/// which must say the same as the one value on standard output.
#[track_caller]
pub fn fails(arguments: &[&str], code: i32, parts: &[&str]) {
    fails_with(|command| command, arguments, code, parts);
}

/// As [`fails`], with `change` applied to the command first.
#[track_caller]
pub fn fails_with(
    change: impl Fn(Command) -> Command,
    arguments: &[&str],
    code: i32,
    parts: &[&str],
) {
    let plain = outcome(change(ferrowarp(arguments)));
    assert_eq!(plain.code, code, "{arguments:?}: {}", plain.stderr);
    assert!(plain.stderr.starts_with("error: "), "{arguments:?}: {}", plain.stderr);
    for part in parts {
        assert!(
            plain.stderr.contains(part),
            "{arguments:?}: `{}` does not say `{part}`",
            plain.stderr
        );
    }
    let json = outcome(change(ferrowarp(&[arguments, &["--json"]].concat())));
    assert_eq!(json.code, code, "{arguments:?} --json: {}", json.stderr);
    let value: Value = serde_json::from_str(&json.stdout)
        .unwrap_or_else(|error| panic!("{error} in {}", json.stdout));
    assert_eq!(value["exit_code"], code, "{value}");
    for part in parts {
        assert!(value["error"].as_str().unwrap().contains(part), "{value} does not say `{part}`");
    }
}

/// A file of `tests/data`.
pub fn fixture(name: &str) -> String {
    path_text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name))
}

/// A path as an argument.
pub fn path_text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The names of the files in a folder.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
