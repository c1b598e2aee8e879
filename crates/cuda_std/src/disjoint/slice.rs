//! A slice that the threads of a launch share out among themselves.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use crate::thread::{GridStride, UniqueIndex};

/// A kernel's output: `[T]` in device memory, of which each thread holds the elements that are its own.
///
/// Where a `*mut T` trusts every thread to write elsewhere, this type sees to it: an element is reached only with the
/// thread's [unique index](crate::thread::unique_index), or with [`grid_stride_mut`](DisjointSlice::grid_stride_mut). A kernel whose outputs
/// are of this type can be a safe function, and is then launched without `unsafe`. On the host, what may be passed for it
/// is what may be passed for a `*mut T`: a `&mut DeviceArray<T>`, a mutable slice of one, `Out` or `InOut`.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// `c = a + b`, in any launch of at least as many threads as there are elements.
/// #[kernel]
/// pub fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
///     let i = thread::unique_index();
///     if i.get() < c.len() {
///         c[i] = a[i.get()] + b[i.get()];
///     }
/// }
/// ```
///
/// An element that is an array (`DisjointSlice<[f32; 4]>`) gives each thread several neighbouring numbers.
///
/// # What it costs
///
/// The address and the length are two parameters, and an access is one comparison, as the kernel with a pointer has it, too.
pub struct DisjointSlice<'a, T> {
    first: *mut T,
    len: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> DisjointSlice<'a, T> {
    /// A slice from its parts. `#[kernel]` calls this; kernels get the slice as a parameter.
    ///
    /// # Safety
    /// `first` is not null, even for no elements, and points to `len` elements, which live for `'a` and which nothing else in the launch reaches than the one slice that each
    /// thread makes of the same parts. A thread has no other value made of them.
    #[inline]
    pub unsafe fn from_raw_parts(first: *mut T, len: usize) -> Self {
        // LLVM then need not look whether an element's address, as `Option` has it, is null.
        // SAFETY: the caller's promise.
        unsafe { core::hint::assert_unchecked(!first.is_null()) };
        Self { first, len, elements: PhantomData }
    }

    /// How many elements there are, for all threads together.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The thread's own element, if there is one for it.
    #[inline]
    #[must_use]
    pub fn get(&self, index: UniqueIndex) -> Option<&T> {
        // SAFETY: it is one of the elements, and no other thread can have this index.
        (index.get() < self.len).then(|| unsafe { &*self.first.add(index.get()) })
    }

    /// The thread's own element, if there is one for it.
    ///
    /// It borrows the slice, so that a thread cannot hold its element twice:
    ///
    /// ```compile_fail,E0499
    /// # use cuda_std::prelude::*;
    /// fn twice(mut out: DisjointSlice<f32>) {
    ///     let i = thread::unique_index();
    ///     let (first, second) = (out.get_mut(i), out.get_mut(i));
    ///     core::mem::drop((first, second));
    /// }
    /// ```
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: UniqueIndex) -> Option<&mut T> {
        // SAFETY: as in `get`, and this thread has no other reference to it for as long as it borrows the slice.
        (index.get() < self.len).then(|| unsafe { &mut *self.first.add(index.get()) })
    }

    /// The elements that fall to this thread when all of them are dealt out: the one at its unique index, then on by the number
    /// of threads in the launch. Each comes with its position.
    ///
    /// Right whatever the launch's size, and neighbouring threads take neighbouring elements, so that their accesses coalesce.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn squares(mut out: DisjointSlice<u64>) {
    ///     for (i, element) in out.grid_stride_mut() {
    ///         *element = (i * i) as u64;
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn grid_stride_mut(&mut self) -> GridStrideMut<'_, T> {
        GridStrideMut {
            first: self.first,
            places: GridStride::of_all_threads(self.len),
            elements: PhantomData,
        }
    }
}

impl<T> Index<UniqueIndex> for DisjointSlice<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: UniqueIndex) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => out_of_bounds(),
        }
    }
}

impl<T> IndexMut<UniqueIndex> for DisjointSlice<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: UniqueIndex) -> &mut T {
        match self.get_mut(index) {
            Some(element) => element,
            None => out_of_bounds(),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn out_of_bounds() -> ! {
    panic!("the thread has no element: compare its unique index with the length first")
}

impl<T> fmt::Debug for DisjointSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisjointSlice").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Iterator that [`DisjointSlice::grid_stride_mut`] makes: positions and elements.
#[must_use = "an iterator does nothing until it is advanced"]
pub struct GridStrideMut<'a, T> {
    first: *mut T,
    places: GridStride,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for GridStrideMut<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.places.next()?;
        // SAFETY: it is one of the elements; other threads take others, since they start elsewhere below the common
        // stride, and this one gets it once for as long as it borrows the slice.
        Some((index, unsafe { &mut *self.first.add(index) }))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<T> ExactSizeIterator for GridStrideMut<'_, T> {}
impl<T> FusedIterator for GridStrideMut<'_, T> {}

impl<T> fmt::Debug for GridStrideMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GridStrideMut").field("places", &self.places).finish_non_exhaustive()
    }
}
