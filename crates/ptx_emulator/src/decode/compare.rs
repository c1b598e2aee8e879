//! `setp`, `set`, `selp`.

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, Refusal, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::op::{Logic, NONE, OpKind};
use crate::row::{Class, IntCompare, RowFn, Rows, Rule, pdd, prr};
use crate::semantics::cmp::{self, Comparison};
use crate::semantics::f32 as single;
use crate::semantics::half::{Bf16, F16};

/// Row function of a comparison. Captured enums become a loop-invariant choice; the most common
/// comparisons get code of their own.
fn comparison(
    i: &Instruction,
    c: Comparison,
    ty: Ty,
    ftz: bool,
    half: usize,
) -> Result<RowFn, Refusal> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let shift = 16 * half as u32;
    let f = match (ty.kind, ty.bits) {
        (Kind::Bits | Kind::Unsigned, 16 | 32) => match c {
            Eq => prr(|a, b| a == b),
            Ne => prr(|a, b| a != b),
            Lt => prr(|a, b| a < b),
            Le => prr(|a, b| a <= b),
            Gt => prr(|a, b| a > b),
            Ge => prr(|a, b| a >= b),
            _ => return unsupported(i.mnemonic()),
        },
        (Kind::Signed, 16) if !c.is_float_only() => {
            prr(move |a, b| cmp::signed_32(c, i32::from(a as i16), i32::from(b as i16)))
        }
        (Kind::Signed, 32) => match c {
            Eq => prr(|a, b| a == b),
            Ne => prr(|a, b| a != b),
            Lt => prr(|a, b| (a as i32) < b as i32),
            Le => prr(|a, b| a as i32 <= b as i32),
            Gt => prr(|a, b| a as i32 > b as i32),
            Ge => prr(|a, b| a as i32 >= b as i32),
            _ => return unsupported(i.mnemonic()),
        },
        (Kind::Bits | Kind::Unsigned, 64) => match c {
            Eq => pdd(|a, b| a == b),
            Ne => pdd(|a, b| a != b),
            Lt => pdd(|a, b| a < b),
            Le => pdd(|a, b| a <= b),
            Gt => pdd(|a, b| a > b),
            Ge => pdd(|a, b| a >= b),
            _ => return unsupported(i.mnemonic()),
        },
        (Kind::Signed, 64) => match c {
            Eq => pdd(|a, b| a == b),
            Ne => pdd(|a, b| a != b),
            Lt => pdd(|a, b| (a as i64) < b as i64),
            Le => pdd(|a, b| a as i64 <= b as i64),
            Gt => pdd(|a, b| a as i64 > b as i64),
            Ge => pdd(|a, b| a as i64 >= b as i64),
            _ => return unsupported(i.mnemonic()),
        },
        (Kind::F32, _) if ftz => prr(move |a, b| {
            cmp::float(c, single::flush(f32::from_bits(a)), single::flush(f32::from_bits(b)))
        }),
        (Kind::F32, _) => match c {
            Lt => prr(|a, b| f32::from_bits(a) < f32::from_bits(b)),
            Gt => prr(|a, b| f32::from_bits(a) > f32::from_bits(b)),
            Eq => prr(|a, b| f32::from_bits(a) == f32::from_bits(b)),
            _ => prr(move |a, b| cmp::float(c, f32::from_bits(a), f32::from_bits(b))),
        },
        (Kind::F64, _) => match c {
            Lt => pdd(|a, b| f64::from_bits(a) < f64::from_bits(b)),
            Gt => pdd(|a, b| f64::from_bits(a) > f64::from_bits(b)),
            _ => pdd(move |a, b| cmp::double(c, f64::from_bits(a), f64::from_bits(b))),
        },
        (Kind::F16 | Kind::F16x2, _) => {
            prr(move |a, b| cmp::half::<F16>(c, (a >> shift) as u16, (b >> shift) as u16, ftz))
        }
        (Kind::Bf16 | Kind::Bf16x2, _) => {
            prr(move |a, b| cmp::half::<Bf16>(c, (a >> shift) as u16, (b >> shift) as u16, ftz))
        }
        _ => return unsupported(i.mnemonic()),
    };
    Ok(match order(c, ty) {
        Some(order) => f.with(Rule::Compare(order)),
        None => f,
    })
}

/// The comparison as one of integers that fill their registers, if it is.
fn order(c: Comparison, ty: Ty) -> Option<IntCompare> {
    let signed = match ty.kind {
        Kind::Signed => true,
        Kind::Bits | Kind::Unsigned => false,
        _ => return None,
    };
    let holds = match c {
        Comparison::Lt => 0b001,
        Comparison::Eq => 0b010,
        Comparison::Le => 0b011,
        Comparison::Gt => 0b100,
        Comparison::Ne => 0b101,
        Comparison::Ge => 0b110,
        _ => return None,
    };
    (ty.bits >= 32).then_some(IntCompare { holds, signed, wide: ty.bits == 64 })
}

fn is_packed(ty: Ty) -> bool {
    matches!(ty.kind, Kind::F16x2 | Kind::Bf16x2)
}

