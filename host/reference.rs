//! Matrix products in f64, and how far an f32 result may be from them.
//!
//! The tolerance is the standard bound for a dot product of length `k` in floating point with unit
//! roundoff `u = 2^-24`, whatever the order of summation and with or without fused multiply-add
//! (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1):
//! `|c - c_exact| <= gamma_k * sum |a_p b_p|` with `gamma_k = k u / (1 - k u)`. The sum is bounded in
//! turn by the product of the Euclidean norms of A's row and B's column (Cauchy-Schwarz), which
//! costs almost nothing to compute. A result outside it is wrong; one inside it may still be unlucky, so the
//! largest errors are reported as well.

use rayon::prelude::*;

use crate::error::Error;
use crate::matrix::Matrix;

/// Above this many multiply-adds only evenly spaced rows of the product are computed and compared.
///
/// 4096 x 4096 x 4096 is still below it.
pub const FULL_CHECK_LIMIT: u128 = 100_000_000_000;

/// Rows and columns computed together, so that a strip of accumulators stays in the first-level cache.
const STRIP_ROWS: usize = 8;
const STRIP_COLUMNS: usize = 512;

/// A f64 product of two f32 matrices, or evenly spaced rows of it.
#[derive(Debug, Clone)]
pub struct Reference {
    inner: usize,
    total_rows: usize,
    columns: usize,
    rows: Vec<usize>,
    values: Vec<f64>,
    row_norms: Vec<f64>,
    column_norms: Vec<f64>,
}

/// How far a result is from the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Accuracy {
    /// The largest `|c - reference|`.
    pub max_abs_err: f64,
    /// The largest `|c - reference| / |reference|` among elements whose reference is not 0.
    pub max_rel_err: f64,
}

/// The rows of an `m` x `k` by `k` x `n` product that are compared: all, or evenly spaced ones from first to last.
#[must_use]
pub fn rows_to_check(m: usize, k: usize, n: usize) -> Vec<usize> {
    let per_row = (k as u128 * n as u128).max(1);
    let affordable = usize::try_from((FULL_CHECK_LIMIT / per_row).max(2)).unwrap_or(usize::MAX);
    if m <= affordable {
        return (0..m).collect();
    }
    let last = (m - 1) as u128;
    let steps = (affordable - 1) as u128;
    (0..affordable).map(|i| (i as u128 * last / steps) as usize).collect()
}

impl Reference {
    /// Computes the product of `a` and `b` in f64 on all cores, calling `progress` with the rows done.
    ///
    /// # Panics
    ///
    /// Panics when the columns of `a` are not the rows of `b`.
    #[must_use]
    pub fn product(a: &Matrix, b: &Matrix, progress: impl Fn(usize) + Sync) -> Self {
        assert_eq!(a.columns(), b.rows(), "the inner dimensions must agree");
        let (inner, columns) = (a.columns(), b.columns());
        let rows = rows_to_check(a.rows(), inner, columns);
        let mut values = vec![0.0_f64; rows.len() * columns];
        if columns > 0 {
            values.par_chunks_mut(STRIP_ROWS * columns).zip(rows.par_chunks(STRIP_ROWS)).for_each(
                |(strip, rows)| {
                    for start in (0..columns).step_by(STRIP_COLUMNS) {
                        let end = (start + STRIP_COLUMNS).min(columns);
                        for p in 0..inner {
                            let b_row = &b.row(p)[start..end];
                            for (r, &row) in rows.iter().enumerate() {
                                let a_value = f64::from(a.row(row)[p]);
                                let sums = &mut strip[r * columns + start..r * columns + end];
                                for (sum, &b_value) in sums.iter_mut().zip(b_row) {
                                    *sum += a_value * f64::from(b_value);
                                }
                            }
                        }
                    }
                    progress(rows.len());
                },
            );
        }
        let mut column_squares = vec![0.0_f64; columns];
        for p in 0..inner {
            for (square, &value) in column_squares.iter_mut().zip(b.row(p)) {
                *square += f64::from(value) * f64::from(value);
            }
        }
        let norm = |row: &[f32]| row.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
        Self {
            inner,
            total_rows: a.rows(),
            columns,
            row_norms: rows.iter().map(|&row| norm(a.row(row))).collect(),
            column_norms: column_squares.into_iter().map(f64::sqrt).collect(),
            rows,
            values,
        }
    }

