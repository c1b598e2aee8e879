//! Counting while a launch runs.
//!
//! What an access costs depends on how its addresses lie to each other and to the units of memory, and in a loop that is the
//! same again and again: each operation remembers its last pattern with the cost, and counts how often it came.

use super::places::Places;
use crate::counters::{
    GlobalCost, LINE_BYTES, PerOp, SharedCost, SharedOp, same_address, same_address_affine,
};
use crate::op::Space;
use crate::registers::Affine;
use crate::row::{FULL, Row64};

/// What is done at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Load,
    Store,
    Atomic,
}

/// The counters of a launch in progress.
#[derive(Debug)]
pub(super) struct Counting {
    pub(super) sums: PerOp,
    /// Executions as differences from the operation before: a run of operations costs two additions, however long.
    runs: Vec<Difference>,
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    warps: i64,
    lanes: i64,
}

/// The last pattern of an operation's addresses.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// How often it came since it was counted.
    times: u64,
    even: bool,
    stride: u64,
    step: u64,
    /// The first place's distance from the start of a line, bytes. A bank's place repeats after as many.
    phase: u64,
    mask: u32,
    space: Option<Space>,
    bytes: u32,
    /// The places' distances from the first, unless they are even.
    distances: Option<Box<Row64>>,
    cost: Cost,
}

/// What an access costs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    Global(GlobalCost),
    Shared(SharedCost),
}

impl Default for Cost {
    fn default() -> Cost {
        Cost::Global(GlobalCost::default())
    }
}

impl Cost {
    /// What an access of `bytes` bytes by each lane of `mask` costs in global or shared memory.
    pub(super) fn of(what: What, space: Space, places: Places<'_>, mask: u32, bytes: u32) -> Cost {
        if space == Space::Shared {
            Cost::Shared(shared_cost(what, places, mask, bytes))
        } else {
            Cost::Global(global_cost(what, places, mask, bytes))
        }
    }
}

impl Counting {
    pub(super) fn new(operations: usize) -> Counting {
        Counting {
            sums: PerOp::new(operations),
            runs: vec![Difference::default(); operations + 1],
            seen: vec![Seen::default(); operations],
        }
    }

    /// The operations from `start` up to `end` were executed one after the other, so many times.
    #[inline(always)]
    pub(super) fn run(&mut self, start: u32, end: u32, mask: u32, times: u32) {
        let warps = i64::from(times);
        let lanes = warps * i64::from(mask.count_ones());
        if let Some(first) = self.runs.get_mut(start as usize) {
            first.warps += warps;
            first.lanes += lanes;
        }
        if let Some(behind) = self.runs.get_mut(end as usize) {
            behind.warps -= warps;
            behind.lanes -= lanes;
        }
    }

    /// The sums, with all that was put off.
    pub(super) fn finish(mut self) -> PerOp {
        for pc in 0..self.seen.len() {
            self.flush(pc);
        }
        let mut now = Difference::default();
        let counts = self.sums.warp_executions.iter_mut().zip(&mut self.sums.thread_executions);
        for (difference, (warps, lanes)) in self.runs.iter().zip(counts) {
            now.warps += difference.warps;
            now.lanes += difference.lanes;
            *warps += now.warps.max(0) as u64;
            *lanes += now.lanes.max(0) as u64;
        }
        self.sums
    }

    /// Adds an access of `bytes` bytes in all, `times` times.
    pub(super) fn add(&mut self, pc: u32, cost: Cost, bytes: u32, times: u64) {
        match cost {
            _ if times == 0 => {}
            Cost::Global(cost) => self.sums.global(pc, cost, bytes, times),
            Cost::Shared(cost) => self.sums.shared(pc, cost, bytes, times),
        }
    }

    /// Counts the pattern seen last as often as it came.
    fn flush(&mut self, pc: usize) {
        let seen = &mut self.seen[pc];
        let times = std::mem::take(&mut seen.times);
        let (cost, bytes) = (seen.cost, seen.bytes.wrapping_mul(seen.mask.count_ones()));
        self.add(pc as u32, cost, bytes, times);
    }

