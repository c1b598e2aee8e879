//! Device memory: arrays, slices of them, matrices, and host memory that travels with a launch.

mod allocation;
mod argument;
mod array;
mod device_copy;
mod host;
mod matrix;
mod slice;
mod to_device;

pub(crate) use allocation::{Allocation, copy_in, copy_out};
pub use array::DeviceArray;
pub use device_copy::DeviceCopy;
pub use host::{In, InOut, Out};
pub use matrix::{DeviceMatrix, Layout};
pub use slice::{DeviceSlice, DeviceSliceMut};
pub use to_device::ToDevice;
