//! PTX ISA, Floating-Point Instructions and Mixed-Precision Floating-Point Instructions.

use super::super::row::Family::{CopySign, FloatArithmetic, TestProperty, Transcendental};
use super::super::row::{Row, missing, row};

/// Approximate instructions: within the PTX ISA's bounds, as the hardware is, but not with its bits.
const APPROXIMATE: &str = "computed in f64 and rounded once: inside the documented error bound, as the hardware is, but not \
                           bit for bit the hardware's answer, which is not documented";

const PAIRS: &str = "packed f32 pairs need sm_100, of which there are no recordings yet";

pub(super) const ROWS: &[Row] = &[
    row("add{.@rnd}{.ftz}{.sat}.f32", "t, t, t", FloatArithmetic).golden("f32"),
    row("add{.@rnd}.f64", "t, t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("sub{.@rnd}{.ftz}{.sat}.f32", "t, t, t", FloatArithmetic).golden("f32"),
    row("sub{.@rnd}.f64", "t, t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("mul{.@rnd}{.ftz}{.sat}.f32", "t, t, t", FloatArithmetic).golden("f32"),
    row("mul{.@rnd}.f64", "t, t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("fma.@rnd{.ftz}{.sat}.f32", "t, t, t, t", FloatArithmetic).since(20, 20).golden("f32"),
    row("fma.@rnd.f64", "t, t, t, t", FloatArithmetic).since(14, 13).golden("f64"),
    row("mad.@rnd{.ftz}{.sat}.f32", "t, t, t, t", FloatArithmetic).since(20, 20).golden("f32"),
    row("mad.@rnd.f64", "t, t, t, t", FloatArithmetic).since(14, 13).golden("f64"),
    row("div.approx,full{.ftz}.f32", "t, t, t", FloatArithmetic).golden("approx").but(APPROXIMATE),
    row("div.@rnd{.ftz}.f32", "t, t, t", FloatArithmetic).since(20, 20).golden("f32"),
    row("div.@rnd.f64", "t, t, t", FloatArithmetic).since(14, 20).golden("f64"),
    row("abs{.ftz}.f32", "t, t", FloatArithmetic).golden("f32"),
    row("abs.f64", "t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("neg{.ftz}.f32", "t, t", FloatArithmetic).golden("f32"),
    row("neg.f64", "t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("min{.ftz}{.NaN}{.xorsign.abs}.f32", "t, t, t", FloatArithmetic).golden("f32"),
    row("min.f64", "t, t, t", FloatArithmetic).since(10, 13).golden("f64"),
    row("max{.ftz}{.NaN}{.xorsign.abs}.f32", "t, t, t", FloatArithmetic).golden("f32"),
    row("max.f64", "t, t, t", FloatArithmetic).since(10, 13).golden("f64"),
    missing(
        "min{.ftz}{.NaN}.abs.f32",
        "t, t, t, t",
        88,
        100,
        "the minimum of three numbers needs sm_100, of which there are no recordings yet",
    ),
    missing(
        "max{.ftz}{.NaN}.abs.f32",
        "t, t, t, t",
        88,
        100,
        "the maximum of three numbers needs sm_100, of which there are no recordings yet",
    ),
    row("rcp.approx{.ftz}.f32", "t, t", FloatArithmetic).golden("approx").but(APPROXIMATE),
    row("rcp.@rnd{.ftz}.f32", "t, t", FloatArithmetic).since(20, 20).golden("f32"),
    row("rcp.@rnd.f64", "t, t", FloatArithmetic).since(14, 20).golden("f64"),
    missing(
        "rcp.@rnd.ftz.f64",
        "t, t",
        21,
        20,
        "the PTX ISA does not have it, although the assembler takes it",
    ),
    row("rcp.approx.ftz.f64", "t, t", FloatArithmetic)
        .since(21, 20)
        .golden("approx")
        .but(APPROXIMATE),
    row("sqrt.approx{.ftz}.f32", "t, t", FloatArithmetic).golden("approx").but(APPROXIMATE),
    row("sqrt.@rnd{.ftz}.f32", "t, t", FloatArithmetic).since(20, 20).golden("f32"),
    row("sqrt.@rnd.f64", "t, t", FloatArithmetic).since(14, 20).golden("f64"),
    row("rsqrt.approx{.ftz}.f32", "t, t", Transcendental).golden("approx").but(APPROXIMATE),
    row("rsqrt.approx{.ftz}.f64", "t, t", Transcendental)
        .since(10, 13)
        .golden("approx")
        .but(APPROXIMATE),
    row("sin.approx{.ftz}.f32", "t, t", Transcendental).golden("approx").but(APPROXIMATE),
    row("cos.approx{.ftz}.f32", "t, t", Transcendental).golden("approx").but(APPROXIMATE),
    row("lg2.approx{.ftz}.f32", "t, t", Transcendental).golden("approx").but(APPROXIMATE),
    row("ex2.approx{.ftz}.f32", "t, t", Transcendental).golden("approx").but(APPROXIMATE),
    row("tanh.approx.f32", "t, t", Transcendental).since(70, 75).golden("approx").but(APPROXIMATE),
    row("copysign.f32,f64", "t, t, t", CopySign).since(20, 20).golden("f32"),
    row("testp.finite,infinite,number,notanumber,normal,subnormal.f32,f64", "p, t", TestProperty)
        .since(20, 20)
        .golden("f32"),
    missing(
        "testp.f32,f64",
        "p, t",
        20,
        20,
        "the PTX ISA does not have it, although the assembler takes it",
    ),
    missing("add{.@rnd}{.ftz}.f32x2", "t, t, t", 86, 100, PAIRS),
    missing("sub{.@rnd}{.ftz}.f32x2", "t, t, t", 86, 100, PAIRS),
    missing("mul{.@rnd}{.ftz}.f32x2", "t, t, t", 86, 100, PAIRS),
    missing("fma.@rnd{.ftz}.f32x2", "t, t, t, t", 86, 100, PAIRS),
    row("add{.@rnd}{.sat}.f32.f16,bf16", "f32, t, f32", FloatArithmetic)
        .since(86, 100)
        .test("conformance::f32_with_narrow_operands"),
    row("sub{.@rnd}{.sat}.f32.f16,bf16", "f32, t, f32", FloatArithmetic)
        .since(86, 100)
        .test("conformance::f32_with_narrow_operands"),
    row("fma.@rnd{.sat}.f32.f16,bf16", "f32, t, t, f32", FloatArithmetic)
        .since(86, 100)
        .test("conformance::f32_with_narrow_operands"),
];
