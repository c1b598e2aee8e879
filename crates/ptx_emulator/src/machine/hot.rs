//! The inner loop of the interpreter: the operations that kernels spend their time in, as long as nothing special happens.
//!
//! Everything else (calls, barriers, atomics, diverging branches, faults, the end of a turn) is left to
//! [`run_split`](Engine::run_split), which can execute these operations too.

use super::affine::{compare, row_otherwise, try_evenly};
use super::block::BlockState;
use super::launch::Engine;
use super::report::BadAccess;
use super::short::{Form, ShortOp, Sum};
use super::warp::{Frame, Warp};
use super::watch::{Position, all_defined};
use crate::events::Action;
use crate::op::{Op, OpKind};
use crate::registers::{Affine, Register, Window, Word, copy_register};
use crate::row::{FULL, Outcome, write_mask};

/// How far a split has come.
pub(super) struct Pace {
    pub(super) pc: u32,
    pub(super) executed: u64,
    /// The operation that comes after a jump.
    pub(super) next: u32,
    /// Where the run of operations began that was executed one after the other.
    pub(super) run_start: u32,
    /// Backward jumps it may still take.
    pub(super) jumps: u32,
    /// The run of operations that was executed last, if it is not counted yet.
    pub(super) last_run: Run,
    /// Operations it may execute before its fuel must be looked at.
    pub(super) fuel: u64,
    /// The frame that the split is in.
    pub(super) frame: u32,
    /// Why the access at `pc` failed, if it did.
    pub(super) bad: Option<Box<BadAccess>>,
}

/// Operations that were executed one after the other, again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    start: u32,
    end: u32,
    times: u32,
}

impl Pace {
    /// Iterations after which a loop is looked at: each operation has remembered its pattern then.
    const SETTLED: u32 = 3;

    /// A loop of so many operations was executed another `times` times.
    pub(super) fn went_round(&mut self, times: u64, operations: u64) {
        self.executed += times * operations;
        // No more than there were.
        self.jumps -= times as u32;
        self.last_run.times += times as u32;
    }

    /// Everything up to `pc` was executed, one operation after the other.
    #[inline(always)]
    fn arrive(&mut self, pc: u32) {
        self.executed += u64::from(pc - self.pc);
        self.pc = pc;
    }

    /// Executes a jump of the lanes of `mask`, and iterations of a counting loop if it leads to one. False if the turn or the
    /// fuel ends there; the jump is not executed then.
    // Not inline: the loop around it would keep all of this in registers, and have none left for itself.
    #[inline(never)]
    fn jump(&mut self, hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> bool {
        let (at, target) = (op.jumps_at(), op.target());
        self.arrive(at);
        if target <= at {
            if self.jumps == 0 || self.executed >= self.fuel {
                return false;
            }
            self.jumps -= 1;
        }
        self.executed += 1;
        self.pc = target;
        // Loops execute the same operations again and again.
        let again = (self.run_start, at + 1) == (self.last_run.start, self.last_run.end);
        self.next = target;
        if again {
            self.last_run.times += 1;
            self.run_start = target;
            if self.last_run.times == Pace::SETTLED && target <= at {
                self.next = hot.engine.loops.run(hot, op, mask, self);
            }
        } else if target != at + 1 {
            hot.engine.count_run(self, mask);
            self.last_run = Run { start: self.run_start, end: at + 1, times: 1 };
            self.run_start = target;
        }
        true
    }
}

/// What a handler works on.
pub(super) struct Hot<'e, 'a> {
    pub(super) engine: &'a mut Engine<'e>,
    pub(super) block: &'a mut BlockState,
    pub(super) window: Window<'a>,
    /// The warp's number in its block.
    pub(super) warp: u32,
    /// The long forms of the operations.
    pub(super) ops: &'e [Op],
    predicates: &'a mut [u32],
}

impl<'e, 'a> Hot<'e, 'a> {
    pub(super) fn new(
        engine: &'a mut Engine<'e>,
        block: &'a mut BlockState,
        warp: &'a mut Warp,
        frame: &Frame,
    ) -> Hot<'e, 'a> {
        let number = warp.index;
        let (window, predicates) = warp.window(frame);
        let ops = &engine.program.ops;
        Hot { engine, block, window, warp: number, ops, predicates }
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
        while let Some(m) = self.hot_loop::<WATCH>(block, warp, frame, mask, pace) {
            if !self.access::<WATCH>(block, warp, frame, m, pace) {
                break;
            }
        }
        self.count_run(pace, mask);
    }

