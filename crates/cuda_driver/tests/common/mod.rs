//! The driver API as a C program declares it, and a few helpers over it.
//!
//! The declarations are written down again here on purpose: the tests link against the symbols, with the
//! types of `cuda.h`, and know nothing of how the crate declares them.
#![allow(dead_code, missing_docs)]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

pub type Handle = usize;
pub type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;

unsafe extern "C" {
    pub fn cuInit(flags: c_uint) -> u32;
    pub fn cuDriverGetVersion(version: *mut c_int) -> u32;
    pub fn cuGetErrorName(error: u32, text: *mut *const c_char) -> u32;
    pub fn cuGetErrorString(error: u32, text: *mut *const c_char) -> u32;
    pub fn cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut *mut c_void,
        version: c_int,
        flags: u64,
        status: *mut c_uint,
    ) -> u32;
    pub fn cuGetExportTable(table: *mut *const c_void, id: *const [u8; 16]) -> u32;
    pub fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> u32;
    pub fn cuDeviceGetCount(count: *mut c_int) -> u32;
    pub fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> u32;
    pub fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: c_int) -> u32;
    pub fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> u32;
    pub fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) -> u32;
    pub fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> u32;
    pub fn cuDevicePrimaryCtxReset_v2(device: c_int) -> u32;
    pub fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int)
    -> u32;
    pub fn cuCtxCreate_v2(context: *mut Handle, flags: c_uint, device: c_int) -> u32;
    pub fn cuCtxDestroy_v2(context: Handle) -> u32;
    pub fn cuCtxPushCurrent_v2(context: Handle) -> u32;
    pub fn cuCtxPopCurrent_v2(context: *mut Handle) -> u32;
    pub fn cuCtxSetCurrent(context: Handle) -> u32;
    pub fn cuCtxGetCurrent(context: *mut Handle) -> u32;
    pub fn cuCtxGetDevice(device: *mut c_int) -> u32;
    pub fn cuCtxSynchronize() -> u32;
    pub fn cuCtxSetLimit(limit: c_uint, value: usize) -> u32;
    pub fn cuCtxGetLimit(value: *mut usize, limit: c_uint) -> u32;
    pub fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> u32;
    pub fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: c_uint,
        options: *mut c_uint,
        values: *mut *mut c_void,
    ) -> u32;
    pub fn cuModuleUnload(module: Handle) -> u32;
    pub fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> u32;
    pub fn cuModuleGetGlobal_v2(
        address: *mut u64,
        bytes: *mut usize,
        module: Handle,
        name: *const c_char,
    ) -> u32;
    pub fn cuLinkCreate_v2(
        count: c_uint,
        options: *mut c_uint,
        values: *mut *mut c_void,
        state: *mut Handle,
    ) -> u32;
    pub fn cuLinkAddData_v2(
        state: Handle,
        kind: c_uint,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        count: c_uint,
        options: *mut c_uint,
        values: *mut *mut c_void,
    ) -> u32;
    pub fn cuLinkComplete(state: Handle, image: *mut *mut c_void, size: *mut usize) -> u32;
    pub fn cuLinkDestroy(state: Handle) -> u32;
    pub fn cuLibraryLoadData(
        library: *mut Handle,
        code: *const c_void,
        options: *mut c_uint,
        values: *mut *mut c_void,
        count: c_uint,
        library_options: *mut c_uint,
        library_values: *mut *mut c_void,
        library_count: c_uint,
    ) -> u32;
    pub fn cuLibraryUnload(library: Handle) -> u32;
    pub fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) -> u32;
    pub fn cuLibraryGetGlobal(
        address: *mut u64,
        bytes: *mut usize,
        library: Handle,
        name: *const c_char,
    ) -> u32;
    pub fn cuKernelGetAttribute(
        value: *mut c_int,
        attribute: c_uint,
        kernel: Handle,
        device: c_int,
    ) -> u32;
    pub fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) -> u32;
    pub fn cuKernelGetName(name: *mut *const c_char, kernel: Handle) -> u32;
    pub fn cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, function: Handle) -> u32;
    pub fn cuFuncSetAttribute(function: Handle, attribute: c_uint, value: c_int) -> u32;
    pub fn cuFuncGetParamInfo(
        function: Handle,
        index: usize,
        offset: *mut usize,
        size: *mut usize,
    ) -> u32;
    pub fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    pub fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: Handle,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    pub fn cuLaunchCooperativeKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        params: *mut *mut c_void,
    ) -> u32;
    pub fn cuLaunchHostFunc(stream: Handle, function: HostFn, data: *mut c_void) -> u32;
    pub fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: Handle,
        block_size: c_int,
        shared: usize,
    ) -> u32;
    pub fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: Handle,
        callback: Option<unsafe extern "C" fn(c_int) -> usize>,
        shared: usize,
        limit: c_int,
    ) -> u32;
    pub fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: Handle,
        blocks: c_int,
        block_size: c_int,
    ) -> u32;
    pub fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32;
    pub fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32;
    pub fn cuMemAllocPitch_v2(
        address: *mut u64,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: c_uint,
    ) -> u32;
    pub fn cuMemFree_v2(address: u64) -> u32;
    pub fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: Handle) -> u32;
    pub fn cuMemFreeAsync(address: u64, stream: Handle) -> u32;
    pub fn cuMemGetAddressRange_v2(base: *mut u64, size: *mut usize, address: u64) -> u32;
    pub fn cuPointerGetAttribute(data: *mut c_void, attribute: c_uint, address: u64) -> u32;
    pub fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> u32;
    pub fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> u32;
    pub fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    pub fn cuMemHostGetDevicePointer_v2(
        address: *mut u64,
        pointer: *mut c_void,
        flags: c_uint,
    ) -> u32;
    pub fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) -> u32;
    pub fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
    pub fn cuMemAllocManaged(address: *mut u64, bytes: usize, flags: c_uint) -> u32;
    pub fn cuMemcpy(to: u64, from: u64, bytes: usize) -> u32;
    pub fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> u32;
    pub fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> u32;
    pub fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> u32;
    pub fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) -> u32;
    pub fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: Handle) -> u32;
    pub fn cuMemcpy2D_v2(copy: *const Copy2D) -> u32;
    pub fn cuMemcpy3D_v2(copy: *const Copy3D) -> u32;
    pub fn cuMemsetD8_v2(address: u64, value: u8, count: usize) -> u32;
    pub fn cuMemsetD16_v2(address: u64, value: u16, count: usize) -> u32;
    pub fn cuMemsetD32_v2(address: u64, value: c_uint, count: usize) -> u32;
    pub fn cuMemsetD2D32_v2(
        address: u64,
        pitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
    ) -> u32;
    pub fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> u32;
    pub fn cuStreamDestroy_v2(stream: Handle) -> u32;
    pub fn cuStreamSynchronize(stream: Handle) -> u32;
    pub fn cuStreamQuery(stream: Handle) -> u32;
    pub fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> u32;
    pub fn cuEventCreate(event: *mut Handle, flags: c_uint) -> u32;
    pub fn cuEventDestroy_v2(event: Handle) -> u32;
    pub fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    pub fn cuEventQuery(event: Handle) -> u32;
    pub fn cuEventSynchronize(event: Handle) -> u32;
    pub fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> u32;
    pub fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint) -> u32;
    pub fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    pub fn cuStreamIsCapturing(stream: Handle, status: *mut c_uint) -> u32;
    pub fn cuMemsetD32Async(address: u64, value: c_uint, count: usize, stream: Handle) -> u32;
    pub fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64) -> u32;
    pub fn cuGraphLaunch(executable: Handle, stream: Handle) -> u32;
    pub fn cuUserObjectCreate(
        object: *mut Handle,
        data: *mut c_void,
        destroy: HostFn,
        count: c_uint,
        flags: c_uint,
    ) -> u32;
    pub fn cuUserObjectRelease(object: Handle, count: c_uint) -> u32;
    pub fn cuGraphRetainUserObject(
        graph: Handle,
        object: Handle,
        count: c_uint,
        flags: c_uint,
    ) -> u32;
    pub fn cuGraphExecDestroy(executable: Handle) -> u32;
    pub fn cuGraphDestroy(graph: Handle) -> u32;
    pub fn cuGraphCreate(graph: *mut Handle, flags: c_uint) -> u32;
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub stream: Handle,
    pub attributes: *mut LaunchAttribute,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`; its value holds pointers, so that it is aligned as they are.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    pub id: c_uint,
    pub pad: [u8; 4],
    pub value: [u32; 16],
}

/// One half of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side2D {
    pub x: usize,
    pub y: usize,
    pub kind: c_uint,
    pub host: *mut c_void,
    pub device: u64,
    pub array: Handle,
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Copy2D {
    pub source: Side2D,
    pub destination: Side2D,
    pub width: usize,
    pub height: usize,
}

/// One half of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub kind: c_uint,
    pub host: *mut c_void,
    pub device: u64,
    pub array: Handle,
    pub reserved: Handle,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct Copy3D {
    pub source: Side3D,
    pub destination: Side3D,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUresult`s that the tests name.
