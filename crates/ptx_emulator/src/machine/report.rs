//! Building faults: from a position in the machine to what a reader needs to know.

use ptx::{SourceMap, demangle};

use super::MachineConfig;
use super::block::{Block, BlockState};
use super::cluster::{Member, Rank, STAY, rank_of};
use super::launch::Engine;
use super::warp::{State, Warp};
use crate::diagnostic::{ranges, triple};
use crate::fault::{AccessInfo, Code, Fault, FaultKind, StackEntry, Threads};
use crate::memory::{Place as MemoryPlace, window};
use crate::op::{NONE, OpKind};
use crate::program::{SourceLine, VariableSpace};

/// An access that failed, before it is described.
pub(super) struct BadAccess {
    pub(super) kind: FaultKind,
    pub(super) lanes: u32,
    /// Of the first of these lanes.
    pub(super) address: u64,
    pub(super) space: &'static str,
    pub(super) bytes: u32,
    pub(super) reason: Reason,
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    OutOfBounds,
    /// A `.shared` instruction with the address of another block's shared memory.
    OtherBlock,
    Misaligned,
    ReadOnly,
    WrongSpace,
    /// A generic address that had to be one of shared memory.
    NotShared,
}

impl Fault {
    pub(super) fn with_note(mut self: Box<Self>, note: String) -> Box<Self> {
        self.notes.push(note);
        self
    }

    pub(super) fn with_help(mut self: Box<Self>, help: &str) -> Box<Self> {
        self.help = help.to_owned();
        self
    }
}

