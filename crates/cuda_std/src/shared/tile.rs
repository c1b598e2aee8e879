//! Two-dimensional arrays in shared memory that avoid bank conflicts.
//!
//! Shared memory has 32 banks of 4 bytes (CUDA C++ Programming Guide, "Shared Memory"): 128 bytes behind each other lie in
//! different banks, and a warp's access takes as many turns as there are different words wanted from one bank. Lanes that read a
//! column of a 32-column array of `f32` all want the same bank.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::__private::Uninit;

/// Bytes of all banks side by side.
const BANKS: usize = 128;

#[repr(C)]
struct PaddedRow<T, const COLUMNS: usize, const PAD: usize> {
    elements: [T; COLUMNS],
    padding: [T; PAD],
}

/// `ROWS` rows of `COLUMNS` elements in shared memory, one row behind the other, each with `PAD` unused elements at its end.
///
/// With a padding of one element of 4 bytes, neighbouring elements of a column lie in different banks. [`shared_tile!`] declares
/// one where it is used; as a `static` of its own it reads
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SharedTile;
///
/// #[address_space(shared)]
/// static mut TILE: SharedTile<f32, 32, 32, 1> = SharedTile::uninit();
///
/// /// Transposes an `n` by `n` matrix, `n` a multiple of 32, with blocks of 32 by 32 threads.
/// ///
/// /// # Safety
/// /// `a` and `b` have `n * n` elements.
/// #[kernel]
/// pub unsafe fn transpose(a: *const f32, b: *mut f32, n: usize) {
///     let tile = unsafe { &*(&raw const TILE) };
///     let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
///     let (left, top) = (32 * thread::block_idx_x() as usize, 32 * thread::block_idx_y() as usize);
///     unsafe {
///         tile.set(y, x, *a.add((top + y) * n + left + x));
///         thread::sync_threads();
///         *b.add((left + y) * n + top + x) = tile.get(x, y);
///     }
/// }
/// ```
///
/// [`shared_tile!`]: crate::shared_tile
#[repr(transparent)]
pub struct SharedTile<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0>(
    UnsafeCell<MaybeUninit<[PaddedRow<T, COLUMNS, PAD>; ROWS]>>,
);

impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Uninit
    for SharedTile<T, ROWS, COLUMNS, PAD>
{
}

impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    SharedTile<T, ROWS, COLUMNS, PAD>
{
    /// Elements from one row to the next.
    pub const STRIDE: usize = COLUMNS + PAD;

    /// The first element of a row; the others of the row follow.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, row: usize) -> *mut T {
        self.at(row, 0)
    }

    /// Where an element is, counted in elements from the first.
    #[inline(always)]
    const fn offset(row: usize, column: usize) -> usize {
        row * Self::STRIDE + column
    }
}

/// `ROWS` rows of `COLUMNS` elements in shared memory, whose columns are permuted in each row, without unused elements.
///
/// Elements of a column lie in different banks as far as there are banks. `TOGETHER` elements of a row, from a multiple of
/// `TOGETHER` on, stay one behind the other: with 4 of `f32`, [`at`](Self::at) of each fourth column is the address of 16
/// bytes that can be read at once, in rows or columns without bank conflicts.
///
/// `TOGETHER` and `COLUMNS / TOGETHER` are powers of two; anything else is a compile error. The element of row *r* and
/// column *c* lies where column *c* xor *s* would, with *s* a multiple of `TOGETHER` that changes with each row, or with
/// each group of rows that fill the banks.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SwizzledTile;
///
/// #[address_space(shared)]
/// static mut TILE: SwizzledTile<f32, 32, 32> = SwizzledTile::uninit();
///
/// fn diagonal(i: usize) -> f32 {
///     let tile = unsafe { &*(&raw const TILE) };
///     // After all threads have written theirs, and a barrier.
///     unsafe { tile.get(i, i) }
/// }
/// # let _ = diagonal as fn(usize) -> f32;
/// ```
#[repr(transparent)]
pub struct SwizzledTile<T, const ROWS: usize, const COLUMNS: usize, const TOGETHER: usize = 1>(
    UnsafeCell<MaybeUninit<[[T; COLUMNS]; ROWS]>>,
);

impl<T, const ROWS: usize, const COLUMNS: usize, const TOGETHER: usize> Uninit
    for SwizzledTile<T, ROWS, COLUMNS, TOGETHER>
{
}

impl<T, const ROWS: usize, const COLUMNS: usize, const TOGETHER: usize>
    SwizzledTile<T, ROWS, COLUMNS, TOGETHER>
{
    /// Groups of a row.
    const GROUPS: usize = {
        assert!(
            TOGETHER.is_power_of_two() && COLUMNS.is_multiple_of(TOGETHER),
            "the elements that stay together are a power of two, and a row is made of whole groups"
        );
        let groups = COLUMNS / TOGETHER;
        assert!(groups.is_power_of_two(), "a swizzled row is made of 1, 2, 4, 8, … groups");
        groups
    };

    /// Rows that fill the banks: within them, columns lie in different banks as they are.
    const PERIOD: usize = {
        let row = size_of::<T>() * COLUMNS;
        if row == 0 || row >= BANKS { 1 } else { BANKS / row }
    };

    /// Where an element is, counted in elements from the first.
    #[inline(always)]
    const fn offset(row: usize, column: usize) -> usize {
        let swizzle = (row / Self::PERIOD) % Self::GROUPS * TOGETHER;
        row * COLUMNS + (column ^ swizzle)
    }
}

