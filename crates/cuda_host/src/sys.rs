//! The driver calls that this crate makes itself, below `cust`: launches on the default stream, modules with the
//! compiler's log, raw memory.
//!
//! They are declared here, and not taken from `cust::sys`, because there a result is a Rust `enum` of CUDA 11's codes:
//! a newer driver returns others, which such an `enum` cannot hold. Here it is the plain number.
//! Names and parameters: CUDA Driver API reference, <https://docs.nvidia.com/cuda/cuda-driver-api/>.

use std::ffi::{c_char, c_int, c_uint, c_void};

pub(crate) use cust::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmodule, CUstream,
};

/// `CUresult` as a number; 0 is success.
pub(crate) type Code = u32;

/// `CU_JIT_ERROR_LOG_BUFFER`
pub(crate) const JIT_ERROR_LOG_BUFFER: c_uint = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`
pub(crate) const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub(crate) const FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

/// `CU_LIMIT_STACK_SIZE`
pub(crate) const LIMIT_STACK_SIZE: c_uint = 0;

/// `CU_MEMHOSTALLOC_PORTABLE`
pub(crate) const MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// `CU_MEMHOSTALLOC_DEVICEMAP`
pub(crate) const MEMHOSTALLOC_DEVICEMAP: c_uint = 2;

/// `CUlaunchConfig`
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: CUstream,
    pub(crate) attributes: *mut LaunchAttribute,
    pub(crate) attribute_count: c_uint,
}

/// `CUlaunchAttribute`: its number, and 64 bytes that belong to it.
#[repr(C)]
pub(crate) struct LaunchAttribute {
    id: c_uint,
    padding: c_uint,
    value: [c_uint; 16],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    pub(crate) fn cooperative(is_on: bool) -> Self {
        let mut value = [0; 16];
        value[0] = is_on.into();
        Self { id: 2, padding: 0, value }
    }

    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    pub(crate) fn cluster(blocks: [u32; 3]) -> Self {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&blocks);
        Self { id: 4, padding: 0, value }
    }
}

// `value` is a union with 64-bit members (cuda.h).
const _: () = assert!(size_of::<LaunchAttribute>() == 72);

unsafe extern "C" {
    pub(crate) fn cuInit(flags: c_uint) -> Code;
    pub(crate) fn cuDriverGetVersion(version: *mut c_int) -> Code;
    pub(crate) fn cuDeviceGetCount(count: *mut c_int) -> Code;
    pub(crate) fn cuDeviceGetAttribute(
        value: *mut c_int,
        attribute: c_int,
        device: CUdevice,
    ) -> Code;
    pub(crate) fn cuCtxSetCurrent(context: CUcontext) -> Code;
    pub(crate) fn cuCtxSynchronize() -> Code;
    pub(crate) fn cuCtxSetLimit(limit: c_uint, value: usize) -> Code;
    pub(crate) fn cuCtxGetLimit(value: *mut usize, limit: c_uint) -> Code;

    pub(crate) fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        option_count: c_uint,
        options: *mut c_uint,
        values: *mut *mut c_void,
    ) -> Code;
    pub(crate) fn cuModuleUnload(module: CUmodule) -> Code;
    pub(crate) fn cuModuleGetFunction(
        function: *mut CUfunction,
        module: CUmodule,
        name: *const c_char,
    ) -> Code;
    pub(crate) fn cuModuleGetGlobal_v2(
        address: *mut CUdeviceptr,
        bytes: *mut usize,
        module: CUmodule,
        name: *const c_char,
    ) -> Code;
    pub(crate) fn cuFuncGetAttribute(
        value: *mut c_int,
        attribute: c_int,
        function: CUfunction,
    ) -> Code;
    pub(crate) fn cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int) -> Code;
    pub(crate) fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Code;

    pub(crate) fn cuLaunchCooperativeKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        params: *mut *mut c_void,
    ) -> Code;
    pub(crate) fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: CUfunction,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Code;
    pub(crate) fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: CUfunction,
        block_threads: c_int,
        dynamic_shared_bytes: usize,
    ) -> Code;

    pub(crate) fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) -> Code;
    pub(crate) fn cuMemFree_v2(address: CUdeviceptr) -> Code;
    pub(crate) fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Code;
    pub(crate) fn cuMemcpyHtoD_v2(target: CUdeviceptr, source: *const c_void, bytes: usize)
    -> Code;
    pub(crate) fn cuMemcpyDtoH_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize) -> Code;
    pub(crate) fn cuMemcpyDtoD_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize) -> Code;
    pub(crate) fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code;
    pub(crate) fn cuMemHostGetDevicePointer_v2(
        address: *mut CUdeviceptr,
        memory: *mut c_void,
        flags: c_uint,
    ) -> Code;
    pub(crate) fn cuMemFreeHost(memory: *mut c_void) -> Code;
    pub(crate) fn cuMemsetD8_v2(target: CUdeviceptr, value: u8, bytes: usize) -> Code;

    pub(crate) fn cuStreamSynchronize(stream: CUstream) -> Code;
    pub(crate) fn cuStreamQuery(stream: CUstream) -> Code;
    pub(crate) fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> Code;
    pub(crate) fn cuEventCreate(event: *mut CUevent, flags: c_uint) -> Code;
    pub(crate) fn cuEventRecord(event: CUevent, stream: CUstream) -> Code;
    pub(crate) fn cuEventQuery(event: CUevent) -> Code;
    pub(crate) fn cuEventSynchronize(event: CUevent) -> Code;
    pub(crate) fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Code;
    pub(crate) fn cuEventDestroy_v2(event: CUevent) -> Code;
}
