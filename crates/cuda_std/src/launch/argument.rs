//! The traits that say what may be passed for a kernel's parameter; their error messages say it too.

use super::Arguments;

/// May be passed for a kernel's `&[T]`: device memory with a length.
///
/// Implemented by `cuda_host` for `&DeviceArray<T>`, its slices, `&DeviceMatrix<T>` and `In`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `&[{T}]`",
    label = "the kernel takes `&[{T}]` here",
    note = "pass `&DeviceArray<{T}>` (made by `Device::to_device`, `zeros` or `uninit`) or a slice of one",
    note = "or pass `In(&slice)` to copy a host slice of `{T}` to the device for this launch"
)]
pub trait SliceArg<'a, T> {
    /// Appends the address and the length in elements to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

/// May be passed for a kernel's `DisjointSlice<T>`: device memory to write, with a length.
///
/// Implemented by `cuda_host` for `&mut DeviceArray<T>`, its mutable slices, `&mut DeviceMatrix<T>`, `Out` and `InOut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `DisjointSlice<{T}>`",
    label = "the kernel takes `DisjointSlice<{T}>` here and writes to it",
    note = "pass `&mut DeviceArray<{T}>` (made by `Device::to_device`, `zeros` or `uninit`) or a mutable slice of one",
    note = "or pass `Out(&mut slice)` or `InOut(&mut slice)` to copy a host slice of `{T}` back after this launch"
)]
pub trait SliceMutArg<'a, T> {
    /// Appends the address and the length in elements to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

/// May be passed for a kernel's `DisjointMatrix<T>`: a row-major matrix in device memory to write.
///
/// Implemented by `cuda_host` for `&mut DeviceMatrix<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `DisjointMatrix<{T}>`",
    label = "the kernel takes `DisjointMatrix<{T}>` here and writes to it",
    note = "pass `&mut DeviceMatrix<{T}>` in row-major layout"
)]
pub trait MatrixMutArg<'a, T> {
    /// Appends the address and the numbers of rows and columns to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

/// May be passed for a kernel's `&T`: device memory with at least one element, of which the kernel sees the first.
///
/// Implemented by `cuda_host` for `&DeviceArray<T>`, its slices and `In`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `&{T}`",
    label = "the kernel takes `&{T}` here, a reference to device memory",
    note = "pass `&DeviceArray<{T}>` with at least one element, whose first element the kernel sees",
    note = "or pass `In(core::slice::from_ref(&value))` to copy one host value to the device for this launch"
)]
pub trait ReferenceArg<'a, T> {
    /// Appends the address to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

/// May be passed for a kernel's `*const T`: device memory to read.
///
/// Implemented by `cuda_host` for `&DeviceArray<T>`, its slices, `&DeviceMatrix<T>` and `In`; here for raw pointers,
/// which must be addresses on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `*const {T}`",
    label = "the kernel takes `*const {T}` here",
    note = "pass `&DeviceArray<{T}>` (made by `Device::to_device`, `zeros` or `uninit`), a slice of one, or a raw device pointer",
    note = "or pass `In(&slice)` to copy a host slice of `{T}` to the device for this launch"
)]
pub trait PointerArg<'a, T> {
    /// Appends the address to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

/// May be passed for a kernel's `*mut T`: device memory to write.
///
/// Implemented by `cuda_host` for `&mut DeviceArray<T>`, its mutable slices, `&mut DeviceMatrix<T>`, `Out` and
/// `InOut`; here for raw pointers, which must be addresses on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `*mut {T}`",
    label = "the kernel takes `*mut {T}` here and may write to it",
    note = "pass `&mut DeviceArray<{T}>` (made by `Device::to_device`, `zeros` or `uninit`), a mutable slice of one, or a raw device pointer",
    note = "or pass `Out(&mut slice)` or `InOut(&mut slice)` to copy a host slice of `{T}` back after this launch"
)]
pub trait PointerMutArg<'a, T> {
    /// Appends the address to `arguments`.
    fn write(self, arguments: &mut Arguments<'a>);
}

impl<'a, T> PointerArg<'a, T> for *const T {
    fn write(self, arguments: &mut Arguments<'a>) {
        arguments.push_address(self.addr(), None);
    }
}

impl<'a, T> PointerArg<'a, T> for *mut T {
    fn write(self, arguments: &mut Arguments<'a>) {
        arguments.push_address(self.addr(), None);
    }
}

impl<'a, T> PointerMutArg<'a, T> for *mut T {
    fn write(self, arguments: &mut Arguments<'a>) {
        arguments.push_address(self.addr(), None);
    }
}