macro_rules! access {
    ($Tile:ident, $OTHER:ident) => {
        impl<T, const ROWS: usize, const COLUMNS: usize, const $OTHER: usize>
            $Tile<T, ROWS, COLUMNS, $OTHER>
        {
            /// Rows.
            pub const ROWS: usize = ROWS;
            /// Elements of a row.
            pub const COLUMNS: usize = COLUMNS;

            /// The initial value of a `static` in shared memory: nothing.
            #[must_use]
            pub const fn uninit() -> Self {
                Self(UnsafeCell::new(MaybeUninit::uninit()))
            }

            /// Elements that there are to use: `ROWS * COLUMNS`.
            #[must_use]
            #[allow(clippy::len_without_is_empty)]
            pub const fn len(&self) -> usize {
                ROWS * COLUMNS
            }

            /// The address of an element.
            ///
            /// # Panics
            ///
            /// If there is no such row or column.
            #[inline(always)]
            #[must_use]
            pub fn at(&self, row: usize, column: usize) -> *mut T {
                assert!(
                    row < ROWS && column < COLUMNS,
                    "the shared tile has no such row or column"
                );
                // SAFETY: just checked.
                unsafe { self.at_unchecked(row, column) }
            }

            /// [`at`](Self::at) without the check.
            ///
            /// # Safety
            ///
            /// There are such a row and column.
            #[inline(always)]
            #[must_use]
            pub unsafe fn at_unchecked(&self, row: usize, column: usize) -> *mut T {
                // SAFETY: the caller's promise: the element is within the tile.
                unsafe { self.0.get().cast::<T>().add(Self::offset(row, column)) }
            }

            /// An element's value.
            ///
            /// # Safety
            ///
            /// The element has been written, and no other thread writes it before or after without a barrier between.
            ///
            /// # Panics
            ///
            /// If there is no such row or column.
            #[inline(always)]
            #[must_use]
            pub unsafe fn get(&self, row: usize, column: usize) -> T
            where
                T: Copy,
            {
                // SAFETY: within the tile, and the caller's promise.
                unsafe { self.at(row, column).read() }
            }

            /// Writes an element.
            ///
            /// # Safety
            ///
            /// No other thread reads or writes the element before or after without a barrier between.
            ///
            /// # Panics
            ///
            /// If there is no such row or column.
            #[inline(always)]
            pub unsafe fn set(&self, row: usize, column: usize, value: T) {
                // SAFETY: within the tile, and the caller's promise.
                unsafe { self.at(row, column).write(value) };
            }

            /// [`get`](Self::get) without the check of row and column.
            ///
            /// # Safety
            ///
            /// As for [`get`](Self::get), and there are such a row and column.
            #[inline(always)]
            #[must_use]
            pub unsafe fn get_unchecked(&self, row: usize, column: usize) -> T
            where
                T: Copy,
            {
                // SAFETY: the caller's promise.
                unsafe { self.at_unchecked(row, column).read() }
            }

            /// [`set`](Self::set) without the check of row and column.
            ///
            /// # Safety
            ///
            /// As for [`set`](Self::set), and there are such a row and column.
            #[inline(always)]
            pub unsafe fn set_unchecked(&self, row: usize, column: usize, value: T) {
                // SAFETY: the caller's promise.
                unsafe { self.at_unchecked(row, column).write(value) };
            }
        }
    };
}

access!(SharedTile, PAD);
access!(SwizzledTile, TOGETHER);

