//! The short forms of the operations that kernels spend their time in, for the [inner loop](super::hot) of the interpreter.
//!
//! Each operation has one beside its long form, made when the program is loaded. It has all that the common case needs within half
//! a cache line, and the function that executes it: a loop that calls small functions leaves the compiler enough registers
//! for each of them, which one with a hundred arms does not.

use std::collections::HashMap;

use super::hot::{self, Handler};
use crate::op::{AddressRow, Element, Guard, MemoryOp, NONE, Op, OpKind, Space};
use crate::program::{Program, Value};
use crate::row::{Class, IntCompare, Outcome, Rows, Rule};

/// An operation of the inner loop. Rows count from the first of the frame.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct ShortOp {
    /// What executes it; operations that are too large or too rare have one that does nothing but stop the loop.
    pub(super) handler: Handler,
    /// What is added to an address or a register, or where a jump goes.
    extra: u32,
    /// Its position.
    pub(super) pc: u32,
    guard: u16,
    /// The destination; of a store the source.
    pub(super) d: u16,
    /// The sources; of an access the address first.
    pub(super) s: [u16; 2],
    /// How many operations behind it are executed with it.
    following: u16,
    pub(super) form: Form,
    /// Of a comparison of integers.
    pub(super) compare: IntCompare,
    /// Of a comparison with the jump behind it: whether that is taken where the comparison does not hold.
    negated: bool,
}

/// What kind of operation it is, as far as others must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A load or store.
    Access,
    Sum(Sum),
    Compare,
    Branch,
    Other,
}

/// What a sum adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// Two registers.
    Registers,
    /// The register itself and another one.
    Onto,
    /// The register itself and a number.
    NumberOnto,
}

/// The numbers in constant rows, for those that a short form has room for.
type Numbers = HashMap<(Class, u32), i32>;

fn numbers(constants: &[(Class, u32, Value)]) -> Numbers {
    let number = |(class, row, value): &(Class, u32, Value)| match (class, value) {
        (Class::R, Value::Bits(bits)) => Some(((*class, *row), *bits as i32)),
        (Class::D, Value::Bits(bits)) => {
            i32::try_from(bits.cast_signed()).ok().map(|number| ((*class, *row), number))
        }
        _ => None,
    };
    constants.iter().filter_map(number).collect()
}

impl std::fmt::Debug for ShortOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShortOp").field("d", &self.d).field("s", &self.s).finish_non_exhaustive()
    }
}

impl ShortOp {
    /// In the place of a guard: there is none.
    const ALWAYS: u16 = u16::MAX;

    fn new(handler: Handler, form: Form) -> ShortOp {
        ShortOp {
            handler,
            extra: 0,
            pc: 0,
            guard: ShortOp::ALWAYS,
            d: 0,
            s: [0; 2],
            following: 0,
            form,
            compare: IntCompare { holds: 0, signed: false, wide: false },
            negated: false,
        }
    }

    /// The short forms of a program's operations.
    pub(super) fn all(program: &Program) -> Vec<ShortOp> {
        let mut functions: Vec<(u32, Numbers)> =
            program.functions.iter().map(|f| (f.start, numbers(&f.constants))).collect();
        functions.sort_by_key(|(start, _)| *start);
        let none = Numbers::new();
        let short = |(pc, op): (u32, &Op)| {
            let begun = functions.partition_point(|(start, _)| *start <= pc);
            let numbers = begun.checked_sub(1).map_or(&none, |index| &functions[index].1);
            ShortOp { pc, ..ShortOp::of(op, numbers) }
        };
        let mut all: Vec<ShortOp> = (0..).zip(&program.ops).map(short).collect();
        for first in (1..all.len()).rev() {
            let behind = all[first];
            all[first - 1].join(&behind);
        }
        all
    }

    /// Lets it execute the operation behind it too, where such two often come together.
    fn join(&mut self, behind: &ShortOp) {
        if self.guard != ShortOp::ALWAYS {
            return;
        }
        match (self.form, behind.form, behind.guard()) {
            // Addresses and counters are added up one after the other.
            (Form::Sum(_), Form::Sum(_), None) if self.compare.wide == behind.compare.wide => {
                self.following = behind.following.saturating_add(1);
            }
            // The end of a loop.
            (Form::Compare, Form::Branch, Some((row, negated))) if row == usize::from(self.d) => {
                self.handler = match self.compare {
                    IntCompare { holds: 0, .. } => hot::compare_any_and_jump,
                    IntCompare { wide: true, .. } => hot::compare64_and_jump,
                    IntCompare { wide: false, .. } => hot::compare32_and_jump,
                };
                (self.following, self.extra, self.negated) = (1, behind.extra, negated);
            }
            _ => {}
        }
    }

    fn of(op: &Op, numbers: &Numbers) -> ShortOp {
        let guarded = |short: ShortOp| {
            let guard = match op.guard {
                Guard::ALWAYS => ShortOp::ALWAYS,
                guard => u16::try_from(guard.0).ok().filter(|g| *g != ShortOp::ALWAYS)?,
            };
            Some(ShortOp { guard, ..short })
        };
        let short = ShortOp::unguarded(&op.kind, numbers).and_then(guarded);
        short.unwrap_or(ShortOp::new(|_, _, _| Outcome::Other, Form::Other))
    }

