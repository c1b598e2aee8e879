//! `mma` of integers and of single bits: exact sums.

use super::Shape;

/// How the integers of the two multiplicands are read, and what happens beyond 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integers {
    /// Width of an element of A and of B, bits: 8 or 4.
    pub bits: u32,
    /// `.s8`, `.s4` for A, otherwise `.u8`, `.u4`.
    pub a_signed: bool,
    /// The same for B.
    pub b_signed: bool,
    /// `.satfinite`: the result is clamped to the range of s32; without it, it wraps.
    pub saturate: bool,
}

impl Integers {
    fn read(self, element: u32, signed: bool) -> i64 {
        let unused = 32 - self.bits.clamp(1, 32);
        if signed {
            i64::from((element << unused) as i32 >> unused)
        } else {
            i64::from(element << unused >> unused)
        }
    }
}

/// `mma` with `.s8`, `.u8`, `.s4` or `.u4` multiplicands, an element in the low bits of each number.
#[must_use]
pub fn multiply_integers(
    shape: Shape,
    integers: Integers,
    a: &[u32],
    b: &[u32],
    c: &[u32],
) -> Vec<u32> {
    shape.each(a, b, c, |row, column, c| {
        let product = |(a, b): (&u32, &u32)| {
            integers.read(*a, integers.a_signed) * integers.read(*b, integers.b_signed)
        };
        let sum = i64::from(c as i32) + row.iter().zip(column).map(product).sum::<i64>();
        if integers.saturate {
            sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
        } else {
            sum as u32
        }
    })
}

/// How single bits are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOperation {
    /// `.and.popc`
    And,
    /// `.xor.popc`
    Xor,
}

/// `mma` with `.b1` multiplicands, one bit a number.
#[must_use]
pub fn multiply_bits(
    shape: Shape,
    operation: BitOperation,
    a: &[u32],
    b: &[u32],
    c: &[u32],
) -> Vec<u32> {
    shape.each(a, b, c, |row, column, c| {
        let product = |(a, b): (&u32, &u32)| match operation {
            BitOperation::And => a & b & 1,
            BitOperation::Xor => (a ^ b) & 1,
        };
        row.iter().zip(column).map(product).fold(c, u32::wrapping_add)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Shape = Shape { m: 1, n: 1, k: 2 };

    #[test]
    fn signs_and_widths() {
        let dot = |bits, a_signed, b_signed| {
            let integers = Integers { bits, a_signed, b_signed, saturate: false };
            multiply_integers(ONE, integers, &[0xFF, 0x7], &[0xFE, 0x2], &[100])[0] as i32
        };
        assert_eq!(dot(8, true, true), 2 + 14 + 100);
        assert_eq!(dot(8, true, false), -254 + 14 + 100);
        assert_eq!(dot(8, false, true), -510 + 14 + 100);
        assert_eq!(dot(8, false, false), 255 * 254 + 14 + 100);
        assert_eq!(dot(4, true, true), 2 + 14 + 100);
        assert_eq!(dot(4, false, false), 15 * 14 + 14 + 100);
    }

    #[test]
    fn beyond_32_bits() {
        let limit = i32::MAX as u32;
        let dot = |saturate| {
            let integers = Integers { bits: 8, a_signed: true, b_signed: true, saturate };
            let up = multiply_integers(ONE, integers, &[2, 3], &[4, 5], &[limit])[0];
            let back = multiply_integers(ONE, integers, &[2, 0xFF], &[4, 9], &[limit])[0];
            let down = multiply_integers(ONE, integers, &[0xFF, 0], &[4, 5], &[limit + 1])[0];
            (up, back, down)
        };
        // The clamp comes after the whole sum, not after each product.
        assert_eq!(dot(true), (limit, limit - 1, limit + 1));
        assert_eq!(dot(false), (limit.wrapping_add(23), limit - 1, limit - 3));
    }

    #[test]
    fn bits() {
        let dot = |operation| multiply_bits(ONE, operation, &[1, 0], &[1, 1], &[u32::MAX])[0];
        assert_eq!((dot(BitOperation::And), dot(BitOperation::Xor)), (0, 0));
        assert_eq!(multiply_bits(ONE, BitOperation::Xor, &[1, 1], &[0, 0], &[5]), [7]);
    }
}
