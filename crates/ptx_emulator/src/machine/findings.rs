//! Describing what checks found: from a position in the machine to what a reader needs to know.

use std::fmt::Write;

use ptx::demangle;

use super::block::BlockState;
use super::launch::Engine;
use super::race_watch::Part;
use super::warp::{Frame, Warp};
use super::watch::{self, Position};
use crate::checks::race::{Hazard, Hit};
use crate::checks::{Check, Checks, Finding, FindingAddress, FindingKind, Party, Severity};
use crate::diagnostic::{code_place, thread_index, triple};
use crate::events::{Action, Area, Values};
use crate::fault::Threads;
use crate::op::{Element, MemoryOp, NONE};
use crate::program::VariableSpace;

/// Most bytes that one lane accesses: `.v8.b32`, `.v4.b64`.
const WIDEST: usize = 32;

/// What a store takes from its registers.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    /// Without elements: nothing is known of the values.
    pub(super) op: &'a MemoryOp,
    pub(super) frame: Frame,
    pub(super) part: &'a Part,
}

impl Stored<'_> {
    /// The bytes that a lane writes.
    fn bytes(&self, warp: &mut Warp, lane: usize) -> Option<[u8; WIDEST]> {
        if self.op.elements.is_empty() {
            return None;
        }
        let mut bytes = [0; WIDEST];
        let mut at = 0;
        for (row, element) in &self.op.elements {
            let size = element.bytes() as usize;
            if *row != NONE {
                let (low, high) = match element {
                    Element::Narrow { .. } => {
                        (u64::from(watch::narrow(warp, &self.frame, *row)[lane]), 0)
                    }
                    Element::Wide { .. } => (watch::wide(warp, &self.frame, *row)[lane], 0),
                    Element::Pair => (
                        watch::wide(warp, &self.frame, *row)[lane],
                        watch::wide(warp, &self.frame, *row + 1)[lane],
                    ),
                };
                let value = u128::from(low) | u128::from(high) << 64;
                for (byte, value) in bytes[at..].iter_mut().zip(value.to_le_bytes()).take(size) {
                    *byte = value;
                }
            }
            at += size;
        }
        Some(bytes)
    }
}

/// Compares what lanes write with each other, and with what is there.
pub(super) struct Comparison<'a, 'b> {
    pub(super) engine: &'a Engine<'b>,
    pub(super) block: &'a BlockState,
    pub(super) warp: &'a mut Warp,
    pub(super) source: Stored<'a>,
}

impl Values for Comparison<'_, '_> {
    fn equal(&mut self, a: usize, b: usize) -> bool {
        let first = self.source.bytes(self.warp, a);
        first.is_some() && first == self.source.bytes(self.warp, b)
    }

    fn unchanged(&mut self, lane: usize) -> bool {
        let Some(written) = self.source.bytes(self.warp, lane) else {
            return false;
        };
        let part = self.source.part;
        let size = self.source.op.bytes as usize;
        let mut present = [0; WIDEST];
        let there = self.engine.present(self.block, part, lane, &mut present[..size]);
        there && present[..size] == written[..size]
    }
}

