//! Loops that count: those whose addresses and counters move on by the same numbers each time round, as the inner loops of most
//! kernels do.
//!
//! What the [inner loop](super::hot) looks at for each operation is then looked at once, for as many iterations as nothing can
//! change in: where the accesses are and that they are good, how far the counter may go, how long the turn lasts. What is left to do
//! in each iteration is to move rows and to compute. Registers that move on are changed once, at the end.

use std::collections::HashMap;

use super::affine::{row_otherwise, widen_unsigned};
use super::hot::{Hot, Pace};
use super::pattern::Pattern;
use super::quick::{Found, read, write};
use super::short::{Form, ShortOp, Sum};
use crate::memory::{Memory, Storage, window};
use crate::op::{AddressRow, Element, MemoryOp, Op, OpKind, Space};
use crate::program::Program;
use crate::registers::{Affine, Window, copy_register};
use crate::row::{Class, FULL, Outcome, RowFn, Rows};

/// Operations in one iteration: loops with more gain little.
const LONGEST: usize = 256;

/// A register: its class and row.
type Name = (Class, u32);

/// The counting loops of a program, by the position of the comparison at their end.
#[derive(Debug, Default)]
pub(super) struct Loops(HashMap<u32, Loop>);

/// What an iteration consists of.
#[derive(Debug)]
struct Loop {
    start: u32,
    /// Position of the comparison that ends it. The jump is behind it.
    end: u32,
    items: Vec<Item>,
    steps: Vec<Step>,
    sides: [Side; 2],
}

/// What is executed in each iteration.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// A load or store at an address that moves on by a step, if there is one, which is executed before it or after it.
    Access { pc: u32, step: Option<usize>, stepped: bool },
    /// Any other operation.
    Other { pc: u32 },
}

/// A register that moves on.
#[derive(Clone, Copy, Debug)]
struct Step {
    register: Name,
    by: By,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Number(u64),
    /// What a register holds that stays the same.
    Register(Name),
}

/// One side of the comparison.
#[derive(Clone, Copy, Debug)]
struct Side {
    register: Name,
    step: Option<usize>,
}

impl Loops {
    /// Those of a program.
    pub(super) fn of(program: &Program, short: &[ShortOp]) -> Loops {
        let ends = short.iter().filter(|op| op.form == Form::Compare && op.following() == 1);
        let found = ends.filter_map(|end| Some((end.pc, Loop::of(&program.ops, short, end)?)));
        Loops(found.collect())
    }

    /// Executes iterations of the loop that `end` jumps back in, whose first operation is next. Afterwards `pace` says where the last of
    /// them, which may be unfinished, began; the result is the operation that is next.
    #[cold]
    #[inline(never)]
    pub(super) fn run(
        &self,
        hot: &mut Hot<'_, '_>,
        end: &ShortOp,
        mask: u32,
        pace: &mut Pace,
    ) -> u32 {
        match self.0.get(&end.pc) {
            Some(found) => found.run(hot, end, mask, pace).unwrap_or(pace.pc),
            None => pace.pc,
        }
    }
}

/// The sum onto a register, if the operation is one.
fn step(op: &Op, short: &ShortOp) -> Option<Step> {
    let OpKind::Row { f, rows } = &op.kind else {
        return None;
    };
    let class = f.shape.result;
    let by = match short.form {
        Form::Sum(Sum::NumberOnto) => By::Number(short.number()),
        Form::Sum(Sum::Onto) => By::Register((class, u32::from(short.s[1]))),
        _ => return None,
    };
    Some(Step { register: (class, rows.d), by })
}

