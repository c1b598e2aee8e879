//! The driver API's types as they cross the C boundary.
//!
//! Handles are opaque numbers that the emulator looks up and never dereferences, so that any value
//! is safe to pass. Pointer parameters are wrapped ([`Out`], [`In`], [`Text`], [`HostPtr`]): a
//! wrapper checks for null and alignment before it touches memory, and has no public constructor,
//! so only a caller across the C boundary (whose call is `unsafe`) can make one.
//!
//! Struct layouts are those of `cuda.h` (CUDA driver API, 64-bit).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::error::{ApiError, Outcome};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[repr(transparent)]
        pub struct $name(pub usize);

        impl $name {
            /// Whether this is the null handle.
            pub fn is_null(self) -> bool {
                self.0 == 0
            }
        }
    )*};
}

handles! {
    /// A context: one process's state on one device.
    CUcontext;
    /// A module: PTX loaded into a context.
    CUmodule;
    /// A kernel of a module.
    CUfunction;
    /// A library: PTX loaded independently of contexts.
    CUlibrary;
    /// A kernel of a library.
    CUkernel;
    /// A stream: work done in order.
    CUstream;
    /// An event: a point in a stream.
    CUevent;
    /// A linker invocation.
    CUlinkState;
    /// A memory pool.
    CUmemoryPool;
    /// An array for textures and surfaces (native driver only).
    CUarray;
    /// A mipmapped array (native driver only).
    CUmipmappedArray;
    /// A graph: captured work.
    CUgraph;
    /// A node of a graph (native driver only).
    CUgraphNode;
    /// An instantiated graph: one that can be launched.
    CUgraphExec;
    /// A texture reference (native driver only).
    CUtexref;
    /// A surface reference (native driver only).
    CUsurfref;
    /// A graphics interoperability resource (native driver only).
    CUgraphicsResource;
    /// Imported external memory (native driver only).
    CUexternalMemory;
    /// An imported external semaphore (native driver only).
    CUexternalSemaphore;
    /// A reference-counted object of the program's.
    CUuserObject;
}

/// A device's ordinal, 0-based.
pub type CUdevice = c_int;
/// An address in device memory.
pub type CUdeviceptr = u64;
/// A texture object (native driver only).
pub type CUtexObject = u64;
/// A surface object (native driver only).
pub type CUsurfObject = u64;
/// A physical allocation of the virtual memory API (native driver only).
pub type CUmemGenericAllocationHandle = u64;

/// `cuLaunchHostFunc`'s callback.
pub type CUhostFn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// `cuStreamAddCallback`'s callback.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(stream: CUstream, status: c_uint, user_data: *mut c_void)>;
/// `cuOccupancyMaxPotentialBlockSize`'s callback: dynamic shared memory in bytes for a block size.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;

/// A pointer to something that only the native driver reads or writes.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Opaque(*mut c_void);

impl Opaque {
    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A pointer through which a call returns a `T` (some are read first): null, or valid for both.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// No place.
    pub(crate) fn null() -> Out<T> {
        Out(std::ptr::null_mut())
    }

    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Refuses a null or misaligned pointer before a call changes anything.
    pub(crate) fn check(self, name: &'static str) -> Outcome {
        check_pointer(self.0.addr(), align_of::<T>(), name)
    }

    /// Writes the result.
    pub(crate) fn set(self, name: &'static str, value: T) -> Outcome {
        self.check(name)?;
        // SAFETY: not null and aligned (just checked); the C caller vouches that it points to a `T`.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes the result unless the pointer is null, which means "not wanted".
    pub(crate) fn set_if_wanted(self, name: &'static str, value: T) -> Outcome {
        if self.is_null() { Ok(()) } else { self.set(name, value) }
    }

    /// Writes `values` one after the other.
    pub(crate) fn set_all(self, name: &'static str, values: &[T]) -> Outcome {
        if values.is_empty() {
            return Ok(());
        }
        self.check(name)?;
        for (index, value) in values.iter().enumerate() {
            // SAFETY: not null and aligned; the C caller vouches for as many elements as it said.
            unsafe { self.0.add(index).write(*value) };
        }
        Ok(())
    }

    /// Reads element `index` of an array that the caller passed.
    pub(crate) fn get(self, name: &'static str, index: usize) -> Result<T, ApiError> {
        self.check(name)?;
        // SAFETY: not null and aligned; the C caller vouches for an array of more than `index`.
        Ok(unsafe { self.0.add(index).read() })
    }

    /// Writes element `index` of an array that the caller passed.
    pub(crate) fn put(self, name: &'static str, index: usize, value: T) -> Outcome {
        self.check(name)?;
        // SAFETY: not null and aligned; the C caller vouches for an array of more than `index`.
        unsafe { self.0.add(index).write(value) };
        Ok(())
    }
}

impl Out<*mut c_void> {
    /// Reads a pointer-sized slot as a host pointer.
    pub(crate) fn host_pointer(
        self,
        name: &'static str,
        index: usize,
    ) -> Result<HostPtr, ApiError> {
        self.get(name, index).map(HostPtr)
    }
}

/// A pointer to a `T` that a call reads: null, or valid.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the value.
    pub(crate) fn read(self, name: &'static str) -> Result<T, ApiError> {
        check_pointer(self.0.addr(), align_of::<T>(), name)?;
        // SAFETY: not null and aligned; the C caller vouches that it points to a `T`.
        Ok(unsafe { self.0.read() })
    }
}

