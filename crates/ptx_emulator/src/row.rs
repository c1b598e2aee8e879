//! Rows: one register of all 32 lanes of a warp, and functions over rows.
//!
//! A `.b8`, `.b16` or `.b32` register is a [`Row32`] (narrow values zero-extended), a `.b64` register a
//! [`Row64`], a `.b128` register two of those, a predicate one mask. Row functions compute all 32
//! lanes whatever the mask: they have no effects and no way to fail, so the lanes that are off
//! cost nothing and are dropped when the result is written.

use crate::registers::Bank;

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

/// Writes the lanes of `mask`, some of which are off.
#[inline(never)]
fn blend32(target: &mut Row32, value: &Row32, mask: u32) {
    write32(target, value, mask);
}

/// Writes the lanes of `mask`, some of which are off.
#[inline(never)]
fn blend64(target: &mut Row64, value: &Row64, mask: u32) {
    write64(target, value, mask);
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

/// Where a frame's rows begin in a warp's banks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
}

/// The code of a row function.
pub(crate) trait RowCode: Send + Sync {
    /// Computes all lanes and writes those of the mask. Nothing, for functions that make predicates.
    fn rows(&self, r: &mut Bank<u32>, d: &mut Bank<u64>, at: Bases, rows: &Rows, mask: u32);

    /// One bit a lane, for functions that make predicates; 0 for others.
    fn mask(&self, r: &mut Bank<u32>, d: &mut Bank<u64>, at: Bases, rows: &Rows) -> u32;

    /// The result of one lane: 1 or 0 for a predicate, 32-bit values in the low half.
    fn one(&self, s: [u64; 4]) -> u64;
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
    Add32,
    Add64,
    Sub32,
    Sub64,
    Neg,
    /// Low half of a product.
    Mul,
    MulWideUnsigned,
    MulWideSigned,
    /// Low half of a product, plus a number.
    Mad,
    MadWideUnsigned,
    MadWideSigned,
    Shl32,
    Shl64,
    Or32,
    Or64,
    /// 32 to 64 bits.
    WidenUnsigned,
    WidenSigned,
    /// 64 to 32 bits.
    Truncate,
}

impl RowFn {
    /// Adds what is known about affine rows.
    pub(crate) fn with(mut self, rule: Rule) -> RowFn {
        self.rule = rule;
        self
    }

    /// Destination and sources.
    pub(crate) fn signature(&self) -> (Class, Vec<Class>) {
        let class =
            |source: u8| if self.shape.wide >> source & 1 == 0 { Class::R } else { Class::D };
        (self.shape.result, (0..self.shape.sources).map(class).collect())
    }
}

/// Whether row functions may use AVX2 and FMA instructions.
fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // F16C and the bit instructions came with or before AVX2 in every processor that has it.
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

macro_rules! bank_of {
    ($r:ident, $d:ident, u32) => {
        $r
    };
    ($r:ident, $d:ident, u64) => {
        $d
    };
}

macro_rules! base_of {
    ($at:ident, u32) => {
        $at.r32
    };
    ($at:ident, u64) => {
        $at.r64
    };
}

macro_rules! is_wide {
    (u32) => {
        0
    };
    (u64) => {
        1
    };
}