/// The registers that an operation reads and those that it writes, if it can be part of a loop; an access's address is not among them.
fn registers(op: &Op, short: &ShortOp) -> Option<(Vec<Name>, Vec<Name>)> {
    match &op.kind {
        OpKind::Row { f, rows } if f.shape.result != Class::Predicate => {
            let (result, sources) = f.signature();
            let reads = sources.into_iter().zip(rows.s).collect();
            Some((reads, vec![(result, rows.d)]))
        }
        OpKind::Move32 { d, a } => Some((vec![(Class::R, *a)], vec![(Class::R, *d)])),
        OpKind::Move64 { d, a } => Some((vec![(Class::D, *a)], vec![(Class::D, *d)])),
        OpKind::Load(op) if short.form == Form::Access => Some((vec![], vec![data(op)?])),
        OpKind::Store(op) if short.form == Form::Access => Some((vec![data(op)?], vec![])),
        _ => None,
    }
}

/// The register that is loaded or stored.
fn data(op: &MemoryOp) -> Option<Name> {
    match *op.elements {
        [(row, Element::Wide { .. })] => Some((Class::D, row)),
        [(row, Element::Narrow { .. })] => Some((Class::R, row)),
        _ => None,
    }
}

/// The register with the address.
fn address(op: &Op) -> Option<Name> {
    match &op.kind {
        OpKind::Load(op) | OpKind::Store(op) => match op.address.base {
            AddressRow::Wide(row) => Some((Class::D, row)),
            AddressRow::Narrow(row) => Some((Class::R, row)),
            AddressRow::Zero => None,
        },
        _ => None,
    }
}

impl Loop {
    fn of(ops: &[Op], short: &[ShortOp], end: &ShortOp) -> Option<Loop> {
        let (start, compare_at) = (end.target() as usize, end.pc as usize);
        let (body, shorts) = (ops.get(start..compare_at)?, short.get(start..compare_at)?);
        // A comparison that says nothing of integers is not looked at here.
        if body.len() > LONGEST
            || end.compare.holds == 0
            || shorts.iter().any(|op| op.guard().is_some())
        {
            return None;
        }
        let mut reads = Vec::new();
        let mut writes: HashMap<Name, u32> = HashMap::new();
        for (op, short) in body.iter().zip(shorts) {
            let (from, to) = registers(op, short)?;
            // Of a sum onto itself it is not a reading that another would see.
            match step(op, short) {
                Some(Step { by: By::Register(register), .. }) => reads.push(register),
                Some(_) => {}
                None => reads.extend(from),
            }
            to.into_iter().for_each(|to| *writes.entry(to).or_default() += 1);
        }
        let is_step = |step: &Step| {
            let alone = writes.get(&step.register) == Some(&1) && !reads.contains(&step.register);
            let steady = match step.by {
                By::Number(_) => true,
                By::Register(register) => !writes.contains_key(&register),
            };
            alone && steady
        };
        let step_at = |(op, short): (&Op, &ShortOp)| step(op, short).filter(is_step);
        let steps: Vec<Step> = body.iter().zip(shorts).filter_map(step_at).collect();
        // The step of a register, for one that stays the same otherwise.
        let moved = |register: Name| match steps.iter().position(|step| step.register == register) {
            None if writes.contains_key(&register) => None,
            step => Some(step),
        };
        let mut items = Vec::new();
        let mut stepped = Vec::new();
        for (op, short) in body.iter().zip(shorts) {
            if let Some(step) = step_at((op, short)) {
                stepped.push(step.register);
            } else if short.form == Form::Access {
                let register = address(op)?;
                let stepped = stepped.contains(&register);
                items.push(Item::Access { pc: short.pc, step: moved(register)?, stepped });
            } else {
                items.push(Item::Other { pc: short.pc });
            }
        }
        let class = if end.compare.wide { Class::D } else { Class::R };
        let side = |row: u16| {
            let register = (class, u32::from(row));
            Some(Side { register, step: moved(register)? })
        };
        let sides = [side(end.s[0])?, side(end.s[1])?];
        Some(Loop { start: start as u32, end: end.pc, items, steps, sides })
    }

    /// Operations of an iteration, with the comparison and the jump.
    fn operations(&self) -> u64 {
        u64::from(self.end - self.start) + 2
    }

