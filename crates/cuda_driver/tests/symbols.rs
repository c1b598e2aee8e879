//! The table covers what clients link against or ask for.

use std::collections::BTreeSet;

use cuda_driver::{Status, support_table};

fn exported() -> BTreeSet<&'static str> {
    support_table().iter().map(|entry| entry.symbol).collect()
}

fn missing<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let exported = exported();
    names.into_iter().filter(|name| !exported.contains(name)).collect()
}

/// Every function that cust_raw 0.11.3 declares.
#[test]
fn every_symbol_of_cust_raw_is_exported() {
    let names: Vec<&str> = include_str!("data/cust_raw_symbols.txt").lines().collect();
    assert_eq!(names.len(), 353);
    assert_eq!(missing(names), [""; 0]);
}

/// Every function that cust 0.3.2 calls; those that the emulator refuses are known.
#[test]
fn every_symbol_of_cust_is_exported() {
    let names: Vec<&str> = include_str!("data/cust_symbols.txt").lines().collect();
    assert_eq!(missing(names.iter().copied()), [""; 0]);
    let refused: Vec<&str> = support_table()
        .iter()
        .filter(|entry| entry.status == Status::NotSupported && names.contains(&entry.symbol))
        .map(|entry| entry.symbol)
        .collect();
    let unexpected: Vec<&&str> = refused
        .iter()
        .filter(|name| {
            // Arrays, textures, surfaces, graphs and external memory.
            !["Array", "AtoH", "HtoA", "Tex", "Surf", "Graph", "External"]
                .iter()
                .any(|part| name.contains(part))
        })
        .collect();
    assert_eq!(unexpected, [&""; 0]);
}

/// What numba-cuda 0.30 calls, by the names that it asks `cuGetProcAddress` for.
#[test]
fn numba_finds_what_it_calls() {
    let names = "
        cuInit cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetAttribute cuDeviceGetName cuDeviceGetUuid
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuCtxGetCurrent cuCtxSetCurrent
        cuCtxPushCurrent cuCtxPopCurrent cuCtxGetDevice cuCtxSynchronize cuCtxCreate cuMemGetInfo cuMemAlloc cuMemFree
        cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemsetD8
        cuMemsetD8Async cuMemHostAlloc cuMemFreeHost cuMemHostRegister cuMemHostUnregister cuMemHostGetDevicePointer
        cuMemAllocManaged cuMemGetAddressRange cuPointerGetAttribute cuLinkCreate cuLinkAddData cuLinkAddFile
        cuLinkComplete cuLinkDestroy cuLibraryLoadData cuLibraryUnload cuLibraryGetKernel cuLibraryGetGlobal
        cuLibraryGetModule cuKernelGetAttribute cuKernelSetAttribute cuKernelSetCacheConfig cuKernelGetFunction
        cuLaunchKernelEx cuLaunchKernel cuLaunchCooperativeKernel cuStreamCreate cuStreamCreateWithPriority
        cuStreamDestroy cuStreamSynchronize cuStreamGetCtx cuStreamWaitEvent cuStreamBeginCapture cuStreamAddCallback
        cuEventCreate cuEventRecord cuEventQuery cuEventSynchronize cuEventElapsedTime cuEventDestroy
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
        cuOccupancyMaxPotentialBlockSize cuCtxGetStreamPriorityRange cuGetErrorName cuGetErrorString
        cuDeviceCanAccessPeer cuCtxEnablePeerAccess cuIpcGetMemHandle cuIpcOpenMemHandle cuIpcCloseMemHandle
        cuProfilerStart cuProfilerStop cuGetProcAddress cuGetExportTable
    ";
    let found: BTreeSet<&str> = support_table().iter().map(|entry| entry.base_name()).collect();
    let missing: Vec<&str> =
        names.split_whitespace().filter(|name| !found.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}
