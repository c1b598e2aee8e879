//! The shared memory of a block: who accessed it, what was released there, and which copies to it are in flight.

use std::collections::HashMap;

use super::clock::Released;
use super::cluster::Guests;
use super::hazard::{Conflict, Hazard};
use super::shadow::Shadow;
use super::vector::{Thread, lane_bit, thread_of, warp_of};
use crate::events;
use crate::row::lanes;

/// State of a block's shared memory. In a cluster it goes with the memory, so that others find it there.
#[derive(Debug, Default)]
pub(crate) struct SharedRace {
    /// The block that the memory is of.
    block: u32,
    /// Whether other blocks reach it.
    pub(super) in_cluster: bool,
    pub(super) shadow: Shadow,
    /// What was released at an offset.
    pub(super) released: HashMap<u64, Released>,
    /// Targets of asynchronous copies that were not waited for, word by word: who of the block issued them where.
    pending: HashMap<u64, (Thread, u32)>,
    /// Words whose copies have taken effect since [`Race::copies_waited`](super::Race::copies_waited).
    pub(super) copied: Vec<(u64, Thread, u32)>,
    pub(super) guests: Guests,
}

/// Bytes of a word of `SharedRace::pending`; targets of copies are aligned to it.
pub(super) const WORD: u64 = 4;

impl SharedRace {
    pub(super) fn new(block: u32, in_cluster: bool) -> SharedRace {
        SharedRace { block, in_cluster, ..SharedRace::default() }
    }

    /// A lane of the block issued a copy to shared memory.
    pub(crate) fn copy_issued(&mut self, warp: u32, lane: usize, offset: u64, bytes: u32, pc: u32) {
        let thread = thread_of(warp, lane);
        for word in offset / WORD..(offset + u64::from(bytes)).div_ceil(WORD) {
            self.pending.insert(word, (thread, pc));
        }
    }

    /// A copy has taken effect.
    pub(crate) fn copy_done(&mut self, offset: u64, bytes: u32) {
        for word in offset / WORD..(offset + u64::from(bytes)).div_ceil(WORD) {
            if let Some((thread, pc)) = self.pending.remove(&word) {
                self.copied.push((word, thread, pc));
            }
        }
    }

    /// The copies that have taken effect are in order for those that wait for an mbarrier object.
    pub(crate) fn copies_delivered(&mut self) {
        self.copied.clear();
    }

    /// Whether there are copies that were not waited for.
    #[inline]
    pub(crate) fn copies_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The first pending copy that an access meets.
    pub(super) fn pending_conflict(&self, event: &events::Access<'_>) -> Option<Conflict> {
        let mut found: Option<Conflict> = None;
        for lane in lanes(event.lanes) {
            let start = event.offsets.at(lane);
            let words = start / WORD..(start + u64::from(event.bytes)).div_ceil(WORD);
            let hit = words.filter_map(|word| self.pending.get(&word)).next();
            let Some((thread, pc)) = hit.copied() else {
                continue;
            };
            let conflict = found.get_or_insert(Conflict {
                hazard: Hazard::PendingCopy,
                lanes: 0,
                block: self.block,
                warp: warp_of(thread),
                other_lanes: 0,
                pc,
                volatile: false,
            });
            if conflict.pc == pc && conflict.warp == warp_of(thread) {
                conflict.lanes |= 1 << lane;
                conflict.other_lanes |= lane_bit(thread);
            }
        }
        found
    }
}
