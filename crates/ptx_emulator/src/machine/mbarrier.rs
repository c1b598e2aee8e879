//! `mbarrier` instructions: lanes one after the other, in rising order.

use std::collections::HashSet;

use super::access::{addresses, bad};
use super::async_watch::SharedMemory;
use super::block::BlockState;
use super::cluster::Remote;
use super::launch::Engine;
use super::report::Reason;
use super::shared_address;
use super::warp::Warp;
use crate::async_op::{MbarrierKind, MbarrierOp};
use crate::fault::{Fault, FaultKind};
use crate::memory::{Storage, window};
use crate::op::{NONE, Space};
use crate::row::{LANES, Row64, lanes, write_mask};
use crate::semantics::mbarrier::{Mbarrier, MbarrierProblem};

/// Bytes of an mbarrier object, also its alignment.
pub(super) const OBJECT_BYTES: u32 = 8;

/// The mbarrier objects of a block that are set up, by offset in shared memory.
#[derive(Debug, Default)]
pub(super) struct Mbarriers {
    live: HashSet<usize>,
    /// Whether a warp ended its turn because a phase that it waits for is not complete.
    in_vain: bool,
}

impl Mbarriers {
    pub(super) fn reset(&mut self) {
        self.live.clear();
        self.in_vain = false;
    }

    /// Whether a warp's turn ended with a wait in vain; asked after each turn.
    pub(super) fn waited_in_vain(&mut self) -> bool {
        std::mem::take(&mut self.in_vain)
    }

    /// What the objects wait for, one a line.
    pub(super) fn describe(&self, shared: &Storage) -> Vec<String> {
        let mut offsets: Vec<usize> = self.live.iter().copied().collect();
        offsets.sort_unstable();
        let object = |offset: usize| {
            let object = Mbarrier::from_bits(shared.read(offset, OBJECT_BYTES));
            let address = window::SHARED_RESERVED + offset as u64;
            format!(
                "the mbarrier object at {address:#x} in shared memory is in a phase of parity {}, which waits for {} of {} arrivals and {} bytes",
                u8::from(object.parity),
                object.pending,
                object.expected,
                object.transactions
            )
        };
        offsets.into_iter().map(object).collect()
    }
}

/// Why an operation on an mbarrier object cannot be done.
pub(super) enum Misuse {
    NotInitialised,
    Problem(MbarrierProblem),
}

impl From<MbarrierProblem> for Misuse {
    fn from(problem: MbarrierProblem) -> Misuse {
        Misuse::Problem(problem)
    }
}

/// Changes the object at an offset that was checked.
pub(super) fn update<T>(
    block: &mut BlockState,
    offset: usize,
    change: impl FnOnce(&mut Mbarrier) -> Result<T, MbarrierProblem>,
) -> Result<T, Misuse> {
    update_in(&block.mbarriers, &block.shared, offset, change)
}

fn update_in<T>(
    objects: &Mbarriers,
    shared: &Storage,
    offset: usize,
    change: impl FnOnce(&mut Mbarrier) -> Result<T, MbarrierProblem>,
) -> Result<T, Misuse> {
    if !objects.live.contains(&offset) {
        return Err(Misuse::NotInitialised);
    }
    let mut object = Mbarrier::from_bits(shared.read(offset, OBJECT_BYTES));
    let result = change(&mut object)?;
    shared.write(offset, OBJECT_BYTES, object.to_bits());
    Ok(result)
}

