//! Where the machine tells its checks what happens.
//!
//! Nothing here runs when there are no checks: the interpreter is compiled twice, and the other places ask
//! once a block, barrier, call or warp operation.

use super::barrier::Barrier;
use super::block::{Block, BlockState};
use super::launch::Engine;
use super::warp::Warp;
use crate::op::{FrameSlot, WarpOp};

impl Engine<'_> {
    /// Before the first block.
    pub(super) fn launch_begins(&mut self) {}

    /// After the last block, or a fault.
    pub(super) fn launch_ends(&mut self) {}

    /// The block's warps have their first frame.
    pub(super) fn block_begins(&mut self, _block: &mut Block) {}

    /// All threads of the block have exited.
    pub(super) fn block_ends(&mut self, _block: &mut Block) {}

    /// The lanes of `mask` come to the operation at `pc`; those of `active` are about to execute it.
    pub(super) fn watch(
        &mut self,
        _block: &mut BlockState,
        _warp: &mut Warp,
        _frame: u32,
        _pc: u32,
        _mask: u32,
        _active: u32,
    ) {
    }

    /// The threads that wait at a barrier are about to go on.
    pub(super) fn barrier_completes(
        &mut self,
        _block: &mut Block,
        _number: usize,
        _barrier: &Barrier,
    ) {
    }

    /// The lanes `present` of the splits in `group` have met and are about to exchange values.
    pub(super) fn warp_op_runs(
        &mut self,
        _block: &mut BlockState,
        _warp: &mut Warp,
        _group: &[(usize, &WarpOp)],
        _present: u32,
    ) {
    }

    /// A function's frame was made for the lanes of `mask`.
    pub(super) fn frame_begins(
        &mut self,
        _block: &mut BlockState,
        _warp: &mut Warp,
        _frame: u32,
        _mask: u32,
    ) {
    }

    /// An argument or return value went from one frame to another. Places are words of local memory.
    pub(super) fn slot_copied(
        &mut self,
        _block: &mut BlockState,
        _warp: &mut Warp,
        _from: (u32, FrameSlot),
        _to: (u32, FrameSlot),
        _mask: u32,
    ) {
    }
}
