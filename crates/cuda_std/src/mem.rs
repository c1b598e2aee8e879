//! The device's heap, and sizes of a block's shared memory.
//!
//! # `alloc` in kernels
//!
//! [`GLOBAL_ALLOCATOR`] is every kernel crate's allocator (rustc refuses a second), so the crate `alloc` works in kernels, and the
//! [`prelude`](crate::prelude) has its commonest names. Kernels without any of it contain none of it.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// How many primes are below each limit.
//! #[kernel]
//! pub fn primes(limits: &[u32], mut counts: DisjointSlice<u32>) {
//!     let i = thread::unique_index();
//!     if i.get() < counts.len() {
//!         let limit = limits[i.get()] as usize;
//!         let mut is_prime = vec![true; limit];
//!         for n in 2..limit {
//!             if is_prime[n] {
//!                 counts[i] += 1;
//!                 is_prime.iter_mut().skip(2 * n).step_by(n).for_each(|multiple| *multiple = false);
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! The heap is global memory that all threads share: 8 MB, unless the host sets `CU_LIMIT_MALLOC_HEAP_SIZE` before the first
//! launch. Each allocation is a call of [`malloc`], hundreds of times slower than arithmetic; arrays of fixed size in registers or
//! shared memory are better where they will do. What is never dropped stays allocated until the context ends.
//!
//! # Panics
//!
//! A `Vec`, `Box` or `String` that finds the heap full panics. `Vec::try_reserve` answers with an error instead.

mod allocator;

pub use allocator::{CUDAAllocator, GLOBAL_ALLOCATOR, free, malloc};

use crate::gpu_only;

/// Bytes of dynamic shared memory that the launch gave each block.
///
/// PTX: `%dynamic_smem_size`, PTX ISA 4.1, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn dynamic_smem_size() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register that is the same for the whole launch.
    unsafe {
        core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    bytes
}

/// Bytes of shared memory that a block takes in all: static and dynamic, rounded up to the GPU's unit of allocation, with
/// what the system keeps for itself (1 KiB from sm_80 on).
///
/// PTX: `%total_smem_size`, PTX ISA 4.1, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn total_smem_size() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register that is the same for the whole launch.
    unsafe {
        core::arch::asm!("mov.u32 {}, %total_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    bytes
}