impl Engine<'_> {
    /// A fault without a place in the code.
    pub(super) fn bare_fault(&self, kind: FaultKind) -> Box<Fault> {
        let help = general_help(&kind, self.config);
        Box::new(Fault {
            kind,
            kernel: demangle(&self.kernel.name),
            grid: self.grid,
            block_dim: self.block_dim,
            threads: None,
            access: None,
            code: None,
            stack: Vec::new(),
            notes: Vec::new(),
            help,
            panic: None,
        })
    }

    /// A fault of the lanes `lanes` at `pc` in `frame`.
    pub(super) fn fault(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        pc: u32,
        lanes: u32,
        kind: FaultKind,
    ) -> Box<Fault> {
        let mut fault = self.bare_fault(kind);
        fault.threads = Some(Threads { block: block.index, warp: warp.index, lanes });
        fault.code = self.code(pc);
        fault.stack = self.stack(warp, frame, pc);
        fault.panic = panic_message(&fault);
        if fault.panic.is_some() {
            if let Some(code) = &mut fault.code {
                code.source = panic_source(&fault.stack).or(code.source.take());
            }
            fault.help =
                "the kernel ended itself: see the source line above, and the lanes that reached it"
                    .to_owned();
        }
        fault
    }

    /// A fault of a memory access.
    pub(super) fn access_fault(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        pc: u32,
        bad: BadAccess,
    ) -> Box<Fault> {
        let action = match self.program.ops.get(pc as usize).map(|op| &op.kind) {
            Some(OpKind::Load(_) | OpKind::Touch(_)) => "read",
            Some(OpKind::Store(_)) => "write",
            Some(OpKind::Atomic(_) | OpKind::Mbarrier(_)) => "atomic access",
            // A copy writes to shared memory, its source is global.
            Some(OpKind::AsyncCopy(_)) if bad.space == "shared" => "write",
            Some(OpKind::Warp(op)) if op.matrix.as_ref().is_some_and(|m| m.stores()) => "write",
            _ => "read",
        };
        let place = match bad.reason {
            Reason::OutOfBounds | Reason::OtherBlock | Reason::ReadOnly => {
                self.place(block, warp, frame, bad.space, bad.address)
            }
            Reason::Misaligned => format!(
                "{} bytes past a multiple of {}",
                bad.address % u64::from(bad.bytes.max(1)),
                bad.bytes
            ),
            Reason::WrongSpace | Reason::NotShared => match window::of(bad.address) {
                window::Window::Shared => "a generic address of shared memory".to_owned(),
                window::Window::Local => "a generic address of local memory".to_owned(),
                window::Window::Param => "a generic address of a kernel parameter".to_owned(),
                window::Window::Function => "the address of a function".to_owned(),
                window::Window::Global => "a generic or global address".to_owned(),
            },
        };
        let help = self.access_help(&bad);
        let mut fault = self.fault(block, warp, frame, pc, bad.lanes, bad.kind);
        fault.access = Some(AccessInfo {
            action,
            bytes: bad.bytes,
            space: bad.space,
            address: bad.address,
            place,
        });
        fault.help = help;
        fault
    }

    fn place(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        space: &str,
        address: u64,
    ) -> String {
        match space {
            "shared" => self.shared_place(block, address),
            "local" => {
                let frame = warp.frames.get(frame as usize).copied().unwrap_or_default();
                let top = u64::from(frame.top_local) * 4;
                match address.checked_sub(top) {
                    Some(past) => format!("{past} bytes past the end of the thread's stack frame"),
                    None => "before the start of the thread's stack".to_owned(),
                }
            }
            "param" => format!("the kernel has {} bytes of parameters", self.params.len()),
            _ if window::of(address) == window::Window::Function => {
                "the address of a function".to_owned()
            }
            _ => match self.memory.nearest(address) {
                // An allocation far away says nothing about a stray pointer.
                Some(near) if distance(near.place) < (1 << 30) => near.to_string(),
                _ => "far from any allocation".to_owned(),
            },
        }
    }

    fn shared_place(&self, block: &BlockState, address: u64) -> String {
        let rank = rank_of(address);
        if self.cluster.is_none() {
            return self.shared_place_in(
                address,
                block.rank.shared_base,
                block.shared.len() as u64,
            );
        }
        let member = u32::try_from(rank).ok().and_then(|rank| Some((rank, self.member(rank)?)));
        let Some((rank, member)) = member else {
            return format!("the cluster has no block of rank {rank}");
        };
        let whose = format!(
            "the cluster's block of rank {rank}, block {}",
            triple(self.index_of_rank(block, rank))
        );
        let own = rank == block.rank.rank;
        let (base, size) = match own {
            true => (block.rank.shared_base, block.shared.len() as u64),
            false => (Rank::new(rank).shared_base, member.shared.len() as u64),
        };
        if !own && member.has_ended() {
            return format!("{whose}, has ended");
        }
        let place = match address.checked_sub(base) {
            Some(offset) if offset < size => self.shared_variable(offset),
            _ => self.shared_place_in(address, base, size),
        };
        format!("{place}, in the shared memory of {whose}")
    }

    /// Where an address outside of a block's shared memory is, from what the block has.
    fn shared_place_in(&self, address: u64, base: u64, size: u64) -> String {
        let Some(offset) = address.checked_sub(base) else {
            return "before the first shared variable".to_owned();
        };
        let names: Vec<(&str, u64, u64)> = self
            .kernel
            .shared_layout
            .iter()
            .filter_map(|(index, offset)| {
                let variable = self.program.variables.get(*index as usize)?;
                (variable.space == VariableSpace::Shared).then_some((
                    variable.name.as_str(),
                    u64::from(*offset),
                    variable.bytes,
                ))
            })
            .collect();
        let past = offset.saturating_sub(size);
        match names.last() {
            Some((name, at, bytes)) if self.dynamic_shared_bytes == 0 => format!(
                "{} bytes past the end of `{}` ({bytes} bytes), the last of {size} shared bytes",
                (offset - at).saturating_sub(*bytes),
                demangle(name)
            ),
            _ => format!("{past} bytes past the end of the block's {size} bytes of shared memory"),
        }
    }

    /// Whether an address is in the shared memory that a block of the running one's cluster had.
    fn is_of_ended_block(&self, address: u64) -> bool {
        let rank = u32::try_from(rank_of(address)).ok();
        rank.and_then(|rank| self.member(rank)).is_some_and(Member::has_ended)
    }

    fn access_help(&self, bad: &BadAccess) -> String {
        let text = match bad.reason {
            Reason::Misaligned => {
                "an access must be aligned to its own size; vectors count as a whole"
            }
            Reason::ReadOnly => "constant memory and kernel parameters can only be read by kernels",
            Reason::OtherBlock => {
                ".shared without ::cluster means the own block's shared memory: use .shared::cluster, or a generic address"
            }
            Reason::NotShared => "the instruction works on shared memory of the own block only",
            Reason::WrongSpace => {
                "the instruction names another state space than the pointer is of; use generic accesses, or convert with cvta.to"
            }
            Reason::OutOfBounds => match bad.space {
                "shared" if self.is_of_ended_block(bad.address) => STAY,
                "shared" => {
                    "compare the index with the array's length, and the launch's dynamic shared memory with what the kernel needs"
                }
                "local" => "compare the index with the local array's length",
                _ if bad.address < 4096 => {
                    "the pointer is null, or an index into a null array: was the argument set?"
                }
                _ => match self.memory.nearest(bad.address) {
                    Some(near) if near.freed => "the memory was freed before the kernel used it",
                    Some(near) if matches!(near.place, MemoryPlace::After(past) if past < 1 << 20) => {
                        "compare the index with the number of elements, and the grid with the size of the data"
                    }
                    _ => {
                        "the pointer points to no device memory: was a host pointer passed, or an offset computed wrongly?"
                    }
                },
            },
        };
        text.to_owned()
    }

    pub(super) fn code(&self, pc: u32) -> Option<Code> {
        let place = self.program.places.get(pc as usize)?;
        let map = SourceMap::new(&self.program.source);
        let position = map.position(place.span.start);
        let text = map.text(place.span);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Code { line: position.line, text: shorten(&text), source: self.line(pc) })
    }

    fn line(&self, pc: u32) -> Option<SourceLine> {
        let place = self.program.places.get(pc as usize)?;
        self.program.lines.get(place.line as usize).cloned()
    }

    pub(super) fn stack(&self, warp: &Warp, frame: u32, pc: u32) -> Vec<StackEntry> {
        let mut entries = Vec::new();
        let (mut frame, mut pc) = (frame, pc);
        // A call of a function that is not there is named too: it is what went wrong.
        if let Some(OpKind::Call(call)) = self.program.ops.get(pc as usize).map(|op| &op.kind)
            && let crate::op::Callee::Unresolved(index) = call.callee
            && let Some(name) = self.program.unresolved.get(index as usize)
        {
            entries.push(StackEntry { function: demangle(name), line: None });
        }
        while let Some(found) = warp.frames.get(frame as usize) {
            let name = self.program.functions.get(found.function as usize);
            entries.push(StackEntry {
                function: name.map_or_else(String::new, |function| demangle(&function.name)),
                line: self.line(pc),
            });
            (frame, pc) = (found.parent, found.call_pc);
            if frame == NONE {
                break;
            }
        }
        entries
    }

    /// No thread of the block can go on: who waits for what.
    pub(super) fn deadlock(&self, block: &Block) -> Box<Fault> {
        let mut fault = self.bare_fault(FaultKind::Deadlock);
        let mut first = true;
        let mut spins = false;
        for warp in &block.warps {
            for split in &warp.splits {
                let mut pc = split.pc;
                let wait = match split.state {
                    // The wait was in vain, and the next instruction would have decided to wait again.
                    State::Ready => {
                        spins = true;
                        pc = pc.saturating_sub(1);
                        "wait in vain for a phase of an mbarrier object".to_owned()
                    }
                    State::Barrier { number } if u32::from(number) == super::CLUSTER_BARRIER => {
                        "wait at the cluster barrier".to_owned()
                    }
                    State::Barrier { number } => {
                        match block.state.barriers.get(usize::from(number)).map(|b| b.expected()) {
                            Some(count) if count > 0 => {
                                format!("wait at barrier {number} for {count} threads")
                            }
                            _ => format!("wait at barrier {number}"),
                        }
                    }
                    State::Members { mask } => {
                        let absent = mask & warp.alive & !split.mask;
                        format!(
                            "wait for lanes {} in `{}`",
                            ranges(absent),
                            self.code(split.pc).map_or_else(String::new, |code| code.text)
                        )
                    }
                };
                let code = self.code(pc);
                let line = code.as_ref().map_or(0, |code| code.line);
                fault.notes.push(format!(
                    "warp {} lanes {} {wait}, ptx line {line}{}",
                    warp.index,
                    ranges(split.mask),
                    source_text(code.as_ref())
                ));
                if first {
                    first = false;
                    fault.threads = Some(Threads {
                        block: block.state.index,
                        warp: warp.index,
                        lanes: split.mask,
                    });
                    fault.stack = self.stack(warp, split.frame, pc);
                    fault.code = code;
                }
            }
            let launched = self.lanes_of(warp.index);
            let exited = launched & !warp.alive;
            if exited != 0 && warp.alive != 0 {
                fault.notes.push(format!(
                    "warp {} lanes {} have exited",
                    warp.index,
                    ranges(exited)
                ));
            }
        }
        if spins {
            fault.notes.extend(block.state.mbarriers.describe(&block.state.shared));
        }
        let waiting: Vec<usize> = (0..block.state.barriers.len())
            .filter(|n| block.state.barriers[*n].waiting().iter().any(|m| *m != 0))
            .collect();
        if waiting.len() > 1 {
            fault.notes.push(format!("threads wait at {} different barriers", waiting.len()));
        }
        fault
    }
}

