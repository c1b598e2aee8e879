//! The device half, executed: `tests/device` is compiled to PTX as a user's kernel crate is, and runs on the emulator.

mod device;
mod index;
mod memory;
mod panics;
mod printing;
mod values;
mod warp;
