//! The loads and stores that kernels consist of: one 4- or 8-byte element a lane, global or shared memory, evenly spaced
//! addresses that are all good. Whatever is not so simple goes the general way, which also finds out what is wrong.

use super::block::BlockState;
use super::counting::What;
use super::launch::Engine;
use super::places::Places;
use super::transfer::{gather, scatter};
use super::warp::{Frame, Warp};
use crate::memory::{Owner, window};
use crate::op::{AddressRow, Element, MemoryOp, NONE, Space};
use crate::registers::Affine;

/// An access that can go the quick way: the register's row and whether it is wide, and where the lanes' elements are.
type Quick = (u32, bool, Affine);

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
    let at = match op.address.base {
        AddressRow::Wide(row) => warp.r64.affine(frame.base64 + row, mask)?.plus(op.address.offset),
        AddressRow::Narrow(row) => super::affine::widen_unsigned(
            warp.r32.affine(frame.base32 + row, mask)?.plus(op.address.offset),
        )?,
        AddressRow::Zero => return None,
    };
    let align = u64::from(op.bytes) - 1;
    let good = (at.base | at.stride | at.step) & align == 0 && at.is_near() && row != NONE;
    good.then_some((row, wide, at))
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
        let Some((row, wide, at)) = quick(warp, frame, op, mask) else {
            return false;
        };
        let (data, base) = match op.space {
            Space::Global => {
                let slot = self.caches.get(pc as usize).copied().unwrap_or(NONE);
                let Some(found) = self.memory.slot(slot) else {
                    return false;
                };
                (&*found.data, found.base)
            }
            Space::Shared => (&*block.shared, window::SHARED_RESERVED),
            _ => return false,
        };
        if !inside(at, data, base, op.bytes) {
            return false;
        }
        let places = Places::Even(at);
        if let Some(counting) = &mut self.counting {
            counting.access(pc, What::Load, op.space, places, mask, op.bytes);
        }
        if wide {
            gather(&mut warp.r64, frame.base64 + row, data, base, places, mask);
        } else {
            gather(&mut warp.r32, frame.base32 + row, data, base, places, mask);
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
        let Some((row, wide, at)) = quick(warp, frame, op, mask) else {
            return false;
        };
        let (data, base) = match op.space {
            Space::Global => {
                let slot = self.caches.get(pc as usize).copied().unwrap_or(NONE);
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
        if !inside(at, data, base, op.bytes) {
            return false;
        }
        let places = Places::Even(at);
        if let Some(counting) = &mut self.counting {
            counting.access(pc, What::Store, op.space, places, mask, op.bytes);
        }
        if wide {
            scatter(warp.r64.read(frame.base64 + row), data, base, places, mask);
        } else {
            scatter(warp.r32.read(frame.base32 + row), data, base, places, mask);
        }
        true
    }
}

/// Whether all of an access lies in `data`. Lanes that are off must fit too; if they do not, it goes the general way.
#[inline(always)]
fn inside(at: Affine, data: &[u8], base: u64, bytes: u32) -> bool {
    let length = data.len() as u64;
    let limit = length.wrapping_sub(u64::from(bytes));
    let fits = |place: u64| place.wrapping_sub(base) <= limit;
    if length < u64::from(bytes) || !fits(at.base) {
        return false;
    }
    at.is_uniform() || at.corners().iter().all(|corner| fits(*corner))
}
