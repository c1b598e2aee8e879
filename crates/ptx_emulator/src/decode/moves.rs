//! `mov`: registers, numbers, addresses, special registers, and packing of vectors.

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, describe, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::op::OpKind;
use crate::row::{Class, Rows, drr, rd, rr, rrr};

/// `mov`
pub(super) fn mov(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let [d, a] = i.operands.as_slice() else {
        return invalid(format!("takes 2 operands, {} are given", i.operands.len()));
    };
    if ty.kind == Kind::Predicate {
        let a = b.predicate(a)?;
        let d = b.predicate_destination(d)?;
        b.emit(OpKind::MovePredicate { d, a });
        return Ok(());
    }
    match (d, a) {
        (Operand::Vector(parts), Operand::Vector(values)) if parts.len() == values.len() => {
            unsupported(i.mnemonic())
        }
        (Operand::Vector(parts), a) => unpack(b, parts, a, ty),
        (d, Operand::Vector(parts)) => pack(b, d, parts, ty),
        _ if ty.bits == 128 => wide(b, d, a),
        _ => {
            let source = b.source(a, ty.class(), ty)?;
            let target = b.destination(d, ty.class(), ty)?;
            b.emit(match ty.class() {
                Class::D => OpKind::Move64 { d: target.row, a: source },
                _ => OpKind::Move32 { d: target.row, a: source },
            });
            b.finish(target);
            Ok(())
        }
    }
}

/// The two rows of a 128-bit register.
pub(super) fn pair(b: &mut Builder, operand: &Operand) -> Result<u32, super::builder::Refusal> {
    match operand {
        Operand::Name(name) => match b.register(name) {
            Some(register) if register.bits == 128 => Ok(register.row),
            _ => invalid(format!("`{name}` is not a 128-bit register")),
        },
        other => invalid(format!("{} is not a 128-bit register", describe(other))),
    }
}

/// `mov.b128` between registers.
fn wide(b: &mut Builder, d: &Operand, a: &Operand) -> Decoded {
    let (d, a) = (pair(b, d)?, pair(b, a)?);
    b.emit(OpKind::Move64 { d, a });
    b.emit(OpKind::Move64 { d: d + 1, a: a + 1 });
    Ok(())
}

/// `mov.b64 {a, b}, d`: the first part takes the lowest bits.
fn unpack(b: &mut Builder, parts: &[Operand], a: &Operand, ty: Ty) -> Decoded {
    let part = Ty { kind: Kind::Bits, bits: ty.bits / (parts.len() as u32).max(1) };
    if ty.bits == 128 {
        let source = pair(b, a)?;
        if part.bits != 64 {
            return unsupported("mov.b128 to other than two parts");
        }
        // Through temporaries: a part may be the source's own register.
        let low = b.temporary(Class::D);
        b.emit(OpKind::Move64 { d: low, a: source });
        for (index, operand) in parts.iter().enumerate() {
            let d = b.destination(operand, Class::D, part)?;
            b.emit(OpKind::Move64 { d: d.row, a: if index == 0 { low } else { source + 1 } });
            b.finish(d);
        }
        return Ok(());
    }
    let source = b.source(a, ty.class(), ty)?;
    let mut temporaries = Vec::new();
    for index in 0..parts.len() as u32 {
        let shift = index * part.bits;
        let row = b.temporary(Class::R);
        let f = match (ty.bits, part.bits) {
            (64, 32) => rd(move |a| (a >> shift) as u32),
            (64, 16) => rd(move |a| (a >> shift) as u32 & 0xFFFF),
            (64, 8) => rd(move |a| (a >> shift) as u32 & 0xFF),
            (32, 16) => rr(move |a| a >> shift & 0xFFFF),
            (32, 8) => rr(move |a| a >> shift & 0xFF),
            (16, 8) => rr(move |a| a >> shift & 0xFF),
            _ => return unsupported(format!("mov.b{} to {} parts", ty.bits, parts.len())),
        };
        b.emit(OpKind::Row { f, rows: Rows { d: row, s: [source, 0, 0, 0] } });
        temporaries.push(row);
    }
    for (operand, row) in parts.iter().zip(temporaries) {
        let d = b.destination(operand, Class::R, part)?;
        b.emit(OpKind::Move32 { d: d.row, a: row });
        b.finish(d);
    }
    Ok(())
}

/// `mov.b64 d, {a, b}`
fn pack(b: &mut Builder, d: &Operand, parts: &[Operand], ty: Ty) -> Decoded {
    let part = Ty { kind: Kind::Bits, bits: ty.bits / (parts.len() as u32).max(1) };
    if ty.bits == 128 {
        let [low, high] = parts else {
            return unsupported("mov.b128 from other than two parts");
        };
        let (low, high) = (b.source(low, Class::D, part)?, b.source(high, Class::D, part)?);
        let d = pair(b, d)?;
        let kept = b.temporary(Class::D);
        b.emit(OpKind::Move64 { d: kept, a: high });
        b.emit(OpKind::Move64 { d, a: low });
        b.emit(OpKind::Move64 { d: d + 1, a: kept });
        return Ok(());
    }
    let mut rows = Vec::new();
    for operand in parts {
        rows.push(b.source(operand, Class::R, part)?);
    }
    let d = b.destination(d, ty.class(), ty)?;
    match (ty.bits, rows.as_slice()) {
        (64, [low, high]) => {
            let f = drr(|low, high| u64::from(low) | u64::from(high) << 32);
            b.emit(OpKind::Row { f, rows: Rows { d: d.row, s: [*low, *high, 0, 0] } });
        }
        (64, [w, x, y, z]) => {
            let half = || rrr(|low, high| low & 0xFFFF | high << 16);
            let (low, high) = (b.temporary(Class::R), b.temporary(Class::R));
            b.emit(OpKind::Row { f: half(), rows: Rows { d: low, s: [*w, *x, 0, 0] } });
            b.emit(OpKind::Row { f: half(), rows: Rows { d: high, s: [*y, *z, 0, 0] } });
            let f = drr(|low, high| u64::from(low) | u64::from(high) << 32);
            b.emit(OpKind::Row { f, rows: Rows { d: d.row, s: [low, high, 0, 0] } });
        }
        (32, [low, high]) => {
            let f = rrr(|low, high| low & 0xFFFF | high << 16);
            b.emit(OpKind::Row { f, rows: Rows { d: d.row, s: [*low, *high, 0, 0] } });
        }
        (16, [low, high]) => {
            let f = rrr(|low, high| low & 0xFF | (high & 0xFF) << 8);
            b.emit(OpKind::Row { f, rows: Rows { d: d.row, s: [*low, *high, 0, 0] } });
        }
        (32, [w, x, y, z]) => {
            let f = crate::row::rrrrr(|w, x, y, z| {
                w & 0xFF | (x & 0xFF) << 8 | (y & 0xFF) << 16 | z << 24
            });
            b.emit(OpKind::Row { f, rows: Rows { d: d.row, s: [*w, *x, *y, *z] } });
        }
        _ => return unsupported(format!("mov.b{} from {} parts", ty.bits, parts.len())),
    }
    b.finish(d);
    Ok(())
}
