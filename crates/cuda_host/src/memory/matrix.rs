//! [`DeviceMatrix`]: a matrix in device memory, and the change between `nalgebra`'s element order and the kernels'.

use nalgebra::{DMatrix, Scalar};

use super::{DeviceArray, DeviceCopy};
use crate::device::Device;
use crate::error::{Problem, Result};

/// The order of a matrix's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Element (i, j) at `i * columns + j`: C's, NumPy's and this project's kernels' order.
    RowMajor,
    /// Element (i, j) at `j * rows + i`: Fortran's, `nalgebra`'s and cuBLAS's order.
    ColumnMajor,
}

/// A matrix in the memory of one device: a [`DeviceArray`] with a shape.
///
/// [`Device::to_device`] puts `nalgebra` matrices there in row-major order, which is what kernels take here. Passed to
/// a kernel it is its array: `&matrix` for `&[T]` and `*const T`, `&mut matrix` for `*mut T`.
///
/// # Example
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// use nalgebra::DMatrix;
///
/// let gpu = cuda_host::Device::open()?;
/// let host = DMatrix::from_row_slice(2, 3, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let matrix = gpu.to_device(&host)?;
/// assert_eq!(matrix.as_array().to_host()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(matrix.to_matrix()?, host);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceMatrix<T> {
    array: DeviceArray<T>,
    rows: usize,
    columns: usize,
    layout: Layout,
}

impl<T: DeviceCopy> DeviceMatrix<T> {
    /// A matrix of zeros.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn zeros(device: &Device, rows: usize, columns: usize, layout: Layout) -> Result<Self> {
        let array = DeviceArray::zeros(device, elements::<T>(rows, columns)?)?;
        Ok(Self { array, rows, columns, layout })
    }

    /// A matrix of arbitrary contents; see [`Device::uninit`].
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn uninit(device: &Device, rows: usize, columns: usize, layout: Layout) -> Result<Self> {
        let array = DeviceArray::uninit(device, elements::<T>(rows, columns)?)?;
        Ok(Self { array, rows, columns, layout })
    }

    /// Gives an array a shape.
    ///
    /// # Errors
    /// If the array does not have `rows * columns` elements.
    pub fn from_array(
        array: DeviceArray<T>,
        rows: usize,
        columns: usize,
        layout: Layout,
    ) -> Result<Self> {
        if elements::<T>(rows, columns)? != array.len() {
            return Err(Problem::MatrixShape { rows, columns, len: array.len() }.into());
        }
        Ok(Self { array, rows, columns, layout })
    }

    /// A copy of a `nalgebra` matrix in the order that `layout` says.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn from_matrix<R, C, S>(
        device: &Device,
        matrix: &nalgebra::Matrix<T, R, C, S>,
        layout: Layout,
    ) -> Result<Self>
    where
        T: Scalar,
        R: nalgebra::Dim,
        C: nalgebra::Dim,
        S: nalgebra::RawStorage<T, R, C>,
    {
        let (rows, columns) = matrix.shape();
        // `iter` goes column by column.
        let host = matrix.iter().copied().collect::<Vec<T>>();
        let host = match layout {
            Layout::ColumnMajor => host,
            Layout::RowMajor => transposed(&host, columns, rows),
        };
        let array = DeviceArray::from_host(device, &host)?;
        Ok(Self { array, rows, columns, layout })
    }

    /// The matrix, copied to the host (and transposed in memory if it is row-major here), after every launch started
    /// before.
    ///
    /// # Errors
    /// If a kernel has failed, or the driver fails.
    pub fn to_matrix(&self) -> Result<DMatrix<T>>
    where
        T: Scalar,
    {
        let host = self.array.to_host()?;
        let host = match self.layout {
            Layout::ColumnMajor => host,
            Layout::RowMajor => transposed(&host, self.rows, self.columns),
        };
        Ok(DMatrix::from_vec(self.rows, self.columns, host))
    }
}

impl<T> DeviceMatrix<T> {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The order of the elements.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The elements in that order.
    pub fn as_array(&self) -> &DeviceArray<T> {
        &self.array
    }

    /// The elements in that order, to write.
    pub fn as_mut_array(&mut self) -> &mut DeviceArray<T> {
        &mut self.array
    }

    /// The elements in that order, without the shape.
    pub fn into_array(self) -> DeviceArray<T> {
        self.array
    }
}

fn elements<T>(rows: usize, columns: usize) -> Result<usize> {
    rows.checked_mul(columns).ok_or_else(|| {
        let element_bytes = size_of::<T>();
        Problem::MatrixTooLarge { rows, columns, element_bytes }.into()
    })
}

/// The transpose of a row-major `rows` x `columns` matrix, in tiles, so that both sides stay in the cache.
pub(crate) fn transposed<T: Copy>(source: &[T], rows: usize, columns: usize) -> Vec<T> {
    const TILE: usize = 32;
    debug_assert_eq!(source.len(), rows * columns);
    let mut target = source.to_vec();
    if rows < 2 || columns < 2 {
        return target;
    }
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for row in top..rows.min(top + TILE) {
                for column in left..columns.min(left + TILE) {
                    target[column * rows + row] = source[row * columns + column];
                }
            }
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposes() {
        assert_eq!(transposed(&[1, 2, 3, 4, 5, 6], 2, 3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(transposed(&[1, 2, 3], 1, 3), [1, 2, 3]);
        assert_eq!(transposed::<u8>(&[], 0, 5), []);
        for (rows, columns) in [(33, 64), (100, 7), (65, 65)] {
            let host = DMatrix::from_fn(rows, columns, |i, j| (i * 1000 + j) as u32);
            let row_major = transposed(host.as_slice(), columns, rows);
            assert!(
                (0..rows).all(|i| (0..columns).all(|j| row_major[i * columns + j] == host[(i, j)]))
            );
            assert_eq!(transposed(&row_major, rows, columns), host.as_slice());
        }
    }
}