fn source_text(code: Option<&Code>) -> String {
    let position = code
        .and_then(|code| code.source.as_ref())
        .and_then(|line| line.chain.last())
        .map(|position| format!(", {}:{}", position.file, position.line));
    position.unwrap_or_default()
}

fn distance(place: MemoryPlace) -> u64 {
    match place {
        MemoryPlace::Before(distance) | MemoryPlace::After(distance) => distance,
        MemoryPlace::Inside(_) => 0,
    }
}

fn shorten(text: &str) -> String {
    const SHOWN: usize = 160;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(SHOWN).collect();
    short.push('…');
    short
}

fn general_help(kind: &FaultKind, config: &MachineConfig) -> String {
    match kind {
        FaultKind::Trap => "unreachable code, an abort, or a failed check ends in a trap".to_owned(),
        FaultKind::Breakpoint => "remove the breakpoint instruction".to_owned(),
        FaultKind::Assert { .. } => {
            "the kernel checked this itself; look at what the message says".to_owned()
        }
        FaultKind::Deadlock => {
            "every thread of a block must reach the same barriers; look for a barrier or warp operation inside a condition, or after an early return".to_owned()
        }
        FaultKind::InvalidBarrier => "barriers have numbers 0 to 15".to_owned(),
        FaultKind::InvalidWarpMask => {
            "the mask must contain every lane that executes the instruction".to_owned()
        }
        FaultKind::IncompleteWarp => {
            "instructions with .aligned must be executed by whole warps: launch blocks of a multiple of 32 threads, and let no thread leave before".to_owned()
        }
        FaultKind::InvalidMbarrier => {
            "an mbarrier object is 8 bytes of shared memory that mbarrier.init has set up; compare arrivals and transactions with its counts".to_owned()
        }
        FaultKind::FellOffEnd => {
            "control went past the last instruction; a function that was said never to return may have returned".to_owned()
        }
        FaultKind::InvalidPc => {
            "function pointers must come from the same module, and not from the host".to_owned()
        }
        FaultKind::UnsupportedInstruction { .. } => {
            "this says nothing about the kernel; it may run on a GPU".to_owned()
        }
        FaultKind::UnresolvedFunction { name } if name.starts_with("llvm.") => {
            "the compiler knows no intrinsic of this name and signature; check both".to_owned()
        }
        FaultKind::UnresolvedFunction { .. } => {
            "link the module that defines the function; printf, assertions, malloc and free are built in".to_owned()
        }
        FaultKind::FuelExhausted => format!(
            "a loop may never end; if it does, raise the limit of {} warp instructions",
            config.fuel.unwrap_or(u64::MAX)
        ),
        FaultKind::OutOfHostMemory => format!(
            "registers, local and shared memory of the blocks that run at the same time may take {} bytes: use fewer threads in a block, less local memory or fewer nested calls, or raise the limit",
            config.launch_bytes
        ),
        FaultKind::StackOverflow => "look for recursion without an end, or large local arrays".to_owned(),
        FaultKind::CallDepth => {
            "look for recursion without an end; a loop with an array of its own goes as deep as the array is long".to_owned()
        }
        FaultKind::BadLaunch(_) => "correct the launch; the kernel did not run".to_owned(),
        FaultKind::IllegalAddress
        | FaultKind::MisalignedAddress
        | FaultKind::InvalidAddressSpace
        | FaultKind::NotSharedMemory => {
            "check the pointer and the index".to_owned()
        }
    }
}

