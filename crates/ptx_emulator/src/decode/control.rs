//! Branches, calls, returns, barriers, fences.

use ptx::ast::{Immediate, Instruction, Operand};

use super::builder::{Builder, Decoded, Refusal, describe, invalid, unsupported};
use super::symbols::{self, Symbol};
use super::types::{Kind, Modifiers, Ty};
use crate::op::{
    Address, AddressRow, BarrierKind, BarrierOp, CallOp, Callee, Element, FrameSlot, MemoryOp,
    NONE, OpKind, Order, Pred, Semantics, Space,
};
use crate::program::Signature;
use crate::row::Class;

/// `call`
pub(super) fn call(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    m.take("uni");
    let (returns, callee, arguments) = match i.operands.as_slice() {
        [Operand::List(returns), callee, Operand::List(arguments), ..] => {
            (returns.as_slice(), callee, arguments.as_slice())
        }
        [Operand::List(returns), callee] => (returns.as_slice(), callee, [].as_slice()),
        [callee, Operand::List(arguments), ..] => ([].as_slice(), callee, arguments.as_slice()),
        [callee] | [callee, _] => ([].as_slice(), callee, [].as_slice()),
        _ => return invalid("needs the name of a function"),
    };
    let Operand::Name(name) = callee else {
        return invalid(format!("{} is not a function", describe(callee)));
    };
    let callee = if let Some(register) = b.register(name) {
        if register.class != Class::D || register.bits != 64 {
            return invalid(format!("`{name}` cannot hold the address of a function"));
        }
        Callee::Indirect(register.row)
    } else {
        match b.symbols.lookup(name) {
            Some(Symbol::Function(index)) => {
                b.callees.push(index);
                Callee::Function(index)
            }
            Some(Symbol::Intrinsic(intrinsic)) => Callee::Intrinsic(intrinsic),
            Some(Symbol::Unresolved(index)) => Callee::Unresolved(index),
            Some(Symbol::Variable(_)) => return invalid(format!("`{name}` is not a function")),
            None => match symbols::intrinsic(name) {
                Some(intrinsic) => Callee::Intrinsic(intrinsic),
                None => Callee::Unresolved(b.symbols.add_unresolved(name)),
            },
        }
    };
    let mut slots = Vec::new();
    for operand in arguments {
        slots.push(argument(b, operand)?);
    }
    let mut results = Vec::new();
    let mut stores = Vec::new();
    for operand in returns {
        let (slot, register) = result(b, operand)?;
        results.push(slot);
        stores.extend(register);
    }
    if matches!(callee, Callee::Indirect(_)) {
        b.calls_by_address.push(Signature::of(&slots, &results));
    }
    b.emit(OpKind::Call(Box::new(CallOp {
        callee,
        arguments: slots.into_boxed_slice(),
        returns: results.into_boxed_slice(),
    })));
    for load in stores {
        b.emit(load);
    }
    Ok(())
}

/// An access to a slot of the frame.
pub(super) fn frame_access(slot: FrameSlot, row: u32, element: Element) -> Box<MemoryOp> {
    let address = Address { base: AddressRow::Zero, offset: u64::from(slot.offset) };
    let bytes = element.bytes();
    Box::new(MemoryOp {
        space: Space::Frame,
        address,
        elements: Box::new([(row, element)]),
        bytes,
        strong: false,
        order: Order::WEAK,
    })
}

/// Shape of a whole register in memory.
pub(super) fn register_element(bits: u32) -> Element {
    match bits {
        128 => Element::Pair,
        64 => Element::Wide { bytes: 8, sign: false },
        bits => Element::Narrow { bytes: (bits / 8) as u8, sign: false, register: bits as u8 },
    }
}

/// An argument: a `.param` variable, or a register or number that is put into a slot of its own.
fn argument(b: &mut Builder, operand: &Operand) -> Result<FrameSlot, Refusal> {
    match operand {
        Operand::Name(name) => {
            if let Some(slot) = b.slot(name) {
                return Ok(slot);
            }
            if let Some(register) = b.register(name) {
                if register.class == Class::Predicate {
                    return invalid(format!("predicate `{name}` cannot be an argument"));
                }
                let bytes = register.bits / 8;
                let slot = b.declare_slot(&format!("{name} as argument"), bytes, bytes);
                let element = register_element(register.bits);
                b.emit(OpKind::Store(frame_access(slot, register.row, element)));
                return Ok(slot);
            }
            invalid(format!("argument `{name}` is not declared"))
        }
        Operand::Immediate(Immediate::Integer(value)) => {
            let row = b.constant_bits(Class::D, *value as u64);
            let slot = b.declare_slot("number as argument", 8, 8);
            b.emit(OpKind::Store(frame_access(slot, row, Element::Wide { bytes: 8, sign: false })));
            Ok(slot)
        }
        other => invalid(format!("{} cannot be an argument", describe(other))),
    }
}

/// A return value: a `.param` variable, or a register that is loaded after the call.
fn result(b: &mut Builder, operand: &Operand) -> Result<(FrameSlot, Option<OpKind>), Refusal> {
    let Operand::Name(name) = operand else {
        return invalid(format!("{} cannot take a return value", describe(operand)));
    };
    if let Some(slot) = b.slot(name) {
        return Ok((slot, None));
    }
    match b.register(name) {
        Some(register) if register.class != Class::Predicate => {
            let bytes = register.bits / 8;
            let slot = b.declare_slot(&format!("{name} as result"), bytes, bytes);
            let access = frame_access(slot, register.row, register_element(register.bits));
            Ok((slot, Some(OpKind::Load(access))))
        }
        _ => invalid(format!("`{name}` cannot take a return value")),
    }
}

