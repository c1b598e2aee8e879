//! The device's heap, for `alloc`.

#[cfg(target_arch = "nvptx64")]
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
#[cfg(target_arch = "nvptx64")]
use core::mem::MaybeUninit;

use crate::gpu_only;

/// The heap that threads of all kernels share: CUDA's `malloc` and `free`.
///
/// It is the global allocator of every kernel crate, so that `Vec`, `Box`, `String` and the like work (see [`mem`](crate::mem)).
#[derive(Clone, Copy, Debug, Default)]
pub struct CUDAAllocator;

/// What kernels' collections are made of.
#[cfg_attr(target_arch = "nvptx64", global_allocator)]
pub static GLOBAL_ALLOCATOR: CUDAAllocator = CUDAAllocator;

/// Bytes that `malloc` aligns to (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations").
#[cfg(target_arch = "nvptx64")]
const MALLOC_ALIGNMENT: usize = 16;

// SAFETY: `malloc` gives each caller memory of its own, as large as asked for, until `free`; it answers null when there is none, and
// never unwinds. What is aligned further lies within a larger piece of it.
#[cfg(target_arch = "nvptx64")]
unsafe impl GlobalAlloc for CUDAAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // The trait leaves 0 bytes undefined, `malloc` answers null: one byte costs nothing.
        let size = layout.size().max(1);
        if layout.align() <= MALLOC_ALIGNMENT {
            malloc(size).cast()
        } else {
            alloc_aligned(size, layout.align())
        }
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise: `start` came from `alloc` for the same layout, so it is `malloc`'s address, or that
        // stands in front of it.
        unsafe {
            if layout.align() <= MALLOC_ALIGNMENT {
                free(start.cast());
            } else {
                free(start.cast::<*mut c_void>().sub(1).read());
            }
        }
    }

    /// CUDA has none: allocates, copies and frees, as the trait's own does, but copies 16 bytes at a time and not one.
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: `new_size`, rounded up to the alignment, is no more than `isize::MAX`.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: both are as `alloc` and `dealloc` want them, and as long as what is copied.
        unsafe {
            let moved = self.alloc(new_layout);
            if !moved.is_null() {
                copy(start, moved, layout.size().min(new_size));
                self.dealloc(start, layout);
            } else if new_size <= layout.size() {
                // To get smaller needs no room elsewhere.
                return start;
            }
            moved
        }
    }
}

/// Copies `len` bytes, written or not.
///
/// # Safety
///
/// `len` bytes at `from` may be read and `len` bytes at `to` written; they do not overlap; both addresses are multiples of
/// [`MALLOC_ALIGNMENT`].
#[cfg(target_arch = "nvptx64")]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    type Chunk = MaybeUninit<u128>;
    let chunks = len / size_of::<Chunk>();
    // A loop: LLVM makes single bytes of `copy_nonoverlapping`.
    for i in 0..chunks {
        // SAFETY: within the `len` bytes, and aligned.
        unsafe { *to.cast::<Chunk>().add(i) = from.cast::<Chunk>().add(i).read() };
    }
    for i in chunks * size_of::<Chunk>()..len {
        // SAFETY: within the `len` bytes.
        unsafe {
            *to.cast::<MaybeUninit<u8>>().add(i) = from.cast::<MaybeUninit<u8>>().add(i).read()
        };
    }
}

/// Memory aligned to `align` bytes, a power of two above [`MALLOC_ALIGNMENT`], with `malloc`'s own address in front of it; null
/// where there is none.
#[cfg(target_arch = "nvptx64")]
fn alloc_aligned(size: usize, align: usize) -> *mut u8 {
    let Some(bytes) = size.checked_add(align) else { return core::ptr::null_mut() };
    let start: *mut u8 = malloc(bytes).cast();
    if start.is_null() {
        return start;
    }
    // 16 bytes at least, since `start` is a multiple of 16, and `align` at most: room for the address in front, and for `size`.
    let distance = align - start.addr() % align;
    // SAFETY: `distance` is at most `align`, so all of it lies within the `size + align` bytes.
    unsafe {
        let aligned = start.add(distance);
        aligned.cast::<*mut u8>().sub(1).write(start);
        aligned
    }
}

/// Where `Vec` and the others end when the heap is full. `alloc`'s own message has a number in it, and a kernel's
/// panics report only messages without.
#[cfg(target_arch = "nvptx64")]
#[alloc_error_handler]
fn heap_is_full(_: Layout) -> ! {
    panic!(
        "memory allocation failed: the device heap is full (its size is CU_LIMIT_MALLOC_HEAP_SIZE, 8 MB unless set)"
    )
}

/// `size` bytes of the device's heap, aligned to 16 bytes; null if there are no such. CUDA C++ Programming Guide, "Dynamic Global
/// Memory Allocation and Operations"; sm_20.
///
/// The memory outlives the kernel, until [`free`] or the end of the context.
#[must_use]
#[gpu_only]
pub fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size will do.
    unsafe { core::arch::nvptx::malloc(size) }
}

/// Gives back what [`malloc`] gave; nothing for null. sm_20.
///
/// # Safety
///
/// The address is null or came from [`malloc`] in any thread, and nobody uses the memory any more.
#[gpu_only]
pub unsafe fn free(start: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { core::arch::nvptx::free(start) }
}
