//! A device with the test kernels loaded: the emulator, or whatever the CUDA driver has.
//!
//! - `CUDA_DRIVER_BACKEND=gpu` runs the tests on a GPU, through `cust`.
//! - `CUDA_STD_TEST_BACKEND=driver` takes the same way to whatever `cuda_driver` finds, its own emulator for instance.
//! - `CUDA_STD_TEST_PTX` names the PTX of `tests/device`, for machines that can't compile it; `CUDA_STD_TEST_PTX_FORMATTING` and
//!   `CUDA_STD_TEST_PTX_SM90` name that of `tests/device_formatting` and of `tests/device_sm90`.
//! - `CUDA_STD_TEST_CUBIN`, with the same endings, names what ptxas made of it for the GPU, which the driver then need not compile.
//! - `CUDA_STD_TEST_RECORD` names a file to add the names of launched kernels to.
//!
//! Kernels that print on a GPU write to the process's standard output, which is captured for as long as a launch takes: run
//! these tests with `--test-threads=1` there, or lines of the test harness are lost in it.

mod driver;
mod emulator;
mod kernels;
mod record;
#[cfg_attr(not(unix), path = "stdout_elsewhere.rs")]
mod stdout;
mod values;

use std::fmt;
use std::sync::LazyLock;

use cust::error::CudaError;
use ptx_emulator::{CheckSet, Fault, MachineConfig};

pub use kernels::{FORMATTING, Kernels, SM90, USUAL, ptx_of, this_program};
pub use values::{Bytes, Params, numbers};

/// What a thread's calls may take. Where functions are called through pointers and may come back, as in `core::fmt`, ptxas can't tell how much
/// that is, and a kernel gets what the context says: 1 KiB, unless somebody asks for more.
const STACK_BYTES: u32 = 16 << 10;

/// How the tests reach a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// An emulated machine of each test's own, which explains its faults.
    Emulator,
    /// The CUDA driver's one device. A fault ends its use for the whole process.
    Driver,
}

/// How these tests reach a device.
pub fn backend() -> Backend {
    static BACKEND: LazyLock<Backend> = LazyLock::new(|| {
        let is = |variable, value| std::env::var(variable).is_ok_and(|found| found.trim() == value);
        if is("CUDA_DRIVER_BACKEND", "gpu") || is("CUDA_STD_TEST_BACKEND", "driver") {
            Backend::Driver
        } else {
            Backend::Emulator
        }
    });
    *BACKEND
}

/// What a device does for [`Device`].
trait Runs {
    /// A copy on the device: its address, a multiple of 256.
    fn upload(&mut self, bytes: &[u8]) -> u64;
    fn read(&self, address: u64, bytes: &mut [u8]);
    fn write(&mut self, address: u64, bytes: &[u8]);
    fn global(&self, name: &str) -> Option<(u64, u64)>;
    fn static_shared_bytes(&self, kernel: &str) -> u32;
    /// What checks found in the launches since the last call.
    fn take_findings(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// What kernels allocated and nobody freed, where the device tells.
    fn heap_leaks(&self) -> Vec<String> {
        Vec::new()
    }
    /// Runs a kernel to its end; what it printed.
    fn run(
        &mut self,
        kernel: &str,
        shape: Shape,
        params: &Params,
        cooperative: bool,
    ) -> Result<String, Failure>;
}

/// Why a kernel did not reach its end.
#[derive(Debug)]
pub enum Failure {
    Emulator(Box<Fault>),
    Driver(CudaError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emulator(fault) => fault.fmt(f),
            Self::Driver(error) => write!(f, "{error:?}"),
        }
    }
}

/// A device with kernels loaded anew, its variables at their initial values.
pub struct Device {
    runs: Box<dyn Runs>,
    /// Whether what checks find is a failure of the test.
    checked: bool,
}

/// How many threads, and how much dynamic shared memory.
#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
}

/// A launch along x.
pub const fn line(grid: u32, block: u32) -> Shape {
    Shape { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared_bytes: 0 }
}

