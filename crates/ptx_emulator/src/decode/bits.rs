//! Logic, shifts, bit fields, byte permutation, dot products.

use ptx::ast::{Immediate, Instruction, Operand};

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::op::{Logic, OpKind};
use crate::row::{RowFn, Rows, Rule, dd, ddd, dddr, dddrr, ddr, ddrr, rd, rr, rrr, rrrr, rrrrr};
use crate::semantics::bits::{self, PermuteMode};
use crate::semantics::cmp;

/// `and`, `or`, `xor`, `not`, `cnot`
pub(super) fn logic(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    if ty.kind == Kind::Predicate {
        return predicate_logic(b, i);
    }
    if ty.bits > 64 {
        return unsupported(i.mnemonic());
    }
    let mask = if ty.bits == 16 { 0xFFFF } else { u32::MAX };
    let wide = ty.bits == 64;
    let f = match i.opcode.as_str() {
        "and" if wide => ddd(|a, b| a & b),
        "or" if wide => ddd(|a, b| a | b).with(Rule::Or),
        "xor" if wide => ddd(|a, b| a ^ b),
        "not" if wide => dd(|a| !a),
        "cnot" if wide => dd(|a| u64::from(a == 0)),
        "and" => rrr(|a, b| a & b),
        "or" if ty.bits == 32 => rrr(|a, b| a | b).with(Rule::Or),
        "or" => rrr(|a, b| a | b),
        "xor" => rrr(|a, b| a ^ b),
        "not" => rr(move |a| !a & mask),
        "cnot" => rr(|a| u32::from(a == 0)),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

fn predicate_logic(b: &mut Builder, i: &Instruction) -> Decoded {
    let logic = match i.opcode.as_str() {
        "and" => Logic::And,
        "or" => Logic::Or,
        "xor" => Logic::Xor,
        "not" => {
            let [d, a] = i.operands.as_slice() else {
                return invalid("takes 2 operands");
            };
            let mut a = b.predicate(a)?;
            a.negated = !a.negated;
            let d = b.predicate_destination(d)?;
            b.emit(OpKind::MovePredicate { d, a });
            return Ok(());
        }
        _ => return unsupported(i.mnemonic()),
    };
    let [d, x, y] = i.operands.as_slice() else {
        return invalid("takes 3 operands");
    };
    let (x, y) = (b.predicate(x)?, b.predicate(y)?);
    let d = b.predicate_destination(d)?;
    b.emit(OpKind::Predicate { logic, d, a: x, b: y });
    Ok(())
}

/// `lop3`
pub(super) fn lop3(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let combine = m.find(Logic::from_modifier);
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let table = |operand: Option<&Operand>| match operand {
        Some(Operand::Immediate(Immediate::Integer(table))) => Some(*table as u8),
        _ => None,
    };
    let Some(table) = table(i.operands.get(4)) else {
        return invalid("the truth table must be a number");
    };
    let f = rrrr(move |x, y, z| bits::lop3(x, y, z, table));
    let (target, operands) = (&i.operands[0], &i.operands[1..4]);
    let (d, p) = match (target, combine) {
        (d, None) => (d, None),
        (Operand::Pair(d, p), Some(logic)) => (&**d, Some((&**p, logic))),
        _ => return invalid("the combining forms write `d|p`"),
    };
    let mut all = vec![d.clone()];
    all.extend_from_slice(operands);
    let Some((p, logic)) = p else {
        return b.row_op(&all, f, ty, &[ty]);
    };
    // The predicate is (d != 0) combined with the last operand, also when d is `_`.
    let Some(last) = i.operands.get(5) else {
        return invalid("needs a predicate operand");
    };
    let mut s = [0; 4];
    for (slot, operand) in s.iter_mut().zip(operands) {
        *slot = b.source(operand, crate::row::Class::R, ty)?;
    }
    let c = b.predicate(last)?;
    let value = b.temporary(crate::row::Class::R);
    let zero = b.constant_bits(crate::row::Class::R, 0);
    b.emit(OpKind::Row { f, rows: Rows { d: value, s } });
    let p = b.predicate_destination(p)?;
    let q = b.temporary(crate::row::Class::Predicate);
    let nonzero = crate::row::prr(|a, b| a != b);
    let combine = Some((logic, c));
    b.emit(OpKind::Compare { f: nonzero, rows: Rows { d: p, s: [value, zero, 0, 0] }, q, combine });
    let d = b.destination(d, crate::row::Class::R, ty)?;
    b.emit(OpKind::Move32 { d: d.row, a: value });
    b.finish(d);
    Ok(())
}

/// `shl`, `shr`
pub(super) fn shift(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let f = match (i.opcode.as_str(), ty.is_signed(), ty.bits) {
        ("shl", _, 16) => rrr(|a, n| bits::shl_b16(a as u16, n) as u32),
        ("shl", _, 32) => rrr(bits::shl_b32).with(Rule::Shl),
        ("shl", _, 64) => ddr(bits::shl_b64).with(Rule::Shl),
        ("shr", false, 16) => rrr(|a, n| bits::shr_u16(a as u16, n) as u32),
        ("shr", false, 32) => rrr(bits::shr_u32),
        ("shr", false, 64) => ddr(bits::shr_u64),
        ("shr", true, 16) => rrr(|a, n| bits::shr_s16(a as i16, n) as u16 as u32),
        ("shr", true, 32) => rrr(|a, n| bits::shr_s32(a as i32, n) as u32),
        ("shr", true, 64) => ddr(|a, n| bits::shr_s64(a as i64, n) as u64),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty, Ty::B32])
}

/// `shf`
pub(super) fn funnel_shift(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let left = match (m.take("l"), m.take("r")) {
        (true, false) => true,
        (false, true) => false,
        _ => return invalid("needs .l or .r"),
    };
    let (wrap, clamp) = (m.take("wrap"), m.take("clamp"));
    m.ty();
    let f = match (left, wrap, clamp) {
        (true, true, false) => rrrr(bits::shf_l_wrap),
        (true, false, _) => rrrr(bits::shf_l_clamp),
        (false, true, false) => rrrr(bits::shf_r_wrap),
        (false, false, _) => rrrr(bits::shf_r_clamp),
        _ => return invalid("needs .wrap or .clamp, not both"),
    };
    b.row_op(&i.operands, f, Ty::B32, &[Ty::B32])
}

/// `bfe`, `bfi`
pub(super) fn field(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let n = Ty::B32;
    match (i.opcode.as_str(), ty.is_signed(), ty.bits) {
        ("bfe", false, 32) => b.row_op(&i.operands, rrrr(bits::bfe_u32), ty, &[ty, n]),
        ("bfe", true, 32) => b.row_op(&i.operands, rrrr(bits::bfe_s32), ty, &[ty, n]),
        ("bfe", false, 64) => b.row_op(&i.operands, ddrr(bits::bfe_u64), ty, &[ty, n]),
        ("bfe", true, 64) => b.row_op(&i.operands, ddrr(bits::bfe_s64), ty, &[ty, n]),
        ("bfi", _, 32) => b.row_op(&i.operands, rrrrr(bits::bfi_b32), ty, &[ty, ty, n]),
        ("bfi", _, 64) => b.row_op(&i.operands, dddrr(bits::bfi_b64), ty, &[ty, ty, n]),
        _ => unsupported(i.mnemonic()),
    }
}

/// `bfind`, `brev`, `clz`, `popc`
pub(super) fn count(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let shift_amount = m.take("shiftamt");
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let result = if i.opcode == "brev" { ty } else { Ty { kind: Kind::Unsigned, bits: 32 } };
    let f: RowFn = match (i.opcode.as_str(), ty.is_signed(), ty.bits, shift_amount) {
        ("bfind", false, 32, false) => rr(bits::bfind_u32),
        ("bfind", true, 32, false) => rr(|a| bits::bfind_s32(a as i32)),
        ("bfind", false, 64, false) => rd(bits::bfind_u64),
        ("bfind", true, 64, false) => rd(|a| bits::bfind_s64(a as i64)),
        ("bfind", false, 32, true) => rr(bits::bfind_shiftamt_u32),
        ("bfind", true, 32, true) => rr(|a| bits::bfind_shiftamt_s32(a as i32)),
        ("bfind", false, 64, true) => rd(bits::bfind_shiftamt_u64),
        ("bfind", true, 64, true) => rd(|a| bits::bfind_shiftamt_s64(a as i64)),
        ("brev", _, 32, false) => rr(bits::brev_b32),
        ("brev", _, 64, false) => dd(bits::brev_b64),
        ("clz", _, 32, false) => rr(bits::clz_b32),
        ("clz", _, 64, false) => rd(bits::clz_b64),
        ("popc", _, 32, false) => rr(bits::popc_b32),
        ("popc", _, 64, false) => rd(bits::popc_b64),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, result, &[ty])
}

/// `bmsk`, `szext`, `fns`
pub(super) fn mask(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let wrap = m.take("wrap");
    let clamp = m.take("clamp");
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let f = match (i.opcode.as_str(), wrap, clamp, ty.is_signed()) {
        ("bmsk", true, false, _) => rrr(bits::bmsk_wrap),
        ("bmsk", false, true, _) => rrr(bits::bmsk_clamp),
        ("szext", true, false, false) => rrr(bits::szext_wrap_u32),
        ("szext", false, true, false) => rrr(bits::szext_clamp_u32),
        ("szext", true, false, true) => rrr(bits::szext_wrap_s32),
        ("szext", false, true, true) => rrr(bits::szext_clamp_s32),
        ("fns", false, false, _) => rrrr(|mask, base, n| bits::fns(mask, base, n as i32)),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

/// `prmt`
pub(super) fn permute(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let mode = m.find(PermuteMode::from_modifier);
    m.ty();
    let f = match mode {
        None => rrrr(bits::prmt),
        Some(mode) => rrrr(move |x, y, c| bits::prmt_mode(x, y, c, mode)),
    };
    b.row_op(&i.operands, f, Ty::B32, &[Ty::B32])
}

/// `dp4a`, `dp2a`
pub(super) fn dot(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (lo, hi) = (m.take("lo"), m.take("hi"));
    let (Some(x), Some(y)) = (m.ty(), m.ty()) else {
        return invalid("needs two types");
    };
    let (x_signed, y_signed) = (x.is_signed(), y.is_signed());
    let f = match (i.opcode.as_str(), lo, hi) {
        ("dp4a", false, false) => rrrr(move |a, b, c| bits::dp4a(a, b, c, x_signed, y_signed)),
        ("dp2a", true, false) => {
            rrrr(move |a, b, c| bits::dp2a(a, b, c, false, x_signed, y_signed))
        }
        ("dp2a", false, true) => rrrr(move |a, b, c| bits::dp2a(a, b, c, true, x_signed, y_signed)),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, Ty::B32, &[Ty::B32])
}

/// `slct`
pub(super) fn select_by_sign(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let ftz = m.take("ftz");
    let (Some(ty), Some(selector)) = (m.ty(), m.ty()) else {
        return invalid("needs two types");
    };
    let by_float = match selector.kind {
        Kind::F32 => true,
        Kind::Signed if selector.bits == 32 => false,
        _ => return unsupported(i.mnemonic()),
    };
    let choose = move |c: u32| {
        if by_float { cmp::slct_f32(f32::from_bits(c), ftz) } else { cmp::slct_s32(c as i32) }
    };
    let f = match ty.bits {
        64 => dddr(move |x, y, c| if choose(c) { x } else { y }),
        _ => rrrr(move |x, y, c| if choose(c) { x } else { y }),
    };
    b.row_op(&i.operands, f, ty, &[ty, ty, selector])
}
