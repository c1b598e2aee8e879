//! The thread's place in the launch as a token: proof that no other thread has the same one.

use core::marker::PhantomData;

use super::{block_dim_z, grid_dim_z, grid_size_2d, index_3d_usize, index_usize};

/// The thread's number in the launch, which no other thread of the launch has, whatever the launch's dimensions.
///
/// [`unique_index`] makes it and nothing else does, so that an element of a [`DisjointSlice`](crate::DisjointSlice) that is
/// asked for with it belongs to this thread alone. It stays with its thread:
///
/// ```compile_fail,E0277
/// fn sendable<T: Send>() {}
/// sendable::<cuda_std::thread::UniqueIndex>();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueIndex {
    number: usize,
    of_this_thread: PhantomData<*const ()>,
}

impl UniqueIndex {
    /// The number: in a launch along x alone [`index_1d_usize`](super::index_1d_usize), otherwise
    /// [`index_usize`].
    #[inline]
    #[must_use]
    pub fn get(self) -> usize {
        self.number
    }
}

/// The thread's number in the launch, as a token.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// `y = a * x`, one thread an element, in any launch of enough threads.
/// #[kernel]
/// pub fn scale(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::unique_index();
///     if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
///         *y = a * x;
///     }
/// }
/// ```
#[inline]
#[must_use]
pub fn unique_index() -> UniqueIndex {
    UniqueIndex { number: index_usize(), of_this_thread: PhantomData }
}

/// The thread's row and column in the launch, which no other thread of the launch has.
///
/// x counts columns and y rows, so that the lanes of a warp have neighbouring columns. In a launch that extends along z, too, the
/// rows of one layer follow those of the layer before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniqueIndex2d {
    row: usize,
    column: usize,
    of_this_thread: PhantomData<*const ()>,
}

impl UniqueIndex2d {
    /// The thread's place along y.
    #[inline]
    #[must_use]
    pub fn row(self) -> usize {
        self.row
    }

    /// The thread's place along x.
    #[inline]
    #[must_use]
    pub fn column(self) -> usize {
        self.column
    }
}

/// The thread's row and column in the launch, as a token for a [`DisjointMatrix`](crate::DisjointMatrix).
#[inline]
#[must_use]
pub fn unique_index_2d() -> UniqueIndex2d {
    let (column, mut row, layer) = index_3d_usize();
    if grid_dim_z() | block_dim_z() != 1 {
        let (_, rows) = grid_size_2d();
        row += layer * rows;
    }
    UniqueIndex2d { row, column, of_this_thread: PhantomData }
}
