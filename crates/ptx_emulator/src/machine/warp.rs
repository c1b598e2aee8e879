//! A warp: its registers, and the groups its lanes are split into.
//!
//! Lanes that run together are a [`Split`]: one position, one mask, one frame. When a branch sends lanes
//! both ways, the split parts in two, and a [`Join`] is made for the point where the ways meet
//! again (the branch's reconvergence point, known since decoding). A split that comes to its join
//! hands its lanes over; when no lane is outstanding, all go on as one split. A call is a join too:
//! its point is the return, and lanes wait there until all have returned.
//!
//! Unlike a plain stack, splits can run in any order, and lanes that wait at a join can be
//! released early: this is how lanes that spin on a lock held by a waiting lane make progress
//! (forward progress of Volta and later).

use crate::budget::{BudgetExhausted, Share};
use crate::op::NONE;
use crate::registers::{Bank, Window};
use crate::row::{Row32, lanes};

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) pc: u32,
    pub(super) mask: u32,
    /// Where these lanes meet others, [`NONE`]: nowhere.
    pub(super) join: u32,
    pub(super) frame: u32,
    pub(super) state: State,
    /// Backward jumps taken; says when it is time to let others run.
    pub(super) back_edges: u32,
}

/// Whether a split can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits at the barrier instruction at its position.
    Barrier {
        number: u8,
    },
    /// Waits at the warp instruction at its position for other members.
    Members {
        mask: u32,
    },
}

/// A point where lanes wait for each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    pub(super) pc: u32,
    /// Lanes that will still come.
    pub(super) expected: u32,
    /// Lanes that are there.
    pub(super) arrived: u32,
    pub(super) parent: u32,
    /// The frame in which the lanes go on.
    pub(super) frame: u32,
    /// For the return of a call: the callee's frame, which ends with it.
    pub(super) callee: u32,
}

/// An active function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) parent: u32,
    /// Position of the call; [`NONE`] in the kernel's own frame.
    pub(super) call_pc: u32,
    pub(super) base32: u32,
    pub(super) base64: u32,
    pub(super) base_predicate: u32,
    /// First word of local memory, and the first word behind it.
    pub(super) base_local: u32,
    pub(super) top_local: u32,
    /// Bytes that a GPU has on the stack at least, with the frames above: see [`super::stack`].
    pub(super) stack_bytes: u32,
    pub(super) depth: u32,
}

/// 32 lanes and their state.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) index: u32,
    /// Lanes that exist and have not exited.
    pub(super) alive: u32,
    pub(super) splits: Vec<Split>,
    pub(super) joins: Vec<Join>,
    free_joins: Vec<u32>,
    pub(super) frames: Vec<Frame>,
    free_frames: Vec<u32>,
    // The register stacks. A frame's rows are the same for all lanes, but lanes that called other functions
    // from the same frame use the same rows for theirs: each lane sees only its own column.
    pub(super) r32: Bank<u32>,
    pub(super) r64: Bank<u64>,
    pub(super) predicates: Vec<u32>,
    /// Local memory, word by word: all lanes' copies of one word lie together.
    pub(super) local: Vec<Row32>,
    /// Barriers that lanes of this warp came to or that its exits may complete.
    pub(super) barrier_changed: bool,
    /// Lanes that panicked and left the report to another one, with the frame in which they had come to
    /// [`panic_begin`](crate::program::Program::panic_begin).
    pub(super) panicked: Vec<(u32, u32)>,
    /// Lanes that have arrived at the cluster's barrier in its present phase.
    pub(super) cluster_arrived: u32,
    /// Lanes that arrived in a phase that is complete, and have not waited for it.
    pub(super) cluster_passed: u32,
    /// What was counted of the lists of splits, joins and frames.
    counted_bytes: u64,
}

impl Warp {
    /// Clears everything, keeps the storage.
    pub(super) fn reset(&mut self, index: u32, alive: u32) {
        self.index = index;
        self.alive = alive;
        self.splits.clear();
        self.joins.clear();
        self.free_joins.clear();
        self.frames.clear();
        self.free_frames.clear();
        self.predicates.clear();
        self.local.clear();
        self.barrier_changed = false;
        self.panicked.clear();
        (self.cluster_arrived, self.cluster_passed) = (0, 0);
    }

    /// The registers and predicates of a frame.
    #[inline(always)]
    pub(super) fn window(&mut self, frame: &Frame) -> (Window<'_>, &mut [u32]) {
        let window =
            Window { r32: self.r32.window(frame.base32), r64: self.r64.window(frame.base64) };
        let predicates = self.predicates.get_mut(frame.base_predicate as usize..);
        (window, predicates.unwrap_or_default())
    }

    /// Makes room for so many rows, predicates and words of local memory in all.
    pub(super) fn reserve(
        &mut self,
        [rows32, rows64, predicates, local]: [usize; 4],
        share: &mut Share,
    ) -> Result<(), BudgetExhausted> {
        self.r32.reserve(rows32, share)?;
        self.r64.reserve(rows64, share)?;
        share.reserve(&mut self.predicates, predicates)?;
        share.reserve(&mut self.local, local)
    }

