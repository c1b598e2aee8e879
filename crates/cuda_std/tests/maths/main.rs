//! The mathematical functions, executed on the emulator or on a GPU: with libdevice where this machine has it, and without.

mod accuracy;
mod algebra;
mod device;
mod domains;
mod exact;
mod instructions;
mod integers;
mod methods;
#[allow(dead_code, unused_imports, reason = "only the device itself is used here")]
#[path = "../on_device/device/mod.rs"]
mod on_device;
mod pairs;
mod report;
mod special;
mod ulp;
