//! NVIDIA's libdevice: where to find it, and what it is called by.
//!
//! `libdevice.10.bc` is LLVM bitcode with the mathematical functions of CUDA, one file for all architectures. A CUDA toolkit has it,
//! and so have the PyPI packages `nvidia-cuda-nvcc` and `nvidia-nvvm`, which need no toolkit. It is not ours to ship.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CudaBuilderError;

/// The environment variable that names libdevice's file, or says `none`.
pub(crate) const VARIABLE: &str = "CUDA_BUILDER_LIBDEVICE";

/// The variables that say where toolkits and Python environments are.
const TOOLKIT_VARIABLES: [&str; 3] = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"];
const ENVIRONMENT_VARIABLES: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// The file's name, in every release since CUDA 9.
const FILE: &str = "libdevice.10.bc";

/// Which mathematical functions kernels get.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Libdevice {
    /// libdevice's where it is found: the file or folder that the environment variable `CUDA_BUILDER_LIBDEVICE` names (`none` for
    /// [`Never`](Self::Never)); the toolkit that `CUDA_PATH`, `CUDA_HOME` or `CUDA_ROOT` names; the PyPI packages
    /// `nvidia-cuda-nvcc` and `nvidia-nvvm` in the active Python environment (`VIRTUAL_ENV`, `CONDA_PREFIX`); the usual places of
    /// toolkits, such as `/usr/local/cuda`.
    #[default]
    Search,
    /// libdevice's, from this file.
    File(PathBuf),
    /// The `libm` crate's, and `cuda_std`'s own.
    Never,
}

impl Libdevice {
    /// The file that a build on this machine would link; `None` if there is none to link.
    ///
    /// ```
    /// match cuda_builder::Libdevice::Search.find() {
    ///     Ok(Some(file)) => println!("libdevice: {}", file.display()),
    ///     Ok(None) => println!("the libm crate's functions"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If a file is named, here or by `CUDA_BUILDER_LIBDEVICE`, that isn't there or isn't LLVM bitcode.
    pub fn find(&self) -> Result<Option<PathBuf>, CudaBuilderError> {
        match self {
            Self::Never => Ok(None),
            Self::File(path) => named(path, "the builder option `libdevice`").map(Some),
            Self::Search => match env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
                Some(value) if value == "none" => Ok(None),
                Some(value) => named(Path::new(&value), VARIABLE).map(Some),
                None => Ok(candidates().into_iter().find(|path| path.is_file())),
            },
        }
    }

    /// The environment variables that [`find`](Self::find) reads.
    pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
        [VARIABLE].into_iter().chain(TOOLKIT_VARIABLES).chain(ENVIRONMENT_VARIABLES)
    }
}

/// The file that `path` names: itself, or the one in a folder of that name or in the toolkit there.
fn named(path: &Path, by: &'static str) -> Result<PathBuf, CudaBuilderError> {
    let refuse = |reason: String| CudaBuilderError::Libdevice { path: path.to_owned(), by, reason };
    let file = [path.to_owned(), path.join(FILE), in_toolkit(path)]
        .into_iter()
        .find(|file| file.is_file())
        .ok_or_else(|| refuse("there is no such file".to_owned()))?;
    let content = fs::read(&file).map_err(|error| refuse(error.to_string()))?;
    // LLVM Bitcode File Format, "Magic Numbers".
    if content.starts_with(b"BC\xC0\xDE") {
        Ok(file)
    } else {
        Err(refuse("it isn't LLVM bitcode".to_owned()))
    }
}

fn in_toolkit(toolkit: &Path) -> PathBuf {
    toolkit.join("nvvm/libdevice").join(FILE)
}

/// Every place to look, the first that has the file counts.
fn candidates() -> Vec<PathBuf> {
    let folders = |names: &'static [&str]| {
        names.iter().filter_map(env::var_os).map(PathBuf::from).collect::<Vec<_>>()
    };
    let mut files: Vec<PathBuf> =
        folders(&TOOLKIT_VARIABLES).iter().map(|toolkit| in_toolkit(toolkit)).collect();
    for environment in folders(&ENVIRONMENT_VARIABLES) {
        // conda's package puts it where a toolkit has it.
        files.push(in_toolkit(&environment));
        files.extend(in_python(&environment));
    }
    files.extend(["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"].map(Path::new).map(in_toolkit));
    files.push(Path::new("/usr/lib/nvidia-cuda-toolkit/libdevice").join(FILE));
    files
}

/// The files in a Python environment's `site-packages/nvidia`, the newest package's name first: `cu13`, `cuda_nvcc`, ….
fn in_python(environment: &Path) -> Vec<PathBuf> {
    let libraries = ["lib", "lib64"].map(|name| environment.join(name));
    let mut packages: Vec<PathBuf> = libraries
        .iter()
        .flat_map(|library| entries(library))
        // `lib/python3.13/site-packages`; on Windows `Lib/site-packages`.
        .chain(libraries.iter().cloned())
        .flat_map(|folder| entries(&folder.join("site-packages/nvidia")))
        .collect();
    packages.sort();
    packages.iter().map(|package| in_toolkit(package)).collect()
}

/// What is in a folder; nothing if there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_must_be_bitcode() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = in_toolkit(folder.path());
        fs::create_dir_all(file.parent().expect("it has one")).expect("creatable");
        let find = |path: &Path| Libdevice::File(path.to_owned()).find();
        assert!(find(folder.path()).expect_err("there is none").to_string().contains("no such"));
        fs::write(&file, "text").expect("writable");
        assert!(find(&file).expect_err("it is none").to_string().contains("bitcode"));
        fs::write(&file, b"BC\xC0\xDE....").expect("writable");
        assert_eq!(find(&file).expect("it is one"), Some(file.clone()));
        // The toolkit's folder will do, and the file's own.
        assert_eq!(find(folder.path()).expect("it is there"), Some(file.clone()));
        assert_eq!(find(file.parent().expect("it has one")).expect("there"), Some(file));
        assert_eq!(Libdevice::Never.find().expect("nothing can be wrong"), None);
    }

    #[test]
    fn pypi_packages_are_found_in_an_environment() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let package = folder.path().join("lib/python3.13/site-packages/nvidia/cu13");
        let file = in_toolkit(&package);
        fs::create_dir_all(file.parent().expect("it has one")).expect("creatable");
        assert_eq!(in_python(folder.path()), [file]);
        assert!(in_python(Path::new("/nowhere")).is_empty());
    }
}
