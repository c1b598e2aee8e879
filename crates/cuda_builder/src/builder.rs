//! The builder and its fields.

use std::path::{Path, PathBuf};

mod options;
mod profile;

pub use profile::Profile;

use crate::arch::NvvmArch;
use crate::cache::{Cache, KeyParts};
use crate::error::CudaBuilderError;
use crate::libdevice::Libdevice;
use crate::panics::PanicMessages;
use crate::toolchain::Toolchain;

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
    pub(crate) path_to_crate: PathBuf,
    ptx_version: Option<(u32, u32)>,
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) toolchain: Option<Toolchain>,
    pub(crate) ptxas: bool,
    pub(crate) cache: Cache,
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
    /// See [`CudaBuilder::panic_messages`].
    pub panic_messages: PanicMessages,
    /// See [`CudaBuilder::panic_record`].
    pub panic_record: bool,
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
            cache: Cache::User,
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
            panic_messages: PanicMessages::default(),
            panic_record: false,
            final_module_path: None,
        }
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
        let stages = site.folder.join(&site.package.library);
        let made = self.make(&site, &stages)?;
        self.write_results(&site, &stages, &made, &format!("{}.ptx", site.package.library))
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

    /// As (major, minor).
    pub(crate) fn wanted_ptx_version(&self) -> (u32, u32) {
        self.ptx_version.unwrap_or_else(|| self.arch.default_ptx_version())
    }

    /// The options that decide the PTX.
    pub(crate) fn add_to(&self, key: &mut KeyParts) {
        // All fields by name: one that is new must be sorted in before this compiles.
        let Self {
            path_to_crate: _,
            ptx_version: _,
            target_dir: _,
            toolchain: _,
            ptxas,
            cache: _,
            ptx_file_copy_path: _,
            build_args,
            debug: _,
            release,
            generate_line_info: _,
            nvvm_opts,
            arch,
            ftz,
            fast_sqrt,
            fast_div,
            fma_contraction,
            emit: _,
            optix: _,
            libdevice: _,
            override_libm,
            use_constant_memory_space,
            panic_messages,
            panic_record,
            final_module_path: _,
        } = self;
        let options = (
            (
                ptxas,
                build_args,
                release,
                nvvm_opts,
                arch,
                self.wanted_ptx_version(),
                self.wants_lines(),
            ),
            (ftz, fast_sqrt, fast_div, fma_contraction, override_libm),
            (use_constant_memory_space, panic_messages, panic_record),
        );
        key.add("options", &format!("{options:?}"));
    }

    /// Whether the PTX names lines of Rust.
    pub(crate) fn wants_lines(&self) -> bool {
        self.generate_line_info || self.debug == DebugInfo::LineTables
    }
}