/// A NUL-terminated string.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The string's bytes, copied, without the NUL.
    pub(crate) fn bytes(self, name: &'static str) -> Result<Vec<u8>, ApiError> {
        check_pointer(self.0.addr(), 1, name)?;
        // SAFETY: not null; the C caller vouches for a NUL-terminated string.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// The string, copied; invalid UTF-8 is replaced.
    pub(crate) fn string(self, name: &'static str) -> Result<String, ApiError> {
        Ok(String::from_utf8_lossy(&self.bytes(name)?).into_owned())
    }
}

/// A pointer to host memory whose size another parameter says.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HostPtr(*mut c_void);

impl HostPtr {
    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The pointer's address.
    pub(crate) fn address(self) -> u64 {
        self.0.addr() as u64
    }

    /// The pointer itself.
    pub(crate) fn raw(self) -> *mut c_void {
        self.0
    }

    /// The host memory at an address whose pointer was exposed when it was allocated or registered.
    pub(crate) fn at(address: u64) -> HostPtr {
        HostPtr(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// A pointer made from one that a struct of the caller held.
    pub(crate) fn from_raw(pointer: *mut c_void) -> HostPtr {
        HostPtr(pointer)
    }

    /// The pointer `offset` bytes further on.
    pub(crate) fn offset(self, offset: usize) -> HostPtr {
        HostPtr(self.0.wrapping_byte_add(offset))
    }

    /// The `bytes` bytes it points to, for reading.
    pub(crate) fn read<'a>(self, name: &'static str, bytes: usize) -> Result<&'a [u8], ApiError> {
        if bytes == 0 {
            return Ok(&[]);
        }
        check_region(self.0.addr(), bytes, name)?;
        // SAFETY: not null and within isize; the C caller vouches for `bytes` readable bytes that
        // nobody writes during the call. The slice is dropped before the call returns.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast(), bytes) })
    }

    /// The `bytes` bytes it points to, for writing.
    pub(crate) fn write<'a>(
        self,
        name: &'static str,
        bytes: usize,
    ) -> Result<&'a mut [u8], ApiError> {
        if bytes == 0 {
            return Ok(&mut []);
        }
        check_region(self.0.addr(), bytes, name)?;
        // SAFETY: not null and within isize; the C caller vouches for `bytes` writable bytes that
        // nobody else uses during the call. The slice is dropped before the call returns.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), bytes) })
    }

    /// The NUL-terminated bytes it points to, without the NUL.
    pub(crate) fn c_string<'a>(self, name: &'static str) -> Result<&'a [u8], ApiError> {
        check_pointer(self.0.addr(), 1, name)?;
        // SAFETY: not null; the C caller vouches for a NUL-terminated string.
        Ok(unsafe { CStr::from_ptr(self.0.cast()) }.to_bytes())
    }

    /// The same place, as one that takes a `T`.
    pub(crate) fn out<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

fn check_pointer(address: usize, align: usize, name: &'static str) -> Outcome {
    if address == 0 {
        return Err(ApiError::NullPointer { name });
    }
    if !address.is_multiple_of(align) {
        return Err(ApiError::MisalignedPointer { name, address, align });
    }
    Ok(())
}

fn check_region(address: usize, bytes: usize, name: &'static str) -> Outcome {
    check_pointer(address, 1, name)?;
    if isize::try_from(bytes).is_err() || address.checked_add(bytes).is_none() {
        return Err(ApiError::HostRegionTooLarge { name, bytes: bytes as u64 });
    }
    Ok(())
}

/// A device's or pool's 16-byte identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUuuid {
    /// The identity.
    pub bytes: [u8; 16],
}

/// A handle that another process can open (native driver only); passed by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct IpcHandle {
    /// Nothing that a program should look at.
    pub reserved: [u8; 64],
}

/// Where memory lives; passed by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemLocation {
    /// 1: a device; other values: the host.
    pub kind: c_int,
    /// The device's ordinal.
    pub id: c_int,
}

