//! The rules: which two accesses to the same bytes are a hazard.

use super::cell::{Cell, Crowd, Flags, Read, ReaderLists, Write};
use super::clock::BlockClock;
use super::vector::{Time, lane_bit, thread_of, warp_of};
use crate::row::lanes;

/// What is wrong between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hazard {
    /// A read of what another thread wrote.
    ReadAfterWrite,
    /// A write over what another thread read.
    WriteAfterRead,
    /// A write over what another thread wrote.
    WriteAfterWrite,
    /// `ld.global.nc` of what the launch writes, before or after.
    NonCoherent,
    /// An access to the target of an asynchronous copy that was not waited for.
    PendingCopy,
}

/// The access that is being looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) block: u32,
    pub(super) warp: u32,
    pub(super) pc: u32,
    pub(super) time: Time,
    pub(super) flags: Flags,
    pub(super) block_floor: Time,
    pub(super) warp_floor: Time,
}

/// An earlier access that the present one is in conflict with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) hazard: Hazard,
    /// The lanes of the present access.
    pub(crate) lanes: u32,
    /// The earlier one.
    pub(crate) block: u32,
    pub(crate) warp: u32,
    pub(crate) other_lanes: u32,
    pub(crate) pc: u32,
    /// Whether both are volatile.
    pub(crate) volatile: bool,
}

impl Access {
    /// Neither access needs ordering: both are strong, and meant for each other (PTX ISA, "Morally strong operations").
    #[inline]
    fn strong_with(&self, flags: Flags, block: u32) -> bool {
        let both = self.flags.0 & flags.0;
        let narrow = (self.flags.0 | flags.0) & Flags::BLOCK_SCOPE != 0;
        both & Flags::STRONG != 0 && (!narrow || block == self.block)
    }

    #[inline]
    fn after_write(&self, write: &Write, own: u32) -> bool {
        write.time == 0
            || write.block == self.block
                && (write.time <= self.block_floor
                    || warp_of(write.thread) == self.warp
                        && (write.time <= self.warp_floor || own == lane_bit(write.thread)))
    }

    #[inline]
    fn after_read(&self, read: &Read, own: u32) -> bool {
        read.time == 0
            || read.block == self.block
                && (read.time <= self.block_floor
                    || u32::from(read.warp) == self.warp
                        && (read.time <= self.warp_floor
                            || own == read.lanes && own.is_power_of_two()))
    }

