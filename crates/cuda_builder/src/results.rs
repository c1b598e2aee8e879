//! Writing the results.

use std::fs;
use std::path::{Path, PathBuf};

use crate::builder::{CudaBuilder, EmitOption};
use crate::error::CudaBuilderError;
use crate::llvm::{self, Argument, flag};
use crate::output;
use crate::site::Site;
use crate::stages::Made;

impl CudaBuilder {
    /// Writes the results; the PTX last, so that it is new only if everything went well.
    pub(crate) fn write_results(
        &self,
        site: &Site,
        stages: &Path,
        Made { module, ptx, resources, .. }: &Made,
        name: &str,
    ) -> Result<PathBuf, CudaBuilderError> {
        let path = site.results().join(name);
        match self.emit {
            Some(EmitOption::LlvmIr) => write_file(&path.with_extension("ll"), module.as_bytes())?,
            Some(EmitOption::Bitcode) => {
                fs::create_dir_all(stages).map_err(CudaBuilderError::io("create", stages))?;
                let [text, bitcode] = ["written.ll", "written.bc"].map(|name| stages.join(name));
                fs::write(&text, module).map_err(CudaBuilderError::io("write", &text))?;
                llvm::run(
                    &site.toolchain,
                    "opt",
                    [flag("-passes=verify"), Argument::Path(&text), Argument::Output(&bitcode)],
                )?;
                let content = fs::read(&bitcode).map_err(CudaBuilderError::io("read", &bitcode))?;
                write_file(&path.with_extension("bc"), &content)?;
            }
            None => {}
        }
        if let Some(path) = &self.final_module_path {
            write_file(path, module.as_bytes())?;
        }
        if site.ptxas.is_some() {
            write_file(&path.with_extension("ptxas"), resources.as_bytes())?;
        }
        write_file(&path, ptx.as_bytes())?;
        if let Some(copy) = self.ptx_file_copy_path.as_ref().filter(|copy| **copy != path) {
            output::write(copy, ptx.as_bytes()).map_err(|source| {
                CudaBuilderError::FailedToCopyPtxFile { path: copy.clone(), source }
            })?;
        }
        Ok(path)
    }
}

pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), CudaBuilderError> {
    output::write(path, content).map_err(CudaBuilderError::io("write", path))
}
