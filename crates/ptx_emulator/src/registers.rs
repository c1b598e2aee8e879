//! The registers of a warp, with what is known about them.
//!
//! Most integer registers of a kernel hold the same number in all lanes, or numbers that rise evenly from lane to lane:
//! loop counters, indices, addresses. A [`Tag`] says so, and then only two numbers are computed instead of
//! 32. The lanes of a tagged row are written out only when something needs them one by one ([`Register::settle`]).
//!
//! A tag speaks for some lanes only, those that were active when the row was written. The other lanes' values
//! are in the row itself.

use crate::budget::{BudgetExhausted, Share};
use crate::row::{FULL, LANES, lanes};

/// A register's type.
pub(crate) trait Word: Copy {
    /// What registers hold before they are written.
    const POISON: Self;
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// The sum, modulo the register's size.
    fn plus(self, other: Self) -> Self;
}

impl Word for u32 {
    const POISON: u32 = 0xCBCB_CBCB;
    fn plus(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Word for u64 {
    const POISON: u64 = 0xCBCB_CBCB_CBCB_CBCB;
    fn plus(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
    fn from_bits(bits: u64) -> u64 {
        bits
    }
    fn bits(self) -> u64 {
        self
    }
}

/// Lanes of half a warp.
const HALF: usize = LANES / 2;

/// Values that rise evenly in each half of the warp: lane l holds `base + (l % 16) * stride + (l / 16) * step`, modulo the
/// register's size; 32-bit registers ignore the upper halves. With `step` 16 times the stride they rise evenly in all of
/// it. Halves are what blocks make that are 16 threads wide, as those of matrix products are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) base: u64,
    pub(crate) stride: u64,
    pub(crate) step: u64,
}

impl Affine {
    #[inline(always)]
    pub(crate) fn uniform(base: u64) -> Affine {
        Affine { base, stride: 0, step: 0 }
    }

    /// Rises by `stride` from each lane to the next.
    #[cfg(test)]
    pub(crate) fn line(base: u64, stride: u64) -> Affine {
        Affine { base, stride, step: stride.wrapping_mul(HALF as u64) }
    }

    /// The numbers of `lanes`, if they rise so.
    #[inline(always)]
    pub(crate) fn of(lanes: &[u64; LANES]) -> Option<Affine> {
        let value = Affine {
            base: lanes[0],
            stride: lanes[1].wrapping_sub(lanes[0]),
            step: lanes[HALF].wrapping_sub(lanes[0]),
        };
        let mut differs = 0;
        for lane in 0..HALF {
            let expected = value.base.wrapping_add(value.stride.wrapping_mul(lane as u64));
            differs |= lanes[lane] ^ expected;
            differs |= lanes[lane + HALF] ^ expected.wrapping_add(value.step);
        }
        (differs == 0).then_some(value)
    }

    #[inline(always)]
    pub(crate) fn is_uniform(self) -> bool {
        self.stride | self.step == 0
    }

    /// Whether it rises by the same from each lane to the next.
    #[inline(always)]
    pub(crate) fn is_line(self) -> bool {
        self.step == self.stride.wrapping_mul(HALF as u64)
    }

    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> u64 {
        self.base
            .wrapping_add(self.stride.wrapping_mul(lane as u64 % HALF as u64))
            .wrapping_add(self.step.wrapping_mul(lane as u64 / HALF as u64))
    }

    /// As far as lanes can be from lane 0 in each direction; both are linear, so the corners of the two are the extremes.
    #[inline(always)]
    pub(crate) fn corners(self) -> [u64; 4] {
        let end = self.base.wrapping_add(self.stride.wrapping_mul(HALF as u64 - 1));
        [self.base, end, self.base.wrapping_add(self.step), end.wrapping_add(self.step)]
    }

    /// Whether the lanes' addresses lie so near each other that nothing between them wraps around the address space.
    #[inline(always)]
    pub(crate) fn is_near(self) -> bool {
        const FARTHEST: u64 = 1 << 40;
        let near = |distance: u64| distance.wrapping_add(FARTHEST) <= 2 * FARTHEST;
        near(self.stride) && near(self.step)
    }

    #[inline(always)]
    pub(crate) fn sum(self, other: Affine) -> Affine {
        Affine {
            base: self.base.wrapping_add(other.base),
            stride: self.stride.wrapping_add(other.stride),
            step: self.step.wrapping_add(other.step),
        }
    }

    #[inline(always)]
    pub(crate) fn plus(self, offset: u64) -> Affine {
        Affine { base: self.base.wrapping_add(offset), ..self }
    }
}

/// What is known about a row.
#[derive(Clone, Copy, Debug)]
struct Tag {
    value: Affine,
    /// The lanes for which it holds; 0: nothing is known.
    mask: u32,
    /// Whether the row itself holds these lanes' values too.
    settled: bool,
}

impl Tag {
    const NONE: Tag =
        Tag { value: Affine { base: 0, stride: 0, step: 0 }, mask: 0, settled: false };
}

/// One register of all lanes.
#[derive(Clone, Debug)]
#[repr(align(32))] // rows begin where vector instructions like them to
pub(crate) struct Register<T> {
    lanes: [T; LANES],
    tag: Tag,
}

impl<T: Word> Register<T> {
    const POISON: Register<T> = Register { lanes: [T::POISON; LANES], tag: Tag::NONE };

    /// What is known about the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn affine(&self, mask: u32) -> Option<Affine> {
        self.is_known(mask).then_some(self.tag.value)
    }

    /// Whether there is a tag for the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn is_known(&self, mask: u32) -> bool {
        mask & !self.tag.mask == 0
    }

