//! Which part of which memory an access goes to, and racecheck at loads, stores and atomics.

use super::access::{addresses, even_addresses, generic_group};
use super::block::BlockState;
use super::cluster::Remote;
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

impl Part {
    /// The lanes of warp number `warp` access this: what they do, bytes of each, and the order.
    #[inline]
    fn event(
        &self,
        warp: u32,
        pc: u32,
        (action, bytes, order): (Action, u32, Order),
    ) -> Access<'_> {
        let Part { area, lanes, offsets, .. } = self;
        Access { warp, pc, lanes: *lanes, action, area: *area, offsets, bytes, order }
    }

    /// Whether lanes access the same only as a half of the warp, or are all apart.
    fn is_apart(&self) -> bool {
        match self.offsets {
            Offsets::Even(Affine { stride: 0, .. }) => true,
            Offsets::Even(value) => {
                let distance = (value.step as i64).unsigned_abs();
                value.is_line() || distance >= 16 * (value.stride as i64).unsigned_abs()
            }
            Offsets::Each(_) => false,
        }
    }
}

/// The lowest and the highest place of the lanes of `mask`.
#[inline]
fn ends(even: Affine, mask: u32) -> (u64, u64) {
    if even.is_uniform() {
        return (even.base, even.base);
    }
    // Lanes go upwards in most kernels.
    if mask == FULL && even.is_line() && even.stride.cast_signed() > 0 {
        return (even.base, even.lane(31).max(even.base));
    }
    let (mut low, mut high) = (u64::MAX, 0);
    for half in [mask & 0xFFFF, mask & 0xFFFF_0000] {
        if half != 0 {
            let (a, b) = (even.lane(lowest(half)), even.lane(highest(half)));
            (low, high) = (low.min(a).min(b), high.max(a).max(b));
        }
    }
    (low.min(high), high)
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
        (action, part): (Action, Option<&Part>),
    ) {
        if checks.race.is_none()
            || matches!(op.space, Space::Local | Space::Frame | Space::Param | Space::Constant)
        {
            return;
        }
        let kind = (action, op.bytes, op.order);
        let part = part.filter(|part| action == Action::Read || part.is_apart());
        let suspicious = self.suspicious.take() == Some(at.pc);
        if let Some(part) = part
            && !suspicious
            && let (Some(race), Some(own)) = (&mut checks.race, &mut state.race)
            && race.note(own, &part.event(warp.index, at.pc, kind))
        {
            return;
        }
        let frame = warp.frames[at.frame as usize];
        if let Some(part) = part {
            let source = Stored { op, frame, part };
            self.race(checks, state, block, warp, at, part, kind, source);
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

    /// The part of shared or global memory that evenly spaced lanes access. `None` unless all of it is there, and aligned.
    #[inline]
    pub(super) fn even_part(
        &self,
        block: &BlockState,
        warp: &Warp,
        op: &MemoryOp,
        at: Position,
    ) -> Option<Part> {
        let frame = warp.frames.get(at.frame as usize)?;
        let even = even_addresses(warp, frame, &op.address, at.active)?;
        let low_bits = u64::from(op.bytes).checked_sub(1)?;
        // Lanes go one way, and not around.
        if (even.base | even.stride | even.step) & low_bits != 0 || !even.is_near() {
            return None;
        }
        let (low, high) = ends(even, at.active);
        let bytes = (high - low).checked_add(u64::from(op.bytes))?;
        let (area, base) = match op.space {
            Space::Shared | Space::Cluster => {
                let offset = low.checked_sub(block.rank.shared_base)?;
                if offset.checked_add(bytes)? > block.shared.len() as u64 {
                    return None;
                }
                (Area::Shared, block.rank.shared_base)
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
        let offsets = Offsets::Even(even.plus(base.wrapping_neg()));
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
        let mut event = part.event(warp.index, at.pc, (action, bytes, order));
        let mut hits = Vec::new();
        if let Area::Remote { rank } = part.area {
            event.area = Area::Shared;
            self.in_remote(own, rank, |engine, own| {
                let mut values = Comparison { engine, block, warp, source };
                race.access(own, &event, &mut values, &mut hits);
                race.visited(own, &event);
            });
        } else {
            let mut values = Comparison { engine: self, block, warp, source };
            race.access(own, &event, &mut values, &mut hits);
            if part.area == Area::Shared && order.is_strong() && action != Action::Write {
                race.looks(own, &event);
            }
        }
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
                space => (space.seen(), *rest, *target.addresses),
            };
            // Other blocks are not reached by plain `.shared`: that is left to the machine too.
            let mut group = group;
            let remote = (space == Space::Shared).then(|| self.remote(block, &inner, group));
            let remote = remote.flatten();
            if let Some(remote) = &remote {
                group = remote.mask;
                if target.space == Space::Shared {
                    *rest &= !group;
                    continue;
                }
            }
            let places = Places::of(&inner, group);
            let good = group & !places.misaligned(group, bytes);
            let (area, base, length) = match space {
                Space::Shared => match remote {
                    Some(Remote { rank, base, .. }) => {
                        let length = self.member(rank).map_or(0, |member| member.shared.len());
                        (Area::Remote { rank }, base, length as u64)
                    }
                    None => (Area::Shared, block.rank.shared_base, block.shared.len() as u64),
                },
                Space::Local => {
                    let base = window::LOCAL_RESERVED;
                    let top = u64::from(frame.top_local) * 4;
                    (Area::Local, base, top.saturating_sub(base))
                }
                Space::Param | Space::Constant | Space::Frame | Space::Cluster => {
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
