//! Kernels that fail, on the emulator: what comes out, and what comes after.

mod kernels;

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_host::{Backend, Device, Ending, ErrorKind, Out, Result, launch};

/// A fault ends the device for the whole process, as on a GPU, so one test at a time, each with a fresh emulator.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: every test begins here, so no other thread of this program reads the environment now.
    unsafe { std::env::set_var("CUDA_DRIVER_BACKEND", "emulator") };
    cuda_driver::reset_emulator();
    guard
}

fn open() -> Result<Device> {
    let gpu = Device::open()?;
    assert_eq!(gpu.backend(), Backend::Emulator);
    gpu.load(kernels::PTX)?;
    Ok(gpu)
}

#[test]
fn a_fault_comes_out_of_the_next_synchronisation() -> Result<()> {
    let _alone = alone();
    {
        let gpu = open()?;
        let mut x = gpu.zeros::<u32>(16)?;
        // SAFETY: the emulator catches what the kernel does.
        unsafe { launch!(kernels::out_of_bounds[1, 1](&mut x)) }?;
        let error = gpu.synchronize().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KernelFault);
        assert_eq!((error.ending(), error.exit_code()), (Ending::KernelFailed, 1));
        assert_eq!(error.code(), Some(700));
        let text = error.to_string();
        assert!(text.contains("out_of_bounds"), "{text}");
        assert!(text.contains("help:"), "{text}");
        // A GPU would not notice, for the array's page goes on there: it is told once, and the device can be used.
        assert_eq!(x.to_host()?, [0; 16]);
        // After a fault that a GPU notices, every later call says the same.
        launch!(kernels::traps[1, 1]())?;
        let text = gpu.synchronize().unwrap_err().to_string();
        let later = x.to_host().unwrap_err();
        assert_eq!((later.kind(), later.to_string()), (ErrorKind::KernelFault, text));
        assert_eq!(gpu.zeros::<u8>(1).unwrap_err().kind(), ErrorKind::KernelFault);
        assert_eq!(gpu.load(".version 7.0").unwrap_err().kind(), ErrorKind::KernelFault);
        let launch = launch!(kernels::traps[1, 1]());
        assert_eq!(launch.unwrap_err().kind(), ErrorKind::KernelFault);
    }
    // Dropping everything and opening the device again does not help.
    assert_eq!(Device::open().unwrap_err().kind(), ErrorKind::KernelFault);
    cuda_driver::reset_emulator();
    let gpu = open()?;
    let mut x = gpu.to_device(&[1.0_f32; 4])?;
    // SAFETY: four elements.
    unsafe { launch!(kernels::scale[1, 4](&mut x, 5.0, 4)) }?;
    assert_eq!(x.to_host()?, [5.0; 4]);
    Ok(())
}

#[test]
fn recursion_takes_the_stack_that_the_limit_says() -> Result<()> {
    let _alone = alone();
    let gpu = open()?;
    assert_eq!(gpu.stack_limit()?, 1024);
    launch!(kernels::recurse[3, 32](2))?;
    gpu.synchronize()?;
    // Every handle to the device means the same stack.
    Device::open()?.set_stack_limit(8 << 10)?;
    assert_eq!(gpu.stack_limit()?, 8192);
    launch!(kernels::recurse[3, 32](20))?;
    gpu.synchronize()?;
    // Too much is refused, and changes nothing.
    let error = gpu.set_stack_limit(1 << 20).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::HostMisuse, Some(1)));
    let text = error.to_string();
    assert!(text.starts_with("could not give each thread a stack of 1048576 bytes: "), "{text}");
    assert!(text.contains("help: a thread can have at most 524288"), "{text}");
    assert_eq!(gpu.stack_limit()?, 8192);

    gpu.set_stack_limit(1024)?;
    launch!(kernels::recurse[3, 32](20))?;
    let error = gpu.synchronize().unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::KernelFault, Some(700)));
    assert!(error.to_string().contains("stack overflow"), "{error}");
    // As any other call after a fault.
    assert_eq!(gpu.stack_limit().unwrap_err().kind(), ErrorKind::KernelFault);
    assert_eq!(gpu.set_stack_limit(4096).unwrap_err().kind(), ErrorKind::KernelFault);
    Ok(())
}

