//! The builder: options, and the order of the stages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::build_script::BuildScript;
use crate::compile::{self, Compiled, Package};
use crate::dependencies::{self, NewLockFile};
use crate::error::CudaBuilderError;
use crate::libdevice::Libdevice;
use crate::llvm::{self, Argument, flag};
use crate::output::{self, Lock};
use crate::toolchain::{LLVM_BIN_VARIABLE, RUSTC_VARIABLE, Toolchain};
use crate::{codegen, limits, maths, optimise, ptxas, symbols};

/// What the PTX says about Rust's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// `.loc` lines with the chain of inlined calls: the emulator names Rust lines in its reports, and profilers show them. The
    /// machine code is the same as without.
    #[default]
    LineTables,
}

/// A form of LLVM's intermediate representation to write beside the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitOption {
    /// Text, with the extension `ll`.
    LlvmIr,
    /// Bitcode, with the extension `bc`.
    Bitcode,
}

/// Compiles a kernel crate to PTX.
///
/// The crate is an ordinary library without `std`; it needs neither a crate type nor features nor a target in its manifest, so
/// the host program can depend on it as well. The names are those of rust-cuda's builder.
///
/// ```no_run
/// // build.rs
/// use std::{env, path::Path};
/// use cuda_builder::CudaBuilder;
///
/// fn main() -> Result<(), cuda_builder::CudaBuilderError> {
///     let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
///     CudaBuilder::new("kernels").copy_to(Path::new(&out).join("kernels.ptx")).build()?;
///     Ok(())
/// }
/// ```
///
/// and in the program `include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))`.
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `build`"]
pub struct CudaBuilder {
    path_to_crate: PathBuf,
    ptx_version: Option<(u32, u32)>,
    target_dir: Option<PathBuf>,
    toolchain: Option<Toolchain>,
    ptxas: bool,
    /// See [`CudaBuilder::copy_to`].
    pub ptx_file_copy_path: Option<PathBuf>,
    /// See [`CudaBuilder::build_args`].
    pub build_args: Vec<String>,
    /// See [`CudaBuilder::debug`].
    pub debug: DebugInfo,
    /// See [`CudaBuilder::release`].
    pub release: bool,
    /// See [`CudaBuilder::generate_line_info`].
    pub generate_line_info: bool,
    /// See [`CudaBuilder::nvvm_opts`].
    pub nvvm_opts: bool,
    /// See [`CudaBuilder::arch`].
    pub arch: NvvmArch,
    /// See [`CudaBuilder::ftz`].
    pub ftz: bool,
    /// See [`CudaBuilder::fast_sqrt`].
    pub fast_sqrt: bool,
    /// See [`CudaBuilder::fast_div`].
    pub fast_div: bool,
    /// See [`CudaBuilder::fma_contraction`].
    pub fma_contraction: bool,
    /// See [`CudaBuilder::emit_llvm_ir`] and [`CudaBuilder::emit_llvm_bitcode`].
    pub emit: Option<EmitOption>,
    /// See [`CudaBuilder::optix`].
    pub optix: bool,
    /// See [`CudaBuilder::libdevice`] and [`CudaBuilder::without_libdevice`].
    pub libdevice: Libdevice,
    /// See [`CudaBuilder::override_libm`].
    pub override_libm: bool,
    /// See [`CudaBuilder::use_constant_memory_space`].
    pub use_constant_memory_space: bool,
    /// See [`CudaBuilder::final_module_path`].
    pub final_module_path: Option<PathBuf>,
}

impl CudaBuilder {
    /// A builder for the crate in the folder `path_to_crate`, with the default options. A relative path starts at the current
    /// folder, which for a build script is that of its own `Cargo.toml`.
    pub fn new(path_to_crate: impl AsRef<Path>) -> Self {
        Self {
            path_to_crate: path_to_crate.as_ref().to_owned(),
            ptx_version: None,
            target_dir: None,
            toolchain: None,
            ptxas: false,
            ptx_file_copy_path: None,
            build_args: Vec::new(),
            debug: DebugInfo::LineTables,
            release: true,
            generate_line_info: false,
            nvvm_opts: true,
            arch: NvvmArch::default(),
            ftz: false,
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: true,
            emit: None,
            optix: false,
            libdevice: Libdevice::Search,
            override_libm: true,
            use_constant_memory_space: false,
            final_module_path: None,
        }
    }

