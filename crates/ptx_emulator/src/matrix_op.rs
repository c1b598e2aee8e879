//! Decoded operations of a whole warp on matrices: `ldmatrix`, `stmatrix`, `movmatrix`, `mma`.

use crate::op::{Address, Space};
use crate::row::Class;
use crate::semantics::Rounding;
use crate::semantics::mma::layout::Order;
use crate::semantics::mma::{Accumulator, BitOperation, Integers, Multiplicand, Shape};

/// A matrix operation. Rows are relative to the frame.
#[derive(Debug)]
pub(crate) enum MatrixOp {
    /// `ldmatrix` of as many 8x8 matrices of 16-bit elements as there are rows.
    Load { space: Space, address: Address, transpose: bool, d: Box<[u32]> },
    /// `stmatrix`, likewise.
    Store { space: Space, address: Address, transpose: bool, a: Box<[u32]> },
    /// `movmatrix`
    Transpose { d: u32, a: u32 },
    /// `mma`
    Multiply(Multiply),
}

impl MatrixOp {
    /// The rows that it writes, and their class.
    pub(crate) fn results(&self) -> (Class, &[u32]) {
        match self {
            MatrixOp::Load { d, .. } => (Class::R, d),
            MatrixOp::Store { .. } => (Class::R, &[]),
            MatrixOp::Transpose { d, .. } => (Class::R, std::slice::from_ref(d)),
            MatrixOp::Multiply(op) if matches!(op.numbers, Numbers::F64(_)) => (Class::D, &op.d),
            MatrixOp::Multiply(op) => (Class::R, &op.d),
        }
    }

    /// Whether it writes to memory.
    pub(crate) fn stores(&self) -> bool {
        matches!(self, MatrixOp::Store { .. })
    }
}

/// An `mma`: the rows of each fragment.
#[derive(Debug)]
pub(crate) struct Multiply {
    pub(crate) shape: Shape,
    pub(crate) numbers: Numbers,
    pub(crate) a: Box<[u32]>,
    pub(crate) b: Box<[u32]>,
    pub(crate) c: Box<[u32]>,
    pub(crate) d: Box<[u32]>,
}

/// What the elements of an `mma` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Float {
        multiplicands: [Multiplicand; 2],
        accumulator: Accumulator,
    },
    /// `m8n8k4` of f16: the elements' orders in A and B, the types of C and D.
    QuadPairs {
        orders: [Order; 2],
        c: Accumulator,
        d: Accumulator,
    },
    F64(Rounding),
    Integers(Integers),
    Bits(BitOperation),
}

impl Numbers {
    /// Elements of A and B, and of C and D, in a register.
    pub(crate) fn per_register(self) -> [usize; 2] {
        match self {
            Numbers::Float { multiplicands: [a, _], accumulator } => {
                [32 / a.bits() as usize, accumulator.per_register()]
            }
            Numbers::QuadPairs { c, .. } => [2, c.per_register()],
            Numbers::F64(_) => [1, 1],
            Numbers::Integers(integers) => [32 / integers.bits.max(1) as usize, 1],
            Numbers::Bits(_) => [32, 1],
        }
    }
}
