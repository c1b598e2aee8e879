//! What one PTX instruction does to the bits of one lane.
//!
//! Every function here is pure: operands in, result out, no state, no memory, and no way to fail, whatever
//! the bits. An executor calls them in a loop over the lanes of a warp; the functions of the common
//! instructions are branch-free so that such a loop becomes vector code.
//!
//! One file a family of the PTX ISA. Names are those of the instruction with `.` written `_`
//! (`int::mul_hi_u64`, `bits::shf_l_wrap`). Where the qualifiers would multiply the names, they are arguments:
//! [`FloatMode`] (rounding, `.ftz`, `.sat`), [`MinMaxMode`], [`cmp::Comparison`].
//!
//! The PTX ISA leaves some answers open: division by zero, NaN payloads, the border of `.ftz`. Those follow
//! recorded hardware (an H200); `tests/golden.rs` compares every form with the record, bit for bit.

pub mod approx;
pub mod atomic;
pub mod bits;
pub mod carry;
pub mod cmp;
pub mod cvt;
pub mod f32;
pub mod f64;
pub mod half;
pub mod int;
pub mod mbarrier;
pub mod mma;
pub mod rounding;

pub use rounding::{FloatMode, Format, Rounding};

/// The qualifiers of floating-point `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct MinMaxMode {
    /// `.ftz`: subnormal inputs become zero of the same sign.
    pub ftz: bool,
    /// `.NaN`: one NaN operand makes the result NaN; otherwise the other operand is the result.
    pub nan: bool,
    /// `.xorsign.abs`: compares magnitudes; the result's sign is the exclusive or of both input signs.
    pub xorsign_abs: bool,
}
