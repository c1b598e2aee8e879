//! From text to result through the driver, by its C functions alone, on the emulator.

mod common;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use common::*;

#[test]
fn a_kernel_runs_from_text_to_result() {
    let _context = Context::new();
    let module = load(ADD_ONE);
    let kernel = function(module, "add_one");
    let values: Vec<u32> = (0..1000).collect();
    let data = alloc(4000);
    upload(data, &values);
    ok(launch(kernel, [8, 1, 1], [128, 1, 1], 0, &[data, 1000]));
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
    assert_eq!(download(data, 1000), (1..=1000).collect::<Vec<u32>>());
    // SAFETY: no pointer is passed.
    unsafe {
        ok(cuMemFree_v2(data));
        ok(cuModuleUnload(module));
        expect(result::INVALID_HANDLE, launch_one(kernel, &[data, 1]));
    }
    assert!(diagnostic().contains("was destroyed or unloaded"));
}

#[test]
fn parameters_may_come_in_one_buffer() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let data = alloc(16);
    upload(data, &[5, 6, 7, 8]);
    let mut buffer = data.to_le_bytes().to_vec();
    buffer.extend_from_slice(&3_u32.to_le_bytes());
    let mut size = buffer.len();
    let mut extra: [*mut c_void; 5] = [
        std::ptr::without_provenance_mut(1),
        buffer.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(2),
        (&raw mut size).cast(),
        null_mut(),
    ];
    // SAFETY: the array holds the buffer and its size, and ends with 0.
    ok(unsafe { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, null_mut(), extra.as_mut_ptr()) });
    assert_eq!(download(data, 4), [6, 7, 8, 8]);
    size = 8;
    extra[3] = (&raw mut size).cast();
    // SAFETY: as above.
    let found =
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, null_mut(), extra.as_mut_ptr()) };
    expect(result::INVALID_VALUE, found);
    assert_eq!(
        diagnostic(),
        "cuLaunchKernel: kernel `add_one`: the parameter buffer holds 8 bytes, the kernel's parameters take 12 bytes"
    );
}

#[test]
fn a_launch_takes_attributes() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let data = alloc(4);
    upload(data, &[1]);
    let (mut address, mut count) = (data, 1_u32);
    let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut count).cast()];
    let mut attribute = LaunchAttribute { id: 2, pad: [0; 4], value: [0; 16] };
    attribute.value[0] = 1; // cooperative
    let mut config = LaunchConfig {
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream: 0,
        attributes: &mut attribute,
        attribute_count: 1,
    };
    // SAFETY: the configuration, its attribute and the parameters are live.
    ok(unsafe { cuLaunchKernelEx(&config, kernel, params.as_mut_ptr(), null_mut()) });
    assert_eq!(download(data, 1), [2]);
    let mut cluster = LaunchAttribute { id: 4, pad: [0; 4], value: [0; 16] };
    cluster.value[..3].copy_from_slice(&[2, 1, 1]);
    config.attributes = &mut cluster;
    // SAFETY: as above.
    let found = unsafe { cuLaunchKernelEx(&config, kernel, params.as_mut_ptr(), null_mut()) };
    expect(result::INVALID_CLUSTER_SIZE, found);
    assert!(
        diagnostic()
            .contains("a grid of 1 x 1 x 1 blocks cannot be divided into clusters of 2 x 1 x 1")
    );
}

#[test]
fn variables_of_a_module_are_read_and_written() {
    let _context = Context::new();
    let module = load(".visible .global .align 4 .u32 table[4] = {7, 8, 9};\n");
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the pointers are to live variables, the name ends in NUL.
    ok(unsafe { cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"table".as_ptr()) });
    assert_eq!(bytes, 16);
    assert_eq!(download(address, 4), [7, 8, 9, 0]);
    upload(address + 4, &[1]);
    assert_eq!(download(address, 4), [7, 1, 9, 0]);
    // SAFETY: no pointer is passed.
    expect(result::INVALID_VALUE, unsafe { cuMemFree_v2(address) });
    assert!(diagnostic().contains("belongs to a module's variable"));
}