/// Comparison, boolean operation, `.ftz`.
fn qualifiers(m: &mut Modifiers) -> Result<(Comparison, Option<Logic>, bool), Refusal> {
    let Some(c) = m.find(Comparison::from_modifier) else {
        return invalid("needs a comparison");
    };
    Ok((c, m.find(Logic::from_modifier), m.take("ftz")))
}

/// `setp`
pub(super) fn set_predicate(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (c, logic, ftz) = qualifiers(m)?;
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let (target, x, y, last) = match i.operands.as_slice() {
        [target, x, y] if logic.is_none() => (target, x, y, None),
        [target, x, y, last] if logic.is_some() => (target, x, y, Some(last)),
        _ => {
            return invalid(
                "takes a destination, two operands, and a predicate after .and, .or or .xor",
            );
        }
    };
    let s = [b.source(x, ty.class(), ty)?, b.source(y, ty.class(), ty)?];
    let combine = match (logic, last) {
        (Some(logic), Some(last)) => Some((logic, b.predicate(last)?)),
        _ => None,
    };
    let (d, q) = match target {
        Operand::Pair(p, q) => (b.predicate_destination(p)?, b.predicate_destination(q)?),
        p => (b.predicate_destination(p)?, NONE),
    };
    if is_packed(ty) {
        let (low, high) = (comparison(i, c, ty, ftz, 0)?, comparison(i, c, ty, ftz, 1)?);
        b.emit(OpKind::ComparePacked { low, high, d, q, s, combine });
    } else {
        let f = comparison(i, c, ty, ftz, 0)?;
        b.emit(OpKind::Compare { f, rows: Rows { d, s: [s[0], s[1], 0, 0] }, q, combine });
    }
    Ok(())
}

/// `set`: the comparison as a number, all ones or 1.0 for true.
pub(super) fn set(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (c, logic, ftz) = qualifiers(m)?;
    let (Some(to), Some(ty)) = (m.ty(), m.ty()) else {
        return invalid("needs two types");
    };
    let (target, x, y, last) = match i.operands.as_slice() {
        [target, x, y] if logic.is_none() => (target, x, y, None),
        [target, x, y, last] if logic.is_some() => (target, x, y, Some(last)),
        _ => {
            return invalid(
                "takes a destination, two operands, and a predicate after .and, .or or .xor",
            );
        }
    };
    let yes = match to.kind {
        Kind::F32 => 0x3F80_0000,
        Kind::F16 | Kind::F16x2 => 0x3C00,
        Kind::Bf16 | Kind::Bf16x2 => 0x3F80,
        _ if to.bits == 16 => 0xFFFF,
        _ => u64::from(u32::MAX),
    };
    let s = [b.source(x, ty.class(), ty)?, b.source(y, ty.class(), ty)?];
    let combine = match (logic, last) {
        (Some(logic), Some(last)) => Some((logic, b.predicate(last)?)),
        _ => None,
    };
    let zero = b.constant_bits(Class::R, 0);
    let d = b.destination(target, Class::R, to)?;
    let p = b.temporary(Class::Predicate);
    if is_packed(ty) {
        let q = b.temporary(Class::Predicate);
        let (low, high) = (comparison(i, c, ty, ftz, 0)?, comparison(i, c, ty, ftz, 1)?);
        b.emit(OpKind::ComparePacked { low, high, d: p, q, s, combine });
        // Each half of the result; an integer result of a packed comparison is 32 bits of one half each.
        let unit = if matches!(to.kind, Kind::F16x2 | Kind::Bf16x2) { yes } else { 0xFFFF };
        let (low, high) = (b.constant_bits(Class::R, unit), b.constant_bits(Class::R, unit << 16));
        let upper = b.temporary(Class::R);
        let plain = |row| crate::op::Pred { row, negated: false };
        b.emit(OpKind::FromPredicate { d: d.row, a: plain(p), yes: low, no: zero });
        b.emit(OpKind::FromPredicate { d: upper, a: plain(q), yes: high, no: zero });
        let or = crate::row::rrr(|a, b| a | b);
        b.emit(OpKind::Row { f: or, rows: Rows { d: d.row, s: [d.row, upper, 0, 0] } });
    } else {
        let f = comparison(i, c, ty, ftz, 0)?;
        b.emit(OpKind::Compare { f, rows: Rows { d: p, s: [s[0], s[1], 0, 0] }, q: NONE, combine });
        let yes = b.constant_bits(Class::R, yes);
        let a = crate::op::Pred { row: p, negated: false };
        b.emit(OpKind::FromPredicate { d: d.row, a, yes, no: zero });
    }
    b.finish(d);
    Ok(())
}

/// `selp`
pub(super) fn select(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let [target, x, y, p] = i.operands.as_slice() else {
        return invalid(format!("takes 4 operands, {} are given", i.operands.len()));
    };
    let (x, y) = (b.source(x, ty.class(), ty)?, b.source(y, ty.class(), ty)?);
    let p = b.predicate(p)?;
    let d = b.destination(target, ty.class(), ty)?;
    match ty.class() {
        Class::R => b.emit(OpKind::Select32 { d: d.row, a: x, b: y, p }),
        Class::D if ty.bits == 64 => b.emit(OpKind::Select64 { d: d.row, a: x, b: y, p }),
        _ => return unsupported(i.mnemonic()),
    }
    b.finish(d);
    Ok(())
}
