//! Loads whose lanes each read on from where they are, line by line of the host's memory: as in a walk along the rows of a matrix that
//! has a row a lane.
//!
//! Rows of a matrix often lie apart by a power of two. The lines that the lanes are at then meet in a few sets of the host's first cache,
//! fewer than there are lanes, and each has to be fetched again in each iteration. So they are read once, for several iterations.

use super::run::Moving;
use crate::machine::quick;
use crate::machine::transfer::Stored;
use crate::op::Semantics;
use crate::registers::Register;
use crate::row::{FULL, LANES, lanes};

/// What lanes whose places are at least so many bytes apart read shares no line.
const LINE: u64 = 64;

/// The elements of a line, for each lane, by the iteration that they are for. `N` elements are a [`LINE`].
pub(super) struct Ahead<T, const N: usize> {
    rows: [[T; LANES]; N],
    /// The next one.
    next: usize,
}

impl<T: Stored, const N: usize> Ahead<T, N> {
    /// For a load that nothing in the loop stores to. `None` if it is not of this kind.
    pub(super) fn of(moving: &Moving<'_>) -> Option<Box<Ahead<T, N>>> {
        let (stride, step) = (moving.at.stride.cast_signed(), moving.at.step.cast_signed());
        let apart = stride.unsigned_abs() >= LINE && step.unsigned_abs() >= LINE;
        // Of a weak load nobody can tell when it happens, if nobody else stores there.
        let weak = moving.order.semantics == Semantics::Weak;
        (weak && apart && moving.by == T::BYTES as u64)
            .then(|| Box::new(Ahead { rows: [[T::POISON; LANES]; N], next: N }))
    }

    /// Loads the elements of one iteration, of which `left` are good.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        target: &mut Register<T>,
        moving: &Moving<'_>,
        mask: u32,
        left: u64,
    ) {
        if self.next == N {
            if left < N as u64 {
                return quick::read(target, moving.found, moving.at, mask);
            }
            self.fill(moving, mask);
        }
        let row = &self.rows[self.next];
        if mask == FULL {
            *target.overwrite(FULL) = *row;
        } else {
            T::blend(target.overwrite(mask), row, mask);
        }
        self.next += 1;
    }

    #[inline(never)]
    fn fill(&mut self, moving: &Moving<'_>, mask: u32) {
        let (at, found) = (moving.at, moving.found);
        for lane in lanes(mask) {
            let mut line = [T::POISON; N];
            let place = at.lane(lane).wrapping_sub(at.base) as usize;
            found.data.read_line(found.first.wrapping_add(place), &mut line);
            for (row, element) in self.rows.iter_mut().zip(line) {
                row[lane] = element;
            }
        }
        self.next = 0;
    }
}
