//! Who accessed each piece of memory last.
//!
//! One [`Cell`] stands for 4 bytes. Where threads access less than that, the 4 bytes get cells of their own.

use super::cell::{Cell, Crowd, GRANULE, ReaderLists};
use super::line::{Line, Look};
use super::sweep::LINE;

/// Lines that are made at a time.
const PAGE: usize = 32;

/// The cells of an allocation, or of a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Address of the allocation; slots are used again.
    pub(super) base: u64,
    pages: Vec<Option<Box<[Line; PAGE]>>>,
    parts: Vec<[Cell; GRANULE]>,
    readers: ReaderLists,
}

impl Shadow {
    pub(super) fn new(base: u64) -> Shadow {
        Shadow { base, ..Shadow::default() }
    }

    /// A line, and the lists of its cells' readers.
    #[inline]
    pub(super) fn line(&mut self, line: usize) -> (&mut Line, &mut ReaderLists) {
        (line_of(&mut self.pages, line), &mut self.readers)
    }

    /// Calls `visit` for every cell of the `bytes` bytes at `offset`; it says how crowded each is now. `skip`: not for cells
    /// whose readers make no difference any more.
    #[inline]
    pub(super) fn visit(
        &mut self,
        offset: usize,
        bytes: usize,
        (look, skip): (Look, bool),
        mut visit: impl FnMut(&mut Cell, &mut ReaderLists) -> Crowd,
    ) {
        if offset.is_multiple_of(GRANULE) && bytes.is_multiple_of(GRANULE) {
            for granule in offset / GRANULE..(offset + bytes) / GRANULE {
                let line = line_of(&mut self.pages, granule / LINE);
                let lists = (&mut self.readers, &mut *self.parts);
                line.visit(lists, granule % LINE, (look, skip), &mut visit);
            }
            return;
        }
        for byte in offset..offset + bytes {
            let granule = byte / GRANULE;
            let line = line_of(&mut self.pages, granule / LINE);
            let parts = line.split(&mut self.readers, &mut self.parts, granule % LINE, look);
            visit(&mut self.parts[parts][byte % GRANULE], &mut self.readers);
        }
    }
}

#[inline]
fn line_of(pages: &mut Vec<Option<Box<[Line; PAGE]>>>, line: usize) -> &mut Line {
    let number = line / PAGE;
    if pages.len() <= number {
        pages.resize_with(number + 1, || None);
    }
    &mut pages[number].get_or_insert_with(new_page)[line % PAGE]
}

#[cold]
fn new_page() -> Box<[Line; PAGE]> {
    Box::new(std::array::from_fn(|_| Line::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_words_meet() {
        let look = Look { block: 0, time: 1, generation: 0, floor: 0 };
        let mut shadow = Shadow::new(0);
        let mark = |shadow: &mut Shadow, offset, bytes, pc| {
            shadow.visit(offset, bytes, (look, false), |cell, _| {
                cell.write.pc = pc;
                Crowd::No
            });
        };
        let pcs = |shadow: &mut Shadow, offset, bytes| {
            let mut found = Vec::new();
            shadow.visit(offset, bytes, (look, false), |cell, _| {
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