    /// How many rows are compared.
    #[must_use]
    pub fn checked_rows(&self) -> usize {
        self.rows.len()
    }

    /// Element `[row, column]` of the product; `None` when that row was not computed.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Option<f64> {
        let position = self.rows.binary_search(&row).ok()?;
        self.values.get(position * self.columns..)?.get(..self.columns)?.get(column).copied()
    }

    /// The largest error that rounding explains at element `column` of the `position`-th compared row.
    fn tolerance(&self, position: usize, column: usize) -> f64 {
        let unit = f64::from(f32::EPSILON) / 2.0;
        let k = self.inner as f64;
        let gamma = if k * unit < 1.0 { k * unit / (1.0 - k * unit) } else { f64::INFINITY };
        // Results below the smallest normal f32 lose more than u relative: at most half a subnormal step each.
        let underflow = k * 2.0_f64.powi(-150);
        // The factor absorbs the rounding of this bound itself.
        gamma * self.row_norms[position] * self.column_norms[column] * (1.0 + 1e-9) + underflow
    }

    /// Compares `result` with the reference.
    ///
    /// Where an input or an exact sum is not representable (NaN, infinity, above f32's range), any result that
    /// f32 arithmetic may give is accepted and left out of the reported errors.
    ///
    /// # Errors
    ///
    /// [`Error::WrongResult`] for the first element that rounding can't explain.
    ///
    /// # Panics
    ///
    /// Panics when `result` has another shape than the product.
    pub fn check(&self, function: &'static str, result: &Matrix) -> Result<Accuracy, Error> {
        assert_eq!(
            (result.rows(), result.columns()),
            (self.total_rows, self.columns),
            "the shapes must agree"
        );
        let mut accuracy = Accuracy::default();
        for (position, &row) in self.rows.iter().enumerate() {
            for (column, &found) in result.row(row).iter().enumerate() {
                let expected = self.values[position * self.columns + column];
                let magnitude = self.row_norms[position] * self.column_norms[column];
                // Also true for NaN: then nothing is known about the result.
                let in_range = magnitude < f64::from(f32::MAX);
                if !in_range {
                    continue;
                }
                let error = (f64::from(found) - expected).abs();
                let tolerance = self.tolerance(position, column);
                // Written so that a NaN error is wrong as well.
                let explained = error <= tolerance;
                if !explained {
                    return Err(Error::WrongResult {
                        function,
                        place: format!("C[{row}, {column}]"),
                        found,
                        expected,
                        tolerance,
                    });
                }
                accuracy.max_abs_err = accuracy.max_abs_err.max(error);
                if expected != 0.0 {
                    accuracy.max_rel_err = accuracy.max_rel_err.max(error / expected.abs());
                }
            }
        }
        Ok(accuracy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, values: &[f32]) -> Matrix {
        Matrix::from_vec(rows, columns, values.to_vec()).unwrap()
    }

    #[test]
    fn a_product_worked_by_hand() {
        let a = matrix(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b = matrix(3, 2, &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
        let reference = Reference::product(&a, &b, |_| ());
        assert_eq!(reference.values, [58.0, 64.0, 139.0, 154.0]);
        assert_eq!(reference.value(1, 0), Some(139.0));
        assert_eq!(reference.value(2, 0), None);
        let exact = matrix(2, 2, &[58.0, 64.0, 139.0, 154.0]);
        assert_eq!(reference.check("f", &exact).unwrap(), Accuracy::default());
    }

    #[test]
    fn strips_agree_with_plain_loops() {
        let (m, k, n) = (STRIP_ROWS + 3, 5, STRIP_COLUMNS + 17);
        let (a, b) = (Matrix::random(m, k, 1).unwrap(), Matrix::random(k, n, 2).unwrap());
        let reference = Reference::product(&a, &b, |_| ());
        for (row, column) in [(0, 0), (STRIP_ROWS, 0), (m - 1, n - 1), (3, STRIP_COLUMNS)] {
            let plain: f64 =
                (0..k).map(|p| f64::from(a.row(row)[p]) * f64::from(b.row(p)[column])).sum();
            assert_eq!(reference.value(row, column), Some(plain));
        }
    }

    #[test]
    fn one_wrong_element_is_found() {
        let (a, b) = (Matrix::random(4, 6, 1).unwrap(), Matrix::random(6, 5, 2).unwrap());
        let reference = Reference::product(&a, &b, |_| ());
        let mut result = Matrix::filled(4, 5, 0.0).unwrap();
        for (i, value) in result.as_mut_slice().iter_mut().enumerate() {
            *value = reference.values[i] as f32;
        }
        assert!(reference.check("f", &result).is_ok());
        for wrong in [f32::NAN, f32::INFINITY, 0.0, result.row(2)[3] * (1.0 + 2e-6)] {
            let mut damaged = result.clone();
            damaged.as_mut_slice()[2 * 5 + 3] = wrong;
            let message = reference.check("f", &damaged).unwrap_err().to_string();
            assert!(message.starts_with("f gave a wrong result: C[2, 3] is "), "{message}");
        }
    }

    #[test]
    fn a_missing_last_term_is_found() {
        let k = 300;
        let (a, b) = (Matrix::random(1, k, 1).unwrap(), Matrix::random(k, 1, 2).unwrap());
        let reference = Reference::product(&a, &b, |_| ());
        let short: f32 = (0..k - 1).map(|p| a.row(0)[p] * b.row(p)[0]).sum();
        assert!(reference.check("f", &matrix(1, 1, &[short])).is_err());
    }

    #[test]
    fn values_out_of_range_are_not_judged() {
        let a = matrix(1, 2, &[f32::MAX, f32::NAN]);
        let b = matrix(2, 1, &[2.0, 1.0]);
        let reference = Reference::product(&a, &b, |_| ());
        assert_eq!(reference.check("f", &matrix(1, 1, &[f32::NAN])).unwrap(), Accuracy::default());
    }

    #[test]
    fn empty_shapes() {
        for (m, k, n) in [(0, 0, 0), (0, 3, 2), (2, 3, 0), (2, 0, 3)] {
            let (a, b) = (Matrix::filled(m, k, 1.0).unwrap(), Matrix::filled(k, n, 1.0).unwrap());
            let reference = Reference::product(&a, &b, |_| ());
            let zeros = Matrix::filled(m, n, 0.0).unwrap();
            assert_eq!(reference.check("f", &zeros).unwrap(), Accuracy::default());
        }
        let (a, b) = (Matrix::filled(2, 0, 1.0).unwrap(), Matrix::filled(0, 3, 1.0).unwrap());
        let reference = Reference::product(&a, &b, |_| ());
        assert!(reference.check("f", &Matrix::filled(2, 3, 1e-30).unwrap()).is_err());
    }

    #[test]
    fn large_products_check_spaced_rows() {
        assert_eq!(rows_to_check(4096, 4096, 4096).len(), 4096);
        let rows = rows_to_check(100_000, 100_000, 100_000);
        assert_eq!((rows[0], rows[rows.len() - 1]), (0, 99_999));
        assert!(rows.len() >= 2 && rows.windows(2).all(|w| w[0] < w[1]));
        assert!(rows_to_check(0, 5, 5).is_empty());
    }
}
