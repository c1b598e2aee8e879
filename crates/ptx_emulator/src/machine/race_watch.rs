//! Which part of which memory an access goes to, and racecheck at loads, stores and atomics.

use super::access::{addresses, even_addresses, generic_group};
use super::block::BlockState;
use super::findings::{Comparison, Stored};
use super::launch::Engine;
use super::places::{Places, highest, lowest};
use super::warp::{Frame, Warp};
use super::watch::Position;
use crate::checks::{BlockChecks, Checks};
use crate::events::{Access, Action, Area, Offsets};
use crate::memory::{Owner, window};
use crate::op::{Address, AtomicOp, MemoryOp, NONE, Order, Space};
use crate::registers::Affine;
use crate::row::{FULL, Row64};

/// Lanes of an access that lie in one area.
pub(super) struct Part {
    pub(super) area: Area,
    pub(super) lanes: u32,
    pub(super) offsets: Offsets,
    /// Address of the area's first byte, in its space.
    pub(super) base: u64,
}

/// Where an access goes.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) space: Space,
    pub(super) addresses: &'a Row64,
    pub(super) bytes: u32,
    pub(super) pc: u32,
}

impl Engine<'_> {
    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    pub(super) fn race_access(
        &mut self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        op: &MemoryOp,
        action: Action,
    ) {
        if checks.race.is_none()
            || matches!(op.space, Space::Local | Space::Frame | Space::Param | Space::Constant)
        {
            return;
        }
        let frame = warp.frames[at.frame as usize];
        let kind = (action, op.bytes, op.order);
        if let Some(even) = even_addresses(warp, &frame, &op.address, at.active)
            && let Some(part) = self.even_part(block, op.space, even, op.bytes, at)
        {
            let read = match even.stride {
                _ if action != Action::Read || op.order != Order::WEAK || op.bytes < 4 => None,
                0 => Some((even.base.wrapping_sub(part.base), u64::from(op.bytes), at.active)),
                stride if stride == u64::from(op.bytes) && at.active == FULL => {
                    Some((even.base.wrapping_sub(part.base), stride * 32, 0))
                }
                _ => None,
            };
            if let Some(place) = read
                && let (Some(race), Some(own)) = (&mut checks.race, &mut state.race)
                && !own.copies_pending()
                && race.may_skip(own, part.area, warp.index, place)
            {
                return;
            }
            let source = Stored { op, frame, part: &part };
            self.race(checks, state, block, warp, at, &part, kind, source);
            if let Some(place) = read
                && let (Some(race), Some(own)) = (&mut checks.race, &mut state.race)
            {
                race.was_read(own, part.area, warp.index, place);
            }
            return;
        }
        let found = addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: op.bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let source = Stored { op, frame, part: &part };
            self.race(checks, state, block, warp, at, &part, kind, source);
        }
    }

    /// The part of shared or global memory that evenly spaced lanes access: lane 0's address and the distance from lane to
    /// lane. `None` unless all of it is there, and aligned.
    #[inline]
    pub(super) fn even_part(
        &self,
        block: &BlockState,
        space: Space,
        even: Affine,
        bytes: u32,
        at: Position,
    ) -> Option<Part> {
        let Affine { base: first, stride, .. } = even;
        // Lanes go one way, and not around.
        if bytes == 0
            || (first | stride) & u64::from(bytes - 1) != 0
            || !even.is_line()
            || !even.is_near()
        {
            return None;
        }
        let ends = [even.lane(lowest(at.active)), even.lane(highest(at.active))];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let bytes = high - low + u64::from(bytes);
        let (area, base) = match space {
            Space::Shared => {
                let offset = low.checked_sub(window::SHARED_RESERVED)?;
                if offset.checked_add(bytes)? > block.shared.len() as u64 {
                    return None;
                }
                (Area::Shared, window::SHARED_RESERVED)
            }
            Space::Global => {
                let slot = self.caches.get(at.pc as usize).copied()?;
                let found = self.memory.slot(slot)?;
                if !found.contains(low, bytes) || matches!(found.owner, Owner::Constant(_)) {
                    return None;
                }
                (Area::Global { slot, base: found.base }, found.base)
            }
            _ => return None,
        };
        let offsets = Offsets::Even { first: first.wrapping_sub(base), stride };
        Some(Part { area, lanes: at.active, offsets, base })
    }

    pub(super) fn race_atomic(
        &mut self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        op: &AtomicOp,
    ) {
        if checks.race.is_none() {
            return;
        }
        let frame = warp.frames[at.frame as usize];
        let whole = op.bytes * op.b.len() as u32;
        let found = addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: whole, pc: at.pc };
        let mut rest = at.active;
        // What an atomic writes is not compared with what is there.
        let nothing = MemoryOp {
            space: op.space,
            address: Address { ..op.address },
            elements: Box::new([]),
            bytes: whole,
            strong: true,
            order: op.order,
        };
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let source = Stored { op: &nothing, frame, part: &part };
            let kind = (Action::Atomic, whole, op.order);
            self.race(checks, state, block, warp, at, &part, kind, source);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    pub(super) fn race(
        &mut self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        part: &Part,
        (action, bytes, order): (Action, u32, Order),
        source: Stored<'_>,
    ) {
        let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) else {
            return;
        };
        if part.area == Area::Local {
            return;
        }
        let event = Access {
            warp: warp.index,
            pc: at.pc,
            lanes: part.lanes,
            action,
            area: part.area,
            offsets: &part.offsets,
            bytes,
            order,
        };
        let mut hits = Vec::new();
        let mut values = Comparison { engine: self, block, warp, source };
        race.access(own, &event, &mut values, &mut hits);
        for hit in hits {
            self.race_finding(checks, block, warp, at, part, (action, bytes), source, hit);
        }
    }

    /// The next lanes of an access that lie in one area, and may access it. The others are left to the machine.
    pub(super) fn next_part(
        &self,
        block: &BlockState,
        frame: &Frame,
        target: Target<'_>,
        rest: &mut u32,
    ) -> Option<Part> {
        let Target { bytes, pc, .. } = target;
        while *rest != 0 {
            let (space, group, inner) = match target.space {
                Space::Generic => generic_group(target.addresses, *rest),
                Space::Frame => {
                    let base = u64::from(frame.base_local) * 4;
                    (Space::Local, *rest, target.addresses.map(|at| at.wrapping_add(base)))
                }
                space => (space, *rest, *target.addresses),
            };
            let places = Places::of(&inner, group);
            let good = group & !places.misaligned(group, bytes);
            let (area, base, length) = match space {
                Space::Shared => (Area::Shared, window::SHARED_RESERVED, block.shared.len() as u64),
                Space::Local => {
                    let base = window::LOCAL_RESERVED;
                    let top = u64::from(frame.top_local) * 4;
                    (Area::Local, base, top.saturating_sub(base))
                }
                Space::Param | Space::Constant | Space::Frame => {
                    *rest &= !group;
                    continue;
                }
                Space::Global | Space::Generic => {
                    let first = inner[(group.trailing_zeros() & 31) as usize];
                    let cached = self.caches.get(pc as usize).copied().unwrap_or(NONE);
                    let slot = match self.memory.slot(cached) {
                        Some(found) if found.contains(first, u64::from(bytes)) => Some(cached),
                        _ => self.memory.find(first, u64::from(bytes)),
                    };
                    let found = slot.and_then(|slot| Some((slot, self.memory.slot(slot)?)));
                    let Some((slot, found)) = found else {
                        *rest &= *rest - 1;
                        continue;
                    };
                    if matches!(found.owner, Owner::Constant(_)) {
                        *rest &= *rest - 1;
                        continue;
                    }
                    (Area::Global { slot, base: found.base }, found.base, found.data.len() as u64)
                }
            };
            let lanes = if good == 0 { 0 } else { places.fitting(good, bytes, base, length) };
            match area {
                // Other lanes may be in another allocation.
                Area::Global { .. } => *rest &= !(lanes | (group & group.wrapping_neg())),
                _ => *rest &= !group,
            }
            if lanes != 0 {
                let offsets = Offsets::Each(inner.map(|address| address.wrapping_sub(base)));
                return Some(Part { area, lanes, offsets, base });
            }
        }
        None
    }
}
