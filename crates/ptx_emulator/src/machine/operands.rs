//! Reading operands that are not plain rows.

use super::warp::{Frame, Warp};
use crate::op::{CarryIn, Logic, Pred};
use crate::row::RowFn;

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

/// Result of a comparison for all lanes.
#[inline]
pub(super) fn compare(warp: &Warp, frame: &Frame, f: &RowFn, s: [u32; 2]) -> u32 {
    let r = |row: u32| &warp.r32[(frame.base32 + row) as usize];
    let d = |row: u32| &warp.r64[(frame.base64 + row) as usize];
    match f {
        RowFn::PR(f) => f(r(s[0])),
        RowFn::PRR(f) => f(r(s[0]), r(s[1])),
        RowFn::PD(f) => f(d(s[0])),
        RowFn::PDD(f) => f(d(s[0]), d(s[1])),
        // The decoder gives comparisons only functions that make predicates.
        _ => 0,
    }
}

pub(super) fn carry_in(reads: CarryIn, flag: u32) -> u32 {
    match reads {
        CarryIn::Clear => 0,
        CarryIn::Set => u32::MAX,
        CarryIn::Flag => flag,
    }
}
