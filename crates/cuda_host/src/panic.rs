//! [`Panic`]: what a kernel's panic said, on a GPU too.
//!
//! On the emulator an error has the emulator's own diagnostic besides. On a GPU the driver writes a panic's message to the
//! standard error, where the program cannot read it; `cuda_std`'s panic handler therefore leaves it in memory of the host as well.

use std::fmt;
use std::mem::size_of;
use std::ptr::{self, NonNull};

use cuda_std::launch::{PANIC_RECORD, PanicRecord};

use crate::sys::{self, CUdeviceptr, CUmodule};

/// A panic of a kernel. Of all threads that panicked, one is told about.
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// # let gpu = cuda_host::Device::open()?;
/// if let Err(error) = gpu.synchronize() {
///     if let Some(panic) = error.panic() {
///         println!("{} in thread {:?}", panic.message, panic.thread);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panic {
    /// The message.
    pub message: String,
    /// The source file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The index of the thread's block along x, y and z.
    pub block: [u32; 3],
    /// The index of the thread in its block along x, y and z.
    pub thread: [u32; 3],
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, file, line, column, block, thread } = self;
        write!(
            f,
            "panicked at {file}:{line}:{column}: {message}\n  in block {block:?}, thread {thread:?}"
        )
    }
}

/// Memory of the host that kernels of one device leave their panic in.
pub(crate) struct PanicMemory {
    record: NonNull<PanicRecord>,
    /// The record's address on the device.
    address: CUdeviceptr,
}

// SAFETY: page-locked memory belongs to the context, not to a thread.
unsafe impl Send for PanicMemory {}

impl PanicMemory {
    /// An empty record; the context is current. `None` where the driver has no such memory: the message is on the standard error
    /// all the same.
    pub(crate) fn allocate() -> Option<Self> {
        let mut memory = ptr::null_mut();
        let flags = sys::MEMHOSTALLOC_PORTABLE | sys::MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the result goes to a variable of this function.
        let code = unsafe { sys::cuMemHostAlloc(&mut memory, size_of::<PanicRecord>(), flags) };
        let record = NonNull::new(memory.cast::<PanicRecord>()).filter(|_| code == 0)?;
        // SAFETY: such memory is aligned to a page, and as long as was asked.
        unsafe { record.write(PanicRecord::EMPTY) };
        let mut address = 0;
        // SAFETY: the memory was just allocated; the result goes to a variable of this function.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, memory, 0) };
        let memory = Self { record, address };
        (code == 0).then_some(memory)
    }

    /// Has a module's kernels leave their panics here, if they know of it. The context is current, and the module just loaded.
    pub(crate) fn install(&self, module: CUmodule) {
        let name = format!("{PANIC_RECORD}\0");
        let (mut variable, mut bytes): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: the module is loaded, the name ends in NUL, the results outlive the call.
        let code = unsafe {
            sys::cuModuleGetGlobal_v2(&mut variable, &mut bytes, module, name.as_ptr().cast())
        };
        if code == 0 && bytes == size_of_val(&self.address) {
            // Without it, the message is on the standard error all the same.
            // SAFETY: the variable has as many bytes as the address.
            let _ =
                unsafe { sys::cuMemcpyHtoD_v2(variable, (&raw const self.address).cast(), bytes) };
        }
    }

    /// The panic, once there is one.
    pub(crate) fn read(&self) -> Option<Panic> {
        // SAFETY: the record lives as long as `self`; a device may be writing it, hence volatile and field by field: nothing but
        // the mark is read before that is set.
        let record = unsafe {
            if (&raw const (*self.record.as_ptr()).complete).read_volatile() != 1 {
                return None;
            }
            self.record.read_volatile()
        };
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        Some(Panic {
            message: text(&record.message),
            file: text(&record.file),
            line: record.line,
            column: record.column,
            block: record.block,
            thread: record.thread,
        })
    }
}

impl Drop for PanicMemory {
    fn drop(&mut self) {
        // The device makes its context current before it drops this. After a fault the driver refuses, and frees it with the context.
        // SAFETY: allocated by `allocate`, freed here only.
        let _ = unsafe { sys::cuMemFreeHost(self.record.as_ptr().cast()) };
    }
}
