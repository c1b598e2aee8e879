//! Rows: one register of all 32 lanes of a warp, and functions over rows.
//!
//! A `.b8`, `.b16` or `.b32` register is a [`Row32`] (narrow values zero-extended), a `.b64` register a
//! [`Row64`], a `.b128` register two of those, a predicate one mask. Row functions compute all 32
//! lanes whatever the mask: they have no effects and no way to fail, so the lanes that are off
//! cost nothing and are dropped when the result is written.

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
        let shift = if self.wide { 0 } else { 32 };
        let sign = if self.signed { 1 << 63 } else { 0 };
        let key = |bits: u64| bits << shift ^ sign;
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

macro_rules! registers_of {
    ($window:ident, u32) => {
        $window.r32
    };
    ($window:ident, u64) => {
        $window.r64
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

/// Whether a floating-point number is NaN. A comparison of two vectors says so of both.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn has_nan_u32(value: &Row32) -> bool {
    use std::arch::x86_64::{_CMP_UNORD_Q, _mm256_cmp_ps, _mm256_movemask_ps, _mm256_or_ps};
    let [a, b, c, d] = bytemuck::cast(*value);
    let low = _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b);
    let high = _mm256_cmp_ps::<_CMP_UNORD_Q>(c, d);
    _mm256_movemask_ps(_mm256_or_ps(low, high)) != 0
}

/// As [`has_nan_u32`], in double precision.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn has_nan_u64(value: &Row64) -> bool {
    use std::arch::x86_64::{
        __m256d, _CMP_UNORD_Q, _mm256_cmp_pd, _mm256_movemask_pd, _mm256_or_pd,
    };
    let vectors: [__m256d; 8] = bytemuck::cast(*value);
    let (pairs, _) = vectors.as_chunks::<2>();
    let any = pairs.iter().map(|[a, b]| _mm256_cmp_pd::<_CMP_UNORD_Q>(*a, *b));
    any.reduce(|a, b| _mm256_or_pd(a, b)).is_some_and(|any| _mm256_movemask_pd(any) != 0)
}

macro_rules! has_nan {
    ($value:expr, u32) => {
        has_nan_u32($value)
    };
    ($value:expr, u64) => {
        has_nan_u64($value)
    };
}

