//! Which bits of a warp's registers are defined.

use crate::row::{Class, Row64, lanes};

/// Rows of one width. Bits that are set are not defined.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// For each row the lanes that have undefined bits.
    masks: Vec<u32>,
    /// For each row the undefined bits of these lanes; without an entry all of them.
    bits: Vec<Option<Box<Row64>>>,
}

impl Rows {
    /// The rows from `start` on are as new for the lanes of `mask`.
    fn forget(&mut self, start: usize, count: usize, mask: u32) {
        let end = start + count;
        if self.masks.len() < end {
            self.masks.resize(end, 0);
            self.bits.resize_with(end, || None);
        }
        for row in start..end {
            if let Some(bits) = &mut self.bits[row] {
                lanes(mask).for_each(|lane| bits[lane] = u64::MAX);
            }
            self.masks[row] |= mask;
        }
    }

    /// The lanes of `mask` that have undefined bits.
    #[inline]
    pub(crate) fn undefined(&self, row: u32, mask: u32) -> u32 {
        self.masks.get(row as usize).map_or(0, |found| found & mask)
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
        if let Some(found) = self.masks.get_mut(row as usize) {
            *found &= !mask;
        }
    }

    /// Sets the undefined bits of the lanes of `mask`.
    pub(crate) fn set(&mut self, row: u32, mask: u32, undefined: impl Fn(usize) -> u64) {
        let at = row as usize;
        if at >= self.masks.len() {
            return;
        }
        for lane in lanes(mask) {
            let value = undefined(lane);
            if value == 0 {
                self.masks[at] &= !(1 << lane);
                continue;
            }
            self.masks[at] |= 1 << lane;
            if value != u64::MAX || self.bits[at].is_some() {
                self.bits[at].get_or_insert_with(|| Box::new([u64::MAX; 32]))[lane] = value;
            }
        }
    }
}

/// All registers of a warp.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    pub(crate) narrow: Rows,
    pub(crate) wide: Rows,
    /// For each predicate the lanes in which it is not defined.
    pub(crate) predicates: Vec<u32>,
}

impl Registers {
    /// A frame's rows are as new for the lanes of `mask`: bases and counts of 32-bit rows, 64-bit rows and predicates.
    pub(crate) fn forget(&mut self, bases: [u32; 3], counts: [u32; 3], mask: u32) {
        let [narrow, wide, predicates] = bases.map(|base| base as usize);
        self.narrow.forget(narrow, counts[0] as usize, mask);
        self.wide.forget(wide, counts[1] as usize, mask);
        let end = predicates + counts[2] as usize;
        if self.predicates.len() < end {
            self.predicates.resize(end, 0);
        }
        self.predicates[predicates..end].iter_mut().for_each(|row| *row |= mask);
    }

    pub(crate) fn rows(&self, class: Class) -> &Rows {
        if class == Class::D { &self.wide } else { &self.narrow }
    }

    /// The lanes of `mask` in which a predicate is not defined.
    #[inline]
    pub(crate) fn undefined_predicate(&self, row: u32, mask: u32) -> u32 {
        self.predicates.get(row as usize).map_or(0, |found| found & mask)
    }

    pub(crate) fn set_predicate(&mut self, row: u32, mask: u32, undefined: u32) {
        if let Some(found) = self.predicates.get_mut(row as usize) {
            *found = *found & !mask | undefined & mask;
        }
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
                self.set_predicate(row, mask, bits);
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
        rows.forget(2, 3, 0xFF);
        assert_eq!((rows.undefined(2, !0), rows.bits(4, 7), rows.bits(4, 8)), (0xFF, u64::MAX, 0));
        rows.set(3, 0xF, |lane| lane as u64);
        assert_eq!(rows.undefined(3, !0), 0xFE);
        assert_eq!((rows.bits(3, 0), rows.bits(3, 3), rows.bits(3, 4)), (0, 3, u64::MAX));
        rows.define(3, 0xF0);
        assert_eq!(rows.undefined(3, !0), 0xE);
        rows.forget(3, 1, 0x1);
        assert_eq!((rows.bits(3, 0), rows.bits(3, 2)), (u64::MAX, 2));
    }
}