pub mod result {
    pub const SUCCESS: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const NOT_INITIALIZED: u32 = 3;
    pub const NO_DEVICE: u32 = 100;
    pub const INVALID_IMAGE: u32 = 200;
    pub const INVALID_CONTEXT: u32 = 201;
    pub const NO_BINARY_FOR_GPU: u32 = 209;
    pub const INVALID_PTX: u32 = 218;
    pub const INVALID_HANDLE: u32 = 400;
    pub const NOT_FOUND: u32 = 500;
    pub const CONTEXT_IS_DESTROYED: u32 = 709;
    pub const NOT_SUPPORTED: u32 = 801;
    pub const INVALID_CLUSTER_SIZE: u32 = 912;
}

/// The start of a PTX text.
pub const HEAD: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// A kernel `add_one(u32* data, u32 n)` that adds 1 to each of `n` elements.
pub const ADD_ONE: &str = "
.visible .entry add_one(.param .u64 data, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<7>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.b32 %r6, [%rd3];
    add.s32 %r6, %r6, 1;
    st.global.b32 [%rd3], %r6;
DONE:
    ret;
}
";

/// Asserts a result and shows the diagnostic where it is another.
#[track_caller]
pub fn expect(expected: u32, found: u32) {
    assert_eq!(found, expected, "{:?}", cuda_driver::take_diagnostic());
}