    /// Executes the access at which the inner loop stopped, of the lanes of `m`. False if it cannot go on.
    fn access<const WATCH: bool>(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        m: u32,
        pace: &mut Pace,
    ) -> bool {
        let program = self.program;
        let (op, action) = match program.ops.get(pace.pc as usize).map(|op| &op.kind) {
            Some(OpKind::Load(op)) => (op, Action::Read),
            Some(OpKind::Store(op)) => (op, Action::Write),
            _ => return false,
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
            return false;
        }
        pace.executed += 1;
        pace.pc += 1;
        // What was read may be undefined.
        !WATCH || all_defined(block, warp)
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
        hot_loop::<WATCH>(&mut Hot::new(self, block, warp, frame), ops, mask, pace)
    }

    /// Counts the last run of operations.
    #[inline(never)]
    fn count_run(&mut self, pace: &mut Pace, mask: u32) {
        let Run { start, end, times } = std::mem::take(&mut pace.last_run);
        if times > 0
            && let Some(counting) = &mut self.counting
        {
            counting.run(start, end, mask, times);
        }
    }
}

#[inline(always)]
fn hot_loop<const WATCH: bool>(
    hot: &mut Hot<'_, '_>,
    ops: &[ShortOp],
    mask: u32,
    pace: &mut Pace,
) -> Option<u32> {
    let mut next = pace.pc as usize;
    while let Some(op) = ops.get(next) {
        next += 1;
        let mut m = mask;
        if let Some((row, negated)) = op.guard() {
            let value = hot.predicates[row];
            m &= if negated { !value } else { value };
            if m == 0 {
                continue;
            }
        }
        if WATCH && op.form == Form::Access {
            pace.arrive(op.pc);
            return Some(m);
        }
        match (op.handler)(hot, op, m) {
            Outcome::Done => {}
            Outcome::Run => next += op.following(),
            Outcome::Jump if m == mask => {
                if !pace.jump(hot, op, mask) {
                    return None;
                }
                next = pace.next as usize;
            }
            outcome => {
                if !row_slowly(hot, op, m, outcome) {
                    pace.arrive(op.pc);
                    return (outcome == Outcome::Access).then_some(m);
                }
            }
        }
    }
    pace.arrive(ops.len() as u32);
    None
}

/// A sum and those that follow it.
#[inline(always)]
fn sums<T: Word>(
    registers: &mut [Register<T>],
    all: &[ShortOp],
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let first = op.pc as usize;
    for op in all.get(first..=first + op.following()).unwrap_or_default() {
        add(registers, op, mask);
    }
    Outcome::Run
}

#[inline(always)]
fn add<T: Word>(registers: &mut [Register<T>], op: &ShortOp, mask: u32) {
    let (d, [a, b]) = (usize::from(op.d), op.s.map(usize::from));
    // Loop counters and addresses move on by a number.
    if op.form == Form::Sum(Sum::NumberOnto) && registers[d].is_only(mask) {
        registers[d].add(Affine::uniform(op.number()));
    } else if op.form == Form::Sum(Sum::Onto)
        && registers[d].is_only(mask)
        && registers[b].is_known(mask)
    {
        let value = registers[b].known();
        registers[d].add(value);
    } else if registers[a].is_known(mask)
        && registers[b].is_known(mask)
        && registers[d].is_free(mask)
    {
        let value = registers[a].known().sum(registers[b].known());
        registers[d].set_free(value, mask);
    } else {
        add_rows(registers, op, mask);
    }
}

#[inline(never)]
fn add_rows<T: Word>(registers: &mut [Register<T>], op: &ShortOp, mask: u32) {
    let (d, [a, b]) = (usize::from(op.d), op.s.map(usize::from));
    match (registers[a].affine(mask), registers[b].affine(mask)) {
        (Some(a), Some(b)) => registers[d].set_affine(a.sum(b), mask),
        _ => {
            let (a, b) = (*registers[a].read(), *registers[b].read());
            registers[d].write(&std::array::from_fn(|lane| a[lane].plus(b[lane])), mask);
        }
    }
}

pub(super) fn sums32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    sums(hot.window.r32, hot.engine.short, op, mask)
}

