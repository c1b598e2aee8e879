//! What a run needs: a Python environment with numba-cuda, and a folder with our `libcuda.so.1`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process::{self, cargo};

/// What is tested and what tests it, as pip takes it. The versions are those that the reasons table is for.
pub const PACKAGES: [&str; 3] = ["numba 0.68.1", "numba-cuda 0.30.4", "numpy < 2.4"];
const REQUIREMENTS: [&str; 8] = [
    "numba==0.68.1",
    "numba-cuda[cu12]==0.30.4",
    "numpy<2.4",
    "pytest>=8,<9",
    "pytest-benchmark",
    // What the tests import without saying so.
    "filecheck",
    "cffi",
    "ml_dtypes",
];
/// With it Numba makes machine code, which the emulator cannot run; without it, PTX.
const UNWANTED: &str = "nvidia-nvjitlink-cu12";

/// A prepared environment.
pub struct Environment {
    /// The environment's Python.
    pub python: PathBuf,
    /// The folder with the driver library.
    pub library: PathBuf,
}

/// Makes what is missing under `target/numba-suite`.
///
/// # Errors
/// When Python, pip or cargo fails, or a file cannot be written.
pub fn prepare(root: &Path) -> Result<Environment, Error> {
    let folder = root.join("target/numba-suite");
    std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
    let python = python(&folder.join("venv"))?;
    let library = folder.join("cuda");
    build_library(root, &library)?;
    Ok(Environment { python, library })
}

/// The Python of an environment that has what the tests need.
fn python(folder: &Path) -> Result<PathBuf, Error> {
    let python = folder.join("bin/python");
    let marker = folder.join("requirements.txt");
    let wanted = REQUIREMENTS.join("\n") + "\n";
    if std::fs::read_to_string(&marker).is_ok_and(|found| found == wanted) && python.exists() {
        return Ok(python);
    }
    println!("making {}", folder.display());
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = || {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]);
        command
    };
    process::run(pip().arg("install").args(REQUIREMENTS))?;
    process::run(pip().args(["uninstall", "--yes", UNWANTED]))?;
    std::fs::write(&marker, wanted).map_err(|error| Error::io(&marker, error))?;
    Ok(python)
}

/// Builds the driver library and lays it out as a loader looks for it.
fn build_library(root: &Path, folder: &Path) -> Result<(), Error> {
    let messages = process::output(cargo().current_dir(root).args([
        "build",
        "--release",
        "--package",
        "cuda_driver_artifact",
        "--message-format",
        "json-render-diagnostics",
    ]))?;
    let built = built_library(&String::from_utf8_lossy(&messages))
        .ok_or_else(|| Error::NoExecutable { what: "cuda_driver_artifact".to_owned() })?;
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    // Numba opens the second name where it does not go through NVIDIA's bindings.
    for name in ["libcuda.so.1", "libcuda.so"] {
        let target = folder.join(name);
        std::fs::copy(&built, &target).map_err(|error| Error::io(&target, error))?;
    }
    Ok(())
}

/// The shared library among cargo's build messages.
fn built_library(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact" && message["target"]["name"] == "cuda"
        })
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|name| name.as_str().map(PathBuf::from))
        .find(|path| path.extension().is_some_and(|extension| extension == "so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_among_cargos_messages() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"name":"ptx"},"filenames":["/t/libptx.rlib"]}
{"reason":"compiler-artifact","target":{"name":"cuda"},"filenames":["/t/release/libcuda.so"]}
{"reason":"build-finished","success":true}
not json
"#;
        assert_eq!(built_library(messages), Some(PathBuf::from("/t/release/libcuda.so")));
        assert_eq!(built_library("{}"), None);
    }
}
