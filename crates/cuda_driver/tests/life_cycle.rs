//! Whole ways through the driver, by its C functions alone, on the emulator.

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
fn rows_are_copied_between_pitches() {
    let _context = Context::new();
    let (mut device, mut pitch) = (0, 0);
    // SAFETY: the pointers are to live variables.
    ok(unsafe { cuMemAllocPitch_v2(&mut device, &mut pitch, 12, 3, 4) });
    assert_eq!(pitch, 512);
    let source: Vec<u32> = (0..12).collect(); // 3 rows of 4, of which 3 columns are taken
    let mut back = vec![99_u32; 9];
    let none = Side2D { x: 0, y: 0, kind: 0, host: null_mut(), device: 0, array: 0, pitch: 0 };
    let up = Copy2D {
        source: Side2D {
            kind: 1,
            host: source.as_ptr().cast_mut().cast(),
            x: 4,
            pitch: 16,
            ..none
        },
        destination: Side2D { kind: 2, device, pitch, ..none },
        width: 12,
        height: 3,
    };
    let down = Copy2D {
        source: Side2D { kind: 2, device, pitch, ..none },
        destination: Side2D { kind: 1, host: back.as_mut_ptr().cast(), pitch: 12, ..none },
        width: 12,
        height: 3,
    };
    // SAFETY: both descriptions stay within their buffers.
    unsafe {
        ok(cuMemcpy2D_v2(&up));
        ok(cuMemcpy2D_v2(&down));
    }
    assert_eq!(back, [1, 2, 3, 5, 6, 7, 9, 10, 11]);
    let past = Copy2D { height: 4, ..up };
    // SAFETY: it is refused because of the device's range, before the host's is touched.
    expect(result::INVALID_VALUE, unsafe { cuMemcpy2D_v2(&past) });
    let array = Copy2D { destination: Side2D { kind: 3, ..none }, ..down };
    // SAFETY: it is refused.
    expect(result::NOT_SUPPORTED, unsafe { cuMemcpy2D_v2(&array) });
}

#[test]
fn slices_are_copied_in_three_dimensions() {
    let _context = Context::new();
    let device = alloc(2 * 3 * 8);
    let source: Vec<u32> = (0..12).collect(); // 2 slices of 3 rows of 2
    let mut back = vec![0_u32; 4];
    let none = Side3D {
        x: 0,
        y: 0,
        z: 0,
        lod: 0,
        kind: 0,
        host: null_mut(),
        device: 0,
        array: 0,
        reserved: 0,
        pitch: 0,
        height: 0,
    };
    upload(device, &source);
    let copy = Copy3D {
        source: Side3D { kind: 2, device, x: 4, y: 1, pitch: 8, height: 3, ..none },
        destination: Side3D {
            kind: 1,
            host: back.as_mut_ptr().cast(),
            pitch: 4,
            height: 2,
            ..none
        },
        width: 4,
        height: 2,
        depth: 2,
    };
    // SAFETY: the description stays within its buffers.
    ok(unsafe { cuMemcpy3D_v2(&copy) });
    assert_eq!(back, [3, 5, 9, 11]);
}

#[test]
fn fills_touch_what_they_name() {
    let _context = Context::new();
    let data = alloc(32);
    // SAFETY: no pointer is passed.
    unsafe {
        ok(cuMemsetD8_v2(data, 0x11, 32));
        ok(cuMemsetD16_v2(data + 2, 0x2233, 1));
        ok(cuMemsetD32_v2(data + 8, 0x4455_6677, 2));
        ok(cuMemsetD2D32_v2(data + 16, 8, 9, 1, 2));
        expect(result::INVALID_VALUE, cuMemsetD2D32_v2(data, 8, 9, 1, 5));
        expect(result::INVALID_VALUE, cuMemsetD2D32_v2(data, 4, 9, 2, 2));
    }
    assert_eq!(
        download(data, 8),
        [0x2233_1111, 0x1111_1111, 0x4455_6677, 0x4455_6677, 9, 0x1111_1111, 9, 0x1111_1111]
    );
}

