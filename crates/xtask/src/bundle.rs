//! `cargo xtask bundle`: what a machine with a GPU but without Rust needs to run the program and the
//! tests that use a device.

use crate::error::Error;
use crate::{process, workspace_root};
use cuda_builder::{CudaBuilder, Libdevice, NvvmArch};
use std::path::{Path, PathBuf};

/// Over this, the folder is refused: it must stay easy to carry. Packed, it is a sixth of its size.
const LIMIT_MIB: u64 = 128;

/// Test executables that run on whatever device there is, as `(package, test)`.
const DEVICE_TESTS: [(&str, &str); 5] = [
    ("ferrowarp", "kernels"),
    ("ferrowarp", "faults"),
    ("cuda_std", "on_device"),
    ("cuda_std", "maths"),
    ("cuda_host", "on_device"),
];

/// The kernels of `cuda_std`'s and `cuda_host`'s tests.
const TEST_KERNELS: &str = "crates/cuda_std/tests/device";
const FORMATTING_KERNELS: &str = "crates/cuda_std/tests/device_formatting";
const SM90_KERNELS: &str = "crates/cuda_std/tests/device_sm90";
const HOST_KERNELS: &str = "crates/cuda_host/tests/device";
const MATHS_KERNELS: &str = "crates/cuda_std/tests/device_maths";

/// What runs it all, from the bundle's own folder. Kernels print on the standard output, and the tests that read it there
/// must have it alone.
const RUN_SCRIPT: &str = "\
#!/bin/sh
# Runs the demo, the matrix product at n = 4096, and the device tests on this machine's GPU.
set -eu
cd \"$(dirname \"$0\")\"
export CUDA_DRIVER_BACKEND=\"${CUDA_DRIVER_BACKEND:-gpu}\"
export CUDA_STD_TEST_PTX=\"$PWD/cuda_std.ptx\" CUDA_STD_TEST_PTX_FORMATTING=\"$PWD/cuda_std_formatting.ptx\"
export CUDA_STD_TEST_PTX_SM90=\"$PWD/cuda_std_sm90.ptx\" CUDA_STD_MATHS_PTX=\"$PWD\"
export CUDA_HOST_TEST_PTX=\"$PWD/cuda_host.ptx\"
# The driver compiles on one processor, ptxas on all.
if command -v ptxas >/dev/null; then
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
    for kernels in cuda_std cuda_std_formatting; do
        ptxas --split-compile 0 --gpu-name \"sm_$capability\" -o \"$kernels.cubin\" \"$kernels.ptx\"
    done
    export CUDA_STD_TEST_CUBIN=\"$PWD/cuda_std.cubin\" CUDA_STD_TEST_CUBIN_FORMATTING=\"$PWD/cuda_std_formatting.cubin\"
fi
./ferrowarp
./ferrowarp matmul --size 4096 --block 32
export CUDA_STD_TEST_RECORD=\"$PWD/launches\"
rm -f launches launched.txt
for test in tests/*; do \"$test\" --test-threads=1; done
# For docs/cuda-std-support.md: what ran, once all of it has passed.
{
    echo \"# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /'), $(date +%Y-%m-%d)\"
    LC_ALL=C sort -u launches
} > launched.txt
";

/// Builds and fills the folder.
///
/// # Errors
/// When a build fails, a file cannot be copied, or the folder comes out too large.
pub fn run(out: &Path) -> Result<(), Error> {
    let root = workspace_root()?;
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(|error| Error::io(out, error))?;
    }
    let tests = out.join("tests");
    std::fs::create_dir_all(&tests).map_err(|error| Error::io(&tests, error))?;

    let program = executable(&root, &["build", "--release", "--bin", "ferrowarp"], "ferrowarp")?;
    copy(&program, &out.join("ferrowarp"))?;
    for (package, test) in DEVICE_TESTS {
        let built = executable(
            &root,
            &["test", "--release", "--no-run", "--package", package, "--test", test],
            test,
        )?;
        copy(&built, &tests.join(format!("{package}-{test}")))?;
    }
    write(&out.join("kernels.ptx"), ferrowarp::KERNELS_PTX)?;
    let kernels = |folder: &str, target: &str| {
        CudaBuilder::new(root.join(folder)).target_dir(root.join("target").join(target))
    };
    build(kernels(TEST_KERNELS, "device-tests").copy_to(out.join("cuda_std.ptx")))?;
    let formatting = kernels(FORMATTING_KERNELS, "device-tests-formatting");
    build(formatting.copy_to(out.join("cuda_std_formatting.ptx")))?;
    let sm90 = kernels(SM90_KERNELS, "device-tests-sm90").arch(NvvmArch::Compute90);
    build(sm90.ptx_version(8, 0).copy_to(out.join("cuda_std_sm90.ptx")))?;
    let host = kernels(HOST_KERNELS, "device-tests-host").arch(NvvmArch::Compute90);
    build(host.copy_to(out.join("cuda_host.ptx")))?;
    let maths = || kernels(MATHS_KERNELS, "device-maths");
    build(maths().without_libdevice().copy_to(out.join("maths_fallback.ptx")))?;
    // The tests of libdevice's functions are for those who have it.
    let libdevice = Libdevice::Search.find().map_err(|error| Error::Kernels(Box::new(error)))?;
    if libdevice.is_some() {
        build(maths().copy_to(out.join("maths_libdevice.ptx")))?;
    }
    let script = out.join("run.sh");
    write(&script, RUN_SCRIPT)?;
    make_executable(&script)?;

    let bytes = size(out)?;
    let mib = bytes.div_ceil(1 << 20);
    if mib > LIMIT_MIB {
        return Err(Error::TooLarge { found: mib, limit: LIMIT_MIB });
    }
    println!("{}: {mib} MiB; run {} there", out.display(), script.display());
    Ok(())
}

/// Compiles kernels.
fn build(builder: CudaBuilder) -> Result<(), Error> {
    builder.build().map(drop).map_err(|error| Error::Kernels(Box::new(error)))
}

/// Runs a cargo command and returns the one executable that it built under `name`.
fn executable(root: &Path, arguments: &[&str], name: &str) -> Result<PathBuf, Error> {
    let messages = process::output(
        process::cargo()
            .current_dir(root)
            .args(arguments)
            // Half of a test's executable is names for debuggers.
            .args(["--config", "profile.release.strip=true"])
            .arg("--message-format=json-render-diagnostics"),
    )?;
    String::from_utf8_lossy(&messages)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact" && message["target"]["name"] == name
        })
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Error::NoExecutable { what: name.to_owned() })
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::copy(from, to).map(drop).map_err(|error| Error::io(from, error))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|error| Error::io(path, error))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|error| Error::io(path, error))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// Bytes of all files under a folder.
fn size(folder: &Path) -> Result<u64, Error> {
    let at = |error| Error::io(folder, error);
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        let metadata = entry.metadata().map_err(at)?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