/// `shared_tile![T; ROWS, COLUMNS]`: a two-dimensional array in shared memory, as a `&'static`
/// [`SharedTile`].
///
/// `shared_tile![T; ROWS, COLUMNS; pad PAD]` has `PAD` unused elements behind each row, and
/// `shared_tile![T; ROWS, COLUMNS; swizzled]` or `swizzled TOGETHER` is a
/// [`SwizzledTile`]. As with [`shared_array!`](crate::shared_array), each place in the source where the
/// macro stands is one tile for each block, and `T` and the sizes cannot be generic parameters of the function around it.
///
/// ```no_run
/// # use cuda_std::{shared_tile, thread};
/// let tile = shared_tile![f32; 16, 16; pad 1];
/// let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
/// unsafe { tile.set(y, x, 1.0) };
/// thread::sync_threads();
/// let across = unsafe { tile.get(x, y) };
/// # let _ = across;
/// ```
#[macro_export]
macro_rules! shared_tile {
    ($T:ty; $ROWS:expr, $COLUMNS:expr) => {
        $crate::shared_tile![$T; $ROWS, $COLUMNS; pad 0]
    };
    ($T:ty; $ROWS:expr, $COLUMNS:expr; pad $PAD:expr) => {
        $crate::shared_tile!(@ $crate::shared::SharedTile<$T, { $ROWS }, { $COLUMNS }, { $PAD }>)
    };
    ($T:ty; $ROWS:expr, $COLUMNS:expr; swizzled) => {
        $crate::shared_tile![$T; $ROWS, $COLUMNS; swizzled 1]
    };
    ($T:ty; $ROWS:expr, $COLUMNS:expr; swizzled $TOGETHER:expr) => {
        $crate::shared_tile!(
            @ $crate::shared::SwizzledTile<$T, { $ROWS }, { $COLUMNS }, { $TOGETHER }>
        )
    };
    (@ $Tile:ty) => {{
        #[$crate::address_space(shared)]
        static mut TILE: $Tile = <$Tile>::uninit();
        // SAFETY: a tile is borrowed shared only, and accessed through its cells.
        #[allow(unused_unsafe)]
        let tile: &'static $Tile = unsafe { &*(&raw const TILE) };
        tile
    }};
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    /// How many turns an access of a warp takes: the most words wanted of one bank. `offsets` are in elements.
    fn turns(offsets: impl Iterator<Item = usize>, bytes: usize) -> usize {
        let words: BTreeSet<usize> = offsets
            .flat_map(|at| (at * bytes / 4..(at + 1) * bytes / 4).collect::<Vec<_>>())
            .collect();
        let of_bank = |bank| words.iter().filter(|word| *word % 32 == bank).count();
        (0..32).map(of_bank).max().unwrap()
    }

    #[test]
    fn padding_spreads_columns_over_the_banks() {
        type Plain = SharedTile<f32, 32, 32>;
        type Padded = SharedTile<f32, 32, 32, 1>;
        assert_eq!(turns((0..32).map(|row| Plain::offset(row, 5)), 4), 32);
        assert_eq!(turns((0..32).map(|row| Padded::offset(row, 5)), 4), 1);
        assert_eq!(turns((0..32).map(|column| Padded::offset(5, column)), 4), 1);
        assert_eq!((Padded::STRIDE, size_of::<Padded>()), (33, 32 * 33 * 4));
    }

    #[test]
    fn swizzling_spreads_columns_over_the_banks() {
        for column in 0..32 {
            type Tile = SwizzledTile<f32, 64, 32>;
            assert_eq!(turns((0..32).map(|row| Tile::offset(row + 7, column)), 4), 1);
            assert_eq!(turns((0..32).map(|other| Tile::offset(column, other)), 4), 1);
        }
        for column in 0..16 {
            type Tile = SwizzledTile<u32, 32, 16>;
            assert_eq!(turns((0..32).map(|row| Tile::offset(row, column)), 4), 1);
            // 8 bytes: half of the warp at a time.
            type Wide = SwizzledTile<f64, 16, 16>;
            assert_eq!(turns((0..16).map(|row| Wide::offset(row, column)), 8), 1);
        }
        for group in (0..32).step_by(4) {
            // 16 bytes: a quarter of the warp at a time.
            type Tile = SwizzledTile<f32, 8, 32, 4>;
            let offsets = (0..8).flat_map(|row| (0..4).map(move |i| Tile::offset(row, group + i)));
            assert_eq!(turns(offsets, 4), 1);
            assert!((0..8).all(|row| Tile::offset(row, group + 3) == Tile::offset(row, group) + 3));
        }
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        fn check<const N: usize>(
            offset: impl Fn(usize, usize) -> usize,
            columns: usize,
            end: usize,
        ) {
            let mut places = BTreeSet::new();
            for row in 0..N {
                for column in 0..columns {
                    assert!(offset(row, column) < end);
                    places.insert(offset(row, column));
                }
            }
            assert_eq!(places.len(), N * columns);
        }
        check::<5>(SharedTile::<u8, 5, 7, 3>::offset, 7, 50);
        check::<9>(SwizzledTile::<u16, 9, 64>::offset, 64, 9 * 64);
        check::<3>(SwizzledTile::<f64, 3, 8, 2>::offset, 8, 24);
        check::<4>(SwizzledTile::<[u8; 256], 4, 2>::offset, 2, 8);
        check::<4>(SwizzledTile::<u8, 4, 1>::offset, 1, 4);
    }

    #[test]
    fn a_tile_on_the_host_is_an_ordinary_array() {
        let tile = SwizzledTile::<u32, 4, 8, 2>::uninit();
        for row in 0..4 {
            for column in 0..8 {
                // SAFETY: there is one thread.
                unsafe { tile.set(row, column, (10 * row + column) as u32) };
            }
        }
        // SAFETY: written above.
        assert_eq!(unsafe { tile.get(3, 6) }, 36);
        assert_eq!(tile.len(), 32);
        let outside =
            std::panic::catch_unwind(|| SharedTile::<u8, 2, 3>::uninit().at(0, 3).is_null());
        assert!(outside.is_err());
    }
}
