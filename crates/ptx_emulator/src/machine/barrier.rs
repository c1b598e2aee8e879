//! Barriers of a block (PTX ISA, section "Parallel Synchronization and Communication Instructions: `bar`").
//!
//! Arrival is counted as silicon since sm_70 does it: per thread, a warp counts once all its living lanes have come,
//! from whichever instruction; exited threads are not waited for.

use super::block::Block;
use super::launch::Engine;
use super::operands::read_predicate;
use super::warp::{State, Warp};
use crate::fault::{Fault, FaultKind};
use crate::op::{BarrierKind, BarrierOp, NONE, OpKind};

/// Barriers that a block has (PTX ISA, `bar`).
pub(super) const BARRIERS: usize = 16;

/// One of a block's barriers.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    /// Lanes of each warp that wait.
    waiting: Vec<u32>,
    /// Threads that arrived without waiting.
    passed: u32,
    /// Threads that must come; 0: all that live.
    expected: u32,
    /// Predicates handed in to `bar.red`.
    count: u32,
    all: bool,
    any: bool,
    active: bool,
    /// The warp that came last, unless it did not wait (`bar.arrive`).
    last: Option<u32>,
}

impl Barrier {
    fn begin(&mut self, expected: u32, warps: usize) {
        if !self.active {
            *self = Barrier { active: true, all: true, expected, ..Barrier::default() };
            self.waiting.resize(warps, 0);
        }
    }

    /// Threads that wait, by warp.
    pub(super) fn waiting(&self) -> &[u32] {
        &self.waiting
    }

    pub(super) fn expected(&self) -> u32 {
        self.expected
    }

    /// Whether threads arrived that did not wait.
    pub(super) fn passed_by(&self) -> bool {
        self.passed != 0
    }

    fn complete(&self, warps: &[Warp]) -> bool {
        if !self.active {
            return false;
        }
        let mut came = self.passed;
        let mut all_living = true;
        for (warp, waiting) in warps.iter().zip(&self.waiting) {
            let whole = *waiting & warp.alive == warp.alive;
            all_living &= whole;
            if whole && warp.alive != 0 {
                came += 32;
            }
        }
        if self.expected == 0 { all_living } else { came >= self.expected }
    }
}

/// What became of lanes at a barrier.
pub(super) enum Arrival {
    /// They wait.
    Parked,
    /// They go on at once.
    Passed,
}

