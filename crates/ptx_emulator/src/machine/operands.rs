//! Reading operands that are not plain rows.

use super::warp::{Frame, Warp};
use crate::op::{CarryIn, Logic, Pred};
use crate::registers::{Bank, Word, copy_register};
use crate::row::{LANES, Row64};

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

pub(super) fn carry_in(reads: CarryIn, flag: u32) -> u32 {
    match reads {
        CarryIn::Clear => 0,
        CarryIn::Set => u32::MAX,
        CarryIn::Flag => flag,
    }
}

/// The sums of an operation with carries, and the carries out; bit by bit the carries in.
pub(super) fn carry_rows<T: Word>(
    f: fn(T, T, T, bool) -> (T, bool),
    [a, b, c]: [[T; LANES]; 3],
    carry: u32,
) -> ([T; LANES], u32) {
    let mut out = 0;
    let value = std::array::from_fn(|lane| {
        let (sum, over) = f(a[lane], b[lane], c[lane], carry >> lane & 1 != 0);
        out |= u32::from(over) << lane;
        sum
    });
    (value, out)
}

/// Copies the lanes of `mask`: those of `chosen` from the first row, the others from the second.
pub(super) fn select_row<T: Word>(
    bank: &mut Bank<T>,
    [yes, no]: [u32; 2],
    to: u32,
    chosen: u32,
    mask: u32,
) {
    if chosen & mask == mask {
        return copy_register(bank.window(0), to as usize, yes as usize, mask);
    }
    if chosen & mask == 0 {
        return copy_register(bank.window(0), to as usize, no as usize, mask);
    }
    let (yes, mut value) = (*bank.read(yes), *bank.read(no));
    for lane in 0..LANES {
        if chosen >> lane & 1 != 0 {
            value[lane] = yes[lane];
        }
    }
    bank.write(to, &value, mask);
}

/// A row of either width.
pub(super) fn wide_values(warp: &Warp, frame: &Frame, row: u32, wide: bool) -> Row64 {
    if wide {
        warp.r64.copy(frame.base64 + row)
    } else {
        warp.r32.copy(frame.base32 + row).map(u64::from)
    }
}
