//! Accesses of a warp to neighbouring words, each lane its own: what most accesses of most kernels are.

use super::cell::GRANULE;
use crate::events::Offsets;
use crate::row::FULL;

/// Cells of a line.
pub(super) const LINE: usize = 32;
/// Bytes of a line.
const LINE_BYTES: i64 = (LINE * GRANULE) as i64;
/// Lanes of half a warp.
const HALF: u32 = 16;
/// Lines that one access can touch: halves of 16 lanes with 16 bytes each reach into 3.
const MOST_LINES: usize = 6;

/// Farthest distance of the halves of a warp, bytes: numbers of 32 bits have room for it.
const FARTHEST: u32 = 1 << 30;

/// The lanes of each half of a warp access places that follow each other without gaps. Seen from a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sweep {
    /// From the line's first byte to lane 0's, which can be outside of everything if lane 0 takes no part.
    first: i32,
    /// From a lane of the lower half to the same one of the upper half, bytes. 0: both access the same.
    step: i32,
    /// Bytes of a lane.
    bytes: u8,
}

/// Lines with the cells of each that an access goes to.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Lane 0's first byte, from the start of the area.
    first: i64,
    step: i32,
    bytes: u8,
    list: [(usize, u32); MOST_LINES],
    count: usize,
}

impl Pieces {
    /// The number of each line, its cells, and the sweep as seen from there.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u32, Sweep)> + '_ {
        let Pieces { first, step, bytes, .. } = *self;
        self.list[..self.count].iter().map(move |(line, cells)| {
            let first = (first - *line as i64 * LINE_BYTES) as i32;
            (*line, *cells, Sweep { first, step, bytes })
        })
    }

    /// Whether no two of the lanes of `mask` access the same.
    #[inline]
    pub(super) fn are_apart(&self, mask: u32) -> bool {
        is_apart(self.step, mask)
    }

    /// Adds cells; false if there is no room.
    fn add(&mut self, line: usize, cells: u32) -> bool {
        if let Some(known) = self.list[..self.count].iter_mut().find(|known| known.0 == line) {
            known.1 |= cells;
            return true;
        }
        let Some(free) = self.list.get_mut(self.count) else {
            return false;
        };
        *free = (line, cells);
        self.count += 1;
        true
    }

    /// Adds the cells from `start` up to `end`.
    fn range(&mut self, start: i64, end: i64) -> bool {
        let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else {
            return false;
        };
        (start / LINE..end.div_ceil(LINE)).all(|line| {
            let (from, to) = (start.max(line * LINE), end.min(line * LINE + LINE));
            let (from, to) = (from - line * LINE, to - line * LINE);
            self.add(line, u32::MAX << from & u32::MAX >> (LINE - to))
        })
    }

    /// Adds one cell for each of `lanes`, up to 16 of them; that of lane 0 is `start`, which can be before everything.
    fn scattered(&mut self, start: i64, lanes: u32) -> bool {
        let line = start.div_euclid(LINE as i64);
        let cells = u64::from(lanes) << start.rem_euclid(LINE as i64);
        [(line, cells as u32), (line + 1, (cells >> LINE) as u32)].into_iter().all(
            |(line, cells)| {
                cells == 0 || usize::try_from(line).is_ok_and(|line| self.add(line, cells))
            },
        )
    }
}

/// Whether no two of the lanes of `mask` access the same, with this distance between the halves.
#[inline]
fn is_apart(step: i32, mask: u32) -> bool {
    step != 0 || mask & 0xFFFF == 0 || mask >> HALF == 0
}