impl Engine<'_> {
    /// The lanes of `mask`, all of the split, come to a barrier. They agree on its number and count.
    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    pub(super) fn barrier(
        &mut self,
        block: &mut super::block::BlockState,
        warp: &mut Warp,
        split: usize,
        pc: u32,
        op: &BarrierOp,
        number: u32,
        count: u32,
    ) -> Result<Arrival, Box<Fault>> {
        match op.kind {
            BarrierKind::ClusterArrive { relaxed } => {
                self.arrive_at_cluster(block, warp, split, pc, relaxed)?;
                return Ok(Arrival::Passed);
            }
            BarrierKind::ClusterWait => {
                let passed = self.wait_at_cluster(block, warp, split, pc)?;
                return Ok(if passed { Arrival::Passed } else { Arrival::Parked });
            }
            _ => {}
        }
        let mask = warp.splits[split].mask;
        let frame = warp.splits[split].frame;
        // Numbers above 15 work on silicon as if only their low bits counted (recorded).
        let number = number as usize % BARRIERS;
        if !count.is_multiple_of(32) {
            let note = format!("barrier {number} is given a thread count of {count}");
            let fault = self.fault(block, warp, frame, pc, mask, FaultKind::InvalidBarrier);
            return Err(fault.with_note(note).with_help(
                "the thread count of a barrier must be a multiple of the warp size, 32",
            ));
        }
        let warps = self.warps_per_block() as usize;
        let barrier = &mut block.barriers[number];
        barrier.begin(count, warps);
        if barrier.expected != count {
            let note = format!(
                "barrier {number} is waited at for {} and for {} threads",
                describe_count(barrier.expected),
                describe_count(count)
            );
            let fault = self.fault(block, warp, frame, pc, mask, FaultKind::InvalidBarrier);
            return Err(fault.with_note(note).with_help(
                "all threads that use a barrier at the same time must give the same thread count",
            ));
        }
        warp.barrier_changed = true;
        let frame = warp.frames[frame as usize];
        if let BarrierKind::RedPopc { p, .. } | BarrierKind::Red { p, .. } = op.kind {
            let values = read_predicate(warp, &frame, p) & mask;
            barrier.count += values.count_ones();
            barrier.all &= values == mask;
            barrier.any |= values != 0;
        }
        barrier.last = (op.kind != BarrierKind::Arrive).then_some(warp.index);
        if op.kind == BarrierKind::Arrive {
            // A warp's remaining lanes stand for the whole warp.
            let whole = mask == warp.alive;
            barrier.passed += if whole { 32 } else { mask.count_ones() };
            return Ok(Arrival::Passed);
        }
        if let Some(waiting) = barrier.waiting.get_mut(warp.index as usize) {
            *waiting |= mask;
        }
        let split = &mut warp.splits[split];
        split.pc = pc;
        split.state = State::Barrier { number: number as u8 };
        Ok(Arrival::Parked)
    }

    /// Lets threads go on whose barrier is complete. True if there were any.
    pub(super) fn release_barriers(&mut self, block: &mut Block) -> bool {
        self.meet_cluster(block);
        let mut released = false;
        for number in 0..block.state.barriers.len() {
            if !block.state.barriers[number].complete(&block.warps) {
                continue;
            }
            let barrier = std::mem::take(&mut block.state.barriers[number]);
            self.barrier_completes(block, number, &barrier);
            self.count_waits(block, number, &barrier);
            for warp in &mut block.warps {
                self.resume(warp, number, &barrier);
            }
            released = true;
        }
        block.warps.iter_mut().for_each(|warp| warp.barrier_changed = false);
        released
    }

    /// All warps at a barrier but the last to come had to wait for it.
    fn count_waits(&mut self, block: &Block, number: usize, barrier: &Barrier) {
        let Some(counting) = &mut self.counting else {
            return;
        };
        let here = State::Barrier { number: number as u8 };
        for warp in block.warps.iter().filter(|warp| Some(warp.index) != barrier.last) {
            for split in warp.splits.iter().filter(|split| split.state == here) {
                counting.sums.waited(split.pc);
            }
        }
    }

    fn resume(&self, warp: &mut Warp, number: usize, barrier: &Barrier) {
        let mut resumed = false;
        for index in 0..warp.splits.len() {
            let split = warp.splits[index];
            if split.state != (State::Barrier { number: number as u8 }) {
                continue;
            }
            let frame = warp.frames[split.frame as usize];
            if let Some(OpKind::Barrier(op)) =
                self.program.ops.get(split.pc as usize).map(|op| &op.kind)
            {
                match op.kind {
                    BarrierKind::RedPopc { d, .. } => {
                        warp.r32.set_uniform(frame.base32 + d, barrier.count, split.mask);
                    }
                    BarrierKind::Red { and, d, .. } => {
                        let value = if and { barrier.all } else { barrier.any };
                        let row = &mut warp.predicates[(frame.base_predicate + d) as usize];
                        crate::row::write_mask(row, if value { u32::MAX } else { 0 }, split.mask);
                    }
                    BarrierKind::Sync
                    | BarrierKind::Arrive
                    | BarrierKind::ClusterArrive { .. }
                    | BarrierKind::ClusterWait => {}
                }
            }
            let split = &mut warp.splits[index];
            split.pc += 1;
            split.state = State::Ready;
            resumed = true;
        }
        if resumed {
            warp.merge();
        }
    }
}

fn describe_count(count: u32) -> String {
    if count == 0 { "all".to_owned() } else { count.to_string() }
}

/// The row of a barrier's count, if it has one.
pub(super) fn count_row(op: &BarrierOp) -> Option<u32> {
    (op.count != NONE).then_some(op.count)
}
