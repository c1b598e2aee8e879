//! A dense f32 matrix on the host, in row-major order as the kernels and NumPy's C order have it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::error::Error;

/// `rows` x `columns` values, row-major: element `[row, column]` is `data[row * columns + column]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// A matrix from its values in row-major order; `None` unless there are `rows * columns` of them.
    #[must_use]
    pub fn from_vec(rows: usize, columns: usize, data: Vec<f32>) -> Option<Self> {
        (rows.checked_mul(columns)? == data.len()).then_some(Self { rows, columns, data })
    }

    /// A matrix of one value.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`] when the host has not that much memory.
    pub fn filled(rows: usize, columns: usize, value: f32) -> Result<Self, Error> {
        let mut data = allocate(rows, columns)?;
        data.resize(rows * columns, value);
        Ok(Self { rows, columns, data })
    }

    /// Uniform values in `[0, 1)`, the same for the same `seed` on every machine.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`] when the host has not that much memory.
    pub fn random(rows: usize, columns: usize, seed: u64) -> Result<Self, Error> {
        let mut data = allocate(rows, columns)?;
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        // 24 bits fill an f32's significand exactly, so that every value is a multiple of 2^-24.
        let scale = 1.0 / (1_u32 << 24) as f32;
        data.extend((0..rows * columns).map(|_| (generator.next_u64() >> 40) as f32 * scale));
        Ok(Self { rows, columns, data })
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }

    /// The values in row-major order, to write.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// The values of one row.
    ///
    /// # Panics
    ///
    /// Panics when `row` is not below [`rows`](Self::rows), as indexing a slice does.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.columns..][..self.columns]
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

/// Room for a matrix, without the abort that running out of memory would otherwise be.
fn allocate(rows: usize, columns: usize) -> Result<Vec<f32>, Error> {
    let needed = (rows as u128 * columns as u128).saturating_mul(4);
    let refused = || Error::Allocation { what: "a matrix", needed };
    let mut data = Vec::new();
    data.try_reserve_exact(rows.checked_mul(columns).ok_or_else(refused)?)
        .map_err(|_| refused())?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_vec_checks_the_length() {
        assert!(Matrix::from_vec(2, 3, vec![0.0; 6]).is_some());
        assert!(Matrix::from_vec(2, 3, vec![0.0; 5]).is_none());
        assert!(Matrix::from_vec(usize::MAX, 2, Vec::new()).is_none());
        assert!(Matrix::from_vec(0, 7, Vec::new()).is_some_and(|m| m.is_empty()));
    }

    #[test]
    fn random_values_depend_on_the_seed_alone() {
        let first = Matrix::random(5, 7, 3).unwrap();
        assert_eq!(first, Matrix::random(5, 7, 3).unwrap());
        assert_ne!(first, Matrix::random(5, 7, 4).unwrap());
        assert!(first.as_slice().iter().all(|v| (0.0..1.0).contains(v)));
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Matrix::filled(usize::MAX / 8, 2, 0.0).is_err());
        assert!(Matrix::random(usize::MAX, usize::MAX, 1).is_err());
    }

    #[test]
    fn rows_are_contiguous() {
        let m = Matrix::from_vec(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(m.row(1), [4.0, 5.0, 6.0]);
        assert_eq!((m.rows(), m.columns()), (2, 3));
    }
}
