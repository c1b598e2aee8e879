//! The kernels of `tests/device_maths`, compiled with and without libdevice, on the emulator or on a GPU
//! (`tests/on_device/device/mod.rs` says how to choose).
//!
//! `CUDA_STD_MATHS_PTX` names a folder with `maths_fallback.ptx` and, where there is libdevice, `maths_libdevice.ptx`, for machines
//! that can't compile them. The builds leave both in the target folder's `tmp`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cuda_builder::{CudaBuilder, Libdevice};

pub use crate::on_device::numbers;
use crate::on_device::{Device, Kernels, Params, line};

/// Whose functions a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The `libm` crate's and `cuda_std`'s.
    Fallback,
    /// NVIDIA's libdevice.
    Libdevice,
}

static FALLBACK: LazyLock<Kernels> =
    LazyLock::new(|| Kernels::of_ptx(ptx("fallback", builder().without_libdevice())));
static LIBDEVICE: LazyLock<Kernels> =
    LazyLock::new(|| Kernels::of_ptx(ptx("libdevice", builder())));

impl Source {
    /// Those that this machine can test: libdevice where it is found.
    pub fn all() -> impl Iterator<Item = Self> {
        let libdevice = match given("libdevice") {
            Some(file) => file.is_file(),
            None => {
                let found = Libdevice::Search.find();
                found.unwrap_or_else(|error| panic!("{error}")).is_some()
            }
        };
        [Self::Fallback].into_iter().chain(libdevice.then_some(Self::Libdevice))
    }

    fn kernels(self) -> &'static Kernels {
        match self {
            Self::Fallback => &FALLBACK,
            Self::Libdevice => &LIBDEVICE,
        }
    }
}

/// The file with the PTX of this name, if the environment says where such files are.
fn given(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CUDA_STD_MATHS_PTX")?;
    Some(Path::new(&folder).join(format!("maths_{name}.ptx")))
}

fn builder() -> CudaBuilder {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_maths");
    CudaBuilder::new(folder).target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_maths"))
}

/// The kernels' PTX, built unless it is given.
fn ptx(name: &str, builder: CudaBuilder) -> String {
    let path = given(name).unwrap_or_else(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("maths_{name}.ptx"));
        builder.copy_to(&path).build().unwrap_or_else(|error| panic!("{error}"));
        path
    });
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The kernels' PTX without libdevice, with subnormal f32s flushed to zero; `None` where nothing can be built.
pub fn flushing_ptx() -> Option<String> {
    given("").is_none().then(|| ptx("flushing", builder().without_libdevice().ftz(true)))
}

/// Runs the kernel `name` on arguments of up to 64 bits each; up to two results each.
pub fn run(source: Source, name: &str, arguments: &[[u64; 4]]) -> Vec<[u64; 2]> {
    run_words(source, name, arguments)
}

/// Runs the kernel `name`, one thread for each of `arguments`, which gets as many results.
pub fn run_words<const N: usize, const M: usize>(
    source: Source,
    name: &str,
    arguments: &[[u64; N]],
) -> Vec<[u64; M]> {
    thread_local! {
        /// A driver takes long to translate so many kernels. Never dropped: when a thread's variables are, the driver's may be
        /// gone already.
        static DEVICES: RefCell<HashMap<Source, ManuallyDrop<Device>>> = RefCell::default();
    }
    DEVICES.with_borrow_mut(|devices| {
        let device = devices
            .entry(source)
            .or_insert_with(|| ManuallyDrop::new(Device::with(source.kernels())));
        let input = device.upload(arguments);
        let output = device.upload(&vec![[0xA5A5_A5A5_A5A5_A5A5_u64; M]; arguments.len()]);
        let params = Params::default().slice(input, arguments.len()).value(output);
        device.run(name, line(arguments.len().div_ceil(128) as u32, 128), &params);
        device.download(output, arguments.len())
    })
}
