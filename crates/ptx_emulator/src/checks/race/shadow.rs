//! Who accessed each piece of memory last.
//!
//! One [`Cell`] stands for 4 bytes. Where threads access less than that, the 4 bytes get cells of their own.

use super::vector::{Thread, Time};

/// Bytes that a cell stands for, as long as it is whole.
pub(super) const GRANULE: usize = 4;
/// Cells that are made at a time.
const PAGE: usize = 1024;
/// Readers remembered besides the last one. With more at the same time, later ones are forgotten: a hazard may be missed
/// by that, never invented.
const MORE_READERS: usize = 3;

/// What is special about an access, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    /// Volatile, relaxed and stronger accesses, and atomics.
    pub(super) const STRONG: u8 = 1;
    /// A strong access whose scope is the block.
    pub(super) const BLOCK_SCOPE: u8 = 2;
    pub(super) const ATOMIC: u8 = 4;
    pub(super) const NON_COHERENT: u8 = 8;
    pub(super) const VOLATILE: u8 = 16;
    /// The cell's 4 bytes have cells of their own, at the number in `more`.
    const SPLIT: u8 = 128;

    #[inline]
    pub(super) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// The last write. Time 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    pub(super) time: Time,
    pub(super) block: u32,
    pub(super) pc: u32,
    pub(super) thread: Thread,
    pub(super) flags: Flags,
}

/// The last read of a warp. Time 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    pub(super) time: Time,
    pub(super) block: u32,
    pub(super) pc: u32,
    pub(super) lanes: u32,
    pub(super) warp: u8,
    pub(super) flags: Flags,
}

/// Accesses to 4 bytes, or to one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) write: Write,
    pub(super) read: Read,
    /// Number of a list of further readers, plus 1; of the parts, if the cell is split.
    pub(super) more: u32,
}

/// Further readers of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readers {
    pub(super) list: [Read; MORE_READERS],
}

/// Whether a cell has as many readers as are remembered, so that further ones make no difference until something is
/// ordered anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crowd {
    No,
    /// Its last write is ordered before all accesses of the block.
    Block,
    /// The launch has not written it.
    Any,
    /// It was written just now.
    Written,
}

/// What is known of 32 neighbouring cells together.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// When the masks were made: they hold as long as nothing was ordered anew.
    generation: u32,
    /// The block that `block_crowded` holds for.
    block: u32,
    /// The cells that are [`Crowd::Any`], and those that are [`Crowd::Block`].
    crowded: u32,
    block_crowded: u32,
    /// The last read of many cells at once: time, block, which cells by which lanes, and the warps that did the same.
    time: Time,
    reader_block: u32,
    shape: (u64, u32),
    readers: u32,
}

/// Neighbouring cells.
#[derive(Debug)]
struct Page {
    cells: [Cell; PAGE],
    lines: [Line; PAGE / 32],
}

/// Cells that the lanes of a warp read together, each its part of them, or each all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Together {
    /// First byte and number of bytes.
    pub(super) offset: usize,
    pub(super) bytes: usize,
    /// Tells which lane reads what.
    pub(super) shape: (u64, u32),
    pub(super) block: u32,
    pub(super) warp: u32,
    pub(super) time: Time,
    pub(super) generation: u32,
}

impl Together {
    /// The lines concerned, with the cells in each.
    fn lines(&self) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (first, end) = (self.offset / GRANULE, (self.offset + self.bytes) / GRANULE);
        (first / 32..end.div_ceil(32)).map(move |line| {
            let (from, to) =
                (first.max(line * 32) - line * 32, end.min(line * 32 + 32) - line * 32);
            (line, (u32::MAX << from) & (u32::MAX >> (32 - to)))
        })
    }
}

/// The cells of an allocation, or of a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Address of the allocation; slots are used again.
    pub(super) base: u64,
    pages: Vec<Option<Box<Page>>>,
    parts: Vec<[Cell; GRANULE]>,
    pub(super) readers: ReaderLists,
}

/// Lists of readers, used again when a write has emptied them.
#[derive(Debug, Default)]
pub(super) struct ReaderLists {
    lists: Vec<Readers>,
    unused: Vec<u32>,
}

impl ReaderLists {
    /// The list of a cell, if it has one.
    pub(super) fn get(&self, more: u32) -> Option<&Readers> {
        self.lists.get((more as usize).checked_sub(1)?)
    }

    pub(super) fn get_mut(&mut self, more: u32) -> Option<&mut Readers> {
        self.lists.get_mut((more as usize).checked_sub(1)?)
    }

    pub(super) fn create(&mut self) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.lists[number as usize - 1] = Readers::default();
            return number;
        }
        self.lists.push(Readers::default());
        self.lists.len() as u32
    }

    pub(super) fn release(&mut self, more: u32) {
        if more != 0 {
            self.unused.push(more);
        }
    }
}

impl Shadow {
    pub(super) fn new(base: u64) -> Shadow {
        Shadow { base, ..Shadow::default() }
    }

    fn line(&mut self, line: usize) -> Option<&mut Line> {
        self.pages.get_mut(line / (PAGE / 32))?.as_mut()?.lines.get_mut(line % (PAGE / 32))
    }

    /// Whether it makes no difference that these cells are read, and by this warp.
    #[inline]
    pub(super) fn may_skip(&mut self, read: Together) -> bool {
        read.lines().all(|(number, cells)| {
            self.line(number).is_some_and(|line| {
                let again = line.time == read.time
                    && line.reader_block == read.block
                    && line.shape == read.shape
                    && line.readers >> (read.warp & 31) & 1 != 0;
                let block = if line.block == read.block { line.block_crowded } else { 0 };
                again || line.generation == read.generation && cells & !(line.crowded | block) == 0
            })
        })
    }

