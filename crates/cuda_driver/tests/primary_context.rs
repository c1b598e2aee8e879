//! The primary context, in a program of its own: a fault in it lasts as long as the process.

mod common;

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use common::*;

/// One test, because the primary context is the process's.
#[test]
fn the_primary_context_is_shared_counted_and_lost_by_a_fault() {
    assert!(cuda_driver::use_emulator());
    cuda_driver::ensure_linked();
    let (mut context, mut again, mut current) = (0, 0, 0);
    let (mut flags, mut active): (c_uint, c_int) = (0, 0);
    // SAFETY: pointers are to live variables.
    unsafe {
        expect(result::NOT_INITIALIZED, cuDeviceGetCount(&mut active));
        expect(result::NOT_INITIALIZED, cuCtxGetCurrent(&mut current));
        assert_eq!(
            diagnostic(),
            "cuCtxGetCurrent: the driver is not initialised\nhelp: call cuInit(0) first"
        );
        ok(cuInit(0));
        expect(result::INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
        ok(cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(cuDevicePrimaryCtxRetain(&mut again, 0));
        assert_eq!(context, again);
        ok(cuCtxGetCurrent(&mut current));
        assert_eq!(current, 0, "retaining does not make it current");
        ok(cuCtxSetCurrent(context));
        expect(result::INVALID_CONTEXT, cuCtxDestroy_v2(context));
        let data = alloc(4);
        ok(cuDevicePrimaryCtxRelease_v2(0));
        upload(data, &[1]);
        ok(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        assert_eq!(active, 1);
        // The last release destroys what is in it; retaining gives it anew.
        ok(cuDevicePrimaryCtxRelease_v2(0));
        expect(result::CONTEXT_IS_DESTROYED, cuCtxSynchronize());
        ok(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        assert_eq!(active, 0);
        ok(cuDevicePrimaryCtxRetain(&mut again, 0));
        assert_eq!(context, again);
        ok(cuCtxSynchronize());
        expect(result::INVALID_VALUE, cuMemFree_v2(data));
    }
    what_kernels_print_comes_at_synchronising_calls();
    // SAFETY: pointers are to live variables.
    unsafe {
        let kernel = function(load(".visible .entry lost() { trap; }\n"), "lost");
        ok(launch_one(kernel, &[]));
        expect(719, cuCtxSynchronize());
        // As an H200 answered: reset and release succeed, but nothing mends it.
        ok(cuDevicePrimaryCtxReset_v2(0));
        expect(719, cuCtxSynchronize());
        ok(cuDevicePrimaryCtxRelease_v2(0));
        expect(719, cuDevicePrimaryCtxRetain(&mut again, 0));
        assert!(diagnostic().contains("lost"));
        cuda_driver::reset_emulator();
        expect(result::NOT_INITIALIZED, cuDevicePrimaryCtxRetain(&mut again, 0));
        ok(cuInit(0));
        ok(cuDevicePrimaryCtxRetain(&mut again, 0));
        assert_ne!(context, again);
        expect(result::CONTEXT_IS_DESTROYED, cuCtxSetCurrent(context));
        ok(cuCtxSetCurrent(again));
        ok(cuCtxSynchronize());
    }
}

fn what_kernels_print_comes_at_synchronising_calls() {
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = printed.clone();
    cuda_driver::set_output(Some(Box::new(move |text| {
        sink.lock().unwrap().push_str(std::str::from_utf8(text).unwrap());
    })));
    let kernel = function(
        load(
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n\
             .global .align 1 .b8 text[10] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 10};\n\
             .global .align 1 .b8 nul[1];\n\
             .visible .entry hello() {\n\
                 .local .align 8 .b8 buffer[8]; .reg .b64 %rd<4>; .reg .b32 %r<3>;\n\
                 mov.u32 %r1, %tid.x;\n\
                 mov.u64 %rd1, buffer; st.local.b32 [%rd1], %r1; cvta.local.u64 %rd2, %rd1;\n\
                 mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3;\n\
                 { .param .b64 f; .param .b64 v; .param .b32 r;\n\
                   st.param.b64 [f], %rd3; st.param.b64 [v], %rd2;\n\
                   call.uni (r), vprintf, (f, v); ld.param.b32 %r2, [r]; }\n\
                 ret;\n\
             }\n"
            .replace("text[10]", "format[11]")
            .as_str(),
        ),
        "hello",
    );
    ok(launch(kernel, [1; 3], [3, 1, 1], 0, &[]));
    assert_eq!(*printed.lock().unwrap(), "");
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
    assert_eq!(*printed.lock().unwrap(), "thread 0\nthread 1\nthread 2\n");
    cuda_driver::set_output(None);
}
