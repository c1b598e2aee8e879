//! racecheck: accesses to the same bytes, one of them a write, that nothing orders.
//!
//! The happens-before relation is that of the PTX memory model (PTX ISA, "Memory Consistency Model"), taken generously where
//! programs rely on what all GPUs do; the algorithm is FastTrack's (Flanagan and Freund, 2009), with clocks that
//! are compressed for blocks and warps. A run can miss hazards that another schedule shows; it never invents
//! one.

mod cell;
mod clock;
mod cluster;
mod even;
mod hazard;
mod line;
#[cfg(test)]
mod model;
mod shadow;
mod shared;
mod sweep;
mod vector;

use std::collections::HashMap;

use cell::{Crowd, Flags};
use clock::{BlockClock, Clock, Released};
pub(crate) use cluster::{ClusterRace, Guest};
pub(crate) use hazard::{Conflict, Hazard};
use line::Look;
use shadow::Shadow;
pub(crate) use shared::SharedRace;
use shared::WORD;
use vector::{lane_bit, warp_of};

use crate::events::{self, Action, Area, Offsets, Values};
use crate::op::{Order, Scope, Semantics};
use crate::registers::Affine;
use crate::row::lanes;

/// A conflict, and what else is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) conflict: Conflict,
    /// Whether both write the same value.
    pub(crate) same_value: bool,
    /// Whether both are lanes of one execution of the instruction.
    pub(crate) same_instruction: bool,
}

/// State of a launch.
#[derive(Debug)]
pub(crate) struct Race {
    clock: Clock,
    /// By slot.
    global: Vec<Option<Shadow>>,
    /// What was released at an address of global memory.
    released: HashMap<u64, Released>,
    /// Counts what orders accesses of different warps.
    generation: u32,
}

/// State of a block.
#[derive(Debug)]
pub(crate) struct BlockRace {
    clocks: BlockClock,
    /// Of its shared memory; while it accesses another block's, of that.
    pub(crate) shared: SharedRace,
    /// The barrier of its cluster, if that is the block alone.
    pub(crate) cluster: ClusterRace,
    /// Who exited last: warp, lanes, position in the code.
    pub(crate) left: (u32, u32, u32),
}

impl BlockRace {
    /// `in_cluster`: with other blocks.
    pub(crate) fn new(block: u32, warps: usize, barriers: usize, in_cluster: bool) -> BlockRace {
        BlockRace {
            clocks: BlockClock::new(block, warps, barriers),
            shared: SharedRace::new(block, in_cluster),
            cluster: ClusterRace::default(),
            left: (0, 0, 0),
        }
    }
}

/// Lanes with the same offset; they access as one.
struct Groups<'a> {
    offsets: &'a Offsets,
    rest: u32,
    /// Whether lanes that are not neighbours must be found too.
    all: bool,
}

impl Iterator for Groups<'_> {
    type Item = (u64, u32);

    #[inline]
    fn next(&mut self) -> Option<(u64, u32)> {
        if self.rest == 0 {
            return None;
        }
        let first = self.rest.trailing_zeros() as usize & 31;
        let offset = self.offsets.at(first);
        let group = match self.offsets {
            Offsets::Even(value) if value.is_uniform() => self.rest,
            // The same for each half.
            Offsets::Even(Affine { stride: 0, .. }) => self.rest & 0xFFFF << (first & 16),
            Offsets::Even(_) => 1 << first,
            Offsets::Each(row) => {
                let mut group = 0;
                for lane in lanes(self.rest) {
                    if row[lane] == offset {
                        group |= 1 << lane;
                    } else if !self.all {
                        break;
                    }
                }
                group
            }
        };
        self.rest &= !group;
        Some((offset, group))
    }
}

impl Race {
    pub(crate) fn new() -> Race {
        Race { clock: Clock::new(), global: Vec::new(), released: HashMap::new(), generation: 0 }
    }

    pub(crate) fn access(
        &mut self,
        block: &mut BlockRace,
        event: &events::Access<'_>,
        values: &mut dyn Values,
        hits: &mut Vec<Hit>,
    ) {
        // 2^32 synchronisations later, times cannot be told apart any more.
        if self.clock.exhausted() {
            return;
        }
        let shared = event.area == Area::Shared;
        if event.order.is_strong() && event.action != Action::Write {
            self.take_up(block, event);
        }
        let access = self.about(block, event);
        let look = self.look(&access, block, event.area);
        if shared
            && block.shared.copies_pending()
            && let Some(conflict) = block.shared.pending_conflict(event)
        {
            hits.push(Hit { conflict, same_value: false, same_instruction: false });
        }
        let BlockRace { clocks, shared: own, .. } = block;
        let shadow = shadow_of(&mut self.global, &mut own.shadow, event.area);
        let begin = hits.len();
        let bytes = event.bytes as usize;
        let rising = rising(event.offsets, event.lanes, event.bytes);
        let all = event.action == Action::Write && !rising;
        let weak_read = event.action == Action::Read && !event.order.is_strong();
        let skip = weak_read && !event.order.non_coherent;
        for (offset, group) in (Groups { offsets: event.offsets, rest: event.lanes, all }) {
            let mut found = |conflict: Conflict| add(hits, begin, conflict, values);
            shadow.visit(offset as usize, bytes, (look, skip), |cell, lists| match event.action {
                Action::Read => access.reads(clocks, cell, lists, group, &mut found),
                Action::Write | Action::Atomic => {
                    access.writes(clocks, cell, lists, group, &mut found);
                    Crowd::Written
                }
            });
            if event.action == Action::Write && !group.is_power_of_two() {
                hits.push(same_instruction(&access, group, values));
            }
        }
        if event.order.is_strong() && event.action != Action::Read {
            self.pass_on(block, event);
        }
    }

