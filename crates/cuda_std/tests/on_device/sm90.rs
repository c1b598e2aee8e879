//! A device with the kernels of `tests/device_sm90`, whose instructions need sm_90.

use std::sync::{Arc, LazyLock};

use cuda_builder::{CudaBuilder, NvvmArch};
use ptx_emulator::Program;

use crate::device::Device;

/// Names the kernels' PTX, for machines that can't compile them.
const GIVEN: &str = "CUDA_STD_TEST_PTX_SM90";

static PTX: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::var_os(GIVEN).map_or_else(
        || {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            let built = CudaBuilder::new(folder.join("tests/device_sm90"))
                .arch(NvvmArch::Compute90)
                .ptx_version(8, 0)
                .target_dir(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_sm90"))
                .build();
            built.unwrap_or_else(|error| panic!("{error}"))
        },
        Into::into,
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
});

static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| {
    let program = Program::compile(&PTX);
    Arc::new(program.unwrap_or_else(|error| panic!("{error}")))
});

pub fn device() -> Device {
    Device::checked_with(&PTX, &PROGRAM)
}
