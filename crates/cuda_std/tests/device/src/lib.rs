//! Kernels that the test `on_device` runs.
#![no_std]

mod atomics;
mod block;
mod disjoint;
mod hello;
mod heap;
mod index;
mod memory;
mod panics;
mod rand;
mod rust_cuda;
mod values;
mod warp;