/// `ret`
pub(super) fn ret(b: &mut Builder, m: &mut Modifiers) -> Decoded {
    m.take("uni");
    for (operand, slot, ty) in b.register_returns.clone() {
        let row = b.source(&operand, ty.class(), ty)?;
        b.emit(OpKind::Store(frame_access(slot, row, register_element(ty.bits))));
    }
    b.emit(OpKind::Return);
    Ok(())
}

/// `bar`, `barrier`
pub(super) fn barrier(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if m.take("warp") {
        return super::warp::sync(b, i, m);
    }
    if m.take("cluster") {
        return cluster_barrier(b, i, m);
    }
    m.take("cta");
    // `bar` is `barrier` with `.aligned` (PTX ISA, `bar`).
    let aligned = m.take("aligned") || i.opcode == "bar";
    let action = m.find(|name| match name {
        "sync" | "arrive" | "red" => Some(name.to_owned()),
        _ => None,
    });
    let number = |b: &mut Builder, operand: &Operand| b.source(operand, Class::R, Ty::B32);
    let (kind, id, count) = match (action.as_deref(), i.operands.as_slice()) {
        (Some("sync"), [id]) => (BarrierKind::Sync, number(b, id)?, NONE),
        (Some("sync"), [id, count]) => (BarrierKind::Sync, number(b, id)?, number(b, count)?),
        (Some("arrive"), [id, count]) => (BarrierKind::Arrive, number(b, id)?, number(b, count)?),
        (Some("red"), [d, id, rest @ ..]) if matches!(rest.len(), 1 | 2) => {
            let (count, p) = match rest {
                [count, p] => (number(b, count)?, p),
                rest => (NONE, &rest[0]),
            };
            let id = number(b, id)?;
            let p = b.predicate(p)?;
            if m.take("popc") {
                m.ty();
                let d = b.destination(d, Class::R, Ty::B32)?;
                let kind = BarrierKind::RedPopc { d: d.row, p };
                b.emit(OpKind::Barrier(Box::new(BarrierOp { kind, id, count, aligned })));
                b.finish(d);
                return Ok(());
            } else {
                let and = m.take("and");
                if !and && !m.take("or") {
                    return invalid("needs .popc, .and or .or");
                }
                m.ty();
                let d = b.predicate_destination(d)?;
                (BarrierKind::Red { and, d, p }, id, count)
            }
        }
        (Some(_), _) => return invalid("takes a barrier number and, at most, a thread count"),
        (None, _) => return unsupported(i.mnemonic()),
    };
    b.emit(OpKind::Barrier(Box::new(BarrierOp { kind, id, count, aligned })));
    Ok(())
}

/// `barrier.cluster`
fn cluster_barrier(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    m.ignore(|name| matches!(name, "aligned" | "acquire" | "release"));
    let relaxed = m.take("relaxed");
    let id = b.constant_bits(Class::R, u64::from(crate::machine::CLUSTER_BARRIER));
    let kind = match (m.take("arrive"), m.take("wait")) {
        (true, false) => BarrierKind::ClusterArrive { relaxed },
        (false, true) if !relaxed => BarrierKind::ClusterWait,
        _ => return unsupported(i.mnemonic()),
    };
    b.emit(OpKind::Barrier(Box::new(BarrierOp { kind, id, count: NONE, aligned: false })));
    Ok(())
}

/// `bar.red` and votes want their predicate as an operand; others nothing.
pub(super) fn no_predicate() -> Pred {
    Pred { row: NONE, negated: false }
}

/// Qualifiers of `fence` and `membar`: proxies, places, orders.
const FENCE_QUALIFIERS: [&str; 18] = [
    "proxy",
    "alias",
    "async",
    "async::generic",
    "tensormap::generic",
    "global",
    "shared::cta",
    "shared::cluster",
    "cta",
    "cluster",
    "gpu",
    "gl",
    "sys",
    "sc",
    "acq_rel",
    "acquire",
    "release",
    "mbarrier_init",
];

/// `fence`, `membar`: accesses are made one at a time and in order here, those through other proxies too.
pub(super) fn fence(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let special =
        ["proxy", "mbarrier_init"].iter().any(|name| i.modifiers.iter().any(|m| m == name));
    m.ignore(|name| FENCE_QUALIFIERS.contains(&name) || name.starts_with("sync_restrict::"));
    // `membar.cta`, `.gl` and `.sys` are `fence.sc` with the scopes `.cta`, `.gpu` and `.sys` (PTX ISA, `membar`).
    let order = super::memory::order(i, Semantics::AcquireRelease);
    b.emit(if special { OpKind::Nothing } else { OpKind::Fence(order) });
    Ok(())
}

/// `pmevent`: an event of the hardware's profiler.
pub(super) fn profiler_event(b: &mut Builder, m: &mut Modifiers) -> Decoded {
    m.take("mask");
    b.emit(OpKind::Nothing);
    Ok(())
}

/// `nanosleep`
pub(super) fn sleep(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    m.ty();
    if i.operands.len() != 1 {
        return invalid("takes 1 operand");
    }
    b.source(&i.operands[0], Class::R, Ty { kind: Kind::Unsigned, bits: 32 })?;
    b.emit(OpKind::Yield);
    Ok(())
}
