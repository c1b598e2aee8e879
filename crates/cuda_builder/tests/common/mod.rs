//! What the integration tests share: the toolchain, and copies of the fixtures that a test may edit.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod program;

use std::fs::{self, File};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use cuda_builder::{Cache, CudaBuilder, Toolchain};

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

/// A builder for the copied fixture; all tests share one nested build. Without libdevice, which not every machine has, and without
/// the cache, so that it builds.
pub fn builder(folder: &Path) -> CudaBuilder {
    let builder = CudaBuilder::new(folder).target_dir(scratch().join("build"));
    builder.without_libdevice().cache(Cache::Off)
}

/// Writes a small libdevice to `path`: each function adds a number of its own to its argument. `number` is the sine's.
pub fn write_libdevice(toolchain: &Toolchain, path: &Path, number: u32) {
    let text = format!(
        r#"
target triple = "nvptx64-nvidia-gpulibs"
@ftz = private constant [11 x i8] c"__CUDA_FTZ\00"
@sqrt = private constant [17 x i8] c"__CUDA_PREC_SQRT\00"
@arch = private constant [12 x i8] c"__CUDA_ARCH\00"
declare i32 @__nvvm_reflect(ptr)
define float @__nv_sinf(float %x) {{
  %r = fadd float %x, {number}.5
  ret float %r
}}
define float @__nv_cosf(float %x) {{
  %ftz = call i32 @__nvvm_reflect(ptr @ftz)
  %sqrt = call i32 @__nvvm_reflect(ptr @sqrt)
  %arch = call i32 @__nvvm_reflect(ptr @arch)
  %a = mul i32 %ftz, 20000
  %b = mul i32 %sqrt, 10000
  %c = add i32 %a, %b
  %d = add i32 %c, %arch
  %e = bitcast i32 %d to float
  ret float %e
}}
define float @__nv_unused(float %x) {{
  ret float 7.0
}}
"#
    );
    let source = path.with_extension("ll");
    fs::create_dir_all(path.parent().expect("a file in a folder")).expect("creatable");
    fs::write(&source, text).expect("writable");
    let opt = toolchain.llvm_bin.join("opt");
    let status = std::process::Command::new(opt)
        .args(["-passes=verify".as_ref(), source.as_os_str(), "-o".as_ref(), path.as_os_str()])
        .status()
        .expect("opt runs");
    assert!(status.success());
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
