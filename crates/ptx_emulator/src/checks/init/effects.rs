//! Which registers each operation reads and writes, and what becomes of bits that are not defined.

use super::unassigned::{Unassigned, unassigned};
use crate::async_op::MbarrierKind;
use crate::op::{AddressRow, BarrierKind, Callee, CarryIn, Logic, NONE, Op, OpKind, Pred};
use crate::program::Program;
use crate::row::Class;

/// How undefined bits go from sources to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Any undefined bit makes all of the result undefined.
    Any,
    /// The result is undefined if none of so many first sources has a defined bit: extractions and packings.
    All(u8),
    /// Bit by bit: copies, `not`.
    Copy,
    /// Between integers of these sizes, bits.
    Convert {
        from: u8,
        to: u8,
        sign: bool,
    },
    /// Two 32-bit halves of 64 bits, the low one first.
    Pack,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    /// Of predicates, where a defined one may decide alone.
    Logic(Logic, Pred, Pred),
    /// The first source or the second, as the predicate says.
    Select(Pred),
    /// The sources decide something; they must be defined.
    Use(&'static str),
    /// Handled apart: memory, warp operations, calls.
    Apart,
    /// Nothing is known of the operation: all registers count as written after it.
    Unknown,
}

/// What an operation does to registers.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) flow: Flow,
    pub(crate) sources: Box<[(Class, u32)]>,
    pub(crate) results: Box<[(Class, u32)]>,
}

impl Effect {
    fn new(flow: Flow, sources: &[(Class, u32)], results: &[(Class, u32)]) -> Effect {
        let present = |rows: &[(Class, u32)]| -> Box<[(Class, u32)]> {
            rows.iter().copied().filter(|(_, row)| *row != NONE).collect()
        };
        Effect { flow, sources: present(sources), results: present(results) }
    }
}

/// What initcheck knows of a program.
#[derive(Debug)]
pub(crate) struct Effects {
    /// Of all operations, by position.
    pub(crate) operations: Vec<Effect>,
    /// By function.
    pub(crate) unassigned: Vec<Unassigned>,
}

impl Effects {
    pub(crate) fn of(program: &Program) -> Effects {
        let operations = operations(program);
        let unassigned = program
            .functions
            .iter()
            .map(|function| unassigned(&program.ops, &operations, function))
            .collect();
        Effects { operations, unassigned }
    }
}

/// The effects of all operations, by position.
fn operations(program: &Program) -> Vec<Effect> {
    program
        .ops
        .iter()
        .zip(&program.places)
        .map(|(op, place)| {
            let text = program.source.get(place.span.start as usize..place.span.end as usize);
            effect(op, mnemonic(text.unwrap_or_default()))
        })
        .collect()
}

/// The instruction's name and qualifiers, without its guard.
fn mnemonic(text: &str) -> &str {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let name = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
    name.trim_end_matches(';')
}

