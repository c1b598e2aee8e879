//! Kernels that the test `on_device` launches through `cuda_host`.
#![no_std]

pub mod async_api;
pub mod matmul;
pub mod together;
