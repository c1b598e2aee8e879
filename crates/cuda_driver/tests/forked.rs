//! A process that is forked after `cuInit`. One test, so that no other thread works while the process is forked.
#![cfg(target_os = "linux")]

mod common;

use common::*;

#[test]
fn a_forked_child_cannot_use_the_device_and_its_parent_can() {
    let context = Context::new();
    let address = alloc(64);
    // SAFETY: the child makes a few calls and ends without returning.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let (mut count, mut version, mut found, mut handle) = (0, 0, 0, 0);
        // SAFETY: pointers are to live variables.
        let results = unsafe {
            [
                cuDriverGetVersion(&mut version),
                cuInit(1),
                cuInit(0),
                cuDeviceGetCount(&mut count),
                cuCtxGetCurrent(&mut handle),
                cuMemAlloc_v2(&mut found, 16),
                cuDevicePrimaryCtxRetain(&mut handle, 0),
            ]
        };
        // What an H200 answers (driver 580).
        let right = results == [0, 1, 3, 3, 3, 3, 3]
            && cuda_driver::take_diagnostic().is_some_and(|found| found.text.contains("forked"));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(if right { 42 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and the pointer is to a live variable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status));
    assert_eq!(libc::WEXITSTATUS(status), 42);
    upload(address, &[7; 16]);
    assert_eq!(download(address, 16), [7; 16]);
    drop(context);
    // Who starts anew after the fork may: the parent itself, here.
    cuda_driver::reset_emulator();
    // SAFETY: no pointer is passed.
    ok(unsafe { cuInit(0) });
}