#[test]
fn a_fault_comes_out_of_a_copy() -> Result<()> {
    let _alone = alone();
    {
        let gpu = open()?;
        let x = gpu.zeros::<u32>(16)?;
        launch!(kernels::traps[1, 32]())?;
        let error = x.to_host().unwrap_err();
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::KernelFault, 1));
    }
    Ok(())
}

#[test]
fn a_fault_leaves_host_slices_alone() -> Result<()> {
    let _alone = alone();
    {
        let _gpu = open()?;
        let mut x = [7_u32; 4];
        // SAFETY: the emulator catches what the kernel does.
        let failed = unsafe { launch!(kernels::out_of_bounds[1, 1](Out(&mut x))) };
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::KernelFault);
        assert_eq!(x, [7; 4]);
    }
    Ok(())
}

#[test]
fn fresh_memory_is_poisoned() -> Result<()> {
    let _alone = alone();
    let gpu = open()?;
    assert_eq!(gpu.uninit::<u8>(3)?.to_host()?, [0xCB; 3]);
    let mut x = [1.0_f32; 2];
    // SAFETY: nothing is written: `n` is 0.
    unsafe { launch!(kernels::scale[1, 1](Out(&mut x), 1.0, 0)) }?;
    assert_eq!(x.map(f32::to_bits), [0xCBCB_CBCB; 2]);
    Ok(())
}

#[test]
fn without_a_device() {
    let _alone = alone();
    let error = launch!(kernels::traps[1, 1]()).unwrap_err();
    assert!(error.to_string().starts_with("no device is open on this thread\nhelp: "), "{error}");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn without_a_module() -> Result<()> {
    let _alone = alone();
    let _gpu = Device::open()?;
    let error = launch!(kernels::traps[1, 1]()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "no module on this device has a kernel `traps`: no module is loaded\nhelp: "
        ),
        "{text}"
    );
    Ok(())
}

#[test]
fn memory_is_given_back() -> Result<()> {
    let _alone = alone();
    let gpu = open()?;
    let before = gpu.memory_info()?.free;
    let x = gpu.uninit::<f32>(1 << 20)?;
    assert!(gpu.memory_info()?.free <= before - (4 << 20));
    let copy = x.try_clone()?;
    drop(x);
    drop(copy);
    let mut host = vec![1.0; 1 << 20];
    // SAFETY: `x` has more than no elements.
    unsafe { launch!(kernels::scale[1, 1](cuda_host::InOut(&mut host), 1.0, 0)) }?;
    assert_eq!(gpu.memory_info()?.free, before);
    // A launch that cannot be leaves nothing behind either.
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(kernels::scale[1, 2048](Out(&mut host), 1.0, 0)) };
    assert!(refused.is_err());
    assert_eq!(gpu.memory_info()?.free, before);
    Ok(())
}

#[test]
fn an_instruction_that_the_emulator_does_not_know() -> Result<()> {
    let _alone = alone();
    let gpu = Device::open()?;
    gpu.load(
        ".version 7.0\n.target sm_75\n.address_size 64\n\
         .visible .entry missing()\n{\n  .reg .b32 %r<2>;\n  frobnicate.u32 %r1, 5;\n  ret;\n}\n",
    )?;
    launch!(kernels::missing[1, 1]())?;
    let error = gpu.synchronize().unwrap_err();
    assert_eq!(
        (error.kind(), error.ending(), error.exit_code()),
        (ErrorKind::Unsupported, Ending::Unsupported, 3)
    );
    assert!(error.to_string().contains("frobnicate"), "{error}");
    Ok(())
}
