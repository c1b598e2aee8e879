//! A `CUDA_DRIVER_BACKEND` that is none. The choice is made once a process, so this test has one to itself.

use cuda_host::{Device, ErrorKind};

#[test]
fn an_unknown_backend_is_misuse() {
    // SAFETY: the only test of this program, so no other thread reads the environment.
    unsafe { std::env::set_var("CUDA_DRIVER_BACKEND", "abacus") };
    let error = Device::open().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("CUDA_DRIVER_BACKEND is `abacus`, expected auto, gpu or emulator"),
        "{text}"
    );
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::HostMisuse, 2));
    assert!(Device::count().is_err() && Device::all().is_err());
}
