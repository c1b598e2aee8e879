//! A device with the kernels of `tests/device_sm90`, whose instructions need sm_90.

use crate::device::{Device, SM90};

pub fn device() -> Device {
    Device::checked_with(&SM90)
}
