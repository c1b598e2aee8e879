//! Outputs of which each thread may write its own elements and no others, so that kernels need no `unsafe`.

mod matrix;
mod slice;

pub use matrix::DisjointMatrix;
pub use slice::{DisjointSlice, GridStrideMut};
