//! Copies from global to shared memory that go on while the thread works, and barriers that threads and copies arrive at.
//!
//! The builder's architecture has to be sm_80 or more ([`CudaBuilder::arch`]), for some functions sm_90, or
//! the driver refuses the PTX. What CUDA C++ has as `__pipeline_memcpy_async`, `__pipeline_commit`, `__pipeline_wait_prior`
//! and `cuda::barrier`.
//!
//! A thread's copies are collected in groups: [`commit_group`] ends one, [`wait_group`] waits for all but the last few. Then this
//! thread sees what it copied; others do after a barrier.
//!
//! ```
//! use cuda_std::async_copy::{commit_group, cp_async_4, wait_group};
//! use cuda_std::prelude::*;
//!
//! /// The sum of each block's elements of the array, 64 at a time; the next 64 are on their way meanwhile.
//! ///
//! /// # Safety
//! /// Blocks of 64 threads. `x` has 64 elements for each of `n` tiles.
//! #[kernel]
//! pub unsafe fn sums(x: *const f32, n: usize, out: *mut f32) {
//!     let tiles = [shared_array![f32; 64], shared_array![f32; 64]];
//!     let i = thread::thread_idx_x() as usize;
//!     let fetch = |tile: usize| unsafe {
//!         if tile < n {
//!             cp_async_4(tiles[tile % 2].add(i), x.add(64 * tile + i));
//!         }
//!         commit_group();
//!     };
//!     let mut sum = 0.0;
//!     fetch(0);
//!     for tile in 0..n {
//!         fetch(tile + 1);
//!         wait_group::<1>();
//!         thread::sync_threads();
//!         sum += unsafe { *tiles[tile % 2].add(63 - i) };
//!         thread::sync_threads();
//!     }
//!     unsafe { *out.add(i) = sum };
//! }
//! ```
//!
//! [`CudaBuilder::arch`]: https://docs.rs/cuda_builder/latest/cuda_builder/struct.CudaBuilder.html#method.arch

// Its macros serve the next one.
#[macro_use]
mod barrier;
mod cluster;

pub use barrier::{Barrier, BarrierToken};

use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::{AddressSpace, convert_generic_to_specific_address_space, shared_address};

