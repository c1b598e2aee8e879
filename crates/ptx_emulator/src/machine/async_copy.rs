//! `cp.async`: copies from global to shared memory that take effect late.
//!
//! The data are read when the copy is issued, and written only when the program waits for the copy, so that a missing
//! wait shows in the results. An arrival on an mbarrier object that is to follow a thread's copies happens, copies first,
//! when some thread asks for the object's phase.

use std::collections::VecDeque;

use super::access::{addresses, bad};
use super::async_watch::{SharedMemory, copies_issued, shared_addresses};
use super::block::BlockState;
use super::counting::What;
use super::launch::Engine;
use super::mbarrier::{self, Misuse, OBJECT_BYTES};
use super::operands::read_predicate;
use super::places::Places;
use super::report::{BadAccess, Reason};
use super::shared_address;
use super::warp::{Frame, Warp};
use super::watch::Position;
use crate::async_op::{AsyncCopyOp, Kept};
use crate::budget::{BudgetExhausted, Share};
use crate::events::Action;
use crate::fault::{Fault, FaultKind};
use crate::op::{Address, Space};
use crate::row::{LANES, lanes};

/// Copies, groups or arrivals of a thread that may be outstanding; more make the oldest happen, as a device may do at any time.
const MOST_OUTSTANDING: usize = 512;

/// A copy that was issued.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Offset in shared memory.
    target: usize,
    bytes: u32,
    data: [u8; 16],
}

/// The copies of one thread, in order.
#[derive(Clone, Debug, Default)]
struct Thread {
    outstanding: VecDeque<Copy>,
    /// Copies issued so far.
    issued: u64,
    /// For each group that was committed and not waited for, the number of copies issued up to its end.
    groups: VecDeque<u64>,
}

impl Thread {
    /// Makes copies happen until only those are outstanding that were issued after the first `count`.
    fn complete(&mut self, count: u64, shared: &mut SharedMemory<'_>) {
        while self.issued - (self.outstanding.len() as u64) < count {
            let Some(copy) = self.outstanding.pop_front() else {
                return;
            };
            let size = copy.bytes.min(8);
            for (half, value) in (0..copy.bytes.div_ceil(8)).zip(copy.data.as_chunks().0) {
                let at = copy.target + 8 * half as usize;
                shared.bytes.write(at, size, u64::from_le_bytes(*value));
            }
            shared.written(copy.target, copy.bytes);
        }
    }

    /// Waits for all groups but the newest `pending`.
    fn wait(&mut self, pending: usize, shared: &mut SharedMemory<'_>) {
        while self.groups.len() > pending {
            if let Some(end) = self.groups.pop_front() {
                self.complete(end, shared);
            }
        }
    }
}

/// An arrival that follows a thread's first copies.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    thread: usize,
    copies: u64,
    /// Offset of the mbarrier object.
    object: usize,
}

/// The asynchronous copies of a block.
#[derive(Debug, Default)]
pub(super) struct AsyncCopies {
    /// By number in the block; shorter where nobody has copied.
    threads: Vec<Thread>,
    arrivals: Vec<Arrival>,
    /// Bytes of host memory that the threads' lists take.
    list_bytes: u64,
    counted_bytes: u64,
}

impl AsyncCopies {
    pub(super) fn reset(&mut self) {
        self.threads.clear();
        self.arrivals.clear();
        self.list_bytes = 0;
    }

    /// Counts what the lists have grown by since the last time. A thread's lists are short.
    #[inline]
    pub(super) fn count_lists(&mut self, share: &mut Share) -> Result<(), BudgetExhausted> {
        if self.list_bytes > self.counted_bytes {
            share.take(self.list_bytes - self.counted_bytes)?;
            self.counted_bytes = self.list_bytes;
        }
        Ok(())
    }

    /// Adds a copy to a thread's.
    fn issue(&mut self, number: usize, copy: Copy, shared: &mut SharedMemory<'_>) {
        let thread = self.thread(number);
        let grown = push(&mut thread.outstanding, copy);
        thread.issued += 1;
        thread.complete(thread.issued.saturating_sub(MOST_OUTSTANDING as u64), shared);
        self.list_bytes += grown;
    }

