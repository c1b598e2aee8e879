//! Loops that cover any number of elements with any number of threads.

use core::iter::FusedIterator;

use super::{
    grid_size_1d, grid_size_2d, grid_size_3d, index_1d_usize, index_2d_usize, index_usize,
};

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

/// The elements of a matrix of `rows` x `columns` that fall to this thread in a launch along x and y, as `(row, column)`: x counts columns
/// and y rows, and both go on by the number of threads along their axis.
///
/// Right whatever the launch's size, and neighbouring threads take neighbouring columns, so that accesses to a row-major matrix coalesce.
///
/// ```no_run
/// # let (rows, columns, x): (usize, usize, *mut f32) = (0, 0, core::ptr::null_mut());
/// for (row, column) in cuda_std::thread::grid_stride_2d(rows, columns) {
///     unsafe { *x.add(row * columns + column) *= 2.0 };
/// }
/// ```
#[inline]
pub fn grid_stride_2d(rows: usize, columns: usize) -> GridStride2d {
    let ((column, row), (by_column, by_row)) = (index_2d_usize(), grid_size_2d());
    GridStride2d {
        row: None,
        rows: GridStride { next: row, stride: by_row, end: rows },
        columns: GridStride { next: columns, stride: by_column, end: columns },
        every_row: GridStride { next: column, stride: by_column, end: columns },
    }
}

/// Iterator that [`grid_stride_2d`] makes.
#[derive(Clone, Debug)]
#[must_use = "an iterator does nothing until it is advanced"]
pub struct GridStride2d {
    /// The row that `columns` is in.
    row: Option<usize>,
    rows: GridStride,
    columns: GridStride,
    /// The thread's columns of each row.
    every_row: GridStride,
}

impl Iterator for GridStride2d {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        if let Some(row) = self.row
            && let Some(column) = self.columns.next()
        {
            return Some((row, column));
        }
        // A thread that is right of the matrix has no columns in any row.
        let mut columns = self.every_row.clone();
        let column = columns.next()?;
        self.row = self.rows.next();
        let row = self.row?;
        self.columns = columns;
        Some((row, column))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let each = self.every_row.len();
        let current = if self.row.is_some() { self.columns.len() } else { 0 };
        let left = self.rows.len().checked_mul(each).and_then(|rest| rest.checked_add(current));
        (left.unwrap_or(usize::MAX), left)
    }
}

impl FusedIterator for GridStride2d {}

impl ExactSizeIterator for GridStride {}
impl FusedIterator for GridStride {}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use super::{GridStride, GridStride2d};
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
    fn threads_share_all_elements_of_a_matrix() {
        for (rows, columns) in [(7, 10), (1, 1), (0, 5), (5, 0), (3, 2)] {
            let (by_row, by_column) = (2, 4);
            let mut all = Vec::new();
            for thread in 0..by_row * by_column {
                let every_row =
                    GridStride { next: thread % by_column, stride: by_column, end: columns };
                let mut own = GridStride2d {
                    row: None,
                    rows: GridStride { next: thread / by_column, stride: by_row, end: rows },
                    columns: GridStride { next: columns, ..every_row.clone() },
                    every_row,
                };
                let (least, most) = own.size_hint();
                let elements: Vec<(usize, usize)> = own.by_ref().collect();
                assert_eq!((elements.len(), Some(elements.len())), (least, most));
                assert_eq!(own.next(), None);
                all.extend(elements);
            }
            all.sort_unstable();
            let expected: Vec<(usize, usize)> =
                (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect();
            assert_eq!(all, expected, "{rows} x {columns}");
        }
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