macro_rules! copy {
    ($name:ident, $bytes:literal, $cache:literal, $text:literal) => {
        #[doc = concat!("Begins to copy ", $bytes, " bytes from global to shared memory. ", $text)]
        #[doc = ""]
        #[doc = concat!("PTX: `cp.async.", $cache, ".shared.global`, PTX ISA 7.0, sm_80.")]
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = concat!(
                            "`shared` points into shared memory and `global` into global memory, both at ", $bytes,
                            " bytes of which they are a multiple of ", $bytes, ". Until a wait for the copy \
                            ([`wait_group`], [`wait_all`], a [`Barrier`]) nobody writes either, or reads the copy."
                        )]
        #[inline(always)]
        #[gpu_only]
        pub unsafe fn $name<T>(shared: *mut T, global: *const T) {
            // SAFETY: the caller's promise.
            unsafe {
                core::arch::asm!(
                    concat!("cp.async.", $cache, ".shared.global [{}], [{}], ", $bytes, ";"),
                    in(reg32) shared_address(shared),
                    in(reg64) convert_generic_to_specific_address_space(global, AddressSpace::Global),
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

copy!(cp_async_4, "4", "ca", "CUDA: `__pipeline_memcpy_async(shared, global, 4)`.");
copy!(cp_async_8, "8", "ca", "CUDA: `__pipeline_memcpy_async(shared, global, 8)`.");
copy!(
    cp_async_16,
    "16",
    "cg",
    "Past the L1 cache, straight from L2. CUDA: `__pipeline_memcpy_async(shared, global, 16)`."
);

macro_rules! copy_zero_filled {
    ($name:ident, $bytes:literal, $cache:literal) => {
        #[doc = concat!("Begins to write ", $bytes, " bytes to shared memory: the first from global memory, and `zeros` of zero behind them.")]
        #[doc = ""]
        #[doc = concat!("CUDA: `__pipeline_memcpy_async(shared, global, ", $bytes, ", zeros)`.")]
        #[doc = concat!("PTX: `cp.async.", $cache, ".shared.global` with the size of the source, PTX ISA 7.0, sm_80.")]
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = concat!(
            "`shared` points to ", $bytes, " bytes of shared memory, and `global` to ", $bytes, " less `zeros` bytes of global memory; \
             anywhere, if these are none. Both are multiples of ", $bytes, ", and `zeros` is at most ", $bytes, ". Until a wait for the \
             copy ([`wait_group`], [`wait_all`], a [`Barrier`]) nobody writes either, or reads the copy."
        )]
        #[inline(always)]
        #[gpu_only]
        pub unsafe fn $name<T>(shared: *mut T, global: *const T, zeros: u32) {
            // SAFETY: the caller's promise.
            unsafe {
                core::arch::asm!(
                    concat!("cp.async.", $cache, ".shared.global [{}], [{}], ", $bytes, ", {};"),
                    in(reg32) shared_address(shared),
                    in(reg64) convert_generic_to_specific_address_space(global, AddressSpace::Global),
                    in(reg32) $bytes - zeros,
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

copy_zero_filled!(cp_async_4_zero_filled, 4, "ca");
copy_zero_filled!(cp_async_8_zero_filled, 8, "ca");
copy_zero_filled!(cp_async_16_zero_filled, 16, "cg");

/// Begins to copy `from[index]` to shared memory, or zero if there is no such element: what a tile at the edge of a matrix needs.
///
/// ```no_run
/// # use cuda_std::async_copy::cp_async_or_zero;
/// # let (tile, x, i): (*mut f32, &[f32], usize) = (core::ptr::null_mut(), &[], 0);
/// unsafe { cp_async_or_zero(tile.add(i % 32), x, i) };
/// ```
///
/// `T` has 4, 8 or 16 bytes and is aligned to as many, or the kernel does not compile. PTX: `cp.async`, PTX ISA 7.0, sm_80.
///
/// # Safety
///
/// `shared` points to a `T` in shared memory, and `from` lies in global memory. Until a wait for the copy ([`wait_group`], [`wait_all`],
/// a [`Barrier`]) nobody writes either, or reads the copy.
#[inline(always)]
pub unsafe fn cp_async_or_zero<T: bytemuck::Zeroable>(shared: *mut T, from: &[T], index: usize) {
    const {
        assert!(
            matches!(size_of::<T>(), 4 | 8 | 16) && align_of::<T>() == size_of::<T>(),
            "an asynchronous copy is of 4, 8 or 16 bytes, aligned to as many: put `#[repr(align(16))]` on a struct of 16 bytes"
        );
    }
    let exists = index < from.len();
    let global = from.as_ptr().wrapping_add(if exists { index } else { 0 });
    let zeros = if exists { 0 } else { size_of::<T>() as u32 };
    // SAFETY: the caller's promise; the element exists, or nothing is read.
    unsafe {
        match size_of::<T>() {
            4 => cp_async_4_zero_filled(shared, global, zeros),
            8 => cp_async_8_zero_filled(shared, global, zeros),
            _ => cp_async_16_zero_filled(shared, global, zeros),
        }
    }
}

/// Ends a group of copies: all that this thread has begun since the last call, or none.
///
/// CUDA: `__pipeline_commit()`; PTX: `cp.async.commit_group`, PTX ISA 7.0, sm_80.
#[inline(always)]
#[gpu_only]
pub fn commit_group() {
    // SAFETY: gives copies that are under way a number.
    unsafe { core::arch::asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
}

/// Waits until at most the last `N` groups of this thread's copies are still under way; for `N` = 0, until none is.
///
/// Copies that are in no group yet are not waited for. CUDA: `__pipeline_wait_prior(N)`; PTX: `cp.async.wait_group`, PTX ISA 7.0,
/// sm_80.
#[inline(always)]
#[gpu_only]
pub fn wait_group<const N: u32>() {
    // SAFETY: only waits. Without `nomem`: memory has changed after it.
    unsafe {
        core::arch::asm!("cp.async.wait_group {};", const N, options(nostack, preserves_flags))
    }
}

/// Waits for all of this thread's copies, in groups or not. PTX: `cp.async.wait_all`, PTX ISA 7.0, sm_80.
#[inline(always)]
#[gpu_only]
pub fn wait_all() {
    // SAFETY: as in `wait_group`.
    unsafe { core::arch::asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
}
