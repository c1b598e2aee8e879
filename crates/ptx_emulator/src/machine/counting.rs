//! Counting while a launch runs.

use super::transfer::Places;
use crate::counters::{GlobalCost, PerOp, SharedCost, SharedOp, same_address, same_address_affine};
use crate::op::Space;
use crate::registers::Affine;
use crate::row::FULL;

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
}

#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    warps: i64,
    lanes: i64,
}

impl Counting {
    pub(super) fn new(operations: usize) -> Counting {
        Counting { sums: PerOp::new(operations), runs: vec![Difference::default(); operations + 1] }
    }

    /// The operations from `start` up to `end` were executed one after the other.
    #[inline(always)]
    pub(super) fn run(&mut self, start: u32, end: u32, mask: u32) {
        let lanes = i64::from(mask.count_ones());
        if let Some(first) = self.runs.get_mut(start as usize) {
            first.warps += 1;
            first.lanes += lanes;
        }
        if let Some(behind) = self.runs.get_mut(end as usize) {
            behind.warps -= 1;
            behind.lanes -= lanes;
        }
    }

    /// The sums, with the runs added up.
    pub(super) fn finish(mut self) -> PerOp {
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

    /// An access of `bytes` bytes by each lane of `mask`.
    #[inline]
    pub(super) fn access(
        &mut self,
        pc: u32,
        what: What,
        space: Space,
        places: Places<'_>,
        mask: u32,
        bytes: u32,
    ) {
        let total = bytes.wrapping_mul(mask.count_ones());
        match space {
            Space::Global | Space::Generic => {
                let cost = match (places, what) {
                    (_, What::Atomic) => GlobalCost::of_atomic(&places.row(), mask, bytes),
                    // One place costs the same whoever asks.
                    (Places::Even(Affine { base, stride }), _) if mask == FULL || stride == 0 => {
                        GlobalCost::affine(base, stride as i64, bytes)
                    }
                    (Places::Even(Affine { base, stride }), _) => {
                        GlobalCost::affine_masked(base, stride as i64, mask, bytes)
                    }
                    (Places::Each(addresses), _) => GlobalCost::of(addresses, mask, bytes),
                };
                self.sums.global(pc, cost, total);
            }
            Space::Shared => {
                let op = match what {
                    What::Load => SharedOp::Load,
                    What::Store => SharedOp::Store,
                    What::Atomic => SharedOp::Atomic,
                };
                let cost = match places {
                    Places::Even(Affine { base, stride }) if mask == FULL => {
                        SharedCost::affine(op, base, stride as i64, bytes)
                    }
                    _ => SharedCost::of(op, &places.row(), mask, bytes),
                };
                self.sums.shared(pc, cost, total);
            }
            Space::Local => self.sums.local(pc, total),
            Space::Constant | Space::Param | Space::Frame => {}
        }
        if what == What::Atomic {
            let same = match places {
                Places::Even(Affine { stride, .. }) if mask == FULL => {
                    same_address_affine(stride as i64)
                }
                Places::Even(Affine { stride: 0, .. }) => mask.count_ones(),
                _ => same_address(&places.row(), mask),
            };
            self.sums.atomic(pc, same);
        }
    }
}