#[test]
fn a_library_gives_kernels_to_each_context() {
    let _context = Context::new();
    let text =
        std::ffi::CString::new(format!("{HEAD}{ADD_ONE}.visible .global .align 8 .b8 g[24];\n"))
            .unwrap();
    let (mut library, mut kernel, mut bytes, mut address) = (0, 0, 0, 0);
    let mut name: *const c_char = null();
    let mut threads: c_int = 0;
    // SAFETY: pointers are to live variables or null where that is allowed.
    unsafe {
        ok(cuLibraryLoadData(
            &mut library,
            text.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            0,
        ));
        ok(cuLibraryGetKernel(&mut kernel, library, c"add_one".as_ptr()));
        ok(cuKernelGetName(&mut name, kernel));
        assert_eq!(CStr::from_ptr(name), c"add_one");
        ok(cuKernelGetAttribute(&mut threads, 0, kernel, 0));
        ok(cuLibraryGetGlobal(&mut address, &mut bytes, library, c"g".as_ptr()));
    }
    assert_eq!((threads, bytes), (1024, 24));
    for _ in 0..2 {
        let _other = Context::new();
        let data = alloc(8);
        upload(data, &[1, 2]);
        // A kernel's handle is taken where a function's is.
        ok(launch_one(kernel, &[data, 2]));
        assert_eq!(download(data, 2), [2, 2]);
    }
    // SAFETY: no pointer is passed.
    unsafe {
        ok(cuLibraryUnload(library));
        expect(result::INVALID_HANDLE, cuLibraryUnload(library));
    }
    expect(result::INVALID_HANDLE, launch_one(kernel, &[0, 0]));
}

#[test]
fn linked_texts_run_together() {
    let _context = Context::new();
    let caller = format!(
        "{HEAD}.extern .func (.param .b32 out) seven();\n\
         .visible .entry k(.param .u64 data) {{\n\
             .reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [data];\n\
             {{ .param .b32 out; call.uni (out), seven, (); ld.param.b32 %r1, [out]; }}\n\
             st.global.b32 [%rd1], %r1;\n\
             ret;\n\
         }}\n"
    );
    let callee = format!(
        "{HEAD}.visible .func (.param .b32 out) seven() {{ .reg .b32 %r<2>; mov.b32 %r1, 7; st.param.b32 [out], %r1; ret; }}\n"
    );
    let (mut state, mut size, mut module) = (0, 0, 0);
    let mut image: *mut c_void = null_mut();
    // SAFETY: pointers are to live variables, sizes are those of the texts.
    unsafe {
        ok(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut state));
        for text in [&caller, &callee] {
            let data = text.as_ptr().cast_mut().cast();
            ok(cuLinkAddData_v2(
                state,
                1,
                data,
                text.len(),
                c"a".as_ptr(),
                0,
                null_mut(),
                null_mut(),
            ));
        }
        ok(cuLinkComplete(state, &mut image, &mut size));
        assert_eq!(*image.cast::<u8>().add(size - 1), 0);
        ok(cuModuleLoadData(&mut module, image));
        ok(cuLinkDestroy(state));
    }
    let data = alloc(4);
    ok(launch_one(function(module, "k"), &[data]));
    assert_eq!(download(data, 1), [7]);
    // Alone, the caller is not complete.
    let caller = std::ffi::CString::new(caller).unwrap();
    // SAFETY: the text ends in NUL.
    expect(result::INVALID_PTX, unsafe { cuModuleLoadData(&mut module, caller.as_ptr().cast()) });
    assert!(diagnostic().contains("the PTX calls `seven`, which it does not define"));
}

