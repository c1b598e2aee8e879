//! `mbarrier` (PTX ISA, section "Parallel Synchronization and Communication Instructions: mbarrier").

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, Destination, invalid, unsupported};
use super::memory;
use super::types::{Kind, Modifiers, Ty};
use crate::async_op::{MbarrierKind, MbarrierOp};
use crate::op::{NONE, OpKind, Space};
use crate::row::{self, Class};
use crate::semantics::mbarrier;

const U32: Ty = Ty { kind: Kind::Unsigned, bits: 32 };

/// `mbarrier`
pub(super) fn decode(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(name) = m.next() else {
        return unsupported(i.mnemonic());
    };
    if name == "pending_count" {
        m.take("b64");
        return b.row_op(&i.operands, row::rd(mbarrier::pending_count), Ty::B32, &[Ty::B64]);
    }
    let completes = !m.take("noComplete");
    let expects = m.take("expect_tx");
    let parity = m.take("parity");
    let drop = name == "arrive_drop";
    // Memory order and scope: accesses happen one at a time here.
    m.ignore(|name| matches!(name, "release" | "relaxed" | "acquire" | "cta" | "cluster"));
    let space = memory::space(m);
    if !m.take("b64") {
        return unsupported(i.mnemonic());
    }
    let kind = match (name, completes, expects, parity) {
        ("init", true, false, false) => MbarrierKind::Init,
        ("inval", true, false, false) => MbarrierKind::Invalidate,
        ("expect_tx", true, false, false) => MbarrierKind::Expect,
        ("complete_tx", true, false, false) => MbarrierKind::Complete,
        ("arrive" | "arrive_drop", _, false, false) => MbarrierKind::Arrive { drop, completes },
        ("arrive" | "arrive_drop", true, true, false) => MbarrierKind::ArriveExpecting { drop },
        ("test_wait" | "try_wait", true, false, _) => MbarrierKind::Wait { p: NONE, parity },
        _ => return unsupported(i.mnemonic()),
    };
    let mut op = MbarrierOp {
        kind,
        space,
        address: crate::op::Address { base: crate::op::AddressRow::Zero, offset: 0 },
        count: NONE,
        state: NONE,
    };
    let mut after: Option<Destination> = None;
    let place = match (kind, i.operands.as_slice()) {
        (MbarrierKind::Invalidate, [place]) => place,
        (MbarrierKind::Init | MbarrierKind::Expect | MbarrierKind::Complete, [place, count]) => {
            op.count = b.source(count, Class::R, U32)?;
            place
        }
        (MbarrierKind::Arrive { completes: true, .. }, [state, place]) => {
            after = state_destination(b, state, &mut op)?;
            place
        }
        (
            MbarrierKind::Arrive { .. } | MbarrierKind::ArriveExpecting { .. },
            [state, place, count],
        ) => {
            after = state_destination(b, state, &mut op)?;
            op.count = b.source(count, Class::R, U32)?;
            place
        }
        // A time after which to give up may follow.
        (MbarrierKind::Wait { parity, .. }, [p, place, phase, rest @ ..])
            if rest.len() <= usize::from(name == "try_wait") =>
        {
            let p = b.predicate_destination(p)?;
            op.kind = MbarrierKind::Wait { p, parity };
            if parity {
                op.count = b.source(phase, Class::R, U32)?;
            } else {
                op.state = b.source(phase, Class::D, Ty::B64)?;
            }
            if let Some(time) = rest.first() {
                b.source(time, Class::R, U32)?;
            }
            place
        }
        _ => return invalid("has a wrong number of operands"),
    };
    (op.space, op.address) = memory::address(b, place, space)?;
    if !matches!(op.space, Space::Shared | Space::Cluster | Space::Generic) {
        return invalid("mbarrier objects are in shared memory");
    }
    b.emit(OpKind::Mbarrier(Box::new(op)));
    if let Some(destination) = after {
        b.finish(destination);
    }
    Ok(())
}

/// The state that an arrival gives; `_` where it is not wanted.
fn state_destination(
    b: &mut Builder,
    operand: &Operand,
    op: &mut MbarrierOp,
) -> Result<Option<Destination>, super::builder::Refusal> {
    if matches!(operand, Operand::Name(name) if name == "_") {
        return Ok(None);
    }
    let destination = b.destination(operand, Class::D, Ty::B64)?;
    op.state = destination.row;
    Ok(Some(destination))
}
