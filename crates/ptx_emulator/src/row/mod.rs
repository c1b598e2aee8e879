//! Rows: one register of all 32 lanes of a warp, and functions over rows.
//!
//! A `.b8`, `.b16` or `.b32` register is a [`Row32`] (narrow values zero-extended), a `.b64` register a
//! [`Row64`], a `.b128` register two of those, a predicate one mask. Row functions compute all 32
//! lanes whatever the mask: they have no effects and no way to fail, so the lanes that are off
//! cost nothing and are dropped when the result is written.

#[expect(unsafe_code, reason = "code for AVX2 is called where the processor has it")]
mod lift;

pub(crate) use lift::*;

use crate::registers::Window;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// The mask of all lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// A 32-bit register, lane by lane.
pub(crate) type Row32 = [u32; LANES];
/// A 64-bit register, lane by lane.
pub(crate) type Row64 = [u64; LANES];

/// Mask bit of each lane; comparing with it expands a mask into lanes without variable shifts.
const BIT: Row32 = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The numbers of the lanes in `mask`, rising.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(crate) fn write32(target: &mut Row32, value: &Row32, mask: u32) {
    if mask == FULL {
        *target = *value;
    } else {
        for lane in 0..LANES {
            let keep = if mask & BIT[lane] == 0 { u32::MAX } else { 0 };
            target[lane] = (target[lane] & keep) | (value[lane] & !keep);
        }
    }
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(crate) fn write64(target: &mut Row64, value: &Row64, mask: u32) {
    if mask == FULL {
        *target = *value;
    } else {
        for lane in 0..LANES {
            let keep = if mask & BIT[lane] == 0 { u64::MAX } else { 0 };
            target[lane] = (target[lane] & keep) | (value[lane] & !keep);
        }
    }
}

/// Writes the lanes of `mask` in a predicate.
#[inline]
pub(crate) fn write_mask(target: &mut u32, value: u32, mask: u32) {
    *target = (*target & !mask) | (value & mask);
}

/// Collects one bit a lane.
#[inline]
pub(crate) fn mask_of(test: impl Fn(usize) -> bool) -> u32 {
    let mut hits = [0; LANES];
    for lane in 0..LANES {
        hits[lane] = if test(lane) { BIT[lane] } else { 0 };
    }
    hits.iter().fold(0, |mask, bit| mask | bit)
}

/// The rows an operation works on, relative to the frame: destination and sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) d: u32,
    pub(crate) s: [u32; 4],
}

/// The code of a row function. Rows count from the first of a frame's registers.
pub(crate) trait RowCode: Send + Sync {
    /// Computes all lanes and writes those of the mask, if that is simple; nothing, for functions that make predicates.
    fn rows(&self, w: &mut Window<'_>, rows: &Rows, mask: u32) -> Outcome;

    /// The same if it is not simple.
    fn rows_anyway(&self, w: &mut Window<'_>, rows: &Rows, mask: u32);

    /// One bit a lane, for functions that make predicates; 0 for others.
    fn mask(&self, w: &mut Window<'_>, rows: &Rows) -> u32;

    /// The result of one lane: 1 or 0 for a predicate, 32-bit values in the low half.
    fn one(&self, s: [u64; 4]) -> u64;
}

/// How an operation of the interpreter's inner loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done.
    Done,
    /// It is done, and so are those that follow in its run.
    Run,
    /// Nothing was done. There is a tag for each source, so the result may be known without computing all lanes.
    Known,
    /// Nothing was done: registers have to be [settled](crate::registers::Register::settle) before.
    Unready,
    /// Nothing was done: there is a result for which the processor may not have the right bits.
    Suspect,
    /// It is a jump.
    Jump,
    /// Nothing was done: it is an access that is not so simple.
    Access,
    /// Nothing was done: it is not for the inner loop.
    Other,
}

/// A function of whole rows. The instruction's qualifiers are captured inside.
pub(crate) struct RowFn {
    pub(crate) shape: Shape,
    pub(crate) rule: Rule,
    pub(crate) code: Box<dyn RowCode>,
}

/// The classes of a row function's destination and sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) result: Class,
    pub(crate) sources: u8,
    /// Bit by bit, whether a source is a [`Row64`].
    pub(crate) wide: u8,
}

/// What a row function does to rows that are affine in the lane number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Nothing is known: only rows that are the same in all lanes stay so.
    None,
    Add,
    Sub,
    Neg,
    /// Low half of a product.
    Mul,
    MulWideUnsigned,
    MulWideSigned,
    /// Low half of a product, plus a number.
    Mad,
    MadWideUnsigned,
    MadWideSigned,
    Shl,
    Or,
    /// 32 to 64 bits.
    WidenUnsigned,
    WidenSigned,
    /// 64 to 32 bits.
    Truncate,
    /// A comparison of integers.
    Compare(IntCompare),
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntCompare {
    /// Whether it holds for numbers of which the first is less, equal, greater: bits 0, 1, 2.
    pub(crate) holds: u8,
    pub(crate) signed: bool,
    /// 64 bits instead of 32.
    pub(crate) wide: bool,
}

impl IntCompare {
    #[inline(always)]
    pub(crate) fn holds_for(self, ordering: std::cmp::Ordering) -> bool {
        self.holds >> (ordering as i8 + 1) & 1 != 0
    }

    /// Whether it holds for two numbers; the upper halves of 32-bit ones do not count.
    #[inline(always)]
    pub(crate) fn holds(self, a: u64, b: u64) -> bool {
        if self.wide { self.holds_between::<64>(a, b) } else { self.holds_between::<32>(a, b) }
    }

    /// The same where it is known how many bits it looks at.
    #[inline(always)]
    pub(crate) fn holds_between<const BITS: u32>(self, a: u64, b: u64) -> bool {
        let sign = u64::from(self.signed) << 63;
        let key = |bits: u64| bits << (64 - BITS) ^ sign;
        self.holds_for(key(a).cmp(&key(b)))
    }

    /// `==` or `!=`.
    pub(crate) fn is_equality(self) -> bool {
        self.holds & 1 == self.holds >> 2
    }
}

impl RowFn {
    /// Adds what is known about affine rows.
    pub(crate) fn with(mut self, rule: Rule) -> RowFn {
        self.rule = rule;
        self
    }

    /// Bits of the result.
    pub(crate) fn bits(&self) -> u32 {
        if self.shape.result == Class::D { 64 } else { 32 }
    }

    /// Destination and sources.
    pub(crate) fn signature(&self) -> (Class, Vec<Class>) {
        let class =
            |source: u8| if self.shape.wide >> source & 1 == 0 { Class::R } else { Class::D };
        (self.shape.result, (0..self.shape.sources).map(class).collect())
    }
}

/// The class of rows an operand needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// One mask.
    Predicate,
    /// A [`Row32`].
    R,
    /// A [`Row64`].
    D,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_masks_keep_the_other_lanes() {
        for mask in [0, 1, 0x8000_0000, 0x5555_5555, 0xFFFF_0000, FULL] {
            let (mut narrow, mut wide) = ([7; LANES], [7; LANES]);
            write32(&mut narrow, &[9; LANES], mask);
            write64(&mut wide, &[u64::MAX; LANES], mask);
            for lane in 0..LANES {
                let on = mask >> lane & 1 != 0;
                assert_eq!(narrow[lane], if on { 9 } else { 7 });
                assert_eq!(wide[lane], if on { u64::MAX } else { 7 });
            }
            assert_eq!(lanes(mask).fold(0, |m, lane| m | 1 << lane), mask);
            assert_eq!(mask_of(|lane| mask >> lane & 1 != 0), mask);
        }
    }
}
