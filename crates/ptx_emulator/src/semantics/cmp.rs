//! Comparisons and what hangs on them: `setp`, `set`, `slct`, `testp` (PTX ISA, sections "Comparison and
//! Selection Instructions", "Half Precision Comparison Instructions").

use super::half::HalfFormat;

/// The comparison of `setp` and `set`. The plain floating-point ones are false when an operand is NaN, `ne`
/// included; those ending in `u` are true then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `.eq`.
    Eq,
    /// `.ne`; of floats, false when an operand is NaN.
    Ne,
    /// `.lt`, `.lo`.
    Lt,
    /// `.le`, `.ls`.
    Le,
    /// `.gt`, `.hi`.
    Gt,
    /// `.ge`, `.hs`.
    Ge,
    /// `.equ`: equal or unordered.
    Equ,
    /// `.neu`: not equal or unordered.
    Neu,
    /// `.ltu`: less or unordered.
    Ltu,
    /// `.leu`: less, equal or unordered.
    Leu,
    /// `.gtu`: greater or unordered.
    Gtu,
    /// `.geu`: greater, equal or unordered.
    Geu,
    /// `.num`: neither operand is NaN.
    Num,
    /// `.nan`: an operand is NaN.
    Nan,
}

impl Comparison {
    /// The comparison that a PTX modifier names, without its dot. `lo`, `ls`, `hi`, `hs` are the unsigned
    /// spellings of `lt`, `le`, `gt`, `ge`.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" | "lo" => Self::Lt,
            "le" | "ls" => Self::Le,
            "gt" | "hi" => Self::Gt,
            "ge" | "hs" => Self::Ge,
            "equ" => Self::Equ,
            "neu" => Self::Neu,
            "ltu" => Self::Ltu,
            "leu" => Self::Leu,
            "gtu" => Self::Gtu,
            "geu" => Self::Geu,
            "num" => Self::Num,
            "nan" => Self::Nan,
            _ => return None,
        })
    }

    /// Whether the comparison is one of `.equ` … `.nan`, which exist for floats only.
    #[must_use]
    pub const fn is_float_only(self) -> bool {
        !matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }
}

/// Compares with the operators of a type; `$unordered` says whether an operand is NaN.
macro_rules! compare {
    ($comparison:expr, $a:expr, $b:expr, $unordered:expr) => {
        match $comparison {
            Comparison::Eq => $a == $b,
            // IEEE "not equal" is true for NaN; PTX `ne` is ordered.
            Comparison::Ne => $a != $b && !$unordered,
            Comparison::Lt => $a < $b,
            Comparison::Le => $a <= $b,
            Comparison::Gt => $a > $b,
            Comparison::Ge => $a >= $b,
            Comparison::Equ => $a == $b || $unordered,
            Comparison::Neu => $a != $b,
            Comparison::Ltu => $a < $b || $unordered,
            Comparison::Leu => $a <= $b || $unordered,
            Comparison::Gtu => $a > $b || $unordered,
            Comparison::Geu => $a >= $b || $unordered,
            Comparison::Num => !$unordered,
            Comparison::Nan => $unordered,
        }
    };
}

/// `setp`/`set` of unsigned or untyped integers; narrower operands zero-extended.
#[inline]
#[must_use]
pub const fn unsigned(comparison: Comparison, a: u64, b: u64) -> bool {
    compare!(comparison, a, b, false)
}

/// `setp`/`set` of signed integers; narrower operands sign-extended.
#[inline]
#[must_use]
pub const fn signed(comparison: Comparison, a: i64, b: i64) -> bool {
    compare!(comparison, a, b, false)
}

/// `setp`/`set` of `.u32` and `.b32`, in 32 bits so that rows of lanes stay narrow.
#[inline]
#[must_use]
pub const fn unsigned_32(comparison: Comparison, a: u32, b: u32) -> bool {
    compare!(comparison, a, b, false)
}

/// `setp`/`set` of `.s32`, in 32 bits so that rows of lanes stay narrow.
#[inline]
#[must_use]
pub const fn signed_32(comparison: Comparison, a: i32, b: i32) -> bool {
    compare!(comparison, a, b, false)
}

/// `setp`/`set` of `.f32`. With `.ftz`, apply [`super::f32::flush`] to the operands first.
#[inline]
#[must_use]
pub const fn float(comparison: Comparison, a: f32, b: f32) -> bool {
    compare!(comparison, a, b, a.is_nan() || b.is_nan())
}

/// `setp`/`set` of `.f64`.
#[inline]
#[must_use]
pub const fn double(comparison: Comparison, a: f64, b: f64) -> bool {
    compare!(comparison, a, b, a.is_nan() || b.is_nan())
}

/// `setp`/`set` of f16 or bf16.
#[inline]
#[must_use]
pub fn half<F: HalfFormat>(comparison: Comparison, a: u16, b: u16, ftz: bool) -> bool {
    let (a, b) =
        if ftz { (super::half::flush::<F>(a), super::half::flush::<F>(b)) } else { (a, b) };
    float(comparison, F::widen(a), F::widen(b))
}