    /// As [`Loops::run`]. `None`: nothing was done.
    fn run(&self, hot: &mut Hot<'_, '_>, end: &ShortOp, mask: u32, pace: &mut Pace) -> Option<u32> {
        let mut limit =
            u64::from(pace.jumps).min(pace.fuel.saturating_sub(pace.executed) / self.operations());
        let by: Vec<u64> =
            self.steps.iter().map(|step| step.by(&hot.window, mask)).collect::<Option<_>>()?;
        let moves = |step: Option<usize>| step.map_or(0, |step| by[step]);
        let mut sides = [0; 2];
        for (value, side) in sides.iter_mut().zip(self.sides) {
            let known = known(&hot.window, side.register, mask)?;
            *value = known.is_uniform().then_some(known.base)?;
        }
        let engine = &mut *hot.engine;
        let (memory, shared) = (&*engine.memory, &hot.block.shared);
        let mut doing = Vec::with_capacity(self.items.len());
        for item in &self.items {
            doing.push(match *item {
                Item::Other { pc } => Doing::of(&hot.ops.get(pc as usize)?.kind)?,
                Item::Access { pc, step, stepped } => {
                    let op = hot.ops.get(pc as usize)?;
                    let mut at = known(&hot.window, address(op)?, mask)?;
                    if stepped {
                        at = at.plus(moves(step));
                    }
                    let pattern = engine.patterns.get(pc as usize)?;
                    let access =
                        Access::of(&op.kind, at, moves(step), mask, pattern, (memory, shared))?;
                    limit = limit.min(access.iterations);
                    access.doing
                }
            });
        }
        let mut done = 0;
        let mut next = self.start;
        let window = &mut hot.window;
        while done < limit {
            doing.iter_mut().for_each(|doing| doing.execute(window, mask));
            for (value, side) in sides.iter_mut().zip(self.sides) {
                *value = value.wrapping_add(moves(side.step));
            }
            let holds = if end.compare.holds(sides[0], sides[1]) { FULL } else { 0 };
            if end.jumping(holds) == 0 {
                next = self.end;
                break;
            }
            done += 1;
        }
        // The comparison that says that the loop ends is yet to be executed.
        let begun = done + u64::from(next == self.end);
        for (step, by) in self.steps.iter().zip(by) {
            let all = Affine::uniform(by.wrapping_mul(begun));
            let (class, row) = step.register;
            match class {
                Class::D => hot.window.r64[row as usize].add(all),
                _ => hot.window.r32[row as usize].add(all),
            }
        }
        for item in &self.items {
            if let Item::Access { pc, .. } = item
                && let Some(pattern) = engine.patterns.get_mut(*pc as usize)
            {
                pattern.count(begun);
            }
        }
        pace.went_round(done, self.operations());
        Some(next)
    }
}

/// What is known about the lanes of `mask` of a register.
fn known(window: &Window<'_>, (class, row): Name, mask: u32) -> Option<Affine> {
    match class {
        Class::D => window.r64.get(row as usize)?.affine(mask),
        _ => window.r32.get(row as usize)?.affine(mask),
    }
}

impl Step {
    /// By what it moves on, if that is the same for all lanes and for those of `mask` alone.
    fn by(&self, window: &Window<'_>, mask: u32) -> Option<u64> {
        let (class, row) = self.register;
        let only = match class {
            Class::D => window.r64.get(row as usize)?.is_only(mask),
            _ => window.r32.get(row as usize)?.is_only(mask),
        };
        let by = match self.by {
            By::Number(number) => Affine::uniform(number),
            By::Register(register) => known(window, register, mask)?,
        };
        (only && by.is_uniform()).then_some(by.base)
    }
}

