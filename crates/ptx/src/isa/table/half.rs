//! PTX ISA, Half-Precision Floating-Point Instructions.

use super::super::row::Family::{FloatArithmetic, Transcendental};
use super::super::row::{Row, missing, row};

/// As for f32.
const APPROXIMATE: &str = "computed in f64 and rounded once: inside the documented error bound, as the hardware is, but not \
                           bit for bit the hardware's answer, which is not documented";

/// What NVIDIA's assembler takes although the PTX ISA does not have it.
const UNDOCUMENTED: &str = "the PTX ISA does not have it, although the assembler takes it";

pub(super) const ROWS: &[Row] = &[
    row("add{.rn}{.ftz}{.sat}.@h", "t, t, t", FloatArithmetic).since(42, 53).golden("half"),
    row("add{.rn}.@bh", "t, t, t", FloatArithmetic).since(78, 90).golden("half"),
    row("sub{.rn}{.ftz}{.sat}.@h", "t, t, t", FloatArithmetic).since(42, 53).golden("half"),
    row("sub{.rn}.@bh", "t, t, t", FloatArithmetic).since(78, 90).golden("half"),
    row("mul{.rn}{.ftz}{.sat}.@h", "t, t, t", FloatArithmetic).since(42, 53).golden("half"),
    row("mul{.rn}.@bh", "t, t, t", FloatArithmetic).since(78, 90).golden("half"),
    row("fma.rn{.ftz}{.sat}.@h", "t, t, t, t", FloatArithmetic).since(42, 53).golden("half"),
    row("fma.rn{.ftz}.relu.@h", "t, t, t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("fma.rn{.relu}.@bh", "t, t, t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("fma.rn.oob{.relu}.@h,@bh", "t, t, t, t", FloatArithmetic).since(81, 90).golden("half"),
    missing("fma.rz,rm,rp{.oob}{.relu}.@bh", "t, t, t, t", 70, 80, UNDOCUMENTED),
    row("neg{.ftz}.@h", "t, t", FloatArithmetic).since(60, 53).golden("half"),
    row("neg.@bh", "t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("abs{.ftz}.@h", "t, t", FloatArithmetic).since(65, 53).golden("half"),
    row("abs.@bh", "t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("min{.ftz}{.NaN}{.xorsign.abs}.@h", "t, t, t", FloatArithmetic)
        .since(70, 80)
        .golden("half"),
    row("min{.NaN}{.xorsign.abs}.@bh", "t, t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("max{.ftz}{.NaN}{.xorsign.abs}.@h", "t, t, t", FloatArithmetic)
        .since(70, 80)
        .golden("half"),
    row("max{.NaN}{.xorsign.abs}.@bh", "t, t, t", FloatArithmetic).since(70, 80).golden("half"),
    row("tanh.approx.@h", "t, t", Transcendental).since(70, 75).golden("approx").but(APPROXIMATE),
    row("tanh.approx.@bh", "t, t", Transcendental).since(78, 90).golden("approx").but(APPROXIMATE),
    row("ex2.approx.@h", "t, t", Transcendental).since(70, 75).golden("approx").but(APPROXIMATE),
    row("ex2.approx.ftz.@bh", "t, t", Transcendental)
        .since(78, 90)
        .golden("approx")
        .but(APPROXIMATE),
];
