//! Where the machine tells its checks what happens.
//!
//! Nothing here runs when there are no checks: the interpreter is compiled twice, and the other places ask
//! once a block, barrier, call or warp operation.

use super::barrier::Barrier;
use super::block::{Block, BlockState};
use super::init_watch::Place;
use super::launch::Engine;
use super::warp::{Frame, Warp};
use crate::checks::init::{BlockInit, Unassigned};
use crate::checks::race::BlockRace;
use crate::checks::{BlockChecks, Check, Checks};
use crate::events::Action;
use crate::op::{BarrierKind, FrameSlot, MemoryOp, NONE, OpKind, WarpOp};
use crate::row::{Row32, Row64, lanes};

/// A 32-bit register's values.
pub(super) fn narrow(warp: &Warp, frame: &Frame, row: u32) -> Row32 {
    warp.r32.copy(frame.base32 + row)
}

/// A 64-bit register's values.
pub(super) fn wide(warp: &Warp, frame: &Frame, row: u32) -> Row64 {
    warp.r64.copy(frame.base64 + row)
}

/// Whether initcheck, if it runs, has no undefined register to follow in this warp.
#[inline]
pub(super) fn all_defined(block: &BlockState, warp: &Warp) -> bool {
    let init = block.checks.as_ref().and_then(|checks| checks.init.as_ref());
    let state = init.and_then(|init| init.warps.get(warp.index as usize));
    state.is_none_or(|state| state.registers.all_defined())
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
        if let Some(checks) = &mut self.checks {
            checks.launch_begins();
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
            let in_cluster = self.cluster_blocks() > 1;
            // A launch of 2^32 blocks does not end in anybody's lifetime.
            state.race =
                Some(BlockRace::new(block.state.linear as u32, warps, barriers, in_cluster));
        }
        if checks.set.contains(Check::Initcheck) {
            state.init = BlockInit::new(block.state.shared.len(), warps);
        }
        block.state.checks = Some(Box::new(state));
        for warp in &block.warps {
            self.frame_begins(&mut block.state, warp, 0, warp.alive);
        }
    }

    /// All threads of the block have exited.
    pub(super) fn block_ends(&mut self, block: &mut Block) {
        if let Some(mut checks) = block.state.checks.take() {
            self.block_leaves_cluster(&block.state, &mut checks);
        }
    }

    /// Whether checks want to see operations before they run.
    pub(super) fn watches(&self) -> bool {
        let looks = [Check::Racecheck, Check::Initcheck, Check::Synccheck];
        self.checks
            .as_ref()
            .is_some_and(|checks| looks.iter().any(|check| checks.set.contains(*check)))
    }

    /// Before the operation at `pc`, to which the lanes of `mask` come; those of `active` are about to execute it.
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
        let Some(op) = self.program.ops.get(pc as usize) else {
            return;
        };
        let seen = matches!(
            op.kind,
            OpKind::Load(_)
                | OpKind::Store(_)
                | OpKind::Atomic(_)
                | OpKind::Fence(_)
                | OpKind::Barrier(_)
                | OpKind::Call(_)
                | OpKind::Warp(_)
        ) || self.cluster.is_some() && matches!(op.kind, OpKind::Return | OpKind::Exit);
        // initcheck follows undefined values through all operations, where there are any.
        let defined = all_defined(block, warp);
        if !defined || seen && active != 0 {
            let at = Position { frame, pc, active };
            self.look_on(block, warp, at, (mask, defined));
        }
    }

    fn look_on(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        at: Position,
        (mask, defined): (u32, bool),
    ) {
        // Taken out for the time of the look, so that the machine can be asked meanwhile.
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        if !defined && let Some(init) = &mut state.init {
            self.init_watch(&mut checks, init, block, warp, at, mask);
        }
        if at.active != 0 {
            self.look(&mut checks, &mut state, block, warp, at);
        }
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    /// Before a load or store of a warp whose registers are all defined.
    #[inline]
    pub(super) fn watch_access(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        at: Position,
        access: (&MemoryOp, Action),
    ) {
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        self.look_at_access(&mut checks, &mut state, block, warp, at, access);
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    /// A load or store, before it is executed.
    fn look_at_access(
        &mut self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        (op, action): (&MemoryOp, Action),
    ) {
        let part = self.even_part(block, warp, op, at);
        if let Some(init) = &mut state.init {
            let mut place = Place { checks, init, at };
            match action {
                Action::Write => self.init_store(&mut place, block, warp, op, part.as_ref()),
                _ => self.init_load(&mut place, block, warp, op, part.as_ref()),
            }
        }
        self.race_access(checks, state, block, warp, at, op, (action, part.as_ref()));
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
            OpKind::Load(op) => {
                self.look_at_access(checks, state, block, warp, at, (op, Action::Read));
            }
            OpKind::Store(op) => {
                self.look_at_access(checks, state, block, warp, at, (op, Action::Write));
            }
            OpKind::Atomic(op) => {
                if let Some(init) = &mut state.init {
                    self.init_atomic(&mut Place { checks, init, at }, block, warp, op);
                }
                self.race_atomic(checks, state, block, warp, at, op);
            }
            OpKind::Call(op) => {
                if let Some(init) = &mut state.init {
                    self.init_intrinsic(init, warp, at, op);
                }
            }
            OpKind::Return | OpKind::Exit => {
                if let Some(own) = &mut state.race {
                    own.left = (warp.index, at.active, at.pc);
                }
            }
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
        if checks.set.contains(Check::Synccheck) {
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
        if block.checks.as_ref().is_none_or(|checks| checks.init.is_none()) {
            return;
        }
        let function = warp.frames.get(frame as usize).map_or(0, |frame| frame.function);
        if let Some(unassigned) = self.program.effects().unassigned.get(function as usize) {
            self.renew_frame(block, warp, frame, mask, unassigned);
        }
    }

    /// The lanes of `mask` leave a frame; what was undefined there does not matter any more.
    pub(super) fn frame_ends(&self, block: &mut BlockState, warp: &Warp, frame: u32, mask: u32) {
        if !all_defined(block, warp) {
            self.renew_frame(block, warp, frame, mask, &Unassigned::default());
        }
    }

    fn renew_frame(
        &self,
        block: &mut BlockState,
        warp: &Warp,
        frame: u32,
        mask: u32,
        unassigned: &Unassigned,
    ) {
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
        state.registers.renew(bases, counts, unassigned, mask);
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
