//! Which registers may be read before they are written, on some way through a function.
//!
//! All others need no look while a kernel runs: with one of the few exceptions, memory that was not written, a register
//! that is always written first never holds anything undefined. What lives at a function's beginning is
//! found as compilers find live variables: backwards, block by block, until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::effects::{Effect, Flow};
use crate::op::{Element, Guard, NONE, Op, OpKind, WarpKind, WarpOp};
use crate::program::Function;
use crate::row::Class;

/// Rows of a function's frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unassigned {
    pub(crate) narrow: Vec<u32>,
    pub(crate) wide: Vec<u32>,
    pub(crate) predicates: Vec<u32>,
}

/// One bit for each row of a frame: 32-bit rows, then 64-bit rows, then predicates.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowSet(Vec<u64>);

impl RowSet {
    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
}

/// Operations that run one after the other, whatever happens.
struct BasicBlock {
    used: RowSet,
    written: RowSet,
    followers: Vec<u32>,
}

/// The rows of a function that may be read before they are written.
pub(super) fn unassigned(ops: &[Op], effects: &[Effect], function: &Function) -> Unassigned {
    let Function { rows32, rows64, predicates, .. } = *function;
    let number = |(class, row): (Class, u32)| match class {
        Class::R => row as usize,
        Class::D => (rows32 + row) as usize,
        Class::Predicate => (rows32 + rows64 + row) as usize,
    };
    let empty = RowSet(vec![0; ((rows32 + rows64 + predicates) as usize).div_ceil(64)]);
    let starts = starts(ops, function.start);
    let mut blocks: BTreeMap<u32, BasicBlock> = BTreeMap::new();
    for start in &starts {
        let mut block =
            BasicBlock { used: empty.clone(), written: empty.clone(), followers: Vec::new() };
        let mut pc = *start;
        while let (Some(op), Some(effect)) = (ops.get(pc as usize), effects.get(pc as usize)) {
            reads(op, effect, |row| {
                if !block.written.contains(number(row)) {
                    block.used.insert(number(row));
                }
            });
            // Under a guard, some lanes keep what they had.
            if op.guard == Guard::ALWAYS {
                writes(op, effect, |row| block.written.insert(number(row)));
            }
            let followers = followers(op, pc);
            pc += 1;
            if followers != [pc] || starts.contains(&pc) {
                block.followers = followers;
                break;
            }
        }
        blocks.insert(*start, block);
    }
    let mut live: BTreeMap<u32, RowSet> = BTreeMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for (start, block) in blocks.iter().rev() {
            let mut now = block.used.clone();
            for behind in block.followers.iter().filter_map(|follower| live.get(follower)) {
                for ((now, behind), written) in
                    now.0.iter_mut().zip(&behind.0).zip(&block.written.0)
                {
                    *now |= behind & !written;
                }
            }
            if live.get(start) != Some(&now) {
                live.insert(*start, now);
                changed = true;
            }
        }
    }
    let live = live.remove(&function.start).unwrap_or(empty);
    let constants: BTreeSet<usize> =
        function.constants.iter().map(|(class, row, _)| number((*class, *row))).collect();
    let rows = |class: Class, count: u32| {
        (0..count)
            .filter(|row| {
                let at = number((class, *row));
                live.contains(at) && !constants.contains(&at)
            })
            .collect()
    };
    Unassigned {
        narrow: rows(Class::R, rows32),
        wide: rows(Class::D, rows64),
        predicates: rows(Class::Predicate, predicates),
    }
}

/// The positions at which basic blocks begin.
fn starts(ops: &[Op], start: u32) -> BTreeSet<u32> {
    let mut starts = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(first) = open.pop() {
        let mut pc = first;
        while let Some(op) = ops.get(pc as usize) {
            let followers = followers(op, pc);
            pc += 1;
            if followers != [pc] {
                open.extend(followers.into_iter().filter(|follower| starts.insert(*follower)));
                break;
            }
            if starts.contains(&pc) {
                break;
            }
        }
    }
    starts
}

/// Where lanes can go from an operation.
fn followers(op: &Op, pc: u32) -> Vec<u32> {
    let mut followers = match &op.kind {
        OpKind::Branch { target, .. } => vec![*target],
        OpKind::BranchTable { targets, .. } => targets.to_vec(),
        OpKind::Return
        | OpKind::Exit
        | OpKind::Trap
        | OpKind::FellOffEnd
        | OpKind::Unsupported { .. } => Vec::new(),
        _ => return vec![pc + 1],
    };
    if op.guard != Guard::ALWAYS {
        followers.push(pc + 1);
    }
    followers
}

