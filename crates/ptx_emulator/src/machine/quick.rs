//! The loads and stores that kernels consist of: one 4- or 8-byte element a lane, global or shared memory, evenly spaced
//! addresses that are all good. Whatever is not so simple goes the general way, which also finds out what is wrong.

use super::block::BlockState;
use super::counting::What;
use super::launch::Engine;
use super::transfer::{FARTHEST, Places, gather, highest, lowest, scatter};
use super::warp::{Frame, Warp};
use crate::memory::{Owner, window};
use crate::op::{AddressRow, Element, MemoryOp, Space};
use crate::registers::Affine;
use crate::row::{FULL, LANES};

/// An access that can go the quick way.
#[derive(Clone, Copy)]
struct Quick {
    /// The register, relative to the frame.
    row: u32,
    wide: bool,
    /// Where the lanes' elements are.
    at: Affine,
    /// Its first byte and its last element's first byte.
    low: u64,
    high: u64,
}

/// Looks at an access of the lanes of `mask`.
#[inline(always)]
fn quick(warp: &Warp, frame: &Frame, op: &MemoryOp, mask: u32) -> Option<Quick> {
    let [(row, element)] = *op.elements else {
        return None;
    };
    let wide = match element {
        Element::Narrow { bytes: 4, register: 32, .. } => false,
        Element::Wide { bytes: 8, .. } => true,
        _ => return None,
    };
    let value = match op.address.base {
        AddressRow::Wide(row) => warp.r64.affine(frame.base64 + row, mask)?,
        AddressRow::Narrow(row) => {
            super::affine::widen_unsigned(warp.r32.affine(frame.base32 + row, mask)?)?
        }
        AddressRow::Zero => return None,
    };
    let at = Affine { base: value.base.wrapping_add(op.address.offset), ..value };
    let align = u64::from(op.bytes) - 1;
    if (at.base | at.stride) & align != 0 || row == crate::op::NONE {
        return None;
    }
    let (first, last) = if mask == FULL {
        (at.base, at.base.wrapping_add(at.stride.wrapping_mul(LANES as u64 - 1)))
    } else {
        (at.lane(lowest(mask)), at.lane(highest(mask)))
    };
    // Rising or falling by little, so that nothing wraps around.
    if at.stride as i64 >= 0 {
        (at.stride <= FARTHEST).then_some(Quick { row, wide, at, low: first, high: last })
    } else {
        (at.stride.wrapping_neg() <= FARTHEST).then_some(Quick {
            row,
            wide,
            at,
            low: last,
            high: first,
        })
    }
}

impl Engine<'_> {
    /// Loads, if it is simple. False: nothing was done.
    #[inline(always)]
    pub(super) fn quick_load(
        &mut self,
        block: &BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
    ) -> bool {
        let Some(access) = quick(warp, frame, op, mask) else {
            return false;
        };
        let (data, base) = match op.space {
            Space::Global => {
                let slot = self.caches.get(pc as usize).copied().unwrap_or(crate::op::NONE);
                let Some(found) = self.memory.slot(slot) else {
                    return false;
                };
                (&*found.data, found.base)
            }
            Space::Shared => (&*block.shared, window::SHARED_RESERVED),
            _ => return false,
        };
        if !inside(access, data, base, op.bytes) {
            return false;
        }
        let places = Places::Even(access.at);
        if let Some(counting) = &mut self.counting {
            counting.access(pc, What::Load, op.space, places, mask, op.bytes);
        }
        if access.wide {
            gather(&mut warp.r64, frame.base64 + access.row, data, base, places, mask);
        } else {
            gather(&mut warp.r32, frame.base32 + access.row, data, base, places, mask);
        }
        true
    }

    /// Stores, if it is simple. False: nothing was done.
    #[inline(always)]
    pub(super) fn quick_store(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
    ) -> bool {
        let Some(access) = quick(warp, frame, op, mask) else {
            return false;
        };
        let (data, base) = match op.space {
            Space::Global => {
                let slot = self.caches.get(pc as usize).copied().unwrap_or(crate::op::NONE);
                match self.memory.slot_mut(slot) {
                    Some(found) if !matches!(found.owner, Owner::Constant(_)) => {
                        (&mut *found.data, found.base)
                    }
                    _ => return false,
                }
            }
            Space::Shared => (&mut *block.shared, window::SHARED_RESERVED),
            _ => return false,
        };
        if !inside(access, data, base, op.bytes) {
            return false;
        }
        let places = Places::Even(access.at);
        if let Some(counting) = &mut self.counting {
            counting.access(pc, What::Store, op.space, places, mask, op.bytes);
        }
        if access.wide {
            scatter(warp.r64.read(frame.base64 + access.row), data, base, places, mask);
        } else {
            scatter(warp.r32.read(frame.base32 + access.row), data, base, places, mask);
        }
        true
    }
}

/// Whether all of an access lies in `data`.
#[inline(always)]
fn inside(access: Quick, data: &[u8], base: u64, bytes: u32) -> bool {
    let length = data.len() as u64;
    let limit = length.wrapping_sub(u64::from(bytes));
    length >= u64::from(bytes)
        && access.low.wrapping_sub(base) <= limit
        && access.high.wrapping_sub(base) <= limit
}
