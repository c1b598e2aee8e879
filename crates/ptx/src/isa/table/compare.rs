//! PTX ISA, Comparison and Selection Instructions, and those for half precision.

use super::super::row::Family::{Select, SelectBySign, Set, SetPredicate};
use super::super::row::{Row, missing, row};

pub(super) const ROWS: &[Row] = &[
    row("setp.eq,ne{.@bool}.@b", "p|p, t, t, p?and/or/xor", SetPredicate).golden("cmp"),
    row("setp.@order{.@bool}.@s", "p|p, t, t, p?and/or/xor", SetPredicate).golden("cmp"),
    row("setp.@order,lo,ls,hi,hs{.@bool}.@u", "p|p, t, t, p?and/or/xor", SetPredicate)
        .golden("cmp"),
    row("setp.@unordered{.@bool}{.ftz}.f32", "p|p, t, t, p?and/or/xor", SetPredicate).golden("cmp"),
    row("setp.@unordered{.@bool}.f64", "p|p, t, t, p?and/or/xor", SetPredicate)
        .since(10, 13)
        .golden("cmp"),
    row("setp.@unordered{.@bool}{.ftz}.@h", "p!f16x2, p|p?f16x2, t, t, p?and/or/xor", SetPredicate)
        .since(42, 53)
        .golden("cmp"),
    row("setp.@unordered{.@bool}.@bh", "p!bf16x2, p|p?bf16x2, t, t, p?and/or/xor", SetPredicate)
        .since(78, 90)
        .golden("cmp"),
    row("set.eq,ne{.@bool}.u32,s32,f32.@b", "b32, t, t, p?and/or/xor", Set).golden("cmp"),
    row("set.@order{.@bool}.u32,s32,f32.@s", "b32, t, t, p?and/or/xor", Set).golden("cmp"),
    row("set.@order,lo,ls,hi,hs{.@bool}.u32,s32,f32.@u", "b32, t, t, p?and/or/xor", Set)
        .golden("cmp"),
    row("set.@unordered{.@bool}{.ftz}.u32,s32,f32.f32", "b32, t, t, p?and/or/xor", Set)
        .golden("cmp"),
    row("set.@unordered{.@bool}.u32,s32,f32.f64", "b32, t, t, p?and/or/xor", Set)
        .since(10, 13)
        .golden("cmp"),
    row("set.@unordered{.@bool}{.ftz}.u16,s16,u32,s32.f16", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@unordered{.@bool}.u16,s16,u32,s32.bf16", "t1, t, t, p?and/or/xor", Set)
        .since(78, 90)
        .golden("cmp"),
    row("set.eq,ne{.@bool}.f16,bf16.@b", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .test("conformance::bits_compared_as_half"),
    row("set.@order{.@bool}.f16,bf16.@s", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@order,lo,ls,hi,hs{.@bool}.f16,bf16.@u", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@unordered{.@bool}{.ftz}.f16.f16,f32", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@unordered{.@bool}.f16.f64", "t1, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@unordered{.@bool}.bf16.f16,f32,f64,bf16", "t1, t, t, p?and/or/xor", Set)
        .since(78, 90)
        .golden("cmp"),
    row("set.@unordered{.@bool}{.ftz}.f16x2.f16x2", "t, t, t, p?and/or/xor", Set)
        .since(42, 53)
        .golden("cmp"),
    row("set.@unordered{.@bool}.bf16x2.bf16x2", "t, t, t, p?and/or/xor", Set)
        .since(78, 90)
        .golden("cmp"),
    missing(
        "set.@unordered{.@bool}.u32,s32.f16x2,bf16x2",
        "b32, t, t, p?and/or/xor",
        78,
        90,
        "the PTX ISA does not have it, although the assembler takes it",
    ),
    row("selp.@any", "t, t, t, p", Select).golden("bits"),
    row("slct.@any.s32", "t1, t1, t1, b32", SelectBySign).golden("bits"),
    row("slct{.ftz}.@any.f32", "t1, t1, t1, b32", SelectBySign).golden("bits"),
];