#[test]
fn the_error_log_says_where_the_text_is_wrong() {
    let _context = Context::new();
    let text =
        std::ffi::CString::new(format!("{HEAD}.visible .entry k() {{\n  bra NOWHERE;\n}}\n"))
            .unwrap();
    let mut log = vec![1_u8; 256];
    let mut info = vec![1_u8; 16];
    let mut options: [c_uint; 4] = [5, 6, 3, 4];
    let mut values: [*mut c_void; 4] = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(log.len()),
        info.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(info.len()),
    ];
    let mut load_with_logs = |text: &CStr, values: &mut [*mut c_void; 4]| {
        let mut module = 0;
        // SAFETY: four options with their values; the buffers are live and as long as said.
        unsafe {
            cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                4,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        }
    };
    let found = load_with_logs(&text, &mut values);
    expect(result::INVALID_PTX, found);
    let written = values[1].addr();
    let text = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(text.contains("5:7") && text.contains("NOWHERE"), "{text}");
    assert_eq!(written, text.len() + 1);
    assert_eq!((info[0], values[3].addr()), (0, 0));
    // A short buffer gets what fits.
    let mut short = [1_u8; 8];
    values[0] = short.as_mut_ptr().cast();
    values[1] = std::ptr::without_provenance_mut(8);
    let text = std::ffi::CString::new("nonsense").unwrap();
    let found = load_with_logs(&text, &mut values);
    expect(result::INVALID_IMAGE, found);
    assert_eq!((&short[..7], short[7], values[1].addr()), (&b"the ima"[..], 0, 8));
}

#[test]
fn machine_code_is_refused_with_a_reason() {
    let _context = Context::new();
    let mut module = 0;
    for image in [&b"\x7fELF\x02\x01\x01\0"[..], b"\x50\xED\x55\xBA\x01\0\0\0"] {
        // SAFETY: the image is readable for as long as its magic number.
        expect(result::NO_BINARY_FOR_GPU, unsafe {
            cuModuleLoadData(&mut module, image.as_ptr().cast())
        });
        assert!(diagnostic().contains("the emulator runs PTX only"));
    }
}

#[test]
fn streams_and_events_keep_order_and_time() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let data = alloc(4);
    let (mut stream, mut start, mut end, mut untimed) = (0, 0, 0, 0);
    let (value, mut back) = (41_u32, 0_u32);
    let mut milliseconds = -1.0;
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuStreamCreate(&mut stream, 1));
        ok(cuEventCreate(&mut start, 0));
        ok(cuEventCreate(&mut end, 0));
        ok(cuEventCreate(&mut untimed, 2));
        ok(cuEventRecord(start, stream));
        ok(cuMemcpyHtoDAsync_v2(data, (&raw const value).cast(), 4, stream));
        let (mut address, mut count) = (data, 1_u32);
        let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut count).cast()];
        ok(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()));
        ok(cuMemcpyDtoHAsync_v2((&raw mut back).cast(), data, 4, stream));
        ok(cuEventRecord(end, stream));
        ok(cuEventRecord(untimed, stream));
        ok(cuStreamWaitEvent(0, end, 0));
        ok(cuEventSynchronize(end));
        ok(cuStreamQuery(stream));
        assert_eq!(back, 42);
        ok(cuEventElapsedTime(&mut milliseconds, start, end));
        assert!((0.0..60_000.0).contains(&milliseconds), "{milliseconds}");
        expect(result::INVALID_HANDLE, cuEventElapsedTime(&mut milliseconds, start, untimed));
        ok(cuEventDestroy_v2(end));
        expect(result::INVALID_HANDLE, cuEventQuery(end));
        ok(cuStreamDestroy_v2(stream));
        expect(result::INVALID_HANDLE, cuStreamSynchronize(stream));
    }
}

#[test]
fn host_functions_run_in_their_turn() {
    unsafe extern "C" fn note(data: *mut c_void) {
        // SAFETY: the test passes a vector; calls into the driver are allowed here.
        unsafe {
            let mut count = 0;
            ok(cuDeviceGetCount(&mut count));
            (*data.cast::<Vec<i32>>()).push(count);
        }
    }
    let _context = Context::new();
    let mut notes: Vec<i32> = Vec::new();
    // SAFETY: the function gets the vector that it expects.
    unsafe {
        ok(cuLaunchHostFunc(0, Some(note), (&raw mut notes).cast()));
        ok(cuLaunchHostFunc(0, Some(note), (&raw mut notes).cast()));
        ok(cuCtxSynchronize());
        expect(result::INVALID_VALUE, cuLaunchHostFunc(0, None, null_mut()));
    }
    assert_eq!(notes, [1, 1]);
}