    fn unguarded(kind: &OpKind, numbers: &Numbers) -> Option<ShortOp> {
        let rows = |handler: Handler, form: Form, d: u32, s: [u32; 2]| {
            let short = |row: u32| u16::try_from(row).ok();
            let s = [short(s[0])?, short(s[1])?];
            Some(ShortOp { d: short(d)?, s, ..ShortOp::new(handler, form) })
        };
        match kind {
            OpKind::Row { f, .. } if f.shape.result == Class::Predicate => None,
            OpKind::Row { f, rows } => match f.rule {
                Rule::Add => ShortOp::sum(f.shape.result, rows, numbers),
                Rule::None => Some(ShortOp::new(hot::row, Form::Other)),
                _ => Some(ShortOp::new(hot::integer_row, Form::Other)),
            },
            OpKind::Compare { f, rows: r, q: NONE, combine: None } => match f.rule {
                Rule::Compare(compare) => {
                    let handler = if compare.wide { hot::compare64 } else { hot::compare32 };
                    let short = rows(handler, Form::Compare, r.d, [r.s[0], r.s[1]])?;
                    Some(ShortOp { compare, ..short })
                }
                _ => rows(hot::compare_any, Form::Compare, r.d, [0; 2]),
            },
            OpKind::Move32 { d, a } => rows(hot::move32, Form::Other, *d, [*a, 0]),
            OpKind::Move64 { d, a } => rows(hot::move64, Form::Other, *d, [*a, 0]),
            OpKind::Branch { target, .. } => {
                let short = ShortOp::new(|_, _, _| Outcome::Jump, Form::Branch);
                Some(ShortOp { extra: *target, ..short })
            }
            OpKind::Load(op) if !op.strong => ShortOp::access(op, false),
            // Strong ones must stay in order with what other jobs do, which the general way sees to.
            OpKind::Store(op) if !op.order.is_strong() => ShortOp::access(op, true),
            _ => None,
        }
    }

    fn sum(class: Class, rows: &Rows, numbers: &Numbers) -> Option<ShortOp> {
        let number = |source: usize| numbers.get(&(class, rows.s[source])).copied();
        // What is added to the first source, which is the destination itself if one of them is.
        let first = match (number(0), number(1)) {
            (Some(_), None) => 1,
            (None, None) if rows.s[1] == rows.d => 1,
            _ => 0,
        };
        let [d, a, b] = [rows.d, rows.s[first], rows.s[1 - first]];
        let sum = match (number(1 - first), a == d) {
            (Some(_), true) => Sum::NumberOnto,
            (None, true) => Sum::Onto,
            (_, false) => Sum::Registers,
        };
        let wide = class == Class::D;
        let handler = if wide { hot::sums64 } else { hot::sums32 };
        let short = |row: u32| u16::try_from(row).ok();
        Some(ShortOp {
            d: short(d)?,
            s: [short(a)?, short(b)?],
            extra: number(1 - first).unwrap_or(0).cast_unsigned(),
            compare: IntCompare { holds: 0, signed: false, wide },
            ..ShortOp::new(handler, Form::Sum(sum))
        })
    }

    /// An access of one element a lane.
    fn access(op: &MemoryOp, store: bool) -> Option<ShortOp> {
        let shared = match op.space {
            Space::Global => false,
            Space::Shared => true,
            _ => return None,
        };
        let [(row, element)] = *op.elements else {
            return None;
        };
        let wide = match element {
            Element::Narrow { bytes: 4, register: 32, .. } => false,
            Element::Wide { bytes: 8, .. } => true,
            _ => return None,
        };
        let (address, wide_address) = match op.address.base {
            AddressRow::Wide(row) => (row, true),
            AddressRow::Narrow(row) => (row, false),
            AddressRow::Zero => return None,
        };
        let offset = i32::try_from(op.address.offset.cast_signed()).ok()?;
        let handler = super::quick::handler(store, shared, wide, wide_address);
        Some(ShortOp {
            d: u16::try_from(row).ok()?,
            s: [u16::try_from(address).ok()?, 0],
            extra: offset.cast_unsigned(),
            ..ShortOp::new(handler, Form::Access)
        })
    }

    /// Row of the predicate that guards it and whether the guard is negated; `None` without a guard.
    #[inline(always)]
    pub(super) fn guard(&self) -> Option<(usize, bool)> {
        let row = usize::from(self.guard >> 1);
        (self.guard != ShortOp::ALWAYS).then_some((row, self.guard & 1 != 0))
    }

    /// What is added to the address of an access, or to a register.
    #[inline(always)]
    pub(super) fn number(&self) -> u64 {
        i64::from(self.extra.cast_signed()).cast_unsigned()
    }

    /// How many operations behind it are executed with it.
    #[inline(always)]
    pub(super) fn following(&self) -> usize {
        usize::from(self.following)
    }

    /// Where a jump goes.
    #[inline(always)]
    pub(super) fn target(&self) -> u32 {
        self.extra
    }

    /// Position of the jump: its own, or that behind a comparison.
    #[inline(always)]
    pub(super) fn jumps_at(&self) -> u32 {
        self.pc + u32::from(self.following)
    }

    /// The lanes that take the jump behind a comparison.
    #[inline(always)]
    pub(super) fn jumping(&self, holds: u32) -> u32 {
        if self.negated { !holds } else { holds }
    }
}
