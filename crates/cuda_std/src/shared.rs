//! Shared memory: one piece for each block, fast, and undefined when the block starts.
//!
//! | | size | |
//! | --- | --- | --- |
//! | [`shared_array!`](crate::shared_array), [`#[address_space(shared)]`](crate::address_space) | fixed | a `static mut` for each block |
//! | [`shared_tile!`](crate::shared_tile), [`SharedTile`], [`SwizzledTile`] | fixed | two dimensions, without bank conflicts |
//! | [`dynamic_shared_mem`] | chosen at the launch | one array |
//! | [`DynamicShared`] | chosen at the launch | several arrays |
//!
//! Sizes fixed at compile time are at most 48 KiB in all for a kernel (PTX's limit for static shared memory).
//!
//! # More than 48 KiB
//!
//! A block can have more only as dynamic shared memory (up to 99 KiB on compute capability 8.6 and 8.9, 163 KiB on 8.0, 227 KiB on
//! 9.0 and 10.0), and only if the host asks for it first, by setting the function's attribute
//! `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`. `cuda_host`'s launches do so when they need it. With `cust` alone it is
//! `cuFuncSetAttribute` on the function's handle; a launch without it fails with `CUDA_ERROR_INVALID_VALUE`.

mod dynamic;
mod tile;

pub use dynamic::{DynamicShared, SharedLayout};
pub use tile::{SharedTile, SwizzledTile};

#[cfg(target_arch = "nvptx64")]
use core::mem::MaybeUninit;

/// A block's shared memory cannot be larger on any GPU so far (compute capability 9.0 and 10.0: 227 KiB).
#[cfg(target_arch = "nvptx64")]
const LARGEST_BYTES: usize = 227 * 1024;

/// Alignment of the start of dynamic shared memory, in bytes.
const ALIGNMENT: usize = 16;

#[cfg(target_arch = "nvptx64")]
#[repr(C, align(16))]
struct Dynamic(MaybeUninit<[u8; LARGEST_BYTES]>);

/// `cuda_builder` makes this an external array without a size. Until then it is as large as it could ever be, so that
/// LLVM sees no access beyond its end.
#[cfg(target_arch = "nvptx64")]
#[unsafe(link_section = ".cuda.shared.dynamic")]
static mut DYNAMIC: Dynamic = Dynamic(MaybeUninit::uninit());

/// The start of the shared memory whose size the launch chooses, aligned to 16 bytes.
///
/// All calls give the same address, whatever `T` is: to keep several arrays there, see [`DynamicShared`].
/// [`mem::dynamic_smem_size`](crate::mem::dynamic_smem_size) tells its size in bytes. `T` may be aligned to at most
/// 16 bytes; more is a compile error.
///
/// ```no_run
/// # use cuda_std::{shared::dynamic_shared_mem, thread};
/// # let (x, n) = (core::ptr::null_mut::<f32>(), 0);
/// // Launched with `n * size_of::<f32>()` bytes of dynamic shared memory.
/// let tile = dynamic_shared_mem::<f32>();
/// let i = thread::thread_idx_x() as usize;
/// unsafe { *tile.add(i) = *x.add(i) };
/// thread::sync_threads();
/// unsafe { *x.add(i) = *tile.add(n - 1 - i) };
/// ```
///
/// PTX: `.extern .shared .align 16 .b8 name[];`
#[inline(always)]
#[must_use]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const {
        assert!(
            align_of::<T>() <= ALIGNMENT,
            "dynamic shared memory is aligned to 16 bytes: `T` needs more"
        );
    }
    base().cast()
}

#[inline(always)]
#[crate::gpu_only]
fn base() -> *mut u8 {
    (&raw mut DYNAMIC).cast()
}

/// `shared_array![T; N]`: an array in shared memory, as a `*mut T` to its first element.
///
/// ```no_run
/// # use cuda_std::{shared_array, thread};
/// let tile: *mut f32 = shared_array![f32; 256];
/// let i = thread::thread_idx_x() as usize;
/// unsafe { *tile.add(i) = i as f32 };
/// thread::sync_threads();
/// ```
///
/// The array is uninitialised: read only what some thread has written, after a barrier. Each place in the source where
/// the macro stands is one array for each block: a loop or a function called twice gets the same one again. `T` and `N`
/// cannot be generic parameters of the function around it. On the host it is an ordinary `static`.
#[macro_export]
macro_rules! shared_array {
    ($T:ty; $N:expr) => {{
        #[$crate::address_space(shared)]
        static mut ARRAY: ::core::mem::MaybeUninit<[$T; $N]> = ::core::mem::MaybeUninit::uninit();
        (&raw mut ARRAY).cast::<$T>()
    }};
}