    /// Makes a group of a thread's copies that belong to none yet.
    fn commit(&mut self, number: usize, shared: &mut SharedMemory<'_>) {
        let thread = self.thread(number);
        let grown = push(&mut thread.groups, thread.issued);
        thread.wait(MOST_OUTSTANDING, shared);
        self.list_bytes += grown;
    }

    fn thread(&mut self, number: usize) -> &mut Thread {
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, Thread::default);
        }
        &mut self.threads[number]
    }
}

/// Adds to a list; the bytes of host memory by which it grew.
fn push<T>(list: &mut VecDeque<T>, value: T) -> u64 {
    let before = list.capacity();
    list.push_back(value);
    ((list.capacity() - before) * size_of::<T>()) as u64
}

/// Lets the arrivals on an mbarrier object happen that wait for copies.
pub(super) fn deliver(block: &mut BlockState, object: usize) -> Result<(), Misuse> {
    if !block.copies.arrivals.iter().any(|arrival| arrival.object == object) {
        return Ok(());
    }
    let (due, rest) =
        std::mem::take(&mut block.copies.arrivals).into_iter().partition(|a| a.object == object);
    block.copies.arrivals = rest;
    let due: Vec<Arrival> = due;
    for arrival in due {
        let BlockState { copies, shared: bytes, checks, .. } = &mut *block;
        let shared = &mut SharedMemory { bytes, checks };
        copies.thread(arrival.thread).complete(arrival.copies, shared);
        shared.delivered();
        mbarrier::update(block, object, |object| object.arrive(1, false, true))?;
    }
    Ok(())
}

