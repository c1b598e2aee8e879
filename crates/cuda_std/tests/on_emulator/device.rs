//! A device with the test kernels loaded.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_builder::CudaBuilder;
use ptx_emulator::{Fault, Launch, Machine, MachineConfig, ModuleId, Output, Program};

/// The kernels, compiled once.
pub static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device");
    let built = CudaBuilder::new(crate_folder)
        .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("device"))
        .build();
    let path = built.unwrap_or_else(|error| panic!("{error}"));
    let source = std::fs::read_to_string(&path).expect("the builder wrote the file");
    let program = Program::compile(&source);
    Arc::new(program.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
});

pub struct Device {
    machine: Machine,
    module: ModuleId,
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

/// What a kernel printed: one entry for each call of `vprintf`.
#[derive(Default)]
struct Printed(Vec<String>);

impl Output for Printed {
    fn print(&mut self, text: &[u8]) {
        self.0.push(String::from_utf8(text.to_vec()).expect("kernels print UTF-8"));
    }
}

impl Device {
    pub fn new() -> Self {
        let mut machine = Machine::new(MachineConfig::default());
        let module = machine.load(Arc::clone(&PROGRAM)).expect("the statics fit");
        Self { machine, module }
    }

    /// A copy on the device: its address.
    pub fn upload<T: Copy + Bytes>(&mut self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let memory = self.machine.memory_mut();
        let address = memory.alloc(bytes.len() as u64, "test").expect("there is memory");
        memory.write(address, &bytes).expect("just allocated");
        address
    }

    /// `count` values at `address`.
    pub fn download<T: Bytes>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.machine.memory().read(address, &mut bytes).expect("an allocation");
        bytes.chunks_exact(size_of::<T>()).map(T::of_bytes).collect()
    }

    /// Address and size in bytes of a variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.machine.global(self.module, name)
    }

    /// Overwrites memory of the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.machine.memory_mut().write(address, bytes).expect("an allocation");
    }

    /// Runs a kernel to its end; what it printed.
    pub fn run(&mut self, kernel: &str, shape: Shape, params: &Params) -> Vec<String> {
        self.try_run(kernel, shape, params).unwrap_or_else(|fault| panic!("{fault}"))
    }

    pub fn try_run(
        &mut self,
        kernel: &str,
        shape: Shape,
        params: &Params,
    ) -> Result<Vec<String>, Box<Fault>> {
        let launch = Launch {
            kernel,
            grid: shape.grid,
            block: shape.block,
            dynamic_shared_bytes: shape.dynamic_shared_bytes,
            params: &params.0,
        };
        let mut printed = Printed::default();
        self.machine.launch(self.module, &launch, &mut printed)?;
        Ok(printed.0)
    }
}

/// A kernel's parameters, one behind the other, each at a multiple of its alignment.
#[derive(Default)]
pub struct Params(Vec<u8>);

impl Params {
    pub fn value<T: Bytes>(self, value: T) -> Self {
        self.bytes(&value.bytes(), align_of::<T>())
    }

    pub fn bytes(mut self, bytes: &[u8], alignment: usize) -> Self {
        self.0.resize(self.0.len().next_multiple_of(alignment), 0);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A slice: address and length.
    pub fn slice(self, address: u64, len: usize) -> Self {
        self.value(address).value(len as u64)
    }
}

/// Plain values, little-endian as on the device.
pub trait Bytes: Sized {
    fn bytes(&self) -> Vec<u8>;
    fn of_bytes(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($T:ty),+) => {$(
        impl Bytes for $T {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }

            fn of_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )+};
}

bytes!(u8, i8, u16, u32, i32, u64, i64, f32, f64);

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(T::bytes).collect()
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut values = bytes.chunks_exact(size_of::<T>()).map(T::of_bytes);
        std::array::from_fn(|_| values.next().expect("as many bytes as the array has"))
    }
}
