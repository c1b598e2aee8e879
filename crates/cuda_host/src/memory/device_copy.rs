//! [`DeviceCopy`]: what may lie in device arrays.

use bytemuck::Pod;

/// Plain data: a type whose values may be copied to a device and back byte by byte.
///
/// Nothing to implement: it is every `bytemuck::Pod` type. Kernels write what they like, so every bit pattern must be a valid
/// value, which rules out `bool`, `char`, references and `enum`s; and every byte must be one, which rules out padding.
/// Numbers, arrays of them, `nalgebra`'s vectors and matrices, `half`'s types are plain data, and a struct of your own is
/// with
///
/// ```
/// use bytemuck::{Pod, Zeroable};
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f32,
/// }
/// # fn check<T: cuda_host::DeviceCopy>() {}
/// # check::<Particle>();
/// ```
///
/// It is stricter than `cust`'s trait of the same name, whose types it is undefined behaviour to read back after a
/// kernel wrote an invalid value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in device memory: it is not plain data",
    label = "not plain data",
    note = "give a struct of your own `#[repr(C)]` and `#[derive(Clone, Copy, Pod, Zeroable)]` (crate `bytemuck`), without padding",
    note = "take `u8` for `bool`, `u32` for `char` or an `enum`, an index for a reference"
)]
pub trait DeviceCopy: Pod {}

#[diagnostic::do_not_recommend]
impl<T: Pod> DeviceCopy for T {}
