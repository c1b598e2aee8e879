//! The kernels of `tests/device`: their signatures, and their PTX.
//!
//! `CUDA_HOST_TEST_PTX` names the PTX, for machines that can't compile it.
#![allow(dead_code, reason = "on the host kernels are launched, not called")]

use std::path::Path;
use std::sync::LazyLock;

use cuda_builder::{CudaBuilder, NvvmArch};
use cuda_host::{Device, Result};

#[path = "../device/src/async_api.rs"]
pub mod async_api;
#[path = "../device/src/matmul.rs"]
pub mod matmul;
#[path = "../device/src/together.rs"]
pub mod together;

/// The variable that names the PTX.
const GIVEN: &str = "CUDA_HOST_TEST_PTX";

pub static PTX: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::var_os(GIVEN).map_or_else(
        || {
            let built =
                CudaBuilder::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device"))
                    .arch(NvvmArch::Compute90)
                    .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("host_device"))
                    .build();
            built.unwrap_or_else(|error| panic!("{error}"))
        },
        Into::into,
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
});

/// A device with the kernels.
pub fn open() -> Result<Device> {
    let gpu = Device::open()?;
    gpu.load(&PTX)?;
    Ok(gpu)
}

/// Numbers that look random (SplitMix64).
pub fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}
