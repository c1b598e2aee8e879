//! PTX ISA, Logic and Shift Instructions, and the bit-field instructions among the integer ones.

use super::super::row::Family::{
    BitCount, BitField, BitMask, FunnelShift, Logic, Lop3, Permute, Shift,
};
use super::super::row::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("and.pred,@b", "t, t, t", Logic).golden("bits"),
    row("or.pred,@b", "t, t, t", Logic).golden("bits"),
    row("xor.pred,@b", "t, t, t", Logic).golden("bits"),
    row("not.pred,@b", "t, t", Logic).golden("bits"),
    row("cnot.@b", "t, t", Logic).golden("bits"),
    row("lop3.b32", "t, t, t, t, #0x96", Lop3).since(43, 50).golden("bits"),
    row("lop3.and,or.b32", "t|p, t, t, t, #0x96, p", Lop3).since(82, 70).golden("bits"),
    row("shl.@b", "t, t, b32", Shift).golden("bits"),
    row("shr.@b,@i", "t, t, b32", Shift).golden("bits"),
    row("shf.l,r.clamp,wrap.b32", "t, t, t, b32", FunnelShift).since(31, 32).golden("bits"),
    row("bfe.@i3264", "t, t, b32, b32", BitField).since(20, 20).golden("bits"),
    row("bfi.b32,b64", "t, t, t, b32, b32", BitField).since(20, 20).golden("bits"),
    row("bfind{.shiftamt}.@i3264", "b32, t", BitCount).since(20, 20).golden("bits"),
    row("brev.b32,b64", "t, t", BitCount).since(20, 20).golden("bits"),
    row("clz.b32,b64", "b32, t", BitCount).since(20, 20).golden("bits"),
    row("popc.b32,b64", "b32, t", BitCount).since(20, 20).golden("bits"),
    row("bmsk.clamp,wrap.b32", "t, t, t", BitMask).since(76, 70).golden("bits"),
    row("szext.clamp,wrap.u32,s32", "t, t, b32", BitMask).since(76, 70).golden("bits"),
    row("fns.b32", "t, t, t, t", BitMask).since(60, 30).golden("bits"),
    row("prmt.b32{.f4e,b4e,rc8,ecl,ecr,rc16}", "t, t, t, t", Permute).since(20, 20).golden("bits"),
];
