//! initcheck: follows values that nothing has written through registers and memory.

use super::block::BlockState;
use super::init_memory::define_elements;
use super::launch::Engine;
use super::operands::read_predicate;
use super::warp::Warp;
use super::warp_ops::source_lane;
use super::watch::{Position, narrow, wide};
use crate::checks::init::{BlockInit, Effect, Flow, Registers, value_class};
use crate::checks::{BlockChecks, Checks, FindingKind, Severity};
use crate::op::{CallOp, Callee, Guard, Logic, NONE, OpKind, WarpKind, WarpOp};
use crate::row::{Class, lanes};

/// Where the lanes of a warp are, and what is known of the block's values.
pub(super) struct Place<'a> {
    pub(super) checks: &'a mut Checks,
    pub(super) init: &'a mut BlockInit,
    pub(super) at: Position,
}

impl Engine<'_> {
    /// Registers before the operation at `at`, of which not all are defined; `mask`: all lanes of the split.
    pub(super) fn init_watch(
        &mut self,
        checks: &mut Checks,
        init: &mut BlockInit,
        block: &mut BlockState,
        warp: &mut Warp,
        at: Position,
        mask: u32,
    ) {
        let program = self.program;
        let mut place = Place { checks, init, at };
        let (Some(op), Some(effect)) =
            (program.ops.get(at.pc as usize), program.effects().operations.get(at.pc as usize))
        else {
            return;
        };
        if op.guard != Guard::ALWAYS {
            let frame = warp.frames[at.frame as usize];
            let row = frame.base_predicate + (op.guard.0 >> 1);
            let predicates = &mut place.init.warps[warp.index as usize].registers.predicates;
            let undefined = predicates.undefined(row, mask);
            if undefined != 0 {
                predicates.set(row, undefined, 0);
                let what = "the condition of an instruction";
                self.value_finding(&mut place, block, warp, undefined, what);
            }
        }
        if at.active != 0 {
            self.sources_used(&mut place, block, warp, effect);
            match &op.kind {
                OpKind::Load(op) => {
                    define_elements(&mut place.init.warps[warp.index as usize], warp, op, at);
                }
                OpKind::Store(_) | OpKind::Atomic(_) | OpKind::Call(_) => {}
                _ => self.flow(&mut place, warp, effect),
            }
        }
    }

    /// What a function of the machine returns is defined.
    pub(super) fn init_intrinsic(
        &self,
        init: &mut BlockInit,
        warp: &Warp,
        at: Position,
        op: &CallOp,
    ) {
        if !matches!(op.callee, Callee::Intrinsic(_)) {
            return;
        }
        let base = warp.frames[at.frame as usize].base_local;
        let local = &mut init.warps[warp.index as usize].local;
        for slot in &op.returns {
            let address = u64::from(base) * 4 + u64::from(slot.offset);
            for lane in lanes(at.active) {
                local.put(lane, address, slot.bytes.min(8), u32::MAX);
            }
        }
    }

    /// Reports sources that must be defined: addresses, and what decides where lanes go.
    fn sources_used(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        effect: &Effect,
    ) {
        let what = match effect.flow {
            Flow::Use(what) => what,
            Flow::Apart => "an address",
            _ => return,
        };
        for (class, row) in &effect.sources {
            self.must_be_defined(place, block, warp, (*class, *row), what);
        }
    }

    pub(super) fn must_be_defined(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        (class, row): (Class, u32),
        what: &str,
    ) {
        if row == NONE {
            return;
        }
        let frame = warp.frames[place.at.frame as usize];
        let registers = &mut place.init.warps[warp.index as usize].registers;
        let active = place.at.active;
        let undefined = match class {
            Class::Predicate => registers.predicates.undefined(frame.base_predicate + row, active),
            Class::R => registers.narrow.undefined(frame.base32 + row, active),
            Class::D => registers.wide.undefined(frame.base64 + row, active),
        };
        if undefined == 0 {
            return;
        }
        // Reported once.
        match class {
            Class::Predicate => registers.predicates.set(frame.base_predicate + row, undefined, 0),
            Class::R => registers.narrow.define(frame.base32 + row, undefined),
            Class::D => registers.wide.define(frame.base64 + row, undefined),
        }
        self.value_finding(place, block, warp, undefined, what);
    }

    fn flow(&self, place: &mut Place<'_>, warp: &mut Warp, effect: &Effect) {
        let frame = warp.frames[place.at.frame as usize];
        let active = place.at.active;
        let absolute = |(class, row): (Class, u32)| match class {
            Class::Predicate => frame.base_predicate + row,
            Class::R => frame.base32 + row,
            Class::D => frame.base64 + row,
        };
        let registers = &mut place.init.warps[warp.index as usize].registers;
        if effect.flow == Flow::Unknown {
            let function = &self.program.functions[frame.function as usize];
            (0..function.rows32)
                .for_each(|row| registers.narrow.define(frame.base32 + row, active));
            (0..function.rows64).for_each(|row| registers.wide.define(frame.base64 + row, active));
            for row in 0..function.predicates {
                registers.predicates.set(frame.base_predicate + row, active, 0);
            }
            let bytes = self.shared_bytes() as usize;
            place.init.shared.mark(0, bytes);
            return;
        }
        let bits_of = |registers: &Registers, source: (Class, u32), lane: usize| {
            let row = absolute(source);
            match source.0 {
                Class::Predicate => {
                    if registers.predicates.undefined(row, 1 << lane) != 0 {
                        u64::MAX
                    } else {
                        0
                    }
                }
                class => registers.rows(class).bits(row, lane),
            }
        };
        let mut undefined = 0;
        for source in &effect.sources {
            let row = absolute(*source);
            undefined |= match source.0 {
                Class::Predicate => registers.predicates.undefined(row, active),
                class => registers.rows(class).undefined(row, active),
            };
        }
        if let Flow::Select(p) = effect.flow {
            undefined |= registers.predicates.undefined(frame.base_predicate + p.row, active);
        }
        for result in &effect.results {
            let row = absolute(*result);
            match result.0 {
                Class::Predicate => registers.predicates.set(row, active & !undefined, 0),
                Class::R => registers.narrow.define(row, active & !undefined),
                Class::D => registers.wide.define(row, active & !undefined),
            }
        }
        if undefined == 0 {
            return;
        }
        let mut bits = [0u64; 32];
        for lane in lanes(undefined) {
            let a = effect.sources.first().map_or(0, |s| bits_of(registers, *s, lane));
            let b = effect.sources.get(1).map_or(0, |s| bits_of(registers, *s, lane));
            let full = |source: Option<&(Class, u32)>| match source {
                Some((Class::D, _)) => u64::MAX,
                Some((Class::R, _)) => u64::from(u32::MAX),
                _ => 1,
            };
            let value = |index: usize| match effect.sources.get(index) {
                Some((Class::R, row)) => u64::from(narrow(warp, &frame, *row)[lane]),
                Some((Class::D, row)) => wide(warp, &frame, *row)[lane],
                _ => 0,
            };
            bits[lane] = match effect.flow {
                Flow::Copy => a,
                Flow::Pack => a & 0xFFFF_FFFF | b << 32,
                // A defined 0 decides `and`, a defined 1 `or`.
                Flow::And => a & b | a & value(1) | b & value(0),
                Flow::Or => a & b | a & !value(1) | b & !value(0),
                Flow::Xor => a | b,
                Flow::ShiftLeft | Flow::ShiftRight if b != 0 => u64::MAX,
                Flow::ShiftLeft => a.checked_shl(value(1) as u32).unwrap_or(0),
                Flow::ShiftRight => {
                    let a = a & full(effect.sources.first());
                    a.checked_shr(value(1) as u32).unwrap_or(0)
                }
                Flow::All(count) => {
                    let data = usize::from(count).min(effect.sources.len());
                    let (data, others) = effect.sources.split_at(data);
                    let undefined = |source: &(Class, u32)| {
                        let full = full(Some(source));
                        let bits = bits_of(registers, *source, lane) & full;
                        (bits != 0, bits == full)
                    };
                    let whole = data.iter().all(|source| undefined(source).1);
                    if whole || others.iter().any(|source| undefined(source).0) {
                        u64::MAX
                    } else {
                        0
                    }
                }
                Flow::Convert { from, to, sign } => {
                    let bits = a & u64::MAX >> (64 - from.clamp(1, 64));
                    let top = bits >> (from.clamp(1, 64) - 1) & 1 != 0;
                    let above = u64::MAX.checked_shl(u32::from(from)).unwrap_or(0);
                    let bits = if sign && top { bits | above } else { bits };
                    bits & u64::MAX >> (64 - to.clamp(1, 64))
                }
                Flow::Logic(logic, p, q) => {
                    let (p, q) = (
                        (a, read_predicate(warp, &frame, p) >> lane & 1 != 0),
                        (b, read_predicate(warp, &frame, q) >> lane & 1 != 0),
                    );
                    let decided = match logic {
                        Logic::And => p.0 == 0 && !p.1 || q.0 == 0 && !q.1,
                        Logic::Or => p.0 == 0 && p.1 || q.0 == 0 && q.1,
                        Logic::Xor => false,
                    };
                    if decided { 0 } else { u64::MAX }
                }
                Flow::Select(p) => {
                    let row = frame.base_predicate + p.row;
                    if registers.predicates.undefined(row, 1 << lane) != 0 {
                        u64::MAX
                    } else if read_predicate(warp, &frame, p) >> lane & 1 != 0 {
                        a
                    } else {
                        b
                    }
                }
                Flow::Any => u64::MAX,
                Flow::Use(_) | Flow::Apart | Flow::Unknown => 0,
            };
            if effect.results.first().is_some_and(|result| result.0 == Class::R) {
                bits[lane] &= u64::from(u32::MAX);
            }
            // What is made of a value without any defined bit counts as undefined as a whole, where it is at all: a
            // shift or a mask does not mend it.
            let whole = |index: usize, bits: u64| {
                let full = full(effect.sources.get(index));
                effect.sources.len() > index && bits & full == full
            };
            let alone = !matches!(effect.flow, Flow::Pack | Flow::Select(_));
            if alone && bits[lane] != 0 && (whole(0, a) || whole(1, b)) {
                bits[lane] = u64::MAX;
            }
        }
        for result in &effect.results {
            let limit = if result.0 == Class::R { u64::from(u32::MAX) } else { u64::MAX };
            registers.set(result.0, absolute(*result), undefined, |lane| bits[lane] & limit);
        }
    }

    /// The lanes `present` exchange values.
    pub(super) fn init_warp_op(
        &self,
        checks: &mut Checks,
        state: &mut BlockChecks,
        block: &BlockState,
        warp: &mut Warp,
        group: &[(usize, &WarpOp)],
        present: u32,
    ) {
        let Some(init) = &mut state.init else {
            return;
        };
        if warp.index as usize >= init.warps.len() {
            return;
        }
        // Bits of the values that lanes bring, for shuffles.
        let mut brought = [0u64; 32];
        for (index, op) in group {
            let split = warp.splits[*index];
            let at = Position { frame: split.frame, pc: split.pc, active: split.mask };
            let frame = warp.frames[split.frame as usize];
            let mut place = Place { checks: &mut *checks, init: &mut *init, at };
            let operand = "an operand of a warp operation";
            if matches!(op.kind, WarpKind::Shuffle(_)) {
                let registers = &place.init.warps[warp.index as usize].registers;
                for lane in lanes(split.mask) {
                    brought[lane] = registers.narrow.bits(frame.base32 + op.a, lane);
                }
                for row in [op.b, op.c] {
                    self.must_be_defined(&mut place, block, warp, (Class::R, row), operand);
                }
            } else {
                self.must_be_defined(&mut place, block, warp, (value_class(op), op.a), operand);
                let vote = (Class::Predicate, op.vote.row);
                self.must_be_defined(&mut place, block, warp, vote, operand);
            }
        }
        for (index, op) in group {
            let split = warp.splits[*index];
            let frame = warp.frames[split.frame as usize];
            let mut bits = [0u64; 32];
            if let WarpKind::Shuffle(mode) = op.kind {
                let (b, c) = (narrow(warp, &frame, op.b), narrow(warp, &frame, op.c));
                for lane in lanes(split.mask & present) {
                    let (source, _) = source_lane(mode, lane, b[lane], c[lane]);
                    bits[lane] = if present >> source & 1 != 0 { brought[source] } else { 0 };
                }
            }
            let registers = &mut init.warps[warp.index as usize].registers;
            if op.d != NONE {
                registers.narrow.set(frame.base32 + op.d, split.mask, |lane| bits[lane]);
            }
            if op.p != NONE {
                registers.predicates.set(frame.base_predicate + op.p, split.mask, 0);
            }
        }
    }

    pub(super) fn value_finding(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &Warp,
        lanes: u32,
        what: &str,
    ) {
        let kind = FindingKind::UninitializedValue;
        let key = (kind, place.at.pc, 0);
        if !place.checks.is_new(key, Severity::Error) {
            return;
        }
        let title =
            format!("{what} comes from a register or local variable that nothing has written");
        let mut finding = self.finding(kind, Severity::Error, title);
        finding.parties.push(self.party("use".to_owned(), block, warp, place.at, lanes));
        finding.help = "give the variable a value on every path that leads here".to_owned();
        place.checks.add(key, finding);
    }
}
