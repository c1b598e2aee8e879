//! Parts of device arrays.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::DeviceCopy;
use super::allocation;
use crate::device::DeviceState;
use crate::error::{Problem, Result};

/// Part of a [`DeviceArray`](crate::DeviceArray), to read.
pub struct DeviceSlice<'a, T> {
    address: u64,
    len: usize,
    state: &'a Arc<DeviceState>,
    elements: PhantomData<&'a [T]>,
}

/// Part of a [`DeviceArray`](crate::DeviceArray), to read and write.
pub struct DeviceSliceMut<'a, T> {
    address: u64,
    len: usize,
    state: &'a Arc<DeviceState>,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<'_, T> {}

impl<'a, T: DeviceCopy> DeviceSlice<'a, T> {
    pub(crate) fn new(address: u64, len: usize, state: &'a Arc<DeviceState>) -> Self {
        Self { address, len, state, elements: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address on the device; null if the whole array has no bytes.
    pub fn as_ptr(&self) -> *const T {
        std::ptr::without_provenance(self.address as usize)
    }

    /// A part of this part.
    ///
    /// # Errors
    /// If the range is not inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'a, T>> {
        let (start, end) = inside(&range, self.len)?;
        Ok(Self::new(offset::<T>(self.address, start), end - start, self.state))
    }

    /// The same memory as elements of another type: `[f32; 4]` as four `f32`, say.
    ///
    /// # Errors
    /// If the bytes are no whole number of `U`, or not aligned for it.
    pub fn cast<U: DeviceCopy>(&self) -> Result<DeviceSlice<'a, U>> {
        let len = recount::<T, U>(self.address, self.len)?;
        Ok(DeviceSlice::new(self.address, len, self.state))
    }

    /// The elements, copied to the host, after every launch started before.
    ///
    /// # Errors
    /// If a kernel has failed, or the driver fails.
    pub fn to_host(&self) -> Result<Vec<T>> {
        let mut host = bytemuck::zeroed_vec(self.len);
        self.copy_to_host(&mut host)?;
        Ok(host)
    }

    /// Copies the elements to `host`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<()> {
        same_length("copy to the host", self.len, host.len())?;
        allocation::copy_out(self.state, self.address, bytemuck::cast_slice_mut(host))?;
        Ok(())
    }

    pub(crate) fn state(&self) -> &'a Arc<DeviceState> {
        self.state
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl<'a, T: DeviceCopy> DeviceSliceMut<'a, T> {
    pub(crate) fn new(address: u64, len: usize, state: &'a Arc<DeviceState>) -> Self {
        Self { address, len, state, elements: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address on the device; null if the whole array has no bytes.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        std::ptr::without_provenance_mut(self.address as usize)
    }

    /// The same part, to read.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(self.address, self.len, self.state)
    }

    /// The same part, to read, for as long as it was borrowed.
    pub fn into_slice(self) -> DeviceSlice<'a, T> {
        DeviceSlice::new(self.address, self.len, self.state)
    }

    /// The same part, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(self.address, self.len, self.state)
    }

    /// A part of this part, to write.
    ///
    /// # Errors
    /// If the range is not inside.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.reborrow().into_slice_mut(range)
    }

    pub(crate) fn into_slice_mut(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let (start, end) = inside(&range, self.len)?;
        Ok(Self::new(offset::<T>(self.address, start), end - start, self.state))
    }

    /// Two parts that do not overlap: the first `middle` elements, and the rest.
    ///
    /// # Errors
    /// If there are fewer than `middle` elements.
    pub fn split_at_mut(self, middle: usize) -> Result<(Self, Self)> {
        let (start, end) = inside(&(middle..), self.len)?;
        let rest = Self::new(offset::<T>(self.address, start), end - start, self.state);
        Ok((Self::new(self.address, middle, self.state), rest))
    }

    /// The same memory as elements of another type.
    ///
    /// # Errors
    /// If the bytes are no whole number of `U`, or not aligned for it.
    pub fn cast<U: DeviceCopy>(self) -> Result<DeviceSliceMut<'a, U>> {
        let len = recount::<T, U>(self.address, self.len)?;
        Ok(DeviceSliceMut::new(self.address, len, self.state))
    }

    /// Overwrites the elements with `host`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_from_host(&mut self, host: &[T]) -> Result<()> {
        same_length("copy from the host", self.len, host.len())?;
        allocation::copy_in(self.state, self.address, bytemuck::cast_slice(host))
    }

    /// Overwrites the elements with a copy of `source`, which must have the same length.
    ///
    /// # Errors
    /// If the lengths differ, a kernel has failed, or the driver fails.
    pub fn copy_from_device(&mut self, source: DeviceSlice<'_, T>) -> Result<()> {
        if self.len != source.len {
            return Err(Problem::DeviceLength { target: self.len, from: source.len }.into());
        }
        let bytes = self.len * size_of::<T>();
        allocation::copy_within(self.state, self.address, source.address, bytes)
    }

    /// Sets every byte to 0.
    ///
    /// # Errors
    /// If a kernel has failed, or the driver fails.
    pub fn fill_zero(&mut self) -> Result<()> {
        allocation::zero(self.state, self.address, self.len * size_of::<T>())
    }
}

