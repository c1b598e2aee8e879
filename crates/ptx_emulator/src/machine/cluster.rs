//! Clusters: blocks that are in progress together, reach each other's shared memory, and meet at a barrier of their own
//! (PTX ISA, sections "Cluster of Cooperative Thread Arrays" and `barrier.cluster`).
//!
//! While a block runs, the engine holds what the others of its cluster own. Without a cluster launch every block is a cluster of
//! its own, with nobody else to wait for.

use std::collections::HashMap;

use super::access::bad;
use super::block::{Block, BlockState};
use super::launch::{Engine, place};
use super::mbarrier::Mbarriers;
use super::report::{BadAccess, Reason};
use super::warp::{State, Warp};
use crate::checks::race::{ClusterRace, SharedRace};
use crate::fault::{Fault, FaultKind};
use crate::memory::{Storage, Written, window};
use crate::op::Space;
use crate::row::{Row64, lanes};

/// What to do where a block does not wait for those that still access its shared memory.
pub(super) const STAY: &str = "the blocks of a cluster must stay until nobody accesses their shared memory any more: end the kernel with a barrier of the cluster (Cluster::sync, cluster.sync())";

/// The rank of a block is in these bits of an address in the cluster's shared memory (recorded).
pub(crate) const RANK_SHIFT: u32 = 24;

/// What a cluster's other blocks can reach of a block.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// Empty while the block runs itself, and once it has ended.
    pub(super) shared: Storage,
    pub(super) mbarriers: Mbarriers,
    /// What racecheck and initcheck know of its shared memory, where that is.
    pub(super) race: SharedRace,
    pub(super) written: Written,
    /// Threads that have not exited.
    living: u32,
    /// Those of them that have not arrived at the barrier.
    missing: u32,
}

/// A cluster in progress.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) members: Vec<Member>,
    /// How often its barrier was complete.
    phase: u64,
    /// The barrier, for racecheck.
    pub(super) race: ClusterRace,
}

impl Member {
    /// Whether all threads of the block have exited, so that its shared memory is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.living == 0
    }

    /// Takes what checks know of the shared memory from the block, or gives it back.
    fn swap_checks(&mut self, block: &mut BlockState) {
        let Some(checks) = &mut block.checks else {
            return;
        };
        if let Some(race) = &mut checks.race {
            std::mem::swap(&mut race.shared, &mut self.race);
        }
        if let Some(init) = &mut checks.init {
            std::mem::swap(&mut init.shared, &mut self.written);
        }
    }
}

impl Cluster {
    pub(super) fn new(blocks: u32, threads: u32) -> Cluster {
        let member = || Member { living: threads, missing: threads, ..Member::default() };
        Cluster {
            members: (0..blocks).map(|_| member()).collect(),
            phase: 0,
            race: ClusterRace::default(),
        }
    }

    /// Whether all its blocks have ended.
    pub(super) fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.living == 0)
    }
}

/// A block's place in its cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    pub(super) rank: u32,
    /// The address of the first byte of its shared memory.
    pub(super) shared_base: u64,
    /// The phases of the cluster's barrier that its threads know of.
    phase: u64,
    /// The warp that came to the barrier last.
    last: u32,
}

impl Rank {
    pub(super) fn new(rank: u32) -> Rank {
        let shared_base = window::SHARED_RESERVED + (u64::from(rank) << RANK_SHIFT);
        Rank { rank, shared_base, phase: 0, last: 0 }
    }
}

impl Default for Rank {
    fn default() -> Rank {
        Rank::new(0)
    }
}

/// The rank in an address of shared memory.
pub(super) fn rank_of(address: u64) -> u64 {
    address >> RANK_SHIFT
}

/// Lanes whose addresses are in the shared memory of one other block.
pub(super) struct Remote {
    pub(super) rank: u32,
    pub(super) base: u64,
    pub(super) mask: u32,
}

