//! [`ToDevice`]: what `Device::to_device` takes.

use nalgebra::{Dim, Matrix, RawStorage, Scalar};

use super::{DeviceArray, DeviceCopy, DeviceMatrix, Layout};
use crate::device::Device;
use crate::error::Result;

/// Host data that [`Device::to_device`] copies to a device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to a device",
    label = "not a borrowed slice, `Vec`, array or matrix of plain data",
    note = "pass `&vec`, `&array`, a slice, or a reference to a `nalgebra` matrix",
    note = "the elements must be plain data: give a `#[repr(C)]` struct of your own `#[derive(Clone, Copy, Pod, Zeroable)]` (crate `bytemuck`)"
)]
pub trait ToDevice {
    /// What it is on the device.
    type Output;

    /// Copies it to `device`.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    fn to_device(self, device: &Device) -> Result<Self::Output>;
}

impl<T: DeviceCopy> ToDevice for &[T] {
    type Output = DeviceArray<T>;

    fn to_device(self, device: &Device) -> Result<Self::Output> {
        DeviceArray::from_host(device, self)
    }
}

impl<T: DeviceCopy> ToDevice for &Vec<T> {
    type Output = DeviceArray<T>;

    fn to_device(self, device: &Device) -> Result<Self::Output> {
        DeviceArray::from_host(device, self)
    }
}

impl<T: DeviceCopy> ToDevice for &Box<[T]> {
    type Output = DeviceArray<T>;

    fn to_device(self, device: &Device) -> Result<Self::Output> {
        DeviceArray::from_host(device, self)
    }
}

impl<T: DeviceCopy, const N: usize> ToDevice for &[T; N] {
    type Output = DeviceArray<T>;

    fn to_device(self, device: &Device) -> Result<Self::Output> {
        DeviceArray::from_host(device, self)
    }
}

/// In row-major order, whatever the matrix's own.
impl<T, R, C, S> ToDevice for &Matrix<T, R, C, S>
where
    T: DeviceCopy + Scalar,
    R: Dim,
    C: Dim,
    S: RawStorage<T, R, C>,
{
    type Output = DeviceMatrix<T>;

    fn to_device(self, device: &Device) -> Result<Self::Output> {
        DeviceMatrix::from_matrix(device, self, Layout::RowMajor)
    }
}
