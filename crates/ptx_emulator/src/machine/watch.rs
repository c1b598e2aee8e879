//! Where the machine tells its checks what happens.
//!
//! Nothing here runs when there are no checks: the interpreter is compiled twice, and the other places ask
//! once a block, barrier, call or warp operation.

use super::CLUSTER_BARRIER;
use super::access::{addresses, even_addresses, generic_group};
use super::barrier::Barrier;
use super::block::{Block, BlockState};
use super::launch::Engine;
use super::transfer::{FARTHEST, Places, highest, lowest};
use super::warp::{Frame, Warp};
use crate::checks::init::BlockInit;
use crate::checks::race::BlockRace;
use crate::checks::{BlockChecks, Check, Checks};
use crate::events::{Access, Action, Area, Offsets};
use crate::memory::{Owner, window};
use crate::op::{
    Address, AtomicOp, BarrierKind, FrameSlot, MemoryOp, NONE, OpKind, Order, Space, WarpOp,
};
use crate::registers::Affine;
use crate::row::{Class, FULL, Row32, Row64, lanes};

/// A 32-bit register's values.
pub(super) fn narrow(warp: &Warp, frame: &Frame, row: u32) -> Row32 {
    warp.r32.copy(frame.base32 + row)
}

/// A 64-bit register's values.
pub(super) fn wide(warp: &Warp, frame: &Frame, row: u32) -> Row64 {
    warp.r64.copy(frame.base64 + row)
}

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

/// A warp's place in the code.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) frame: u32,
    pub(super) pc: u32,
    /// The lanes that are about to execute the operation.
    pub(super) active: u32,
}