/// Start and end of a range inside `len` elements.
fn inside(range: &impl RangeBounds<usize>, len: usize) -> Result<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len.max(start),
    };
    if start > end || end > len {
        return Err(Problem::Range { start, end, len }.into());
    }
    Ok((start, end))
}

/// The address `elements` further on. The caller has made sure that they are inside the array.
fn offset<T>(address: u64, elements: usize) -> u64 {
    address + (elements * size_of::<T>()) as u64
}

/// How many `U` the bytes of `len` elements are.
fn recount<T, U>(address: u64, len: usize) -> Result<usize> {
    let (from, to) = (size_of::<T>(), size_of::<U>());
    let bytes = len * from;
    let aligned = address.is_multiple_of(align_of::<U>() as u64);
    match bytes.checked_div(to) {
        Some(count) if count * to == bytes && aligned => Ok(count),
        None if bytes == 0 => Ok(0),
        _ => Err(Problem::Cast {
            from_len: len,
            from_bytes: from,
            to_bytes: to,
            to_align: align_of::<U>(),
        }
        .into()),
    }
}

fn same_length(what: &'static str, device: usize, host: usize) -> Result<()> {
    if device != host {
        return Err(Problem::Length { what, device, host }.into());
    }
    Ok(())
}

impl<T> fmt::Debug for DeviceSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSlice {{ len: {}, address: {:#x} }}", self.len, self.address)
    }
}

impl<T> fmt::Debug for DeviceSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSliceMut {{ len: {}, address: {:#x} }}", self.len, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(inside(&(2..5), 5).unwrap(), (2, 5));
        assert_eq!(inside(&(2..=4), 5).unwrap(), (2, 5));
        assert_eq!(inside(&(..), 5).unwrap(), (0, 5));
        assert_eq!(inside(&(5..), 5).unwrap(), (5, 5));
        assert_eq!(inside(&(..0), 0).unwrap(), (0, 0));
        assert_eq!(inside(&(Bound::Excluded(1), Bound::Unbounded), 5).unwrap(), (2, 5));
        for (range, len) in [(2..6, 5), (6..6, 5), (1..1, 0)] {
            assert!(inside(&range, len).is_err(), "{range:?} of {len}");
        }
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = 4..2;
        assert_eq!(
            inside(&reversed, 5).unwrap_err().to_string(),
            "elements 4..2 are not inside an array of 5 elements"
        );
        assert!(inside(&(6..), 5).is_err());
        assert!(inside(&(0..=usize::MAX), 5).is_err());
    }

    #[test]
    fn casts() {
        assert_eq!(recount::<[f32; 4], f32>(64, 3).unwrap(), 12);
        assert_eq!(recount::<f32, [f32; 4]>(64, 12).unwrap(), 3);
        assert_eq!(recount::<u8, u8>(0, 0).unwrap(), 0);
        assert_eq!(recount::<[f32; 0], [u8; 0]>(0, 7).unwrap(), 0);
        assert!(recount::<f32, [f32; 4]>(64, 13).is_err());
        assert!(recount::<u8, u64>(4, 8).is_err());
        assert!(recount::<u8, [u8; 0]>(4, 8).is_err());
    }
}
