//! The inner loop of the interpreter: the operations that kernels spend their time in, as long as nothing special happens.
//!
//! Everything else (calls, barriers, atomics, diverging branches, faults, the end of a turn) is left to
//! [`run_split`](Engine::run_split), which can execute these operations too.

use super::affine::{compare, row_otherwise, sum, try_evenly};
use super::block::BlockState;
use super::launch::Engine;
use super::report::BadAccess;
use super::short::ShortOp;
use super::warp::{Frame, Warp};
use super::watch::{Position, all_defined};
use crate::events::Action;
use crate::op::{Op, OpKind};
use crate::registers::{Register, Window, Word, copy_register};
use crate::row::{FULL, Outcome, write_mask};

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
    /// The frame that the split is in.
    pub(super) frame: u32,
    /// Why the access at `pc` failed, if it did.
    pub(super) bad: Option<Box<BadAccess>>,
}

impl Pace {
    /// Everything from `begin` up to `pc` was executed, one operation after the other.
    #[inline(always)]
    fn arrive(&mut self, begin: u32, pc: u32) {
        self.executed += u64::from(pc - begin);
        self.pc = pc;
    }
}

/// What a handler works on.
pub(super) struct Hot<'e, 'a> {
    pub(super) engine: &'a mut Engine<'e>,
    pub(super) block: &'a mut BlockState,
    pub(super) window: Window<'a>,
    /// The long forms of the operations.
    ops: &'e [Op],
    predicates: &'a mut [u32],
}

impl<'e, 'a> Hot<'e, 'a> {
    pub(super) fn new(
        engine: &'a mut Engine<'e>,
        block: &'a mut BlockState,
        warp: &'a mut Warp,
        frame: &Frame,
    ) -> Hot<'e, 'a> {
        let (window, predicates) = warp.window(frame);
        let ops = &engine.program.ops;
        Hot { engine, block, window, ops, predicates }
    }
}

/// Executes an operation of the lanes of a mask.
pub(super) type Handler = fn(&mut Hot<'_, '_>, &ShortOp, u32) -> Outcome;

impl Engine<'_> {
    /// Executes operations of the lanes of `mask` until one comes that is not for here. `WATCH`: checks look at loads and
    /// stores before they run, and have no undefined registers to follow.
    pub(super) fn run_hot<const WATCH: bool>(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mask: u32,
        pace: &mut Pace,
    ) {
        let program = self.program;
        while let Some(m) = self.hot_loop::<WATCH>(block, warp, frame, mask, pace) {
            let (op, action) = match program.ops.get(pace.pc as usize).map(|op| &op.kind) {
                Some(OpKind::Load(op)) => (op, Action::Read),
                Some(OpKind::Store(op)) => (op, Action::Write),
                _ => return,
            };
            if WATCH {
                let at = Position { frame: pace.frame, pc: pace.pc, active: m };
                self.watch_access(block, warp, at, (op, action));
            }
            let accessed = match action {
                _ if WATCH && self.quick_access(block, warp, frame, m, pace.pc) => Ok(()),
                Action::Write => self.store(block, warp, frame, op, m, pace.pc),
                _ => self.load(block, warp, frame, op, m, pace.pc),
            };
            if let Err(bad) = accessed {
                pace.bad = Some(bad);
                return;
            }
            pace.executed += 1;
            pace.pc += 1;
            // What was read may be undefined.
            if WATCH && !all_defined(block, warp) {
                return;
            }
        }
    }

    /// The lanes of the access at which it stopped, if it was one. `WATCH`: it stops at all of them.
    #[inline(never)]
    fn hot_loop<const WATCH: bool>(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mask: u32,
        pace: &mut Pace,
    ) -> Option<u32> {
        let ops = self.short;
        let mut hot = Hot::new(self, block, warp, frame);
        let mut rest = ops.get(pace.pc as usize..).unwrap_or_default().iter();
        // Where `rest` began. What was executed since then is not in `pace` yet.
        let mut begin = pace.pc;
        loop {
            let Some(op) = rest.next() else {
                pace.arrive(begin, ops.len() as u32);
                return None;
            };
            let mut m = mask;
            if let Some((row, negated)) = op.guard() {
                let value = hot.predicates[row];
                m &= if negated { !value } else { value };
                if m == 0 {
                    continue;
                }
            }
            if WATCH && op.access {
                pace.arrive(begin, op.pc);
                return Some(m);
            }
            let outcome = (op.handler)(&mut hot, op, m);
            if outcome == Outcome::Done {
                continue;
            }
            if outcome == Outcome::Jump && m == mask {
                pace.arrive(begin, op.pc);
                let target = op.target();
                if target <= op.pc {
                    if pace.jumps == 0 || pace.executed >= pace.fuel {
                        return None;
                    }
                    pace.jumps -= 1;
                }
                pace.executed += 1;
                if target != op.pc + 1 {
                    if let Some(counting) = &mut hot.engine.counting {
                        counting.run(pace.run_start, op.pc + 1, mask);
                    }
                    pace.run_start = target;
                }
                (pace.pc, begin) = (target, target);
                rest = ops.get(target as usize..).unwrap_or_default().iter();
                continue;
            }
            if outcome == Outcome::Run {
                rest = rest.as_slice().get(op.following()..).unwrap_or_default().iter();
                continue;
            }
            if row_slowly(&mut hot, op, m, outcome) {
                continue;
            }
            pace.arrive(begin, op.pc);
            return (outcome == Outcome::Access).then_some(m);
        }
    }
}

