//! [`CUresult`]: what every call of the driver API returns.
//!
//! Numbers and names are those of `cuda.h` (CUDA 13.0); the descriptions are what
//! `cuGetErrorString` answers on the emulator.

use std::ffi::{CStr, c_uint};
use std::fmt;

/// A call's result: 0 is success.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct CUresult(pub c_uint);

macro_rules! results {
    ($($number:literal $short:ident $name:ident $description:literal;)*) => {
        impl CUresult {
            $(
                #[doc = concat!("`", stringify!($name), "`: ", $description, ".")]
                pub const $short: CUresult = CUresult($number);
            )*

            /// Every result there is, in numeric order.
            pub const ALL: &'static [CUresult] = &[$(CUresult::$short),*];

            /// The C name and description, both NUL-terminated.
            fn texts(self) -> Option<(&'static CStr, &'static CStr)> {
                match self.0 {
                    $($number => Some((
                        nul_terminated(concat!(stringify!($name), "\0")),
                        nul_terminated(concat!($description, "\0")),
                    )),)*
                    _ => None,
                }
            }
        }
    };
}

/// A C string from a literal that ends in NUL.
const fn nul_terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

results! {
    0 SUCCESS CUDA_SUCCESS "no error";
    1 INVALID_VALUE CUDA_ERROR_INVALID_VALUE "invalid argument";
    2 OUT_OF_MEMORY CUDA_ERROR_OUT_OF_MEMORY "out of memory";
    3 NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED "initialization error";
    4 DEINITIALIZED CUDA_ERROR_DEINITIALIZED "driver shutting down";
    5 PROFILER_DISABLED CUDA_ERROR_PROFILER_DISABLED "profiler disabled while using external profiling tool";
    6 PROFILER_NOT_INITIALIZED CUDA_ERROR_PROFILER_NOT_INITIALIZED "profiler not initialized";
    7 PROFILER_ALREADY_STARTED CUDA_ERROR_PROFILER_ALREADY_STARTED "profiler already started";
    8 PROFILER_ALREADY_STOPPED CUDA_ERROR_PROFILER_ALREADY_STOPPED "profiler already stopped";
    34 STUB_LIBRARY CUDA_ERROR_STUB_LIBRARY "CUDA driver is a stub library";
    46 DEVICE_UNAVAILABLE CUDA_ERROR_DEVICE_UNAVAILABLE "CUDA-capable device is busy or unavailable";
    100 NO_DEVICE CUDA_ERROR_NO_DEVICE "no CUDA-capable device is detected";
    101 INVALID_DEVICE CUDA_ERROR_INVALID_DEVICE "invalid device ordinal";
    102 DEVICE_NOT_LICENSED CUDA_ERROR_DEVICE_NOT_LICENSED "device has no valid licence";
    200 INVALID_IMAGE CUDA_ERROR_INVALID_IMAGE "device kernel image is invalid";
    201 INVALID_CONTEXT CUDA_ERROR_INVALID_CONTEXT "invalid device context";
    202 CONTEXT_ALREADY_CURRENT CUDA_ERROR_CONTEXT_ALREADY_CURRENT "context already current";
    205 MAP_FAILED CUDA_ERROR_MAP_FAILED "mapping of buffer object failed";
    206 UNMAP_FAILED CUDA_ERROR_UNMAP_FAILED "unmapping of buffer object failed";
    207 ARRAY_IS_MAPPED CUDA_ERROR_ARRAY_IS_MAPPED "array is mapped";
    208 ALREADY_MAPPED CUDA_ERROR_ALREADY_MAPPED "resource already mapped";
    209 NO_BINARY_FOR_GPU CUDA_ERROR_NO_BINARY_FOR_GPU "no kernel image is available for execution on the device";
    210 ALREADY_ACQUIRED CUDA_ERROR_ALREADY_ACQUIRED "resource already acquired";
    211 NOT_MAPPED CUDA_ERROR_NOT_MAPPED "resource not mapped";
    212 NOT_MAPPED_AS_ARRAY CUDA_ERROR_NOT_MAPPED_AS_ARRAY "resource not mapped as array";
    213 NOT_MAPPED_AS_POINTER CUDA_ERROR_NOT_MAPPED_AS_POINTER "resource not mapped as pointer";
    214 ECC_UNCORRECTABLE CUDA_ERROR_ECC_UNCORRECTABLE "uncorrectable ECC error encountered";
    215 UNSUPPORTED_LIMIT CUDA_ERROR_UNSUPPORTED_LIMIT "limit is not supported on this architecture";
    216 CONTEXT_ALREADY_IN_USE CUDA_ERROR_CONTEXT_ALREADY_IN_USE "exclusive-thread device already in use by a different thread";
    217 PEER_ACCESS_UNSUPPORTED CUDA_ERROR_PEER_ACCESS_UNSUPPORTED "peer access is not supported between these two devices";
    218 INVALID_PTX CUDA_ERROR_INVALID_PTX "a PTX JIT compilation failed";
    219 INVALID_GRAPHICS_CONTEXT CUDA_ERROR_INVALID_GRAPHICS_CONTEXT "invalid OpenGL or DirectX context";
    220 NVLINK_UNCORRECTABLE CUDA_ERROR_NVLINK_UNCORRECTABLE "uncorrectable NVLink error detected during the execution";
    221 JIT_COMPILER_NOT_FOUND CUDA_ERROR_JIT_COMPILER_NOT_FOUND "PTX JIT compiler library not found";
    222 UNSUPPORTED_PTX_VERSION CUDA_ERROR_UNSUPPORTED_PTX_VERSION "the PTX is of a version that this driver does not know";
    223 JIT_COMPILATION_DISABLED CUDA_ERROR_JIT_COMPILATION_DISABLED "PTX JIT compilation was disabled";
    224 UNSUPPORTED_EXEC_AFFINITY CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY "the execution affinity is not supported";
    225 UNSUPPORTED_DEVSIDE_SYNC CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC "the PTX calls cudaDeviceSynchronize, which is not supported";
    300 INVALID_SOURCE CUDA_ERROR_INVALID_SOURCE "device kernel image is invalid";
    301 FILE_NOT_FOUND CUDA_ERROR_FILE_NOT_FOUND "file not found";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND "shared object symbol not found";
    303 SHARED_OBJECT_INIT_FAILED CUDA_ERROR_SHARED_OBJECT_INIT_FAILED "shared object initialization failed";
    304 OPERATING_SYSTEM CUDA_ERROR_OPERATING_SYSTEM "OS call failed or operation not supported on this OS";
    400 INVALID_HANDLE CUDA_ERROR_INVALID_HANDLE "invalid resource handle";
    401 ILLEGAL_STATE CUDA_ERROR_ILLEGAL_STATE "the operation cannot be performed in the present state";
    402 LOSSY_QUERY CUDA_ERROR_LOSSY_QUERY "the query would lose information";
    500 NOT_FOUND CUDA_ERROR_NOT_FOUND "named symbol not found";
    600 NOT_READY CUDA_ERROR_NOT_READY "device not ready";
    700 ILLEGAL_ADDRESS CUDA_ERROR_ILLEGAL_ADDRESS "an illegal memory access was encountered";
    701 LAUNCH_OUT_OF_RESOURCES CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES "too many resources requested for launch";
    702 LAUNCH_TIMEOUT CUDA_ERROR_LAUNCH_TIMEOUT "the launch timed out and was terminated";
    703 LAUNCH_INCOMPATIBLE_TEXTURING CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING "launch uses incompatible texturing mode";
    704 PEER_ACCESS_ALREADY_ENABLED CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED "peer access is already enabled";
    705 PEER_ACCESS_NOT_ENABLED CUDA_ERROR_PEER_ACCESS_NOT_ENABLED "peer access has not been enabled";
    708 PRIMARY_CONTEXT_ACTIVE CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE "cannot set while device is active in this process";
    709 CONTEXT_IS_DESTROYED CUDA_ERROR_CONTEXT_IS_DESTROYED "context is destroyed";
    710 ASSERT CUDA_ERROR_ASSERT "device-side assert triggered";
    711 TOO_MANY_PEERS CUDA_ERROR_TOO_MANY_PEERS "peer mapping resources exhausted";
    712 HOST_MEMORY_ALREADY_REGISTERED CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED "part or all of the requested memory range is already mapped";
    713 HOST_MEMORY_NOT_REGISTERED CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED "pointer does not correspond to a registered memory region";
    714 HARDWARE_STACK_ERROR CUDA_ERROR_HARDWARE_STACK_ERROR "hardware stack error";
    715 ILLEGAL_INSTRUCTION CUDA_ERROR_ILLEGAL_INSTRUCTION "an illegal instruction was encountered";
    716 MISALIGNED_ADDRESS CUDA_ERROR_MISALIGNED_ADDRESS "misaligned address";
    717 INVALID_ADDRESS_SPACE CUDA_ERROR_INVALID_ADDRESS_SPACE "operation not supported on global/shared address space";
    718 INVALID_PC CUDA_ERROR_INVALID_PC "invalid program counter";
    719 LAUNCH_FAILED CUDA_ERROR_LAUNCH_FAILED "unspecified launch failure";
    720 COOPERATIVE_LAUNCH_TOO_LARGE CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE "too many blocks in cooperative launch";
    721 TENSOR_MEMORY_LEAK CUDA_ERROR_TENSOR_MEMORY_LEAK "tensor memory was not freed before the kernel ended";
    800 NOT_PERMITTED CUDA_ERROR_NOT_PERMITTED "operation not permitted";
    801 NOT_SUPPORTED CUDA_ERROR_NOT_SUPPORTED "operation not supported";
    802 SYSTEM_NOT_READY CUDA_ERROR_SYSTEM_NOT_READY "system not yet initialized";
    803 SYSTEM_DRIVER_MISMATCH CUDA_ERROR_SYSTEM_DRIVER_MISMATCH "system has unsupported display driver / cuda driver combination";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE "forward compatibility was attempted on non supported HW";
    805 MPS_CONNECTION_FAILED CUDA_ERROR_MPS_CONNECTION_FAILED "MPS client failed to connect";
    806 MPS_RPC_FAILURE CUDA_ERROR_MPS_RPC_FAILURE "remote procedure call to the MPS server failed";
    807 MPS_SERVER_NOT_READY CUDA_ERROR_MPS_SERVER_NOT_READY "MPS server is not ready";
    808 MPS_MAX_CLIENTS_REACHED CUDA_ERROR_MPS_MAX_CLIENTS_REACHED "MPS server has reached its limit of clients";
    809 MPS_MAX_CONNECTIONS_REACHED CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED "MPS server has reached its limit of connections";
    810 MPS_CLIENT_TERMINATED CUDA_ERROR_MPS_CLIENT_TERMINATED "MPS client was terminated by the server";
    811 CDP_NOT_SUPPORTED CUDA_ERROR_CDP_NOT_SUPPORTED "dynamic parallelism is not supported";
    812 CDP_VERSION_MISMATCH CUDA_ERROR_CDP_VERSION_MISMATCH "versions of dynamic parallelism are mixed";
    900 STREAM_CAPTURE_UNSUPPORTED CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED "operation not permitted when stream is capturing";
    901 STREAM_CAPTURE_INVALIDATED CUDA_ERROR_STREAM_CAPTURE_INVALIDATED "operation failed due to a previous error during capture";
    902 STREAM_CAPTURE_MERGE CUDA_ERROR_STREAM_CAPTURE_MERGE "operation would result in a merge of separate capture sequences";
    903 STREAM_CAPTURE_UNMATCHED CUDA_ERROR_STREAM_CAPTURE_UNMATCHED "capture was not ended in the same stream as it began";
    904 STREAM_CAPTURE_UNJOINED CUDA_ERROR_STREAM_CAPTURE_UNJOINED "capturing stream has unjoined work";
    905 STREAM_CAPTURE_ISOLATION CUDA_ERROR_STREAM_CAPTURE_ISOLATION "dependency created on uncaptured work in another stream";
    906 STREAM_CAPTURE_IMPLICIT CUDA_ERROR_STREAM_CAPTURE_IMPLICIT "operation would make the legacy stream depend on a capturing blocking stream";
    907 CAPTURED_EVENT CUDA_ERROR_CAPTURED_EVENT "operation not permitted on an event last recorded in a capturing stream";
    908 STREAM_CAPTURE_WRONG_THREAD CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD "attempt to end a thread-local capture from another thread";
    909 TIMEOUT CUDA_ERROR_TIMEOUT "wait operation timed out";
    910 GRAPH_EXEC_UPDATE_FAILURE CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE "the graph update broke a rule of instantiated graphs";
    911 EXTERNAL_DEVICE CUDA_ERROR_EXTERNAL_DEVICE "an error occurred in an external device";
    912 INVALID_CLUSTER_SIZE CUDA_ERROR_INVALID_CLUSTER_SIZE "a kernel launch error has occurred due to cluster misconfiguration";
    913 FUNCTION_NOT_LOADED CUDA_ERROR_FUNCTION_NOT_LOADED "the function is not loaded";
    914 INVALID_RESOURCE_TYPE CUDA_ERROR_INVALID_RESOURCE_TYPE "the value is not a valid resource type";
    915 INVALID_RESOURCE_CONFIGURATION CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION "the resource is not a valid configuration";
    916 KEY_ROTATION CUDA_ERROR_KEY_ROTATION "a key rotation is pending";
    917 STREAM_DETACHED CUDA_ERROR_STREAM_DETACHED "the stream is detached";
    999 UNKNOWN CUDA_ERROR_UNKNOWN "unknown error";
}