/// An operation with all that it needs.
enum Doing<'a> {
    Load32(Moving<'a>),
    Load64(Moving<'a>),
    Store32(Moving<'a>),
    Store64(Moving<'a>),
    Row(&'a RowFn, &'a Rows),
    Move32(u32, u32),
    Move64(u32, u32),
}

/// An access that moves on.
struct Moving<'a> {
    found: Found<'a>,
    at: Affine,
    by: u64,
    row: usize,
}

/// An access, and how many iterations it is good for.
struct Access<'a> {
    doing: Doing<'a>,
    iterations: u64,
}

impl<'a> Access<'a> {
    /// `None` if it is not like the last one of its operation, or its moves change its pattern.
    fn of(
        kind: &OpKind,
        at: Affine,
        by: u64,
        mask: u32,
        pattern: &Pattern,
        (memory, shared): (&'a Memory, &'a Storage),
    ) -> Option<Access<'a>> {
        let (OpKind::Load(op) | OpKind::Store(op)) = kind else {
            return None;
        };
        let mut at = at.plus(op.address.offset);
        if matches!(op.address.base, AddressRow::Narrow(_)) {
            at = widen_unsigned(at)?;
        }
        let (base, data) = if op.space == Space::Shared {
            (window::SHARED_RESERVED, shared)
        } else {
            let found = memory.slot(pattern.slot)?;
            (found.base, &found.data)
        };
        let bytes = u64::from(op.bytes);
        if !pattern.is(at, mask) || !pattern.stays(by) || (at.base | by) & (bytes - 1) != 0 {
            return None;
        }
        let first = at.base.wrapping_sub(base);
        let lowest = first.wrapping_sub(pattern.low);
        let rest = (data.len() as u64).checked_sub(lowest.checked_add(pattern.span)?)?;
        let iterations = match by.cast_signed() {
            0 => u64::MAX,
            up @ 1.. => rest / up.unsigned_abs() + 1,
            down => lowest / down.unsigned_abs() + 1,
        };
        let found = Found { data, layout: pattern.layout, first: first as usize };
        let (class, row) = self::data(op)?;
        let moving = Moving { found, at, by, row: row as usize };
        let doing = match (kind, class) {
            (OpKind::Load(_), Class::D) => Doing::Load64(moving),
            (OpKind::Load(_), _) => Doing::Load32(moving),
            (_, Class::D) => Doing::Store64(moving),
            _ => Doing::Store32(moving),
        };
        Some(Access { doing, iterations })
    }
}

impl<'a> Doing<'a> {
    fn of(kind: &'a OpKind) -> Option<Doing<'a>> {
        match kind {
            OpKind::Row { f, rows } => Some(Doing::Row(f, rows)),
            OpKind::Move32 { d, a } => Some(Doing::Move32(*d, *a)),
            OpKind::Move64 { d, a } => Some(Doing::Move64(*d, *a)),
            _ => None,
        }
    }

    #[inline(always)]
    fn execute(&mut self, window: &mut Window<'_>, mask: u32) {
        match self {
            Doing::Load32(moving) => {
                read(&mut window.r32[moving.row], moving.found, moving.at, mask);
                moving.move_on();
            }
            Doing::Load64(moving) => {
                read(&mut window.r64[moving.row], moving.found, moving.at, mask);
                moving.move_on();
            }
            Doing::Store32(moving) => {
                write(moving.found, window.r32[moving.row].read(), moving.at, mask);
                moving.move_on();
            }
            Doing::Store64(moving) => {
                write(moving.found, window.r64[moving.row].read(), moving.at, mask);
                moving.move_on();
            }
            Doing::Row(f, rows) => {
                let outcome = f.code.rows(window, rows, mask);
                if outcome != Outcome::Done {
                    row_otherwise(window, f, rows, mask, outcome);
                }
            }
            Doing::Move32(d, a) => copy_register(window.r32, *d as usize, *a as usize, mask),
            Doing::Move64(d, a) => copy_register(window.r64, *d as usize, *a as usize, mask),
        }
    }
}

impl Moving<'_> {
    /// Only distances from the first address count behind this.
    #[inline(always)]
    fn move_on(&mut self) {
        self.found.first = self.found.first.wrapping_add(self.by as usize);
    }
}