    /// Remembers a read that the cells know of already.
    pub(super) fn note_together(&mut self, read: Together) {
        for (number, _) in read.lines() {
            if let Some(line) = self.line(number) {
                let same = line.time == read.time
                    && line.reader_block == read.block
                    && line.shape == read.shape;
                if !same {
                    (line.time, line.reader_block, line.shape) =
                        (read.time, read.block, read.shape);
                    line.readers = 0;
                }
                line.readers |= 1 << (read.warp & 31);
            }
        }
    }

    /// Calls `visit` for every cell of the `bytes` bytes at `offset`; it says how crowded each is now. `block` and
    /// `generation` are those of the access; `skip`: not for cells whose readers make no difference any more.
    #[inline]
    pub(super) fn visit(
        &mut self,
        offset: usize,
        bytes: usize,
        (block, generation, skip): (u32, u32, bool),
        mut visit: impl FnMut(&mut Cell, &mut ReaderLists) -> Crowd,
    ) {
        if offset.is_multiple_of(GRANULE) && bytes.is_multiple_of(GRANULE) {
            for granule in offset / GRANULE..(offset + bytes) / GRANULE {
                let (number, at) = (granule / PAGE, granule % PAGE);
                let page = match self.pages.get_mut(number) {
                    Some(Some(page)) => page,
                    _ => make(&mut self.pages, number),
                };
                let line = &mut page.lines[at / 32];
                let bit = 1 << (at % 32);
                if line.generation != generation {
                    (line.generation, line.crowded, line.block_crowded) = (generation, 0, 0);
                } else if skip {
                    let own = if line.block == block { line.block_crowded } else { 0 };
                    if (line.crowded | own) & bit != 0 {
                        continue;
                    }
                }
                let cell = &mut page.cells[at];
                let crowd = if cell.write.flags.has(Flags::SPLIT) {
                    let mut written = Crowd::No;
                    for part in &mut self.parts[cell.more as usize] {
                        if visit(part, &mut self.readers) == Crowd::Written {
                            written = Crowd::Written;
                        }
                    }
                    written
                } else {
                    visit(cell, &mut self.readers)
                };
                match crowd {
                    Crowd::No => {}
                    Crowd::Written => {
                        line.crowded &= !bit;
                        line.block_crowded &= !bit;
                        line.readers = 0;
                    }
                    Crowd::Any => line.crowded |= bit,
                    Crowd::Block => {
                        if line.block != block {
                            (line.block, line.block_crowded) = (block, 0);
                        }
                        line.block_crowded |= bit;
                    }
                }
            }
            return;
        }
        for byte in offset..offset + bytes {
            let parts = self.split(byte / GRANULE);
            visit(&mut self.parts[parts][byte % GRANULE], &mut self.readers);
        }
    }

    /// The number of a granule's parts.
    fn split(&mut self, granule: usize) -> usize {
        let (number, at) = (granule / PAGE, granule % PAGE);
        let page = match self.pages.get_mut(number) {
            Some(Some(page)) => page,
            _ => make(&mut self.pages, number),
        };
        page.lines[at / 32] = Line::default();
        let cell = &mut page.cells[at];
        if !cell.write.flags.has(Flags::SPLIT) {
            let mut parts = [*cell; GRANULE];
            for part in &mut parts[1..] {
                if let Some(readers) = self.readers.get(part.more).copied() {
                    part.more = self.readers.create();
                    if let Some(list) = self.readers.get_mut(part.more) {
                        *list = readers;
                    }
                }
            }
            self.parts.push(parts);
            *cell = Cell::default();
            cell.write.flags = Flags(Flags::SPLIT);
            cell.more = (self.parts.len() - 1) as u32;
        }
        cell.more as usize
    }
}

#[cold]
fn make(pages: &mut Vec<Option<Box<Page>>>, page: usize) -> &mut Page {
    if pages.len() <= page {
        pages.resize_with(page + 1, || None);
    }
    pages[page].get_or_insert_with(|| {
        Box::new(Page { cells: [Cell::default(); PAGE], lines: [Line::default(); PAGE / 32] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_words_meet() {
        let mut shadow = Shadow::new(0);
        let mark = |shadow: &mut Shadow, offset, bytes, pc| {
            shadow.visit(offset, bytes, (0, 0, false), |cell, _| {
                cell.write.pc = pc;
                Crowd::No
            });
        };
        let pcs = |shadow: &mut Shadow, offset, bytes| {
            let mut found = Vec::new();
            shadow.visit(offset, bytes, (0, 0, false), |cell, _| {
                found.push(cell.write.pc);
                Crowd::No
            });
            found
        };
        mark(&mut shadow, 4096 * 5 + 8, 8, 1);
        assert_eq!(pcs(&mut shadow, 4096 * 5 + 4, 16), [0, 1, 1, 0]);
        mark(&mut shadow, 4096 * 5 + 9, 1, 2);
        mark(&mut shadow, 4096 * 5 + 14, 2, 3);
        assert_eq!(pcs(&mut shadow, 4096 * 5 + 8, 8), [1, 2, 1, 1, 1, 1, 3, 3]);
        mark(&mut shadow, 4096 * 5 + 8, 4, 4);
        assert_eq!(pcs(&mut shadow, 4096 * 5 + 8, 8), [4, 4, 4, 4, 1, 1, 3, 3]);
    }
}
