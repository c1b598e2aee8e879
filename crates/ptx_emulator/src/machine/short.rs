//! The short forms of the operations that kernels spend their time in, for the [inner loop](super::hot) of the interpreter.
//!
//! Each operation has one beside its long form, made when the program is loaded. It has all that the common case needs within half
//! a cache line, and the function that executes it: a loop that calls small functions leaves the compiler enough registers
//! for each of them, which one with a hundred arms does not.

use super::hot::{self, Handler};
use crate::op::{AddressRow, Element, Guard, MemoryOp, NONE, Op, OpKind, Space};
use crate::row::{Class, IntCompare, Outcome, Rule};

/// An operation of the inner loop. Rows count from the first of the frame.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct ShortOp {
    /// What executes it; operations that are too large or too rare have one that does nothing but stop the loop.
    pub(super) handler: Handler,
    guard: u16,
    /// The destination; of a store the source.
    pub(super) d: u16,
    /// The sources; of an access the address first.
    pub(super) s: [u16; 2],
    /// What is added to an address, where a jump goes, or how many operations of a run follow.
    extra: u32,
    /// Its position.
    pub(super) pc: u32,
    /// Whether it is a load or store.
    pub(super) access: bool,
    /// Of a comparison of integers.
    pub(super) compare: IntCompare,
}

impl std::fmt::Debug for ShortOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShortOp").field("d", &self.d).field("s", &self.s).finish_non_exhaustive()
    }
}

/// A sum of 64-bit rows that has a short form.
fn is_wide_sum(op: &Op) -> bool {
    let short = |row: u32| u16::try_from(row).is_ok();
    matches!(&op.kind, OpKind::Row { f, rows }
        if f.rule == Rule::Add && f.bits() == 64 && short(rows.d) && short(rows.s[0]) && short(rows.s[1]))
}

impl ShortOp {
    /// In the place of a guard: there is none.
    const ALWAYS: u16 = u16::MAX;

    fn new(handler: Handler) -> ShortOp {
        let compare = IntCompare { holds: 0, signed: false, wide: false };
        ShortOp {
            handler,
            guard: ShortOp::ALWAYS,
            d: 0,
            s: [0; 2],
            extra: 0,
            pc: 0,
            access: false,
            compare,
        }
    }

    /// The short forms of a program's operations.
    pub(super) fn all(ops: &[Op]) -> Vec<ShortOp> {
        let mut all: Vec<ShortOp> =
            (0..).zip(ops).map(|(pc, op)| ShortOp { pc, ..ShortOp::of(op) }).collect();
        // Addresses and counters are added up one after the other: such runs are one call.
        let mut following = 0;
        for (short, op) in all.iter_mut().zip(ops).rev() {
            if !is_wide_sum(op) || short.guard != ShortOp::ALWAYS {
                following = 0;
                continue;
            }
            if following > 0 {
                short.handler = hot::add64_run;
                short.extra = following;
            }
            following += 1;
        }
        all
    }

    fn of(op: &Op) -> ShortOp {
        let guarded = |short: ShortOp| {
            let guard = match op.guard {
                Guard::ALWAYS => ShortOp::ALWAYS,
                guard => u16::try_from(guard.0).ok().filter(|g| *g != ShortOp::ALWAYS)?,
            };
            Some(ShortOp { guard, ..short })
        };
        let short = ShortOp::unguarded(&op.kind).and_then(guarded);
        short.unwrap_or(ShortOp::new(|_, _, _| Outcome::Other))
    }

    fn unguarded(kind: &OpKind) -> Option<ShortOp> {
        let rows = |handler: Handler, d: u32, s: [u32; 2]| {
            let short = |row: u32| u16::try_from(row).ok();
            let s = [short(s[0])?, short(s[1])?];
            Some(ShortOp { d: short(d)?, s, ..ShortOp::new(handler) })
        };
        match kind {
            OpKind::Row { f, .. } if f.shape.result == Class::Predicate => None,
            OpKind::Row { f, rows: r } => match (f.rule, f.bits()) {
                (Rule::Add, 32) => rows(hot::add32, r.d, [r.s[0], r.s[1]]),
                (Rule::Add, _) => rows(hot::add64, r.d, [r.s[0], r.s[1]]),
                (Rule::None, _) => Some(ShortOp::new(hot::row)),
                _ => Some(ShortOp::new(hot::integer_row)),
            },
            OpKind::Compare { f, rows: r, q: NONE, combine: None } => match f.rule {
                Rule::Compare(compare) => {
                    let handler = if compare.wide { hot::compare64 } else { hot::compare32 };
                    let short = rows(handler, r.d, [r.s[0], r.s[1]])?;
                    Some(ShortOp { compare, ..short })
                }
                _ => rows(hot::compare_any, r.d, [0; 2]),
            },
            OpKind::Move32 { d, a } => rows(hot::move32, *d, [*a, 0]),
            OpKind::Move64 { d, a } => rows(hot::move64, *d, [*a, 0]),
            OpKind::Branch { target, .. } => {
                Some(ShortOp { extra: *target, ..ShortOp::new(|_, _, _| Outcome::Jump) })
            }
            OpKind::Load(op) if !op.strong => ShortOp::access(op, false),
            // Strong ones must stay in order with what other jobs do, which the general way sees to.
            OpKind::Store(op) if !op.order.is_strong() => ShortOp::access(op, true),
            _ => None,
        }
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
            access: true,
            ..ShortOp::new(handler)
        })
    }

    /// Row of the predicate that guards it and whether the guard is negated; `None` without a guard.
    #[inline(always)]
    pub(super) fn guard(&self) -> Option<(usize, bool)> {
        let row = usize::from(self.guard >> 1);
        (self.guard != ShortOp::ALWAYS).then_some((row, self.guard & 1 != 0))
    }

    /// What an access adds to its address register.
    #[inline(always)]
    pub(super) fn offset(&self) -> u64 {
        i64::from(self.extra.cast_signed()).cast_unsigned()
    }

    /// How many sums follow in a run of them.
    #[inline(always)]
    pub(super) fn following(&self) -> usize {
        self.extra as usize
    }

    /// Where a jump goes.
    #[inline(always)]
    pub(super) fn target(&self) -> u32 {
        self.extra
    }
}
