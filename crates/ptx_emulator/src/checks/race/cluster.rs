//! What the blocks of a cluster have to do with each other: their barrier, and how long each must stay for the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::vector::{Thread, Time, Vector, lane_bit, thread_of, warp_of};
use super::{BlockRace, Race};
use crate::events::{Access, Action};
use crate::row::lanes;

/// The barrier of a cluster: what threads that arrive know, for those that wait.
#[derive(Debug, Default)]
pub(crate) struct ClusterRace {
    /// In the present phase.
    arrived: Vector,
    /// In the last complete phase. No thread can be two phases behind.
    complete: Arc<Vector>,
}

impl ClusterRace {
    /// All threads of the cluster have arrived.
    pub(crate) fn completes(&mut self) {
        self.complete = Arc::new(std::mem::take(&mut self.arrived));
    }
}

/// Accesses of other blocks to a block's shared memory. All must be over before the block ends and its memory is gone (CUDA C++
/// Programming Guide, "Distributed Shared Memory"). Of each thread the last one counts; of those that the block itself can see,
/// strong writes, one more.
#[derive(Debug, Default)]
pub(super) struct Guests {
    /// By block and thread, in an order that is the same in each run.
    last: BTreeMap<(u32, Thread), Visit>,
    /// The same of strong writes.
    strong_writes: BTreeMap<(u32, Thread), Visit>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    time: Time,
    pc: u32,
    offset: u64,
    bytes: u32,
}

/// Lanes whose access to a block's shared memory is not over when the block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guest {
    pub(crate) block: u32,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) pc: u32,
    /// Of the first lane.
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
}

impl Guests {
    fn visit(&mut self, block: u32, time: Time, event: &Access<'_>) {
        let strong_write = event.order.is_strong() && event.action != Action::Read;
        for lane in lanes(event.lanes) {
            let thread = thread_of(event.warp, lane);
            let (offset, pc, bytes) = (event.offsets.at(lane), event.pc, event.bytes);
            let visits = if strong_write { &mut self.strong_writes } else { &mut self.last };
            visits.insert((block, thread), Visit { time, pc, offset, bytes });
        }
    }

    /// The block itself reads what strong writes put there, so that these are over.
    fn seen(&mut self, event: &Access<'_>) {
        self.strong_writes.retain(|_, visit| {
            let end = visit.offset + u64::from(visit.bytes);
            let meets = |start: u64| start < end && visit.offset < start + u64::from(event.bytes);
            !lanes(event.lanes).any(|lane| meets(event.offsets.at(lane)))
        });
    }
}

impl Race {
    /// Lanes arrive at the barrier of the cluster. `launched`: the lanes that the warp started with; those that have exited are
    /// in `mask` too.
    pub(crate) fn cluster_arrive(
        &mut self,
        block: &BlockRace,
        cluster: &mut ClusterRace,
        warp: u32,
        (mask, launched): (u32, u32),
        relaxed: bool,
    ) {
        let time = self.clock.cut();
        if relaxed {
            // As a relaxed write does: what was fenced before.
            for lane in lanes(mask) {
                if let Some(known) = block.clocks.fenced(warp, lane).gpu {
                    cluster.arrived.join(&known);
                }
            }
            return;
        }
        block.clocks.bring((warp, mask), mask == launched, time, &mut cluster.arrived);
    }

    /// Lanes go on that have waited at the barrier of the cluster. `all`: no living lane of the warp is elsewhere.
    pub(crate) fn cluster_wait(
        &mut self,
        block: &mut BlockRace,
        cluster: &ClusterRace,
        (warp, mask): (u32, u32),
        all: bool,
    ) {
        self.generation = self.generation.wrapping_add(1);
        if all {
            block.clocks.acquire_all(warp, &cluster.complete);
            return;
        }
        for lane in lanes(mask) {
            block.clocks.acquire(warp, lane, &cluster.complete);
        }
    }

    /// Lanes have accessed the shared memory of another block of the cluster, which is in `visitor` for the time.
    pub(crate) fn visited(&mut self, visitor: &mut BlockRace, event: &Access<'_>) {
        let time = self.clock.access();
        visitor.shared.guests.visit(visitor.clocks.block, time, event);
    }

    /// Lanes access the shared memory of their own block with a strong read.
    pub(crate) fn looks(&mut self, block: &mut BlockRace, event: &Access<'_>) {
        if !block.shared.guests.strong_writes.is_empty() {
            block.shared.guests.seen(event);
        }
    }

    /// All threads of a block have exited: the accesses of others to its shared memory that did not happen before.
    pub(crate) fn block_ends(&mut self, block: &mut BlockRace) -> Vec<Guest> {
        let Guests { last, strong_writes } = std::mem::take(&mut block.shared.guests);
        if last.is_empty() && strong_writes.is_empty() || self.clock.exhausted() {
            return Vec::new();
        }
        // The memory stays until the last thread exits: one that knows is enough.
        let known = block.clocks.all_known();
        let mut late: Vec<Guest> = Vec::new();
        for ((other, thread), visit) in last.into_iter().chain(strong_writes) {
            if known.known(other, thread) >= visit.time {
                continue;
            }
            let (warp, lane) = (warp_of(thread), lane_bit(thread));
            let same =
                |guest: &&mut Guest| (guest.block, guest.warp, guest.pc) == (other, warp, visit.pc);
            match late.iter_mut().find(same) {
                Some(guest) => guest.lanes |= lane,
                None => late.push(Guest {
                    block: other,
                    warp,
                    lanes: lane,
                    pc: visit.pc,
                    offset: visit.offset,
                    bytes: visit.bytes,
                }),
            }
        }
        late
    }
}
