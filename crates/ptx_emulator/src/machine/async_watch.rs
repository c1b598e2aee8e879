//! What the machine tells its checks about asynchronous copies, matrices and mbarrier objects.

use super::block::BlockState;
use super::findings::Stored;
use super::init_watch::Place;
use super::launch::Engine;
use super::race_watch::Target;
use super::warp::Warp;
use super::watch::Position;
use crate::checks::BlockChecks;
use crate::events::{Action, Offsets};
use crate::memory::Storage;
use crate::op::{Address, AddressRow, MemoryOp, Order, Scope, Space};
use crate::row::{LANES, Row64, lanes};

/// Bytes of shared memory, and what is known of them.
pub(super) struct SharedMemory<'a> {
    pub(super) bytes: &'a Storage,
    pub(super) checks: &'a mut Option<Box<BlockChecks>>,
}

impl SharedMemory<'_> {
    /// Copies were made before threads arrived at an mbarrier object.
    pub(super) fn delivered(&mut self) {
        if let Some(race) = self.checks.as_mut().and_then(|checks| checks.race.as_mut()) {
            race.shared.copies_delivered();
        }
    }

    /// Something other than a store writes to shared memory.
    pub(super) fn written(&mut self, offset: usize, bytes: u32) {
        let Some(checks) = self.checks else {
            return;
        };
        if let Some(init) = &mut checks.init {
            init.shared.mark(offset, bytes as usize);
        }
        if let Some(race) = &mut checks.race {
            race.shared.copy_done(offset as u64, bytes);
        }
    }
}

/// Lanes have issued copies to these offsets in shared memory, which take effect later.
pub(super) fn copies_issued(
    block: &mut BlockState,
    warp: u32,
    at: Position,
    offsets: &[usize; LANES],
    bytes: u32,
) {
    if let Some(race) = block.checks.as_mut().and_then(|checks| checks.race.as_mut()) {
        for lane in lanes(at.active) {
            race.shared.copy_issued(warp, lane, offsets[lane] as u64, bytes, at.pc);
        }
    }
}

impl Engine<'_> {
    /// Lanes access memory by an instruction that is no load, store or atomic; `addresses` are good ones. Bytes of each lane,
    /// and of an element: one of which a part was written is not reported.
    pub(super) fn moved(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        at: Position,
        (space, addresses): (Space, &Row64),
        (action, bytes, element): (Action, u32, u32),
    ) {
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        // Of what is written nothing is known here.
        let nothing = MemoryOp {
            space,
            address: Address { base: AddressRow::Zero, offset: 0 },
            elements: Box::new([]),
            bytes,
            strong: false,
            order: Order::WEAK,
        };
        let frame = warp.frames[at.frame as usize];
        let target = Target { space, addresses, bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let source = Stored { op: &nothing, frame, part: &part };
            if action == Action::Read
                && let Some(init) = &mut state.init
            {
                let mut place = Place { checks: &mut checks, init, at };
                self.init_read(&mut place, block, warp, &part, (bytes, element));
            }
            let kind = (action, bytes, Order::WEAK);
            self.race(&mut checks, &mut state, block, warp, at, &part, kind, source);
        }
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    /// Threads have waited for copies of theirs.
    pub(super) fn copies_waited(&mut self, block: &mut BlockState) {
        let (Some(checks), Some(state)) = (&mut self.checks, &mut block.checks) else {
            return;
        };
        if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            race.copies_waited(own);
        }
    }

    /// Threads arrive at mbarrier objects (`arrives`), or have waited for a phase of theirs.
    pub(super) fn objects_order(
        &mut self,
        block: &mut BlockState,
        warp: u32,
        lanes: u32,
        offsets: &[usize; LANES],
        arrives: bool,
    ) {
        let (Some(checks), Some(state)) = (&mut self.checks, &mut block.checks) else {
            return;
        };
        if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            let offsets = Offsets::Each(offsets.map(|offset| offset as u64));
            race.object(own, warp, lanes, &offsets, (arrives, Scope::Block));
        }
    }
}

/// Addresses in the block's shared memory of these offsets.
pub(super) fn shared_addresses(block: &BlockState, offsets: &[usize; LANES]) -> Row64 {
    offsets.map(|offset| block.rank.shared_base + offset as u64)
}