#[test]
fn managed_memory_is_the_same_for_host_and_kernels() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuMemAllocManaged(&mut address, 10_000 * 4, 1) });
    let host: *mut u32 = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the driver gave 10,000 numbers at this address for the host's use, too.
    unsafe {
        for index in 0..10_000 {
            host.add(index).write(index as u32);
        }
        ok(launch(kernel, [79, 1, 1], [128, 1, 1], 0, &[address, 10_000]));
        ok(cuCtxSynchronize());
        for index in 0..10_000 {
            assert_eq!(host.add(index).read(), index as u32 + 1);
        }
        // Copies and fills on the device's side are seen, too.
        ok(cuMemsetD32_v2(address + 4, 77, 1));
        assert_eq!(host.add(1).read(), 77);
        host.add(2).write(88);
        assert_eq!(download(address, 3), [1, 77, 88]);
        let mut managed = 2_u8;
        ok(cuPointerGetAttribute((&raw mut managed).cast(), 8, address));
        assert_eq!(managed, 1);
        ok(cuMemFree_v2(address));
        expect(result::INVALID_VALUE, cuMemFree_v2(address));
    }
}

#[test]
fn kernels_reach_pinned_and_registered_memory_by_their_device_pointer() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let mut pinned: *mut c_void = null_mut();
    let mut registered = [10_u32, 20];
    let pointer: *mut c_void = registered.as_mut_ptr().cast();
    let (mut first, mut second) = (0, 0);
    // SAFETY: pointers are to live memory of the sizes said.
    unsafe {
        ok(cuMemHostAlloc(&mut pinned, 8, 2));
        ok(cuMemHostRegister_v2(pointer, 8, 0));
        expect(712, cuMemHostRegister_v2(pointer, 4, 0));
        ok(cuMemHostGetDevicePointer_v2(&mut first, pinned, 0));
        ok(cuMemHostGetDevicePointer_v2(&mut second, pointer, 0));
        pinned.cast::<u32>().write(1);
        pinned.cast::<u32>().add(1).write(2);
        ok(launch_one(kernel, &[first, 2]));
        ok(launch_one(kernel, &[second, 2]));
        ok(cuCtxSynchronize());
        // One thread: the first of the two.
        assert_eq!((pinned.cast::<u32>().read(), pinned.cast::<u32>().add(1).read()), (2, 2));
        assert_eq!(pointer.cast::<u32>().read(), 11);
        let mut kind = 0_u32;
        ok(cuPointerGetAttribute((&raw mut kind).cast(), 2, pinned.addr() as u64));
        assert_eq!(kind, 1);
        ok(cuMemHostUnregister(pointer));
        expect(713, cuMemHostUnregister(pointer));
        ok(cuMemFreeHost(pinned));
        expect(result::INVALID_VALUE, cuMemFreeHost(pinned));
    }
    assert_eq!(registered, [11, 20]);
}

