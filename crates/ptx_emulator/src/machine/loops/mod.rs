//! Loops that count: those whose addresses and counters move on by the same numbers each time round, as the inner loops of most
//! kernels do.
//!
//! What the [inner loop](super::hot) looks at for each operation is then looked at once, for as many iterations as nothing can
//! change in: where the accesses are and that they are good, how far the counter may go, how long the turn lasts. What is left to do
//! in each iteration is to move rows and to compute. Registers that move on are changed once, at the end. racecheck is told of every
//! access, and the iteration goes on in the inner loop where it wants to see more.

mod ahead;
mod run;

use std::collections::HashMap;

use super::hot::{Hot, Pace};
use super::short::{Form, ShortOp, Sum};
use crate::op::{AddressRow, Element, MemoryOp, Op, OpKind};
use crate::program::Program;
use crate::row::Class;

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
    /// Position of the sum.
    pc: u32,
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
    Some(Step { pc: short.pc, register: (class, rows.d), by })
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
}
