//! What the integration tests share: the toolchain, and copies of the fixtures that a test may edit.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs::{self, File};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, Toolchain};

/// The device toolchain; `None`, with the reason printed, on a machine that has none. In CI that is a failure, because then
/// nothing would be tested.
pub fn toolchain() -> Option<Toolchain> {
    match Toolchain::discover() {
        Ok(toolchain) => Some(toolchain),
        Err(error) if std::env::var_os("CI").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// The folder with the fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A folder that is kept between test runs.
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_builder")
}

/// A copy of a fixture, and the right to build it.
///
/// Cargo names compiled crates by their place in their workspace, so all copies share one set of them (and `core` is compiled
/// once). It tells the copies apart by the age of their files alone: a copy made while another is built would count as built.
pub struct Project {
    folder: PathBuf,
    _alone: File,
}

impl Deref for Project {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.folder
    }
}

/// A fresh copy of a fixture for the test `test`.
pub fn copy_fixture(fixture: &str, test: &str) -> Project {
    fs::create_dir_all(scratch()).expect("the scratch folder is writable");
    let alone = File::create(scratch().join("tests.lock")).expect("the scratch folder is writable");
    alone.lock().expect("the file can be locked");
    let folder = scratch().join("projects").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the former copy can be removed");
    }
    copy(&fixtures().join(fixture), &folder);
    Project { folder, _alone: alone }
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the scratch folder is writable");
    for entry in fs::read_dir(from).expect("the fixture is there") {
        let entry = entry.expect("the fixture can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the scratch folder is writable");
        }
    }
}

/// A builder for the copied fixture; all tests share one nested build.
pub fn builder(folder: &Path) -> CudaBuilder {
    CudaBuilder::new(folder).target_dir(scratch().join("build"))
}

/// Builds, and gives the PTX that lies beside the copied fixture.
pub fn ptx(builder: CudaBuilder, folder: &Path) -> String {
    let path = folder.join("out").join("kernels.ptx");
    builder.copy_to(&path).build().expect("the fixture compiles");
    fs::read_to_string(path).expect("the PTX is there")
}

/// The part of `ptx` that is kernel `name`.
pub fn kernel<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx
        .find(&format!(".entry {name}("))
        .unwrap_or_else(|| panic!("no kernel {name} in:\n{ptx}"));
    let end = ptx[start..].find("// -- End function").map_or(ptx.len(), |end| start + end);
    &ptx[start..end]
}

/// Fails unless `text` contains each of `parts`.
#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// Replaces the only occurrence of `from` in a file.
#[track_caller]
pub fn edit(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("the file is there");
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {}", file.display());
    fs::write(file, text.replace(from, to)).expect("the file is writable");
}
