//! `cargo xtask ptxas`: NVIDIA's assembler must accept the PTX that the program ships, for every
//! generation of GPU it is meant for. No GPU is needed to assemble.

use crate::error::Error;
use crate::{process, workspace_root};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Turing, Ampere, Hopper, and both Blackwell families.
const ARCHITECTURES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// Assembles the shipped PTX for each architecture.
///
/// # Errors
/// When there is no ptxas and none can be installed, or when it refuses the PTX.
pub fn run() -> Result<(), Error> {
    let root = workspace_root()?;
    let ptxas = find_or_install(&root)?;
    println!("using {}", ptxas.display());
    let folder = root.join("target/ptxas");
    std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map(|()| path.clone()).map_err(|error| Error::io(&path, error))
    };

    // A gate that cannot say no proves nothing: first show that it can.
    let broken = write("broken.ptx", &ferrowarp::KERNELS_PTX.replacen("ret;", "retire;", 1))?;
    let refused = assemble(&ptxas, "sm_90", &broken, &folder)
        .stderr(Stdio::null())
        .status()
        .map_err(|error| Error::io(&ptxas, error))?;
    if refused.success() {
        return Err(Error::PtxasAcceptsAnything);
    }

    let shipped = write("kernels.ptx", ferrowarp::KERNELS_PTX)?;
    for architecture in ARCHITECTURES {
        process::run(&mut assemble(&ptxas, architecture, &shipped, &folder))?;
        println!("{architecture}: accepted");
    }
    Ok(())
}

fn assemble(ptxas: &Path, architecture: &str, ptx: &Path, folder: &Path) -> Command {
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={architecture}"));
    command.arg(ptx).arg("-o").arg(folder.join(format!("{architecture}.cubin")));
    command
}

/// The ptxas that the program itself would use, else a copy under target/ from PyPI, which is installed when missing.
fn find_or_install(root: &Path) -> Result<PathBuf, Error> {
    if let Some(path) = ferrowarp::toolkit::find("ptxas") {
        return Ok(path);
    }
    let folder = root.join("target/cuda-tools");
    let installed = folder.join("nvidia/cu13/bin/ptxas");
    if !installed.is_file() {
        println!("installing ptxas from PyPI into {}", folder.display());
        process::run(
            Command::new("python3")
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-deps",
                    "--disable-pip-version-check",
                ])
                .arg("--target")
                .arg(&folder)
                .arg("nvidia-cuda-nvcc>=13,<14"),
        )?;
    }
    if installed.is_file() { Ok(installed) } else { Err(Error::NoPtxas { folder }) }
}