    /// Threads have waited for their copies: to all others they are writes of these threads, made now.
    pub(crate) fn copies_waited(&mut self, block: &mut BlockRace) {
        if block.shared.copied.is_empty() || self.clock.exhausted() {
            return;
        }
        let time = self.clock.access();
        let copied = std::mem::take(&mut block.shared.copied);
        for (word, thread, pc) in copied {
            let clocks = &block.clocks;
            let warp = warp_of(thread);
            let access = hazard::Access {
                block: clocks.block,
                warp,
                pc,
                time,
                flags: Flags::default(),
                block_floor: clocks.floor,
                warp_floor: clocks.warp_floor(warp),
            };
            let look = self.look(&access, block, Area::Shared);
            let offset = (word * WORD) as usize;
            block.shared.shadow.visit(offset, WORD as usize, (look, false), |cell, lists| {
                access.remember_write(cell, lists, lane_bit(thread));
                Crowd::Written
            });
        }
    }

    #[inline]
    fn about(&mut self, block: &BlockRace, event: &events::Access<'_>) -> hazard::Access {
        hazard::Access {
            block: block.clocks.block,
            warp: event.warp,
            pc: event.pc,
            time: self.clock.access(),
            flags: flags(event.order, event.action, event.area == Area::Shared),
            block_floor: block.clocks.floor,
            warp_floor: block.clocks.warp_floor(event.warp),
        }
    }

    #[inline]
    fn look(&self, access: &hazard::Access, block: &BlockRace, area: Area) -> Look {
        // Only the block itself accesses its shared memory, unless it is in a cluster.
        let own = area == Area::Shared && !block.shared.in_cluster;
        let floor = if own { access.block_floor } else { 0 };
        Look { block: access.block, time: access.time, generation: self.generation, floor }
    }

    fn released<'a>(
        &'a mut self,
        block: &'a mut BlockRace,
        area: Area,
    ) -> (&'a mut HashMap<u64, Released>, u64) {
        match area {
            Area::Shared | Area::Remote { .. } | Area::Local => (&mut block.shared.released, 0),
            Area::Global { base, .. } => (&mut self.released, base),
        }
    }

    /// Reads that may see what others released take it up, fences behind them or not: programs rely on the order in which
    /// devices execute them.
    fn take_up(&mut self, block: &mut BlockRace, event: &events::Access<'_>) {
        for lane in lanes(event.lanes) {
            let (released, base) = self.released(block, event.area);
            if released.is_empty() {
                return;
            }
            let Some(found) = released.get(&(base + event.offsets.at(lane))).cloned() else {
                continue;
            };
            self.generation = self.generation.wrapping_add(1);
            if let Some(known) = &found.gpu {
                block.clocks.acquire(event.warp, lane, known);
            }
            // Released for the block only.
            if let Some((owner, known)) = &found.block
                && *owner == block.clocks.block
            {
                block.clocks.acquire(event.warp, lane, known);
            }
        }
    }

    fn pass_on(&mut self, block: &mut BlockRace, event: &events::Access<'_>) {
        let gpu = event.order.scope > Scope::Block;
        for lane in lanes(event.lanes) {
            let passed = if event.order.releases() {
                let time = self.clock.cut();
                block.clocks.release(event.warp, lane, gpu, time)
            } else {
                block.clocks.fenced(event.warp, lane)
            };
            let nothing = passed.gpu.is_none() && passed.block.is_none();
            let (released, base) = self.released(block, event.area);
            let address = base + event.offsets.at(lane);
            match event.action {
                // An atomic carries on what was released before it (PTX ISA, "Release and Acquire Patterns").
                Action::Atomic if nothing => {}
                Action::Atomic => released.entry(address).or_default().join(passed),
                _ if nothing => {
                    released.remove(&address);
                }
                _ => {
                    released.insert(address, passed);
                }
            }
        }
    }

    /// A fence of the lanes of `mask`.
    pub(crate) fn fence(&mut self, block: &mut BlockRace, warp: u32, mask: u32, order: Order) {
        let time = self.clock.cut();
        block.clocks.fence(warp, mask, order.scope > Scope::Block, time);
    }

    /// Threads arrive at mbarrier objects of the block's shared memory (`arrives`), or have waited for a phase of theirs. Both
    /// order other accesses as releasing and acquiring atomics do (PTX ISA, `mbarrier.arrive`, `mbarrier.test_wait`).
    pub(crate) fn object(
        &mut self,
        block: &mut BlockRace,
        warp: u32,
        lanes: u32,
        offsets: &Offsets,
        (arrives, scope): (bool, Scope),
    ) {
        let semantics = if arrives { Semantics::Release } else { Semantics::Acquire };
        let event = events::Access {
            warp,
            pc: 0,
            lanes,
            action: Action::Atomic,
            area: Area::Shared,
            offsets,
            bytes: 8,
            order: Order { semantics, scope, non_coherent: false },
        };
        match (self.clock.exhausted(), arrives) {
            (true, _) => {}
            (false, true) => self.pass_on(block, &event),
            (false, false) => self.take_up(block, &event),
        }
    }

    /// Lanes arrive at a barrier without waiting there.
    pub(crate) fn arrive(&mut self, block: &mut BlockRace, number: usize, warp: u32, mask: u32) {
        let time = self.clock.cut();
        block.clocks.arrive(number, warp, mask, time);
    }

    /// A barrier is complete; `waiting`: its lanes by warp. `all`: no living thread of the block is elsewhere.
    pub(crate) fn barrier(
        &mut self,
        block: &mut BlockRace,
        number: usize,
        waiting: &[u32],
        all: bool,
    ) {
        let time = self.clock.cut();
        self.generation = self.generation.wrapping_add(1);
        if all {
            block.clocks.meet_all(time);
        } else {
            block.clocks.meet_warps(number, waiting, time);
        }
    }

    /// Lanes of a warp meet; `all`: no living lane of the warp is elsewhere.
    pub(crate) fn lanes_meet(&mut self, block: &mut BlockRace, warp: u32, mask: u32, all: bool) {
        let time = self.clock.cut();
        block.clocks.meet_lanes(warp, mask, all, time);
    }
}