    /// What the tag says, for the lanes for which there [is one](Register::is_known).
    #[inline(always)]
    pub(crate) fn known(&self) -> Affine {
        self.tag.value
    }

    /// Whether the lanes of `mask` are known to hold one value.
    #[inline(always)]
    pub(crate) fn uniform(&self, mask: u32) -> Option<T> {
        self.affine(mask).filter(|value| value.is_uniform()).map(|value| T::from_bits(value.base))
    }

    #[inline(always)]
    pub(crate) fn set_affine(&mut self, value: Affine, mask: u32) {
        self.keep_others(mask);
        self.set_free(value, mask);
    }

    /// Makes sure that lanes which a tag speaks for and which are not in `mask` keep their values when the tag goes.
    #[inline(always)]
    fn keep_others(&mut self, mask: u32) {
        if !self.is_free(mask) {
            self.write_out();
        }
    }

    /// Makes sure that the row itself holds the values of all lanes.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        if !self.settle_quickly() {
            self.write_out();
        }
    }

    /// The same if it is done already, or all lanes have one value: the commonest. False: it has yet to be done.
    #[inline(always)]
    pub(crate) fn settle_quickly(&mut self) -> bool {
        if self.tag.mask == 0 || self.tag.settled {
            return true;
        }
        let simple = self.tag.mask == FULL && self.tag.value.is_uniform();
        if simple {
            self.lanes = [T::from_bits(self.tag.value.base); LANES];
            self.tag.settled = true;
        }
        simple
    }

    /// Whether the lanes of `mask` can be written without regard to the tag.
    #[inline(always)]
    pub(crate) fn is_free(&self, mask: u32) -> bool {
        self.tag.mask & !mask == 0 || self.tag.settled
    }

    /// The row, some of whose lanes are about to be written, all of them [free](Register::is_free).
    #[inline(always)]
    pub(crate) fn overwrite_free(&mut self) -> &mut [T; LANES] {
        self.tag.mask = 0;
        &mut self.lanes
    }

    /// Sets the tag of lanes that are [free](Register::is_free).
    #[inline(always)]
    pub(crate) fn set_free(&mut self, value: Affine, mask: u32) {
        self.tag = Tag { value, mask, settled: false };
    }

    /// Whether there is a tag, which speaks for the lanes of `mask` and no others.
    #[inline(always)]
    pub(crate) fn is_only(&self, mask: u32) -> bool {
        self.tag.mask == mask
    }

    /// Adds numbers to the values of the lanes that the tag speaks for.
    #[inline(always)]
    pub(crate) fn add(&mut self, value: Affine) {
        self.tag.value = self.tag.value.sum(value);
        self.tag.settled = false;
    }

    #[inline(never)]
    fn write_out(&mut self) {
        self.tag.settled = true;
        let Tag { value, mask, .. } = self.tag;
        if mask != FULL {
            lanes(mask).for_each(|lane| self.lanes[lane] = T::from_bits(value.lane(lane)));
            return;
        }
        let (low, high) = self.lanes.split_at_mut(HALF);
        if value.stride == 0 {
            low.fill(T::from_bits(value.base));
            high.fill(T::from_bits(value.base.wrapping_add(value.step)));
            return;
        }
        let mut at = value.base;
        for (low, high) in low.iter_mut().zip(high) {
            *low = T::from_bits(at);
            *high = T::from_bits(at.wrapping_add(value.step));
            at = at.wrapping_add(value.stride);
        }
    }

    /// All lanes' values.
    #[inline(always)]
    pub(crate) fn read(&mut self) -> &[T; LANES] {
        self.settle();
        &self.lanes
    }

    /// All lanes' values, after [`settle`](Register::settle).
    #[inline(always)]
    pub(crate) fn settled(&self) -> &[T; LANES] {
        &self.lanes
    }

    /// All lanes' values, where nothing can be changed.
    fn copy(&self) -> [T; LANES] {
        let (mut values, tag) = (self.lanes, self.tag);
        if !tag.settled {
            lanes(tag.mask).for_each(|lane| values[lane] = T::from_bits(tag.value.lane(lane)));
        }
        values
    }

    #[inline(always)]
    fn lane(&self, lane: usize) -> T {
        if self.tag.mask >> lane & 1 != 0 {
            T::from_bits(self.tag.value.lane(lane))
        } else {
            self.lanes[lane]
        }
    }

    /// The row, of which all lanes of `mask` are about to be written.
    #[inline(always)]
    pub(crate) fn overwrite(&mut self, mask: u32) -> &mut [T; LANES] {
        self.keep_others(mask);
        self.overwrite_free()
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn write(&mut self, value: &[T; LANES], mask: u32) {
        let target = self.overwrite(mask);
        if mask == FULL {
            *target = *value;
        } else {
            lanes(mask).for_each(|lane| target[lane] = value[lane]);
        }
    }
}