/// Whether a function is part of the machinery of panics.
fn is_panic_function(name: &str) -> bool {
    const PARTS: [&str; 7] = [
        "core::panicking::",
        "rust_begin_unwind",
        "core::option::unwrap_failed",
        "core::option::expect_failed",
        "core::result::unwrap_failed",
        "core::slice::index::",
        "core::cell::panic_",
    ];
    // What cuda_std has instead of them.
    const NAMES: [&str; 3] = ["panic_index_error", "panic_report", "panic_report_values"];
    PARTS.iter().any(|part| name.contains(part)) || NAMES.contains(&name)
}

/// The line that panicked: that of the innermost function outside the machinery. Where the machinery is inlined, its part
/// of the chain is left out.
fn panic_source(stack: &[StackEntry]) -> Option<SourceLine> {
    let caller =
        stack.iter().rposition(|entry| is_panic_function(&entry.function)).map_or(0, |at| at + 1);
    let line = stack.get(caller)?.line.clone()?;
    let inlined = line.chain.iter().rposition(|at| {
        at.file.ends_with("core/src/panicking.rs") || at.file.ends_with("core/src/slice/index.rs")
    });
    let chain = line.chain[inlined.map_or(0, |at| at + 1)..].to_vec();
    (!chain.is_empty()).then_some(SourceLine { chain })
}