impl Device {
    /// With the kernels of `tests/device`.
    pub fn new() -> Self {
        Self::with(&USUAL)
    }

    /// With others.
    pub fn with(kernels: &Kernels) -> Self {
        match backend() {
            Backend::Emulator => Self::emulated_with(kernels, MachineConfig::default()),
            Backend::Driver => Self::of(driver::Driver::new(kernels)),
        }
    }

    fn of(runs: impl Runs + 'static) -> Self {
        Self { runs: Box::new(runs), checked: false }
    }

    /// A device whose kernels the emulator runs under memcheck, racecheck, initcheck and synccheck: what these find is a failure
    /// of the test. Through the driver it is any device.
    pub fn checked() -> Self {
        Self::checked_with(&USUAL)
    }

    /// [`checked`](Self::checked), with other kernels.
    pub fn checked_with(kernels: &Kernels) -> Self {
        match backend() {
            Backend::Emulator => {
                let mut config = MachineConfig::default();
                config.checks = CheckSet::ALL;
                Self { checked: true, ..Self::emulated_with(kernels, config) }
            }
            Backend::Driver => Self::with(kernels),
        }
    }

    /// An emulated machine, whatever the others are: for what only it can show.
    pub fn emulated(config: MachineConfig) -> Self {
        Self::emulated_with(&USUAL, config)
    }

    /// [`emulated`](Self::emulated), with other kernels.
    pub fn emulated_with(kernels: &Kernels, config: MachineConfig) -> Self {
        Self::of(emulator::Emulator::new(kernels.program(), config))
    }

    #[track_caller]
    fn assert_no_findings(&mut self) {
        if self.checked
            && let Some(finding) = self.take_findings().first()
        {
            panic!("{finding}");
        }
    }

    /// What checks found in the launches since the last call.
    pub fn take_findings(&mut self) -> Vec<String> {
        self.runs.take_findings()
    }

    /// What kernels allocated and nobody freed, where the device tells.
    pub fn heap_leaks(&self) -> Vec<String> {
        self.runs.heap_leaks()
    }

    /// A copy on the device: its address.
    pub fn upload<T: Bytes>(&mut self, values: &[T]) -> u64 {
        let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        // There are no allocations of no bytes.
        if bytes.is_empty() {
            bytes.push(0xA5);
        }
        self.runs.upload(&bytes)
    }

    /// `count` values at `address`.
    pub fn download<T: Bytes>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.runs.read(address, &mut bytes);
        bytes.chunks_exact(size_of::<T>()).map(T::of_bytes).collect()
    }

    /// Address and size in bytes of a variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.runs.global(name)
    }

    /// Bytes of shared memory that a kernel itself declares.
    pub fn static_shared_bytes(&self, kernel: &str) -> u32 {
        self.runs.static_shared_bytes(kernel)
    }

    /// Overwrites memory of the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.runs.write(address, bytes);
    }

    /// Runs a kernel to its end; what it printed.
    pub fn run(&mut self, kernel: &str, shape: Shape, params: &Params) -> String {
        self.try_run(kernel, shape, params).unwrap_or_else(|failure| panic!("{kernel}: {failure}"))
    }

    /// Runs a kernel; what it printed. See `faults.rs` for kernels that are to fail.
    pub fn try_run(
        &mut self,
        kernel: &str,
        shape: Shape,
        params: &Params,
    ) -> Result<String, Failure> {
        record::record(kernel);
        let result = self.runs.run(kernel, shape, params, false);
        self.assert_no_findings();
        result
    }

    /// Runs a kernel by a cooperative launch, in which blocks may wait for each other.
    pub fn run_cooperative(&mut self, kernel: &str, shape: Shape, params: &Params) {
        record::record(kernel);
        let result = self.runs.run(kernel, shape, params, true);
        self.assert_no_findings();
        result.unwrap_or_else(|failure| panic!("{kernel}: {failure}"));
    }
}
