//! A matrix that the threads of a launch share out among themselves.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use super::slice::out_of_bounds;
use crate::thread::UniqueIndex2d;

/// A kernel's output: a row-major matrix `[rows, columns]` in device memory, of which each thread holds the element at its own
/// row and column.
///
/// As [`DisjointSlice`](crate::DisjointSlice), for launches in two directions. The number of columns is part of the parameter and so
/// the same for all threads; with a slice, each thread could reckon with another one. On the host a `&mut DeviceMatrix<T>` in
/// row-major layout is passed for it.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Distances of points from each other, one thread a pair.
/// #[kernel]
/// pub fn distances(x: &[f32], mut out: DisjointMatrix<f32>) {
///     let at = thread::unique_index_2d();
///     if let Some(out) = out.get_mut(at) {
///         *out = (x[at.row()] - x[at.column()]).abs();
///     }
/// }
/// ```
pub struct DisjointMatrix<'a, T> {
    first: *mut T,
    rows: usize,
    columns: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> DisjointMatrix<'a, T> {
    /// A matrix from its parts. `#[kernel]` calls this; kernels get the matrix as a parameter.
    ///
    /// # Safety
    /// `first` is not null, even for no elements, and points to `rows * columns` elements, which live for `'a` and which nothing else in the launch reaches than the one matrix
    /// that each thread makes of the same parts. A thread has no other value made of them.
    #[inline]
    pub unsafe fn from_raw_parts(first: *mut T, rows: usize, columns: usize) -> Self {
        // LLVM then need not look whether an element's address, as `Option` has it, is null.
        // SAFETY: the caller's promise.
        unsafe { core::hint::assert_unchecked(!first.is_null()) };
        Self { first, rows, columns, elements: PhantomData }
    }

    /// Rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    #[inline]
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The thread's own element, if there is one for it.
    #[inline]
    #[must_use]
    pub fn get(&self, index: UniqueIndex2d) -> Option<&T> {
        let element = self.element(index)?;
        // SAFETY: it is one of the elements, and no other thread has this row and column.
        Some(unsafe { &*element })
    }

    /// The thread's own element, if there is one for it.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: UniqueIndex2d) -> Option<&mut T> {
        let element = self.element(index)?;
        // SAFETY: as in `get`, and this thread has no other reference to it for as long as it borrows the matrix.
        Some(unsafe { &mut *element })
    }

    #[inline]
    fn element(&self, index: UniqueIndex2d) -> Option<*mut T> {
        let exists = index.row() < self.rows && index.column() < self.columns;
        // SAFETY: it is one of the elements, whose number is that of no more bytes than an address can count. With sums and products that
        // do not wrap LLVM sees that the address is not null.
        exists.then(|| unsafe {
            self.first.add(index.row().unchecked_mul(self.columns).unchecked_add(index.column()))
        })
    }
}

impl<T> Index<UniqueIndex2d> for DisjointMatrix<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: UniqueIndex2d) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => out_of_bounds(),
        }
    }
}

impl<T> IndexMut<UniqueIndex2d> for DisjointMatrix<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: UniqueIndex2d) -> &mut T {
        match self.get_mut(index) {
            Some(element) => element,
            None => out_of_bounds(),
        }
    }
}

impl<T> fmt::Debug for DisjointMatrix<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisjointMatrix")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}