impl Engine<'_> {
    pub(super) fn async_copy(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame_index: u32,
        op: &AsyncCopyOp,
        mask: u32,
        pc: u32,
    ) -> Result<(), Box<Fault>> {
        let frame = warp.frames[frame_index as usize];
        let first = 32 * warp.index as usize;
        let BlockState { copies, shared: bytes, checks, .. } = &mut *block;
        let shared = &mut SharedMemory { bytes, checks };
        match op {
            AsyncCopyOp::Copy { target, source, bytes, kept } => {
                if let Some((lanes, kept)) = too_much(warp, &frame, *kept, *bytes, mask) {
                    // What hardware answers (recorded).
                    let kind = FaultKind::MisalignedAddress;
                    let fault = self.fault(block, warp, frame_index, pc, lanes, kind);
                    return Err(fault
                        .with_note(format!("the copy of {bytes} bytes is to read {kept} bytes"))
                        .with_help("a copy can read fewer bytes than it writes, not more"));
                }
                let places = Operands { target, source, bytes: *bytes, kept: *kept };
                let at = Position { frame: frame_index, pc, active: mask };
                self.issue(block, warp, &frame, &places, at)
                    .map_err(|bad| self.access_fault(block, warp, frame_index, pc, *bad))?;
            }
            AsyncCopyOp::Commit => {
                lanes(mask).for_each(|lane| copies.commit(first + lane, shared));
                self.copies_waited(block);
            }
            AsyncCopyOp::WaitGroup { pending } => {
                for lane in lanes(mask) {
                    copies.thread(first + lane).wait(*pending as usize, shared);
                }
                self.copies_waited(block);
            }
            AsyncCopyOp::WaitAll => {
                for lane in lanes(mask) {
                    let thread = copies.thread(first + lane);
                    thread.groups.clear();
                    thread.complete(thread.issued, shared);
                }
                self.copies_waited(block);
            }
            AsyncCopyOp::Arrive { space, address, increment } => {
                let at = addresses(warp, &frame, address);
                let offsets = shared_address::offsets(block, &at, *space, mask, OBJECT_BYTES)
                    .map_err(|bad| self.access_fault(block, warp, frame_index, pc, *bad))?;
                for lane in lanes(mask) {
                    let object = offsets[lane];
                    arrive(block, first + lane, object, *increment).map_err(|misuse| {
                        let place = (frame_index, pc);
                        self.mbarrier_fault(block, warp, place, 1 << lane, object, misuse)
                    })?;
                }
                self.objects_order(block, warp.index, mask, &offsets, true);
            }
        }
        Ok(())
    }

    /// Issues the copies of the lanes of `mask`. Targets and sources are checked here, not when the copies happen.
    fn issue(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        places: &Operands<'_>,
        at: Position,
    ) -> Result<(), Box<BadAccess>> {
        let Operands { bytes, .. } = *places;
        let mask = at.active;
        let targets = addresses(warp, frame, places.target);
        let offsets = shared_address::offsets(block, &targets, Space::Shared, mask, bytes)?;
        let kept = match places.kept {
            Kept::All => [bytes; LANES],
            Kept::Bytes(row) => warp.r32.copy(frame.base32 + row).map(|kept| kept.min(bytes)),
            Kept::Unless(p) => {
                let ignored = read_predicate(warp, frame, p);
                std::array::from_fn(|lane| if ignored >> lane & 1 != 0 { 0 } else { bytes })
            }
        };
        let sources = addresses(warp, frame, places.source);
        // A source of which nothing is read may be anywhere (recorded).
        let read = lanes(mask).filter(|lane| kept[*lane] != 0).fold(0, |m, lane| m | 1 << lane);
        let wrong = Places::Each(&sources).misaligned(read, bytes);
        if wrong != 0 {
            return Err(bad(Reason::Misaligned, Space::Global, &sources, wrong, bytes));
        }
        for lane in lanes(mask) {
            let mut data = [0; 16];
            let count = kept[lane] as usize;
            if count != 0 && !self.read_global(sources[lane], &mut data[..count]) {
                let one = 1 << lane;
                return Err(self.not_there(&sources, one, Space::Global, kept[lane]));
            }
            let copy = Copy { target: offsets[lane], bytes, data };
            let shared = &mut SharedMemory { bytes: &block.shared, checks: &mut block.checks };
            block.copies.issue(32 * warp.index as usize + lane, copy, shared);
        }
        if let Some(counting) = &mut self.counting {
            if read != 0 {
                let sources = Places::Each(&sources);
                counting.access(at.pc, What::Load, Space::Global, sources, read, bytes);
            }
            let targets = offsets.map(|offset| offset as u64);
            counting.access(at.pc, What::Store, Space::Shared, Places::Each(&targets), mask, bytes);
        }
        if self.checks.is_some() {
            let at = |active: u32| Position { active, ..at };
            let whole = lanes(read).filter(|lane| kept[*lane] == bytes);
            let whole = whole.fold(0, |mask, lane| mask | 1 << lane);
            let targets = shared_addresses(block, &offsets);
            let (read, write) = ((Action::Read, bytes, bytes), (Action::Write, bytes, bytes));
            self.moved(block, warp, at(whole), (Space::Global, &sources), read);
            self.moved(block, warp, at(mask), (Space::Shared, &targets), write);
            copies_issued(block, warp.index, at(mask), &offsets, bytes);
        }
        Ok(())
    }

    /// Reads global memory. False if it is not there.
    fn read_global(&self, address: u64, data: &mut [u8]) -> bool {
        let found = self.memory.find(address, data.len() as u64);
        let Some(allocation) = found.and_then(|slot| self.memory.slot(slot)) else {
            return false;
        };
        allocation.data.read_bytes(address.wrapping_sub(allocation.base) as usize, data)
    }
}

/// The operands of a copy.
struct Operands<'a> {
    target: &'a Address,
    source: &'a Address,
    bytes: u32,
    kept: Kept,
}

/// The lanes whose copies are to read more than they write, and how much the first reads.
fn too_much(warp: &Warp, frame: &Frame, kept: Kept, bytes: u32, mask: u32) -> Option<(u32, u32)> {
    let Kept::Bytes(row) = kept else {
        return None;
    };
    let kept = warp.r32.copy(frame.base32 + row);
    let over: u32 = lanes(mask).filter(|lane| kept[*lane] > bytes).fold(0, |m, lane| m | 1 << lane);
    (over != 0).then(|| (over, kept[(over.trailing_zeros() & 31) as usize]))
}

/// Makes an arrival follow a thread's copies.
fn arrive(
    block: &mut BlockState,
    thread: usize,
    object: usize,
    increment: bool,
) -> Result<(), Misuse> {
    mbarrier::update(block, object, |object| if increment { object.increment() } else { Ok(()) })?;
    let copies = block.copies.thread(thread).issued;
    block.copies.arrivals.push(Arrival { thread, copies, object });
    if block.copies.arrivals.len() > MOST_OUTSTANDING * LANES {
        let oldest = block.copies.arrivals[0].object;
        deliver(block, oldest)?;
    }
    Ok(())
}
