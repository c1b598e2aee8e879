//! The matrix product on the CPU: as the textbook has it, and as fast as a library makes it.

use nalgebra::{DMatrixView, DMatrixViewMut};
use rayon::prelude::*;

use crate::error::Error;
use crate::matrix::Matrix;

/// `c = a * b` by three plain loops on one core: the yardstick that speed-ups refer to.
///
/// # Errors
///
/// [`Error::Allocation`] when there is no memory for the result.
///
/// # Panics
///
/// Panics when the columns of `a` are not the rows of `b`.
pub fn cpu_mat_mul(a: &Matrix, b: &Matrix) -> Result<Matrix, Error> {
    let (m, k, n) = shape(a, b);
    let mut c = Matrix::filled(m, n, 0.0)?;
    let (a, b, out) = (a.as_slice(), b.as_slice(), c.as_mut_slice());
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for p in 0..k {
                sum += a[i * k + p] * b[p * n + j];
            }
            out[i * n + j] = sum;
        }
    }
    Ok(c)
}

/// `c = a * b` by `nalgebra`'s product, with the rows of C spread over all cores.
///
/// `nalgebra` stores columns one after the other, so a row-major matrix is its own transpose there:
/// the product is computed as `c^T = b^T * a^T` without moving anything.
///
/// # Errors
///
/// [`Error::Allocation`] when there is no memory for the result.
///
/// # Panics
///
/// Panics when the columns of `a` are not the rows of `b`.
pub fn cpu_mat_mul_fast(a: &Matrix, b: &Matrix) -> Result<Matrix, Error> {
    let (m, k, n) = shape(a, b);
    let mut c = Matrix::filled(m, n, 0.0)?;
    if c.is_empty() || k == 0 {
        return Ok(c);
    }
    let rows_per_task = m.div_ceil(rayon::current_num_threads());
    let b_transposed = DMatrixView::from_slice(b.as_slice(), n, k);
    c.as_mut_slice()
        .par_chunks_mut(rows_per_task * n)
        .zip(a.as_slice().par_chunks(rows_per_task * k))
        .for_each(|(c_rows, a_rows)| {
            let rows = a_rows.len() / k;
            let a_transposed = DMatrixView::from_slice(a_rows, k, rows);
            DMatrixViewMut::from_slice(c_rows, n, rows).gemm(
                1.0,
                &b_transposed,
                &a_transposed,
                0.0,
            );
        });
    Ok(c)
}

/// `(m, k, n)` of an `m` x `k` by `k` x `n` product.
fn shape(a: &Matrix, b: &Matrix) -> (usize, usize, usize) {
    assert_eq!(a.columns(), b.rows(), "the inner dimensions must agree");
    (a.rows(), a.columns(), b.columns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    #[test]
    fn both_agree_with_the_f64_reference() {
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 7),
            (64, 32, 16),
            (33, 100, 65),
            (1, 200, 1),
            (70, 1, 3),
            (2, 0, 3),
            (0, 4, 4),
            (4, 4, 0),
        ] {
            let (a, b) = (Matrix::random(m, k, 5).unwrap(), Matrix::random(k, n, 6).unwrap());
            let reference = Reference::product(&a, &b, |_| ());
            reference.check("cpu_mat_mul", &cpu_mat_mul(&a, &b).unwrap()).unwrap();
            reference.check("cpu_mat_mul_fast", &cpu_mat_mul_fast(&a, &b).unwrap()).unwrap();
        }
    }
}