pub(super) fn sums64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    sums(hot.window.r64, hot.engine.short, op, mask)
}

pub(super) fn move32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    copy_register(hot.window.r32, usize::from(op.d), usize::from(op.s[0]), mask);
    Outcome::Done
}

pub(super) fn move64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    copy_register(hot.window.r64, usize::from(op.d), usize::from(op.s[0]), mask);
    Outcome::Done
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
fn compare_ints<T: Word, const BITS: u32>(
    registers: &[Register<T>],
    op: &ShortOp,
    mask: u32,
) -> Option<u32> {
    let [a, b] = op.s.map(|row| &registers[usize::from(row)]);
    let known = a.is_known(mask) && b.is_known(mask);
    let (a, b) = (a.known(), b.known());
    let uniform = known && a.is_uniform() && b.is_uniform();
    uniform.then(|| if op.compare.holds_between::<BITS>(a.base, b.base) { FULL } else { 0 })
}

/// Sets the predicate of a comparison.
#[inline(always)]
fn set(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32, value: u32) -> Outcome {
    write_mask(&mut hot.predicates[usize::from(op.d)], value, mask);
    Outcome::Done
}

/// Sets the predicate of a comparison, and takes the jump behind it if the lanes agree about that.
#[inline(always)]
fn set_and_jump(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32, value: u32) -> Outcome {
    set(hot, op, mask, value);
    match op.jumping(value) & mask {
        0 => Outcome::Run,
        jumping if jumping == mask => Outcome::Jump,
        // The jump is next.
        _ => Outcome::Done,
    }
}

pub(super) fn compare32(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_ints::<u32, 32>(hot.window.r32, op, mask) {
        Some(value) => set(hot, op, mask, value),
        None => compare_any(hot, op, mask),
    }
}

pub(super) fn compare64(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_ints::<u64, 64>(hot.window.r64, op, mask) {
        Some(value) => set(hot, op, mask, value),
        None => compare_any(hot, op, mask),
    }
}

pub(super) fn compare32_and_jump(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_ints::<u32, 32>(hot.window.r32, op, mask) {
        Some(value) => set_and_jump(hot, op, mask, value),
        None => compare_any_and_jump(hot, op, mask),
    }
}

pub(super) fn compare64_and_jump(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_ints::<u64, 64>(hot.window.r64, op, mask) {
        Some(value) => set_and_jump(hot, op, mask, value),
        None => compare_any_and_jump(hot, op, mask),
    }
}

/// Any comparison into one predicate.
#[inline(never)]
pub(super) fn compare_any(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_rows(hot, op, mask) {
        Some(value) => set(hot, op, mask, value),
        None => Outcome::Other,
    }
}

/// Any comparison into one predicate, with the jump behind it.
#[inline(never)]
pub(super) fn compare_any_and_jump(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Outcome {
    match compare_rows(hot, op, mask) {
        Some(value) => set_and_jump(hot, op, mask, value),
        None => Outcome::Other,
    }
}

#[inline(always)]
fn compare_rows(hot: &mut Hot<'_, '_>, op: &ShortOp, mask: u32) -> Option<u32> {
    match hot.ops.get(op.pc as usize).map(|op| &op.kind) {
        Some(OpKind::Compare { f, rows, .. }) => Some(compare(&mut hot.window, f, rows, mask)),
        _ => None,
    }
}
