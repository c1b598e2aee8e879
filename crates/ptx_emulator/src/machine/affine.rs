//! Row functions of rows that are the same in all lanes, or rise evenly from lane to lane.

use crate::registers::{Affine, Window};
use crate::row::{Class, IntCompare, Outcome, RowFn, Rows, Rule, Shape};

/// What is known about the lanes of `mask` of one of a function's sources.
#[inline(always)]
fn source(window: &Window<'_>, shape: Shape, s: &[u32; 4], at: usize, mask: u32) -> Option<Affine> {
    if shape.wide >> at & 1 == 0 {
        window.r32[s[at] as usize].affine(mask)
    } else {
        window.r64[s[at] as usize].affine(mask)
    }
}

/// Executes a row function that does not make a predicate.
pub(super) fn execute_row(window: &mut Window<'_>, f: &RowFn, rows: &Rows, mask: u32) {
    let outcome = f.code.rows(window, rows, mask);
    row_otherwise(window, f, rows, mask, outcome);
}

/// Executes a row function of which the simple way came to `outcome`.
pub(super) fn row_otherwise(
    window: &mut Window<'_>,
    f: &RowFn,
    rows: &Rows,
    mask: u32,
    outcome: Outcome,
) {
    match outcome {
        Outcome::Done => {}
        Outcome::Known if try_evenly(window, f, rows, mask) => {}
        _ => f.code.rows_anyway(window, rows, mask),
    }
}

/// Executes a row function if what is known about its sources is enough. False: nothing was done.
#[inline(always)]
pub(super) fn try_evenly(window: &mut Window<'_>, f: &RowFn, rows: &Rows, mask: u32) -> bool {
    let Some(value) = evenly(window, f, &rows.s, mask) else {
        return false;
    };
    match f.shape.result {
        Class::R => window.r32[rows.d as usize].set_affine(value, mask),
        _ => window.r64[rows.d as usize].set_affine(value, mask),
    }
    true
}

/// The result of a row function where all that counts about its sources is known.
fn evenly(window: &Window<'_>, f: &RowFn, s: &[u32; 4], mask: u32) -> Option<Affine> {
    let shape = f.shape;
    let a = source(window, shape, s, 0, mask)?;
    match shape.sources {
        1 => one_source(f, a),
        2 => two_sources(f, a, source(window, shape, s, 1, mask)?),
        3 => {
            let b = source(window, shape, s, 1, mask)?;
            three_sources(f, a, b, source(window, shape, s, 2, mask)?)
        }
        _ => {
            let b = source(window, shape, s, 1, mask)?;
            let c = source(window, shape, s, 2, mask)?;
            one(f, [a, b, c, source(window, shape, s, 3, mask)?])
        }
    }
}

/// Result of a comparison for the lanes of `mask`; the others' bits mean nothing.
#[inline(always)]
pub(super) fn compare(window: &mut Window<'_>, f: &RowFn, rows: &Rows, mask: u32) -> u32 {
    match compare_evenly(window, f, rows, mask) {
        Some(true) => u32::MAX,
        Some(false) => 0,
        None => f.code.mask(window, rows),
    }
}

/// The result of a comparison, if it is known to be the same in all lanes.
fn compare_evenly(window: &Window<'_>, f: &RowFn, rows: &Rows, mask: u32) -> Option<bool> {
    let a = source(window, f.shape, &rows.s, 0, mask)?;
    // Tests of one number (`testp`) have no second source, not even a row that could be read in its place.
    if f.shape.sources != 2 {
        return a.is_uniform().then(|| f.code.one([a.base, 0, 0, 0]) != 0);
    }
    let b = source(window, f.shape, &rows.s, 1, mask)?;
    match f.rule {
        Rule::Compare(order) => order.evenly(a, b),
        _ => {
            let same = a.is_uniform() && b.is_uniform();
            same.then(|| f.code.one([a.base, b.base, 0, 0]) != 0)
        }
    }
}

impl IntCompare {
    /// The result for all lanes, if what is known about both sides decides it.
    pub(super) fn evenly(self, a: Affine, b: Affine) -> Option<bool> {
        if a.is_uniform() && b.is_uniform() {
            return Some(self.holds(a.base, b.base));
        }
        self.evenly_apart(a, b)
    }

