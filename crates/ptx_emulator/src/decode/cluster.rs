//! Instructions about clusters and about launches that depend on each other: here one launch ends before the next begins.

use ptx::ast::{Immediate, Instruction, Operand};

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::memory;
use super::types::{Kind, Modifiers, Ty};
use crate::machine::RANK_SHIFT;
use crate::op::{OpKind, Space};
use crate::row;

/// The part of an address of shared memory that is the same in all blocks of the cluster.
const OFFSET: u32 = (1 << RANK_SHIFT) - 1;
/// The part of a generic address of shared memory that says which block's it is.
const RANK: u64 = 0xFF << RANK_SHIFT;

const U32: Ty = Ty { kind: Kind::Unsigned, bits: 32 };

/// `mapa`: the address of the same place in the shared memory of another block of the cluster.
pub(super) fn map_address(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (Space::Shared | Space::Cluster | Space::Generic, Some(ty)) = (memory::space(m), m.ty())
    else {
        return unsupported(i.mnemonic());
    };
    match ty.bits {
        32 => {
            let f = row::rrr(|address, rank| address & OFFSET | rank << RANK_SHIFT);
            b.row_op(&i.operands, f, ty, &[ty, U32])
        }
        64 => {
            let f = row::ddr(|address, rank| address & !RANK | u64::from(rank << RANK_SHIFT));
            b.row_op(&i.operands, f, ty, &[ty, U32])
        }
        _ => unsupported(i.mnemonic()),
    }
}

/// `getctarank`: the rank of the block whose shared memory an address is in.
pub(super) fn rank(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (Space::Shared | Space::Cluster | Space::Generic, Some(ty)) = (memory::space(m), m.ty())
    else {
        return unsupported(i.mnemonic());
    };
    match ty.bits {
        32 => b.row_op(&i.operands, row::rr(|address| address >> RANK_SHIFT), U32, &[ty]),
        64 => b.row_op(&i.operands, row::rd(|address| address as u32 >> RANK_SHIFT), U32, &[ty]),
        _ => unsupported(i.mnemonic()),
    }
}

/// `griddepcontrol`: a launch here begins when the ones before it have ended, so that nothing is left to wait for.
pub(super) fn grid_dependency(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if m.take("launch_dependents") == m.take("wait") {
        return unsupported(i.mnemonic());
    }
    if !i.operands.is_empty() {
        return invalid("takes no operands");
    }
    b.emit(OpKind::Nothing);
    Ok(())
}

/// `setmaxnreg`: moves registers between warps, which have enough of them here.
pub(super) fn register_count(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let direction = m.take("inc") != m.take("dec");
    if !direction || !["sync", "aligned", "u32"].iter().all(|name| m.take(name)) {
        return unsupported(i.mnemonic());
    }
    match i.operands.as_slice() {
        // PTX ISA, `setmaxnreg`: from 24 to 256, in steps of 8.
        [Operand::Immediate(Immediate::Integer(count))]
            if (24..=256).contains(count) && count % 8 == 0 =>
        {
            b.emit(OpKind::Nothing);
            Ok(())
        }
        _ => invalid("takes a constant number of registers: from 24 to 256, a multiple of 8"),
    }
}