/// Copies the lanes of `mask` of register `from` to register `to`.
#[inline(always)]
pub(crate) fn copy_register<T: Word>(
    registers: &mut [Register<T>],
    to: usize,
    from: usize,
    mask: u32,
) {
    match registers[from].affine(mask) {
        Some(value) => registers[to].set_affine(value, mask),
        None => {
            let value = *registers[from].read();
            registers[to].write(&value, mask);
        }
    }
}

/// The registers of a frame, counted from its first ones.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    pub(crate) r32: &'a mut [Register<u32>],
    pub(crate) r64: &'a mut [Register<u64>],
}

/// All registers of one width: a stack of the active functions' registers, each function's in a window of its own.
#[derive(Debug)]
pub(crate) struct Bank<T> {
    registers: Vec<Register<T>>,
    /// Whether tags are kept at all. Without them the results are the same, which tests make sure of.
    pub(crate) tagged: bool,
}

impl<T: Word> Default for Bank<T> {
    fn default() -> Bank<T> {
        Bank { registers: Vec::new(), tagged: true }
    }
}

impl<T: Word> Bank<T> {
    /// Makes room for `rows` rows in all.
    pub(crate) fn reserve(
        &mut self,
        rows: usize,
        share: &mut Share,
    ) -> Result<(), BudgetExhausted> {
        share.reserve(&mut self.registers, rows)
    }

    /// Gives the lanes of `mask` of the rows from `start` on these values; there are at least as many rows then.
    pub(crate) fn enter(&mut self, start: usize, values: &[Affine], mask: u32) {
        let end = start + values.len();
        if self.registers.len() < end {
            self.registers.resize(end, Register::POISON);
        }
        for (row, value) in (start as u32..).zip(values) {
            self.set_affine(row, *value, mask);
        }
    }

