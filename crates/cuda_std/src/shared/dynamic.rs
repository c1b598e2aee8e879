//! Several arrays in the one piece of shared memory whose size the launch chooses.

use core::ptr::slice_from_raw_parts_mut;

use super::{ALIGNMENT, dynamic_shared_mem};
use crate::mem::dynamic_smem_size;

/// How many bytes of dynamic shared memory some arrays take: for the launch, and the same arithmetic as [`DynamicShared`]'s.
///
/// ```
/// use cuda_std::shared::SharedLayout;
///
/// const BYTES: u32 = SharedLayout::new().array::<f64>(3).array::<u8>(5).array::<u32>(2).bytes();
/// assert_eq!(BYTES, 24 + 5 + 3 + 8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct SharedLayout {
    bytes: usize,
}

impl SharedLayout {
    /// No array yet.
    pub const fn new() -> Self {
        Self { bytes: 0 }
    }

    /// With an array of `len` elements behind the others.
    ///
    /// # Panics
    ///
    /// If the sizes do not fit in 64 bits.
    pub const fn array<T>(self, len: usize) -> Self {
        match placed::<T>(self.bytes, len) {
            Some((_, end)) => Self { bytes: end },
            None => panic!("the arrays in shared memory are larger than 64 bits can tell"),
        }
    }

    /// Bytes of all of them, as a launch takes the number.
    ///
    /// # Panics
    ///
    /// If the number does not fit in 32 bits.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        assert!(
            self.bytes <= u32::MAX as usize,
            "the arrays in shared memory have more than 4 GiB"
        );
        self.bytes as u32
    }
}

/// Start and end of an array behind `used` bytes.
const fn placed<T>(used: usize, len: usize) -> Option<(usize, usize)> {
    const {
        assert!(
            align_of::<T>() <= ALIGNMENT,
            "dynamic shared memory is aligned to 16 bytes: `T` needs more"
        );
    }
    let Some(start) = used.checked_next_multiple_of(align_of::<T>()) else { return None };
    let Some(bytes) = len.checked_mul(size_of::<T>()) else { return None };
    match start.checked_add(bytes) {
        Some(end) => Some((start, end)),
        None => None,
    }
}

/// Deals out the block's dynamic shared memory, one array behind the other.
///
/// Each thread has its own, and all threads that ask for the same arrays in the same order get the same ones. Two of them in one
/// kernel deal out the same memory twice. What the launch has to provide is computed by [`SharedLayout`].
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::{DynamicShared, SharedLayout};
///
/// /// Bytes of dynamic shared memory for `n` threads.
/// pub const fn bytes(n: usize) -> u32 {
///     SharedLayout::new().array::<f32>(n).array::<u16>(2 * n).bytes()
/// }
///
/// /// # Safety
/// /// Launched with `bytes` of the block's size.
/// #[kernel]
/// pub unsafe fn uses_two_arrays() {
///     let n = thread::block_dim_x() as usize;
///     let mut shared = DynamicShared::new();
///     let values = shared.array::<f32>(n);
///     let keys = shared.array::<u16>(2 * n);
///     let i = thread::thread_idx_x() as usize;
///     unsafe {
///         values.cast::<f32>().add(i).write(0.0);
///         keys.cast::<u16>().add(2 * i).write(7);
///     }
/// }
/// assert_eq!(bytes(3), 24);
/// ```
#[derive(Debug, Default)]
pub struct DynamicShared {
    layout: SharedLayout,
}

impl DynamicShared {
    /// From the start of dynamic shared memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { layout: SharedLayout::new() }
    }

    /// The next array, of `len` elements, uninitialised: read only what some thread has written, after a barrier.
    ///
    /// `T` may be aligned to at most 16 bytes; more is a compile error.
    ///
    /// # Panics
    ///
    /// If the launch gave the block less shared memory.
    #[inline(always)]
    #[must_use]
    pub fn array<T>(&mut self, len: usize) -> *mut [T] {
        match self.try_array(len) {
            Some(array) => array,
            None => panic!("the launch has too little dynamic shared memory for this array"),
        }
    }

    /// [`array`](Self::array), or `None` if the launch gave the block less shared memory.
    #[inline(always)]
    #[must_use]
    pub fn try_array<T>(&mut self, len: usize) -> Option<*mut [T]> {
        let (start, end) = placed::<T>(self.layout.bytes, len)?;
        if end > dynamic_smem_size() as usize {
            return None;
        }
        self.layout.bytes = end;
        // A wrapping addition: an empty array may start behind the end.
        let first = dynamic_shared_mem::<u8>().wrapping_add(start);
        Some(slice_from_raw_parts_mut(first.cast(), len))
    }

    /// The next variable, uninitialised: an array of one element.
    ///
    /// # Panics
    ///
    /// If the launch gave the block less shared memory.
    #[inline(always)]
    #[must_use]
    pub fn value<T>(&mut self) -> *mut T {
        self.array::<T>(1).cast()
    }

    /// Bytes dealt out so far, gaps between arrays included.
    #[must_use]
    pub const fn used_bytes(&self) -> usize {
        self.layout.bytes
    }

    /// Bytes left.
    #[inline]
    #[must_use]
    pub fn remaining_bytes(&self) -> usize {
        dynamic_smem_size() as usize - self.layout.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_one_behind_the_other_at_multiples_of_their_alignment() {
        assert_eq!(placed::<u32>(5, 3), Some((8, 20)));
        assert_eq!(placed::<u8>(5, 0), Some((5, 5)));
        assert_eq!(placed::<u128>(1, 1), Some((16, 32)));
        assert_eq!(placed::<u64>(8, usize::MAX), None);
        assert_eq!(placed::<u64>(usize::MAX, 0), None);
        assert_eq!(placed::<u8>(usize::MAX, 1), None);
        let layout = SharedLayout::new().array::<u8>(1).array::<[f32; 3]>(2).array::<u16>(1);
        assert_eq!(layout.bytes(), 4 + 24 + 2);
    }
}
