//! PTX ISA, Integer Arithmetic Instructions and Extended-Precision Arithmetic Instructions.

use super::super::row::Family::{DotProduct, IntegerArithmetic, Product24};
use super::super::row::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("add.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("add.sat.s32", "t, t, t", IntegerArithmetic).golden("int"),
    row("add.u16x2,s16x2", "t, t, t", IntegerArithmetic).since(80, 90).golden("int"),
    row("add.cc.@i3264", "t, t, t", IntegerArithmetic).since(12, 0).golden("int"),
    row("addc{.cc}.@i3264", "t, t, t", IntegerArithmetic).since(12, 0).golden("int"),
    row("sub.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("sub.sat.s32", "t, t, t", IntegerArithmetic).golden("int"),
    row("sub.cc.@i3264", "t, t, t", IntegerArithmetic).since(12, 0).golden("int"),
    row("subc{.cc}.@i3264", "t, t, t", IntegerArithmetic).since(12, 0).golden("int"),
    row("mul.lo,hi.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("mul.wide.u16,u32,s16,s32", "w, t, t", IntegerArithmetic).golden("int"),
    row("mad.lo,hi.@i", "t, t, t, t", IntegerArithmetic).golden("int"),
    row("mad.wide.u16,u32,s16,s32", "w, t, t, w", IntegerArithmetic).golden("int"),
    row("mad.hi.sat.s32", "t, t, t, t", IntegerArithmetic).golden("int"),
    row("mad.lo,hi.cc.@i3264", "t, t, t, t", IntegerArithmetic).since(30, 20).golden("int"),
    row("madc.lo,hi{.cc}.@i3264", "t, t, t, t", IntegerArithmetic).since(30, 20).golden("int"),
    row("mul24.lo,hi.u32,s32", "t, t, t", Product24).golden("int"),
    row("mad24.lo,hi.u32,s32", "t, t, t, t", Product24).golden("int"),
    row("mad24.hi.sat.s32", "t, t, t, t", Product24).golden("int"),
    row("sad.@i", "t, t, t, t", IntegerArithmetic).golden("int"),
    row("div.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("rem.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("abs.@s", "t, t", IntegerArithmetic).golden("int"),
    row("neg.@s", "t, t", IntegerArithmetic).golden("int"),
    row("min.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("min.u16x2,s16x2", "t, t, t", IntegerArithmetic).since(80, 90).golden("int"),
    row("min.relu.s32,s16x2", "t, t, t", IntegerArithmetic).since(80, 90).golden("int"),
    row("max.@i", "t, t, t", IntegerArithmetic).golden("int"),
    row("max.u16x2,s16x2", "t, t, t", IntegerArithmetic).since(80, 90).golden("int"),
    row("max.relu.s32,s16x2", "t, t, t", IntegerArithmetic).since(80, 90).golden("int"),
    row("dp4a.u32,s32.u32,s32", "b32, b32, b32, b32", DotProduct).since(50, 61).golden("bits"),
    row("dp2a.lo,hi.u32,s32.u32,s32", "b32, b32, b32, b32", DotProduct)
        .since(50, 61)
        .golden("bits"),
];