    /// The registers from `base` on. [`tagged`](Bank::tagged) is not looked at there: tags may only be made from other tags.
    #[inline(always)]
    pub(crate) fn window(&mut self, base: u32) -> &mut [Register<T>] {
        self.registers.get_mut(base as usize..).unwrap_or_default()
    }

    /// What is known about the lanes of `mask` of a row.
    #[inline(always)]
    pub(crate) fn affine(&self, row: u32, mask: u32) -> Option<Affine> {
        self.registers[row as usize].affine(mask)
    }

    /// Whether the lanes of `mask` are known to hold one value.
    #[inline(always)]
    pub(crate) fn uniform(&self, row: u32, mask: u32) -> Option<T> {
        self.registers[row as usize].uniform(mask)
    }

    #[inline(always)]
    pub(crate) fn set_affine(&mut self, row: u32, value: Affine, mask: u32) {
        let register = &mut self.registers[row as usize];
        register.set_affine(value, mask);
        if !self.tagged {
            register.settle();
            register.tag.mask = 0;
        }
    }

    #[inline(always)]
    pub(crate) fn set_uniform(&mut self, row: u32, value: T, mask: u32) {
        self.set_affine(row, Affine::uniform(value.bits()), mask);
    }

    /// A row's values.
    #[inline(always)]
    pub(crate) fn read(&mut self, row: u32) -> &[T; LANES] {
        self.registers[row as usize].read()
    }

    /// A row's values, where the bank cannot be changed.
    pub(crate) fn copy(&self, row: u32) -> [T; LANES] {
        self.registers[row as usize].copy()
    }

    /// One lane's value.
    #[inline(always)]
    pub(crate) fn lane(&self, row: u32, lane: usize) -> T {
        self.registers[row as usize].lane(lane)
    }

    /// A row of which all lanes of `mask` are about to be written.
    #[inline(always)]
    pub(crate) fn overwrite(&mut self, row: u32, mask: u32) -> &mut [T; LANES] {
        self.registers[row as usize].overwrite(mask)
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn write(&mut self, row: u32, value: &[T; LANES], mask: u32) {
        self.registers[row as usize].write(value, mask);
    }

    /// Writes one lane.
    pub(crate) fn set_lane(&mut self, row: u32, lane: usize, value: T) {
        let register = &mut self.registers[row as usize];
        register.settle();
        register.tag.mask = 0;
        register.lanes[lane] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank(tagged: bool) -> Bank<u32> {
        let mut bank = Bank { tagged, ..Bank::default() };
        bank.enter(0, &[Affine::uniform(7), Affine::line(10, 2)], FULL);
        bank
    }

    #[test]
    fn tags_of_some_lanes_leave_the_others_alone() {
        for tagged in [true, false] {
            let mut bank = bank(tagged);
            bank.set_affine(1, Affine::line(100, u64::MAX), 0x0000_FFFF);
            assert_eq!((bank.lane(1, 3), bank.lane(1, 20)), (97, 50));
            bank.set_affine(1, Affine::uniform(1), 0xFFFF_0000);
            assert_eq!((bank.lane(1, 3), bank.lane(1, 20)), (97, 1));
            let copy = bank.copy(1);
            assert_eq!(copy, *bank.read(1));
            assert_eq!((copy[3], copy[20]), (97, 1));
            bank.write(1, &[5; LANES], 0xF);
            assert_eq!((bank.lane(1, 3), bank.lane(1, 4), bank.lane(1, 20)), (5, 96, 1));
            bank.set_lane(0, 31, 9);
            assert_eq!((bank.lane(0, 30), bank.lane(0, 31)), (7, 9));
        }
    }

    #[test]
    fn only_lanes_that_a_tag_speaks_for_are_known() {
        let mut bank = bank(true);
        assert_eq!(bank.affine(1, FULL), Some(Affine::line(10, 2)));
        assert_eq!((bank.uniform(0, FULL), bank.uniform(1, FULL)), (Some(7), None));
        bank.set_affine(0, Affine::uniform(8), 1);
        assert_eq!((bank.uniform(0, 1), bank.uniform(0, 3)), (Some(8), None));
        bank.overwrite(0, FULL).fill(0);
        assert_eq!(bank.affine(0, 1), None);
    }
}
