//! The way to a GPU, taken to the emulator behind the driver's symbols, so that it works when there is a GPU.

use crate::device::{Backend, backend, this_program};

#[test]
fn printing_faulting_and_plain_kernels_run_through_the_driver() {
    if backend() == Backend::Driver {
        return;
    }
    let output = this_program()
        .args(["printing::", "formatting::", "panics::", "memory::", "values::", "atomics::"])
        .arg("--test-threads=1")
        .env("CUDA_STD_TEST_BACKEND", "driver")
        .env("CUDA_DRIVER_BACKEND", "emulator")
        .output()
        .expect("this program runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("running 0 tests"), "{text}");
}