    /// An access of `bytes` bytes by each lane of `mask`.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        pc: u32,
        what: What,
        space: Space,
        places: Places<'_>,
        mask: u32,
        bytes: u32,
    ) {
        if let Some(seen) = self.seen.get_mut(pc as usize)
            && let Places::Even(value) = places
            && seen.even
            && seen.times != 0
            && seen.stride == value.stride
            && seen.step == value.step
            && seen.mask == mask
            && seen.phase == phase(value)
            && seen.space == Some(space)
        {
            seen.times += 1;
            return;
        }
        self.other_access(pc, what, space, places, mask, bytes);
    }

    #[inline(never)]
    fn other_access(
        &mut self,
        pc: u32,
        what: What,
        space: Space,
        places: Places<'_>,
        mask: u32,
        bytes: u32,
    ) {
        match space {
            Space::Global | Space::Generic | Space::Shared | Space::Cluster => {}
            Space::Local => return self.sums.local(pc, bytes.wrapping_mul(mask.count_ones())),
            Space::Constant | Space::Param | Space::Frame => return,
        }
        let Some(seen) = self.seen.get_mut(pc as usize) else {
            return;
        };
        if let Places::Each(addresses) = places
            && seen.times != 0
            && !seen.even
            && seen.mask == mask
            && seen.space == Some(space)
            && let Some(distances) = &seen.distances
            && seen.phase == addresses[0] % LINE_BYTES
            && same_distances(distances, addresses)
        {
            seen.times += 1;
            return;
        }
        self.flush(pc as usize);
        let cost = Cost::of(what, space, places, mask, bytes);
        let seen = &mut self.seen[pc as usize];
        seen.times = 1;
        seen.mask = mask;
        seen.space = Some(space);
        seen.bytes = bytes;
        seen.cost = cost;
        match places {
            Places::Even(value) => {
                (seen.even, seen.stride, seen.step) = (true, value.stride, value.step);
                seen.phase = phase(value);
            }
            Places::Each(addresses) => {
                (seen.even, seen.phase) = (false, addresses[0] % LINE_BYTES);
                let distances = addresses.map(|address| address.wrapping_sub(addresses[0]));
                **seen.distances.get_or_insert_default() = distances;
            }
        }
        if what == What::Atomic {
            self.sums.atomic(pc, most_on_one(places, mask));
        }
    }
}

/// What counts about the first place. One place for all costs the same wherever it is.
#[inline(always)]
fn phase(value: Affine) -> u64 {
    if value.is_uniform() { 0 } else { value.base % LINE_BYTES }
}

fn same_distances(distances: &Row64, addresses: &Row64) -> bool {
    let mut differs = 0;
    for (distance, address) in distances.iter().zip(addresses) {
        differs |= address.wrapping_sub(addresses[0]) ^ distance;
    }
    differs == 0
}

fn global_cost(what: What, places: Places<'_>, mask: u32, bytes: u32) -> GlobalCost {
    match (places, what) {
        (_, What::Atomic) => GlobalCost::of_atomic(&places.row(), mask, bytes),
        // One place costs the same whoever asks.
        (Places::Even(value), _) if value.is_uniform() || (mask == FULL && value.is_line()) => {
            GlobalCost::affine(value.base, value.stride as i64, bytes)
        }
        (Places::Even(value), _) if value.is_line() => {
            GlobalCost::affine_masked(value.base, value.stride as i64, mask, bytes)
        }
        _ => GlobalCost::of(&places.row(), mask, bytes),
    }
}

fn shared_cost(what: What, places: Places<'_>, mask: u32, bytes: u32) -> SharedCost {
    let op = match what {
        What::Load => SharedOp::Load,
        What::Store => SharedOp::Store,
        What::Atomic => SharedOp::Atomic,
    };
    match places {
        Places::Even(value) if mask == FULL && value.is_line() => {
            SharedCost::affine(op, value.base, value.stride as i64, bytes)
        }
        _ => SharedCost::of(op, &places.row(), mask, bytes),
    }
}

/// The most lanes on one address.
fn most_on_one(places: Places<'_>, mask: u32) -> u32 {
    match places {
        Places::Even(value) if mask == FULL && value.is_line() => {
            same_address_affine(value.stride as i64)
        }
        Places::Even(value) if value.is_uniform() => mask.count_ones(),
        _ => same_address(&places.row(), mask),
    }
}
