//! Atomics: memory that many threads change at the same time.
//!
//! ```no_run
//! use core::sync::atomic::Ordering::Relaxed;
//! use cuda_std::atomic::{Atomic, Block};
//! use cuda_std::prelude::*;
//!
//! /// How often each byte occurs.
//! ///
//! /// # Safety
//! /// Launched with 256 threads a block; `counts` points to 256 numbers.
//! #[kernel]
//! pub unsafe fn histogram(bytes: &[u8], counts: *mut u32) {
//!     let own = shared_array![u32; 256];
//!     let thread = thread::thread_idx_x() as usize;
//!     unsafe {
//!         *own.add(thread) = 0;
//!         thread::sync_threads();
//!         for i in thread::grid_stride(bytes.len()) {
//!             // Within the block, in shared memory …
//!             Atomic::<u32, Block>::from_ptr(own.add(bytes[i] as usize)).fetch_add(1, Relaxed);
//!         }
//!         thread::sync_threads();
//!         // … then once a block in memory of the device.
//!         Atomic::<u32>::from_ptr(counts.add(thread)).fetch_add(*own.add(thread), Relaxed);
//!     }
//! }
//! ```
//!
//! # Which one to use
//!
//! | who takes part | use |
//! | --- | --- |
//! | threads of one block | [`Atomic<T, Block>`](Atomic), [`BlockAtomicF32`], [`BlockAtomicF64`] |
//! | threads of one launch, or of several on one device | [`Atomic<T>`](Atomic), [`AtomicF32`], [`AtomicF64`] |
//! | the host or other devices too | [`Atomic<T, System>`](Atomic), [`SystemAtomicF32`], [`SystemAtomicF64`] |
//! | code that is for CPUs as well | `core::sync::atomic` |
//!
//! A narrower [`Scope`] is never slower. The difference is large for orderings other than relaxed, which wait until the thread's
//! earlier writes have reached everybody in the scope, and none for relaxed sums in memory of the device.
//!
//! `core::sync::atomic` works in kernels, with all orderings; its scope is the system, since it doesn't know of another.
//! Its types of 16 bits are loops around `atom.cas.b16`, as f16 and bf16 here are in all but sums; those of 8 bits use the aligned
//! 4 bytes around them, all of which must belong to the same allocation. `compiler_fence` is no instruction.
//!
//! [`mid`] and [`intrinsics`] are rust-cuda's functions on raw pointers: the ordering is an argument in one, a part of the name
//! in the other.
//!
//! # Orderings
//!
//! They are those of [`core::sync::atomic::Ordering`], for threads of the scope. Relaxed suffices for sums, maxima, tickets:
//! whatever is read after a barrier, or by the next launch. To hand over *other* memory with an atomic (a flag, a lock), the
//! writer uses `Release` and the reader `Acquire`:
//!
//! ```no_run
//! use core::sync::atomic::Ordering::{Acquire, Release};
//! use cuda_std::atomic::Atomic;
//!
//! # unsafe fn example(flag: *mut u32, message: *mut f32) { unsafe {
//! let flag = Atomic::<u32>::from_ptr(flag);
//! // One thread …
//! *message = 1.5;
//! flag.store(1, Release);
//! // … and another, of any block: once it sees the flag, it sees the message.
//! while flag.load(Acquire) == 0 {}
//! let received = *message;
//! # } }
//! ```
//!
//! # What the GPU makes of it
//!
//! PTX's `atom`, `ld` and `st` with ordering and scope (PTX ISA 6.0, sm_70): `atom.acq_rel.gpu.global.add.u32`. `SeqCst` is
//! `fence.sc` and an acquiring instruction. Before sm_70, fences (`membar`) stand around relaxed instructions, and before sm_60
//! the scope is always the device's.
//!
//! | type | add, sub | min, max | and, or, xor | exchange, compare_exchange | inc, dec |
//! | --- | --- | --- | --- | --- | --- |
//! | `u32`, `i32` | yes | yes | yes | yes | yes (`u32`) |
//! | `u64`, `i64` | yes | yes | yes | yes | loop (`u64`) |
//! | `f32` | yes | yes, as integers | | yes | |
//! | `f64` | sm_60, else loop | yes, as integers | | yes | |
//! | `f16` | sm_70, else loop | loop | | loop | |
//! | `bf16` | sm_90, else loop | loop | | loop | |
//!
//! Whether a loop is needed is decided for the architecture that the whole program is compiled for. Sums of `f32` in global
//! memory treat subnormal numbers as zero, those in shared memory don't (PTX ISA, `atom`).

mod float;
pub mod intrinsics;
pub mod mid;
mod raw;
mod scope;
mod typed;
mod value;

pub use float::{
    AtomicF32, AtomicF64, BlockAtomicF32, BlockAtomicF64, SystemAtomicF32, SystemAtomicF64,
};
pub use scope::{Block, Device, Scope, System, fence};
pub use typed::Atomic;
pub use value::{AtomicCounter, AtomicInteger, AtomicNumber, AtomicValue};
