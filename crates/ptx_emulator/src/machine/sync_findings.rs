//! synccheck: barriers and warp operations that not all their threads reach, or reach differently.
//!
//! Devices since sm_70 count arrivals a thread at a time and do not wait for threads that exited, so most of what is
//! found here ends well there. PTX promises less: the threads of a warp must execute an `.aligned` barrier together, and
//! CUDA wants all threads of the block at the same one.

use super::barrier::Barrier;
use super::block::{Block, BlockState};
use super::launch::Engine;
use super::warp::{State, Warp};
use super::warp_ops::source_lane;
use super::watch::{Position, narrow};
use crate::checks::{Checks, FindingKind, Party, Severity};
use crate::diagnostic::ranges;
use crate::fault::Threads;
use crate::op::{BarrierOp, OpKind, WarpKind, WarpOp};
use crate::row::lanes;

/// Lanes that wait at a barrier.
struct Waiting {
    warp: usize,
    lanes: u32,
    pc: u32,
    frame: u32,
    /// Where the function was called that the barrier is in.
    call: u32,
}

impl Engine<'_> {
    /// Barriers have numbers 0 to 15 (PTX ISA, `bar`).
    pub(super) fn barrier_number(
        &self,
        checks: &mut Checks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        op: &BarrierOp,
    ) {
        let frame = warp.frames[at.frame as usize];
        let numbers = narrow(warp, &frame, op.id);
        let wrong = lanes(at.active)
            .filter(|lane| {
                numbers[*lane] > 15 && (op.aligned || numbers[*lane] != super::CLUSTER_BARRIER)
            })
            .fold(0u32, |mask, lane| mask | 1 << lane);
        let key = (FindingKind::BarrierNumber, at.pc, 0);
        if wrong == 0 || !checks.is_new(key, Severity::Error) {
            return;
        }
        let number = numbers[(wrong.trailing_zeros() & 31) as usize];
        let title = format!("barrier number {number}; there are barriers 0 to 15");
        let mut finding = self.finding(FindingKind::BarrierNumber, Severity::Error, title);
        finding.parties.push(self.party("barrier".to_owned(), block, warp, at, wrong));
        finding.notes.push(format!("devices use barrier {}", number & 15));
        finding.help = "use a number from 0 to 15".to_owned();
        checks.add(key, finding);
    }

    /// Lanes that execute a warp operation together must name the same members, unless they name groups that have
    /// nothing in common.
    pub(super) fn masks(
        &self,
        checks: &mut Checks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        op: &WarpOp,
    ) {
        let frame = warp.frames[at.frame as usize];
        let masks = narrow(warp, &frame, op.members);
        let first = masks[(at.active.trailing_zeros() & 31) as usize];
        let others = lanes(at.active)
            .filter(|lane| masks[*lane] != first && masks[*lane] & first != 0)
            .fold(0u32, |mask, lane| mask | 1 << lane);
        let key = (FindingKind::MasksDiffer, at.pc, 0);
        if others == 0 || !checks.is_new(key, Severity::Error) {
            return;
        }
        let same = lanes(at.active)
            .filter(|lane| masks[*lane] == first)
            .fold(0u32, |mask, lane| mask | 1 << lane);
        let other = masks[(others.trailing_zeros() & 31) as usize];
        let title = "lanes of one warp instruction name different members".to_owned();
        let mut finding = self.finding(FindingKind::MasksDiffer, Severity::Error, title);
        finding.parties.push(self.party(format!("mask {first:#010x}"), block, warp, at, same));
        let mut party = self.party(format!("mask {other:#010x}"), block, warp, at, others);
        (party.code, party.excerpt) = (None, None);
        party.stack.clear();
        finding.parties.push(party);
        finding.help =
            "compute the mask once, before lanes go different ways, and give it to all of them"
                .to_owned();
        checks.add(key, finding);
    }

    /// A shuffle from a lane that takes no part gives an undefined value (PTX ISA, `shfl.sync`).
    pub(super) fn shuffle_sources(
        &self,
        checks: &mut Checks,
        block: &BlockState,
        warp: &mut Warp,
        group: &[(usize, &WarpOp)],
        present: u32,
    ) {
        for (index, op) in group {
            let WarpKind::Shuffle(mode) = op.kind else {
                continue;
            };
            let split = warp.splits[*index];
            let frame = warp.frames[split.frame as usize];
            let (b, c) = (narrow(warp, &frame, op.b), narrow(warp, &frame, op.c));
            let source = |lane: usize| source_lane(mode, lane, b[lane], c[lane]);
            let (mut takers, mut absent) = (0, 0);
            for lane in lanes(split.mask & present) {
                let (from, inside) = source(lane);
                if inside && present >> from & 1 == 0 {
                    takers |= 1 << lane;
                    absent |= 1 << from;
                }
            }
            let key = (FindingKind::ShuffleFromAbsentLane, split.pc, 0);
            if takers == 0 || !checks.is_new(key, Severity::Warning) {
                continue;
            }
            let title = "shuffle from lanes that take no part in it".to_owned();
            let kind = FindingKind::ShuffleFromAbsentLane;
            let mut finding = self.finding(kind, Severity::Warning, title);
            let at = Position { frame: split.frame, pc: split.pc, active: split.mask };
            finding.parties.push(self.party("shuffle".to_owned(), block, warp, at, takers));
            let launched = self.lanes_of(warp.index);
            let mut reasons = Vec::new();
            for (mask, reason) in [
                (absent & !launched, "do not exist"),
                (absent & launched & !warp.alive, "have exited"),
                (absent & warp.alive, "are elsewhere"),
            ] {
                if mask != 0 {
                    reasons.push(format!("lanes {} {reason}", ranges(mask)));
                }
            }
            finding.notes.push(reasons.join(", "));
            finding.help = "the value taken is undefined: let all lanes that are read from take part, or do not use the value".to_owned();
            checks.add(key, finding);
        }
    }

    /// Looks at who came to a barrier from where, when it is complete.
    pub(super) fn barrier_sites(
        &self,
        checks: &mut Checks,
        block: &Block,
        number: usize,
        barrier: &Barrier,
    ) {
        let mut waiting = Vec::new();
        for (index, warp) in block.warps.iter().enumerate() {
            for split in &warp.splits {
                if split.state == (State::Barrier { number: number as u8 }) {
                    let call = warp.frames[split.frame as usize].call_pc;
                    waiting.push(Waiting {
                        warp: index,
                        lanes: split.mask,
                        pc: split.pc,
                        frame: split.frame,
                        call,
                    });
                }
            }
        }
        let aligned = |pc: u32| match self.program.ops.get(pc as usize).map(|op| &op.kind) {
            Some(OpKind::Barrier(op)) => op.aligned,
            _ => false,
        };
        let whole_block = barrier.expected() == 0 && !barrier.passed_by();
        let mut in_warp = false;
        for (at, first) in waiting.iter().enumerate() {
            let elsewhere = waiting[at + 1..].iter().find(|other| {
                other.warp == first.warp && (other.pc, other.call) != (first.pc, first.call)
            });
            if let Some(other) = elsewhere
                && (aligned(first.pc) || aligned(other.pc))
            {
                self.two_sites(checks, block, [first, other], FindingKind::DivergentWarpBarrier);
                in_warp = true;
            }
        }
        let Some(first) = waiting.first() else {
            return;
        };
        if !whole_block {
            return;
        }
        let other = waiting.iter().find(|other| other.warp != first.warp && other.pc != first.pc);
        if let Some(other) = other.filter(|_| !in_warp) {
            self.two_sites(checks, block, [first, other], FindingKind::DivergentBlockBarrier);
        }
        self.exited(checks, block, first);
    }

    fn two_sites(
        &self,
        checks: &mut Checks,
        block: &Block,
        [first, other]: [&Waiting; 2],
        kind: FindingKind,
    ) {
        let (severity, title, help) = if kind == FindingKind::DivergentWarpBarrier {
            (
                Severity::Error,
                "lanes of one warp came to a barrier from different places",
                "all lanes of a warp must execute the same barrier together: take it out of the condition, or use barrier.sync without .aligned",
            )
        } else {
            (
                Severity::Warning,
                "warps came to the barrier of the block from different places",
                "it counts as one barrier on a GPU; CUDA wants all threads of the block at the same one: take it out of the condition",
            )
        };
        let key = (kind, first.pc.min(other.pc), first.pc.max(other.pc));
        if !checks.is_new(key, severity) {
            return;
        }
        let mut finding = self.finding(kind, severity, title.to_owned());
        for side in [first, other] {
            let warp = &block.warps[side.warp];
            let at = Position { frame: side.frame, pc: side.pc, active: side.lanes };
            let party = self.party("wait".to_owned(), &block.state, warp, at, side.lanes);
            finding.parties.push(party);
        }
        finding.help = help.to_owned();
        checks.add(key, finding);
    }

    /// The barrier is for all threads of the block; some had left.
    fn exited(&self, checks: &mut Checks, block: &Block, first: &Waiting) {
        let gone = |warp: &Warp| self.lanes_of(warp.index) & !warp.alive;
        if block.warps.iter().all(|warp| gone(warp) == 0) {
            return;
        }
        let kind = FindingKind::BarrierAfterExit;
        let key = (kind, first.pc, 0);
        if !checks.is_new(key, Severity::Error) {
            return;
        }
        let count: u32 = block.warps.iter().map(|warp| gone(warp).count_ones()).sum();
        let plural = if count == 1 { "thread" } else { "threads" };
        let title = format!("barrier of the block without {count} {plural} that had exited");
        let mut finding = self.finding(kind, Severity::Error, title);
        let warp = &block.warps[first.warp];
        let at = Position { frame: first.frame, pc: first.pc, active: first.lanes };
        finding.parties.push(self.party("wait".to_owned(), &block.state, warp, at, first.lanes));
        for warp in block.warps.iter().filter(|warp| gone(warp) != 0).take(4) {
            let lanes = gone(warp);
            let threads = Threads { block: block.state.index, warp: warp.index, lanes };
            finding.parties.push(Party::new("exited".to_owned(), threads, None, Vec::new()));
        }
        let more = block.warps.iter().filter(|warp| gone(warp) != 0).count().saturating_sub(4);
        if more > 0 {
            finding.notes.push(format!("so did lanes of {more} more warps"));
        }
        finding.help = "every thread of the block must reach the barrier: use a condition around the work instead of an early return, and no barrier inside a condition that only some threads meet".to_owned();
        checks.add(key, finding);
    }
}