/// What `setp` and `set` do with their predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BooleanOp {
    /// `.and`.
    And,
    /// `.or`.
    Or,
    /// `.xor`.
    Xor,
}

impl BooleanOp {
    /// The operation that a PTX modifier names, without its dot.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "and" => Self::And,
            "or" => Self::Or,
            "xor" => Self::Xor,
            _ => return None,
        })
    }

    /// Combines comparison results and predicates; each bit is a lane.
    ///
    /// `setp p|q`: p is `combine(result, c)`, q is `combine(!result, c)`, for `result` of a comparison with NaN as well.
    #[inline]
    #[must_use]
    pub const fn combine(self, result: u32, predicate: u32) -> u32 {
        match self {
            Self::And => result & predicate,
            Self::Or => result | predicate,
            Self::Xor => result ^ predicate,
        }
    }
}

/// `slct….s32`: whether `a` is selected: `c >= 0`.
#[inline]
#[must_use]
pub const fn slct_s32(c: i32) -> bool {
    c >= 0
}

/// `slct{.ftz}….f32`: whether `a` is selected: `c >= 0`; -0.0 selects `a`, NaN selects `b`.
#[inline]
#[must_use]
pub const fn slct_f32(c: f32, ftz: bool) -> bool {
    // Flushing matters: a negative subnormal counts as -0.0 then.
    (if ftz { super::f32::flush(c) } else { c }) >= 0.0
}

/// The property that `testp` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatTest {
    /// `.finite`.
    Finite,
    /// `.infinite`.
    Infinite,
    /// `.number`: not NaN.
    Number,
    /// `.notanumber`.
    NotANumber,
    /// `.normal`; zero counts as normal (recorded).
    Normal,
    /// `.subnormal`.
    Subnormal,
}

impl FloatTest {
    /// The test that a PTX modifier names, without its dot.
    #[must_use]
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "finite" => Self::Finite,
            "infinite" => Self::Infinite,
            "number" => Self::Number,
            "notanumber" => Self::NotANumber,
            "normal" => Self::Normal,
            "subnormal" => Self::Subnormal,
            _ => return None,
        })
    }
}

/// `testp.f32`.
#[inline]
#[must_use]
pub const fn testp_f32(test: FloatTest, a: f32) -> bool {
    match test {
        FloatTest::Finite => a.is_finite(),
        FloatTest::Infinite => a.is_infinite(),
        FloatTest::Number => !a.is_nan(),
        FloatTest::NotANumber => a.is_nan(),
        FloatTest::Normal => a.is_normal() || a == 0.0,
        FloatTest::Subnormal => a.is_subnormal(),
    }
}

/// `testp.f64`.
#[inline]
#[must_use]
pub const fn testp_f64(test: FloatTest, a: f64) -> bool {
    match test {
        FloatTest::Finite => a.is_finite(),
        FloatTest::Infinite => a.is_infinite(),
        FloatTest::Number => !a.is_nan(),
        FloatTest::NotANumber => a.is_nan(),
        FloatTest::Normal => a.is_normal() || a == 0.0,
        FloatTest::Subnormal => a.is_subnormal(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::half::{Bf16, F16};
    use super::*;

    #[test]
    fn ordered_not_equal_is_false_for_nan() {
        assert!(!float(Comparison::Ne, f32::NAN, 1.0));
        assert!(float(Comparison::Neu, f32::NAN, 1.0));
        assert!(float(Comparison::Ne, 2.0, 1.0));
        assert!(!double(Comparison::Le, 1.0, f64::NAN));
        assert!(double(Comparison::Leu, 1.0, f64::NAN));
        assert!(double(Comparison::Nan, 1.0, f64::NAN));
        assert!(!double(Comparison::Num, 1.0, f64::NAN));
    }

    #[test]
    fn zeros_are_equal_and_halves_compare_by_value() {
        assert!(float(Comparison::Eq, 0.0, -0.0));
        assert!(half::<F16>(Comparison::Lt, 0x8001, 0, false));
        assert!(half::<F16>(Comparison::Eq, 0x8001, 0, true));
        assert!(half::<Bf16>(Comparison::Gt, 0x7f80, 0x7f7f, false));
    }

    #[test]
    fn signedness_decides() {
        assert!(signed(Comparison::Lt, -1, 0));
        assert!(unsigned(Comparison::Gt, u64::MAX, 0));
        assert!(signed_32(Comparison::Lt, i32::MIN, 0));
        assert!(unsigned_32(Comparison::Ge, 1 << 31, 0));
    }

    #[test]
    fn selectors() {
        assert!(slct_f32(-0.0, false));
        assert!(!slct_f32(f32::NAN, false));
        assert!(!slct_f32(-f32::from_bits(1), false));
        assert!(slct_f32(-f32::from_bits(1), true));
        assert!(slct_s32(0) && !slct_s32(-1));
    }

    #[test]
    fn zero_counts_as_normal() {
        assert!(testp_f32(FloatTest::Normal, -0.0));
        assert!(!testp_f32(FloatTest::Normal, f32::from_bits(1)));
        assert!(testp_f64(FloatTest::Subnormal, f64::from_bits(1)));
        assert!(!testp_f64(FloatTest::Normal, f64::INFINITY));
    }
}
