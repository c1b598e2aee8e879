//! `atom` and `red`.

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::memory;
use super::types::{Kind, Modifiers};
use crate::op::AtomicKind::{Add, And, CompareAndSwap, Dec, Exchange, Inc, Max, Min, Or, Xor};
use crate::op::{AtomicOp, AtomicType, NONE, OpKind, Semantics, Space};
use crate::row::Class;

/// `atom`, `red`
pub(super) fn atomic(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if m.take("async") {
        return unsupported(i.mnemonic());
    }
    m.ignore(|name| memory::is_hint(name) || name == "noftz");
    let space = memory::space(m);
    let kind = m.find(|name| {
        Some(match name {
            "add" => Add,
            "inc" => Inc,
            "dec" => Dec,
            "min" => Min,
            "max" => Max,
            "and" => And,
            "or" => Or,
            "xor" => Xor,
            "exch" => Exchange,
            "cas" => CompareAndSwap,
            _ => return None,
        })
    });
    let count = m.find(|name| match name {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    let (Some(kind), Some(ty)) = (kind, m.ty()) else {
        return invalid("needs an operation and a type");
    };
    let atomic_type = match ty.kind {
        Kind::Bits => AtomicType::Bits,
        Kind::Unsigned => AtomicType::Unsigned,
        Kind::Signed => AtomicType::Signed,
        Kind::F16 => AtomicType::F16,
        Kind::F16x2 => AtomicType::F16x2,
        Kind::Bf16 => AtomicType::Bf16,
        Kind::Bf16x2 => AtomicType::Bf16x2,
        Kind::F32 => AtomicType::F32,
        Kind::F64 => AtomicType::F64,
        _ => return unsupported(i.mnemonic()),
    };
    let known = matches!(
        (kind, atomic_type, ty.bits),
        (Exchange | CompareAndSwap, AtomicType::Bits, 16 | 32 | 64 | 128)
            | (
                Exchange | CompareAndSwap,
                AtomicType::Unsigned | AtomicType::Signed | AtomicType::F32,
                32 | 64
            )
            | (And | Or | Xor, AtomicType::Bits, 32 | 64)
            | (Inc | Dec, AtomicType::Unsigned, 32)
            | (Add | Min | Max, AtomicType::Unsigned | AtomicType::Signed, 32 | 64)
            | (Add, AtomicType::F32 | AtomicType::F64, _)
            | (
                Add | Min | Max,
                AtomicType::F16 | AtomicType::F16x2 | AtomicType::Bf16 | AtomicType::Bf16x2,
                _
            )
    );
    if !known || (count.is_some() && (ty.bits > 32 || matches!(kind, Exchange | CompareAndSwap))) {
        return unsupported(i.mnemonic());
    }
    let returns = i.opcode == "atom";
    let mut operands = i.operands.iter();
    let target = if returns { operands.next() } else { None };
    let (Some(place), Some(value)) = (operands.next(), operands.next()) else {
        return invalid("takes an address and a value");
    };
    let (space, address) = memory::address(b, place, space)?;
    if matches!(space, Space::Constant | Space::Param | Space::Frame | Space::Local) {
        return invalid("atomics work on global and shared memory");
    }
    let pair = ty.bits == 128;
    let mut values = Vec::new();
    for operand in parts(value, count)? {
        values.push(if pair {
            super::moves::pair(b, operand)?
        } else {
            b.source(operand, ty.class(), ty)?
        });
    }
    let c = if kind == CompareAndSwap {
        let Some(operand) = operands.next() else {
            return invalid("takes a new value too");
        };
        if pair { super::moves::pair(b, operand)? } else { b.source(operand, ty.class(), ty)? }
    } else {
        NONE
    };
    let mut rows = Vec::new();
    let mut after = Vec::new();
    if let Some(target) = target {
        for operand in parts(target, count)? {
            if pair {
                rows.push(super::moves::pair(b, operand)?);
            } else {
                let destination = b.destination(operand, ty.class(), ty)?;
                rows.push(destination.row);
                after.push(destination);
            }
        }
    }
    b.emit(OpKind::Atomic(Box::new(AtomicOp {
        kind,
        ty: atomic_type,
        space,
        address,
        bytes: ty.bits / 8,
        d: rows.into_boxed_slice(),
        b: values.into_boxed_slice(),
        c,
        // Relaxed without a qualifier (PTX ISA, `atom`).
        order: memory::order(i, Semantics::Relaxed),
    })));
    for destination in after {
        b.finish(destination);
    }
    debug_assert!(ty.class() != Class::Predicate);
    Ok(())
}

fn parts(
    operand: &Operand,
    count: Option<usize>,
) -> Result<Vec<&Operand>, super::builder::Refusal> {
    match (operand, count) {
        (Operand::Vector(parts), Some(count)) if parts.len() == count => Ok(parts.iter().collect()),
        (operand, None) => Ok(vec![operand]),
        _ => invalid("the operand must be a vector of as many elements as the operation has"),
    }
}
