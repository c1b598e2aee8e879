//! Kernels in Rust, launched from the host, on whatever device there is: the emulator where there is no GPU.

mod async_api;
mod kernels;
mod matmul;
mod together;