fn effect(op: &Op, mnemonic: &str) -> Effect {
    use Class::{D, Predicate as P, R};
    let address = |base: AddressRow| match base {
        AddressRow::Zero => (R, NONE),
        AddressRow::Narrow(row) => (R, row),
        AddressRow::Wide(row) => (D, row),
    };
    match &op.kind {
        OpKind::Row { f, rows } => {
            let (result, classes) = f.signature();
            let sources: Vec<(Class, u32)> =
                classes.iter().copied().zip(rows.s.iter().copied()).collect();
            let flow = flow(mnemonic, result, &sources);
            Effect::new(flow, &sources, &[(result, rows.d)])
        }
        OpKind::Move32 { d, a } => Effect::new(Flow::Copy, &[(R, *a)], &[(R, *d)]),
        OpKind::Move64 { d, a } => Effect::new(Flow::Copy, &[(D, *a)], &[(D, *d)]),
        OpKind::Compare { f, rows, q, combine } => {
            let (_, classes) = f.signature();
            let mut sources: Vec<(Class, u32)> =
                classes.iter().copied().zip(rows.s.iter().copied()).collect();
            sources.extend(combine.map(|(_, p)| (P, p.row)));
            Effect::new(Flow::Any, &sources, &[(P, rows.d), (P, *q)])
        }
        OpKind::ComparePacked { low, d, q, s, combine, .. } => {
            let (_, classes) = low.signature();
            let mut sources: Vec<(Class, u32)> =
                classes.iter().copied().zip(s.iter().copied()).collect();
            sources.extend(combine.map(|(_, p)| (P, p.row)));
            Effect::new(Flow::Any, &sources, &[(P, *d), (P, *q)])
        }
        OpKind::Predicate { logic, d, a, b } => {
            let flow = Flow::Logic(*logic, *a, *b);
            Effect::new(flow, &[(P, a.row), (P, b.row)], &[(P, *d)])
        }
        OpKind::MovePredicate { d, a } => Effect::new(Flow::Copy, &[(P, a.row)], &[(P, *d)]),
        OpKind::FromPredicate { d, a, yes, no } => {
            Effect::new(Flow::Select(*a), &[(R, *yes), (R, *no)], &[(R, *d)])
        }
        OpKind::Select32 { d, a, b, p } => {
            Effect::new(Flow::Select(*p), &[(R, *a), (R, *b)], &[(R, *d)])
        }
        OpKind::Select64 { d, a, b, p } => {
            Effect::new(Flow::Select(*p), &[(D, *a), (D, *b)], &[(D, *d)])
        }
        OpKind::Carry32 { d, s, flag, reads, writes, .. } => {
            carry(R, *d, *s, *flag, *reads, *writes)
        }
        OpKind::Carry64 { d, s, flag, reads, writes, .. } => {
            carry(D, *d, *s, *flag, *reads, *writes)
        }
        OpKind::Load(access) => Effect::new(Flow::Apart, &[address(access.address.base)], &[]),
        OpKind::Store(access) | OpKind::Touch(access) => {
            Effect::new(Flow::Apart, &[address(access.address.base)], &[])
        }
        OpKind::Atomic(access) => Effect::new(Flow::Apart, &[address(access.address.base)], &[]),
        OpKind::IsSpace { d, address, .. } => Effect::new(Flow::Any, &[(D, *address)], &[(P, *d)]),
        OpKind::Alloca { d, wide, size, size_wide, .. } => Effect::new(
            Flow::Use("the size of an allocation on the stack"),
            &[(if *size_wide { D } else { R }, *size)],
            &[(if *wide { D } else { R }, *d)],
        ),
        OpKind::StackSave { d, wide } => {
            Effect::new(Flow::Any, &[], &[(if *wide { D } else { R }, *d)])
        }
        OpKind::StackRestore { a, wide } => Effect::new(
            Flow::Use("the place of the stack"),
            &[(if *wide { D } else { R }, *a)],
            &[],
        ),
        OpKind::Clock { d, clock } => {
            use crate::op::Clock;
            let wide = matches!(clock, Clock::Full64 | Clock::Nanoseconds64);
            Effect::new(Flow::Any, &[], &[(if wide { D } else { R }, *d)])
        }
        OpKind::ActiveMask { d } => Effect::new(Flow::Any, &[], &[(R, *d)]),
        OpKind::BranchTable { index, .. } => {
            Effect::new(Flow::Use("the index of a branch"), &[(R, *index)], &[])
        }
        OpKind::Call(call) => match call.callee {
            Callee::Indirect(row) => {
                Effect::new(Flow::Use("the function that is called"), &[(D, row)], &[])
            }
            _ => Effect::new(Flow::Apart, &[], &[]),
        },
        OpKind::Barrier(op) => {
            let (result, p) = match op.kind {
                BarrierKind::RedPopc { d, p } => ((R, d), p.row),
                BarrierKind::Red { d, p, .. } => ((P, d), p.row),
                BarrierKind::Sync
                | BarrierKind::Arrive
                | BarrierKind::ClusterArrive { .. }
                | BarrierKind::ClusterWait => ((R, NONE), NONE),
            };
            let sources = [(R, op.id), (R, op.count), (P, p)];
            Effect::new(Flow::Use("an operand of a barrier"), &sources, &[result])
        }
        OpKind::AsyncCopy(op) => {
            let addresses: Vec<(Class, u32)> = op.addresses().map(|at| address(at.base)).collect();
            Effect::new(Flow::Apart, &addresses, &[])
        }
        OpKind::Mbarrier(op) => {
            let (state, p) = match op.kind {
                MbarrierKind::Wait { p, .. } => (NONE, p),
                _ => (op.state, NONE),
            };
            Effect::new(Flow::Apart, &[address(op.address.base)], &[(D, state), (P, p)])
        }
        // Which element depends on which is not followed.
        OpKind::Warp(op) if let Some(matrix) = &op.matrix => {
            let (class, rows) = matrix.results();
            let results: Vec<(Class, u32)> = rows.iter().map(|row| (class, *row)).collect();
            Effect::new(Flow::Any, &[], &results)
        }
        OpKind::Warp(op) => {
            Effect::new(Flow::Use("the member mask of a warp operation"), &[(R, op.members)], &[])
        }
        OpKind::Join
        | OpKind::Branch { .. }
        | OpKind::Return
        | OpKind::Exit
        | OpKind::Trap
        | OpKind::Breakpoint
        | OpKind::Yield
        | OpKind::Fence(_)
        | OpKind::Nothing
        | OpKind::FellOffEnd
        | OpKind::Unsupported { .. } => Effect::new(Flow::Apart, &[], &[]),
        #[allow(unreachable_patterns)] // operations that this check does not know yet
        _ => Effect::new(Flow::Unknown, &[], &[]),
    }
}