    /// Counts what the lists of splits, joins and frames have grown by. They grow a little at a time, so that it is enough to
    /// do this now and then.
    #[inline]
    pub(super) fn count_lists(&mut self, share: &mut Share) -> Result<(), BudgetExhausted> {
        let bytes = (self.splits.capacity() * size_of::<Split>()
            + self.joins.capacity() * (size_of::<Join>() + size_of::<u32>())
            + self.frames.capacity() * (size_of::<Frame>() + size_of::<u32>()))
            as u64;
        let more = bytes.saturating_sub(self.counted_bytes);
        if more != 0 {
            share.take(more)?;
            self.counted_bytes = bytes;
        }
        Ok(())
    }

    pub(super) fn finished(&self) -> bool {
        self.splits.is_empty()
    }

    pub(super) fn has_ready(&self) -> bool {
        self.splits.iter().any(|split| split.state == State::Ready)
    }

    pub(super) fn new_join(&mut self, join: Join) -> u32 {
        match self.free_joins.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                (self.joins.len() - 1) as u32
            }
        }
    }

    pub(super) fn new_frame(&mut self, frame: Frame) -> u32 {
        match self.free_frames.pop() {
            Some(index) => {
                self.frames[index as usize] = frame;
                index
            }
            None => {
                self.frames.push(frame);
                (self.frames.len() - 1) as u32
            }
        }
    }

    /// Adds a split that can run, or joins its lanes to one at the same place.
    pub(super) fn add_split(&mut self, pc: u32, mask: u32, join: u32, frame: u32) {
        self.splits.push(Split { pc, mask, join, frame, state: State::Ready, back_edges: 0 });
    }

    /// Lanes come to a join.
    pub(super) fn arrive(&mut self, join: u32, mask: u32) {
        let found = &mut self.joins[join as usize];
        found.expected &= !mask;
        found.arrived |= mask;
        if found.expected == 0 {
            self.complete(join);
        }
    }

    /// All lanes are there, or gone: they go on.
    fn complete(&mut self, join: u32) {
        let found = self.joins[join as usize];
        self.free_joins.push(join);
        if found.callee != NONE {
            self.free_frames.push(found.callee);
        }
        if found.arrived != 0 {
            self.add_split(found.pc, found.arrived, found.parent, found.frame);
        }
    }

    /// Lanes that will come to none of the joins from `join` outwards up to and without `end`.
    pub(super) fn leave(&mut self, mut join: u32, end: u32, mask: u32) {
        while join != end && join != NONE {
            let found = &mut self.joins[join as usize];
            found.expected &= !mask;
            let (parent, done) = (found.parent, found.expected == 0);
            if done {
                self.complete(join);
            }
            join = parent;
        }
    }

    /// Lets lanes that wait at a join of `split` go on without the others, the innermost first.
    /// They meet again at the next join outwards. False if none wait.
    pub(super) fn release_waiting(&mut self, split: usize) -> bool {
        let mut join = self.splits[split].join;
        while join != NONE {
            let found = &mut self.joins[join as usize];
            let parent = found.parent;
            if found.arrived != 0 {
                let (pc, mask, frame) = (found.pc, found.arrived, found.frame);
                found.arrived = 0;
                self.add_split(pc, mask, parent, frame);
                return true;
            }
            join = parent;
        }
        false
    }

    /// As [`release_waiting`](Warp::release_waiting), for any split.
    pub(super) fn release_any(&mut self) -> bool {
        (0..self.splits.len()).any(|split| self.release_waiting(split))
    }

    /// Makes one split of those that are ready at the same place, as lanes released together are.
    pub(super) fn merge(&mut self) {
        let mut index = 0;
        while index < self.splits.len() {
            let kept = self.splits[index];
            let mut other = index + 1;
            while other < self.splits.len() {
                let found = self.splits[other];
                let same = found.state == State::Ready
                    && kept.state == State::Ready
                    && (found.pc, found.join, found.frame) == (kept.pc, kept.join, kept.frame);
                if same {
                    self.splits[index].mask |= found.mask;
                    self.splits.remove(other);
                } else {
                    other += 1;
                }
            }
            index += 1;
        }
    }

    /// Ends the lanes of `mask`, which belong to split `split`; a split without lanes is removed.
    /// Returns whether the split is still there.
    pub(super) fn exit(&mut self, split: usize, mask: u32) -> bool {
        self.alive &= !mask;
        self.barrier_changed = true;
        let join = self.splits[split].join;
        self.leave(join, NONE, mask);
        self.drop_lanes(split, mask)
    }

    /// Takes lanes out of a split. Returns whether the split is still there.
    pub(super) fn drop_lanes(&mut self, split: usize, mask: u32) -> bool {
        self.splits[split].mask &= !mask;
        if self.splits[split].mask == 0 {
            self.splits.remove(split);
            return false;
        }
        true
    }

    /// The join at which calls into `frame` return.
    pub(super) fn return_join(&self, split: usize) -> u32 {
        let Split { mut join, frame, .. } = self.splits[split];
        while join != NONE {
            let found = &self.joins[join as usize];
            if found.callee == frame {
                return join;
            }
            join = found.parent;
        }
        NONE
    }

    /// The value of a 32-bit row in the first lane of `mask`, and the lanes that agree with it.
    pub(super) fn agreeing(&self, row: u32, mask: u32) -> (u32, u32) {
        if let Some(value) = self.r32.uniform(row, mask) {
            return (value, mask);
        }
        let first = self.r32.lane(row, (mask.trailing_zeros() & 31) as usize);
        let same = lanes(mask).filter(|lane| self.r32.lane(row, *lane) == first);
        (first, same.fold(0, |agreed, lane| agreed | 1 << lane))
    }
}