/// The rows that initcheck looks at when an operation runs.
fn reads(op: &Op, effect: &Effect, mut row: impl FnMut((Class, u32))) {
    let mut present = |class: Class, number: u32| {
        if number != NONE {
            row((class, number));
        }
    };
    if op.guard != Guard::ALWAYS {
        present(Class::Predicate, op.guard.0 >> 1);
    }
    if let Flow::Select(p) = effect.flow {
        present(Class::Predicate, p.row);
    }
    for (class, number) in &effect.sources {
        present(*class, *number);
    }
    match &op.kind {
        OpKind::Store(access) => elements(&access.elements, present),
        OpKind::Atomic(access) => {
            let class = if access.bytes >= 8 { Class::D } else { Class::R };
            for number in access.b.iter().chain([&access.c]) {
                present(class, *number);
            }
        }
        OpKind::Warp(op) if op.matrix.is_none() => {
            present(value_class(op), op.a);
            present(Class::R, op.b);
            present(Class::R, op.c);
            present(Class::Predicate, op.vote.row);
        }
        _ => {}
    }
}

/// The rows that an operation writes.
fn writes(op: &Op, effect: &Effect, mut row: impl FnMut((Class, u32))) {
    let mut present = |class: Class, number: u32| {
        if number != NONE {
            row((class, number));
        }
    };
    for (class, number) in &effect.results {
        present(*class, *number);
    }
    match &op.kind {
        OpKind::Load(access) => elements(&access.elements, present),
        OpKind::Atomic(access) => {
            let class = if access.bytes >= 8 { Class::D } else { Class::R };
            for number in &access.d {
                present(class, *number);
                if access.bytes == 16 {
                    present(class, number + 1);
                }
            }
        }
        OpKind::Warp(op) if op.matrix.is_none() => {
            present(Class::R, op.d);
            present(Class::Predicate, op.p);
        }
        _ => {}
    }
}

/// The class of the value that lanes bring to a warp operation.
pub(crate) fn value_class(op: &WarpOp) -> Class {
    match op.kind {
        WarpKind::MatchAny { wide: true } | WarpKind::MatchAll { wide: true } => Class::D,
        _ => Class::R,
    }
}

fn elements(elements: &[(u32, Element)], mut row: impl FnMut(Class, u32)) {
    for (number, element) in elements.iter().filter(|(number, _)| *number != NONE) {
        match element {
            Element::Narrow { .. } => row(Class::R, *number),
            Element::Wide { .. } => row(Class::D, *number),
            Element::Pair => {
                row(Class::D, *number);
                row(Class::D, number + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Program;

    /// The number of rows that may be read before they are written: 32-bit, 64-bit, predicates.
    fn counts(body: &str) -> [usize; 3] {
        let program = Program::compile(&format!(
            ".version 8.0 .target sm_90 .address_size 64
             .visible .entry k(.param .u64 a, .param .u32 n) {{
                 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .b128 %q<2>;
                 ld.param.b64 %rd1, [a]; ld.param.b32 %r1, [n]; setp.eq.u32 %p1, %r1, 0;
                 {body}
             }}"
        ))
        .unwrap_or_else(|error| panic!("{error}"));
        let found = &program.effects().unassigned[0];
        [found.narrow.len(), found.wide.len(), found.predicates.len()]
    }

    #[test]
    fn what_may_be_read_before_it_is_written() {
        let none = [0, 0, 0];
        assert_eq!(counts("add.u32 %r2, %r1, 1; st.global.b32 [%rd1], %r2; ret;"), none);
        assert_eq!(counts("add.u32 %r2, %r1, %r3; ret;"), [1, 0, 0]);
        assert_eq!(counts("st.global.v2.b32 [%rd1], {%r2, %r3}; ret;"), [2, 0, 0]);
        assert_eq!(counts("ld.global.b32 %r2, [%rd2]; @%p2 ret; ret;"), [0, 1, 1]);
        assert_eq!(
            counts("atom.global.add.u32 %r2, [%rd1], %r3; add.u32 %r4, %r2, 1; ret;"),
            [1, 0, 0]
        );
        assert_eq!(counts("vote.sync.any.pred %p2, %p3, -1; @%p2 ret; ret;"), [0, 0, 1]);
        assert_eq!(counts("selp.b32 %r2, %r1, %r1, %p2; ret;"), [0, 0, 1]);
    }

    #[test]
    fn ways_through_the_code() {
        let none = [0, 0, 0];
        // Written on both ways, on one way, under a guard.
        let both = |other: &str| {
            format!(
                "@%p1 bra A; mov.b32 %r2, 1; bra B; A: {other} B: st.global.b32 [%rd1], %r2; ret;"
            )
        };
        assert_eq!(counts(&both("mov.b32 %r2, 2;")), none);
        assert_eq!(counts(&both("")), [1, 0, 0]);
        assert_eq!(counts(&both("ret;")), none);
        assert_eq!(counts(&both("trap;")), none);
        assert_eq!(counts("@%p1 mov.b32 %r2, 1; st.global.b32 [%rd1], %r2; ret;"), [1, 0, 0]);
        // Written in the round before it is read; the first round reads it too.
        let round = |first: &str| {
            format!("{first} L: add.u32 %r3, %r2, 1; mov.b32 %r2, %r3; @%p1 bra L; ret;")
        };
        assert_eq!(counts(&round("")), [1, 0, 0]);
        assert_eq!(counts(&round("mov.b32 %r2, 0;")), none);
        // Code that nothing reaches.
        assert_eq!(counts("bra END; add.u32 %r2, %r3, 1; END: ret;"), none);
    }
}
