//! Row functions of rows that are the same in all lanes, or rise evenly from lane to lane.

use super::warp::{Frame, Warp};
use crate::registers::Affine;
use crate::row::{Class, RowFn, Rows, Rule, Shape};

impl Warp {
    /// What is known about the lanes of `mask` of one of a function's sources.
    #[inline(always)]
    fn source(
        &self,
        frame: &Frame,
        shape: Shape,
        s: &[u32; 4],
        at: usize,
        mask: u32,
    ) -> Option<Affine> {
        if shape.wide >> at & 1 == 0 {
            self.r32.affine(frame.base32 + s[at], mask)
        } else {
            self.r64.affine(frame.base64 + s[at], mask)
        }
    }

    /// Executes a row function where what is known about its sources is enough. False: all lanes have to be computed.
    #[inline(always)]
    pub(super) fn row_evenly(&mut self, frame: &Frame, f: &RowFn, rows: &Rows, mask: u32) -> bool {
        let s = &rows.s;
        // The commonest of all have code of their own.
        match f.rule {
            Rule::Add64 => {
                let a = self.r64.affine(frame.base64 + s[0], mask);
                let b = self.r64.affine(frame.base64 + s[1], mask);
                let (Some(a), Some(b)) = (a, b) else {
                    return false;
                };
                self.r64.set_affine(frame.base64 + rows.d, sum(a, b), mask);
                true
            }
            Rule::Add32 => {
                let a = self.r32.affine(frame.base32 + s[0], mask);
                let b = self.r32.affine(frame.base32 + s[1], mask);
                let (Some(a), Some(b)) = (a, b) else {
                    return false;
                };
                self.r32.set_affine(frame.base32 + rows.d, sum(a, b), mask);
                true
            }
            _ => {
                if self.source(frame, f.shape, s, 0, mask).is_none() {
                    return false;
                }
                let Some(value) = self.evenly(frame, f, s, mask) else {
                    return false;
                };
                match f.shape.result {
                    Class::R => self.r32.set_affine(frame.base32 + rows.d, value, mask),
                    _ => self.r64.set_affine(frame.base64 + rows.d, value, mask),
                }
                true
            }
        }
    }

    /// The result of a comparison of two numbers that are the same in all lanes.
    #[inline(always)]
    pub(super) fn compare_evenly(
        &self,
        frame: &Frame,
        f: &RowFn,
        rows: &Rows,
        mask: u32,
    ) -> Option<u32> {
        // Tests of one number (`testp`) have no second source, not even a row that could be read in its place.
        if f.shape.sources != 2 {
            return None;
        }
        let a = self.source(frame, f.shape, &rows.s, 0, mask)?;
        let b = self.source(frame, f.shape, &rows.s, 1, mask)?;
        let same = a.is_uniform() && b.is_uniform();
        same.then(|| if f.code.one([a.base, b.base, 0, 0]) == 0 { 0 } else { u32::MAX })
    }

    /// The result of a row function where all that counts about its sources is known.
    pub(super) fn evenly(
        &self,
        frame: &Frame,
        f: &RowFn,
        s: &[u32; 4],
        mask: u32,
    ) -> Option<Affine> {
        let shape = f.shape;
        let a = self.source(frame, shape, s, 0, mask)?;
        match shape.sources {
            1 => one_source(f, a),
            2 => two_sources(f, a, self.source(frame, shape, s, 1, mask)?),
            3 => {
                let b = self.source(frame, shape, s, 1, mask)?;
                three_sources(f, a, b, self.source(frame, shape, s, 2, mask)?)
            }
            _ => {
                let b = self.source(frame, shape, s, 1, mask)?;
                let c = self.source(frame, shape, s, 2, mask)?;
                one(f, [a, b, c, self.source(frame, shape, s, 3, mask)?])
            }
        }
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
        Rule::Add32 | Rule::Add64 => Some(sum(a, b)),
        Rule::Sub32 | Rule::Sub64 => Some(Affine {
            base: a.base.wrapping_sub(b.base),
            stride: a.stride.wrapping_sub(b.stride),
            step: a.step.wrapping_sub(b.step),
        }),
        Rule::Mul => product(a, b),
        Rule::MulWideUnsigned => product(widen_unsigned(a)?, widen_unsigned(b)?),
        Rule::MulWideSigned => product(widen_signed(a)?, widen_signed(b)?),
        Rule::Shl32 => shifted(a, b, 32),
        Rule::Shl64 => shifted(a, b, 64),
        Rule::Or32 => or(a, b, 32).or_else(|| one(f, [a, b, b, b])),
        Rule::Or64 => or(a, b, 64).or_else(|| one(f, [a, b, b, b])),
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
    Some(sum(product, c))
}

/// Any function of sources that are the same in all lanes.
fn one(f: &RowFn, sources: [Affine; 4]) -> Option<Affine> {
    let same = sources.iter().all(|source| source.is_uniform());
    same.then(|| Affine::uniform(f.code.one(sources.map(|source| source.base))))
}

#[inline(always)]
fn sum(a: Affine, b: Affine) -> Affine {
    Affine {
        base: a.base.wrapping_add(b.base),
        stride: a.stride.wrapping_add(b.stride),
        step: a.step.wrapping_add(b.step),
    }
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

fn shifted(a: Affine, b: Affine, bits: u64) -> Option<Affine> {
    if !b.is_uniform() {
        return None;
    }
    // Amounts are 32-bit numbers, and those beyond the width shift everything out (PTX ISA, `shl`).
    let amount = b.base & 0xFFFF_FFFF;
    Some(if amount >= bits {
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