/// The sum of two rows.
#[inline(always)]
fn add<T: Word>(registers: &mut [Register<T>], op: &ShortOp, mask: u32) -> Outcome {
    let (d, [a, b]) = (usize::from(op.d), op.s.map(usize::from));
    let known = registers[a].is_known(mask) && registers[b].is_known(mask);
    if !known || !registers[d].is_free(mask) {
        return add_rows(registers, op, mask);
    }
    let value = sum(registers[a].known(), registers[b].known());
    registers[d].set_free(value, mask);
    Outcome::Done
}

#[inline(never)]
fn add_rows<T: Word>(registers: &mut [Register<T>], op: &ShortOp, mask: u32) -> Outcome {
    let (d, [a, b]) = (usize::from(op.d), op.s.map(usize::from));
    match (registers[a].affine(mask), registers[b].affine(mask)) {
        (Some(a), Some(b)) => registers[d].set_affine(sum(a, b), mask),
        _ => {
            let (a, b) = (*registers[a].read(), *registers[b].read());
            registers[d].write(&std::array::from_fn(|lane| a[lane].plus(b[lane])), mask);
        }
    }
    Outcome::Done
}

pub(super) fn add32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    add(hot.window.r32, op, mask)
}

pub(super) fn add64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    add(hot.window.r64, op, mask)
}

pub(super) fn move32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    copy_register(hot.window.r32, usize::from(op.d), usize::from(op.s[0]), mask);
    Outcome::Done
}

pub(super) fn move64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    copy_register(hot.window.r64, usize::from(op.d), usize::from(op.s[0]), mask);
    Outcome::Done
}

/// Sums of 64-bit rows, one after the other.
pub(super) fn add64_run(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    let registers = &mut *hot.window.r64;
    let run = hot.engine.short.get(op.pc as usize..).unwrap_or_default();
    for op in &run[..run.len().min(1 + op.following())] {
        add(registers, op, mask);
    }
    Outcome::Run
}

/// Any function of rows that does not make a predicate, if it is simple.
pub(super) fn row(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match hot.ops.get(op.pc as usize).map(|op| &op.kind) {
        Some(OpKind::Row { f, rows }) => f.code.rows(&mut hot.window, rows, mask),
        _ => Outcome::Other,
    }
}

/// The same of integers, of which more is often known than all lanes.
pub(super) fn integer_row(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match hot.ops.get(op.pc as usize).map(|op| &op.kind) {
        Some(OpKind::Row { f, rows }) if try_evenly(&mut hot.window, f, rows, mask) => {
            Outcome::Done
        }
        Some(OpKind::Row { f, rows }) => f.code.rows(&mut hot.window, rows, mask),
        _ => Outcome::Other,
    }
}

/// Executes a function of rows that was not simple. False: it was another operation.
#[cold]
#[inline(never)]
fn row_slowly(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32, outcome: Outcome) -> bool {
    if !matches!(outcome, Outcome::Known | Outcome::Unready | Outcome::Suspect) {
        return false;
    }
    if let Some(OpKind::Row { f, rows }) = hot.ops.get(op.pc as usize).map(|op| &op.kind) {
        row_otherwise(&mut hot.window, f, rows, mask, outcome);
    }
    true
}

/// The result of a comparison of integers that are the same in all lanes.
#[inline(always)]
fn compare_ints<T: Word>(registers: &[Register<T>], op: &ShortOp, mask: u32) -> Option<u32> {
    let [a, b] = op.s.map(|row| &registers[usize::from(row)]);
    let known = a.is_known(mask) && b.is_known(mask);
    let (a, b) = (a.known(), b.known());
    let uniform = known && a.is_uniform() && b.is_uniform();
    uniform.then(|| if op.compare.holds(a.base, b.base) { FULL } else { 0 })
}

pub(super) fn compare32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    let Some(value) = compare_ints(hot.window.r32, op, mask) else {
        return compare_any(hot, op, mask);
    };
    write_mask(&mut hot.predicates[usize::from(op.d)], value, mask);
    Outcome::Done
}

pub(super) fn compare64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    let Some(value) = compare_ints(hot.window.r64, op, mask) else {
        return compare_any(hot, op, mask);
    };
    write_mask(&mut hot.predicates[usize::from(op.d)], value, mask);
    Outcome::Done
}

/// Any comparison into one predicate.
#[inline(never)]
pub(super) fn compare_any(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    let Some(OpKind::Compare { f, rows, .. }) = hot.ops.get(op.pc as usize).map(|op| &op.kind)
    else {
        return Outcome::Other;
    };
    let value = compare(&mut hot.window, f, rows, mask);
    write_mask(&mut hot.predicates[usize::from(op.d)], value, mask);
    Outcome::Done
}
