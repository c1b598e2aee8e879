//! A kernel's panic in memory that the host can read afterwards.
//!
//! NVIDIA's driver prints what `__assertfail` is told on the host's standard error, and tells the host program nothing but that
//! there was an error. So the host keeps a [`PanicRecord`] in page-locked memory that the device can reach, and writes its address
//! to a variable of the module, `PANIC_RECORD`. The panic handler fills it in before it calls the driver. Such memory can
//! be read when the context is lost. A host that knows nothing of this leaves the variable null. `CudaBuilder::panic_record` says
//! whether the handler does that.

/// Bytes of a file's name that a record holds.
const FILE_BYTES: usize = 256;
/// Bytes of a message that a record holds.
const MESSAGE_BYTES: usize = 512;

/// What a panic left. Texts that are too long are cut off.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct PanicRecord {
    /// 1 when all the rest is written; else 0.
    pub complete: u32,
    /// The line in the file, from 1.
    pub line: u32,
    /// The column in the line, from 1.
    pub column: u32,
    /// The index of the block along x, y and z.
    pub block: [u32; 3],
    /// The index of the thread in its block along x, y and z.
    pub thread: [u32; 3],
    /// The source file in UTF-8, and a NUL.
    pub file: [u8; FILE_BYTES],
    /// The message in UTF-8, and a NUL.
    pub message: [u8; MESSAGE_BYTES],
}

// The host makes records, the device fills them in.
#[cfg(not(target_arch = "nvptx64"))]
impl PanicRecord {
    /// A record of no panic.
    ///
    /// ```
    /// assert_eq!(cuda_std::launch::PanicRecord::EMPTY.complete, 0);
    /// ```
    pub const EMPTY: Self = Self {
        complete: 0,
        line: 0,
        column: 0,
        block: [0; 3],
        thread: [0; 3],
        file: [0; FILE_BYTES],
        message: [0; MESSAGE_BYTES],
    };
}

/// The name of the modules' variable with the address of the [`PanicRecord`] to fill in, 8 bytes.
///
/// ```
/// assert_eq!(cuda_std::launch::PANIC_RECORD, "__cuda_std_panic_record");
/// ```
// The device has the variable itself.
#[cfg(not(target_arch = "nvptx64"))]
pub const PANIC_RECORD: &str = "__cuda_std_panic_record";

#[cfg(target_arch = "nvptx64")]
pub(crate) use device::write;

#[cfg(target_arch = "nvptx64")]
mod device {
    use core::panic::Location;
    use core::ptr::null_mut;
    use core::sync::atomic::{AtomicPtr, Ordering};

    use super::{FILE_BYTES, MESSAGE_BYTES, PanicRecord};
    use crate::thread;

    // Set by the host before any launch.
    #[unsafe(no_mangle)]
    static __cuda_std_panic_record: AtomicPtr<PanicRecord> = AtomicPtr::new(null_mut());

    /// Fills the record in, if there is one.
    ///
    /// # Safety
    ///
    /// `message` ends with a NUL. One thread calls this.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn write(message: *const u8, at: &Location<'_>) {
        let record = __cuda_std_panic_record.load(Ordering::Relaxed);
        if record.is_null() {
            return;
        }
        // SAFETY: the host's promise for the record, the caller's for the message; a file's name ends with a NUL.
        unsafe {
            copy(at.file_as_c_str().as_ptr().cast(), (&raw mut (*record).file).cast(), FILE_BYTES);
            copy(message, (&raw mut (*record).message).cast(), MESSAGE_BYTES);
            (*record).line = at.line();
            (*record).column = at.column();
            (*record).block = thread::block_idx().to_array();
            (*record).thread = thread::thread_idx().to_array();
            // The host must not find the mark without the rest.
            thread::system_fence();
            (&raw mut (*record).complete).write_volatile(1);
            thread::system_fence();
        }
    }

    /// Copies up to and with the NUL, or as much as fits and a NUL.
    ///
    /// # Safety
    ///
    /// `from` ends with a NUL, and `room` bytes at `to` can be written.
    #[inline(always)]
    unsafe fn copy(from: *const u8, to: *mut u8, room: usize) {
        let mut at = 0;
        // SAFETY: stops at the NUL and before the room's end. Volatile, or LLVM makes it a longer loop over longer words.
        unsafe {
            while at < room - 1 && *from.add(at) != 0 {
                to.add(at).write_volatile(*from.add(at));
                at += 1;
            }
            to.add(at).write_volatile(0);
        }
    }
}
