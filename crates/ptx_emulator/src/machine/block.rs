//! A block that runs: its warps, shared memory and barriers. It can stop after any operation and go on later.

use std::sync::Arc;

use super::async_copy::AsyncCopies;
use super::barrier::{BARRIERS, Barrier};
use super::cluster::Rank;
use super::mbarrier::Mbarriers;
use super::warp::Warp;
use super::work::Random;
use crate::budget::{Budget, BudgetExhausted, Share};
use crate::checks::BlockChecks;
use crate::memory::{POISON, Storage};

/// A block of the grid.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) state: BlockState,
    pub(super) warps: Vec<Warp>,
}

/// What the warps of a block share.
#[derive(Debug)]
pub(super) struct BlockState {
    /// Number in the grid, x fastest.
    pub(super) linear: u64,
    pub(super) index: [u32; 3],
    /// Its place in the order in which blocks start.
    pub(super) position: u64,
    /// The choices to come, if these do not follow a fixed order.
    pub(super) random: Option<Random>,
    /// Its place in its cluster.
    pub(super) rank: Rank,
    /// Whether the cluster has its shared memory, since another of its blocks runs.
    pub(super) is_out: bool,
    /// Shared memory: static variables, then dynamic.
    pub(super) shared: Storage,
    pub(super) barriers: Vec<Barrier>,
    pub(super) mbarriers: Mbarriers,
    pub(super) copies: AsyncCopies,
    /// The warp that runs first in the next round.
    pub(super) turn: usize,
    /// What checks keep about the block, if there are any.
    pub(super) checks: Option<Box<BlockChecks>>,
    /// What the block and its warps take of the launch's memory.
    pub(super) share: Share,
}

impl Block {
    pub(super) fn new(budget: &Arc<Budget>) -> Block {
        Block {
            state: BlockState {
                linear: 0,
                index: [0; 3],
                position: 0,
                random: None,
                rank: Rank::default(),
                is_out: false,
                shared: Storage::default(),
                barriers: vec![Barrier::default(); BARRIERS],
                mbarriers: Mbarriers::default(),
                copies: AsyncCopies::default(),
                turn: 0,
                checks: None,
                share: Share::new(budget),
            },
            warps: Vec::new(),
        }
    }

    /// Prepares for another block of the same launch; keeps the storage.
    pub(super) fn reset(
        &mut self,
        linear: u64,
        index: [u32; 3],
        shared_bytes: u32,
        threads: u32,
    ) -> Result<(), BudgetExhausted> {
        self.state.linear = linear;
        self.state.index = index;
        self.state.rank = Rank::default();
        self.state.is_out = false;
        self.state.share.reserve(&mut self.state.shared, shared_bytes as usize)?;
        self.state.shared.refill(shared_bytes as usize, POISON);
        self.state.barriers.iter_mut().for_each(|barrier| *barrier = Barrier::default());
        self.state.mbarriers.reset();
        self.state.copies.reset();
        self.state.turn = 0;
        self.state.checks = None;
        let warps = threads.div_ceil(32);
        self.state.share.reserve(&mut self.warps, warps as usize)?;
        self.warps.resize_with(warps as usize, Warp::default);
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let rest = threads - 32 * number as u32;
            let alive = if rest >= 32 { u32::MAX } else { (1 << rest) - 1 };
            warp.reset(number as u32, alive);
        }
        Ok(())
    }

    pub(super) fn finished(&self) -> bool {
        self.warps.iter().all(Warp::finished)
    }
}
