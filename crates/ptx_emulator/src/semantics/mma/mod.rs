//! Matrix multiply and accumulate, `mma.sync` (PTX ISA, section "Warp-level Matrix Multiply-Accumulate Instructions").
//!
//! Matrices here are whole: the multiplicands as rows of A and columns of B, the accumulator as rows. [`layout`] says which
//! lane's register holds which element. Sums of integers and of f64 follow from the ISA; those of the narrow floating-point
//! types do not (it leaves order and rounding open) and follow recorded hardware, an H200.

mod float;
mod integer;
pub mod layout;

pub use float::{Accumulator, Multiplicand, multiply_float, multiply_quad_pair};
pub use integer::{BitOperation, Integers, multiply_bits, multiply_integers};

use super::f64::{fma, fma_rounded};
use super::rounding::Rounding;

/// The extent of a multiplication: A has `m` rows, B `n` columns, and `k` products make one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

impl Shape {
    /// The shape that a modifier names, `m16n8k16` for instance.
    ///
    /// ```
    /// use ptx_emulator::semantics::mma::Shape;
    /// assert_eq!(Shape::from_modifier("m16n8k4"), Some(Shape { m: 16, n: 8, k: 4 }));
    /// assert_eq!(Shape::from_modifier("row"), None);
    /// ```
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Shape> {
        let (m, rest) = modifier.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let extent = |digits: &str| digits.parse().ok().filter(|extent| (1..=256).contains(extent));
        Some(Shape { m: extent(m)?, n: extent(n)?, k: extent(k)? })
    }

    /// Computes every element of the result from its row of A, its column of B and its element of C. Slices that are too
    /// short give zeros.
    fn each<A, C: Copy + Default>(
        self,
        a: &[A],
        b: &[A],
        c: &[C],
        element: impl Fn(&[A], &[A], C) -> C,
    ) -> Vec<C> {
        let mut d = Vec::with_capacity(self.m * self.n);
        for row in 0..self.m {
            for column in 0..self.n {
                let left = a.get(row * self.k..(row + 1) * self.k).unwrap_or_default();
                let right = b.get(column * self.k..(column + 1) * self.k).unwrap_or_default();
                let sum = c.get(row * self.n + column).copied().unwrap_or_default();
                d.push(element(left, right, sum));
            }
        }
        d
    }
}

/// `mma` with `.f64`: one fused multiply-add after the other, in rising k.
#[must_use]
pub fn multiply_f64(shape: Shape, rounding: Rounding, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    shape.each(a, b, c, |row, column, c| {
        let products = row.iter().zip(column);
        let sum = products.fold(f64::from_bits(c), |sum, (a, b)| {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            if rounding == Rounding::NearestEven {
                fma(a, b, sum)
            } else {
                fma_rounded(a, b, sum, rounding)
            }
        });
        sum.to_bits()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for text in ["m16n8", "m16n8k", "m0n8k4", "m16n8k999", "mnk", "m8n8k4x"] {
            assert_eq!(Shape::from_modifier(text), None, "{text}");
        }
    }

    #[test]
    fn f64_is_a_chain_of_fused_multiply_adds() {
        let shape = Shape { m: 1, n: 2, k: 2 };
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let tiny = f64::EPSILON / 4.0;
        let a = bits(&[1.0 + f64::EPSILON, 3.0]);
        let b = bits(&[1.0 - f64::EPSILON, 0.0, 2.0, 5.0]);
        let c = bits(&[-1.0, tiny]);
        let d = multiply_f64(shape, Rounding::NearestEven, &a, &b, &c);
        let second = 3.0f64.mul_add(5.0, (1.0 + f64::EPSILON).mul_add(2.0, tiny));
        assert_eq!(d, bits(&[-f64::EPSILON * f64::EPSILON, second]));
        let up = multiply_f64(shape, Rounding::Up, &a, &b, &c);
        assert!(f64::from_bits(up[1]) > second);
    }
}
