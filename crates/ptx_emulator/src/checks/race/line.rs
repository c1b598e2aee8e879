//! What is known of 32 neighbouring cells together.
//!
//! A [`Sweep`] that is in conflict with nothing is written down once for the line, as a [`Note`], and not in each cell. Only when
//! an access comes that has to be looked at word by word, or when there are too many, the notes go into the cells, in
//! the order in which they came. In shared memory most are never needed again: after a barrier of the block everything
//! before it is in order.

use super::cell::{Cell, Crowd, Flags, ReaderLists};
use super::hazard::Access;
use super::sweep::{LINE, Sweep};
use super::vector::Time;
use crate::row::lanes;

/// Sweeps that are remembered for a line.
const NOTES: usize = 12;
/// Reads of the same cells, none of which is ordered after another, beyond which further ones are forgotten, as in cells.
const MOST_READERS: u32 = 5;

/// A sweep that was in conflict with nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Note {
    /// The cells of the line.
    pub(super) cells: u32,
    pub(super) lanes: u32,
    pub(super) sweep: Sweep,
    pub(super) write: bool,
    pub(super) flags: Flags,
    pub(super) warp: u8,
    pub(super) time: Time,
    pub(super) block: u32,
    pub(super) pc: u32,
    /// What was in order for the block then.
    pub(super) floor: Time,
}

/// Where and when a line is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) block: u32,
    pub(super) time: Time,
    /// Counts what orders accesses of different warps.
    pub(super) generation: u32,
    /// Accesses up to here are in order for all that can access the memory.
    pub(super) floor: Time,
}

/// 32 cells.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// When the masks of crowded cells were made: they hold as long as nothing was ordered anew.
    generation: u32,
    /// The block that `block_crowded` holds for.
    block: u32,
    /// The cells that are [`Crowd::Any`], and those that are [`Crowd::Block`].
    crowded: u32,
    block_crowded: u32,
    /// The time of the last access.
    latest: Time,
    /// The cells that know of reads, of writes, and those that are split, as far as that can matter still.
    read: u32,
    written: u32,
    split: u32,
    count: u32,
    notes: [Note; NOTES],
    /// Made when first needed.
    cells: Option<Box<[Cell; LINE]>>,
}

impl Line {
    /// Forgets what is in order for everybody, and what holds no longer.
    #[inline]
    fn refresh(&mut self, look: Look) {
        if self.latest <= look.floor {
            (self.count, self.read, self.written) = (0, 0, 0);
        }
        if self.generation != look.generation {
            (self.generation, self.crowded, self.block_crowded) = (look.generation, 0, 0);
        }
    }

    /// Whether reads of these cells make no difference.
    #[inline]
    fn is_crowded(&self, look: Look, cells: u32) -> bool {
        let own = if self.block == look.block { self.block_crowded } else { 0 };
        self.generation == look.generation && cells & !(self.crowded | own) == 0
    }

    fn crowd(&mut self, look: Look, cells: u32, crowd: Crowd) {
        match crowd {
            Crowd::No | Crowd::Written => {}
            Crowd::Any => self.crowded |= cells,
            Crowd::Block => {
                if self.block != look.block {
                    (self.block, self.block_crowded) = (look.block, 0);
                }
                self.block_crowded |= cells;
            }
        }
    }

    /// Lanes read. False if this has to be looked at word by word.
    #[inline]
    pub(super) fn read(
        &mut self,
        lists: &mut ReaderLists,
        note: Note,
        access: &Access,
        (look, vectors): (Look, bool),
    ) -> bool {
        let non_coherent = note.flags.has(Flags::NON_COHERENT);
        if !non_coherent && self.is_crowded(look, note.cells) {
            return true;
        }
        self.refresh(look);
        if note.cells & (self.split | self.written) != 0 {
            return false;
        }
        let (mut readers, mut crowd, mut emptied) = (0, Crowd::Any, false);
        for old in &mut self.notes[..self.count as usize] {
            let common = old.cells & note.cells;
            if common == 0 {
                continue;
            }
            if old.write {
                if non_coherent || !old.is_before(access, &note) {
                    return false;
                }
                let known = old.block == access.block && old.time <= access.block_floor;
                crowd = if known && crowd != Crowd::No { Crowd::Block } else { Crowd::No };
            } else if old.is_same(&note) && common == note.cells && note.lanes & !old.lanes == 0 {
                return true;
            } else if old.is_covered(access, &note) {
                old.cells &= !note.cells;
                emptied |= old.cells == 0;
            } else if common == note.cells {
                readers += 1;
            }
        }
        if emptied {
            self.compact();
        }
        // Vectors may order what floors do not.
        if readers >= MOST_READERS && !vectors && !non_coherent {
            self.crowd(look, note.cells, crowd);
        } else {
            self.add(lists, note);
        }
        true
    }

    /// Lanes write, each its own cells. False if this has to be looked at word by word.
    #[inline]
    pub(super) fn write(
        &mut self,
        lists: &mut ReaderLists,
        note: Note,
        access: &Access,
        look: Look,
    ) -> bool {
        self.refresh(look);
        if note.cells & (self.split | self.written | self.read) != 0 {
            return false;
        }
        let notes = &mut self.notes[..self.count as usize];
        let good = notes
            .iter()
            .filter(|old| old.cells & note.cells != 0)
            .all(|old| !old.flags.has(Flags::NON_COHERENT) && old.is_before(access, &note));
        if !good {
            return false;
        }
        for old in notes {
            old.cells &= !note.cells;
        }
        self.compact();
        self.crowded &= !note.cells;
        self.block_crowded &= !note.cells;
        self.add(lists, note);
        true
    }