/// Defines constructors of [`RowFn`] from a function of one lane. The loop over the lanes exists twice: for any
/// processor, and for those with AVX2 and FMA. The second constructor takes another function for the latter, which gives
/// the same bits wherever its result is not `suspect`; if one lane's is, all are computed by the first function.
macro_rules! lift {
    ($name:ident, bool, ($($arg:ident : $ty:tt = $index:tt),+)) => {
        pub(crate) fn $name(function: impl Fn($($ty),+) -> bool + Send + Sync + 'static) -> RowFn {
            struct Code<F> {
                function: F,
                avx2: bool,
            }
            impl<F: Fn($($ty),+) -> bool + Send + Sync> Code<F> {
                #[inline(always)]
                fn body(&self, r: &mut Bank<u32>, d: &mut Bank<u64>, at: Bases, rows: &Rows) -> u32 {
                    let _ = (&r, &d);
                    $(bank_of!(r, d, $ty).settle(base_of!(at, $ty) + rows.s[$index]);)+
                    $(let $arg = bank_of!(r, d, $ty).settled(base_of!(at, $ty) + rows.s[$index]);)+
                    mask_of(|lane| (self.function)($($arg[lane]),+))
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn body_avx2(
                    &self,
                    r: &mut Bank<u32>,
                    d: &mut Bank<u64>,
                    at: Bases,
                    rows: &Rows,
                ) -> u32 {
                    self.body(r, d, at, rows)
                }
            }
            impl<F: Fn($($ty),+) -> bool + Send + Sync> RowCode for Code<F> {
                fn rows(&self, _: &mut Bank<u32>, _: &mut Bank<u64>, _: Bases, _: &Rows, _: u32) {}
                fn mask(&self, r: &mut Bank<u32>, d: &mut Bank<u64>, at: Bases, rows: &Rows) -> u32 {
                    #[cfg(target_arch = "x86_64")]
                    if self.avx2 {
                        // SAFETY: `avx2` is true only where the processor has these features.
                        return unsafe { self.body_avx2(r, d, at, rows) };
                    }
                    self.body(r, d, at, rows)
                }
                fn one(&self, s: [u64; 4]) -> u64 {
                    u64::from((self.function)($(s[$index] as $ty),+))
                }
            }
            let code = Code { function, avx2: has_avx2() };
            let sources: &[u8] = &[$(is_wide!($ty)),+];
            RowFn { shape: shape(Class::Predicate, sources), rule: Rule::None, code: Box::new(code) }
        }
    };
    ($name:ident, $both:ident, $result:tt, $class:ident, $write:ident, ($($arg:ident : $ty:tt = $index:tt),+)) => {
        pub(crate) fn $name(
            function: impl Fn($($ty),+) -> $result + Copy + Send + Sync + 'static,
        ) -> RowFn {
            $both(function, function, |_| false)
        }

        pub(crate) fn $both(
            function: impl Fn($($ty),+) -> $result + Send + Sync + 'static,
            quick: impl Fn($($ty),+) -> $result + Send + Sync + 'static,
            suspect: impl Fn($result) -> bool + Send + Sync + 'static,
        ) -> RowFn {
            struct Code<F, G, S> {
                function: F,
                quick: G,
                suspect: S,
                avx2: bool,
            }
            #[inline(always)]
            #[expect(clippy::too_many_arguments, reason = "three functions and where they work")]
            fn body(
                quick: impl Fn($($ty),+) -> $result,
                suspect: impl Fn($result) -> bool,
                function: impl Fn($($ty),+) -> $result,
                r: &mut Bank<u32>,
                d: &mut Bank<u64>,
                at: Bases,
                rows: &Rows,
                mask: u32,
            ) {
                let _ = (&r, &d);
                $(bank_of!(r, d, $ty).settle(base_of!(at, $ty) + rows.s[$index]);)+
                let mut value = [0; LANES];
                {
                    $(let $arg = bank_of!(r, d, $ty).settled(base_of!(at, $ty) + rows.s[$index]);)+
                    for lane in 0..LANES {
                        value[lane] = quick($($arg[lane]),+);
                    }
                    let mut any = false;
                    for result in value {
                        any |= suspect(result);
                    }
                    if any {
                        for lane in 0..LANES {
                            value[lane] = function($($arg[lane]),+);
                        }
                    }
                }
                let target = bank_of!(r, d, $result).overwrite(base_of!(at, $result) + rows.d, mask);
                if mask == FULL {
                    *target = value;
                } else {
                    $write(target, &value, mask);
                }
            }
            impl<F, G, S> Code<F, G, S>
            where
                F: Fn($($ty),+) -> $result,
                G: Fn($($ty),+) -> $result,
                S: Fn($result) -> bool,
            {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn body_avx2(
                    &self,
                    r: &mut Bank<u32>,
                    d: &mut Bank<u64>,
                    at: Bases,
                    rows: &Rows,
                    mask: u32,
                ) {
                    let Code { function, quick, suspect, .. } = self;
                    body(quick, suspect, function, r, d, at, rows, mask);
                }
            }
            impl<F, G, S> RowCode for Code<F, G, S>
            where
                F: Fn($($ty),+) -> $result + Send + Sync,
                G: Fn($($ty),+) -> $result + Send + Sync,
                S: Fn($result) -> bool + Send + Sync,
            {
                fn rows(
                    &self,
                    r: &mut Bank<u32>,
                    d: &mut Bank<u64>,
                    at: Bases,
                    rows: &Rows,
                    mask: u32,
                ) {
                    #[cfg(target_arch = "x86_64")]
                    if self.avx2 {
                        // SAFETY: `avx2` is true only where the processor has these features.
                        return unsafe { self.body_avx2(r, d, at, rows, mask) };
                    }
                    body(&self.function, |_| false, &self.function, r, d, at, rows, mask);
                }
                fn mask(&self, _: &mut Bank<u32>, _: &mut Bank<u64>, _: Bases, _: &Rows) -> u32 {
                    0
                }
                fn one(&self, s: [u64; 4]) -> u64 {
                    u64::from((self.function)($(s[$index] as $ty),+))
                }
            }
            let code = Code { function, quick, suspect, avx2: has_avx2() };
            let sources: &[u8] = &[$(is_wide!($ty)),+];
            RowFn { shape: shape(Class::$class, sources), rule: Rule::None, code: Box::new(code) }
        }
    };
}

fn shape(result: Class, sources: &[u8]) -> Shape {
    let wide = sources.iter().enumerate().fold(0, |bits, (index, wide)| bits | wide << index);
    Shape { result, sources: sources.len() as u8, wide }
}

// The name lists the destination, then the sources: `r` a `Row32`, `d` (double) a `Row64`, `p` a predicate.
lift!(rr, rr_quick, u32, R, blend32, (a: u32 = 0));
lift!(rrr, rrr_quick, u32, R, blend32, (a: u32 = 0, b: u32 = 1));
lift!(rrrr, rrrr_quick, u32, R, blend32, (a: u32 = 0, b: u32 = 1, c: u32 = 2));
lift!(rrrrr, rrrrr_quick, u32, R, blend32, (a: u32 = 0, b: u32 = 1, c: u32 = 2, e: u32 = 3));
lift!(rd, rd_quick, u32, R, blend32, (a: u64 = 0));
lift!(dr, dr_quick, u64, D, blend64, (a: u32 = 0));
lift!(drr, drr_quick, u64, D, blend64, (a: u32 = 0, b: u32 = 1));
lift!(drrd, drrd_quick, u64, D, blend64, (a: u32 = 0, b: u32 = 1, c: u64 = 2));
lift!(dd, dd_quick, u64, D, blend64, (a: u64 = 0));
lift!(ddr, ddr_quick, u64, D, blend64, (a: u64 = 0, b: u32 = 1));
lift!(ddrr, ddrr_quick, u64, D, blend64, (a: u64 = 0, b: u32 = 1, c: u32 = 2));
lift!(ddd, ddd_quick, u64, D, blend64, (a: u64 = 0, b: u64 = 1));
lift!(dddr, dddr_quick, u64, D, blend64, (a: u64 = 0, b: u64 = 1, c: u32 = 2));
lift!(dddrr, dddrr_quick, u64, D, blend64, (a: u64 = 0, b: u64 = 1, c: u32 = 2, e: u32 = 3));
lift!(dddd, dddd_quick, u64, D, blend64, (a: u64 = 0, b: u64 = 1, c: u64 = 2));
lift!(pr, bool, (a: u32 = 0));
lift!(prr, bool, (a: u32 = 0, b: u32 = 1));
lift!(pd, bool, (a: u64 = 0));
lift!(pdd, bool, (a: u64 = 0, b: u64 = 1));

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
