//! Which bits of a warp's registers are defined.

use super::unassigned::Unassigned;
use crate::row::{Class, Row64, lanes};

/// For each row the lanes that are not, or not wholly, defined.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    rows: Vec<u32>,
    /// Rows that have such lanes.
    count: usize,
}

impl Masks {
    fn grow(&mut self, end: usize) {
        if self.rows.len() < end {
            self.rows.resize(end, 0);
        }
    }

    /// The lanes of `mask` that are not defined.
    #[inline]
    pub(crate) fn undefined(&self, row: u32, mask: u32) -> u32 {
        self.rows.get(row as usize).map_or(0, |found| found & mask)
    }

    /// Of the lanes of `mask`, those of `undefined` are not defined.
    #[inline]
    pub(crate) fn set(&mut self, row: u32, mask: u32, undefined: u32) {
        if let Some(found) = self.rows.get_mut(row as usize) {
            let before = *found;
            *found = before & !mask | undefined & mask;
            self.count += usize::from(*found != 0);
            self.count -= usize::from(before != 0);
        }
    }

    /// The rows from `start` on are defined for the lanes of `mask`, but those of `unassigned` are not.
    fn renew(&mut self, start: u32, count: u32, unassigned: &[u32], mask: u32) {
        self.grow((start + count) as usize);
        if self.count != 0 {
            (start..start + count).for_each(|row| self.set(row, mask, 0));
        }
        unassigned.iter().for_each(|row| self.set(start + row, mask, mask));
    }
}

/// Rows of one width. Bits that are set are not defined.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    masks: Masks,
    /// For each row the undefined bits of the lanes that have any; without an entry all of them.
    bits: Vec<Option<Box<Row64>>>,
}

impl Rows {
    /// As [`Masks::renew`].
    fn renew(&mut self, start: u32, count: u32, unassigned: &[u32], mask: u32) {
        self.masks.renew(start, count, unassigned, mask);
        self.bits.resize_with(self.masks.rows.len(), || None);
        for row in unassigned {
            if let Some(Some(bits)) = self.bits.get_mut((start + row) as usize) {
                lanes(mask).for_each(|lane| bits[lane] = u64::MAX);
            }
        }
    }

    /// The lanes of `mask` that have undefined bits.
    #[inline]
    pub(crate) fn undefined(&self, row: u32, mask: u32) -> u32 {
        self.masks.undefined(row, mask)
    }

    /// A lane's undefined bits.
    pub(crate) fn bits(&self, row: u32, lane: usize) -> u64 {
        if self.undefined(row, 1 << lane) == 0 {
            return 0;
        }
        match self.bits.get(row as usize) {
            Some(Some(bits)) => bits[lane],
            _ => u64::MAX,
        }
    }

    /// The lanes of `mask` are defined.
    #[inline]
    pub(crate) fn define(&mut self, row: u32, mask: u32) {
        self.masks.set(row, mask, 0);
    }

    /// Sets the undefined bits of the lanes of `mask`.
    pub(crate) fn set(&mut self, row: u32, mask: u32, undefined: impl Fn(usize) -> u64) {
        let Some(bits) = self.bits.get_mut(row as usize) else {
            return;
        };
        for lane in lanes(mask) {
            let value = undefined(lane);
            self.masks.set(row, 1 << lane, if value == 0 { 0 } else { u32::MAX });
            if value != 0 && (value != u64::MAX || bits.is_some()) {
                bits.get_or_insert_with(|| Box::new([u64::MAX; 32]))[lane] = value;
            }
        }
    }
}

/// All registers of a warp.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    pub(crate) narrow: Rows,
    pub(crate) wide: Rows,
    pub(crate) predicates: Masks,
}

impl Registers {
    /// A frame's rows are as new for the lanes of `mask`: bases and counts of 32-bit rows, 64-bit rows and predicates, and the
    /// rows that may be read before they are written.
    pub(crate) fn renew(
        &mut self,
        bases: [u32; 3],
        counts: [u32; 3],
        unassigned: &Unassigned,
        mask: u32,
    ) {
        self.narrow.renew(bases[0], counts[0], &unassigned.narrow, mask);
        self.wide.renew(bases[1], counts[1], &unassigned.wide, mask);
        self.predicates.renew(bases[2], counts[2], &unassigned.predicates, mask);
    }

    /// Whether everything is defined.
    #[inline]
    pub(crate) fn all_defined(&self) -> bool {
        self.narrow.masks.count + self.wide.masks.count + self.predicates.count == 0
    }

    pub(crate) fn rows(&self, class: Class) -> &Rows {
        if class == Class::D { &self.wide } else { &self.narrow }
    }

    /// Sets the undefined bits of the lanes of `mask` in a row of any class; a predicate is undefined if any bit is.
    pub(crate) fn set(
        &mut self,
        class: Class,
        row: u32,
        mask: u32,
        undefined: impl Fn(usize) -> u64,
    ) {
        match class {
            Class::R => self.narrow.set(row, mask, undefined),
            Class::D => self.wide.set(row, mask, undefined),
            Class::Predicate => {
                let bits = lanes(mask)
                    .filter(|lane| undefined(*lane) != 0)
                    .fold(0, |bits, lane| bits | 1 << lane);
                self.predicates.set(row, mask, bits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_bits_of_each_lane() {
        let mut rows = Rows::default();
        rows.renew(2, 3, &[0, 1, 2], 0xFF);
        assert_eq!((rows.undefined(2, !0), rows.bits(4, 7), rows.bits(4, 8)), (0xFF, u64::MAX, 0));
        rows.set(3, 0xF, |lane| lane as u64);
        assert_eq!(rows.undefined(3, !0), 0xFE);
        assert_eq!((rows.bits(3, 0), rows.bits(3, 3), rows.bits(3, 4)), (0, 3, u64::MAX));
        rows.define(3, 0xF0);
        assert_eq!(rows.undefined(3, !0), 0xE);
        rows.renew(3, 1, &[0], 0x1);
        assert_eq!((rows.bits(3, 0), rows.bits(3, 2)), (u64::MAX, 2));
        assert_eq!(rows.masks.count, 3);
        rows.renew(2, 3, &[1], 0xFE);
        assert_eq!(
            (rows.undefined(2, !0), rows.undefined(3, !0), rows.undefined(4, !0)),
            (1, 0xFF, 1)
        );
        rows.renew(2, 3, &[], 0xFF);
        assert_eq!(rows.masks.count, 0);
    }
}