    /// Drops notes of no cells.
    fn compact(&mut self) {
        let mut kept = 0;
        for at in 0..self.count as usize {
            if self.notes[at].cells != 0 {
                self.notes[kept] = self.notes[at];
                kept += 1;
            }
        }
        self.count = kept as u32;
    }

    fn add(&mut self, lists: &mut ReaderLists, note: Note) {
        if self.count as usize >= NOTES {
            self.flush(lists);
        }
        self.latest = self.latest.max(note.time);
        if let Some(free) = self.notes.get_mut(self.count as usize) {
            *free = note;
            self.count += 1;
        }
    }

    /// Writes the notes into the cells.
    #[cold]
    fn flush(&mut self, lists: &mut ReaderLists) {
        let cells = self.cells.get_or_insert_with(|| Box::new([Cell::default(); LINE]));
        for note in &self.notes[..self.count as usize] {
            let access = Access {
                block: note.block,
                warp: u32::from(note.warp),
                pc: note.pc,
                time: note.time,
                flags: note.flags,
                block_floor: note.floor,
                warp_floor: note.floor,
            };
            for at in lanes(note.cells) {
                let own = note.sweep.lanes_at(at as u32, note.lanes);
                let cell = &mut cells[at];
                if note.write {
                    access.remember_write(cell, lists, own);
                } else {
                    access.remember_read(None, cell, lists, own);
                }
            }
            if note.write {
                self.written |= note.cells;
                self.read &= !note.cells;
            } else {
                self.read |= note.cells;
            }
        }
        self.count = 0;
    }

    /// The line's cells, with all that is known of them.
    fn cells(&mut self, lists: &mut ReaderLists, look: Look) -> &mut [Cell; LINE] {
        self.refresh(look);
        if self.count != 0 {
            self.flush(lists);
        }
        self.latest = self.latest.max(look.time);
        self.cells.get_or_insert_with(|| Box::new([Cell::default(); LINE]))
    }

    /// Calls `visit` for a cell, or for its parts; it says how crowded each is now. `skip`: not if its readers make no
    /// difference any more.
    #[inline]
    pub(super) fn visit(
        &mut self,
        (lists, parts): (&mut ReaderLists, &mut [[Cell; super::cell::GRANULE]]),
        at: usize,
        (look, skip): (Look, bool),
        mut visit: impl FnMut(&mut Cell, &mut ReaderLists) -> Crowd,
    ) {
        let bit = 1 << (at % LINE);
        if skip && self.is_crowded(look, bit) {
            return;
        }
        let cell = &mut self.cells(lists, look)[at % LINE];
        let crowd = if cell.write.flags.has(Flags::SPLIT) {
            let mut written = Crowd::No;
            for part in parts.get_mut(cell.more as usize).into_iter().flatten() {
                if visit(part, lists) == Crowd::Written {
                    written = Crowd::Written;
                }
            }
            written
        } else {
            visit(cell, lists)
        };
        if crowd == Crowd::Written {
            self.crowded &= !bit;
            self.block_crowded &= !bit;
            self.written |= bit;
            self.read &= !bit;
        } else {
            self.read |= bit;
            self.crowd(look, bit, crowd);
        }
    }

    /// The number of a cell's parts, which are made if there are none.
    pub(super) fn split(
        &mut self,
        lists: &mut ReaderLists,
        parts: &mut Vec<[Cell; super::cell::GRANULE]>,
        at: usize,
        look: Look,
    ) -> usize {
        let bit = 1 << (at % LINE);
        let cell = &mut self.cells(lists, look)[at % LINE];
        if !cell.write.flags.has(Flags::SPLIT) {
            let mut new = [*cell; super::cell::GRANULE];
            for part in &mut new[1..] {
                if let Some(readers) = lists.get(part.more).copied() {
                    part.more = lists.create();
                    if let Some(list) = lists.get_mut(part.more) {
                        *list = readers;
                    }
                }
            }
            parts.push(new);
            *cell = Cell::default();
            cell.write.flags = Flags(Flags::SPLIT);
            cell.more = (parts.len() - 1) as u32;
        }
        let number = cell.more as usize;
        self.split |= bit;
        self.crowded &= !bit;
        self.block_crowded &= !bit;
        number
    }
}

impl Note {
    /// Whether both are by the same lanes, as far as they access the same cells.
    fn is_alike(&self, new: &Note) -> bool {
        self.warp == new.warp && self.sweep == new.sweep
    }

    fn is_same(&self, new: &Note) -> bool {
        self.time == new.time
            && self.pc == new.pc
            && self.block == new.block
            && self.flags == new.flags
            && self.is_alike(new)
    }

    /// Whether it happened before what `new`, which is `access`, does now to the same cells.
    #[inline]
    fn is_before(&self, access: &Access, new: &Note) -> bool {
        self.block == access.block
            && (self.time <= access.block_floor
                || self.warp == new.warp
                    && (self.time <= access.warp_floor
                        || self.sweep == new.sweep && self.sweep.is_apart(self.lanes | new.lanes)))
    }

    /// Whether what is in conflict with this read would be with `new` too.
    #[inline]
    fn is_covered(&self, access: &Access, new: &Note) -> bool {
        let stands_for = !self.flags.has(Flags::NON_COHERENT) || new.flags.has(Flags::NON_COHERENT);
        let again =
            self.block == access.block && self.is_alike(new) && self.lanes & !new.lanes == 0;
        stands_for && (again || self.is_before(access, new))
    }
}
