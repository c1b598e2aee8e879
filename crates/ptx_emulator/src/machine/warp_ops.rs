//! Operations of a warp's lanes on each other (PTX ISA, "`shfl.sync`", "`vote.sync`", "`match.sync`", "`redux.sync`",
//! "`elect.sync`", "`bar.warp.sync`").
//!
//! Lanes come to them from wherever they are; they run once all living lanes of the member mask wait
//! at an operation of the same kind with the same mask.

use super::block::BlockState;
use super::divergence::part;
use super::launch::Engine;
use super::operands::read_predicate;
use super::warp::{State, Warp};
use crate::diagnostic::ranges;
use crate::fault::{Fault, FaultKind};
use crate::op::{NONE, OpKind, Reduce, Shuffle, Vote, WarpKind, WarpOp};
use crate::row::{FULL, LANES, Row32, Row64, lanes, write_mask};
use crate::semantics::MinMaxMode;
use crate::semantics::f32 as single;

/// What the participating lanes bring.
struct Inputs {
    lanes: u32,
    value: Row64,
    b: Row32,
    c: Row32,
    vote: u32,
}

/// What each lane gets.
struct Outputs {
    value: Row32,
    predicate: u32,
}

impl Engine<'_> {
    /// The split's lanes, all of them, come to an operation. True if it ran: the split then goes on
    /// behind it. Otherwise it waits, or is gone on together with others.
    pub(super) fn meet(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        index: usize,
        op: &WarpOp,
    ) -> Result<bool, Box<Fault>> {
        let split = warp.splits[index];
        let frame = warp.frames[split.frame as usize];
        if op.members == NONE {
            self.together(block, warp, &[(index, op)], split.mask)?;
            return Ok(true);
        }
        let (members, same) = warp.agreeing(frame.base32 + op.members, split.mask);
        if same != split.mask {
            part(warp, index, same, split.pc);
        }
        let outside = same & !members;
        if outside != 0 {
            let kind = FaultKind::InvalidWarpMask;
            let fault = self.fault(block, warp, split.frame, split.pc, outside, kind);
            return Err(fault.with_note(format!(
                "the mask is {members:#010x}, lanes {}",
                if members == 0 { "none".to_owned() } else { ranges(members) }
            )));
        }
        if members & warp.alive == same {
            self.together(block, warp, &[(index, op)], same)?;
            return Ok(true);
        }
        warp.splits[index].state = State::Members { mask: members };
        self.check_members(block, warp)?;
        Ok(false)
    }

    /// Runs operations whose members are all there, or gone for good.
    pub(super) fn check_members(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
    ) -> Result<(), Box<Fault>> {
        let mut index = 0;
        while index < warp.splits.len() {
            let State::Members { mask } = warp.splits[index].state else {
                index += 1;
                continue;
            };
            let program = self.program;
            let operation = |pc: u32| match program.ops.get(pc as usize).map(|op| &op.kind) {
                Some(OpKind::Warp(op)) => Some(&**op),
                _ => None,
            };
            let Some(kind) = operation(warp.splits[index].pc).map(|op| op.kind) else {
                index += 1;
                continue;
            };
            let mut group = Vec::new();
            let mut present = 0;
            for (other, split) in warp.splits.iter().enumerate() {
                if split.state == (State::Members { mask })
                    && let Some(op) = operation(split.pc)
                    && op.kind == kind
                {
                    group.push((other, op));
                    present |= split.mask;
                }
            }
            if present != mask & warp.alive {
                index += 1;
                continue;
            }
            self.together(block, warp, &group, present)?;
            for (member, _) in group {
                let split = &mut warp.splits[member];
                split.state = State::Ready;
                split.pc += 1;
            }
            warp.merge();
            index = 0;
        }
        Ok(())
    }

    /// Runs an operation for lanes that are all there.
    fn together(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        group: &[(usize, &WarpOp)],
        present: u32,
    ) -> Result<(), Box<Fault>> {
        self.warp_op_runs(block, warp, group, present);
        if group.first().is_some_and(|(_, op)| op.matrix.is_some()) {
            return self.matrix(block, warp, group, present);
        }
        run(warp, group, present);
        Ok(())
    }
}

/// Runs an operation whose participants may stand at different positions, in different registers.
fn run(warp: &mut Warp, group: &[(usize, &WarpOp)], present: u32) {
    let Some((_, first)) = group.first() else {
        return;
    };
    let kind = first.kind;
    let mut inputs =
        Inputs { lanes: present, value: [0; LANES], b: [0; LANES], c: [0; LANES], vote: 0 };
    for (index, op) in group {
        let split = warp.splits[*index];
        let frame = warp.frames[split.frame as usize];
        for lane in lanes(split.mask) {
            if op.a != NONE {
                inputs.value[lane] = match kind {
                    WarpKind::MatchAny { wide: true } | WarpKind::MatchAll { wide: true } => {
                        warp.r64.lane(frame.base64 + op.a, lane)
                    }
                    _ => u64::from(warp.r32.lane(frame.base32 + op.a, lane)),
                };
            }
            if op.b != NONE {
                inputs.b[lane] = warp.r32.lane(frame.base32 + op.b, lane);
            }
            if op.c != NONE {
                inputs.c[lane] = warp.r32.lane(frame.base32 + op.c, lane);
            }
        }
        if op.vote.row != NONE {
            inputs.vote |= read_predicate(warp, &frame, op.vote) & split.mask;
        }
    }
    let outputs = compute(kind, &inputs);
    for (index, op) in group {
        let split = warp.splits[*index];
        let frame = warp.frames[split.frame as usize];
        if op.d != NONE {
            warp.r32.write(frame.base32 + op.d, &outputs.value, split.mask);
        }
        if op.p != NONE {
            let row = &mut warp.predicates[(frame.base_predicate + op.p) as usize];
            write_mask(row, outputs.predicate, split.mask);
        }
    }
}

