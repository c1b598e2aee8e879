//! The table itself.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::*;
use crate::types::*;

driver_api! {
    "Initialisation, errors and entry points" {
        cuInit(flags: c_uint) = implemented init::init, since 2000, "chooses the backend";
        cuDriverGetVersion(driver_version: Out<c_int>) = implemented init::driver_version, since 2000, "the emulator answers 13.0";
        cuGetErrorString(error: CUresult, text: Out<*const c_char>) = implemented init::error_string, since 2000, "";
        cuGetErrorName(error: CUresult, text: Out<*const c_char>) = implemented init::error_name, since 2000, "";
        cuGetProcAddress(symbol: Text, function: Out<*mut c_void>, version: c_int, flags: u64) = implemented init::proc_address, since 11030, "this library's own entry points";
        cuGetProcAddress_v2(symbol: Text, function: Out<*mut c_void>, version: c_int, flags: u64, symbol_status: Out<c_uint>) = implemented init::proc_address_v2, since 12000, "this library's own entry points";
        cuGetExportTable(table: Out<*mut c_void>, export_table_id: In<CUuuid>) = unsupported, since 2000, "private tables of NVIDIA's tools";
    }
    "Devices" {
        cuDeviceGet(device: Out<CUdevice>, ordinal: c_int) = implemented device::get, since 2000, "";
        cuDeviceGetCount(count: Out<c_int>) = implemented device::count, since 2000, "one device";
        cuDeviceGetName(name: HostPtr, len: c_int, device: CUdevice) = implemented device::name, since 2000, "";
        cuDeviceGetUuid(uuid: Out<CUuuid>, device: CUdevice) = implemented device::uuid, since 9020, "";
        cuDeviceGetUuid_v2(uuid: Out<CUuuid>, device: CUdevice) = implemented device::uuid, since 11040, "";
        cuDeviceGetLuid(luid: HostPtr, device_node_mask: Out<c_uint>, device: CUdevice) = unsupported, since 2000, "a Windows identity";
        cuDeviceTotalMem_v2(bytes: Out<usize>, device: CUdevice) = implemented device::total_memory, since 3020, "";
        cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, device: CUdevice) = implemented device::attribute, since 2000, "an H200's, less what the emulator cannot do";
        cuDeviceGetProperties(properties: Out<CUdevprop>, device: CUdevice) = implemented device::properties, since 2000, "";
        cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: CUdevice) = implemented device::compute_capability, since 2000, "9.0";
        cuDeviceGetByPCIBusId(device: Out<CUdevice>, pci_bus_id: Text) = implemented device::by_pci_bus_id, since 2000, "";
        cuDeviceGetPCIBusId(pci_bus_id: HostPtr, len: c_int, device: CUdevice) = implemented device::pci_bus_id, since 2000, "";
        cuDeviceCanAccessPeer(can_access_peer: Out<c_int>, device: CUdevice, peer_dev: CUdevice) = implemented device::can_access_peer, since 2000, "no: there is one device";
        cuDeviceGetP2PAttribute(value: Out<c_int>, attribute: c_uint, src_device: CUdevice, dst_device: CUdevice) = implemented device::p2p_attribute, since 2000, "always refused: there is one device";
        cuDeviceGetExecAffinitySupport(value: Out<c_int>, kind: c_uint, device: CUdevice) = implemented device::exec_affinity_support, since 2000, "none";
        cuDeviceGetTexture1DLinearMaxWidth(max_width_in_elements: Out<usize>, format: c_uint, num_channels: c_uint, device: CUdevice) = unsupported, since 2000, "textures";
        cuDeviceGetNvSciSyncAttributes(nv_sci_sync_attr_list: HostPtr, device: CUdevice, flags: c_int) = unsupported, since 2000, "NvSciSync";
        cuFlushGPUDirectRDMAWrites(target: c_uint, scope: c_uint) = unsupported, since 2000, "RDMA";
    }
    "Contexts" {
        cuDevicePrimaryCtxRetain(context: Out<CUcontext>, device: CUdevice) = implemented primary::retain, since 2000, "";
        cuDevicePrimaryCtxRelease_v2(device: CUdevice) = implemented primary::release, since 11000, "";
        cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) = implemented primary::set_flags, since 11000, "";
        cuDevicePrimaryCtxGetState(device: CUdevice, flags: Out<c_uint>, active: Out<c_int>) = implemented primary::state, since 2000, "";
        cuDevicePrimaryCtxReset_v2(device: CUdevice) = implemented primary::reset, since 11000, "does not mend a faulted context, as on hardware";
        cuCtxCreate_v2(context: Out<CUcontext>, flags: c_uint, device: CUdevice) = implemented context::create, since 3020, "";
        cuCtxCreate_v3(context: Out<CUcontext>, params_array: Opaque, num_params: c_int, flags: c_uint, device: CUdevice) = implemented context::create_v3, since 11040, "without affinity parameters";
        cuCtxCreate_v4(context: Out<CUcontext>, params: Out<CUctxCreateParams>, flags: c_uint, device: CUdevice) = implemented context::create_v4, since 12050, "without affinity and graphics parameters";
        cuCtxDestroy_v2(context: CUcontext) = implemented context::destroy, since 4000, "";
        cuCtxPushCurrent_v2(context: CUcontext) = implemented context::push, since 4000, "";
        cuCtxPopCurrent_v2(context: Out<CUcontext>) = implemented context::pop, since 4000, "";
        cuCtxSetCurrent(context: CUcontext) = implemented context::set_current, since 2000, "";
        cuCtxGetCurrent(context: Out<CUcontext>) = implemented context::get_current, since 2000, "";
        cuCtxGetDevice(device: Out<CUdevice>) = implemented context::get_device, since 2000, "";
        cuCtxGetDevice_v2(device: Out<CUdevice>, context: CUcontext) = implemented context::get_device_v2, since 13000, "";
        cuCtxGetFlags(flags: Out<c_uint>) = implemented context::get_flags, since 2000, "";
        cuCtxSetFlags(flags: c_uint) = implemented context::set_flags, since 12010, "";
        cuCtxGetId(context: CUcontext, ctx_id: Out<u64>) = implemented context::get_id, since 12000, "";
        cuCtxSynchronize() = implemented context::synchronize, since 2000, "reports a fault and prints what kernels printed";
        cuCtxSynchronize_v2(context: CUcontext) = implemented context::synchronize_v2, since 13000, "";
        cuCtxRecordEvent(context: CUcontext, event: CUevent) = unsupported, since 12050, "green contexts";
        cuCtxWaitEvent(context: CUcontext, event: CUevent) = unsupported, since 12050, "green contexts";
        cuCtxSetLimit(limit: c_uint, value: usize) = implemented context::set_limit, since 2000, "that of the stack counts for launches; others are kept and answered";
        cuCtxGetLimit(value: Out<usize>, limit: c_uint) = implemented context::get_limit, since 2000, "";
        cuCtxGetCacheConfig(config: Out<c_uint>) = accepted context::get_cache_config, since 2000, "";
        cuCtxSetCacheConfig(config: c_uint) = accepted context::set_cache_config, since 2000, "kept; there is no L1 cache";
        cuCtxGetSharedMemConfig(config: Out<c_uint>) = accepted context::get_shared_config, since 2000, "";
        cuCtxSetSharedMemConfig(config: c_uint) = accepted context::set_shared_config, since 2000, "banks are always 4 bytes wide";
        cuCtxGetApiVersion(context: CUcontext, version: Out<c_uint>) = implemented context::api_version, since 2000, "";
        cuCtxGetStreamPriorityRange(least_priority: Out<c_int>, greatest_priority: Out<c_int>) = implemented context::stream_priority_range, since 2000, "0 to -5";
        cuCtxResetPersistingL2Cache() = accepted context::reset_persisting_l2, since 2000, "there is no L2 cache";
        cuCtxGetExecAffinity(exec_affinity: Opaque, kind: c_uint) = unsupported, since 2000, "execution affinity";
        cuCtxAttach(context: Out<CUcontext>, flags: c_uint) = implemented context::attach, since 2000, "deprecated";
        cuCtxDetach(context: CUcontext) = implemented context::detach, since 2000, "deprecated";
        cuCtxEnablePeerAccess(peer_context: CUcontext, flags: c_uint) = implemented context::enable_peer_access, since 2000, "always refused: there is one device";
        cuCtxDisablePeerAccess(peer_context: CUcontext) = implemented context::disable_peer_access, since 2000, "always refused: there is one device";
    }
    "Modules" {
        cuModuleLoad(module: Out<CUmodule>, path: Text) = implemented module::load, since 2000, "PTX text only";
        cuModuleLoadData(module: Out<CUmodule>, image: HostPtr) = implemented module::load_data, since 2000, "PTX text only";
        cuModuleLoadDataEx(module: Out<CUmodule>, image: HostPtr, option_count: c_uint, options: Out<c_uint>, option_values: Out<*mut c_void>) = implemented module::load_data_ex, since 2000, "PTX text only; of the options, the log buffers and the limit of registers count";
        cuModuleLoadFatBinary(module: Out<CUmodule>, fat_cubin: HostPtr) = implemented module::load_data, since 2000, "refused with a diagnostic unless it is PTX text";
        cuModuleUnload(module: CUmodule) = implemented module::unload, since 2000, "";
        cuModuleGetFunction(function: Out<CUfunction>, module: CUmodule, name: Text) = implemented module::get_function, since 2000, "";
        cuModuleGetGlobal_v2(address: Out<CUdeviceptr>, bytes: Out<usize>, module: CUmodule, name: Text) = implemented module::get_global, since 3020, "";
        cuModuleGetLoadingMode(mode: Out<c_uint>) = implemented module::loading_mode, since 11070, "eager";
        cuModuleGetFunctionCount(count: Out<c_uint>, module: CUmodule) = implemented module::function_count, since 12040, "";
        cuModuleEnumerateFunctions(functions: Out<CUfunction>, num_functions: c_uint, module: CUmodule) = implemented module::enumerate_functions, since 12040, "";
        cuModuleGetTexRef(tex_ref: Out<CUtexref>, module: CUmodule, name: Text) = unsupported, since 2000, "textures";
        cuModuleGetSurfRef(surf_ref: Out<CUsurfref>, module: CUmodule, name: Text) = unsupported, since 2000, "surfaces";
    }
    "Linking" {
        cuLinkCreate_v2(option_count: c_uint, options: Out<c_uint>, option_values: Out<*mut c_void>, state_out: Out<CUlinkState>) = implemented link::create, since 6050, "of the options, the log buffers and the limit of registers count";
        cuLinkAddData_v2(state: CUlinkState, kind: c_uint, data: HostPtr, size: usize, name: Text, option_count: c_uint, options: Out<c_uint>, option_values: Out<*mut c_void>) = implemented link::add_data, since 6050, "PTX text, and libcudadevrt.a for barriers of the grid";
        cuLinkAddFile_v2(state: CUlinkState, kind: c_uint, path: Text, option_count: c_uint, options: Out<c_uint>, option_values: Out<*mut c_void>) = implemented link::add_file, since 6050, "PTX text, and libcudadevrt.a for barriers of the grid";
        cuLinkComplete(state: CUlinkState, cubin_out: Out<*mut c_void>, size_out: Out<usize>) = implemented link::complete, since 2000, "the result is joined PTX text";
        cuLinkDestroy(state: CUlinkState) = implemented link::destroy, since 2000, "";
    }
    "Libraries and their kernels" {
        cuLibraryLoadData(library: Out<CUlibrary>, code: HostPtr, jit_options: Out<c_uint>, jit_options_values: Out<*mut c_void>, num_jit_options: c_uint, library_options: Out<c_uint>, library_option_values: Out<*mut c_void>, num_library_options: c_uint) = implemented library::load_data, since 12000, "PTX text only";
        cuLibraryLoadFromFile(library: Out<CUlibrary>, file_name: Text, jit_options: Out<c_uint>, jit_options_values: Out<*mut c_void>, num_jit_options: c_uint, library_options: Out<c_uint>, library_option_values: Out<*mut c_void>, num_library_options: c_uint) = implemented library::load_file, since 12000, "PTX text only";
        cuLibraryUnload(library: CUlibrary) = implemented library::unload, since 12000, "";
        cuLibraryGetKernel(kernel: Out<CUkernel>, library: CUlibrary, name: Text) = implemented library::get_kernel, since 12000, "";
        cuLibraryGetKernelCount(count: Out<c_uint>, lib: CUlibrary) = implemented library::kernel_count, since 12040, "";
        cuLibraryEnumerateKernels(kernels: Out<CUkernel>, num_kernels: c_uint, lib: CUlibrary) = implemented library::enumerate_kernels, since 12040, "";
        cuLibraryGetModule(module: Out<CUmodule>, library: CUlibrary) = implemented library::get_module, since 12000, "";
        cuLibraryGetGlobal(address: Out<CUdeviceptr>, bytes: Out<usize>, library: CUlibrary, name: Text) = implemented library::get_global, since 12000, "";
        cuLibraryGetManaged(address: Out<CUdeviceptr>, bytes: Out<usize>, library: CUlibrary, name: Text) = unsupported, since 12000, ".managed variables";
        cuLibraryGetUnifiedFunction(fptr: Out<*mut c_void>, library: CUlibrary, symbol: Text) = unsupported, since 12000, "unified function pointers";
        cuKernelGetFunction(function: Out<CUfunction>, kernel: CUkernel) = implemented library::kernel_function, since 12000, "";
        cuKernelGetLibrary(library: Out<CUlibrary>, kernel: CUkernel) = implemented library::kernel_library, since 12050, "";
        cuKernelGetAttribute(value: Out<c_int>, attribute: c_uint, kernel: CUkernel, device: CUdevice) = implemented library::kernel_get_attribute, since 12000, "";
        cuKernelSetAttribute(attribute: c_uint, val: c_int, kernel: CUkernel, device: CUdevice) = implemented library::kernel_set_attribute, since 12000, "";
        cuKernelSetCacheConfig(kernel: CUkernel, config: c_uint, device: CUdevice) = accepted library::kernel_set_cache_config, since 12000, "there is no L1 cache";
        cuKernelGetName(name: Out<*const c_char>, kernel: CUkernel) = implemented library::kernel_name, since 12030, "";
        cuKernelGetParamInfo(kernel: CUkernel, param_index: usize, param_offset: Out<usize>, param_size: Out<usize>) = implemented library::kernel_param_info, since 12040, "";
    }
    "Functions" {
        cuFuncGetAttribute(value: Out<c_int>, attribute: c_uint, function: CUfunction) = implemented function::get_attribute, since 2000, "the register count is an estimate";
        cuFuncSetAttribute(function: CUfunction, attribute: c_uint, value: c_int) = implemented function::set_attribute, since 2000, "";
        cuFuncSetCacheConfig(function: CUfunction, config: c_uint) = accepted function::set_cache_config, since 2000, "there is no L1 cache";
        cuFuncSetSharedMemConfig(function: CUfunction, config: c_uint) = accepted function::set_shared_config, since 2000, "banks are always 4 bytes wide";
        cuFuncGetModule(module: Out<CUmodule>, function: CUfunction) = implemented function::get_module, since 2000, "";
        cuFuncGetName(name: Out<*const c_char>, function: CUfunction) = implemented function::name, since 12030, "";
        cuFuncGetParamInfo(function: CUfunction, param_index: usize, param_offset: Out<usize>, param_size: Out<usize>) = implemented function::param_info, since 12040, "";
        cuFuncIsLoaded(state: Out<c_uint>, function: CUfunction) = implemented function::is_loaded, since 12040, "always";
        cuFuncLoad(function: CUfunction) = accepted function::load, since 12040, "already loaded";
    }
    "Launches" {
        cuLaunchKernel(function: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params: Out<*mut c_void>, extra: Out<*mut c_void>) = implemented launch::kernel, since 2000, "runs at once on the calling thread; a fault comes from the next synchronising call";
        cuLaunchKernelEx(config: In<CUlaunchConfig>, function: CUfunction, kernel_params: Out<*mut c_void>, extra: Out<*mut c_void>) = implemented launch::kernel_ex, since 11060, "clusters of up to 8 blocks";
        cuLaunchCooperativeKernel(function: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params: Out<*mut c_void>) = implemented launch::cooperative, since 9000, "";
        cuLaunchHostFunc(stream: CUstream, function: CUhostFn, user_data: HostPtr) = implemented launch::host_function, since 10000, "called at once";
        cuLaunchCooperativeKernelMultiDevice(launch_params_list: Opaque, num_devices: c_uint, flags: c_uint) = unsupported, since 2000, "several devices";
        cuFuncSetBlockShape(function: CUfunction, x: c_int, y: c_int, z: c_int) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuFuncSetSharedSize(function: CUfunction, bytes: c_uint) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuParamSetSize(function: CUfunction, numbytes: c_uint) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuParamSeti(function: CUfunction, offset: c_int, value: c_uint) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuParamSetf(function: CUfunction, offset: c_int, value: f32) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuParamSetv(function: CUfunction, offset: c_int, address: HostPtr, numbytes: c_uint) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuLaunch(function: CUfunction) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuLaunchGrid(function: CUfunction, grid_width: c_int, grid_height: c_int) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuLaunchGridAsync(function: CUfunction, grid_width: c_int, grid_height: c_int, stream: CUstream) = unsupported, since 2000, "deprecated since CUDA 4.0";
        cuParamSetTexRef(function: CUfunction, texunit: c_int, tex_ref: CUtexref) = unsupported, since 2000, "deprecated since CUDA 4.0";
    }
    "Occupancy" {
        cuOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks: Out<c_int>, function: CUfunction, block_size: c_int, dynamic_s_mem_size: usize) = implemented occupancy::max_active_blocks, since 2000, "the formula of compute capability 9.0";
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(num_blocks: Out<c_int>, function: CUfunction, block_size: c_int, dynamic_s_mem_size: usize, flags: c_uint) = implemented occupancy::max_active_blocks_with_flags, since 2000, "";
        cuOccupancyMaxPotentialBlockSize(min_grid_size: Out<c_int>, block_size: Out<c_int>, function: CUfunction, block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit: c_int) = implemented occupancy::max_potential_block_size, since 2000, "";
        cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size: Out<c_int>, block_size: Out<c_int>, function: CUfunction, block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit: c_int, flags: c_uint) = implemented occupancy::max_potential_block_size_with_flags, since 2000, "";
        cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size: Out<usize>, function: CUfunction, num_blocks: c_int, block_size: c_int) = implemented occupancy::available_dynamic_shared, since 10020, "";
        cuOccupancyMaxPotentialClusterSize(cluster_size: Out<c_int>, function: CUfunction, config: In<CUlaunchConfig>) = unsupported, since 11070, "clusters";
        cuOccupancyMaxActiveClusters(num_clusters: Out<c_int>, function: CUfunction, config: In<CUlaunchConfig>) = unsupported, since 11070, "clusters";
    }
    "Device memory" {
        cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) = implemented memory::info, since 3020, "";
        cuMemAlloc_v2(address: Out<CUdeviceptr>, bytes: usize) = implemented memory::alloc, since 3020, "";
        cuMemAllocPitch_v2(address: Out<CUdeviceptr>, pitch: Out<usize>, width_in_bytes: usize, height: usize, element_size_bytes: c_uint) = implemented memory::alloc_pitch, since 3020, "rows of a multiple of 512 bytes";
        cuMemFree_v2(address: CUdeviceptr) = implemented memory::free, since 3020, "";
        cuMemGetAddressRange_v2(base: Out<CUdeviceptr>, size: Out<usize>, address: CUdeviceptr) = implemented memory::address_range, since 3020, "";
        cuMemAllocAsync(address: Out<CUdeviceptr>, bytes: usize, stream: CUstream) = implemented memory::alloc_async, since 11020, "at once";
        cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) = implemented memory::free_async, since 11020, "at once";
        cuPointerGetAttribute(data: HostPtr, attribute: c_uint, address: CUdeviceptr) = implemented memory::pointer_attribute, since 2000, "";
        cuPointerGetAttributes(num_attributes: c_uint, attributes: Out<c_uint>, data: Out<*mut c_void>, address: CUdeviceptr) = implemented memory::pointer_attributes, since 2000, "";
        cuPointerSetAttribute(value: HostPtr, attribute: c_uint, address: CUdeviceptr) = accepted memory::pointer_set_attribute, since 2000, "copies are always synchronous";
        cuMemPrefetchAsync(address: CUdeviceptr, count: usize, dst_device: CUdevice, stream: CUstream) = accepted memory::prefetch, since 2000, "";
        cuMemPrefetchAsync_v2(address: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, stream: CUstream) = accepted memory::prefetch_v2, since 12020, "";
        cuMemAdvise(address: CUdeviceptr, count: usize, advice: c_uint, device: CUdevice) = accepted memory::advise, since 2000, "";
        cuMemAdvise_v2(address: CUdeviceptr, count: usize, advice: c_uint, location: CUmemLocation) = accepted memory::advise_v2, since 12020, "";
        cuMemRangeGetAttribute(data: HostPtr, data_size: usize, attribute: c_uint, address: CUdeviceptr, count: usize) = unsupported, since 2000, "placement of managed memory";
        cuMemRangeGetAttributes(data: Out<*mut c_void>, data_sizes: Out<usize>, attributes: Out<c_uint>, num_attributes: usize, address: CUdeviceptr, count: usize) = unsupported, since 2000, "placement of managed memory";
        cuMemGetHandleForAddressRange(handle: HostPtr, address: CUdeviceptr, size: usize, handle_type: c_uint, flags: u64) = unsupported, since 11070, "sharing with other devices";
    }
    "Memory pools" {
        cuDeviceGetDefaultMemPool(pool_out: Out<CUmemoryPool>, device: CUdevice) = implemented pool::default_pool, since 11020, "";
        cuDeviceGetMemPool(pool: Out<CUmemoryPool>, device: CUdevice) = implemented pool::device_pool, since 11020, "";
        cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) = implemented pool::set_device_pool, since 11020, "";
        cuMemPoolCreate(pool: Out<CUmemoryPool>, pool_props: Opaque) = implemented pool::create, since 11020, "properties are ignored";
        cuMemPoolDestroy(pool: CUmemoryPool) = implemented pool::destroy, since 11020, "";
        cuMemAllocFromPoolAsync(address: Out<CUdeviceptr>, bytes: usize, pool: CUmemoryPool, stream: CUstream) = implemented pool::alloc_from, since 11020, "at once";
        cuMemPoolTrimTo(pool: CUmemoryPool, min_bytes_to_keep: usize) = accepted pool::trim, since 11020, "freed memory is given back at once";
        cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_uint, value: HostPtr) = implemented pool::set_attribute, since 11020, "";
        cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_uint, value: HostPtr) = implemented pool::get_attribute, since 11020, "";
        cuMemPoolSetAccess(pool: CUmemoryPool, map: Opaque, count: usize) = unsupported, since 11020, "sharing between processes and devices";
        cuMemPoolGetAccess(flags: Out<c_uint>, mem_pool: CUmemoryPool, location: Out<CUmemLocation>) = unsupported, since 11020, "sharing between processes and devices";
        cuMemPoolExportToShareableHandle(handle_out: HostPtr, pool: CUmemoryPool, handle_type: c_uint, flags: u64) = unsupported, since 11020, "sharing between processes and devices";
        cuMemPoolImportFromShareableHandle(pool_out: Out<CUmemoryPool>, handle: HostPtr, handle_type: c_uint, flags: u64) = unsupported, since 11020, "sharing between processes and devices";
        cuMemPoolExportPointer(share_data_out: Opaque, address: CUdeviceptr) = unsupported, since 11020, "sharing between processes and devices";
        cuMemPoolImportPointer(ptr_out: Out<CUdeviceptr>, pool: CUmemoryPool, share_data: Opaque) = unsupported, since 11020, "sharing between processes and devices";
    }
    "Host memory" {
        cuMemAllocHost_v2(pointer: Out<*mut c_void>, bytes: usize) = implemented host_memory::alloc_host, since 3020, "";
        cuMemFreeHost(pointer: HostPtr) = implemented host_memory::free_host, since 2000, "";
        cuMemHostAlloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) = implemented host_memory::host_alloc, since 2000, "";
        cuMemHostGetDevicePointer_v2(address: Out<CUdeviceptr>, pointer: HostPtr, flags: c_uint) = implemented host_memory::device_pointer, since 3020, "";
        cuMemHostGetFlags(flags: Out<c_uint>, pointer: HostPtr) = implemented host_memory::flags, since 2000, "";
        cuMemAllocManaged(address: Out<CUdeviceptr>, bytes: usize, flags: c_uint) = implemented host_memory::alloc_managed, since 2000, "copied in and out around each launch";
        cuMemHostRegister_v2(pointer: HostPtr, bytes: usize, flags: c_uint) = implemented host_memory::register, since 6050, "copied in and out around launches once its device pointer was asked for";
        cuMemHostUnregister(pointer: HostPtr) = implemented host_memory::unregister, since 2000, "";
    }
    "Copies" {
        cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) = implemented copy::unified, since 2000, "";
        cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream) = implemented copy::unified_async, since 2000, "at once";
        cuMemcpyHtoD_v2(dst_device: CUdeviceptr, src_host: HostPtr, bytes: usize) = implemented copy::host_to_device, since 3020, "";
        cuMemcpyHtoDAsync_v2(dst_device: CUdeviceptr, src_host: HostPtr, bytes: usize, stream: CUstream) = implemented copy::host_to_device_async, since 3020, "at once";
        cuMemcpyDtoH_v2(dst_host: HostPtr, src_device: CUdeviceptr, bytes: usize) = implemented copy::device_to_host, since 3020, "";
        cuMemcpyDtoHAsync_v2(dst_host: HostPtr, src_device: CUdeviceptr, bytes: usize, stream: CUstream) = implemented copy::device_to_host_async, since 3020, "at once";
        cuMemcpyDtoD_v2(dst_device: CUdeviceptr, src_device: CUdeviceptr, bytes: usize) = implemented copy::device_to_device, since 3020, "";
        cuMemcpyDtoDAsync_v2(dst_device: CUdeviceptr, src_device: CUdeviceptr, bytes: usize, stream: CUstream) = implemented copy::device_to_device_async, since 3020, "at once";
        cuMemcpyPeer(dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context: CUcontext, bytes: usize) = implemented copy::peer, since 2000, "";
        cuMemcpyPeerAsync(dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context: CUcontext, bytes: usize, stream: CUstream) = implemented copy::peer_async, since 2000, "at once";
        cuMemcpy2D_v2(copy: In<Memcpy2D>) = implemented copy::copy_2d, since 3020, "no arrays";
        cuMemcpy2DUnaligned_v2(copy: In<Memcpy2D>) = implemented copy::copy_2d, since 3020, "no arrays";
        cuMemcpy2DAsync_v2(copy: In<Memcpy2D>, stream: CUstream) = implemented copy::copy_2d_async, since 3020, "at once; no arrays";
        cuMemcpy3D_v2(copy: In<Memcpy3D>) = implemented copy::copy_3d, since 3020, "no arrays";
        cuMemcpy3DAsync_v2(copy: In<Memcpy3D>, stream: CUstream) = implemented copy::copy_3d_async, since 3020, "at once; no arrays";
        cuMemcpy3DPeer(copy: In<Memcpy3D>) = implemented copy::copy_3d, since 2000, "no arrays";
        cuMemcpy3DPeerAsync(copy: In<Memcpy3D>, stream: CUstream) = implemented copy::copy_3d_async, since 2000, "at once; no arrays";
        cuMemcpyDtoA_v2(dst_array: CUarray, dst_offset: usize, src_device: CUdeviceptr, bytes: usize) = unsupported, since 3020, "arrays";
        cuMemcpyAtoD_v2(dst_device: CUdeviceptr, src_array: CUarray, src_offset: usize, bytes: usize) = unsupported, since 3020, "arrays";
        cuMemcpyHtoA_v2(dst_array: CUarray, dst_offset: usize, src_host: HostPtr, bytes: usize) = unsupported, since 3020, "arrays";
        cuMemcpyAtoH_v2(dst_host: HostPtr, src_array: CUarray, src_offset: usize, bytes: usize) = unsupported, since 3020, "arrays";
        cuMemcpyAtoA_v2(dst_array: CUarray, dst_offset: usize, src_array: CUarray, src_offset: usize, bytes: usize) = unsupported, since 3020, "arrays";
        cuMemcpyHtoAAsync_v2(dst_array: CUarray, dst_offset: usize, src_host: HostPtr, bytes: usize, stream: CUstream) = unsupported, since 3020, "arrays";
        cuMemcpyAtoHAsync_v2(dst_host: HostPtr, src_array: CUarray, src_offset: usize, bytes: usize, stream: CUstream) = unsupported, since 3020, "arrays";
    }
    "Fills" {
        cuMemsetD8_v2(dst_device: CUdeviceptr, value: u8, count: usize) = implemented fill::d8, since 3020, "";
        cuMemsetD16_v2(dst_device: CUdeviceptr, value: u16, count: usize) = implemented fill::d16, since 3020, "";
        cuMemsetD32_v2(dst_device: CUdeviceptr, value: c_uint, count: usize) = implemented fill::d32, since 3020, "";
        cuMemsetD2D8_v2(dst_device: CUdeviceptr, dst_pitch: usize, value: u8, width: usize, height: usize) = implemented fill::d2d8, since 3020, "";
        cuMemsetD2D16_v2(dst_device: CUdeviceptr, dst_pitch: usize, value: u16, width: usize, height: usize) = implemented fill::d2d16, since 3020, "";
        cuMemsetD2D32_v2(dst_device: CUdeviceptr, dst_pitch: usize, value: c_uint, width: usize, height: usize) = implemented fill::d2d32, since 3020, "";
        cuMemsetD8Async(dst_device: CUdeviceptr, value: u8, count: usize, stream: CUstream) = implemented fill::d8_async, since 2000, "at once";
        cuMemsetD16Async(dst_device: CUdeviceptr, value: u16, count: usize, stream: CUstream) = implemented fill::d16_async, since 2000, "at once";
        cuMemsetD32Async(dst_device: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) = implemented fill::d32_async, since 2000, "at once";
        cuMemsetD2D8Async(dst_device: CUdeviceptr, dst_pitch: usize, value: u8, width: usize, height: usize, stream: CUstream) = implemented fill::d2d8_async, since 2000, "at once";
        cuMemsetD2D16Async(dst_device: CUdeviceptr, dst_pitch: usize, value: u16, width: usize, height: usize, stream: CUstream) = implemented fill::d2d16_async, since 2000, "at once";
        cuMemsetD2D32Async(dst_device: CUdeviceptr, dst_pitch: usize, value: c_uint, width: usize, height: usize, stream: CUstream) = implemented fill::d2d32_async, since 2000, "at once";
    }
    "Streams" {
        cuStreamCreate(stream: Out<CUstream>, flags: c_uint) = implemented stream::create, since 2000, "";
        cuStreamCreateWithPriority(stream: Out<CUstream>, flags: c_uint, priority: c_int) = implemented stream::create_with_priority, since 2000, "";
        cuStreamGetPriority(stream: CUstream, priority: Out<c_int>) = implemented stream::priority, since 2000, "";
        cuStreamGetFlags(stream: CUstream, flags: Out<c_uint>) = implemented stream::flags, since 2000, "";
        cuStreamGetId(stream: CUstream, stream_id: Out<u64>) = implemented stream::id, since 12000, "";
        cuStreamGetCtx(stream: CUstream, context: Out<CUcontext>) = implemented stream::context, since 2000, "";
        cuStreamGetCtx_v2(stream: CUstream, context: Out<CUcontext>, green_ctx: HostPtr) = implemented stream::context_v2, since 12050, "";
        cuStreamGetDevice(stream: CUstream, device: Out<CUdevice>) = implemented stream::device, since 12080, "";
        cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) = implemented stream::wait_event, since 2000, "the event has always happened";
        cuStreamAddCallback(stream: CUstream, callback: CUstreamCallback, user_data: HostPtr, flags: c_uint) = implemented stream::add_callback, since 2000, "called at once";
        cuStreamQuery(stream: CUstream) = implemented stream::query, since 2000, "";
        cuStreamSynchronize(stream: CUstream) = implemented stream::synchronize, since 2000, "reports a fault and prints what kernels printed";
        cuStreamDestroy_v2(stream: CUstream) = implemented stream::destroy, since 4000, "";
        cuStreamAttachMemAsync(stream: CUstream, address: CUdeviceptr, length: usize, flags: c_uint) = accepted stream::attach_memory, since 2000, "";
        cuStreamIsCapturing(stream: CUstream, capture_status: Out<c_uint>) = implemented graph::is_capturing, since 2000, "";
        cuStreamCopyAttributes(dst: CUstream, src: CUstream) = accepted stream::copy_attributes, since 2000, "";
        cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint) = implemented graph::begin, since 10010, "not on a default stream";
        cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) = accepted graph::exchange_mode, since 2000, "kept; no call is refused for it";
        cuStreamEndCapture(stream: CUstream, graph: Out<CUgraph>) = implemented graph::end, since 2000, "the work of all streams that took part, in the order of the calls";
        cuStreamGetCaptureInfo(stream: CUstream, capture_status_out: Out<c_uint>, id_out: Out<u64>) = implemented graph::info, since 10010, "";
        cuStreamGetCaptureInfo_v2(stream: CUstream, capture_status_out: Out<c_uint>, id_out: Out<u64>, graph_out: Out<CUgraph>, dependencies_out: Out<*mut c_void>, num_dependencies_out: Out<usize>) = implemented graph::info_v2, since 11030, "no dependencies: work stays in order";
        cuStreamGetCaptureInfo_v3(stream: CUstream, capture_status_out: Out<c_uint>, id_out: Out<u64>, graph_out: Out<CUgraph>, dependencies_out: Out<*mut c_void>, edge_data_out: Out<*mut c_void>, num_dependencies_out: Out<usize>) = implemented graph::info_v3, since 12030, "no dependencies: work stays in order";
        cuStreamUpdateCaptureDependencies(stream: CUstream, dependencies: Out<CUgraphNode>, num_dependencies: usize, flags: c_uint) = unsupported, since 2000, "stream capture";
        cuStreamGetAttribute(stream: CUstream, attribute: c_uint, value_out: Opaque) = unsupported, since 2000, "stream attributes";
        cuStreamSetAttribute(stream: CUstream, attribute: c_uint, value: Opaque) = unsupported, since 2000, "stream attributes";
        cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) = unsupported, since 2000, "stream memory operations";
        cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) = unsupported, since 2000, "stream memory operations";
        cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) = unsupported, since 2000, "stream memory operations";
        cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) = unsupported, since 2000, "stream memory operations";
        cuStreamBatchMemOp(stream: CUstream, count: c_uint, param_array: Opaque, flags: c_uint) = unsupported, since 2000, "stream memory operations";
        cuStreamWaitValue32_v2(stream: CUstream, addr: CUdeviceptr, value: c_uint, flags: c_uint) = unsupported, since 11070, "stream memory operations";
        cuStreamWaitValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) = unsupported, since 11070, "stream memory operations";
        cuStreamWriteValue32_v2(stream: CUstream, addr: CUdeviceptr, value: c_uint, flags: c_uint) = unsupported, since 11070, "stream memory operations";
        cuStreamWriteValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) = unsupported, since 11070, "stream memory operations";
        cuStreamBatchMemOp_v2(stream: CUstream, count: c_uint, param_array: Opaque, flags: c_uint) = unsupported, since 11070, "stream memory operations";
    }
    "Events" {
        cuEventCreate(event: Out<CUevent>, flags: c_uint) = implemented event::create, since 2000, "";
        cuEventRecord(event: CUevent, stream: CUstream) = implemented event::record, since 2000, "";
        cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint) = implemented event::record_with_flags, since 11010, "";
        cuEventQuery(event: CUevent) = implemented event::query, since 2000, "";
        cuEventSynchronize(event: CUevent) = implemented event::synchronize, since 2000, "reports a fault and prints what kernels printed";
        cuEventDestroy_v2(event: CUevent) = implemented event::destroy, since 4000, "";
        cuEventElapsedTime(milliseconds: Out<f32>, start: CUevent, end: CUevent) = implemented event::elapsed_time, since 2000, "the CPU's wall time, not a GPU's";
        cuEventElapsedTime_v2(milliseconds: Out<f32>, start: CUevent, end: CUevent) = implemented event::elapsed_time, since 12080, "the CPU's wall time, not a GPU's";
    }
    "Profiler" {
        cuProfilerInitialize(config_file: Text, output_file: Text, output_mode: c_uint) = accepted profiler::initialize, since 2000, "";
        cuProfilerStart() = accepted profiler::start, since 2000, "";
        cuProfilerStop() = accepted profiler::stop, since 2000, "";
    }
    "Sharing between processes" {
        cuIpcGetEventHandle(handle: Out<IpcHandle>, event: CUevent) = unsupported, since 2000, "interprocess sharing";
        cuIpcOpenEventHandle(event: Out<CUevent>, handle: IpcHandle) = unsupported, since 2000, "interprocess sharing";
        cuIpcGetMemHandle(handle: Out<IpcHandle>, address: CUdeviceptr) = unsupported, since 2000, "interprocess sharing";
        cuIpcOpenMemHandle_v2(address: Out<CUdeviceptr>, handle: IpcHandle, flags: c_uint) = unsupported, since 11000, "interprocess sharing";
        cuIpcCloseMemHandle(address: CUdeviceptr) = unsupported, since 2000, "interprocess sharing";
    }
    "Virtual memory management" {
        cuMemAddressReserve(address: Out<CUdeviceptr>, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64) = unsupported, since 2000, "virtual memory management";
        cuMemAddressFree(address: CUdeviceptr, size: usize) = unsupported, since 2000, "virtual memory management";
        cuMemCreate(handle: Out<CUmemGenericAllocationHandle>, size: usize, properties: Opaque, flags: u64) = unsupported, since 2000, "virtual memory management";
        cuMemRelease(handle: CUmemGenericAllocationHandle) = unsupported, since 2000, "virtual memory management";
        cuMemMap(address: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) = unsupported, since 2000, "virtual memory management";
        cuMemMapArrayAsync(map_info_list: Opaque, count: c_uint, stream: CUstream) = unsupported, since 2000, "virtual memory management";
        cuMemUnmap(address: CUdeviceptr, size: usize) = unsupported, since 2000, "virtual memory management";
        cuMemSetAccess(address: CUdeviceptr, size: usize, desc: Opaque, count: usize) = unsupported, since 2000, "virtual memory management";
        cuMemGetAccess(flags: Out<u64>, location: In<CUmemLocation>, address: CUdeviceptr) = unsupported, since 2000, "virtual memory management";
        cuMemExportToShareableHandle(shareable_handle: HostPtr, handle: CUmemGenericAllocationHandle, handle_type: c_uint, flags: u64) = unsupported, since 2000, "virtual memory management";
        cuMemImportFromShareableHandle(handle: Out<CUmemGenericAllocationHandle>, os_handle: HostPtr, sh_handle_type: c_uint) = unsupported, since 2000, "virtual memory management";
        cuMemGetAllocationGranularity(granularity: Out<usize>, properties: Opaque, option: c_uint) = unsupported, since 2000, "virtual memory management";
        cuMemGetAllocationPropertiesFromHandle(properties: Opaque, handle: CUmemGenericAllocationHandle) = unsupported, since 2000, "virtual memory management";
        cuMemRetainAllocationHandle(handle: Out<CUmemGenericAllocationHandle>, addr: HostPtr) = unsupported, since 2000, "virtual memory management";
    }
    "Arrays, textures and surfaces" {
        cuArrayCreate_v2(handle: Out<CUarray>, allocate_array: Opaque) = unsupported, since 3020, "textures and surfaces";
        cuArrayGetDescriptor_v2(array_descriptor: Opaque, array: CUarray) = unsupported, since 3020, "textures and surfaces";
        cuArrayGetSparseProperties(sparse_properties: Opaque, array: CUarray) = unsupported, since 2000, "textures and surfaces";
        cuMipmappedArrayGetSparseProperties(sparse_properties: Opaque, mipmap: CUmipmappedArray) = unsupported, since 2000, "textures and surfaces";
        cuArrayGetPlane(plane_array: Out<CUarray>, array: CUarray, plane_idx: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuArrayDestroy(array: CUarray) = unsupported, since 2000, "textures and surfaces";
        cuArray3DCreate_v2(handle: Out<CUarray>, allocate_array: Opaque) = unsupported, since 3020, "textures and surfaces";
        cuArray3DGetDescriptor_v2(array_descriptor: Opaque, array: CUarray) = unsupported, since 3020, "textures and surfaces";
        cuMipmappedArrayCreate(handle: Out<CUmipmappedArray>, mipmapped_array_desc: Opaque, num_mipmap_levels: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuMipmappedArrayGetLevel(level_array: Out<CUarray>, mipmapped_array: CUmipmappedArray, level: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuMipmappedArrayDestroy(mipmapped_array: CUmipmappedArray) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetArray(tex_ref: CUtexref, array: CUarray, flags: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetMipmappedArray(tex_ref: CUtexref, mipmapped_array: CUmipmappedArray, flags: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetAddress_v2(byte_offset: Out<usize>, tex_ref: CUtexref, address: CUdeviceptr, bytes: usize) = unsupported, since 3020, "textures and surfaces";
        cuTexRefSetAddress2D_v3(tex_ref: CUtexref, desc: Opaque, address: CUdeviceptr, pitch: usize) = unsupported, since 4010, "textures and surfaces";
        cuTexRefSetFormat(tex_ref: CUtexref, format: c_uint, num_packed_components: c_int) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetAddressMode(tex_ref: CUtexref, dim: c_int, mode: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetFilterMode(tex_ref: CUtexref, mode: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetMipmapFilterMode(tex_ref: CUtexref, mode: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetMipmapLevelBias(tex_ref: CUtexref, bias: f32) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetMipmapLevelClamp(tex_ref: CUtexref, min_mipmap_level_clamp: f32, max_mipmap_level_clamp: f32) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetMaxAnisotropy(tex_ref: CUtexref, max_aniso: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetBorderColor(tex_ref: CUtexref, border_color: Out<f32>) = unsupported, since 2000, "textures and surfaces";
        cuTexRefSetFlags(tex_ref: CUtexref, flags: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetAddress_v2(address: Out<CUdeviceptr>, tex_ref: CUtexref) = unsupported, since 3020, "textures and surfaces";
        cuTexRefGetArray(array: Out<CUarray>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetMipmappedArray(mipmapped_array: Out<CUmipmappedArray>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetAddressMode(mode: Out<c_uint>, tex_ref: CUtexref, dim: c_int) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetFilterMode(mode: Out<c_uint>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetFormat(format: Out<c_uint>, num_channels: Out<c_int>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetMipmapFilterMode(mode: Out<c_uint>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetMipmapLevelBias(bias: Out<f32>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetMipmapLevelClamp(min_level: Out<f32>, max_level: Out<f32>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetMaxAnisotropy(max_aniso: Out<c_int>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetBorderColor(border_color: Out<f32>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefGetFlags(flags: Out<c_uint>, tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuTexRefCreate(tex_ref: Out<CUtexref>) = unsupported, since 2000, "textures and surfaces";
        cuTexRefDestroy(tex_ref: CUtexref) = unsupported, since 2000, "textures and surfaces";
        cuSurfRefSetArray(surf_ref: CUsurfref, array: CUarray, flags: c_uint) = unsupported, since 2000, "textures and surfaces";
        cuSurfRefGetArray(array: Out<CUarray>, surf_ref: CUsurfref) = unsupported, since 2000, "textures and surfaces";
        cuTexObjectCreate(tex_object: Out<CUtexObject>, res_desc: Opaque, tex_desc: Opaque, res_view_desc: Opaque) = unsupported, since 2000, "textures and surfaces";
        cuTexObjectDestroy(tex_object: CUtexObject) = unsupported, since 2000, "textures and surfaces";
        cuTexObjectGetResourceDesc(res_desc: Opaque, tex_object: CUtexObject) = unsupported, since 2000, "textures and surfaces";
        cuTexObjectGetTextureDesc(tex_desc: Opaque, tex_object: CUtexObject) = unsupported, since 2000, "textures and surfaces";
        cuTexObjectGetResourceViewDesc(res_view_desc: Opaque, tex_object: CUtexObject) = unsupported, since 2000, "textures and surfaces";
        cuSurfObjectCreate(surf_object: Out<CUsurfObject>, res_desc: Opaque) = unsupported, since 2000, "textures and surfaces";
        cuSurfObjectDestroy(surf_object: CUsurfObject) = unsupported, since 2000, "textures and surfaces";
        cuSurfObjectGetResourceDesc(res_desc: Opaque, surf_object: CUsurfObject) = unsupported, since 2000, "textures and surfaces";
        cuTensorMapEncodeTiled(tensor_map: Opaque, tensor_data_type: c_uint, tensor_rank: c_uint, global_address: HostPtr, global_dim: Opaque, global_strides: Opaque, box_dim: Opaque, element_strides: Opaque, interleave: c_uint, swizzle: c_uint, l2_promotion: c_uint, oob_fill: c_uint) = unsupported, since 12000, "textures and surfaces";
    }
    "Graphs" {
        cuGraphCreate(graph: Out<CUgraph>, flags: c_uint) = unsupported, since 10000, "graphs";
        cuGraphAddKernelNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphKernelNodeGetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphKernelNodeSetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddMemcpyNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, copy_params: In<Memcpy3D>, context: CUcontext) = unsupported, since 10000, "graphs";
        cuGraphMemcpyNodeGetParams(node: CUgraphNode, node_params: Out<Memcpy3D>) = unsupported, since 10000, "graphs";
        cuGraphMemcpyNodeSetParams(node: CUgraphNode, node_params: In<Memcpy3D>) = unsupported, since 10000, "graphs";
        cuGraphAddMemsetNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, memset_params: Opaque, context: CUcontext) = unsupported, since 10000, "graphs";
        cuGraphMemsetNodeGetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphMemsetNodeSetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddHostNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphHostNodeGetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphHostNodeSetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddChildGraphNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, child_graph: CUgraph) = unsupported, since 10000, "graphs";
        cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: Out<CUgraph>) = unsupported, since 10000, "graphs";
        cuGraphAddEmptyNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize) = unsupported, since 10000, "graphs";
        cuGraphAddEventRecordNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphEventRecordNodeGetEvent(node: CUgraphNode, event_out: Out<CUevent>) = unsupported, since 10000, "graphs";
        cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphAddEventWaitNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphEventWaitNodeGetEvent(node: CUgraphNode, event_out: Out<CUevent>) = unsupported, since 10000, "graphs";
        cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphAddExternalSemaphoresSignalNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExternalSemaphoresSignalNodeGetParams(node: CUgraphNode, params_out: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExternalSemaphoresSignalNodeSetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddExternalSemaphoresWaitNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExternalSemaphoresWaitNodeGetParams(node: CUgraphNode, params_out: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExternalSemaphoresWaitNodeSetParams(node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddMemAllocNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphMemAllocNodeGetParams(node: CUgraphNode, params_out: Opaque) = unsupported, since 10000, "graphs";
        cuGraphAddMemFreeNode(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, address: CUdeviceptr) = unsupported, since 10000, "graphs";
        cuGraphMemFreeNodeGetParams(node: CUgraphNode, dptr_out: Out<CUdeviceptr>) = unsupported, since 10000, "graphs";
        cuDeviceGraphMemTrim(device: CUdevice) = unsupported, since 2000, "graphs";
        cuDeviceGetGraphMemAttribute(device: CUdevice, attribute: c_uint, value: HostPtr) = unsupported, since 2000, "graphs";
        cuDeviceSetGraphMemAttribute(device: CUdevice, attribute: c_uint, value: HostPtr) = unsupported, since 2000, "graphs";
        cuGraphClone(graph_clone: Out<CUgraph>, original_graph: CUgraph) = unsupported, since 10000, "graphs";
        cuGraphNodeFindInClone(node: Out<CUgraphNode>, original_node: CUgraphNode, cloned_graph: CUgraph) = unsupported, since 10000, "graphs";
        cuGraphNodeGetType(node: CUgraphNode, kind: Out<c_uint>) = unsupported, since 10000, "graphs";
        cuGraphGetNodes(graph: CUgraph, nodes: Out<CUgraphNode>, num_nodes: Out<usize>) = unsupported, since 10000, "graphs";
        cuGraphGetRootNodes(graph: CUgraph, root_nodes: Out<CUgraphNode>, num_root_nodes: Out<usize>) = unsupported, since 10000, "graphs";
        cuGraphGetEdges(graph: CUgraph, from: Out<CUgraphNode>, to: Out<CUgraphNode>, num_edges: Out<usize>) = unsupported, since 10000, "graphs";
        cuGraphNodeGetDependencies(node: CUgraphNode, dependencies: Out<CUgraphNode>, num_dependencies: Out<usize>) = unsupported, since 10000, "graphs";
        cuGraphNodeGetDependentNodes(node: CUgraphNode, dependent_nodes: Out<CUgraphNode>, num_dependent_nodes: Out<usize>) = unsupported, since 10000, "graphs";
        cuGraphAddDependencies(graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, num_dependencies: usize) = unsupported, since 10000, "graphs";
        cuGraphRemoveDependencies(graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, num_dependencies: usize) = unsupported, since 10000, "graphs";
        cuGraphDestroyNode(node: CUgraphNode) = unsupported, since 10000, "graphs";
        cuGraphInstantiate_v2(graph_exec: Out<CUgraphExec>, graph: CUgraph, error_node: Out<CUgraphNode>, log_buffer: HostPtr, buffer_size: usize) = implemented graph::instantiate, since 11000, "captured graphs";
        cuGraphInstantiateWithFlags(graph_exec: Out<CUgraphExec>, graph: CUgraph, flags: u64) = implemented graph::instantiate_with_flags, since 11040, "captured graphs";
        cuGraphExecKernelNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExecMemcpyNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, copy_params: In<Memcpy3D>, context: CUcontext) = unsupported, since 10000, "graphs";
        cuGraphExecMemsetNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, memset_params: Opaque, context: CUcontext) = unsupported, since 10000, "graphs";
        cuGraphExecHostNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExecChildGraphNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, child_graph: CUgraph) = unsupported, since 10000, "graphs";
        cuGraphExecEventRecordNodeSetEvent(graph_exec: CUgraphExec, node: CUgraphNode, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphExecEventWaitNodeSetEvent(graph_exec: CUgraphExec, node: CUgraphNode, event: CUevent) = unsupported, since 10000, "graphs";
        cuGraphExecExternalSemaphoresSignalNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphExecExternalSemaphoresWaitNodeSetParams(graph_exec: CUgraphExec, node: CUgraphNode, node_params: Opaque) = unsupported, since 10000, "graphs";
        cuGraphUpload(graph_exec: CUgraphExec, stream: CUstream) = accepted graph::upload, since 10000, "";
        cuGraphLaunch(graph_exec: CUgraphExec, stream: CUstream) = implemented graph::launch, since 10000, "at once";
        cuGraphExecDestroy(graph_exec: CUgraphExec) = implemented graph::destroy_executable, since 10000, "";
        cuGraphDestroy(graph: CUgraph) = implemented graph::destroy, since 10000, "";
        cuGraphExecUpdate(graph_exec: CUgraphExec, graph: CUgraph, error_node_out: Out<CUgraphNode>, update_result_out: Out<c_uint>) = unsupported, since 10000, "graphs";
        cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) = unsupported, since 10000, "graphs";
        cuGraphKernelNodeGetAttribute(node: CUgraphNode, attribute: c_uint, value_out: Opaque) = unsupported, since 10000, "graphs";
        cuGraphKernelNodeSetAttribute(node: CUgraphNode, attribute: c_uint, value: Opaque) = unsupported, since 10000, "graphs";
        cuGraphDebugDotPrint(graph: CUgraph, path: Text, flags: c_uint) = unsupported, since 10000, "graphs";
        cuUserObjectCreate(object_out: Out<CUuserObject>, address: HostPtr, destroy: CUhostFn, initial_refcount: c_uint, flags: c_uint) = implemented user_object::create, since 2000, "";
        cuUserObjectRetain(object: CUuserObject, count: c_uint) = implemented user_object::retain, since 2000, "";
        cuUserObjectRelease(object: CUuserObject, count: c_uint) = implemented user_object::release, since 2000, "";
        cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) = implemented user_object::retain_for_graph, since 10000, "";
        cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) = implemented user_object::release_of_graph, since 10000, "";
        cuGraphInstantiateWithParams(graph_exec: Out<CUgraphExec>, graph: CUgraph, instantiate_params: Out<CUgraphInstantiateParams>) = implemented graph::instantiate_with_params, since 12000, "captured graphs";
        cuGraphAddKernelNode_v2(graph_node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, num_dependencies: usize, node_params: Opaque) = unsupported, since 12000, "graphs";
        cuGraphKernelNodeGetParams_v2(node: CUgraphNode, node_params: Opaque) = unsupported, since 12000, "graphs";
        cuGraphKernelNodeSetParams_v2(node: CUgraphNode, node_params: Opaque) = unsupported, since 12000, "graphs";
        cuGraphExecKernelNodeSetParams_v2(graph_exec: CUgraphExec, node: CUgraphNode, node_params: Opaque) = unsupported, since 12000, "graphs";
    }
    "External memory and semaphores" {
        cuImportExternalMemory(ext_mem_out: Out<CUexternalMemory>, mem_handle_desc: Opaque) = unsupported, since 2000, "external memory";
        cuExternalMemoryGetMappedBuffer(address: Out<CUdeviceptr>, ext_mem: CUexternalMemory, buffer_desc: Opaque) = unsupported, since 2000, "external memory";
        cuExternalMemoryGetMappedMipmappedArray(mipmap: Out<CUmipmappedArray>, ext_mem: CUexternalMemory, mipmap_desc: Opaque) = unsupported, since 2000, "external memory";
        cuDestroyExternalMemory(ext_mem: CUexternalMemory) = unsupported, since 2000, "external memory";
        cuImportExternalSemaphore(ext_sem_out: Out<CUexternalSemaphore>, sem_handle_desc: Opaque) = unsupported, since 2000, "external memory";
        cuSignalExternalSemaphoresAsync(ext_sem_array: In<CUexternalSemaphore>, params_array: Opaque, num_ext_sems: c_uint, stream: CUstream) = unsupported, since 2000, "external memory";
        cuWaitExternalSemaphoresAsync(ext_sem_array: In<CUexternalSemaphore>, params_array: Opaque, num_ext_sems: c_uint, stream: CUstream) = unsupported, since 2000, "external memory";
        cuDestroyExternalSemaphore(ext_sem: CUexternalSemaphore) = unsupported, since 2000, "external memory";
    }
    "Graphics interoperability" {
        cuGraphicsUnregisterResource(resource: CUgraphicsResource) = unsupported, since 2000, "graphics interoperability";
        cuGraphicsSubResourceGetMappedArray(array: Out<CUarray>, resource: CUgraphicsResource, array_index: c_uint, mip_level: c_uint) = unsupported, since 2000, "graphics interoperability";
        cuGraphicsResourceGetMappedMipmappedArray(mipmapped_array: Out<CUmipmappedArray>, resource: CUgraphicsResource) = unsupported, since 2000, "graphics interoperability";
        cuGraphicsResourceGetMappedPointer_v2(address: Out<CUdeviceptr>, size: Out<usize>, resource: CUgraphicsResource) = unsupported, since 3020, "graphics interoperability";
        cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: c_uint) = unsupported, since 6050, "graphics interoperability";
        cuGraphicsMapResources(count: c_uint, resources: Out<CUgraphicsResource>, stream: CUstream) = unsupported, since 2000, "graphics interoperability";
        cuGraphicsUnmapResources(count: c_uint, resources: Out<CUgraphicsResource>, stream: CUstream) = unsupported, since 2000, "graphics interoperability";
    }
}
