//! The kernels that Ferrowarp's host program launches, one file a lesson.
//!
//! The crate is compiled twice from the same source: by `cuda_builder` to PTX, where each
//! `#[kernel]` function becomes an entry point, and by the host's own rustc, where each becomes a
//! typed handle for `cuda_host::launch!`. Matrices are row-major.
#![no_std]

pub mod hello;
pub mod mat_mul;
pub mod transform;

pub use hello::hello;
pub use mat_mul::{
    mat_mul_naive_kernel, mat_mul_shared_kernel, mat_mul_shared_kernel_8, mat_mul_shared_kernel_16,
    mat_mul_shared_kernel_32,
};
pub use transform::transform_points;
