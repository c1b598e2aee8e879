//! Host slices as arguments of a launch, as Numba takes NumPy arrays.

/// A host slice that a launch copies to the device before the kernel runs.
///
/// The launch allocates device memory, copies, launches, waits for the kernel and frees the memory again: convenient for
/// a first version and for measuring what copies cost. Data that several launches use belongs in a
/// [`DeviceArray`](crate::DeviceArray).
///
/// # Example
///
/// ```no_run
/// use cuda_host::{Device, In, Out, launch};
/// use cuda_std::kernel;
///
/// /// y[i] = x[i] + x[i]
/// ///
/// /// # Safety
/// /// `y` must have as many elements as `x`.
/// #[kernel]
/// pub unsafe fn double(x: &[f32], y: *mut f32) { /* … */ }
///
/// # fn main() -> cuda_host::Result<()> {
/// # let gpu = Device::open()?;
/// let x = vec![1.0, 2.0, 3.0];
/// let mut y = vec![0.0; 3];
/// unsafe { launch!(double[1, 32](In(&x), Out(&mut y))) }?;
/// assert_eq!(y, [2.0, 4.0, 6.0]); // the launch has waited for the kernel
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct In<'a, T>(pub &'a [T]);

/// A host slice that a launch overwrites with what the kernel wrote.
///
/// Its contents before are not copied: elements that the kernel does not write are arbitrary afterwards (take
/// [`InOut`] if it writes only some). If the launch fails, the slice is untouched. See [`In`] for what such a launch costs.
#[derive(Debug)]
pub struct Out<'a, T>(pub &'a mut [T]);

/// A host slice that a launch copies to the device before the kernel runs, and back after.
///
/// If the launch fails, the slice is untouched. See [`In`] for what such a launch costs.
#[derive(Debug)]
pub struct InOut<'a, T>(pub &'a mut [T]);
