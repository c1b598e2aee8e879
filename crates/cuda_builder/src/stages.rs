//! The order of the stages that make the PTX, or the cache's word that they need not run.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::builder::CudaBuilder;
use crate::cache::{Inputs, Shelf};
use crate::compile::{self, Compiled};
use crate::dependencies::{self, NewLockFile};
use crate::error::CudaBuilderError;
use crate::site::Site;
use crate::toolchain::Toolchain;
use crate::{codegen, limits, maths, optimise, ptxas, recursion, symbols};

/// What the stages made for one architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// The optimised module, LLVM IR.
    pub(crate) module: String,
    pub(crate) ptx: String,
    /// What ptxas says of the kernels, a line for each.
    pub(crate) resources: String,
    /// What to show to whoever builds.
    pub(crate) warnings: Vec<String>,
    /// What only `cargo build -vv` shows.
    pub(crate) notes: Vec<String>,
}

impl CudaBuilder {
    /// Everything but writing the results: from the cache, or by running every stage with intermediate files in `stages`.
    pub(crate) fn make(&self, site: &Site, stages: &Path) -> Result<Made, CudaBuilderError> {
        let Site { script, package, .. } = site;
        let root = &package.workspace_root;
        let shelf = site
            .cached
            .as_ref()
            .map(|cached| (Shelf::new(&cached.folder, cached.key(self), root), &cached.manifests));
        let found = shelf.as_ref().and_then(|(shelf, manifests)| Some((shelf.find()?, manifests)));
        let made = match found {
            Some(((made, inputs), manifests)) => {
                inputs.files(root).for_each(|file| script.watch(&file));
                manifests.iter().for_each(|file| script.watch(file));
                inputs.variables().for_each(|name| script.watch_variable(name));
                script.note(&format!("{}: taken from the cache, nothing compiled", package.name));
                made
            }
            None => {
                let started = SystemTime::now();
                let (made, compiled) = self.run_stages(site, stages)?;
                if let Some((shelf, _)) = shelf
                    && let Ok(sources) = dependencies::sources(&compiled, package)
                    && let Some(inputs) = Inputs::record(
                        &sources,
                        &dependencies::variables(&compiled),
                        dependencies::asks_for_its_place(&compiled, root),
                        root,
                        started,
                    )
                    && !shelf.keep(&made, &inputs)
                {
                    script
                        .note("the cache can't be written; the PTX is not kept for other projects");
                }
                made
            }
        };
        made.warnings.iter().for_each(|warning| script.warn(warning));
        made.notes.iter().for_each(|note| script.note(note));
        Ok(made)
    }

    /// Runs every stage but the last.
    fn run_stages(&self, site: &Site, stages: &Path) -> Result<(Made, Compiled), CudaBuilderError> {
        let Site { script, toolchain, package, .. } = site;
        let libdevice = site.libdevice.as_deref();
        let lock_file = NewLockFile::expect(package);
        let compiled = self.run_cargo(site)?;
        lock_file.age(package);
        for file in dependencies::files(&compiled, package)? {
            script.watch(&file);
        }
        for name in dependencies::variables(&compiled) {
            script.watch_variable(&name);
        }
        let (mut warnings, mut notes) = (compiled.warnings.clone(), Vec::new());
        fs::create_dir_all(stages).map_err(CudaBuilderError::io("create", stages))?;
        let optimised = self.run_optimiser(toolchain, &compiled, libdevice, stages)?;
        let mut ptx = self.run_codegen(toolchain, &optimised.module, stages)?;
        let module = fs::read_to_string(&optimised.module)
            .map_err(CudaBuilderError::io("read", &optimised.module))?;
        let unknown = symbols::unknown_intrinsics(&ptx, &module);
        if !unknown.is_empty() {
            return Err(CudaBuilderError::UnresolvedSymbols { symbols: unknown });
        }
        limits::check(&ptx, &module)?;
        warnings.extend(recursion::warnings(&module));
        let resources = match &site.ptxas {
            Some(ptxas) => ptxas::assemble(ptxas, &stages.join("module.ptx"), self.arch)?,
            None => Vec::new(),
        };
        let resources: String = resources.iter().map(|kernel| format!("{kernel}\n")).collect();
        notes.extend(resources.lines().map(|line| format!("{}: {line}", self.arch)));
        if let Some(origin) = maths::origin(optimised.maths, libdevice)? {
            notes.push(format!("{}: {origin}", package.name));
            ptx.insert_str(0, &format!("// {origin}\n"));
        }
        if !ptx.contains(".entry ") {
            warnings.push(format!(
                "{} has no kernels: no public function is marked #[kernel]",
                package.name
            ));
        }
        Ok((Made { module, ptx, resources, warnings, notes }, compiled))
    }

    fn run_cargo(&self, site: &Site) -> Result<Compiled, CudaBuilderError> {
        compile::compile(&compile::Request {
            package: &site.package,
            toolchain: &site.toolchain,
            arch: self.arch,
            release: self.release,
            extra_arguments: &self.build_args,
            folder: &site.folder,
            crates: self.crates(&site.toolchain),
        })
    }

    /// Optimises, and checks that the result can be loaded.
    fn run_optimiser(
        &self,
        toolchain: &Toolchain,
        compiled: &Compiled,
        libdevice: Option<&Path>,
        folder: &Path,
    ) -> Result<optimise::Optimised, CudaBuilderError> {
        let request = optimise::Request {
            toolchain,
            arch: self.arch,
            ptx_version: self.wanted_ptx_version(),
            optimise: self.nvvm_opts,
            line_info: self.wants_lines(),
            flush_to_zero: self.ftz,
            fast_sqrt: self.fast_sqrt,
            fast_div: self.fast_div,
            libdevice,
            override_libm: self.override_libm,
            immutable_statics_to_constant: self.use_constant_memory_space,
            panic_record: self.panic_record,
            panic_messages: self.panic_messages.for_compiler(&toolchain.rustc_version),
            folder,
        };
        let optimised = optimise::optimise(&request, &compiled.bitcode)?;
        let module = &optimised.module;
        let text = fs::read_to_string(module).map_err(CudaBuilderError::io("read", module))?;
        let symbols = symbols::unresolved(&text);
        if symbols.is_empty() {
            Ok(optimised)
        } else {
            Err(CudaBuilderError::UnresolvedSymbols { symbols })
        }
    }

    /// The PTX text.
    fn run_codegen(
        &self,
        toolchain: &Toolchain,
        module: &Path,
        folder: &Path,
    ) -> Result<String, CudaBuilderError> {
        let (major, minor) = self.wanted_ptx_version();
        let path = codegen::codegen(
            &codegen::Request {
                toolchain,
                arch: self.arch,
                ptx_version: (major, minor),
                optimise: self.nvvm_opts,
                flush_to_zero: self.ftz,
                contract: self.fma_contraction,
                fast_sqrt: self.fast_sqrt,
                fast_div: self.fast_div,
                folder,
            },
            module,
        )?;
        let ptx = fs::read_to_string(&path).map_err(CudaBuilderError::io("read", &path))?;
        // LLVM ignores a version it doesn't know.
        let directive = format!(".version {major}.{minor}");
        if ptx.lines().any(|line| line.trim() == directive) {
            return Ok(ptx);
        }
        let reason = format!("LLVM {} doesn't write PTX {major}.{minor}", toolchain.llvm_version);
        Err(CudaBuilderError::UnsupportedOption { option: "ptx_version", reason })
    }
}