    /// Where to put the PTX besides the path that [`build`](Self::build) returns; folders are created.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.ptx_file_copy_path = Some(path.as_ref().to_owned());
        self
    }

    /// More arguments for the nested `cargo rustc`, such as `&["--features", "fast"]`.
    pub fn build_args(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Whether the PTX carries Rust's line numbers. They cost no speed, so the default is [`DebugInfo::LineTables`].
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// `false` compiles overflow checks and debug assertions into the kernels. The default is `true`.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// `true` asks for line numbers whatever [`debug`](Self::debug) says; `false`, the default, leaves the choice to it.
    pub fn generate_line_info(mut self, generate_line_info: bool) -> Self {
        self.generate_line_info = generate_line_info;
        self
    }

    /// `false` leaves LLVM's optimiser out, for reading PTX that follows the source. The default is `true`.
    pub fn nvvm_opts(mut self, nvvm_opts: bool) -> Self {
        self.nvvm_opts = nvvm_opts;
        self
    }

    /// The GPU architecture to compile for. The default, [`NvvmArch::Compute75`], runs on that GPU and on all newer ones.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// The PTX ISA version to write, as (major, minor), such as `(8, 3)`. The default is
    /// [`NvvmArch::default_ptx_version`]; inline PTX with newer instructions needs more. A driver refuses versions newer than its
    /// own CUDA: driver 525 reads up to 8.0, 550 up to 8.4, 580 up to 9.0.
    pub fn ptx_version(mut self, major: u32, minor: u32) -> Self {
        self.ptx_version = Some((major, minor));
        self
    }

    /// Whether f32 instructions take and give zero for subnormal numbers, which is faster. The default is `false`.
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.ftz = ftz;
        self
    }

    /// Whether f32 square roots are approximate (`sqrt.approx`) instead of correctly rounded. The default is `false`.
    pub fn fast_sqrt(mut self, fast_sqrt: bool) -> Self {
        self.fast_sqrt = fast_sqrt;
        self
    }

    /// Whether f32 divisions may be off by 2 units in the last place (`div.full`) instead of correctly rounded. The default is
    /// `false`.
    pub fn fast_div(mut self, fast_div: bool) -> Self {
        self.fast_div = fast_div;
        self
    }

    /// Whether `a * b + c` becomes one fused multiply-add, rounded once instead of twice: faster and more accurate, but not the
    /// bits the CPU gives. The default is `true`, as for nvcc and Numba.
    pub fn fma_contraction(mut self, fma_contraction: bool) -> Self {
        self.fma_contraction = fma_contraction;
        self
    }

    /// Writes the optimised module as LLVM IR text beside the PTX, with the extension `ll`. Excludes
    /// [`emit_llvm_bitcode`](Self::emit_llvm_bitcode): the later call counts.
    pub fn emit_llvm_ir(mut self, emit_llvm_ir: bool) -> Self {
        self.emit = emit_llvm_ir.then_some(EmitOption::LlvmIr);
        self
    }

    /// Writes the optimised module as LLVM bitcode beside the PTX, with the extension `bc`. Excludes
    /// [`emit_llvm_ir`](Self::emit_llvm_ir): the later call counts.
    pub fn emit_llvm_bitcode(mut self, emit_llvm_bitcode: bool) -> Self {
        self.emit = emit_llvm_bitcode.then_some(EmitOption::Bitcode);
        self
    }

    /// Writes the optimised module as LLVM IR text to `path`, for debugging.
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.final_module_path = Some(path.as_ref().to_owned());
        self
    }

    /// Moves immutable statics and literals into constant memory, which is fast when all threads of a warp read the same element
    /// and slow when they don't. It holds 64 KiB: ptxas refuses more. The default is `false`; a static that
    /// `#[address_space(constant)]` marks goes there in any case.
    pub fn use_constant_memory_space(mut self, use_constant_memory_space: bool) -> Self {
        self.use_constant_memory_space = use_constant_memory_space;
        self
    }

    /// The file `libdevice.10.bc` to take mathematical functions from, or a folder or CUDA toolkit that has it. The default is
    /// [`Libdevice::Search`]: libdevice where it is found, else the `libm` crate's functions and `cuda_std`'s own.
    ///
    /// What a build took shows in the first line of the PTX, if any kernel calls such a function.
    pub fn libdevice(mut self, path: impl AsRef<Path>) -> Self {
        self.libdevice = Libdevice::File(path.as_ref().to_owned());
        self
    }

    /// Takes no functions from libdevice, wherever it may be: the PTX is then the same on every machine.
    pub fn without_libdevice(mut self) -> Self {
        self.libdevice = Libdevice::Never;
        self
    }

    /// Whether the `libm` crate's functions, which `nalgebra` and `glam` call, become libdevice's too where that is linked.
    /// `cuda_std`'s are libdevice's in any case then. The default is `true`, as for rust-cuda.
    ///
    /// Those that the GPU has an instruction for (`sqrt`, `fma`, `floor`, …) become that instruction whatever this says.
    pub fn override_libm(mut self, override_libm: bool) -> Self {
        self.override_libm = override_libm;
        self
    }

    /// rust-cuda prepares the module for OptiX's ray-tracing pipeline. This builder doesn't, so `true` is an error when building;
    /// `false` is the default.
    pub fn optix(mut self, optix: bool) -> Self {
        self.optix = optix;
        self
    }

    /// The folder for the nested build's files. The default is `cuda_builder` in the target folder of the build script, or
    /// outside a build script in that of the kernel crate. Builds that share one compile `core` only once, and wait for one
    /// another. Only crates of one workspace may share: cargo can't tell crates of the same name in two workspaces apart.
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
        self
    }

    /// The toolchain to use instead of [`Toolchain::discover`]'s.
    pub fn toolchain(mut self, toolchain: Toolchain) -> Self {
        self.toolchain = Some(toolchain);
        self
    }

    /// `true` has NVIDIA's ptxas assemble the PTX for the architecture, which fails the build where the driver would refuse it later.
    /// What each kernel needs (registers, spills, shared memory) is then in a file beside the PTX, with the extension `ptxas`, and
    /// in what `cargo build -vv` shows. The default is `false`: nothing else needs ptxas.
    ///
    /// ptxas is the one that the variable PTXAS names, else the first of PATH, `$CUDA_PATH/bin`, `$CUDA_HOME/bin` and
    /// `/usr/local/cuda/bin`; without one, the build fails.
    pub fn ptxas(mut self, ptxas: bool) -> Self {
        self.ptxas = ptxas;
        self
    }

    /// Compiles the crate and returns the path of the PTX: in a build script `OUT_DIR/<crate name>.ptx`.
    ///
    /// In a build script, this also tells cargo which files the PTX depends on. If it fails, PTX of an earlier build is left as it
    /// was.
    ///
    /// # Errors
    ///
    /// If there is no complete toolchain, the path holds no library crate, the crate doesn't compile, a marked static can't be
    /// placed or doesn't fit, a function is undefined, an option can't be used, or a file can't be written. Each message says what to do.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        self.check_options()?;
        let site = self.prepare()?;
        let made = self.make(&site, &site.folder.join(&site.package.library))?;
        self.write_results(&site, &made, &format!("{}.ptx", site.package.library))
    }

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
            ptxas::VARIABLES.iter().for_each(|name| script.watch_variable(name));
        }
        let ptxas = self.ptxas.then(ptxas::find).transpose()?;
        ptxas.iter().for_each(|file| script.watch(file));

        let package = Package::read(&self.path_to_crate, &toolchain)?;
        let folder = self.build_folder(&script, &package)?;
        let lock = Lock::folder(&folder)?;
        Ok(Site { script, toolchain, libdevice, ptxas, package, folder, _lock: lock })
    }

    /// Runs every stage but the last, with intermediate files in `stages`.
    pub(crate) fn make(&self, site: &Site, stages: &Path) -> Result<Made, CudaBuilderError> {
        let Site { script, toolchain, package, .. } = site;
        let libdevice = site.libdevice.as_deref();
        let lock_file = NewLockFile::expect(package);
        let compiled = self.run_cargo(toolchain, package, &site.folder)?;
        lock_file.age(package);
        for file in dependencies::files(&compiled, package)? {
            script.watch(&file);
        }
        for name in dependencies::variables(&compiled) {
            script.watch_variable(&name);
        }
        for warning in &compiled.warnings {
            script.warn(warning);
        }
        fs::create_dir_all(stages).map_err(CudaBuilderError::io("create", stages))?;
        let optimised = self.run_optimiser(toolchain, &compiled, libdevice, stages)?;
        let module = optimised.module;
        let mut ptx = self.run_codegen(toolchain, &module, stages)?;
        let text = fs::read_to_string(&module).map_err(CudaBuilderError::io("read", &module))?;
        limits::check(&ptx, &text)?;
        let resources = match &site.ptxas {
            Some(ptxas) => ptxas::assemble(ptxas, &stages.join("module.ptx"), self.arch)?,
            None => Vec::new(),
        };
        let resources: String = resources.iter().map(|kernel| format!("{kernel}\n")).collect();
        resources.lines().for_each(|line| script.note(&format!("{}: {line}", self.arch)));
        if let Some(origin) = maths::origin(optimised.maths, libdevice)? {
            script.note(&format!("{}: {origin}", package.name));
            ptx.insert_str(0, &format!("// {origin}\n"));
        }
        if !ptx.contains(".entry ") {
            script.warn(&format!(
                "{} has no kernels: no public function is marked #[kernel]",
                package.name
            ));
        }
        Ok(Made { module, ptx, resources })
    }

    /// Refuses what this version can't do.
    pub(crate) fn check_options(&self) -> Result<(), CudaBuilderError> {
        let refuse = |option, reason: &str| {
            Err(CudaBuilderError::UnsupportedOption { option, reason: reason.to_owned() })
        };
        if self.optix {
            return refuse("optix", "OptiX modules are not supported; leave the option out");
        }
        let (minimum, version) = (self.arch.minimum_ptx_version(), self.wanted_ptx_version());
        if version < minimum {
            let ((major, minor), (least_major, least_minor)) = (version, minimum);
            let reason = format!(
                "PTX {major}.{minor} doesn't know {}; it came with PTX {least_major}.{least_minor}",
                self.arch
            );
            return refuse("ptx_version", &reason);
        }
        Ok(())
    }

    fn wanted_ptx_version(&self) -> (u32, u32) {
        self.ptx_version.unwrap_or_else(|| self.arch.default_ptx_version())
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

    fn run_cargo(
        &self,
        toolchain: &Toolchain,
        package: &Package,
        folder: &Path,
    ) -> Result<Compiled, CudaBuilderError> {
        compile::compile(&compile::Request {
            package,
            toolchain,
            arch: self.arch,
            release: self.release,
            extra_arguments: &self.build_args,
            folder,
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
            line_info: self.generate_line_info || self.debug == DebugInfo::LineTables,
            flush_to_zero: self.ftz,
            fast_sqrt: self.fast_sqrt,
            fast_div: self.fast_div,
            libdevice,
            override_libm: self.override_libm,
            immutable_statics_to_constant: self.use_constant_memory_space,
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

    /// Writes the results; the PTX last, so that it is new only if everything went well.
    pub(crate) fn write_results(
        &self,
        site: &Site,
        Made { module, ptx, resources }: &Made,
        name: &str,
    ) -> Result<PathBuf, CudaBuilderError> {
        let path = site.results().join(name);
        let text = || fs::read(module).map_err(CudaBuilderError::io("read", module));
        match self.emit {
            Some(EmitOption::LlvmIr) => write_file(&path.with_extension("ll"), &text()?)?,
            Some(EmitOption::Bitcode) => {
                let bitcode = module.with_extension("bc");
                llvm::run(
                    &site.toolchain,
                    "opt",
                    [flag("-passes=verify"), Argument::Path(module), Argument::Output(&bitcode)],
                )?;
                let content = fs::read(&bitcode).map_err(CudaBuilderError::io("read", &bitcode))?;
                write_file(&path.with_extension("bc"), &content)?;
            }
            None => {}
        }
        if let Some(path) = &self.final_module_path {
            write_file(path, &text()?)?;
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

/// Where a build runs, and with what.
pub(crate) struct Site {
    script: BuildScript,
    toolchain: Toolchain,
    libdevice: Option<PathBuf>,
    ptxas: Option<PathBuf>,
    pub(crate) package: Package,
    /// The nested build's files.
    pub(crate) folder: PathBuf,
    _lock: Lock,
}

impl Site {
    /// The folder for the results.
    pub(crate) fn results(&self) -> &Path {
        self.script.out_dir().unwrap_or(&self.folder)
    }
}

/// What the stages made for one architecture.
pub(crate) struct Made {
    module: PathBuf,
    ptx: String,
    /// What ptxas says of the kernels, a line for each.
    resources: String,
}

/// The target folder that `out_dir` is in: cargo marks it (<https://bford.info/cachedir>).
fn target_root(out_dir: &Path) -> Option<&Path> {
    out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())
}

pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), CudaBuilderError> {
    output::write(path, content).map_err(CudaBuilderError::io("write", path))
}