fn compute(kind: WarpKind, inputs: &Inputs) -> Outputs {
    let all = |value: bool| if value { FULL } else { 0 };
    let only = |predicate: u32| Outputs { value: [0; LANES], predicate };
    let uniform = |value: u32| Outputs { value: [value; LANES], predicate: 0 };
    match kind {
        WarpKind::Sync | WarpKind::Matrix { .. } => only(0),
        WarpKind::Shuffle(mode) => shuffle(mode, inputs),
        WarpKind::Vote(Vote::All) => only(all(inputs.vote == inputs.lanes)),
        WarpKind::Vote(Vote::Any) => only(all(inputs.vote != 0)),
        WarpKind::Vote(Vote::Uniform) => only(all(inputs.vote == 0 || inputs.vote == inputs.lanes)),
        WarpKind::Vote(Vote::Ballot) => uniform(inputs.vote),
        WarpKind::MatchAny { .. } => {
            let mut value = [0; LANES];
            for lane in lanes(inputs.lanes) {
                value[lane] = lanes(inputs.lanes)
                    .filter(|other| inputs.value[*other] == inputs.value[lane])
                    .fold(0, |m, other| m | 1 << other);
            }
            Outputs { value, predicate: 0 }
        }
        WarpKind::MatchAll { .. } => {
            let first = inputs.value[(inputs.lanes.trailing_zeros() & 31) as usize];
            let same = lanes(inputs.lanes).all(|lane| inputs.value[lane] == first);
            let mask = if same { inputs.lanes } else { 0 };
            Outputs { value: [mask; LANES], predicate: all(same) }
        }
        WarpKind::Reduce(operation) => {
            let values = lanes(inputs.lanes).map(|lane| inputs.value[lane] as u32);
            uniform(values.reduce(|a, b| reduce(operation, a, b)).unwrap_or(0))
        }
        WarpKind::Elect => {
            let leader = inputs.lanes.trailing_zeros() & 31;
            Outputs { value: [leader; LANES], predicate: 1 << leader }
        }
    }
}

fn reduce(operation: Reduce, a: u32, b: u32) -> u32 {
    let float = |f: fn(f32, f32, MinMaxMode) -> f32, absolute: bool, nan: bool| {
        let value = |bits: u32| f32::from_bits(if absolute { bits & 0x7FFF_FFFF } else { bits });
        f(value(a), value(b), MinMaxMode { nan, ..MinMaxMode::default() }).to_bits()
    };
    match operation {
        Reduce::AddU => a.wrapping_add(b),
        Reduce::MinU => a.min(b),
        Reduce::MaxU => a.max(b),
        Reduce::MinS => (a as i32).min(b as i32) as u32,
        Reduce::MaxS => (a as i32).max(b as i32) as u32,
        Reduce::And => a & b,
        Reduce::Or => a | b,
        Reduce::Xor => a ^ b,
        Reduce::MinF { absolute, nan } => float(single::min_with, absolute, nan),
        Reduce::MaxF { absolute, nan } => float(single::max_with, absolute, nan),
    }
}

/// The lane that `lane` takes its value from, and whether that is inside its segment (PTX ISA, `shfl.sync`).
pub(super) fn source_lane(mode: Shuffle, lane: usize, b: u32, c: u32) -> (usize, bool) {
    let own = lane as i32;
    let distance = (b & 31) as i32;
    let clamp = (c & 31) as i32;
    let segment = (c >> 8 & 31) as i32;
    let most = (own & segment) | (clamp & !segment);
    let least = own & segment;
    let (source, inside) = match mode {
        Shuffle::Up => (own - distance, own - distance >= most),
        Shuffle::Down => (own + distance, own + distance <= most),
        Shuffle::Butterfly => (own ^ distance, (own ^ distance) <= most),
        Shuffle::Index => {
            let source = least | (distance & !segment);
            (source, source <= most)
        }
    };
    (if inside { (source & 31) as usize } else { lane }, inside)
}

/// The value of each lane's source. A source that takes no part gives 0 (recorded).
fn shuffle(mode: Shuffle, inputs: &Inputs) -> Outputs {
    let mut value = [0; LANES];
    let mut predicate = 0;
    for lane in lanes(inputs.lanes) {
        let (source, inside) = source_lane(mode, lane, inputs.b[lane], inputs.c[lane]);
        predicate |= u32::from(inside) << lane;
        if inputs.lanes >> source & 1 != 0 {
            value[lane] = inputs.value[source] as u32;
        }
    }
    Outputs { value, predicate }
}
