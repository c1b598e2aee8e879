//! What the driver says of devices, kernels and its own entry points, asked as a C program asks.

mod common;

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr::{null, null_mut};

use common::*;

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
fn sizes_that_no_device_has_are_no_accident() {
    let _context = Context::new();
    let text = "
.const .align 8 .b8 table[16];
.visible .entry wide() .maxntid 4294967295, 4294967295, 4294967295 { ret; }
.visible .entry fixed() { .shared .b8 tile[64]; st.shared.u8 [tile], 1; ret; }
";
    let module = load(text);
    let (wide, fixed) = (function(module, "wide"), function(module, "fixed"));
    let (mut blocks, mut grid, mut size) = (-1, -1, -1);
    for bytes in [usize::MAX, usize::MAX - 63, usize::MAX / 2, 232_449] {
        // SAFETY: the pointers are to live variables.
        unsafe {
            ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, fixed, 32, bytes));
            ok(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut size, fixed, None, bytes, 0));
        }
        assert_eq!((blocks, grid, size), (0, 0, 0), "{bytes}");
    }
    // SAFETY: as above.
    unsafe {
        ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, fixed, 32, 232_448 - 64));
        assert_eq!(blocks, 1);
        ok(cuFuncGetAttribute(&mut size, 0, wide));
    }
    assert_eq!(size, 1024);
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
