//! Making [`RowFn`]s of functions of one lane.

use std::sync::LazyLock;

use super::{Class, LANES, Outcome, Row32, Row64, RowCode, RowFn, Rows, Rule, Shape};
use super::{mask_of, write32, write64};
use crate::registers::Window;

/// The vector instructions that row functions may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    /// Those of every processor of this kind.
    Any,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Vectors {
    /// Those that this machine's processor has.
    fn here() -> Vectors {
        static HERE: LazyLock<Vectors> = LazyLock::new(Vectors::detect);
        *HERE
    }

    fn detect() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        {
            // F16C and the bit instructions came with or before AVX2 in every processor that has it.
            let avx2 = std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2")
                && std::arch::is_x86_feature_detected!("lzcnt")
                && std::arch::is_x86_feature_detected!("popcnt");
            if avx2 { Vectors::Avx2 } else { Vectors::Any }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            Vectors::Any
        }
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
                vectors: Vectors,
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
                fn body_avx2(&self, w: &mut Window<'_>, rows: &Rows) -> u32 {
                    self.body(w, rows)
                }
            }
            impl<F: Fn($($ty),+) -> bool + Send + Sync> RowCode for Code<F> {
                fn rows(&self, _: &mut Window<'_>, _: &Rows, _: u32) -> Outcome {
                    Outcome::Done
                }
                fn rows_anyway(&self, _: &mut Window<'_>, _: &Rows, _: u32) {}
                fn mask(&self, w: &mut Window<'_>, rows: &Rows) -> u32 {
                    match self.vectors {
                        Vectors::Any => self.body(w, rows),
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: the processor was found to have these features.
                        Vectors::Avx2 => unsafe { self.body_avx2(w, rows) },
                    }
                }
                fn one(&self, s: [u64; 4]) -> u64 {
                    u64::from((self.function)($(s[$index] as $ty),+))
                }
            }
            let code = Code { function, vectors: Vectors::here() };
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
                vectors: Vectors,
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
                fn body_avx2(&self, w: &mut Window<'_>, rows: &Rows, mask: u32, anyway: bool) -> Outcome {
                    let nan = |value: &[$result; LANES]| FLOAT && has_nan!(value, $result);
                    body(&self.quick, nan, w, rows, mask, anyway)
                }

                // Not inline: its way in would be that of the other, too.
                #[inline(never)]
                fn body_any(&self, w: &mut Window<'_>, rows: &Rows, mask: u32, anyway: bool) -> Outcome {
                    body(&self.function, |_| false, w, rows, mask, anyway)
                }

                #[inline(always)]
                fn execute(&self, w: &mut Window<'_>, rows: &Rows, mask: u32, anyway: bool) -> Outcome {
                    match self.vectors {
                        Vectors::Any => self.body_any(w, rows, mask, anyway),
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: the processor was found to have these features.
                        Vectors::Avx2 => unsafe { self.body_avx2(w, rows, mask, anyway) },
                    }
                }

                #[inline(never)]
                fn slowly(&self, w: &mut Window<'_>, rows: &Rows, mask: u32) {
                    $(registers_of!(w, $ty)[rows.s[$index] as usize].settle();)+
                    registers_of!(w, $result)[rows.d as usize].settle();
                    if self.execute(w, rows, mask, true) != Outcome::Done {
                        self.body_any(w, rows, mask, true);
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
            let code = Code::<F, G, FLOAT> { function, quick, vectors: Vectors::here() };
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
