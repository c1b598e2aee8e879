//! The crates of test kernels, each compiled once; or their PTX as the environment names it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use cuda_builder::{CudaBuilder, NvvmArch};
use ptx_emulator::Program;

/// `tests/device`: whatever has no reason to be elsewhere.
pub static USUAL: Kernels = Kernels::of("device", "CUDA_STD_TEST_PTX", "CUDA_STD_TEST_CUBIN");

/// `tests/device_formatting`: those that call `core::fmt`.
pub static FORMATTING: Kernels = Kernels::of(
    "device_formatting",
    "CUDA_STD_TEST_PTX_FORMATTING",
    "CUDA_STD_TEST_CUBIN_FORMATTING",
);

/// `tests/device_sm90`: those with instructions that need sm_90.
pub static SM90: Kernels =
    Kernels::of("device_sm90", "CUDA_STD_TEST_PTX_SM90", "CUDA_STD_TEST_CUBIN_SM90").for_sm90();

static ALL: [&Kernels; 3] = [&USUAL, &FORMATTING, &SM90];

/// A crate of kernels.
pub struct Kernels {
    /// In `tests`.
    folder: &'static str,
    /// Names its PTX, for machines that can't compile it.
    ptx_variable: &'static str,
    /// Names what ptxas made of that for the GPU.
    cubin_variable: Option<&'static str>,
    sm90: bool,
    path: OnceLock<PathBuf>,
    ptx: OnceLock<String>,
    program: OnceLock<Arc<Program>>,
}

impl Kernels {
    const fn of(
        folder: &'static str,
        ptx_variable: &'static str,
        cubin_variable: &'static str,
    ) -> Self {
        Self {
            folder,
            ptx_variable,
            cubin_variable: Some(cubin_variable),
            sm90: false,
            path: OnceLock::new(),
            ptx: OnceLock::new(),
            program: OnceLock::new(),
        }
    }

    const fn for_sm90(mut self) -> Self {
        self.sm90 = true;
        self
    }

    /// Kernels of which the PTX is at hand.
    #[allow(
        dead_code,
        reason = "the tests of mathematical functions, which have a program of their own, use it"
    )]
    pub fn of_ptx(ptx: String) -> Self {
        Self { ptx: OnceLock::from(ptx), cubin_variable: None, ..Self::of("", "", "") }
    }

    /// Where the PTX is.
    fn path(&self) -> &Path {
        self.path.get_or_init(|| {
            std::env::var_os(self.ptx_variable).map_or_else(|| self.build(), Into::into)
        })
    }

    fn build(&self) -> PathBuf {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(self.folder);
        let mut builder = CudaBuilder::new(crate_folder)
            .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.folder));
        if self.sm90 {
            builder = builder.arch(NvvmArch::Compute90).ptx_version(8, 0);
        }
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The PTX of all its kernels.
    pub fn ptx(&self) -> &str {
        self.ptx.get_or_init(|| {
            let path = self.path();
            std::fs::read_to_string(path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
    }

    /// The PTX of a kernel.
    pub fn ptx_of(&self, kernel: &str) -> &str {
        let ptx = self.ptx();
        let start = ptx.find(&format!(".entry {kernel}(")).expect("the kernel is there");
        // Inline PTX has braces of its own.
        let end = ptx[start..].find("// -- End function").expect("it has an end");
        &ptx[start..start + end]
    }

    /// The machine code, where the environment names it.
    pub(super) fn cubin(&self) -> Option<Vec<u8>> {
        let path = PathBuf::from(std::env::var_os(self.cubin_variable?)?);
        let read = std::fs::read(&path);
        Some(read.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// The kernels as the emulator reads them, whatever runs them.
    pub fn program(&self) -> &Arc<Program> {
        self.program.get_or_init(|| {
            let program = Program::compile(self.ptx());
            Arc::new(program.unwrap_or_else(|error| panic!("{error}")))
        })
    }
}

/// The PTX of a kernel of `tests/device`.
pub fn ptx_of(kernel: &str) -> &'static str {
    USUAL.ptx_of(kernel)
}

/// This program again, with the kernels that it has.
pub fn this_program() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    // What nobody asked for yet, the other program compiles where it needs it.
    for kernels in ALL {
        command.envs(kernels.path.get().map(|path| (kernels.ptx_variable, path)));
    }
    command
}
