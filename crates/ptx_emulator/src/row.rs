//! Rows: one register of all 32 lanes of a warp, and functions over rows.
//!
//! A `.b8`, `.b16` or `.b32` register is a [`Row32`] (narrow values zero-extended), a `.b64` register a
//! [`Row64`], a `.b128` register two of those, a predicate one mask. Row functions compute all 32
//! lanes whatever the mask: they have no effects and no way to fail, so the lanes that are off
//! cost nothing and are dropped when the result is written.

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
#[inline]
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
#[inline]
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

/// A function of whole rows; the name lists the destination, then the sources: `R` a [`Row32`],
/// `D` (double) a [`Row64`], `P` a predicate mask. The instruction's qualifiers are captured inside.
#[expect(
    clippy::upper_case_acronyms,
    clippy::type_complexity,
    reason = "each name spells out its function's type"
)]
pub(crate) enum RowFn {
    RR(Box<dyn Fn(&Row32) -> Row32 + Send + Sync>),
    RRR(Box<dyn Fn(&Row32, &Row32) -> Row32 + Send + Sync>),
    RRRR(Box<dyn Fn(&Row32, &Row32, &Row32) -> Row32 + Send + Sync>),
    RRRRR(Box<dyn Fn(&Row32, &Row32, &Row32, &Row32) -> Row32 + Send + Sync>),
    RD(Box<dyn Fn(&Row64) -> Row32 + Send + Sync>),
    DR(Box<dyn Fn(&Row32) -> Row64 + Send + Sync>),
    DRR(Box<dyn Fn(&Row32, &Row32) -> Row64 + Send + Sync>),
    DRRD(Box<dyn Fn(&Row32, &Row32, &Row64) -> Row64 + Send + Sync>),
    DD(Box<dyn Fn(&Row64) -> Row64 + Send + Sync>),
    DDR(Box<dyn Fn(&Row64, &Row32) -> Row64 + Send + Sync>),
    DDRR(Box<dyn Fn(&Row64, &Row32, &Row32) -> Row64 + Send + Sync>),
    DDD(Box<dyn Fn(&Row64, &Row64) -> Row64 + Send + Sync>),
    DDDR(Box<dyn Fn(&Row64, &Row64, &Row32) -> Row64 + Send + Sync>),
    DDDRR(Box<dyn Fn(&Row64, &Row64, &Row32, &Row32) -> Row64 + Send + Sync>),
    DDDD(Box<dyn Fn(&Row64, &Row64, &Row64) -> Row64 + Send + Sync>),
    PR(Box<dyn Fn(&Row32) -> u32 + Send + Sync>),
    PRR(Box<dyn Fn(&Row32, &Row32) -> u32 + Send + Sync>),
    PD(Box<dyn Fn(&Row64) -> u32 + Send + Sync>),
    PDD(Box<dyn Fn(&Row64, &Row64) -> u32 + Send + Sync>),
}

/// Defines a constructor of [`RowFn`] from a function of one lane.
macro_rules! lift {
    ($name:ident, $variant:ident, mask, ($($arg:ident : $ty:ty),+)) => {
        pub(crate) fn $name(
            function: impl Fn($(<$ty as IntoIterator>::Item),+) -> bool + Send + Sync + 'static,
        ) -> RowFn {
            RowFn::$variant(Box::new(move |$($arg: &$ty),+| mask_of(|lane| function($($arg[lane]),+))))
        }
    };
    ($name:ident, $variant:ident, $result:ty, ($($arg:ident : $ty:ty),+)) => {
        pub(crate) fn $name(
            function: impl Fn($(<$ty as IntoIterator>::Item),+) -> <$result as IntoIterator>::Item
                + Send + Sync + 'static,
        ) -> RowFn {
            RowFn::$variant(Box::new(move |$($arg: &$ty),+| {
                let mut result: $result = [0; LANES];
                for lane in 0..LANES {
                    result[lane] = function($($arg[lane]),+);
                }
                result
            }))
        }
    };
}

lift!(rr, RR, Row32, (a: Row32));
lift!(rrr, RRR, Row32, (a: Row32, b: Row32));
lift!(rrrr, RRRR, Row32, (a: Row32, b: Row32, c: Row32));
lift!(rrrrr, RRRRR, Row32, (a: Row32, b: Row32, c: Row32, d: Row32));
lift!(rd, RD, Row32, (a: Row64));
lift!(dr, DR, Row64, (a: Row32));
lift!(drr, DRR, Row64, (a: Row32, b: Row32));
lift!(drrd, DRRD, Row64, (a: Row32, b: Row32, c: Row64));
lift!(dd, DD, Row64, (a: Row64));
lift!(ddr, DDR, Row64, (a: Row64, b: Row32));
lift!(ddrr, DDRR, Row64, (a: Row64, b: Row32, c: Row32));
lift!(ddd, DDD, Row64, (a: Row64, b: Row64));
lift!(dddr, DDDR, Row64, (a: Row64, b: Row64, c: Row32));
lift!(dddrr, DDDRR, Row64, (a: Row64, b: Row64, c: Row32, d: Row32));
lift!(dddd, DDDD, Row64, (a: Row64, b: Row64, c: Row64));
lift!(pr, PR, mask, (a: Row32));
lift!(prr, PRR, mask, (a: Row32, b: Row32));
lift!(pd, PD, mask, (a: Row64));
lift!(pdd, PDD, mask, (a: Row64, b: Row64));

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

impl RowFn {
    /// Destination and sources.
    pub(crate) fn signature(&self) -> (Class, &'static [Class]) {
        use Class::{D, Predicate as P, R};
        match self {
            RowFn::RR(_) => (R, &[R]),
            RowFn::RRR(_) => (R, &[R, R]),
            RowFn::RRRR(_) => (R, &[R, R, R]),
            RowFn::RRRRR(_) => (R, &[R, R, R, R]),
            RowFn::RD(_) => (R, &[D]),
            RowFn::DR(_) => (D, &[R]),
            RowFn::DRR(_) => (D, &[R, R]),
            RowFn::DRRD(_) => (D, &[R, R, D]),
            RowFn::DD(_) => (D, &[D]),
            RowFn::DDR(_) => (D, &[D, R]),
            RowFn::DDRR(_) => (D, &[D, R, R]),
            RowFn::DDD(_) => (D, &[D, D]),
            RowFn::DDDR(_) => (D, &[D, D, R]),
            RowFn::DDDRR(_) => (D, &[D, D, R, R]),
            RowFn::DDDD(_) => (D, &[D, D, D]),
            RowFn::PR(_) => (P, &[R]),
            RowFn::PRR(_) => (P, &[R, R]),
            RowFn::PD(_) => (P, &[D]),
            RowFn::PDD(_) => (P, &[D, D]),
        }
    }
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
