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

mod barrier;

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