    /// The same for numbers that rise: what holds for the least and the greatest holds for those between, unless only
    /// equality is asked for.
    fn evenly_apart(self, a: Affine, b: Affine) -> Option<bool> {
        let (a, b) = (self.range(a)?, self.range(b)?);
        let apart = a[1] < b[0] || b[1] < a[0];
        let first = self.holds_for(a[0].cmp(&b[1]));
        let last = self.holds_for(a[1].cmp(&b[0]));
        // With a point in common, `<=` holds for all lanes when the greatest of `a` is at most the least of `b`.
        (first == last && (apart || !self.is_equality())).then_some(first)
    }

    /// The least and the greatest number, unless numbers wrap around between lanes.
    fn range(self, value: Affine) -> Option<[i128; 2]> {
        let number = |bits: u64| match (self.wide, self.signed) {
            (true, true) => i128::from(bits as i64),
            (true, false) => i128::from(bits),
            (false, true) => i128::from(bits as i32),
            (false, false) => i128::from(bits as u32),
        };
        let distance =
            |bits: u64| i128::from(if self.wide { bits as i64 } else { i64::from(bits as i32) });
        let bits = if self.wide { 64 } else { 32 };
        let (least, greatest) = match self.signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        let first = number(value.base);
        let end = first + 15 * distance(value.stride);
        let half = distance(value.step);
        let corners = [first, end, first + half, end + half];
        let lowest = corners.into_iter().min()?;
        let highest = corners.into_iter().max()?;
        (lowest >= least && highest <= greatest).then_some([lowest, highest])
    }
}

fn one_source(f: &RowFn, a: Affine) -> Option<Affine> {
    match f.rule {
        Rule::Neg => Some(Affine {
            base: a.base.wrapping_neg(),
            stride: a.stride.wrapping_neg(),
            step: a.step.wrapping_neg(),
        }),
        Rule::Truncate => Some(a),
        Rule::WidenUnsigned => widen_unsigned(a),
        Rule::WidenSigned => widen_signed(a),
        _ => one(f, [a; 4]),
    }
}

fn two_sources(f: &RowFn, a: Affine, b: Affine) -> Option<Affine> {
    match f.rule {
        Rule::Add => Some(a.sum(b)),
        Rule::Sub => Some(Affine {
            base: a.base.wrapping_sub(b.base),
            stride: a.stride.wrapping_sub(b.stride),
            step: a.step.wrapping_sub(b.step),
        }),
        Rule::Mul => product(a, b),
        Rule::MulWideUnsigned => product(widen_unsigned(a)?, widen_unsigned(b)?),
        Rule::MulWideSigned => product(widen_signed(a)?, widen_signed(b)?),
        Rule::Shl => shifted(a, b, f.bits()),
        Rule::Or => or(a, b, f.bits()).or_else(|| one(f, [a, b, b, b])),
        _ => one(f, [a, b, b, b]),
    }
}

fn three_sources(f: &RowFn, a: Affine, b: Affine, c: Affine) -> Option<Affine> {
    let product = match f.rule {
        Rule::Mad => product(a, b)?,
        Rule::MadWideUnsigned => product(widen_unsigned(a)?, widen_unsigned(b)?)?,
        Rule::MadWideSigned => product(widen_signed(a)?, widen_signed(b)?)?,
        _ => return one(f, [a, b, c, c]),
    };
    Some(product.sum(c))
}

/// Any function of sources that are the same in all lanes.
fn one(f: &RowFn, sources: [Affine; 4]) -> Option<Affine> {
    let same = sources.iter().all(|source| source.is_uniform());
    same.then(|| Affine::uniform(f.code.one(sources.map(|source| source.base))))
}

/// Of two numbers one that is the same in all lanes, second.
fn one_uniform(a: Affine, b: Affine) -> Option<(Affine, u64)> {
    if b.is_uniform() {
        Some((a, b.base))
    } else if a.is_uniform() {
        Some((b, a.base))
    } else {
        None
    }
}