impl Engine<'_> {
    /// Blocks of a cluster.
    pub(super) fn cluster_blocks(&self) -> u32 {
        self.cluster_shape.map_or(1, |shape| shape.iter().product())
    }

    /// Starts the blocks of a cluster, all or none.
    pub(super) fn start_cluster(
        &mut self,
        position: u64,
        number: u64,
        blocks: u32,
        clusters: &mut HashMap<u64, Box<Cluster>>,
    ) -> Result<Vec<Block>, Box<Fault>> {
        let shape = self.cluster_shape.unwrap_or([1; 3]);
        let grid = self.grid;
        let first = place(number, [0, 1, 2].map(|axis| grid[axis] / shape[axis].max(1)));
        let mut started = Vec::new();
        for rank in 0..blocks {
            let inner = place(rank.into(), shape);
            let index = [0, 1, 2].map(|axis| first[axis] * shape[axis] + inner[axis]);
            let [x, y, z] = index.map(u64::from);
            let linear = (z * u64::from(grid[1]) + y) * u64::from(grid[0]) + x;
            let block = Block::new(&self.budget);
            started.push(self.start_as(block, position, linear, Rank::new(rank))?);
        }
        clusters.insert(position, Box::new(Cluster::new(blocks, self.threads_per_block())));
        for block in &mut started {
            self.cluster = clusters.remove(&position);
            self.leave_cluster(block);
            clusters.extend(self.cluster.take().map(|cluster| (position, cluster)));
        }
        Ok(started)
    }

    /// Takes a block's things out of its cluster, before it runs, and has its threads go on that the others let go.
    pub(super) fn enter_cluster(&mut self, block: &mut Block) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let Some(member) = cluster.members.get_mut(block.state.rank.rank as usize) else {
            return;
        };
        if block.state.is_out {
            block.state.shared = std::mem::take(&mut member.shared);
            block.state.mbarriers = std::mem::take(&mut member.mbarriers);
            block.state.is_out = false;
            member.swap_checks(&mut block.state);
        }
        self.meet_cluster(block);
    }

    /// Gives the cluster what a block owns, while others run.
    pub(super) fn leave_cluster(&mut self, block: &mut Block) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let Some(member) = cluster.members.get_mut(block.state.rank.rank as usize) else {
            return;
        };
        (member.living, member.missing) = threads(&block.warps);
        if block.finished() {
            (member.living, member.missing) = (0, 0);
            self.exits_arrive(block);
            return;
        }
        member.swap_checks(&mut block.state);
        member.shared = std::mem::take(&mut block.state.shared);
        member.mbarriers = std::mem::take(&mut block.state.mbarriers);
        block.state.is_out = true;
    }

    /// Whether a thread of the block waits for other blocks of its cluster.
    pub(super) fn waits_for_cluster(&self, block: &Block) -> bool {
        let number = super::CLUSTER_BARRIER as u8;
        let splits =
            |warp: &Warp| warp.splits.iter().any(|split| split.state == State::Barrier { number });
        self.cluster.is_some() && block.warps.iter().any(splits)
    }

    /// Threads arrive at the cluster's barrier, without waiting.
    pub(super) fn arrive_at_cluster(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        split: usize,
        pc: u32,
        relaxed: bool,
    ) -> Result<(), Box<Fault>> {
        let mask = warp.splits[split].mask;
        let again = mask & (warp.cluster_arrived | warp.cluster_passed);
        if again != 0 {
            let note =
                "a thread arrives at the barrier of the cluster twice without a wait between";
            return Err(self.cluster_misuse(block, warp, split, pc, again, note));
        }
        warp.cluster_arrived |= mask;
        warp.barrier_changed = true;
        self.arrival_order(block, warp, mask, relaxed);
        Ok(())
    }

    /// Threads wait at the cluster's barrier. True if they can go on at once.
    pub(super) fn wait_at_cluster(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        split: usize,
        pc: u32,
    ) -> Result<bool, Box<Fault>> {
        let mask = warp.splits[split].mask;
        let absent = mask & !(warp.cluster_arrived | warp.cluster_passed);
        if absent != 0 {
            let note = "a thread waits at the barrier of the cluster at which it did not arrive";
            return Err(self.cluster_misuse(block, warp, split, pc, absent, note));
        }
        let passed = mask & warp.cluster_passed;
        if passed == mask {
            warp.cluster_passed &= !mask;
            self.wait_order(block, (warp.index, mask), mask == warp.alive);
            return Ok(true);
        }
        if passed != 0 {
            let note =
                "threads that run together wait for different phases of the barrier of the cluster";
            return Err(self.cluster_misuse(block, warp, split, pc, passed, note));
        }
        warp.barrier_changed = true;
        block.rank.last = warp.index;
        let split = &mut warp.splits[split];
        split.pc = pc;
        split.state = State::Barrier { number: super::CLUSTER_BARRIER as u8 };
        Ok(false)
    }

    fn cluster_misuse(
        &self,
        block: &BlockState,
        warp: &Warp,
        split: usize,
        pc: u32,
        lanes: u32,
        note: &str,
    ) -> Box<Fault> {
        let frame = warp.splits[split].frame;
        let fault = self.fault(block, warp, frame, pc, lanes, FaultKind::InvalidBarrier);
        fault.with_note(note.to_owned()).with_help(
            "each thread alternates between `barrier.cluster.arrive` and `barrier.cluster.wait`",
        )
    }

    /// Lets threads go on if all of the cluster have arrived at its barrier.
    pub(super) fn meet_cluster(&mut self, block: &mut Block) {
        if self.cluster.is_some() {
            self.exits_arrive(block);
        }
        // Others may have completed a phase meanwhile. Its arrivals are not those of the next.
        if let Some(phase) = self.cluster.as_ref().map(|cluster| cluster.phase)
            && phase != block.state.rank.phase
        {
            self.let_go(block, phase);
        }
        let (living, missing) = threads(&block.warps);
        let rank = block.state.rank.rank as usize;
        let Some(cluster) = &mut self.cluster else {
            if living != 0 && missing == 0 {
                self.exits_arrive(block);
                self.barrier_order(block);
                self.let_go(block, block.state.rank.phase + 1);
            }
            return;
        };
        let mut others = cluster.members.iter().enumerate().filter(|(other, _)| *other != rank);
        let anyone = living != 0 || others.clone().any(|(_, member)| member.living != 0);
        if anyone && missing == 0 && others.all(|(_, member)| member.missing == 0) {
            cluster.phase += 1;
            cluster.members.iter_mut().for_each(|member| member.missing = member.living);
            let phase = cluster.phase;
            self.barrier_order(block);
            self.let_go(block, phase);
        }
    }

    /// The block's threads that have arrived at the cluster's barrier go on, or will not have to wait.
    fn let_go(&mut self, block: &mut Block, phase: u64) {
        block.state.rank.phase = phase;
        let number = super::CLUSTER_BARRIER as u8;
        for index in 0..block.warps.len() {
            let warp = &mut block.warps[index];
            warp.cluster_passed |= warp.cluster_arrived & warp.alive;
            warp.cluster_arrived = 0;
            let mut resumed = 0;
            for split in &mut warp.splits {
                if split.state == (State::Barrier { number }) {
                    if warp.index != block.state.rank.last
                        && let Some(counting) = &mut self.counting
                    {
                        counting.sums.waited(split.pc);
                    }
                    warp.cluster_passed &= !split.mask;
                    resumed |= split.mask;
                    split.pc += 1;
                    split.state = State::Ready;
                }
            }
            if resumed != 0 {
                warp.merge();
                let (who, all) = ((warp.index, resumed), resumed == warp.alive);
                self.wait_order(&mut block.state, who, all);
            }
        }
    }

    /// The lanes of `mask` whose addresses in shared memory are another block's, those of one block.
    #[inline]
    pub(super) fn remote(
        &self,
        block: &BlockState,
        addresses: &Row64,
        mask: u32,
    ) -> Option<Remote> {
        self.cluster.as_ref()?;
        let own = u64::from(block.rank.rank);
        let first = lanes(mask).find(|lane| rank_of(addresses[*lane]) != own)?;
        let rank = rank_of(addresses[first]);
        let same = lanes(mask).filter(|lane| rank_of(addresses[*lane]) == rank);
        let mask = same.fold(0, |mask, lane| mask | 1 << lane);
        let rank = u32::try_from(rank).unwrap_or(u32::MAX);
        Some(Remote { rank, base: Rank::new(rank).shared_base, mask })
    }

    /// The shared memory of another block of the cluster; empty if there is no such block, or not any more.
    pub(super) fn member(&self, rank: u32) -> Option<&Member> {
        self.cluster.as_ref()?.members.get(rank as usize)
    }

    /// Checks that all the bytes that lanes access are there.
    pub(super) fn check_remote(
        &self,
        remote: &Remote,
        addresses: &Row64,
        bytes: u32,
    ) -> Result<(), Box<BadAccess>> {
        let length = self.member(remote.rank).map_or(0, |member| member.shared.len() as u64);
        let outside = lanes(remote.mask).filter(|lane| {
            let offset = addresses[*lane].wrapping_sub(remote.base);
            length.checked_sub(u64::from(bytes)).is_none_or(|limit| offset > limit)
        });
        match outside.fold(0u32, |mask, lane| mask | 1 << lane) {
            0 => Ok(()),
            wrong => Err(bad(Reason::OutOfBounds, Space::Shared, addresses, wrong, bytes)),
        }
    }

    /// The lanes of `mask` whose addresses are in the shared memory of other blocks, which an instruction with plain `.shared`
    /// does not reach: without a sub-qualifier that is `.shared::cta` (PTX ISA, "Shared State Space").
    pub(super) fn elsewhere(
        &self,
        block: &BlockState,
        addresses: &Row64,
        mask: u32,
        space: Space,
    ) -> Option<u32> {
        let cluster = self.cluster.as_ref().filter(|_| space == Space::Shared)?;
        let (own, blocks) = (u64::from(block.rank.rank), cluster.members.len() as u64);
        let wrong = lanes(mask).filter(|lane| {
            let rank = rank_of(addresses[*lane]);
            rank != own && rank < blocks
        });
        let wrong = wrong.fold(0u32, |mask, lane| mask | 1 << lane);
        (wrong != 0).then_some(wrong)
    }

    /// Index of the block of this rank in the cluster of `block`.
    pub(super) fn index_of_rank(&self, block: &BlockState, rank: u32) -> [u32; 3] {
        let shape = self.cluster_shape.unwrap_or([1; 3]);
        let (own, other) = (place(block.rank.rank.into(), shape), place(rank.into(), shape));
        // The own place is inside of the cluster, which is inside of the grid.
        [0, 1, 2].map(|axis| block.index[axis].saturating_sub(own[axis]) + other[axis])
    }
}

/// Threads of a block that have not exited, and those of them that have not arrived at the cluster's barrier.
fn threads(warps: &[Warp]) -> (u32, u32) {
    let count =
        |lanes: &dyn Fn(&Warp) -> u32| warps.iter().map(|warp| lanes(warp).count_ones()).sum();
    (count(&|warp| warp.alive), count(&|warp| warp.alive & !warp.cluster_arrived))
}
