//! `cp.async` (PTX ISA, section "Data Movement and Conversion Instructions: Asynchronous copy").

use ptx::ast::{Immediate, Instruction, Operand};

use super::builder::{Builder, Decoded, Refusal, describe, invalid, unsupported};
use super::memory;
use super::types::{Kind, Modifiers, Ty};
use crate::async_op::{AsyncCopyOp, Kept};
use crate::op::{Address, OpKind, Space};
use crate::row::Class;

fn emit(b: &mut Builder, op: AsyncCopyOp) -> Decoded {
    b.emit(OpKind::AsyncCopy(Box::new(op)));
    Ok(())
}

/// `cp`
pub(super) fn copy(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    // Bulk copies and those by tensor map are different machinery.
    if !m.take("async") || m.take("bulk") {
        return unsupported(i.mnemonic());
    }
    if m.take("commit_group") {
        return match i.operands.as_slice() {
            [] => emit(b, AsyncCopyOp::Commit),
            _ => invalid("takes no operands"),
        };
    }
    if m.take("wait_all") {
        return match i.operands.as_slice() {
            [] => emit(b, AsyncCopyOp::WaitAll),
            _ => invalid("takes no operands"),
        };
    }
    if m.take("wait_group") {
        return match i.operands.as_slice() {
            [Operand::Immediate(Immediate::Integer(pending))] => match u32::try_from(*pending) {
                Ok(pending) => emit(b, AsyncCopyOp::WaitGroup { pending }),
                Err(_) => invalid(format!("takes a number of groups, not {pending}")),
            },
            _ => invalid("takes a number of groups, which must be a constant"),
        };
    }
    if m.take("mbarrier") {
        return arrive(b, i, m);
    }
    from_global(b, i, m)
}

/// `cp.async.mbarrier.arrive`
fn arrive(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let increment = !m.take("noinc");
    let space = memory::space(m);
    let (true, true, [place]) = (m.take("arrive"), m.take("b64"), i.operands.as_slice()) else {
        return unsupported(i.mnemonic());
    };
    let (space, address) = memory::address(b, place, space)?;
    if !matches!(space, Space::Shared | Space::Generic) {
        return invalid("mbarrier objects are in shared memory");
    }
    emit(b, AsyncCopyOp::Arrive { space, address, increment })
}

/// `cp.async.ca`, `cp.async.cg`
fn from_global(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (all_levels, l2_only) = (m.take("ca"), m.take("cg"));
    let policy = m.take("L2::cache_hint");
    let spaces = (memory::space(m), memory::space(m));
    m.ignore(|name| matches!(name, "L2::64B" | "L2::128B" | "L2::256B"));
    if all_levels == l2_only || spaces != (Space::Shared, Space::Global) {
        return unsupported(i.mnemonic());
    }
    let mut operands = i.operands.as_slice();
    if policy {
        let Some((last, rest)) = operands.split_last() else {
            return invalid("takes a cache policy");
        };
        b.source(last, Class::D, Ty::B64)?;
        operands = rest;
    }
    let (target, source, bytes, kept) = match operands {
        [target, source, bytes] => (target, source, bytes, None),
        [target, source, bytes, kept] => (target, source, bytes, Some(kept)),
        _ => return invalid("takes two addresses, a size, and perhaps how much of it to read"),
    };
    let bytes = match bytes {
        Operand::Immediate(Immediate::Integer(bytes)) => *bytes,
        other => {
            return invalid(format!("the size must be a constant, {} is not", describe(other)));
        }
    };
    // .cg, which leaves L1 out, copies 16 bytes only.
    let bytes = match (bytes, l2_only) {
        (16, _) => 16,
        (4, false) => 4,
        (8, false) => 8,
        _ => return invalid(format!("cannot copy {bytes} bytes; .ca copies 4, 8 or 16, .cg 16")),
    };
    let target = place(b, target, Space::Shared)?;
    let source = place(b, source, Space::Global)?;
    let kept = match kept {
        None => Kept::All,
        Some(operand) if is_predicate(b, operand) => Kept::Unless(b.predicate(operand)?),
        Some(operand) => {
            let ty = Ty { kind: Kind::Unsigned, bits: 32 };
            Kept::Bytes(b.source(operand, Class::R, ty)?)
        }
    };
    emit(b, AsyncCopyOp::Copy { target, source, bytes, kept })
}

fn place(b: &mut Builder, operand: &Operand, space: Space) -> Result<Address, Refusal> {
    let (found, address) = memory::address(b, operand, space)?;
    if found == space {
        Ok(address)
    } else {
        invalid(format!("{} is not in the state space of the copy", describe(operand)))
    }
}

fn is_predicate(b: &mut Builder, operand: &Operand) -> bool {
    match operand {
        Operand::Not(_) => true,
        Operand::Name(name) => {
            b.register(name).is_some_and(|register| register.class == Class::Predicate)
        }
        _ => false,
    }
}
