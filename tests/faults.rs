//! What a host program sees when a kernel or a module is broken. A kernel's fault ends the device's context for
//! the whole process, so there is one test.

use cuda_host::{Backend, Device, Ending, ErrorKind, launch};
use ferrowarp::KERNELS_PTX;
use ferrowarp::error::{Error, ExitStatus};

#[test]
fn broken_modules_and_kernels_are_told_apart() {
    let gpu = Device::open().unwrap();

    // A module that is no PTX.
    let error = gpu.load("this is not PTX").unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Module, 4), "{error}");
    // A module with one broken instruction.
    let broken = KERNELS_PTX.replacen("ret;", "ret 1 2;", 1);
    assert_ne!(broken, KERNELS_PTX);
    let error = gpu.load(&broken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Module, "{error}");

    // A kernel whose module is not loaded.
    // SAFETY: the kernel takes no memory.
    let error = unsafe { launch!(kernels::hello[1, 1]()) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Module, "{error}");

    gpu.load(KERNELS_PTX).unwrap();
    // Launches that cannot be: nothing is wrong with the device afterwards.
    // SAFETY: the kernel takes no memory.
    let error = unsafe { launch!(kernels::hello[1, 4096]()) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LaunchShape, "{error}");
    assert!(error.to_string().contains("1024"), "{error}");
    // SAFETY: as above.
    let error = unsafe { launch!(kernels::hello[0, 4]()) }.unwrap_err();
    assert_eq!(Error::from(error).exit_status(), ExitStatus::Usage);

    // A says 4 rows but has 2: the kernel's own bounds check panics.
    let a = gpu.to_device(&[1.0_f32; 8]).unwrap();
    let b = gpu.to_device(&[1.0_f32; 16]).unwrap();
    let mut c = gpu.zeros::<f32>(16).unwrap();
    // SAFETY: C has 4 * 4 elements; the sizes that don't fit A are checked by the kernel.
    unsafe { launch!(kernels::mat_mul_naive_kernel[(1, 1), (4, 4)](&a, &b, &mut c, 4_usize, 4_usize, 4_usize)) }
        .unwrap();
    let error = gpu.synchronize().unwrap_err();
    assert_eq!(
        (error.kind(), error.ending()),
        (ErrorKind::KernelFault, Ending::KernelFailed),
        "{error}"
    );
    // What the kernel said, on a GPU too.
    let panic = error.panic().expect("the kernel panicked");
    assert_eq!(panic.message, "A is shorter than m * k elements");
    assert!(panic.file.ends_with("mat_mul.rs") && panic.line > 0 && panic.column > 0, "{panic:?}");
    assert_eq!(panic.block, [0; 3]);
    assert!(panic.thread[0] < 4 && panic.thread[1] < 4 && panic.thread[2] == 0, "{panic:?}");
    if gpu.backend() == Backend::Emulator {
        let text = error.to_string();
        for part in ["mat_mul_naive_kernel", "mat_mul.rs"] {
            assert!(text.contains(part), "`{part}` is missing in:\n{text}");
        }
    }
    let error = Error::from(error);
    assert_eq!(error.exit_status(), ExitStatus::WrongResult);
}