impl Engine<'_> {
    /// What lies where a lane's access goes. False if that is not known.
    fn present(&self, block: &BlockState, part: &Part, lane: usize, bytes: &mut [u8]) -> bool {
        let offset = part.offsets.at(lane);
        match part.area {
            Area::Shared => block.shared.read_bytes(offset as usize, bytes),
            Area::Remote { rank } => self
                .member(rank)
                .is_some_and(|member| member.shared.read_bytes(offset as usize, bytes)),
            Area::Global { base, .. } => self.memory.read(base + offset, bytes).is_ok(),
            Area::Local => false,
        }
    }

    /// A finding about the present launch.
    pub(super) fn finding(&self, kind: FindingKind, severity: Severity, title: String) -> Finding {
        Finding {
            kind,
            severity,
            title,
            kernel: demangle(&self.kernel.name),
            grid: self.grid,
            block_dim: self.block_dim,
            address: None,
            parties: Vec::new(),
            notes: Vec::new(),
            help: String::new(),
            count: 1,
        }
    }

    /// Which thread uses the device heap where, for memcheck.
    pub(super) fn heap_user(
        &self,
        block: &BlockState,
        warp: &Warp,
        pc: u32,
        lane: usize,
    ) -> Option<String> {
        if !self.checks.as_ref()?.set.contains(Check::Memcheck) {
            return None;
        }
        let linear = warp.index * 32 + lane as u32;
        let thread = triple(thread_index(linear, self.block_dim));
        let code = self.code(pc)?;
        let place = code_place(&code);
        let kernel = demangle(&self.kernel.name);
        let block = triple(block.index);
        Some(format!("by block {block}, thread {thread} of `{kernel}`, {place}"))
    }

    /// Lanes that stand at `at` now.
    pub(super) fn party(
        &self,
        action: String,
        block: &BlockState,
        warp: &Warp,
        at: Position,
        lanes: u32,
    ) -> Party {
        let threads = Threads { block: block.index, warp: warp.index, lanes };
        Party::new(action, threads, self.code(at.pc), self.stack(warp, at.frame, at.pc))
    }

    /// The index of the block with this number.
    pub(super) fn block_index(&self, linear: u32) -> [u32; 3] {
        thread_index(linear, self.grid)
    }

    /// Name, size and offset of what lies at an address.
    pub(super) fn described_address(
        &self,
        block: &BlockState,
        part: &Part,
        lane: usize,
    ) -> FindingAddress {
        let offset = part.offsets.at(lane);
        let address = part.base.wrapping_add(offset);
        let (space, place) = match part.area {
            Area::Shared if self.cluster_blocks() > 1 => {
                ("shared", self.shared_variable_of(block, block.rank.rank, offset))
            }
            Area::Shared => ("shared", self.shared_variable(offset)),
            Area::Remote { rank } => ("shared", self.shared_variable_of(block, rank, offset)),
            Area::Local => ("local", String::new()),
            Area::Global { .. } => {
                ("global", self.memory.nearest(address).map_or_else(String::new, |n| n.to_string()))
            }
        };
        FindingAddress { address, space, place }
    }

    /// The same of the block of this rank in the cluster.
    fn shared_variable_of(&self, block: &BlockState, rank: u32, offset: u64) -> String {
        let whose = triple(self.index_of_rank(block, rank));
        format!("{}, of block {whose}, rank {rank} of its cluster", self.shared_variable(offset))
    }

    pub(super) fn shared_variable(&self, offset: u64) -> String {
        for (index, start) in &self.kernel.shared_layout {
            if let Some(variable) = self.program.variables.get(*index as usize)
                && variable.space == VariableSpace::Shared
                && let Some(inside) = offset.checked_sub(u64::from(*start))
                && inside < variable.bytes
            {
                let name = demangle(&variable.name);
                return format!("at offset {inside} of `{name}` ({} bytes)", variable.bytes);
            }
        }
        match offset.checked_sub(u64::from(self.kernel.dynamic_shared_offset)) {
            Some(inside) => format!(
                "at offset {inside} of the {} bytes of dynamic shared memory",
                self.dynamic_shared_bytes
            ),
            None => String::new(),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    pub(super) fn race_finding(
        &self,
        checks: &mut Checks,
        block: &BlockState,
        warp: &mut Warp,
        at: Position,
        part: &Part,
        (action, bytes): (Action, u32),
        source: Stored<'_>,
        hit: Hit,
    ) {
        let conflict = hit.conflict;
        let kind = match conflict.hazard {
            _ if hit.same_instruction => FindingKind::WriteByManyLanes,
            Hazard::ReadAfterWrite => FindingKind::ReadAfterWrite,
            Hazard::WriteAfterRead => FindingKind::WriteAfterRead,
            Hazard::WriteAfterWrite => FindingKind::WriteAfterWrite,
            Hazard::NonCoherent => FindingKind::NonCoherentRead,
            Hazard::PendingCopy => FindingKind::PendingCopy,
        };
        let severity =
            if hit.same_value || conflict.volatile { Severity::Warning } else { Severity::Error };
        let key = (kind, at.pc, conflict.pc);
        if !checks.is_new(key, severity) {
            return;
        }
        let lane = (conflict.lanes.trailing_zeros() & 31) as usize;
        let address = self.described_address(block, part, lane);
        let (this, other) = names(conflict.hazard, action, self.is_atomic(conflict.pc));
        let same_warp = conflict.block == block.linear as u32 && conflict.warp == warp.index;
        let what = match kind {
            FindingKind::WriteByManyLanes => "lanes write the same place with one instruction",
            FindingKind::ReadAfterWrite => "unordered read after write (RAW)",
            FindingKind::WriteAfterRead => "unordered write after read (WAR)",
            FindingKind::WriteAfterWrite => "unordered write after write (WAW)",
            FindingKind::PendingCopy => {
                "access to the target of an asynchronous copy that was not waited for"
            }
            _ if action == Action::Read => {
                "read through the cache for constant data (.nc) after a write"
            }
            _ => "write of what was read through the cache for constant data (.nc)",
        };
        let title =
            format!("{what}: {bytes} bytes at {:#x} in {} memory", address.address, address.space);
        let mut finding = self.finding(kind, severity, title);
        finding.address = Some(address);
        finding.parties.push(self.party(this.to_owned(), block, warp, at, conflict.lanes));
        let threads = Threads {
            block: self.block_index(conflict.block),
            warp: conflict.warp,
            lanes: conflict.other_lanes,
        };
        let other = if hit.same_instruction { "and" } else { other };
        let code = self.code(conflict.pc).filter(|_| !hit.same_instruction);
        finding.parties.push(Party::new(other.to_owned(), threads, code, Vec::new()));
        self.note_values(&mut finding, block, warp, source, (action, bytes), lane);
        if conflict.volatile {
            finding.notes.push(
                "both accesses are volatile: no data race, but nothing makes the lanes take turns"
                    .to_owned(),
            );
        } else if hit.same_value {
            finding.notes.push("the values are the same".to_owned());
        }
        finding.help = match kind {
            FindingKind::WriteByManyLanes => {
                "let one lane write, give each lane a place of its own, or use an atomic"
            }
            FindingKind::NonCoherentRead => {
                "no thread may write during the launch what is read with .nc; the compiler uses it for slices that cannot change: pass memory that the kernel writes as a mutable pointer only"
            }
            FindingKind::PendingCopy => {
                "let the thread that issued the copy wait for it (cp.async.wait_group, wait_all, or an mbarrier), and put a barrier behind that for the others"
            }
            _ if same_warp => {
                "the lanes of a warp run independently of each other: put a warp barrier (sync_warp, __syncwarp) between the two, or one of the block"
            }
            _ if conflict.block == block.linear as u32 => {
                "put a barrier of the block (sync_threads, __syncthreads) between the two, or make both atomic"
            }
            _ if matches!(part.area, Area::Shared | Area::Remote { .. }) => {
                "put a barrier of the cluster (Cluster::sync, cluster.sync()) between the two, or make both atomic for the cluster"
            }
            _ => {
                "blocks run in any order: use atomics, hand the data over with a fence and a flag, or let a second launch read it"
            }
        }
        .to_owned();
        checks.add(key, finding);
    }

    fn is_atomic(&self, pc: u32) -> bool {
        use crate::op::OpKind;
        matches!(self.program.ops.get(pc as usize).map(|op| &op.kind), Some(OpKind::Atomic(_)))
    }

    /// What the first lane writes, and what is there now.
    fn note_values(
        &self,
        finding: &mut Finding,
        block: &BlockState,
        warp: &mut Warp,
        source: Stored<'_>,
        (action, bytes): (Action, u32),
        lane: usize,
    ) {
        let size = (bytes as usize).min(WIDEST);
        let mut present = [0; WIDEST];
        if !self.present(block, source.part, lane, &mut present[..size]) {
            return;
        }
        let there = hex(&present[..size]);
        let note = match action {
            Action::Read => format!("lane {lane} reads {there}"),
            Action::Write => match source.bytes(warp, lane) {
                Some(written) => {
                    format!("lane {lane} writes {} over {there}", hex(&written[..size]))
                }
                None => return,
            },
            Action::Atomic => format!("lane {lane} finds {there}"),
        };
        finding.notes.push(note);
    }
}

/// A little-endian number.
fn hex(bytes: &[u8]) -> String {
    let mut text = "0x".to_owned();
    for byte in bytes.iter().rev() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What the two sides of a hazard did.
fn names(hazard: Hazard, action: Action, other_atomic: bool) -> (&'static str, &'static str) {
    let this = match action {
        Action::Read => "read",
        Action::Write => "write",
        Action::Atomic => "atomic",
    };
    let read_before = match hazard {
        Hazard::ReadAfterWrite | Hazard::WriteAfterWrite => false,
        Hazard::WriteAfterRead => true,
        Hazard::NonCoherent => action != Action::Read,
        Hazard::PendingCopy => return (this, "copy"),
    };
    let other = match (read_before, other_atomic) {
        (_, true) => "earlier atomic",
        (true, false) => "earlier read",
        (false, false) => "earlier write",
    };
    (this, other)
}