impl CUresult {
    /// Whether the call succeeded.
    pub fn is_success(self) -> bool {
        self == CUresult::SUCCESS
    }

    /// The name in `cuda.h`, such as `CUDA_ERROR_ILLEGAL_ADDRESS`; none for an unknown number.
    pub fn name(self) -> Option<&'static CStr> {
        self.texts().map(|(name, _)| name)
    }

    /// A short description; none for an unknown number.
    pub fn description(self) -> Option<&'static CStr> {
        self.texts().map(|(_, description)| description)
    }
}

impl fmt::Display for CUresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({})", name.to_string_lossy(), self.0),
            None => write!(f, "CUresult {}", self.0),
        }
    }
}

impl fmt::Debug for CUresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::CUresult;

    #[test]
    fn every_result_has_a_name_and_a_description() {
        for pair in CUresult::ALL.windows(2) {
            assert!(pair[0] < pair[1], "{} is not in order", pair[1]);
        }
        for result in CUresult::ALL {
            let name = result.name().unwrap().to_str().unwrap();
            assert!(name.starts_with("CUDA_"), "{name}");
            assert!(!result.description().unwrap().is_empty(), "{name}");
        }
        assert_eq!(CUresult(12345).name(), None);
        assert_eq!(CUresult::ILLEGAL_ADDRESS.to_string(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    }
}