    /// The lanes of `own` that the write did not happen before.
    fn unordered_write(&self, clocks: &BlockClock, write: &Write, own: u32) -> u32 {
        lanes(own)
            .filter(|lane| {
                !clocks.ordered((self.warp, *lane), write.block, write.thread, write.time)
            })
            .fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Of the lanes of `own`, those before which not all of the read's lanes came; and these lanes of the read.
    fn unordered_read(&self, clocks: &BlockClock, read: &Read, own: u32) -> (u32, u32) {
        let (mut late, mut early) = (0, 0);
        for lane in lanes(own) {
            for other in lanes(read.lanes) {
                let thread = thread_of(read.warp.into(), other);
                if !clocks.ordered((self.warp, lane), read.block, thread, read.time) {
                    late |= 1 << lane;
                    early |= 1 << other;
                }
            }
        }
        (late, early)
    }

    fn conflict_with_write(&self, hazard: Hazard, write: &Write, lanes: u32) -> Conflict {
        Conflict {
            hazard,
            lanes,
            block: write.block,
            warp: warp_of(write.thread),
            other_lanes: lane_bit(write.thread),
            pc: write.pc,
            volatile: self.flags.0 & write.flags.0 & Flags::VOLATILE != 0,
        }
    }

    fn conflict_with_read(&self, hazard: Hazard, read: &Read, lanes: u32, early: u32) -> Conflict {
        Conflict {
            hazard,
            lanes,
            block: read.block,
            warp: u32::from(read.warp),
            other_lanes: early,
            pc: read.pc,
            volatile: self.flags.0 & read.flags.0 & Flags::VOLATILE != 0,
        }
    }

    /// Checks against the cell's last write.
    fn against_write(
        &self,
        hazard: Hazard,
        clocks: &BlockClock,
        write: &Write,
        own: u32,
        found: &mut impl FnMut(Conflict),
    ) {
        // Volatile accesses of one warp are no data race, but nothing keeps its lanes together either.
        let warp_volatile = self.flags.0 & write.flags.0 & Flags::VOLATILE != 0
            && write.block == self.block
            && warp_of(write.thread) == self.warp;
        if self.strong_with(write.flags, write.block) && !warp_volatile {
            return;
        }
        let late = self.unordered_write(clocks, write, own);
        if late != 0 {
            found(self.conflict_with_write(hazard, write, late));
        }
    }

    /// The lanes of `own` read the cell. Says whether further warps need not be remembered as readers.
    #[inline]
    pub(super) fn reads(
        &self,
        clocks: &BlockClock,
        cell: &mut Cell,
        lists: &mut ReaderLists,
        own: u32,
        found: &mut impl FnMut(Conflict),
    ) -> Crowd {
        if !self.after_write(&cell.write, own) {
            self.against_write(Hazard::ReadAfterWrite, clocks, &cell.write, own, found);
        }
        if self.flags.has(Flags::NON_COHERENT) && cell.write.time != 0 {
            found(self.conflict_with_write(Hazard::NonCoherent, &cell.write, own));
        }
        let room = self.remember_read(Some(clocks), cell, lists, own);
        if room {
            Crowd::No
        } else if cell.write.time == 0 {
            Crowd::Any
        } else if cell.write.block == self.block && cell.write.time <= self.block_floor {
            Crowd::Block
        } else {
            Crowd::No
        }
    }

    /// Makes this read the cell's last one. False if there is no room for further readers. Without clocks only floors say
    /// what is in order.
    pub(super) fn remember_read(
        &self,
        clocks: Option<&BlockClock>,
        cell: &mut Cell,
        lists: &mut ReaderLists,
        own: u32,
    ) -> bool {
        let clocks = clocks.filter(|clocks| clocks.vectors);
        let read = &mut cell.read;
        let same_warp = read.block == self.block && u32::from(read.warp) == self.warp;
        if same_warp && read.time == self.time && read.pc == self.pc && read.flags == self.flags {
            read.lanes |= own;
            return true;
        }
        // A read that came before this one in the order is covered by it: what is after this one is after both.
        let covered = self.stands_for(read)
            && (self.after_read(read, own)
                || same_warp && read.lanes & !own == 0
                || clocks.is_some_and(|clocks| self.covers(clocks, read, own)));
        let room = covered || self.keep(clocks, cell, lists, own);
        cell.read = Read {
            time: self.time,
            block: self.block,
            pc: self.pc,
            lanes: own,
            warp: self.warp as u8,
            flags: self.flags,
        };
        room
    }

    /// Whether what is in conflict with an earlier read would be with this access too: strong accesses are in conflict
    /// with fewer.
    #[inline]
    fn stands_for(&self, read: &Read) -> bool {
        read.time == 0 || read.flags.has(Flags::STRONG) || !self.flags.has(Flags::STRONG)
    }

    /// Whether a read happened before what some lane does now.
    fn covers(&self, clocks: &BlockClock, read: &Read, own: u32) -> bool {
        lanes(own).any(|lane| self.unordered_read(clocks, read, 1 << lane).0 == 0)
    }

    /// Keeps the cell's last read in its list. False if there is no room.
    #[inline(never)]
    fn keep(
        &self,
        clocks: Option<&BlockClock>,
        cell: &mut Cell,
        lists: &mut ReaderLists,
        own: u32,
    ) -> bool {
        if cell.more == 0 {
            cell.more = lists.create();
        }
        let Some(list) = lists.get_mut(cell.more) else {
            return false;
        };
        let old = cell.read;
        let free = list.list.iter_mut().find(|read| {
            read.time == 0
                || read.block == old.block
                    && read.warp == old.warp
                    && read.lanes & !old.lanes == 0
                    && (read.flags.has(Flags::STRONG) || !old.flags.has(Flags::STRONG))
                || self.stands_for(read)
                    && (read.block == self.block && read.time <= self.block_floor
                        || clocks.is_some_and(|clocks| self.covers(clocks, read, own)))
        });
        free.map(|place| *place = old).is_some()
    }

    /// The lanes of `own`, one if they do not all write the same bytes, write the cell.
    #[inline]
    pub(super) fn writes(
        &self,
        clocks: &BlockClock,
        cell: &mut Cell,
        lists: &mut ReaderLists,
        own: u32,
        found: &mut impl FnMut(Conflict),
    ) {
        if !self.after_write(&cell.write, own) {
            self.against_write(Hazard::WriteAfterWrite, clocks, &cell.write, own, found);
        }
        if cell.read.time != 0 {
            if !self.after_read(&cell.read, own) {
                self.against_read(clocks, &cell.read, own, found);
            } else if cell.read.flags.has(Flags::NON_COHERENT) {
                let early = cell.read.lanes;
                found(self.conflict_with_read(Hazard::NonCoherent, &cell.read, own, early));
            }
            if let Some(list) = lists.get(cell.more) {
                for read in list.list.iter().filter(|read| read.time != 0) {
                    if !self.after_read(read, own) {
                        self.against_read(clocks, read, own, found);
                    }
                }
            }
        }
        self.remember_write(cell, lists, own);
    }

    /// Makes this write the cell's last one, and forgets who read what was there before.
    pub(super) fn remember_write(&self, cell: &mut Cell, lists: &mut ReaderLists, own: u32) {
        if cell.read.time != 0 {
            lists.release(cell.more);
            cell.more = 0;
            cell.read.time = 0;
        }
        let last = (31 - own.leading_zeros().min(31)) as usize;
        cell.write = Write {
            time: self.time,
            block: self.block,
            pc: self.pc,
            thread: thread_of(self.warp, last),
            flags: self.flags,
        };
    }

    #[cold]
    fn against_read(
        &self,
        clocks: &BlockClock,
        read: &Read,
        own: u32,
        found: &mut impl FnMut(Conflict),
    ) {
        if read.flags.has(Flags::NON_COHERENT) {
            found(self.conflict_with_read(Hazard::NonCoherent, read, own, read.lanes));
            return;
        }
        let warp_volatile = self.flags.0 & read.flags.0 & Flags::VOLATILE != 0
            && read.block == self.block
            && u32::from(read.warp) == self.warp;
        if self.strong_with(read.flags, read.block) && !warp_volatile {
            return;
        }
        let (late, early) = self.unordered_read(clocks, read, own);
        if late != 0 {
            found(self.conflict_with_read(Hazard::WriteAfterRead, read, late, early));
        }
    }
}
