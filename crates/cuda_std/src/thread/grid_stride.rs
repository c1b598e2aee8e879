//! Loops that cover any number of elements with any number of threads.

use core::iter::FusedIterator;

use super::{grid_size_1d, grid_size_3d, index_1d_usize, index_usize};

/// The elements of `0..len` that fall to this thread in a launch along x: the thread's index, then on by the number of
/// threads in the grid.
///
/// Right whatever the launch's size, and neighbouring threads take neighbouring elements, so that their accesses coalesce.
///
/// ```no_run
/// # let (len, x): (usize, *mut f32) = (0, core::ptr::null_mut());
/// for i in cuda_std::thread::grid_stride(len) {
///     unsafe { *x.add(i) *= 2.0 };
/// }
/// ```
#[inline]
pub fn grid_stride(len: usize) -> GridStride {
    GridStride { next: index_1d_usize(), stride: grid_size_1d(), end: len }
}

/// Iterator that [`grid_stride`] makes.
#[derive(Clone, Debug)]
#[must_use = "an iterator does nothing until it is advanced"]
pub struct GridStride {
    next: usize,
    stride: usize,
    end: usize,
}

impl GridStride {
    /// As [`grid_stride`], in a launch of any dimensions.
    #[inline]
    pub(crate) fn of_all_threads(len: usize) -> GridStride {
        let (x, y, z) = grid_size_3d();
        GridStride { next: index_usize(), stride: x * y * z, end: len }
    }
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        // Saturation ends the iteration where the sum would not fit.
        self.next = index.saturating_add(self.stride);
        Some(index)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next).div_ceil(self.stride);
        (left, Some(left))
    }
}

impl ExactSizeIterator for GridStride {}
impl FusedIterator for GridStride {}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use super::GridStride;
    use alloc::vec::Vec;

    fn elements(next: usize, stride: usize, end: usize) -> Vec<usize> {
        let stride = GridStride { next, stride, end };
        let expected = stride.len();
        let elements: Vec<usize> = stride.collect();
        assert_eq!(elements.len(), expected);
        elements
    }

    #[test]
    fn threads_share_all_elements() {
        let mut all: Vec<usize> = (0..3).flat_map(|thread| elements(thread, 3, 10)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_thread_past_the_end_gets_nothing() {
        assert_eq!(elements(10, 16, 10), []);
        assert_eq!(elements(0, 16, 0), []);
    }

    #[test]
    fn the_end_of_the_address_space_ends_the_loop() {
        let last = usize::MAX - 1;
        assert_eq!(elements(last, 64, usize::MAX), [last]);
    }
}
