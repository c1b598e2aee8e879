//! The table of what `cuda_std` offers, and of the kernels that test it.
//!
//! - rustdoc says what the public items are, and what they need.
//! - The kernels of `cuda_std`'s tests are compiled once more, without optimisation: whatever of the items they use is in that code.
//! - The tests write down which kernels they launch: those of this checkout on the emulator, those of the last bundle on a GPU
//!   (`data/gpu_launches.txt`).

mod compiled;
mod floor;
mod items;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cuda_builder::{Cache, CudaBuilder, NvvmArch};
use rustdoc_types::{Crate, FORMAT_VERSION};

use crate::error::Error;
use crate::process::{self, cargo};
use compiled::Reached;

/// Names the file that tests add the names of launched kernels to.
const RECORD: &str = "CUDA_STD_TEST_RECORD";

/// What launched kernels on a GPU last: comments say when and where, the other lines are kernels.
const GPU_RECORD: &str = "crates/xtask/data/gpu_launches.txt";

/// The kernels of `cuda_std`'s tests: folder, and whether they need sm_90.
const KERNELS: [(&str, bool); 4] = [
    ("crates/cuda_std/tests/device", false),
    ("crates/cuda_std/tests/device_formatting", false),
    ("crates/cuda_std/tests/device_maths", false),
    ("crates/cuda_std/tests/device_sm90", true),
];

/// The page, made from the tests' launches in `record`; without a record, the tests run first.
///
/// # Errors
/// When something does not build or cannot be read, or when an item is used by no kernel that the tests launch on the emulator.
pub(crate) fn page(root: &Path, record: Option<&Path>) -> Result<String, Error> {
    let documentation = documentation(root, "cuda_std")?;
    let macros = documentation_of_macros(root)?;
    let mut modules = items::of_crate(&documentation);
    items::add_macros(&macros, &mut modules);

    let mut kernels = Vec::new();
    for (folder, sm90) in KERNELS {
        let folder = root.join(folder);
        kernels.push(page::Kernels {
            reached: unoptimised(root, &folder, sm90)?,
            sources: sources(&folder)?,
        });
    }
    let emulator = match record {
        Some(record) => launches(record)?,
        None => launches(&run_tests(root)?)?,
    };
    let gpu = launches(&root.join(GPU_RECORD))?;
    let text = page::text(&modules, &kernels, &emulator.kernels, &gpu);
    text.map_err(|missing| Error::Untested { items: missing })
}

fn documentation(root: &Path, package: &str) -> Result<Crate, Error> {
    // rustdoc writes JSON on request of unstable options only.
    let mut command = cargo();
    command.current_dir(root).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTDOCFLAGS");
    command.args(["rustdoc", "--quiet", "--lib", "--package", package]);
    command.args(["--target-dir", "target/support"]);
    command.args(["--", "-Zunstable-options", "--output-format=json"]);
    process::run(&mut command)?;
    let path = root.join("target/support/doc").join(format!("{package}.json"));
    let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
    let read = serde_json::from_str(&text);
    read.map_err(|source| Error::Documentation { path, expected: FORMAT_VERSION, source })
}

/// The documentation of the macros' crate, which `cuda_std` shows as its own.
fn documentation_of_macros(root: &Path) -> Result<Crate, Error> {
    documentation(root, "cuda_std_macros")
}

/// What the kernels of a folder reach.
fn unoptimised(root: &Path, folder: &Path, sm90: bool) -> Result<Reached, Error> {
    let name = folder.file_name().unwrap_or_default();
    let mut builder = CudaBuilder::new(folder)
        .target_dir(root.join("target/support-kernels").join(name))
        .nvvm_opts(false)
        .without_libdevice()
        // Functions of a line or two, inlined by the compiler, would leave no trace.
        .build_args(&["--config", "target.nvptx64-nvidia-cuda.rustflags=['-Zinline-mir=no']"])
        // Kept PTX comes without the builder's own files.
        .cache(Cache::Off);
    if sm90 {
        builder = builder.arch(NvvmArch::Compute90).ptx_version(8, 0);
    }
    let ptx = builder.build().map_err(|error| Error::Kernels(Box::new(error)))?;
    // The builder's own file of what is used, before anything is optimised.
    let module = ptx.with_extension("").join("used.ll");
    let text = std::fs::read_to_string(&module).map_err(|error| Error::io(&module, error))?;
    Ok(compiled::reached(&text))
}

/// A crate's source files: name and text.
fn sources(folder: &Path) -> Result<Vec<(String, String)>, Error> {
    let folder = folder.join("src");
    let at = |error| Error::io(&folder, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if let (Some(name), Some("rs")) =
            (path.file_name(), path.extension().and_then(|e| e.to_str()))
        {
            let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
            files.push((name.to_string_lossy().into_owned(), text));
        }
    }
    // Whatever the order in which the system lists them.
    files.sort();
    Ok(files)
}

/// Runs the tests that launch kernels; the path of the record they make.
fn run_tests(root: &Path) -> Result<PathBuf, Error> {
    let record = root.join("target/launches.txt");
    if record.exists() {
        std::fs::remove_file(&record).map_err(|error| Error::io(&record, error))?;
    }
    let mut command = cargo();
    command.current_dir(root).env(RECORD, &record);
    command.args([
        "test",
        "--quiet",
        "--package",
        "cuda_std",
        "--test",
        "on_device",
        "--test",
        "maths",
    ]);
    process::run(&mut command)?;
    Ok(record)
}

/// Launched kernels.
struct Launches {
    kernels: BTreeSet<String>,
    /// What the record says of itself.
    remark: String,
}

fn launches(record: &Path) -> Result<Launches, Error> {
    let text = std::fs::read_to_string(record).map_err(|error| Error::io(record, error))?;
    let (remarks, kernels): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let remarks = remarks.iter().map(|line| line.trim_start_matches('#').trim());
    Ok(Launches {
        kernels: kernels.into_iter().map(str::to_owned).collect(),
        remark: remarks.collect::<Vec<_>>().join(" "),
    })
}
