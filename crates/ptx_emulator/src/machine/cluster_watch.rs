//! What the machine tells racecheck about clusters: their barrier, arrivals at other blocks' objects, and the end of a block.

use super::block::{Block, BlockState};
use super::cluster::{Remote, STAY};
use super::launch::Engine;
use super::warp::Warp;
use crate::checks::race::{BlockRace, ClusterRace, Guest, Race};
use crate::checks::{BlockChecks, Checks, FindingKind, Party, Severity};
use crate::diagnostic::triple;
use crate::events::{Access, Action, Area, Offsets};
use crate::fault::Threads;
use crate::op::{Order, Scope, Semantics};
use crate::row::Row64;

use super::mbarrier::OBJECT_BYTES;
use super::race_watch::Part;

impl Engine<'_> {
    /// What racecheck keeps of the launch, the block and its cluster's barrier.
    fn cluster_race(
        &mut self,
        block: &mut BlockState,
        tell: impl FnOnce(&mut Race, &mut BlockRace, &mut ClusterRace),
    ) {
        let (Some(checks), Some(state)) = (&mut self.checks, &mut block.checks) else {
            return;
        };
        let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) else {
            return;
        };
        match &mut self.cluster {
            Some(cluster) => tell(race, own, &mut cluster.race),
            None => {
                let mut alone = std::mem::take(&mut own.cluster);
                tell(race, own, &mut alone);
                own.cluster = alone;
            }
        }
    }

    /// Lanes arrive at the cluster's barrier.
    pub(super) fn arrival_order(
        &mut self,
        block: &mut BlockState,
        warp: &Warp,
        mask: u32,
        relaxed: bool,
    ) {
        let launched = self.lanes_of(warp.index);
        // Exited lanes count as arrived.
        let mask = mask | launched & !warp.alive;
        self.cluster_race(block, |race, own, cluster| {
            race.cluster_arrive(own, cluster, warp.index, (mask, launched), relaxed);
        });
    }

    /// Warps of which no thread is left count as arrived.
    pub(super) fn exits_arrive(&mut self, block: &mut Block) {
        if block.state.checks.is_none() {
            return;
        }
        for warp in block.warps.iter().filter(|warp| warp.alive == 0) {
            self.arrival_order(&mut block.state, warp, 0, false);
        }
    }

    /// All threads of the cluster have arrived.
    pub(super) fn barrier_order(&mut self, block: &mut Block) {
        self.cluster_race(&mut block.state, |_, _, cluster| cluster.completes());
    }

    /// Lanes go on that have waited for the cluster. `all`: no living lane of the warp is elsewhere.
    pub(super) fn wait_order(&mut self, block: &mut BlockState, who: (u32, u32), all: bool) {
        self.cluster_race(block, |race, own, cluster| race.cluster_wait(own, cluster, who, all));
    }

    /// Has racecheck look at the shared memory of another block of the cluster as it does at the own one.
    pub(super) fn in_remote<T>(
        &mut self,
        own: &mut BlockRace,
        rank: u32,
        look: impl FnOnce(&mut Self, &mut BlockRace) -> T,
    ) -> T {
        let swap = |engine: &mut Self, own: &mut BlockRace| {
            let cluster = engine.cluster.as_mut();
            if let Some(member) = cluster.and_then(|it| it.members.get_mut(rank as usize)) {
                std::mem::swap(&mut own.shared, &mut member.race);
            }
        };
        swap(self, own);
        let result = look(self, own);
        swap(self, own);
        result
    }

    /// Lanes arrive at mbarrier objects of another block.
    pub(super) fn remote_objects_order(
        &mut self,
        block: &mut BlockState,
        warp: u32,
        pc: u32,
        addresses: &Row64,
        remote: &Remote,
    ) {
        let (Some(mut checks), Some(mut state)) = (self.checks.take(), block.checks.take()) else {
            return;
        };
        if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            let base = remote.base;
            let offsets = Offsets::Each(addresses.map(|address| address.wrapping_sub(base)));
            // Whatever scope the instruction has: programs leave it out, which means the block, and devices deliver.
            let scope = Scope::Cluster;
            let event = Access {
                warp,
                pc,
                lanes: remote.mask,
                action: Action::Atomic,
                area: Area::Shared,
                offsets: &offsets,
                bytes: OBJECT_BYTES,
                order: Order { semantics: Semantics::Release, scope, non_coherent: false },
            };
            self.in_remote(own, remote.rank, |_, own| {
                race.visited(own, &event);
                race.object(own, warp, remote.mask, &offsets, (true, scope));
            });
        }
        block.checks = Some(state);
        self.checks = Some(checks);
    }

    /// All threads of the block have exited: whose accesses to its shared memory may still be under way.
    pub(super) fn block_leaves_cluster(&mut self, block: &BlockState, state: &mut BlockChecks) {
        let Some(mut checks) = self.checks.take() else {
            return;
        };
        if let (Some(race), Some(own)) = (&mut checks.race, &mut state.race) {
            let left = own.left;
            for guest in race.block_ends(own) {
                self.guest_finding(&mut checks, block, left, guest);
            }
        }
        self.checks = Some(checks);
    }

    fn guest_finding(
        &self,
        checks: &mut Checks,
        block: &BlockState,
        (warp, lanes, pc): (u32, u32, u32),
        guest: Guest,
    ) {
        let kind = FindingKind::BlockEndsTooSoon;
        let key = (kind, pc, guest.pc);
        if !checks.is_new(key, Severity::Error) {
            return;
        }
        let part = Part {
            area: Area::Shared,
            lanes: 1,
            offsets: Offsets::Each([guest.offset; 32]),
            base: block.rank.shared_base,
        };
        let address = self.described_address(block, &part, 0);
        let title = format!(
            "a block may end while another accesses its shared memory: {} bytes at {:#x}",
            guest.bytes, address.address
        );
        let mut finding = self.finding(kind, Severity::Error, title);
        finding.address = Some(address);
        let threads = Threads { block: block.index, warp, lanes };
        finding.parties.push(Party::new("exit".to_owned(), threads, self.code(pc), Vec::new()));
        let threads =
            Threads { block: self.block_index(guest.block), warp: guest.warp, lanes: guest.lanes };
        let code = self.code(guest.pc);
        finding.parties.push(Party::new("access".to_owned(), threads, code, Vec::new()));
        finding.notes.push(format!(
            "nothing tells block {} that the access is over before its last thread exits",
            triple(block.index)
        ));
        finding.help = STAY.to_owned();
        checks.add(key, finding);
    }
}