/// A product with a number that is the same in all lanes.
fn product(a: Affine, b: Affine) -> Option<Affine> {
    let (a, factor) = one_uniform(a, b)?;
    Some(Affine {
        base: a.base.wrapping_mul(factor),
        stride: a.stride.wrapping_mul(factor),
        step: a.step.wrapping_mul(factor),
    })
}

fn shifted(a: Affine, b: Affine, bits: u32) -> Option<Affine> {
    if !b.is_uniform() {
        return None;
    }
    // Amounts are 32-bit numbers, and those beyond the width shift everything out (PTX ISA, `shl`).
    let amount = b.base & 0xFFFF_FFFF;
    Some(if amount >= u64::from(bits) {
        Affine::uniform(0)
    } else {
        Affine { base: a.base << amount, stride: a.stride << amount, step: a.step << amount }
    })
}

/// `or` of bits that are not set in the other number is a sum.
fn or(a: Affine, b: Affine, bits: u32) -> Option<Affine> {
    let (a, b) = one_uniform(a, b)?;
    let b = if bits == 32 { b & 0xFFFF_FFFF } else { b };
    let free = (a.base | a.stride | a.step).trailing_zeros();
    (free >= 64 - b.leading_zeros()).then(|| a.plus(b))
}

/// 32-bit values as 64-bit ones, unless they wrap around between the lanes.
#[inline]
pub(super) fn widen_unsigned(a: Affine) -> Option<Affine> {
    widen(a, i64::from(a.base as u32), 0..=i64::from(u32::MAX))
}

#[inline]
fn widen_signed(a: Affine) -> Option<Affine> {
    widen(a, i64::from(a.base as i32), i64::from(i32::MIN)..=i64::from(i32::MAX))
}

#[inline(always)]
fn widen(a: Affine, base: i64, range: std::ops::RangeInclusive<i64>) -> Option<Affine> {
    let (stride, step) = (i64::from(a.stride as i32), i64::from(a.step as i32));
    // The corners of what the lanes hold; no sum of these leaves 64 bits.
    let (end, half) = (base + 15 * stride, base + step);
    let inside = range.contains(&end) && range.contains(&half) && range.contains(&(end + step));
    inside.then_some(Affine { base: base as u64, stride: stride as u64, step: step as u64 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers near each other and near the ends of their range, where comparisons change.
    fn number() -> impl Strategy<Value = u64> {
        let ends = [0, 1 << 31, 1 << 32, 1 << 63];
        (prop::sample::select(ends.to_vec()), -40i64..40)
            .prop_map(|(end, distance): (u64, i64)| end.wrapping_add_signed(distance))
    }

    fn affine() -> impl Strategy<Value = Affine> {
        let distance = prop_oneof![Just(0i64), -3i64..4, any::<i64>()];
        (number(), distance.clone(), distance).prop_map(|(base, stride, step)| Affine {
            base,
            stride: stride.cast_unsigned(),
            step: step.cast_unsigned(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_comparison_decided_for_all_lanes_holds_for_each(
            a in affine(),
            b in affine(),
            holds in 1u8..7,
            signed: bool,
            wide: bool,
        ) {
            let compare = IntCompare { holds, signed, wide };
            if let Some(result) = compare.evenly(a, b) {
                for lane in 0..32 {
                    prop_assert_eq!(compare.holds(a.lane(lane), b.lane(lane)), result);
                }
            }
        }
    }

    #[test]
    fn comparisons_are_decided_where_lanes_cannot_differ() {
        let index = Affine { base: 100, stride: 1, step: 16 };
        let less = IntCompare { holds: 0b001, signed: true, wide: false };
        let equal = IntCompare { holds: 0b010, ..less };
        assert_eq!(less.evenly(index, Affine::uniform(132)), Some(true));
        assert_eq!(less.evenly(index, Affine::uniform(131)), None);
        assert_eq!(less.evenly(index, Affine::uniform(100)), Some(false));
        assert_eq!(equal.evenly(index, Affine::uniform(132)), Some(false));
        assert_eq!(equal.evenly(index, Affine::uniform(131)), None);
        assert_eq!(equal.evenly(index, index), None);
    }
}