impl Engine<'_> {
    /// Runs an mbarrier instruction. True if a lane waited in vain for a phase: then it is the others' turn.
    pub(super) fn mbarrier(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame_index: u32,
        op: &MbarrierOp,
        mask: u32,
        pc: u32,
    ) -> Result<bool, Box<Fault>> {
        let frame = warp.frames[frame_index as usize];
        let at = addresses(warp, &frame, &op.address);
        let mut mask = mask;
        if self.cluster.is_some() {
            let inside = shared_address::without_window(&at, op.space);
            if let Some(wrong) = self.elsewhere(block, &inside, mask, op.space) {
                let bad = bad(Reason::OtherBlock, Space::Shared, &inside, wrong, OBJECT_BYTES);
                return Err(self.access_fault(block, warp, frame_index, pc, *bad));
            }
            while let Some(remote) = self.remote(block, &inside, mask) {
                self.remote_objects(block, warp, (frame_index, pc), op, &inside, &remote)?;
                mask &= !remote.mask;
            }
            if mask == 0 {
                return Ok(false);
            }
        }
        let offsets = shared_address::offsets(block, &at, op.space, mask, OBJECT_BYTES)
            .map_err(|bad| self.access_fault(block, warp, frame_index, pc, *bad))?;
        let counts = match op.count {
            NONE => [1; LANES],
            row => warp.r32.copy(frame.base32 + row),
        };
        let given = match (op.kind, op.state) {
            (MbarrierKind::Wait { .. }, row) if row != NONE => warp.r64.copy(frame.base64 + row),
            _ => [0; LANES],
        };
        if op.kind.arrives() {
            self.objects_order(block, warp.index, mask, &offsets, true);
        }
        let (mut states, mut done): (Row64, u32) = ([0; LANES], 0);
        for lane in lanes(mask) {
            let (offset, count) = (offsets[lane], counts[lane]);
            let result = match op.kind {
                MbarrierKind::Init => Mbarrier::new(count).map_err(Misuse::from).map(|object| {
                    block.mbarriers.live.insert(offset);
                    block.shared.write(offset, OBJECT_BYTES, object.to_bits());
                    let BlockState { shared: bytes, checks, .. } = &mut *block;
                    SharedMemory { bytes, checks }.written(offset, OBJECT_BYTES);
                    0
                }),
                MbarrierKind::Invalidate => {
                    if block.mbarriers.live.remove(&offset) {
                        Ok(0)
                    } else {
                        Err(Misuse::NotInitialised)
                    }
                }
                MbarrierKind::Arrive { drop, completes } => {
                    update(block, offset, |object| object.arrive(count, drop, completes))
                }
                MbarrierKind::ArriveExpecting { drop } => {
                    update(block, offset, |object| object.arrive_expecting(count, drop))
                }
                MbarrierKind::Expect => {
                    update(block, offset, |object| object.expect(count)).map(|()| 0)
                }
                MbarrierKind::Complete => {
                    update(block, offset, |object| object.complete(count)).map(|()| 0)
                }
                MbarrierKind::Wait { parity, .. } => super::async_copy::deliver(block, offset)
                    .and_then(|()| {
                        update(block, offset, |object| {
                            let over = if parity {
                                object.completed_parity(count & 1 != 0)
                            } else {
                                object.completed(given[lane])
                            };
                            Ok(u64::from(over))
                        })
                    }),
            };
            match result {
                Ok(value) => {
                    states[lane] = value;
                    done |= u32::from(value != 0) << lane;
                }
                Err(misuse) => {
                    let one = 1 << lane;
                    let place = (frame_index, pc);
                    return Err(self.mbarrier_fault(block, warp, place, one, offset, misuse));
                }
            }
        }
        match op.kind {
            MbarrierKind::Wait { p, .. } => {
                let row = (frame.base_predicate + p) as usize;
                write_mask(&mut warp.predicates[row], done, mask);
                self.objects_order(block, warp.index, done & mask, &offsets, false);
                let in_vain = done & mask != mask;
                block.mbarriers.in_vain |= in_vain;
                return Ok(in_vain);
            }
            _ if op.state != NONE => {
                warp.r64.write(frame.base64 + op.state, &states, mask);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Arrives at mbarrier objects of another block of the cluster. Nothing else can be done with them there, and no state comes back
    /// (PTX ISA, `mbarrier.arrive`).
    fn remote_objects(
        &mut self,
        block: &mut BlockState,
        warp: &Warp,
        place: (u32, u32),
        op: &MbarrierOp,
        addresses: &Row64,
        remote: &Remote,
    ) -> Result<(), Box<Fault>> {
        let (frame_index, pc) = place;
        self.check_remote(remote, addresses, OBJECT_BYTES)
            .map_err(|bad| self.access_fault(block, warp, frame_index, pc, *bad))?;
        let counts = match op.count {
            NONE => [1; LANES],
            row => warp.r32.copy(warp.frames[frame_index as usize].base32 + row),
        };
        if op.kind.arrives() {
            self.remote_objects_order(block, warp.index, pc, addresses, remote);
        }
        let Some(member) = self.member(remote.rank) else {
            return Ok(());
        };
        for lane in lanes(remote.mask) {
            let (at, count) = (addresses[lane].wrapping_sub(remote.base) as usize, counts[lane]);
            let (objects, shared) = (&member.mbarriers, &member.shared);
            let result = match op.kind {
                MbarrierKind::Arrive { drop, completes } => {
                    update_in(objects, shared, at, |object| object.arrive(count, drop, completes))
                        .map(|_| ())
                }
                MbarrierKind::ArriveExpecting { drop } => {
                    update_in(objects, shared, at, |object| object.arrive_expecting(count, drop))
                        .map(|_| ())
                }
                MbarrierKind::Expect => {
                    update_in(objects, shared, at, |object| object.expect(count))
                }
                MbarrierKind::Complete => {
                    update_in(objects, shared, at, |object| object.complete(count))
                }
                MbarrierKind::Init | MbarrierKind::Invalidate | MbarrierKind::Wait { .. } => {
                    let (one, kind) = (1 << lane, FaultKind::NotSharedMemory);
                    let fault = self.fault(block, warp, frame_index, pc, one, kind);
                    return Err(fault.with_note(
                        "the mbarrier object is another block's: only its own block can set it up or wait for it"
                            .to_owned(),
                    ));
                }
            };
            result
                .map_err(|misuse| self.mbarrier_fault(block, warp, place, 1 << lane, at, misuse))?;
        }
        Ok(())
    }

    /// The fault of a lane that used the object at `offset` wrongly.
    pub(super) fn mbarrier_fault(
        &self,
        block: &BlockState,
        warp: &Warp,
        (frame, pc): (u32, u32),
        lane: u32,
        offset: usize,
        misuse: Misuse,
    ) -> Box<Fault> {
        let address = block.rank.shared_base + offset as u64;
        let note = match misuse {
            Misuse::NotInitialised => {
                format!(
                    "there is no mbarrier object at {address:#x} in shared memory: it was not initialised, or was invalidated"
                )
            }
            Misuse::Problem(problem) => format!("the object at {address:#x}: {problem}"),
        };
        self.fault(block, warp, frame, pc, lane, FaultKind::InvalidMbarrier).with_note(note)
    }
}