/// What a Rust panic says, if this fault is the end of one. The panic functions of `core` are known by their names; LLVM
/// drops their arguments where the handler does not use them, so the text is general then.
fn panic_message(fault: &Fault) -> Option<String> {
    let in_panic = |entry: &&StackEntry| is_panic_function(&entry.function);
    let outermost = fault.stack.iter().rev().find(in_panic);
    match &fault.kind {
        FaultKind::Assert { message, file, .. } => {
            (outermost.is_some() || file.ends_with(".rs")).then(|| message.clone())
        }
        FaultKind::Trap => {
            let name = &outermost?.function;
            let known = [
                ("panic_bounds_check", "index out of bounds"),
                ("panic_const_add_overflow", "attempt to add with overflow"),
                ("panic_const_sub_overflow", "attempt to subtract with overflow"),
                ("panic_const_mul_overflow", "attempt to multiply with overflow"),
                ("panic_const_div_overflow", "attempt to divide with overflow"),
                ("panic_const_rem_overflow", "attempt to calculate the remainder with overflow"),
                ("panic_const_neg_overflow", "attempt to negate with overflow"),
                ("panic_const_shl_overflow", "attempt to shift left with overflow"),
                ("panic_const_shr_overflow", "attempt to shift right with overflow"),
                ("panic_const_div_by_zero", "attempt to divide by zero"),
                (
                    "panic_const_rem_by_zero",
                    "attempt to calculate the remainder with a divisor of zero",
                ),
                ("panic_misaligned_pointer_dereference", "misaligned pointer dereference"),
                ("panic_null_pointer_dereference", "null pointer dereference occurred"),
                ("option::unwrap_failed", "called `Option::unwrap()` on a `None` value"),
                ("option::expect_failed", "`Option::expect()` on a `None` value"),
                ("result::unwrap_failed", "called `Result::unwrap()` on an `Err` value"),
                ("slice_start_index_len_fail", "range start index out of range for slice"),
                ("slice_end_index_len_fail", "range end index out of range for slice"),
                ("slice_index_order_fail", "slice index starts after its end"),
                ("slice_index_fail", "slice index out of range"),
                ("assert_failed", "assertion failed: the two sides differ"),
                ("unreachable_display", "internal error: entered unreachable code"),
                ("panic_already_borrowed", "RefCell already borrowed"),
                ("panic_already_mutably_borrowed", "RefCell already mutably borrowed"),
            ];
            let text = known.iter().find(|(function, _)| name.contains(function));
            Some(match text {
                Some((_, text)) => format!("{text} ({name})"),
                None => format!("explicit panic ({name})"),
            })
        }
        _ => None,
    }
}
