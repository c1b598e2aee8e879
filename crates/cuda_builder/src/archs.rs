//! One build for several architectures: a PTX file for each, and an index that a program includes.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::builder::CudaBuilder;
use crate::error::CudaBuilderError;
use crate::output;
use crate::results::write_file;

/// What [`CudaBuilder::build_archs`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxFiles {
    /// The PTX of each architecture, oldest first.
    pub ptx: Vec<(NvvmArch, PathBuf)>,
    /// The index of them, a Rust expression of type `&[(&str, &str)]`: the architectures' names and the PTX text.
    pub index: PathBuf,
}

impl CudaBuilder {
    /// Compiles the crate once for each of `archs` and writes `<crate name>.<architecture>.ptx` for each, with an index
    /// `<crate name>.rs` beside them: in a build script in `OUT_DIR`.
    ///
    /// The program includes the index, and `cuda_host` loads what fits its device best:
    ///
    /// ```text
    /// let kernels = PtxSet::new(include!(concat!(env!("OUT_DIR"), "/kernels.rs")));
    /// gpu.load_best(&kernels)?;
    /// ```
    ///
    /// A plain old architecture among them lets the program run on every newer GPU; the `a` and `f` variants run on theirs alone.
    ///
    /// Names given to [`copy_to`](Self::copy_to) and [`final_module_path`](Self::final_module_path) get the architecture before
    /// their extension, `out/kernels.ptx` becoming `out/kernels.sm_90a.ptx`; the copied index is `out/kernels.rs`.
    /// [`arch`](Self::arch) counts for nothing here.
    ///
    /// `core` and the dependencies are compiled once. The kernel crate itself is compiled for each architecture, because it may
    /// ask for it with `cfg(target_feature = "sm_90")`.
    ///
    /// ```no_run
    /// use cuda_builder::{CudaBuilder, NvvmArch::*};
    ///
    /// let files = CudaBuilder::new("kernels").build_archs([Compute75, Compute80, Compute90a])?;
    /// assert_eq!(files.ptx.len(), 3);
    /// # Ok::<(), cuda_builder::CudaBuilderError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and if `archs` is empty. Nothing is written before all of them are compiled.
    pub fn build_archs(
        self,
        archs: impl IntoIterator<Item = NvvmArch>,
    ) -> Result<PtxFiles, CudaBuilderError> {
        // In order and each once.
        let archs: BTreeSet<NvvmArch> = archs.into_iter().collect();
        if archs.is_empty() {
            return Err(CudaBuilderError::UnsupportedOption {
                option: "build_archs",
                reason: "it names no architecture; name at least one, such as NvvmArch::Compute75"
                    .to_owned(),
            });
        }
        let builders: Vec<Self> = archs.iter().map(|&arch| self.for_one_of_several(arch)).collect();
        builders.iter().try_for_each(Self::check_options)?;
        let site = self.prepare()?;
        let library = &site.package.library;
        let stages = |builder: &Self| site.folder.join(library).join(builder.arch.target_cpu());
        let made = builders
            .iter()
            .map(|builder| builder.make(&site, &stages(builder)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut ptx = Vec::new();
        for (builder, made) in builders.iter().zip(&made) {
            let name = format!("{library}.{}.ptx", builder.arch);
            ptx.push((builder.arch, builder.write_results(&site, &stages(builder), made, &name)?));
        }
        // Last, so that an index never names a file that is not there.
        let index = site.results().join(format!("{library}.rs"));
        write_file(&index, index_of(&archs, format!("{library}.ptx").as_ref()).as_bytes())?;
        if let Some(copy) = &self.ptx_file_copy_path {
            let path = copy.with_extension("rs");
            let name = copy.file_name().unwrap_or_default();
            output::write(&path, index_of(&archs, name.as_ref()).as_bytes())
                .map_err(|source| CudaBuilderError::FailedToCopyPtxFile { path, source })?;
        }
        Ok(PtxFiles { ptx, index })
    }

    /// This builder for one architecture, with outputs of its own.
    fn for_one_of_several(&self, arch: NvvmArch) -> Self {
        let mut builder = self.clone().arch(arch);
        for path in [&mut builder.ptx_file_copy_path, &mut builder.final_module_path] {
            *path = path.take().map(|path| with_arch(&path, arch));
        }
        builder
    }
}

/// `out/kernels.sm_75.ptx` for `out/kernels.ptx`.
fn with_arch(path: &Path, arch: NvvmArch) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(format!(".{arch}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The index of the files called `name` but for the architecture: `include_str!` looks for them where the index itself is.
fn index_of(archs: &BTreeSet<NvvmArch>, name: &Path) -> String {
    let mut text = String::from("&[\n");
    for arch in archs {
        let file = with_arch(name, *arch);
        let (arch, file) = (arch.target_cpu(), file.to_string_lossy());
        text.push_str(&format!("    ({arch:?}, include_str!({file:?})),\n"));
    }
    text.push_str("]\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_goes_before_the_extension() {
        for (path, expected) in [
            ("out/kernels.ptx", "out/kernels.sm_90a.ptx"),
            ("my.kernels.ptx", "my.kernels.sm_90a.ptx"),
            ("out/kernels", "out/kernels.sm_90a"),
        ] {
            assert_eq!(with_arch(path.as_ref(), NvvmArch::Compute90a), Path::new(expected));
        }
    }

    #[test]
    fn the_index_names_every_file() {
        let archs = BTreeSet::from([NvvmArch::Compute90a, NvvmArch::Compute75]);
        assert_eq!(
            index_of(&archs, "my.kernels.ptx".as_ref()),
            "&[\n    (\"sm_75\", include_str!(\"my.kernels.sm_75.ptx\")),\n    (\"sm_90a\", include_str!(\"my.kernels.sm_90a.ptx\")),\n]\n"
        );
    }

    #[test]
    fn no_architecture_is_an_error() {
        let error = CudaBuilder::new("kernels").build_archs([]).expect_err("none is named");
        assert!(error.to_string().contains("names no architecture"), "{error}");
    }
}