#[test]
fn the_kind_of_an_address_is_found_out() {
    let _context = Context::new();
    let data = alloc(64);
    let mut host = [3_u32, 4];
    let mut back = [0_u32; 2];
    // SAFETY: addresses are those of live memory of the sizes said.
    unsafe {
        let address = host.as_mut_ptr().expose_provenance() as u64;
        ok(cuMemcpy(data, address, 8));
        ok(cuMemcpy(data + 8, data, 8));
        ok(cuMemcpy(back.as_mut_ptr().expose_provenance() as u64, data + 8, 8));
        assert_eq!(back, [3, 4]);
        let (mut base, mut size) = (0, 0);
        ok(cuMemGetAddressRange_v2(&mut base, &mut size, data + 63));
        assert_eq!((base, size), (data, 64));
        expect(result::NOT_FOUND, cuMemGetAddressRange_v2(&mut base, &mut size, data + 64));
        let mut kind = 0_u32;
        ok(cuPointerGetAttribute((&raw mut kind).cast(), 2, data));
        assert_eq!(kind, 2);
        expect(result::INVALID_VALUE, cuPointerGetAttribute((&raw mut kind).cast(), 2, address));
        ok(cuMemFree_v2(data));
        // A freed address is not taken for the host's.
        expect(result::INVALID_VALUE, cuMemcpy(data, address, 8));
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

#[test]
fn stream_ordered_allocations_come_and_go() {
    let _context = Context::new();
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    unsafe {
        ok(cuMemAllocAsync(&mut address, 256, 0));
        ok(cuMemsetD8_v2(address, 1, 256));
        ok(cuMemFreeAsync(address, 0));
        expect(result::INVALID_VALUE, cuMemFreeAsync(address, 0));
    }
}

#[test]
fn occupancy_follows_the_formula_of_9_0() {
    let _context = Context::new();
    let module = load(
        ".visible .entry small() { ret; }\n\
         .visible .entry shared() { .shared .align 4 .b8 s[40960]; .reg .b64 %rd<2>; mov.u64 %rd1, s; st.shared.b32 [%rd1], 1; ret; }\n\
         .visible .entry bounded() .maxntid 96 { ret; }\n",
    );
    let blocks = |name: &str, size: c_int, shared: usize| {
        let mut blocks = -1;
        // SAFETY: the pointer is to a live variable.
        ok(unsafe {
            cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                function(module, name),
                size,
                shared,
            )
        });
        blocks
    };
    // Limited by blocks, by threads, by threads, and none at all.
    assert_eq!([32, 64, 1024, 1025].map(|size| blocks("small", size, 0)), [32, 32, 2, 0]);
    // 233,472 bytes a multiprocessor, each block takes what it asks for and 1 KiB.
    assert_eq!(blocks("shared", 32, 0), 5);
    assert_eq!(blocks("small", 32, 232_448), 1);
    assert_eq!(blocks("small", 32, 232_449), 0);
    assert_eq!([96, 97].map(|size| blocks("bounded", size, 0)), [21, 0]);
    let (mut grid, mut block, mut bytes) = (0, 0, 0);
    // SAFETY: pointers are to live variables; there is no callback.
    unsafe {
        ok(cuOccupancyMaxPotentialBlockSize(
            &mut grid,
            &mut block,
            function(module, "small"),
            None,
            0,
            0,
        ));
        assert_eq!((grid, block), (264, 1024));
        ok(cuOccupancyMaxPotentialBlockSize(
            &mut grid,
            &mut block,
            function(module, "small"),
            None,
            0,
            100,
        ));
        assert_eq!(block, 64); // 32 blocks of 64 threads fill it, 20 of 100 do not
        ok(cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, function(module, "shared"), 2, 128));
        // Two blocks leave more, but without opting in a block gets 48 KiB in all.
        assert_eq!(bytes, 49_152 - 40_960);
        expect(
            result::INVALID_VALUE,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut grid, function(module, "small"), 0, 0),
        );
    }
}

