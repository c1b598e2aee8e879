//! Any sequence of driver calls, on the emulator.
#![no_main]

#[path = "../bodies/driver.rs"]
mod driver;

// The bodies link against the exported symbols, as C programs do.
extern crate cuda_driver as _;

libfuzzer_sys::fuzz_target!(|data: &[u8]| driver::body(data));
