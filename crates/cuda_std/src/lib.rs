//! The device library for kernels, source-compatible with rust-cuda's.
//!
//! A kernel crate is `#![no_std]`, writes `use cuda_std::prelude::*;` and marks its entries with [`kernel`]:
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// `x *= factor`, one thread an element.
//! ///
//! /// # Safety
//! /// `x` points to `n` elements.
//! #[kernel]
//! pub unsafe fn scale(x: *mut f32, n: usize, factor: f32) {
//!     let i = thread::index_1d() as usize;
//!     if i < n {
//!         unsafe { *x.add(i) *= factor };
//!     }
//! }
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | find out which thread this is, wait for the block | [`thread`] |
//! | write results without `unsafe` | [`DisjointSlice`], [`DisjointMatrix`] |
//! | share memory within a block | [`shared`], [`address_space`], [`shared_array!`] |
//! | work within a warp | [`warp`] |
//! | compute sines, logarithms, error functions | [`float`], [`intrinsics`] |
//! | sums and scans over a block | [`block`] |
//! | work in groups of lanes, wait for the whole grid | [`cooperative_groups`] |
//! | copy to shared memory in the background | [`async_copy`] |
//! | move 16 bytes at once, tell the caches what for | [`cache`] |
//! | print from a kernel | [`io`] |
//! | draw random numbers | [`rand`] |
//! | change memory that other threads change too | [`atomic`] |
//! | use `Vec`, `Box`, `String`, `format!` | [`mem`] |
//! | look at memories, addresses, clocks | [`mem`], [`ptr`], [`misc`] |
#![cfg_attr(not(target_arch = "nvptx64"), doc = "| describe a launch, on the host | [`launch`] |")]
//!
//! # Panics in kernels
//!
//! The crate contains the device's panic handler: a kernel crate needs none. A panic reports its message, file, line and
//! column, block and thread, and stops the launch with CUDA's error 710 (`CUDA_ERROR_ASSERT`). However many threads panic, one of them
//! speaks: the first, as far as a GPU has an order; the others end without a word.
//!
//! Values in the message are shown as Rust shows them, with every option of a format string: integers, floats, `bool`, `char`, `&str`,
//! pointers, references to these, `dyn Debug`, and messages in messages. That covers what `core` itself says:
//!
//! ```text
//! index out of bounds: the len is 3 but the index is 7
//! range end index 9 out of range for slice of length 3
//! called `Result::unwrap()` on an `Err` value: TryFromIntError(())
//! assertion `left == right` failed: thread 101 has another
//!   left: 0
//!  right: 101
//! ```
//!
//! Of a value of another type its type is shown, `<kernels::Error>`: to format it, kernels would need `core::fmt`, which is large and takes
//! many registers. `cuda_builder`'s `PanicMessages::Full` brings it in. A message has room for 255 bytes; a longer one ends with `…`. At
//! a NUL in it the driver stops reading.
//!
//! # On the host
//!
//! The same crate compiles for the host: kernels become launch descriptions, device functions panic when called.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics, alloc_error_handler)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

// The macros' output names this crate by its name, here too.
extern crate self as cuda_std;
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

extern crate alloc;

pub mod async_copy;
pub mod atomic;
pub mod block;
pub mod cache;
pub mod cooperative_groups;
mod disjoint;
mod fallback;
pub mod float;
pub mod intrinsics;
pub mod io;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod mem;
pub mod misc;
#[cfg(any(target_arch = "nvptx64", test))]
mod panic;
mod panic_record;
pub mod prelude;
pub mod ptr;
pub mod rand;
pub mod shared;
pub mod thread;
pub mod warp;

#[cfg(not(target_arch = "nvptx64"))]
pub use core::{assert_eq, assert_ne};
pub use cuda_std_macros::*;
pub use disjoint::{DisjointMatrix, DisjointSlice, GridStrideMut};
pub use float::{Bf16x2, F16x2, FastFloat, FloatExt, GpuFloat};
/// Vectors, matrices and quaternions for kernels: what [`thread`]'s indices are made of.
pub use glam;
pub use glam::{UVec2, UVec3};
pub use half::{bf16, f16};

/// The pages of `docs/` whose examples are compiled with this crate's.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/safety.md")]
struct Pages;
