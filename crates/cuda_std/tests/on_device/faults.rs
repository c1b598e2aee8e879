//! Launches that are to fail.
//!
//! On a GPU a fault ends the use of the device for the whole process, so there each such launch has a process of its own:
//! the test starts its executable again for the same test, and the second process makes the launch.

use std::process::exit;

use cust::error::CudaError;
use ptx_emulator::Fault;

use crate::device::{
    Backend, Device, Failure, Kernels, Params, Shape, USUAL, backend, this_program,
};

/// Set in the second process.
const CHILD: &str = "CUDA_STD_TEST_CHILD";

/// How a launch failed.
pub enum Failed {
    /// On the emulator: all about it.
    Emulator(Box<Fault>),
    /// Through the driver: the error, and what the process wrote to its standard error.
    Driver { error: String, said: String },
}

/// Launches a kernel that is to fail, for the test `test` (its path within this crate).
#[track_caller]
pub fn failing(
    test: &str,
    kernel: &str,
    shape: Shape,
    params: impl FnOnce(&mut Device) -> Params,
) -> Failed {
    failing_of(&USUAL, test, kernel, shape, params)
}

/// [`failing`], with a kernel of another crate.
#[track_caller]
pub fn failing_of(
    kernels: &Kernels,
    test: &str,
    kernel: &str,
    shape: Shape,
    params: impl FnOnce(&mut Device) -> Params,
) -> Failed {
    if backend() == Backend::Driver && std::env::var_os(CHILD).is_none() {
        return in_child(test);
    }
    let mut device = Device::with(kernels);
    let params = params(&mut device);
    match device.try_run(kernel, shape, &params) {
        Ok(_) => panic!("{kernel} did not fail"),
        Err(Failure::Emulator(fault)) => Failed::Emulator(fault),
        Err(Failure::Driver(error)) => child_failed(error),
    }
}

/// Runs `test` alone in a process of its own.
#[track_caller]
fn in_child(test: &str) -> Failed {
    let output = this_program()
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("this program runs again");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let error = said.lines().find_map(|line| line.strip_prefix(MARK)).map(str::to_owned);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let error = error.unwrap_or_else(|| panic!("{test} alone: {}\n{stdout}{said}", output.status));
    Failed::Driver { error, said }
}

/// Before the error in the second process's standard error.
const MARK: &str = "the launch failed: ";

/// Ends the second process: nothing of it could use the device any more.
fn child_failed(error: CudaError) -> ! {
    // The emulator behind the driver's symbols writes nothing itself; a GPU's driver has written its message already.
    if let Some(diagnostic) = cuda_driver::take_diagnostic() {
        eprintln!("{}", diagnostic.text);
    }
    eprintln!("{MARK}{error:?}");
    exit(0)
}
