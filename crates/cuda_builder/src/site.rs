//! Where a build runs and with what: the tools, the kernel crate and the build folder.

use std::path::{Path, PathBuf};

use crate::build_script::BuildScript;
use crate::builder::CudaBuilder;
use crate::cache::{Crates, Key, KeyParts};
use crate::compile::{Graph, Package};
use crate::dependencies::NewLockFile;
use crate::error::CudaBuilderError;
use crate::libdevice::Libdevice;
use crate::output::Lock;
use crate::toolchain::{self, LLVM_BIN_VARIABLE, RUSTC_VARIABLE, Toolchain};
use crate::{cuda_tools, ptxas};

/// Where a build runs, and with what.
pub(crate) struct Site {
    pub(crate) script: BuildScript,
    pub(crate) toolchain: Toolchain,
    pub(crate) libdevice: Option<PathBuf>,
    pub(crate) ptxas: Option<PathBuf>,
    pub(crate) package: Package,
    /// The nested build's files.
    pub(crate) folder: PathBuf,
    /// Where finished PTX is kept, if it is for this crate.
    pub(crate) cached: Option<Cached>,
    _lock: Lock,
}

impl Site {
    /// The folder for the results.
    pub(crate) fn results(&self) -> &Path {
        self.script.out_dir().unwrap_or(&self.folder)
    }
}

/// Where the cache is, and what of its key is the same for all architectures.
pub(crate) struct Cached {
    pub(crate) folder: PathBuf,
    parts: KeyParts,
    /// The manifests and the lock file.
    pub(crate) manifests: Vec<PathBuf>,
}

impl Cached {
    /// The key of one builder's results.
    pub(crate) fn key(&self, builder: &CudaBuilder) -> Key {
        let mut parts = self.parts.clone();
        builder.add_to(&mut parts);
        parts.finish()
    }
}

impl CudaBuilder {
    /// Finds the tools and the crate, and takes the build folder.
    pub(crate) fn prepare(&self) -> Result<Site, CudaBuilderError> {
        let script = BuildScript::detect();
        script.watch_variable(RUSTC_VARIABLE);
        script.watch_variable(LLVM_BIN_VARIABLE);
        Libdevice::variables().for_each(|name| script.watch_variable(name));
        if !self.path_to_crate.is_dir() {
            return Err(CudaBuilderError::CratePathDoesntExist {
                path: self.path_to_crate.clone(),
            });
        }
        let toolchain = match &self.toolchain {
            Some(toolchain) => toolchain.clone(),
            None => Toolchain::discover()?,
        };
        // Updated compilers write other PTX.
        script.watch(&toolchain.rustc);
        script.watch(&toolchain.llvm_tool("llc"));
        let libdevice = self.libdevice.find()?;
        libdevice.iter().for_each(|file| script.watch(file));
        if self.ptxas {
            ["PTXAS"]
                .iter()
                .chain(&cuda_tools::VARIABLES)
                .for_each(|name| script.watch_variable(name));
        }
        let ptxas = self.ptxas.then(ptxas::find).transpose()?;
        ptxas.iter().for_each(|file| script.watch(file));

        let package = Package::read(&self.path_to_crate, &toolchain)?;
        let folder = self.build_folder(&script, &package)?;
        let lock = Lock::folder(&folder)?;
        let mut site = Site {
            script,
            toolchain,
            libdevice,
            ptxas,
            package,
            folder,
            cached: None,
            _lock: lock,
        };
        site.cached = self.cached(&site);
        Ok(site)
    }

    /// Where the nested build keeps its files.
    fn build_folder(
        &self,
        script: &BuildScript,
        package: &Package,
    ) -> Result<PathBuf, CudaBuilderError> {
        let folder = match (&self.target_dir, script.out_dir()) {
            (Some(folder), _) => folder.clone(),
            // Debug and release builds of the program have different `OUT_DIR`s, but want the same PTX.
            (None, Some(out_dir)) => target_root(out_dir)
                .unwrap_or(out_dir)
                .join("cuda_builder")
                .join(package.workspace_id()),
            (None, None) => {
                package.target_directory.join("cuda_builder").join(package.workspace_id())
            }
        };
        std::path::absolute(&folder).map_err(CudaBuilderError::io("find", &folder))
    }

    /// Where compiled dependencies are kept, if they are.
    pub(crate) fn crates(&self, toolchain: &Toolchain) -> Option<Crates> {
        let folder = std::path::absolute(self.cache.folder()?).ok()?;
        let mut parts = compiler(toolchain)?;
        parts.add_program(&toolchain.cargo);
        parts.add("release", &self.release.to_string());
        Some(Crates::new(&folder, parts.finish()))
    }

    /// Where to keep the results; `None`, with the reason told, if they can't be.
    fn cached(&self, site: &Site) -> Option<Cached> {
        let folder = self.cache.folder()?;
        let Site { toolchain, package, libdevice, ptxas, script, .. } = site;
        // Cargo writes a lock file for this, where there is none.
        let lock_file = NewLockFile::expect(package);
        let graph = Graph::read(package, toolchain, &self.build_args);
        lock_file.age(package);
        let graph = graph
            .inspect_err(|reason| {
                script.note(&format!("the PTX is not kept for other projects: {reason}"))
            })
            .ok()?;
        let mut parts = compiler(toolchain)?;
        parts.add_builder();
        parts.add("package", &package.name);
        parts.add("graph", &graph.text);
        parts.add("llvm", &toolchain.llvm_version);
        for tool in ["opt", "llc", "llvm-dis", "llvm-link"] {
            parts.add_program(&toolchain.llvm_tool(tool));
        }
        match libdevice {
            // The PTX says its name and its content.
            Some(file) => parts.add_file(&format!("libdevice {:?}", file.file_name()), file),
            None => parts.add("libdevice", "none"),
        }
        ptxas.iter().for_each(|ptxas| parts.add_program(ptxas));
        Some(Cached { folder: std::path::absolute(folder).ok()?, parts, manifests: graph.files })
    }
}

/// What of the key says how rustc and cargo compile.
fn compiler(toolchain: &Toolchain) -> Option<KeyParts> {
    let mut parts = KeyParts::new();
    parts.add("compiler", &toolchain::verbose_version(&toolchain.rustc)?);
    parts.add_program(&toolchain.rustc);
    // Both are in the paths that the PTX names.
    parts.add("library", &toolchain.rust_src.to_string_lossy());
    parts.add("cargo home", &format!("{:?}", std::env::var_os("CARGO_HOME")));
    Some(parts)
}

/// The target folder that `out_dir` is in: cargo marks it (<https://bford.info/cachedir>).
fn target_root(out_dir: &Path) -> Option<&Path> {
    out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())
}
