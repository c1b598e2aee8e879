//! The host side of Ferrowarp: the commands of the `ferrowarp` program, and what its tests and benchmarks
//! share with it.
//!
//! How one launch goes, from the top: a command (`commands`) opens a device and loads [`KERNELS_PTX`], which the build
//! script made from the crate `kernels`; [`matmul`] and [`transform`] copy data there and launch; [`mod@reference`] judges what
//! comes back; [`report`] and [`console`] show it. Everything that can go wrong is an [`error::Error`], which knows its exit code.

pub mod array;
pub mod cli;
pub mod commands;
pub mod console;
pub mod cpu;
pub mod emulate;
pub mod error;
pub mod findings;
pub mod format;
pub mod kernel_text;
pub mod matmul;
pub mod matrix;
pub mod memory;
pub mod npy;
pub mod output_file;
pub mod profile;
pub mod project;
pub mod reference;
pub mod report;
pub mod timing;
pub mod toolkit;
pub mod transform;

/// The PTX of the crate `kernels`, made by the build script.
pub const KERNELS_PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// The LLVM IR that [`KERNELS_PTX`] was made from.
pub const KERNELS_LLVM_IR: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ll"));