fn carry(class: Class, d: u32, s: [u32; 3], flag: u32, reads: CarryIn, writes: bool) -> Effect {
    let carry_in = if reads == CarryIn::Flag { flag } else { NONE };
    let sources = [(class, s[0]), (class, s[1]), (class, s[2]), (Class::Predicate, carry_in)];
    let carry_out = if writes { flag } else { NONE };
    Effect::new(Flow::Any, &sources, &[(class, d), (Class::Predicate, carry_out)])
}

/// What an instruction on registers does to undefined bits.
fn flow(mnemonic: &str, result: Class, sources: &[(Class, u32)]) -> Flow {
    let mut parts = mnemonic.split('.');
    let name = parts.next().unwrap_or_default();
    let types: Vec<&str> = parts.collect();
    let integer = |name: Option<&&str>| {
        let (kind, bits) = name?.split_at_checked(1)?;
        matches!(kind, "u" | "s" | "b").then_some((bits.parse::<u8>().ok()?, kind == "s"))
    };
    let shape: Vec<Class> = sources.iter().map(|source| source.0).collect();
    match (name, result, shape.as_slice()) {
        ("and", Class::R | Class::D, [_, _]) => Flow::And,
        ("or", Class::R | Class::D, [_, _]) => Flow::Or,
        ("xor", Class::R | Class::D, [_, _]) => Flow::Xor,
        ("not", Class::R | Class::D, [_]) => Flow::Copy,
        ("shl", _, [_, Class::R]) => Flow::ShiftLeft,
        ("shr", _, [_, Class::R]) => Flow::ShiftRight,
        ("mov", Class::D, [Class::R, Class::R]) => Flow::Pack,
        ("cvt", Class::R | Class::D, [_]) => {
            let mut last = types.iter().rev();
            match (integer(last.next()), integer(last.next())) {
                (Some((from, sign)), Some((to, _))) => Flow::Convert { from, to, sign },
                _ => Flow::Any,
            }
        }
        ("mov", Class::R | Class::D, _) => Flow::All(4),
        ("prmt" | "bfi" | "shf", Class::R | Class::D, _) => Flow::All(2),
        ("bfe" | "szext", Class::R | Class::D, _) => Flow::All(1),
        _ => Flow::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_by_instruction() {
        let program = Program::compile(
            ".version 8.0 .target sm_90 .address_size 64
             .visible .entry k() {
                 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
                 @!%p1 and.b32 %r1, %r2, %r3;
                 mov.b64 %rd1, {%r1, %r2};
                 cvt.u32.u64 %r1, %rd1;
                 cvt.rn.f32.s32 %r1, %r2;
                 add.s32 %r1, %r2, %r3;
                 shl.b64 %rd1, %rd1, %r2;
                 ret;
             }",
        )
        .unwrap();
        let flows: Vec<Flow> =
            program.effects().operations.iter().map(|effect| effect.flow).collect();
        let convert = Flow::Convert { from: 64, to: 32, sign: false };
        let expected = [Flow::And, Flow::Pack, convert, Flow::Any, Flow::Any, Flow::ShiftLeft];
        assert_eq!(flows[..6], expected);
    }
}
