//! Reading operands that are not plain rows.

use super::warp::{Frame, Warp};
use crate::op::{CarryIn, Logic, Pred};
use crate::row::{RowFn, Rows};

/// The value of a predicate operand.
#[inline]
pub(super) fn read_predicate(warp: &Warp, frame: &Frame, p: Pred) -> u32 {
    let value = warp.predicates[(frame.base_predicate + p.row) as usize];
    if p.negated { !value } else { value }
}

/// A comparison combined with the predicate operand, if there is one.
#[inline]
pub(super) fn combined(
    warp: &Warp,
    frame: &Frame,
    result: u32,
    combine: Option<(Logic, Pred)>,
) -> u32 {
    match combine {
        None => result,
        Some((logic, p)) => logic.combine(result, read_predicate(warp, frame, p)),
    }
}

/// Result of a comparison for the lanes of `mask`; the others' bits mean nothing.
#[inline(always)]
pub(super) fn compare(warp: &mut Warp, frame: &Frame, f: &RowFn, rows: &Rows, mask: u32) -> u32 {
    if let Some(value) = warp.evenly(frame, f, &rows.s, mask) {
        return if value.base == 0 { 0 } else { u32::MAX };
    }
    f.code.mask(&mut warp.r32, &mut warp.r64, frame.bases(), rows)
}

pub(super) fn carry_in(reads: CarryIn, flag: u32) -> u32 {
    match reads {
        CarryIn::Clear => 0,
        CarryIn::Set => u32::MAX,
        CarryIn::Flag => flag,
    }
}