/// Asserts success.
#[track_caller]
pub fn ok(found: u32) {
    expect(result::SUCCESS, found);
}

/// The text of this thread's latest failure.
#[track_caller]
pub fn diagnostic() -> String {
    cuda_driver::take_diagnostic().expect("a diagnostic").text
}

/// A context of its own for each test, current on its thread and destroyed with this value, so that a
/// fault stays within the test.
pub struct Context(pub Handle);

impl Context {
    pub fn new() -> Context {
        assert!(cuda_driver::use_emulator());
        cuda_driver::ensure_linked();
        let mut context = 0;
        // SAFETY: the pointer is to a live variable.
        unsafe {
            ok(cuInit(0));
            ok(cuCtxCreate_v2(&mut context, 0, 0));
        }
        Context(context)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: any handle may be passed.
        unsafe { cuCtxDestroy_v2(self.0) };
    }
}

/// Loads PTX text after the usual head.
#[track_caller]
pub fn load(body: &str) -> Handle {
    let text = CString::new(format!("{HEAD}{body}")).unwrap();
    let mut module = 0;
    // SAFETY: the text ends in NUL and the pointer is to a live variable.
    ok(unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) });
    module
}

/// A kernel of a module.
#[track_caller]
pub fn function(module: Handle, name: &str) -> Handle {
    let name = CString::new(name).unwrap();
    let mut function = 0;
    // SAFETY: the name ends in NUL and the pointer is to a live variable.
    ok(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) });
    function
}

/// Device memory.
#[track_caller]
pub fn alloc(bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuMemAlloc_v2(&mut address, bytes) });
    address
}

/// Copies numbers to device memory.
#[track_caller]
pub fn upload(address: u64, values: &[u32]) {
    // SAFETY: the slice is valid for its size.
    ok(unsafe { cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)) });
}

/// Copies numbers from device memory.
#[track_caller]
pub fn download(address: u64, count: usize) -> Vec<u32> {
    let mut values = vec![0_u32; count];
    // SAFETY: the buffer is valid for its size.
    ok(unsafe { cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, count * 4) });
    values
}

/// Launches a kernel whose parameters are 8 bytes each, or smaller ones in their low bytes.
pub fn launch(
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: &[u64],
) -> u32 {
    let mut values = params.to_vec();
    let mut pointers: Vec<*mut c_void> =
        values.iter_mut().map(|value| (value as *mut u64).cast()).collect();
    // SAFETY: one pointer for each parameter, each to 8 bytes.
    unsafe {
        cuLaunchKernel(
            function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            shared,
            0,
            pointers.as_mut_ptr(),
            null_mut(),
        )
    }
}

/// As [`launch`], with one block of one thread.
pub fn launch_one(function: Handle, params: &[u64]) -> u32 {
    launch(function, [1; 3], [1; 3], 0, params)
}
