//! The inner loop of the interpreter: the operations that kernels spend their time in, as long as nothing special happens.
//!
//! Everything else (calls, barriers, atomics, diverging branches, faults, the end of a turn) is left to
//! [`run_split`](Engine::run_split), which can execute these operations too. The loop is a function of its own because a
//! compiler keeps its few variables in registers only if there are few.

use super::block::BlockState;
use super::launch::Engine;
use super::report::BadAccess;
use super::warp::{Frame, Warp};
use crate::op::{Guard, NONE, OpKind};
use crate::row::{Class, write_mask};

/// How far a split has come.
pub(super) struct Pace {
    pub(super) pc: u32,
    pub(super) executed: u64,
    /// Where the run of operations began that was executed one after the other.
    pub(super) run_start: u32,
    /// Backward jumps it may still take.
    pub(super) jumps: u32,
    /// Operations it may execute before its fuel must be looked at.
    pub(super) fuel: u64,
    /// Why the access at `pc` failed, if it did.
    pub(super) bad: Option<Box<BadAccess>>,
}

impl Engine<'_> {
    /// Executes operations of the lanes of `mask` until one comes that is not for here.
    #[inline(never)]
    pub(super) fn run_hot(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mask: u32,
        pace: &mut Pace,
    ) {
        let ops = &*self.program.ops;
        let bases = frame.bases();
        let mut pc = pace.pc;
        let mut executed = pace.executed;
        while let Some(op) = ops.get(pc as usize) {
            let mut m = mask;
            if op.guard != Guard::ALWAYS {
                let value = warp.predicates[(frame.base_predicate + (op.guard.0 >> 1)) as usize];
                m &= if op.guard.0 & 1 != 0 { !value } else { value };
                if m == 0 {
                    executed += 1;
                    pc += 1;
                    continue;
                }
            }
            match &op.kind {
                OpKind::Row { f, rows } if f.shape.result != Class::Predicate => {
                    if !warp.row_evenly(frame, f, rows, m) {
                        f.code.rows(&mut warp.r32, &mut warp.r64, bases, rows, m);
                    }
                }
                OpKind::Compare { f, rows, q: NONE, combine: None } => {
                    let value = match warp.compare_evenly(frame, f, rows, m) {
                        Some(value) => value,
                        None => f.code.mask(&mut warp.r32, &mut warp.r64, bases, rows),
                    };
                    let row = &mut warp.predicates[(frame.base_predicate + rows.d) as usize];
                    write_mask(row, value, m);
                }
                OpKind::Load(access) if !access.strong => {
                    if !self.quick_load(block, warp, frame, access, m, pc)
                        && let Err(bad) = self.load(block, warp, frame, access, m, pc)
                    {
                        pace.bad = Some(bad);
                        break;
                    }
                }
                OpKind::Store(access) => {
                    if !self.quick_store(block, warp, frame, access, m, pc)
                        && let Err(bad) = self.store(block, warp, frame, access, m, pc)
                    {
                        pace.bad = Some(bad);
                        break;
                    }
                }
                OpKind::Move32 { d, a } => {
                    super::operands::move_row(&mut warp.r32, bases.r32 + a, bases.r32 + d, m);
                }
                OpKind::Move64 { d, a } => {
                    super::operands::move_row(&mut warp.r64, bases.r64 + a, bases.r64 + d, m);
                }
                OpKind::Branch { target, .. } if m == mask => {
                    let target = *target;
                    if target <= pc {
                        if pace.jumps == 0 || executed >= pace.fuel {
                            break;
                        }
                        pace.jumps -= 1;
                    }
                    executed += 1;
                    if target != pc + 1 {
                        if let Some(counting) = &mut self.counting {
                            counting.run(pace.run_start, pc + 1, mask);
                        }
                        pace.run_start = target;
                    }
                    pc = target;
                    continue;
                }
                _ => break,
            }
            executed += 1;
            pc += 1;
        }
        pace.pc = pc;
        pace.executed = executed;
    }
}
