//! Kernels that the test `on_device` runs, with all of Rust's formatting.
//!
//! `println!` and panics, which do without `core::fmt`, are in `tests/device`.
#![no_std]

mod panics;
mod printing;
mod texts;
