//! Profiler control: accepted, since nothing profiles the emulator.

use std::ffi::c_uint;

use super::with;
use crate::error::Outcome;
use crate::types::Text;

pub(crate) fn initialize(_config_file: Text, _output_file: Text, _output_mode: c_uint) -> Outcome {
    with(|emulator| emulator.ready().map(drop))
}

pub(crate) fn start() -> Outcome {
    with(|emulator| emulator.ready().map(drop))
}

pub(crate) fn stop() -> Outcome {
    with(|emulator| emulator.ready().map(drop))
}