impl Engine<'_> {
    /// Before the first block.
    pub(super) fn launch_begins(&mut self) {
        let program = self.program;
        if let Some(checks) = &mut self.checks {
            checks.launch_begins(program);
        }
    }

    /// After the last block, or a fault.
    pub(super) fn launch_ends(&mut self) {
        if let Some(checks) = &mut self.checks {
            checks.launch_ends();
        }
    }

    /// The block's warps have their first frame.
    pub(super) fn block_begins(&mut self, block: &mut Block) {
        let Some(checks) = &self.checks else {
            return;
        };
        let (warps, barriers) = (block.warps.len(), block.state.barriers.len());
        let mut state = BlockChecks::default();
        if checks.set.contains(Check::Racecheck) {
            // A launch of 2^32 blocks does not end in anybody's lifetime.
            state.race = Some(BlockRace::new(block.state.linear as u32, warps, barriers));
        }
        if checks.set.contains(Check::Initcheck) {
            state.init = BlockInit::new(block.state.shared.len(), warps);
        }
        block.state.checks = Some(Box::new(state));
        for warp in &block.warps {
            self.frame_begins(&mut block.state, warp, 0, u32::MAX);
        }
    }

    /// All threads of the block have exited.
    pub(super) fn block_ends(&mut self, block: &mut Block) {
        block.state.checks = None;
    }

    /// Whether checks want to see operations before they run.
    pub(super) fn watches(&self) -> bool {
        let looks = [Check::Racecheck, Check::Initcheck, Check::Synccheck];
        self.checks
            .as_ref()
            .is_some_and(|checks| looks.iter().any(|check| checks.set.contains(*check)))
    }

    /// As [`look_on`](Engine::look_on), for operations that some check wants to see.
    #[inline]
    pub(super) fn watch(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: u32,
        pc: u32,
        mask: u32,
        active: u32,
    ) {
        let kind = self.program.ops.get(pc as usize).map(|op| &op.kind);
        let seen = matches!(
            kind,
            Some(
                OpKind::Load(_)
                    | OpKind::Store(_)
                    | OpKind::Atomic(_)
                    | OpKind::Fence(_)
                    | OpKind::Barrier(_)
                    | OpKind::Warp(_)
            )
        );
        // initcheck follows registers, and so every operation.
        if seen || self.checks.as_ref().is_some_and(|checks| !checks.effects.is_empty()) {
            self.look_on(block, warp, frame, pc, mask, active);
        }
    }

    /// The lanes of `mask` come to the operation at `pc`; those of `active` are about to execute it.
    fn look_on(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: u32,
        pc: u32,
        mask: u32,
        active: u32,
    ) {
        // Taken out for the time of the look, so that the machine can be asked meanwhile.
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        let at = Position { frame, pc, active };
        if state.init.is_some() {
            self.init_watch(&mut checks, &mut state, block, warp, at, mask);
        }
        if active != 0 {
            self.look(&mut checks, &mut state, block, warp, at);
        }
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    fn look(
        &mut self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &mut BlockState,
        warp: &mut Warp,
        at: Position,
    ) {
        let program = self.program;
        let Some(op) = program.ops.get(at.pc as usize) else {
            return;
        };
        match &op.kind {
            OpKind::Load(op) => self.race_access(checks, state, block, warp, at, op, Action::Read),
            OpKind::Store(op) => {
                self.race_access(checks, state, block, warp, at, op, Action::Write);
            }
            OpKind::Atomic(op) => self.race_atomic(checks, state, block, warp, at, op),
            OpKind::Fence(order) => {
                if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
                    race.fence(own, warp.index, at.active, *order);
                }
            }
            OpKind::Barrier(op) => {
                if op.kind == BarrierKind::Arrive
                    && let (Some(race), Some(own)) = (&mut checks.race, &mut state.race)
                {
                    let frame = warp.frames[at.frame as usize];
                    let numbers = narrow(warp, &frame, op.id);
                    // Numbers above 15 count by their low bits, as in `Engine::barrier`.
                    for lane in lanes(at.active) {
                        let number = (numbers[lane] & 15) as usize;
                        race.arrive(own, number, warp.index, 1 << lane);
                    }
                }
                if checks.set.contains(Check::Synccheck) {
                    self.barrier_number(checks, block, warp, at, op);
                }
            }
            OpKind::Warp(op) if op.members != NONE && checks.set.contains(Check::Synccheck) => {
                self.masks(checks, block, warp, at, op);
            }
            _ => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    fn race_access(
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
                && race.may_skip(own, part.area, warp.index, place)
            {
                return;
            }
            let source = super::findings::Stored { op, frame, part: &part };
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
            let source = super::findings::Stored { op, frame, part: &part };
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
        let Affine { base: first, stride } = even;
        if (first | stride) & u64::from(bytes - 1) != 0 {
            return None;
        }
        let ends = [even.lane(lowest(at.active)), even.lane(highest(at.active))];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        // Lanes go one way, and not around.
        if (stride as i64).unsigned_abs() > FARTHEST {
            return None;
        }
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

    fn race_atomic(
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
            let source = super::findings::Stored { op: &nothing, frame, part: &part };
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
        source: super::findings::Stored<'_>,
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
        let mut values = super::findings::Comparison { engine: self, block, warp, source };
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

    /// The threads that wait at a barrier are about to go on.
    pub(super) fn barrier_completes(
        &mut self,
        block: &mut Block,
        number: usize,
        barrier: &Barrier,
    ) {
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.state.checks.take())
        else {
            return;
        };
        if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            let waiting = barrier.waiting();
            let all = !barrier.passed_by()
                && block
                    .warps
                    .iter()
                    .all(|warp| waiting.get(warp.index as usize) == Some(&warp.alive));
            race.barrier(own, number, waiting, all);
        }
        if checks.set.contains(Check::Synccheck) && number != CLUSTER_BARRIER as usize {
            self.barrier_sites(&mut checks, block, number, barrier);
        }
        block.state.checks = Some(state);
        self.checks = Some(checks);
    }

    /// The lanes `present` of the splits in `group` have met and are about to exchange values.
    pub(super) fn warp_op_runs(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        group: &[(usize, &WarpOp)],
        present: u32,
    ) {
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        let synchronises = group.iter().any(|(_, op)| op.members != NONE);
        if synchronises && let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            race.lanes_meet(own, warp.index, present, present == warp.alive);
        }
        if checks.set.contains(Check::Synccheck) {
            self.shuffle_sources(&mut checks, block, warp, group, present);
        }
        if state.init.is_some() {
            self.init_warp_op(&mut checks, &mut state, block, warp, group, present);
        }
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    /// A function's frame was made for the lanes of `mask`: nothing in it is written but its constants.
    pub(super) fn frame_begins(&self, block: &mut BlockState, warp: &Warp, frame: u32, mask: u32) {
        let Some(init) = block.checks.as_mut().and_then(|checks| checks.init.as_mut()) else {
            return;
        };
        let (Some(state), Some(frame)) =
            (init.warps.get_mut(warp.index as usize), warp.frames.get(frame as usize))
        else {
            return;
        };
        let Some(function) = self.program.functions.get(frame.function as usize) else {
            return;
        };
        let bases = [frame.base32, frame.base64, frame.base_predicate];
        let counts = [function.rows32, function.rows64, function.predicates];
        state.registers.forget(bases, counts, mask);
        for (class, row, _) in &function.constants {
            match class {
                Class::R => state.registers.narrow.define(frame.base32 + row, mask),
                Class::D => state.registers.wide.define(frame.base64 + row, mask),
                Class::Predicate => {
                    state.registers.set_predicate(frame.base_predicate + row, mask, 0);
                }
            }
        }
        state.local.forget(frame.base_local, frame.top_local, mask);
    }

    /// An argument or return value went from one frame to another. Places are words of local memory.
    pub(super) fn slot_copied(
        &self,
        block: &mut BlockState,
        warp: &Warp,
        from: (u32, FrameSlot),
        to: (u32, FrameSlot),
        mask: u32,
    ) {
        let Some(init) = block.checks.as_mut().and_then(|checks| checks.init.as_mut()) else {
            return;
        };
        let Some(state) = init.warps.get_mut(warp.index as usize) else {
            return;
        };
        let address = |(base, slot): (u32, FrameSlot)| u64::from(base) * 4 + u64::from(slot.offset);
        let bytes = from.1.bytes.min(to.1.bytes);
        for lane in lanes(mask) {
            for byte in 0..bytes {
                let at = u64::from(byte);
                let written = state.local.get(lane, address(from) + at, 1);
                state.local.put(lane, address(to) + at, 1, written);
            }
        }
    }
}