#[test]
fn attributes_describe_a_kernel() {
    let _context = Context::new();
    let module = load(&format!(
        "{ADD_ONE}.visible .entry shared() .maxntid 64, 2 {{ .shared .align 4 .b8 s[400]; .reg .b64 %rd<2>; mov.u64 %rd1, s; st.shared.b32 [%rd1], 1; ret; }}\n"
    ));
    let get = |name: &str, attribute: c_uint| {
        let mut value = -7;
        // SAFETY: the pointer is to a live variable.
        ok(unsafe { cuFuncGetAttribute(&mut value, attribute, function(module, name)) });
        value
    };
    assert_eq!(
        [0, 1, 5, 6, 8].map(|attribute| get("add_one", attribute)),
        [1024, 0, 90, 90, 49_152]
    );
    assert_eq!([0, 1, 8].map(|attribute| get("shared", attribute)), [128, 400, 48_752]);
    assert!((16..=64).contains(&get("add_one", 4)), "{} registers", get("add_one", 4));
    let kernel = function(module, "shared");
    let (mut offset, mut size) = (0, 0);
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuFuncSetAttribute(kernel, 8, 100_000));
        assert_eq!(get("shared", 8), 100_000);
        expect(result::INVALID_VALUE, cuFuncSetAttribute(kernel, 8, 232_448));
        assert!(
            diagnostic()
                .contains("expected 0 to 232048 bytes (232448 less the 400 bytes of static")
        );
        expect(result::INVALID_VALUE, cuFuncSetAttribute(kernel, 0, 1));
        ok(cuFuncGetParamInfo(function(module, "add_one"), 1, &mut offset, &mut size));
        assert_eq!((offset, size), (8, 4));
        expect(
            result::INVALID_VALUE,
            cuFuncGetParamInfo(function(module, "add_one"), 2, &mut offset, &mut size),
        );
    }
}

#[test]
fn entry_points_are_found_by_name() {
    let _context = Context::new();
    let (mut address, mut status) = (null_mut(), 9);
    // SAFETY: pointers are to live variables; the function found has the type of cuDeviceGetCount.
    unsafe {
        ok(cuGetProcAddress_v2(c"cuDeviceGetCount".as_ptr(), &mut address, 12000, 0, &mut status));
        assert_eq!(status, 0);
        let count: unsafe extern "C" fn(*mut c_int) -> u32 = std::mem::transmute(address);
        let mut devices = 0;
        ok(count(&mut devices));
        assert_eq!(devices, 1);
        expect(
            result::NOT_FOUND,
            cuGetProcAddress_v2(c"cuNothing".as_ptr(), &mut address, 12000, 0, &mut status),
        );
        assert_eq!((address, status), (null_mut(), 1));
        expect(
            result::NOT_FOUND,
            cuGetProcAddress_v2(c"cuLibraryLoadData".as_ptr(), &mut address, 11000, 0, &mut status),
        );
        assert_eq!(status, 2);
        let mut table = null();
        expect(result::NOT_SUPPORTED, cuGetExportTable(&mut table, &[0; 16]));
    }
}

#[test]
fn the_device_says_what_it_is() {
    let _context = Context::new();
    let mut name = [0 as c_char; 64];
    let (mut total, mut free, mut version) = (0, 0, 0);
    // SAFETY: pointers are to live variables of the sizes said.
    unsafe {
        ok(cuDeviceGetName(name.as_mut_ptr(), 64, 0));
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"Ferrowarp emulator");
        ok(cuDeviceGetName(name.as_mut_ptr(), 6, 0));
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"Ferro");
        ok(cuDeviceTotalMem_v2(&mut total, 0));
        ok(cuMemGetInfo_v2(&mut free, null_mut()));
        assert!(free <= total && total > 0);
        ok(cuDriverGetVersion(&mut version));
        assert_eq!(version, 13_000);
        let mut text = null();
        ok(cuGetErrorName(716, &mut text));
        assert_eq!(CStr::from_ptr(text), c"CUDA_ERROR_MISALIGNED_ADDRESS");
        ok(cuGetErrorString(716, &mut text));
        assert_eq!(CStr::from_ptr(text), c"misaligned address");
        expect(result::INVALID_VALUE, cuGetErrorName(12_345, &mut text));
        assert!(text.is_null());
        let mut graph = 0;
        expect(result::NOT_SUPPORTED, cuGraphCreate(&mut graph, 0));
    }
    let found = cuda_driver::take_diagnostic().unwrap();
    assert_eq!(found.ending, cuda_driver::Ending::Unsupported);
    assert_eq!(
        found.text,
        "cuGraphCreate: `cuGraphCreate` is not supported by the emulator (graphs)\n\
         help: it works on a GPU, with CUDA_DRIVER_BACKEND=gpu"
    );
}
