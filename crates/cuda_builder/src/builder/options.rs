//! The options: one method each, and what each does.

use std::path::Path;

use super::{CudaBuilder, DebugInfo, EmitOption};
use crate::arch::NvvmArch;
use crate::cache::Cache;
use crate::libdevice::Libdevice;
use crate::panics::PanicMessages;
use crate::toolchain::Toolchain;

impl CudaBuilder {
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
    ///
    /// What writes a panic's message is then checked too and could panic itself, so that nobody knows before the launch how much stack it
    /// takes: a message with floating-point numbers needs a host that allows for more than the usual 1 KiB a thread
    /// (`cuda_host::Device::set_stack_limit`, `CU_LIMIT_STACK_SIZE`).
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

    /// How panics show run-time values in their messages. The default is [`PanicMessages::Usual`].
    pub fn panic_messages(mut self, panic_messages: PanicMessages) -> Self {
        self.panic_messages = panic_messages;
        self
    }

    /// `true` has a panic leave its message, place, block and thread in memory of the host, where `cuda_host` finds them for its error
    /// (`Error::panic`); on a GPU, a program knows them in no other way, since the driver prints them on the standard error. It adds four
    /// kilobytes of PTX, so the default is `false`.
    pub fn panic_record(mut self, panic_record: bool) -> Self {
        self.panic_record = panic_record;
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

    /// Where finished PTX and compiled dependencies are kept, so that another project doesn't build them again. The default is
    /// [`Cache::User`].
    ///
    /// Finished PTX counts for a build if everything is the same that decides it: the contents of all sources, what `include_str!`
    /// takes in and `env!` asks for, the versions of all dependencies, options, compiler, LLVM tools, libdevice and this builder. That of
    /// kernel crates with a build script of their own is not kept. All of it together takes at most 512 MiB.
    ///
    /// Other kernels take from it what they share: `core`, `alloc` and crates from registries, compiled. A set of these takes about
    /// 350 MB, most of it shared with the projects that use it where the file system has hard links, and four sets are kept.
    /// Of both, what was not used for longest goes first.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }
}
