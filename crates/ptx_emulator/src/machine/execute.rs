//! The interpreter: runs one split of a warp, operation by operation.

use std::sync::atomic::{Ordering, fence};

use super::affine::{compare, execute_row};
use super::barrier::Arrival;
use super::block::BlockState;
use super::cluster::rank_of;
use super::divergence::{agree, diverge, part, rotate};
use super::hot::{Pace, Run};
use super::launch::Engine;
use super::operands::{carry_in, carry_rows, combined, read_predicate, select_row, wide_values};
use super::warp::Warp;
use super::watch::all_defined;
use crate::fault::{Fault, FaultKind};
use crate::memory::window::{self, Window};
use crate::op::{Clock, Guard, NONE, OpKind, SpaceTest};
use crate::registers::copy_register;
use crate::row::{Class, Rows, lanes, write_mask};

/// Backward jumps after which a split lets others of its warp run, when there are any: the
/// forward-progress guarantee.
const SPLIT_TURN: u32 = 1000;

/// Why a split stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It waits, met others, or is gone: another split of the warp may run.
    Switch,
    /// The warp's turn is over.
    Turn,
}

impl Engine<'_> {
    /// Runs a split until it stops; `turn` counts the warp's backward jumps down. `WATCH`: checks look at every
    /// operation before it runs.
    pub(super) fn run_split<const WATCH: bool>(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        index: usize,
        turn: &mut u32,
    ) -> Result<Stop, Box<Fault>> {
        let program = self.program;
        let mut mask = warp.splits[index].mask;
        let mut pc = warp.splits[index].pc;
        let mut frame_index = warp.splits[index].frame;
        let mut frame = warp.frames[frame_index as usize];
        let mut executed: u64 = 0;
        // Where the run of operations began that was executed one after the other with the present mask.
        let mut run_start = pc;

        /// A predicate of the frame.
        macro_rules! p {
            ($row:expr) => {
                warp.predicates[(frame.base_predicate + $row) as usize]
            };
        }
        /// Counts how often each operation of a run was executed, up to `$end`.
        macro_rules! tally {
            ($end:expr) => {
                if let Some(counting) = &mut self.counting {
                    counting.run(run_start, $end, mask, 1);
                }
            };
        }
        /// Books what was executed with the present mask, the operation at `pc` too.
        macro_rules! book {
            () => {
                self.report.warp_instructions += executed;
                self.report.thread_instructions += executed * u64::from(mask.count_ones());
                tally!(pc + 1);
                #[allow(unused_assignments)]
                {
                    executed = 0;
                    run_start = pc + 1;
                }
            };
        }
        /// Leaves the split at `pc`, whose operation did not run yet, and stops.
        macro_rules! stop {
            ($stop:expr) => {{
                self.report.warp_instructions += executed;
                self.report.thread_instructions += executed * u64::from(mask.count_ones());
                tally!(pc);
                return Ok($stop);
            }};
        }
        macro_rules! fault {
            ($lanes:expr, $kind:expr) => {{
                book!();
                return Err(self.fault(block, warp, frame_index, pc, $lanes, $kind));
            }};
        }
        /// Goes on at another position; backward jumps are where time passes.
        macro_rules! jump {
            ($target:expr) => {{
                let target = $target;
                let backward = target <= pc;
                if target != pc + 1 {
                    tally!(pc + 1);
                    run_start = target;
                }
                pc = target;
                if backward {
                    warp.splits[index].back_edges += 1;
                    *turn -= 1;
                    if self.out_of_fuel(executed) {
                        fault!(mask, FaultKind::FuelExhausted);
                    }
                    if warp.splits[index].back_edges >= SPLIT_TURN {
                        warp.splits[index].back_edges = 0;
                        warp.splits[index].pc = pc;
                        if rotate(warp, index) {
                            if *turn == 0 {
                                stop!(Stop::Turn);
                            }
                            stop!(Stop::Switch);
                        }
                    }
                    if *turn == 0 {
                        warp.splits[index].pc = pc;
                        stop!(Stop::Turn);
                    }
                }
            }};
        }

        loop {
            if !WATCH || all_defined(block, warp) {
                let jumps = (*turn - 1)
                    .min(SPLIT_TURN - 1 - warp.splits[index].back_edges.min(SPLIT_TURN - 1));
                let fuel = self.fuel_left();
                let mut pace = Pace {
                    pc,
                    executed,
                    next: pc,
                    run_start,
                    jumps,
                    last_run: Run::default(),
                    fuel,
                    frame: frame_index,
                    bad: None,
                };
                self.run_hot::<WATCH>(block, warp, &frame, mask, &mut pace);
                let taken = jumps - pace.jumps;
                *turn -= taken;
                warp.splits[index].back_edges += taken;
                (pc, executed, run_start) = (pace.pc, pace.executed, pace.run_start);
                if let Some(bad) = pace.bad {
                    executed += 1;
                    book!();
                    return Err(self.access_fault(block, warp, frame_index, pc, *bad));
                }
            }
            let Some(op) = program.ops.get(pc as usize) else {
                fault!(mask, FaultKind::FellOffEnd);
            };
            let m = if op.guard == Guard::ALWAYS {
                mask
            } else {
                let value = p!(op.guard.0 >> 1);
                mask & if op.guard.0 & 1 != 0 { !value } else { value }
            };
            if WATCH {
                self.watch(block, warp, frame_index, pc, mask, m);
            }
            if m == 0 {
                executed += 1;
                pc += 1;
                continue;
            }
            executed += 1;
            match &op.kind {
                OpKind::Row { f, rows } => {
                    let (mut window, predicates) = warp.window(&frame);
                    if f.shape.result == Class::Predicate {
                        let value = compare(&mut window, f, rows, m);
                        write_mask(&mut predicates[rows.d as usize], value, m);
                    } else {
                        execute_row(&mut window, f, rows, m);
                    }
                    pc += 1;
                }
                OpKind::Move32 { d: to, a } => {
                    copy_register(warp.window(&frame).0.r32, *to as usize, *a as usize, m);
                    pc += 1;
                }
                OpKind::Move64 { d: to, a } => {
                    copy_register(warp.window(&frame).0.r64, *to as usize, *a as usize, m);
                    pc += 1;
                }
                OpKind::Compare { f, rows, q, combine } => {
                    let result = compare(&mut warp.window(&frame).0, f, rows, m);
                    let value = combined(warp, &frame, result, *combine);
                    let opposite = combined(warp, &frame, !result, *combine);
                    write_mask(&mut p!(rows.d), value, m);
                    if *q != NONE {
                        write_mask(&mut p!(q), opposite, m);
                    }
                    pc += 1;
                }
                OpKind::ComparePacked { low, high, d: to, q, s, combine } => {
                    let rows = Rows { d: 0, s: [s[0], s[1], 0, 0] };
                    let value = compare(&mut warp.window(&frame).0, low, &rows, m);
                    let value = combined(warp, &frame, value, *combine);
                    let upper = compare(&mut warp.window(&frame).0, high, &rows, m);
                    let upper = combined(warp, &frame, upper, *combine);
                    write_mask(&mut p!(to), value, m);
                    if *q != NONE {
                        write_mask(&mut p!(q), upper, m);
                    }
                    pc += 1;
                }
                OpKind::Predicate { logic, d: to, a, b } => {
                    let value = logic.combine(
                        read_predicate(warp, &frame, *a),
                        read_predicate(warp, &frame, *b),
                    );
                    write_mask(&mut p!(to), value, m);
                    pc += 1;
                }
                OpKind::MovePredicate { d: to, a } => {
                    let value = read_predicate(warp, &frame, *a);
                    write_mask(&mut p!(to), value, m);
                    pc += 1;
                }
                OpKind::FromPredicate { d: to, a, yes, no }
                | OpKind::Select32 { d: to, a: yes, b: no, p: a } => {
                    let chosen = read_predicate(warp, &frame, *a);
                    let (yes, no) = (frame.base32 + yes, frame.base32 + no);
                    select_row(&mut warp.r32, [yes, no], frame.base32 + to, chosen, m);
                    pc += 1;
                }
                OpKind::Select64 { d: to, a: yes, b: no, p } => {
                    let chosen = read_predicate(warp, &frame, *p);
                    let (yes, no) = (frame.base64 + yes, frame.base64 + no);
                    select_row(&mut warp.r64, [yes, no], frame.base64 + to, chosen, m);
                    pc += 1;
                }
                OpKind::Carry32 { f, d: to, s, flag, reads, writes } => {
                    let carry = carry_in(*reads, p!(flag));
                    let sources = s.map(|row| warp.r32.copy(frame.base32 + row));
                    let (value, out) = carry_rows(*f, sources, carry);
                    warp.r32.write(frame.base32 + to, &value, m);
                    if *writes {
                        write_mask(&mut p!(flag), out, m);
                    }
                    pc += 1;
                }
                OpKind::Carry64 { f, d: to, s, flag, reads, writes } => {
                    let carry = carry_in(*reads, p!(flag));
                    let sources = s.map(|row| warp.r64.copy(frame.base64 + row));
                    let (value, out) = carry_rows(*f, sources, carry);
                    warp.r64.write(frame.base64 + to, &value, m);
                    if *writes {
                        write_mask(&mut p!(flag), out, m);
                    }
                    pc += 1;
                }
                OpKind::Load(access) => {
                    self.may_wait |= access.strong && access.space.is_common();
                    if !self.quick_access(block, warp, &frame, m, pc)
                        && let Err(bad) = self.load(block, warp, &frame, access, m, pc)
                    {
                        book!();
                        return Err(self.access_fault(block, warp, frame_index, pc, *bad));
                    }
                    pc += 1;
                }
                OpKind::Store(access) => {
                    if !self.quick_access(block, warp, &frame, m, pc)
                        && let Err(bad) = self.store(block, warp, &frame, access, m, pc)
                    {
                        book!();
                        return Err(self.access_fault(block, warp, frame_index, pc, *bad));
                    }
                    pc += 1;
                }
                OpKind::Atomic(access) if self.program.panic_begin == Some(frame.function) => {
                    self.elect(warp, &frame, access, m);
                    pc += 1;
                }
                OpKind::Atomic(access) => {
                    self.may_wait |= !access.d.is_empty() && access.space.is_common();
                    if let Err(bad) = self.atomic(block, warp, &frame, access, m, pc) {
                        book!();
                        return Err(self.access_fault(block, warp, frame_index, pc, *bad));
                    }
                    pc += 1;
                }
                OpKind::Touch(access) => {
                    if access.bytes != 0
                        && let Err(bad) = self.load(block, warp, &frame, access, m, pc)
                    {
                        book!();
                        return Err(self.access_fault(block, warp, frame_index, pc, *bad));
                    }
                    pc += 1;
                }
                OpKind::IsSpace { d: to, address, window } => {
                    let addresses = warp.r64.copy(frame.base64 + address);
                    let mut value = 0;
                    for lane in lanes(m) {
                        let inside = self.is_space(block, addresses[lane], *window);
                        value |= u32::from(inside) << lane;
                    }
                    write_mask(&mut p!(to), value, m);
                    pc += 1;
                }
                OpKind::Alloca { d: to, wide, size, size_wide, align } => {
                    let sizes = wide_values(warp, &frame, *size, *size_wide);
                    let bytes = lanes(m).map(|lane| sizes[lane]).max().unwrap_or(0);
                    let grown = self.grow_stack(block, warp, frame_index, bytes, *align);
                    let address = match grown {
                        Ok(address) => address,
                        Err(kind) => fault!(m, kind),
                    };
                    frame = warp.frames[frame_index as usize];
                    if *wide {
                        warp.r64.set_uniform(frame.base64 + to, address, m);
                    } else {
                        warp.r32.set_uniform(frame.base32 + to, address as u32, m);
                    }
                    pc += 1;
                }
                OpKind::StackSave { d: to, wide } => {
                    let top = u64::from(frame.top_local) * 4;
                    if *wide {
                        warp.r64.set_uniform(frame.base64 + to, top, m);
                    } else {
                        warp.r32.set_uniform(frame.base32 + to, top as u32, m);
                    }
                    pc += 1;
                }
                OpKind::StackRestore { a, wide } => {
                    let tops = wide_values(warp, &frame, *a, *wide);
                    let top = (tops[(m.trailing_zeros() & 31) as usize] / 4) as u32;
                    // Lanes elsewhere in the same frame may still use what lies above.
                    let alone = !warp
                        .splits
                        .iter()
                        .enumerate()
                        .any(|(other, split)| other != index && split.frame == frame_index)
                        && m == mask;
                    if alone && top >= frame.base_local && top <= frame.top_local {
                        warp.frames[frame_index as usize].top_local = top;
                        frame = warp.frames[frame_index as usize];
                    }
                    pc += 1;
                }
                OpKind::Clock { d: to, clock } => {
                    let now = self.report.warp_instructions + executed;
                    match clock {
                        Clock::Full64 | Clock::Nanoseconds64 => {
                            warp.r64.set_uniform(frame.base64 + to, now, m);
                        }
                        Clock::Low32 | Clock::NanosecondsLow32 => {
                            warp.r32.set_uniform(frame.base32 + to, now as u32, m);
                        }
                        Clock::High32 | Clock::NanosecondsHigh32 => {
                            warp.r32.set_uniform(frame.base32 + to, (now >> 32) as u32, m);
                        }
                    }
                    pc += 1;
                }
                OpKind::ActiveMask { d: to } => {
                    warp.r32.set_uniform(frame.base32 + to, m, m);
                    pc += 1;
                }
                OpKind::Join => {
                    executed -= 1;
                    let join = warp.splits[index].join;
                    if join != NONE {
                        let found = warp.joins[join as usize];
                        if found.pc == pc && found.callee == NONE && found.frame == frame_index {
                            book!();
                            warp.splits.remove(index);
                            warp.arrive(join, mask);
                            return Ok(Stop::Switch);
                        }
                    }
                    pc += 1;
                }
                OpKind::Branch { target, join } => {
                    if m == mask || *target == pc + 1 {
                        jump!(*target);
                    } else {
                        book!();
                        self.report.divergent_branches += 1;
                        if let Some(counting) = &mut self.counting {
                            counting.sums.diverged(pc);
                        }
                        let first = self.choose(2) == 1;
                        diverge(warp, index, [(*target, m), (pc + 1, mask & !m)], *join, first);
                        let split = warp.splits[index];
                        (pc, mask) = (split.pc, split.mask);
                        run_start = pc;
                    }
                }
                OpKind::BranchTable { index: row, targets, join } => {
                    let values = warp.r32.copy(frame.base32 + row);
                    let first = values[(m.trailing_zeros() & 31) as usize];
                    let same = lanes(m)
                        .filter(|lane| values[*lane] == first)
                        .fold(0, |same, lane| same | 1 << lane);
                    let Some(target) = targets.get(first as usize).copied() else {
                        let note = format!(
                            "the index is {first}; the branch has {} targets",
                            targets.len()
                        );
                        book!();
                        let kind = FaultKind::InvalidPc;
                        let fault = self.fault(block, warp, frame_index, pc, same, kind);
                        return Err(fault.with_note(note));
                    };
                    if same == mask {
                        jump!(target);
                    } else {
                        // The others decide again, without those that agree.
                        book!();
                        self.report.divergent_branches += 1;
                        if let Some(counting) = &mut self.counting {
                            counting.sums.diverged(pc);
                        }
                        diverge(warp, index, [(target, same), (pc, mask & !same)], *join, true);
                        let split = warp.splits[index];
                        (pc, mask) = (split.pc, split.mask);
                        run_start = pc;
                    }
                }
                OpKind::Call(call) => {
                    book!();
                    if self.out_of_fuel(0) {
                        fault!(mask, FaultKind::FuelExhausted);
                    }
                    warp.splits[index].pc = pc;
                    self.call(block, warp, index, call, m)?;
                    let split = warp.splits[index];
                    (pc, mask, frame_index) = (split.pc, split.mask, split.frame);
                    run_start = pc;
                    frame = warp.frames[frame_index as usize];
                }
                OpKind::Return => {
                    book!();
                    warp.splits[index].pc = pc;
                    if !self.leave_function(block, warp, index, m)? {
                        return Ok(Stop::Switch);
                    }
                    mask = warp.splits[index].mask;
                    pc += 1;
                    warp.splits[index].pc = pc;
                }
                OpKind::Exit => {
                    book!();
                    if self.program.panic_begin == Some(frame.function) {
                        warp.panicked.push((frame.parent, m));
                    }
                    if !warp.exit(index, m) {
                        self.check_members(block, warp)?;
                        return Ok(Stop::Switch);
                    }
                    mask = warp.splits[index].mask;
                    pc += 1;
                    warp.splits[index].pc = pc;
                    self.check_members(block, warp)?;
                }
                OpKind::Trap => fault!(m, FaultKind::Trap),
                OpKind::Breakpoint => fault!(m, FaultKind::Breakpoint),
                OpKind::Barrier(barrier) => {
                    book!();
                    if m != mask {
                        part(warp, index, m, pc + 1);
                    }
                    let (number, count) = agree(warp, index, &frame, barrier, pc);
                    mask = warp.splits[index].mask;
                    match self.barrier(block, warp, index, pc, barrier, number, count)? {
                        Arrival::Parked => return Ok(Stop::Switch),
                        Arrival::Passed => pc += 1,
                    }
                }
                OpKind::Warp(operation) => {
                    book!();
                    if m != mask {
                        part(warp, index, m, pc + 1);
                    }
                    warp.splits[index].pc = pc;
                    if !self.meet(block, warp, index, operation)? {
                        return Ok(Stop::Switch);
                    }
                    mask = warp.splits[index].mask;
                    pc += 1;
                    warp.splits[index].pc = pc;
                }
                OpKind::AsyncCopy(copy) => {
                    book!();
                    self.async_copy(block, warp, frame_index, copy, m, pc)?;
                    pc += 1;
                }
                OpKind::Mbarrier(operation) => {
                    book!();
                    let in_vain = self.mbarrier(block, warp, frame_index, operation, m, pc)?;
                    pc += 1;
                    if in_vain {
                        warp.splits[index].pc = pc;
                        rotate(warp, index);
                        stop!(Stop::Turn);
                    }
                }
                OpKind::Yield => {
                    self.may_wait = true;
                    pc += 1;
                    warp.splits[index].pc = pc;
                    rotate(warp, index);
                    stop!(Stop::Turn);
                }
                OpKind::Fence(_) => {
                    if !self.memory.is_own() {
                        fence(Ordering::SeqCst);
                    }
                    pc += 1;
                }
                OpKind::Nothing => pc += 1,
                OpKind::FellOffEnd => {
                    executed -= 1;
                    fault!(m, FaultKind::FellOffEnd)
                }
                OpKind::Unsupported { reason } => {
                    let mnemonic = reason.to_string();
                    fault!(m, FaultKind::UnsupportedInstruction { mnemonic })
                }
            }
        }
    }

    /// `isspacep`
    fn is_space(&self, block: &BlockState, address: u64, space: SpaceTest) -> bool {
        match (window::of(address), space) {
            // Other blocks have windows of their own in that of the cluster.
            (Window::Shared, SpaceTest::Shared) => {
                rank_of(address - window::SHARED_BASE) == u64::from(block.rank.rank)
            }
            (Window::Shared, SpaceTest::Cluster)
            | (Window::Local, SpaceTest::Local)
            | (Window::Param, SpaceTest::Param) => true,
            (Window::Global, SpaceTest::Constant) => self.memory.is_constant(address),
            (Window::Global, SpaceTest::Global) => !self.memory.is_constant(address),
            _ => false,
        }
    }
}