/// The legacy device properties (`cuDeviceGetProperties`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUdevprop {
    /// Most threads in a block.
    pub max_threads_per_block: c_int,
    /// Most threads in a block, by dimension.
    pub max_threads_dim: [c_int; 3],
    /// Most blocks in a grid, by dimension.
    pub max_grid_size: [c_int; 3],
    /// Shared memory of a block, bytes.
    pub shared_mem_per_block: c_int,
    /// Constant memory, bytes.
    pub total_constant_memory: c_int,
    /// Lanes of a warp.
    pub simd_width: c_int,
    /// Longest row that a 2-D copy takes, bytes.
    pub mem_pitch: c_int,
    /// 32-bit registers of a block.
    pub regs_per_block: c_int,
    /// Clock, kHz.
    pub clock_rate: c_int,
    /// Alignment of textures, bytes.
    pub texture_align: c_int,
}

/// One side of a 2-D copy as `CUDA_MEMCPY2D` holds it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CopySide2D {
    /// First byte of a row.
    pub x_in_bytes: usize,
    /// First row.
    pub y: usize,
    /// 1 host, 2 device, 3 array, 4 unified.
    pub memory_type: c_uint,
    /// Host memory.
    pub host: *mut c_void,
    /// Device memory.
    pub device: CUdeviceptr,
    /// An array.
    pub array: CUarray,
    /// Bytes from row to row.
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memcpy2D {
    /// Where from.
    pub src: CopySide2D,
    /// Where to.
    pub dst: CopySide2D,
    /// Bytes of a row.
    pub width_in_bytes: usize,
    /// Rows.
    pub height: usize,
}

/// One side of a 3-D copy as `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER` hold it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CopySide3D {
    /// First byte of a row.
    pub x_in_bytes: usize,
    /// First row.
    pub y: usize,
    /// First slice.
    pub z: usize,
    /// Level of detail; must be 0.
    pub lod: usize,
    /// 1 host, 2 device, 3 array, 4 unified.
    pub memory_type: c_uint,
    /// Host memory.
    pub host: *mut c_void,
    /// Device memory.
    pub device: CUdeviceptr,
    /// An array.
    pub array: CUarray,
    /// The peer copy's context; reserved in the plain one.
    pub context: CUcontext,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Rows from slice to slice.
    pub height: usize,
}

/// `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER`, whose layouts are the same.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memcpy3D {
    /// Where from.
    pub src: CopySide3D,
    /// Where to.
    pub dst: CopySide3D,
    /// Bytes of a row.
    pub width_in_bytes: usize,
    /// Rows.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

/// One attribute of a launch; its value is a union of 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchAttribute {
    /// Which attribute.
    pub id: c_uint,
    /// Nothing.
    pub pad: [u8; 4],
    /// Its value, as 64-bit words.
    pub value: [u64; 8],
}

/// What `cuLaunchKernelEx` launches with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchConfig {
    /// Blocks, by dimension.
    pub grid: [c_uint; 3],
    /// Threads of a block, by dimension.
    pub block: [c_uint; 3],
    /// Dynamic shared memory of a block, bytes.
    pub shared_mem_bytes: c_uint,
    /// Where to launch.
    pub stream: CUstream,
    /// The attributes.
    pub attributes: Out<CUlaunchAttribute>,
    /// How many there are.
    pub attribute_count: c_uint,
}

/// `cuCtxCreate_v4`'s parameters.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUctxCreateParams {
    /// Execution affinity parameters.
    pub affinity: Opaque,
    /// How many there are.
    pub affinity_count: c_int,
    /// Graphics interoperability parameters.
    pub cig: Opaque,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUgraphInstantiateParams {
    /// `CUgraphInstantiate_flags`.
    pub flags: u64,
    /// The stream to upload on.
    pub upload_stream: CUstream,
    /// The node that could not be instantiated; written by the call.
    pub error_node: CUgraphNode,
    /// `CUgraphInstantiateResult`; written by the call.
    pub result: c_int,
}

// The layouts are C's; a change here would break every caller.
const _: () = {
    assert!(size_of::<usize>() == 8, "the CUDA driver API is 64-bit");
    assert!(size_of::<Memcpy2D>() == 128);
    assert!(size_of::<Memcpy3D>() == 200);
    assert!(size_of::<CUlaunchAttribute>() == 72);
    assert!(size_of::<CUlaunchConfig>() == 56);
    assert!(size_of::<CUdevprop>() == 56);
    assert!(size_of::<CUgraphInstantiateParams>() == 32);
    assert!(size_of::<Out<u8>>() == 8);
};