#[inline]
fn shadow_of<'a>(
    global: &'a mut Vec<Option<Shadow>>,
    shared: &'a mut Shadow,
    area: Area,
) -> &'a mut Shadow {
    let Area::Global { slot, base } = area else {
        return shared;
    };
    let slot = slot as usize;
    if global.len() <= slot {
        global.resize_with(slot + 1, || None);
    }
    let shadow = global[slot].get_or_insert_with(|| Shadow::new(base));
    if shadow.base != base {
        *shadow = Shadow::new(base);
    }
    shadow
}

fn flags(order: Order, action: Action, shared: bool) -> Flags {
    let mut flags = 0;
    if order.is_strong() {
        flags |= Flags::STRONG;
        if order.scope == Scope::Block {
            flags |= Flags::BLOCK_SCOPE;
        }
    }
    if action == Action::Atomic {
        flags |= Flags::ATOMIC;
    }
    if order.non_coherent {
        flags |= Flags::NON_COHERENT;
    }
    // A lock or flag in global memory may be volatile; lanes that hand on data in shared memory need more.
    if shared && order.semantics == Semantics::Volatile {
        flags |= Flags::VOLATILE;
    }
    Flags(flags)
}

/// Whether each lane accesses what lies behind all of the lane before.
fn rising(offsets: &Offsets, mask: u32, bytes: u32) -> bool {
    let row = match offsets {
        // Whoever makes them sees to it that lanes access the same or are apart.
        Offsets::Even(_) => return true,
        Offsets::Each(row) => row,
    };
    let mut next = 0;
    for lane in lanes(mask) {
        if row[lane] < next {
            return false;
        }
        next = row[lane] + u64::from(bytes);
    }
    true
}

/// Adds a conflict to those of the same access that differ from it in lanes only.
#[cold]
fn add(hits: &mut Vec<Hit>, begin: usize, conflict: Conflict, values: &mut dyn Values) {
    let same_value = conflict.hazard == Hazard::WriteAfterWrite
        && lanes(conflict.lanes).all(|lane| values.unchanged(lane));
    let key = |c: &Conflict| (c.hazard, c.block, c.warp, c.pc, c.volatile);
    let known = hits[begin..].iter_mut().find(|hit| {
        !hit.same_instruction
            && hit.same_value == same_value
            && key(&hit.conflict) == key(&conflict)
    });
    match known {
        Some(hit) => {
            hit.conflict.lanes |= conflict.lanes;
            hit.conflict.other_lanes |= conflict.other_lanes;
        }
        None => hits.push(Hit { conflict, same_value, same_instruction: false }),
    }
}

/// Several lanes write the same place at once: which value stays is not defined (PTX ISA, "Vector Data-types and multi-lane
/// stores" leave it to the device).
#[cold]
fn same_instruction(access: &hazard::Access, group: u32, values: &mut dyn Values) -> Hit {
    let winner = 31 - group.leading_zeros().min(31);
    let others = group & !(1 << winner);
    let same_value = lanes(others).all(|lane| values.equal(lane, winner as usize));
    let conflict = Conflict {
        hazard: Hazard::WriteAfterWrite,
        lanes: 1 << winner,
        block: access.block,
        warp: access.warp,
        other_lanes: others,
        pc: access.pc,
        volatile: false,
    };
    Hit { conflict, same_value, same_instruction: true }
}
