//! Projects of the user's own: that they build and pass their tests as they come, and what is refused.

mod common;

use std::path::Path;
use std::process::Command;

use common::{fails, ferrowarp, files_in, json, outcome, path_text};

/// Runs cargo in a new project. What it builds lies with what these tests were built from, most of which it has in common.
#[track_caller]
fn cargo(project: &Path, arguments: &[&str]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder in target");
    let output = Command::new(env!("CARGO"))
        .current_dir(project)
        .args(arguments)
        .env("CARGO_TARGET_DIR", target)
        .env("CUDA_DRIVER_BACKEND", "emulator")
        .env_remove("FERROWARP_CHECK")
        .output()
        .expect("cargo runs");
    let [out, err] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "cargo {arguments:?}:\n{out}\n{err}");
    assert!(!err.contains("warning: unused"), "{err}");
    out
}

/// Makes a project, and runs its tests and its program.
#[track_caller]
fn works(name: &str, options: &[&str], says: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(name);
    let made = json(&[&["new", &path_text(&project)], options].concat());
    assert_eq!((&made["command"], &made["name"]), (&"new".into(), &name.into()));
    for file in made["files"].as_array().unwrap() {
        assert!(project.join(file.as_str().unwrap()).is_file(), "{file}");
    }
    // Nothing beside it.
    assert_eq!(files_in(folder.path()), [project.as_path()]);

    let tests = cargo(&project, &["test"]);
    assert!(tests.contains("test result: ok."), "{tests}");
    assert!(!tests.contains("FAILED"), "{tests}");
    let said = cargo(&project, &["run", "--quiet"]);
    for text in says {
        assert!(said.contains(text), "`{text}` is missing in:\n{said}");
    }
}

#[test]
fn a_typed_project_passes_its_tests() {
    works("two-words", &[], &["2 * x + 100 = [100.0, 102.0, 104.0", "sum of that = 1090"]);
}

#[test]
fn a_project_with_cust_passes_its_tests() {
    works("on_cust", &["--cust"], &["[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]"]);
}

#[test]
fn names_and_folders_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fails(&["new", &path_text(&at("9lives"))], 2, &["`9lives`", "begin with a letter"]);
    fails(&["new", &path_text(&at("a b"))], 2, &["`a b`", "letters, digits"]);
    fails(&["new", &path_text(&at("cuda-std"))], 2, &["`cuda-std`", "taken", "choose another"]);
    fails(&["new", ".."], 2, &["\"..\" ends in no name"]);
    std::fs::create_dir(at("full")).unwrap();
    std::fs::write(at("full").join("file"), "mine").unwrap();
    fails(&["new", &path_text(&at("full"))], 2, &["exists already and is not empty"]);
    std::fs::write(at("file"), "mine").unwrap();
    fails(&["new", &path_text(&at("file"))], 2, &["exists already"]);
    fails(&["new", &path_text(&at("file/inside"))], 2, &["cannot write"]);
    let elsewhere = path_text(folder.path());
    fails(
        &["new", &path_text(&at("x")), "--sources", &elsewhere],
        2,
        &["no crates/cuda_std", "--sources"],
    );
    // Nothing was written, and nothing was lost.
    assert_eq!(files_in(folder.path()), [at("file"), at("full")]);
    assert_eq!(std::fs::read_to_string(at("full").join("file")).unwrap(), "mine");
}

#[test]
fn an_empty_folder_is_filled() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("vectors");
    std::fs::create_dir(&project).unwrap();
    let made = outcome(ferrowarp(&["new", &path_text(&project)]));
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(made.stdout.contains("next: cd "), "{}", made.stdout);
    assert!(project.join("kernels/src/lib.rs").is_file());
}
