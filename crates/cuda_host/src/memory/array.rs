//! [`DeviceArray`]: elements in device memory.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use super::allocation::{self, Allocation, copy_in};
use super::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::device::Device;
use crate::error::{Problem, Result};

/// `len` elements of `T` in the memory of one device, freed when dropped.
///
/// `T` is plain data (`bytemuck::Pod`): every bit pattern is a valid value, which is what makes reading back whatever a
/// kernel wrote sound. Numbers, arrays of them, `nalgebra`'s vectors and matrices are; a `#[repr(C)]` struct of your own
/// becomes so with `#[derive(Pod, Zeroable)]`. An array may be empty.
///
/// # Example
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// let gpu = cuda_host::Device::open()?;
/// let mut x = gpu.to_device(&[1.0_f32, 2.0, 3.0])?;
/// x.slice_mut(1..)?.copy_from_host(&[5.0, 6.0])?;
/// assert_eq!(x.to_host()?, [1.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct DeviceArray<T> {
    memory: Allocation,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: DeviceCopy> DeviceArray<T> {
    /// An array of arbitrary contents; see [`Device::uninit`].
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn uninit(device: &Device, len: usize) -> Result<Self> {
        let element_bytes = size_of::<T>();
        let bytes = len
            .checked_mul(element_bytes)
            .ok_or(Problem::TooLarge { elements: len, element_bytes })?;
        let memory = Allocation::new(&device.state, bytes, || {
            format!("an array of {len} x {}", type_name::<T>())
        })?;
        Ok(Self { memory, len, elements: PhantomData })
    }

    /// An array whose bytes are all 0.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn zeros(device: &Device, len: usize) -> Result<Self> {
        let mut array = Self::uninit(device, len)?;
        array.memory.zero()?;
        Ok(array)
    }

    /// A copy of `host` on `device`.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn from_host(device: &Device, host: &[T]) -> Result<Self> {
        let array = Self::uninit(device, host.len())?;
        copy_in(array.memory.state(), array.memory.address(), bytemuck::cast_slice(host))?;
        Ok(array)
    }

    /// Takes over memory that was allocated with `cuMemAlloc` on `device`.
    ///
    /// # Safety
    /// `address` must be the start of such an allocation of at least `len` elements, which nothing else frees; if that is
    /// no bytes, `address` must be 0.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<T>());
        let memory = Allocation::from_raw(&device.state, address, bytes);
        Self { memory, len, elements: PhantomData }
    }

    /// Gives the memory away without freeing it: address and length. The address is 0 if there are no bytes.
    pub fn into_raw(self) -> (u64, usize) {
        let len = self.len;
        (self.memory.into_raw(), len)
    }

    /// A copy in new memory on the same device.
    ///
    /// # Errors
    /// If there is not enough memory, or a kernel has failed.
    pub fn try_clone(&self) -> Result<Self> {
        let copy = Self::uninit(&self.device(), self.len)?;
        allocation::copy_within(
            self.memory.state(),
            copy.memory.address(),
            self.memory.address(),
            self.memory.bytes(),
        )?;
        Ok(copy)
    }

    /// Everything, copied to the host, after every launch started before.
    ///
    /// # Errors
    /// If a kernel has failed, or the driver fails.
    pub fn to_host(&self) -> Result<Vec<T>> {
        self.as_slice().to_host()
    }

    /// Copies everything to `host`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<()> {
        self.as_slice().copy_to_host(host)
    }

    /// Overwrites everything with `host`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_from_host(&mut self, host: &[T]) -> Result<()> {
        self.as_mut_slice().copy_from_host(host)
    }

    /// Overwrites everything with a copy of `source`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_from_device(&mut self, source: DeviceSlice<'_, T>) -> Result<()> {
        self.as_mut_slice().copy_from_device(source)
    }

    /// Sets every byte to 0.
    ///
    /// # Errors
    /// If a kernel has failed, or the driver fails.
    pub fn fill_zero(&mut self) -> Result<()> {
        self.memory.zero()
    }

    /// A part of the array, which can be passed to a kernel like the whole.
    ///
    /// # Errors
    /// If the range is not inside the array.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// A part of the array, which can be passed to a kernel that writes it.
    ///
    /// # Errors
    /// If the range is not inside the array.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_slice_mut(range)
    }

    /// All of it.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(self.memory.address(), self.len, self.memory.state())
    }

    /// All of it, to write.
    pub fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(self.memory.address(), self.len, self.memory.state())
    }
}

impl<T> DeviceArray<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The address on the device, not to be read on the host; null if there are no bytes.
    pub fn as_ptr(&self) -> *const T {
        std::ptr::without_provenance(self.memory.address() as usize)
    }

    /// The address on the device, not to be written on the host; null if there are no bytes.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        std::ptr::without_provenance_mut(self.memory.address() as usize)
    }

    /// The device it lies on.
    pub fn device(&self) -> Device {
        Device { state: Arc::clone(self.memory.state()) }
    }
}

impl<T> fmt::Debug for DeviceArray<T> {
    /// Type, length and address; never the contents, which lie elsewhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceArray")
            .field("element", &type_name::<T>())
            .field("len", &self.len)
            .field("address", &format_args!("{:#x}", self.memory.address()))
            .finish_non_exhaustive()
    }
}
