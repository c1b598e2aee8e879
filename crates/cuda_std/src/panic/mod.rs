//! The device's panic handler: says what happened and where, once a launch, and stops the launch.
//!
//! It goes through `__assertfail`, the driver's half of CUDA's `assert`: the driver prints file, line, block, thread and
//! text to the host's standard error, and every later call on the context answers `CUDA_ERROR_ASSERT` (710).
//!
//! NVIDIA's assembler gives a kernel as many registers as the hungriest function it can reach, whether it ever gets there or not. So
//! nothing here calls `core::fmt`, which takes 56 and tens of kilobytes; `message` shows the usual types by itself. What it does is
//! split into small functions that keep their state in local memory.

mod float;
mod message;
mod tag;
#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests;
mod text;
mod value;

#[cfg(target_arch = "nvptx64")]
mod handler;
