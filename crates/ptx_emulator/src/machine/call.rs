//! Calls and returns.

use super::block::BlockState;
use super::divergence::part;
use super::frame;
use super::launch::Engine;
use super::warp::{Join, Warp};
use crate::fault::{Fault, FaultKind};
use crate::memory::window;
use crate::op::{CallOp, Callee, FrameSlot, NONE, OpKind};
use crate::row::{lanes, write32};

impl Engine<'_> {
    /// The lanes of `mask` of a split that stands at a call. Afterwards the split is in the callee, behind the
    /// call, or at the call with the lanes that call something else.
    pub(super) fn call(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        index: usize,
        op: &CallOp,
        mask: u32,
    ) -> Result<(), Box<Fault>> {
        let split = warp.splits[index];
        let (pc, frame) = (split.pc, split.frame);
        let mut mask = mask;
        let target = match op.callee {
            Callee::Function(function) => function,
            Callee::Intrinsic(intrinsic) => {
                self.intrinsic(block, warp, frame, pc, op, intrinsic, mask)?;
                warp.splits[index].pc = pc + 1;
                return Ok(());
            }
            Callee::Unresolved(name) => {
                let name = self.program.unresolved.get(name as usize).cloned();
                let kind = FaultKind::UnresolvedFunction { name: name.unwrap_or_default() };
                return Err(self.fault(block, warp, frame, pc, mask, kind));
            }
            Callee::Indirect(row) => {
                let base = warp.frames[frame as usize].base64;
                let addresses = warp.r64.copy(base + row);
                let first = addresses[(mask.trailing_zeros() & 31) as usize];
                let same = lanes(mask)
                    .filter(|lane| addresses[*lane] == first)
                    .fold(0, |same, lane| same | 1 << lane);
                let others = mask & !same;
                match self.function_at(first) {
                    Some(function) => {
                        if others != 0 {
                            part(warp, index, split.mask & !others, pc);
                        }
                        mask = same;
                        function
                    }
                    None => {
                        let kind = FaultKind::InvalidPc;
                        let fault = self.fault(block, warp, frame, pc, same, kind);
                        return Err(fault.with_note(format!("the address called is {first:#x}")));
                    }
                }
            }
        };
        // Lanes whose guard is false pass by.
        part(warp, index, mask, pc + 1);
        let callee = frame::enter(self, block, warp, target, Some((frame, pc)), mask);
        let callee = callee.map_err(|kind| {
            let fault = self.fault(block, warp, frame, pc, mask, kind);
            self.explain_stack(fault, warp, frame, target)
        })?;
        let function = &self.program.functions[target as usize];
        let from = warp.frames[frame as usize].base_local;
        let to = warp.frames[callee as usize].base_local;
        for (argument, param) in op.arguments.iter().zip(&function.params) {
            copy_slot(warp, (from, *argument), (to, *param), mask);
        }
        self.frame_begins(block, warp, callee, mask);
        for (argument, param) in op.arguments.iter().zip(&function.params) {
            self.slot_copied(block, warp, (from, *argument), (to, *param), mask);
        }
        let outer = warp.splits[index].join;
        let join = warp.new_join(Join {
            pc: pc + 1,
            expected: mask,
            arrived: 0,
            parent: outer,
            frame,
            callee,
        });
        let split = &mut warp.splits[index];
        (split.pc, split.join, split.frame) = (function.start, join, callee);
        Ok(())
    }

    /// The function that a pointer means, if the kernel can reach it.
    fn function_at(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(window::FUNCTION_BASE)?;
        if offset % window::FUNCTION_STRIDE != 0 {
            return None;
        }
        let index = u32::try_from(offset / window::FUNCTION_STRIDE).ok()?;
        self.templates.get(index as usize)?.as_ref().map(|_| index)
    }

    /// The lanes of `mask` return. Whether the split still has lanes.
    pub(super) fn leave_function(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        index: usize,
        mask: u32,
    ) -> Result<bool, Box<Fault>> {
        let split = warp.splits[index];
        let frame = warp.frames[split.frame as usize];
        if frame.call_pc == NONE {
            let stays = warp.exit(index, mask);
            if stays {
                warp.splits[index].pc = split.pc + 1;
            }
            self.check_members(block, warp)?;
            return Ok(stays);
        }
        if let Some(OpKind::Call(op)) =
            self.program.ops.get(frame.call_pc as usize).map(|op| &op.kind)
            && let Some(function) = self.program.functions.get(frame.function as usize)
        {
            let to = warp.frames[frame.parent as usize].base_local;
            for (value, place) in function.returns.iter().zip(&op.returns) {
                copy_slot(warp, (frame.base_local, *value), (to, *place), mask);
                self.slot_copied(block, warp, (frame.base_local, *value), (to, *place), mask);
            }
        }
        self.frame_ends(block, warp, split.frame, mask);
        let join = warp.return_join(index);
        warp.leave(split.join, join, mask);
        if join != NONE {
            warp.arrive(join, mask);
        }
        Ok(warp.drop_lanes(index, mask))
    }

    /// Makes room on the stack: the local address of `bytes` bytes, or the kind of fault.
    pub(super) fn grow_stack(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: u32,
        bytes: u64,
        align: u32,
    ) -> Result<u64, FaultKind> {
        let found = &mut warp.frames[frame as usize];
        let start = found.top_local.checked_next_multiple_of((align / 4).max(1));
        let words = u32::try_from(bytes.div_ceil(4)).ok();
        let most = self.config.local_bytes / 4 + (window::LOCAL_RESERVED / 4) as u32;
        let place =
            start.zip(words).and_then(|(start, words)| Some((start, start.checked_add(words)?)));
        let Some((start, top)) = place.filter(|(_, top)| *top <= most) else {
            return Err(FaultKind::StackOverflow);
        };
        let length = top as usize;
        let reserved = block.share.reserve(&mut warp.local, length);
        reserved.map_err(|_| FaultKind::OutOfHostMemory)?;
        found.top_local = top;
        if warp.local.len() < length {
            warp.local.resize(length, [0xCBCB_CBCB; 32]);
        }
        Ok(u64::from(start) * 4)
    }
}

/// Copies a slot between frames, word by word.
fn copy_slot(warp: &mut Warp, from: (u32, FrameSlot), to: (u32, FrameSlot), mask: u32) {
    let words = from.1.bytes.min(to.1.bytes).div_ceil(4);
    let (from, to) = (from.0 + from.1.offset / 4, to.0 + to.1.offset / 4);
    for word in 0..words {
        let Some(value) = warp.local.get((from + word) as usize).copied() else {
            return;
        };
        if let Some(target) = warp.local.get_mut((to + word) as usize) {
            write32(target, &value, mask);
        }
    }
}