/// Defines constructors of [`RowFn`] from a function of one lane. The loop over the lanes exists twice: for any
/// processor, and for those with AVX2 and FMA.
macro_rules! lift {
    ($name:ident, bool, ($($arg:ident : $ty:tt = $index:tt),+)) => {
        pub(crate) fn $name(function: impl Fn($($ty),+) -> bool + Send + Sync + 'static) -> RowFn {
            struct Code<F> {
                function: F,
                avx2: bool,
            }
            impl<F: Fn($($ty),+) -> bool + Send + Sync> Code<F> {
                #[inline(always)]
                fn body(&self, w: &mut Window<'_>, rows: &Rows) -> u32 {
                    $(registers_of!(w, $ty)[rows.s[$index] as usize].settle();)+
                    $(let $arg = registers_of!(w, $ty)[rows.s[$index] as usize].settled();)+
                    mask_of(|lane| (self.function)($($arg[lane]),+))
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn body_avx2(
                    &self,
                    w: &mut Window<'_>,
                    rows: &Rows,
                ) -> u32 {
                    self.body(w, rows)
                }
            }
            impl<F: Fn($($ty),+) -> bool + Send + Sync> RowCode for Code<F> {
                fn rows(&self, _: &mut Window<'_>, _: &Rows, _: u32) -> Outcome {
                    Outcome::Done
                }
                fn rows_anyway(&self, _: &mut Window<'_>, _: &Rows, _: u32) {}
                fn mask(&self, w: &mut Window<'_>, rows: &Rows) -> u32 {
                    #[cfg(target_arch = "x86_64")]
                    if self.avx2 {
                        // SAFETY: `avx2` is true only where the processor has these features.
                        return unsafe { self.body_avx2(w, rows) };
                    }
                    self.body(w, rows)
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
    ($name:ident, $code:ident, $result:tt, $class:ident, $write:ident, ($($arg:ident : $ty:tt = $index:tt),+)) => {
        pub(crate) fn $name(
            function: impl Fn($($ty),+) -> $result + Copy + Send + Sync + 'static,
        ) -> RowFn {
            $code::<_, _, false>(function, function)
        }

        fn $code<F, G, const FLOAT: bool>(function: F, quick: G) -> RowFn
        where
            F: Fn($($ty),+) -> $result + Send + Sync + 'static,
            G: Fn($($ty),+) -> $result + Send + Sync + 'static,
        {
            struct Code<F, G, const FLOAT: bool> {
                function: F,
                quick: G,
                avx2: bool,
            }
            // Calls nothing, so that no registers of the processor have to be saved.
            #[inline(always)]
            fn body(
                function: impl Fn($($ty),+) -> $result,
                suspect: impl Fn(&[$result; LANES]) -> bool,
                w: &mut Window<'_>,
                rows: &Rows,
                mask: u32,
                anyway: bool,
            ) -> Outcome {
                let known = true $(& registers_of!(w, $ty)[rows.s[$index] as usize].is_known(mask))+;
                if known && !anyway {
                    return Outcome::Known;
                }
                let ready = true $(&& registers_of!(w, $ty)[rows.s[$index] as usize].settle_quickly())+;
                if !ready || !registers_of!(w, $result)[rows.d as usize].is_free(mask) {
                    return Outcome::Unready;
                }
                let mut value = [0; LANES];
                $(let $arg = registers_of!(w, $ty)[rows.s[$index] as usize].settled();)+
                for lane in 0..LANES {
                    value[lane] = function($($arg[lane]),+);
                }
                if suspect(&value) {
                    return Outcome::Suspect;
                }
                let target = registers_of!(w, $result)[rows.d as usize].overwrite_free();
                $write(target, &value, mask);
                Outcome::Done
            }
            impl<F, G, const FLOAT: bool> Code<F, G, FLOAT>
            where
                F: Fn($($ty),+) -> $result,
                G: Fn($($ty),+) -> $result,
            {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn body_avx2(
                    &self,
                    w: &mut Window<'_>,
                    rows: &Rows,
                    mask: u32,
                    anyway: bool,
                ) -> Outcome {
                    body(&self.quick, |value| FLOAT && has_nan!(value, $result), w, rows, mask, anyway)
                }

                #[inline(always)]
                fn execute(
                    &self,
                    w: &mut Window<'_>,
                    rows: &Rows,
                    mask: u32,
                    anyway: bool,
                ) -> Outcome {
                    #[cfg(target_arch = "x86_64")]
                    if self.avx2 {
                        // SAFETY: `avx2` is true only where the processor has these features.
                        return unsafe { self.body_avx2(w, rows, mask, anyway) };
                    }
                    body(&self.function, |_| false, w, rows, mask, anyway)
                }

                #[inline(never)]
                fn slowly(&self, w: &mut Window<'_>, rows: &Rows, mask: u32) {
                    $(registers_of!(w, $ty)[rows.s[$index] as usize].settle();)+
                    registers_of!(w, $result)[rows.d as usize].settle();
                    if self.execute(w, rows, mask, true) != Outcome::Done {
                        body(&self.function, |_| false, w, rows, mask, true);
                    }
                }
            }
            impl<F, G, const FLOAT: bool> RowCode for Code<F, G, FLOAT>
            where
                F: Fn($($ty),+) -> $result + Send + Sync,
                G: Fn($($ty),+) -> $result + Send + Sync,
            {
                fn rows(&self, w: &mut Window<'_>, rows: &Rows, mask: u32) -> Outcome {
                    self.execute(w, rows, mask, false)
                }
                fn rows_anyway(&self, w: &mut Window<'_>, rows: &Rows, mask: u32) {
                    self.slowly(w, rows, mask);
                }
                fn mask(&self, _: &mut Window<'_>, _: &Rows) -> u32 {
                    0
                }
                fn one(&self, s: [u64; 4]) -> u64 {
                    u64::from((self.function)($(s[$index] as $ty),+))
                }
            }
            let code = Code::<F, G, FLOAT> { function, quick, avx2: has_avx2() };
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
lift!(rr, rr_code, u32, R, write32, (a: u32 = 0));
lift!(rrr, rrr_code, u32, R, write32, (a: u32 = 0, b: u32 = 1));
lift!(rrrr, rrrr_code, u32, R, write32, (a: u32 = 0, b: u32 = 1, c: u32 = 2));
lift!(rrrrr, rrrrr_code, u32, R, write32, (a: u32 = 0, b: u32 = 1, c: u32 = 2, e: u32 = 3));
lift!(rd, rd_code, u32, R, write32, (a: u64 = 0));
lift!(dr, dr_code, u64, D, write64, (a: u32 = 0));
lift!(drr, drr_code, u64, D, write64, (a: u32 = 0, b: u32 = 1));
lift!(drrd, drrd_code, u64, D, write64, (a: u32 = 0, b: u32 = 1, c: u64 = 2));
lift!(dd, dd_code, u64, D, write64, (a: u64 = 0));
lift!(ddr, ddr_code, u64, D, write64, (a: u64 = 0, b: u32 = 1));
lift!(ddrr, ddrr_code, u64, D, write64, (a: u64 = 0, b: u32 = 1, c: u32 = 2));
lift!(ddd, ddd_code, u64, D, write64, (a: u64 = 0, b: u64 = 1));
lift!(dddr, dddr_code, u64, D, write64, (a: u64 = 0, b: u64 = 1, c: u32 = 2));
lift!(dddrr, dddrr_code, u64, D, write64, (a: u64 = 0, b: u64 = 1, c: u32 = 2, e: u32 = 3));
lift!(dddd, dddd_code, u64, D, write64, (a: u64 = 0, b: u64 = 1, c: u64 = 2));
lift!(pr, bool, (a: u32 = 0));
lift!(prr, bool, (a: u32 = 0, b: u32 = 1));
lift!(pd, bool, (a: u64 = 0));
lift!(pdd, bool, (a: u64 = 0, b: u64 = 1));

/// Defines constructors for floating-point functions. The second function is for processors with AVX2 and FMA, where it gives the
/// same bits as the first unless the result is NaN; if one lane's is, all are computed by the first.
macro_rules! lift_float {
    ($name:ident, $code:ident, $ty:tt, ($($arg:tt),+)) => {
        pub(crate) fn $name(
            function: impl Fn($($arg),+) -> $ty + Send + Sync + 'static,
            quick: impl Fn($($arg),+) -> $ty + Send + Sync + 'static,
        ) -> RowFn {
            $code::<_, _, true>(function, quick)
        }
    };
}

lift_float!(rrr_quick, rrr_code, u32, (u32, u32));
lift_float!(rrrr_quick, rrrr_code, u32, (u32, u32, u32));
lift_float!(ddd_quick, ddd_code, u64, (u64, u64));
lift_float!(dddd_quick, dddd_code, u64, (u64, u64, u64));

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