impl Pieces {
    /// Where the access of the lanes of `mask` goes, if it is a sweep.
    #[inline]
    pub(super) fn of(offsets: &Offsets, mask: u32, bytes: u32) -> Option<Pieces> {
        let Offsets::Even(value) = offsets else {
            return None;
        };
        if value.stride != u64::from(bytes) || !matches!(bytes, 4 | 8 | 16) || mask == 0 {
            return None;
        }
        let step = i32::try_from(value.step.cast_signed()).ok()?;
        // Halves that overlap otherwise have cells of two lanes that are not each other's counterparts.
        if step != 0 && !(HALF * bytes..=FARTHEST).contains(&step.unsigned_abs()) {
            return None;
        }
        let first = value.base.cast_signed();
        let mut pieces = Pieces { first, step, bytes: bytes as u8, ..Pieces::default() };
        // The commonest of all: a whole line.
        if mask == FULL
            && bytes == 4
            && step == LINE_BYTES as i32 / 2
            && first >= 0
            && first & (LINE_BYTES - 1) == 0
        {
            (pieces.list[0], pieces.count) = (((first / LINE_BYTES) as usize, u32::MAX), 1);
            return Some(pieces);
        }
        let words = i64::from(bytes) / GRANULE as i64;
        let cell = first.div_euclid(GRANULE as i64);
        if mask == FULL && step.unsigned_abs() == HALF * bytes && step > 0 {
            return pieces.range(cell, cell + 2 * i64::from(HALF) * words).then_some(pieces);
        }
        for half in 0..2 {
            let lanes = mask >> (HALF * half) & 0xFFFF;
            if lanes == 0 {
                continue;
            }
            let start = cell + i64::from(half) * i64::from(step) / GRANULE as i64;
            let (lowest, above) = (lanes.trailing_zeros(), 32 - lanes.leading_zeros());
            let (from, to) = (start + i64::from(lowest) * words, start + i64::from(above) * words);
            let whole = lanes >> lowest == u32::MAX >> (32 - (above - lowest));
            let added = if whole {
                pieces.range(from, to)
            } else {
                words == 1 && pieces.scattered(start, lanes)
            };
            if !added {
                return None;
            }
        }
        Some(pieces)
    }
}

impl Sweep {
    /// Whether no two of the lanes of `mask` access the same.
    #[inline]
    pub(super) fn is_apart(&self, mask: u32) -> bool {
        is_apart(self.step, mask)
    }

    /// The lanes of `mask` that access a cell of the line that it is seen from.
    pub(super) fn lanes_at(&self, cell: u32, mask: u32) -> u32 {
        let mut lanes = 0;
        for half in 0..2 {
            let start = i64::from(self.first) + i64::from(half) * i64::from(self.step);
            let inside = i64::from(cell) * GRANULE as i64 - start;
            let lane = inside.div_euclid(i64::from(self.bytes.max(1)));
            if (0..i64::from(HALF)).contains(&lane) {
                lanes |= 1 << (HALF * half + lane as u32);
            }
        }
        lanes & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::Affine;
    use crate::row::lanes;

    /// Lines, cells and lanes one by one, for access of all kinds.
    #[test]
    fn pieces_are_what_the_lanes_access() {
        let masks =
            [FULL, 0xFFFF, 0xFFFF_0000, 0x00FF_FF00, 0x1, 0x8000_0000, 0x5555_5555, 0x0F0F_00F1];
        let mut seen = 0;
        for bytes in [4u64, 8, 16] {
            for first in [0, 16, 64, 112, 4000] {
                for step in [16 * bytes, 0, 1024, 64, 48, (-512i64) as u64] {
                    for mask in masks {
                        let base = first + 4096;
                        let offsets = Offsets::Even(Affine { base, stride: bytes, step });
                        let Some(pieces) = Pieces::of(&offsets, mask, bytes as u32) else {
                            continue;
                        };
                        seen += 1;
                        let mut expected: Vec<(usize, u32)> = Vec::new();
                        for lane in lanes(mask) {
                            let at = offsets.at(lane) / 4;
                            expected.extend(
                                (at..at + bytes / 4).map(|cell| (cell as usize, 1 << lane)),
                            );
                        }
                        for (line, cells, sweep) in pieces.iter() {
                            for cell in lanes(cells) {
                                let number = line * LINE + cell;
                                let own = expected
                                    .extract_if(.., |(at, _)| *at == number)
                                    .fold(0, |own, (_, lane)| own | lane);
                                assert_ne!(own, 0, "{offsets:?} {mask:#x}: cell {number}");
                                let found = sweep.lanes_at(cell as u32, mask);
                                assert_eq!(found, own, "{offsets:?} {mask:#x}: cell {number}");
                                assert!(!sweep.is_apart(mask) || own.is_power_of_two());
                            }
                        }
                        assert_eq!(expected, [], "{offsets:?} {mask:#x}");
                    }
                }
            }
        }
        assert!(seen > 300, "{seen}");
        let strided = Offsets::Even(Affine::line(0, 8));
        assert!(Pieces::of(&strided, FULL, 4).is_none());
    }
}
