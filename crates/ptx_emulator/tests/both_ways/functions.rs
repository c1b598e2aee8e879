// Functions of `core` that are compiled twice: natively into the test, which includes this file, and to PTX (the
// `functions!` of the including file makes kernels of them). Each takes four 64-bit words and gives four. `exact` ones
// give the same bits everywhere; `f32` and `f64` ones give floats whose NaNs have other bits on a GPU.

functions! {
    exact u32_wrapping(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        [a.wrapping_add(b) as u64, a.wrapping_sub(b) as u64, a.wrapping_mul(b) as u64, a.wrapping_neg() as u64]
    }
    exact u32_checked(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        let bits = |value: Option<u32>| value.map_or(u64::MAX, u64::from);
        [bits(a.checked_add(b)), bits(a.checked_sub(b)), bits(a.checked_mul(b)), bits(a.checked_div(b))]
    }
    exact u32_saturating(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        [
            a.saturating_add(b) as u64,
            a.saturating_sub(b) as u64,
            a.saturating_mul(b) as u64,
            a.checked_rem(b).map_or(7, u64::from),
        ]
    }
    exact u32_bits(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        [
            (a.leading_zeros() | a.trailing_zeros() << 8 | a.count_ones() << 16) as u64,
            (a.leading_ones() | a.trailing_ones() << 8 | a.count_zeros() << 16) as u64,
            a.rotate_left(b & 31) as u64 | (a.rotate_right(b) as u64) << 32,
            a.swap_bytes() as u64 | (a.reverse_bits() as u64) << 32,
        ]
    }
    exact u32_shifts(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        let bits = |value: Option<u32>| value.map_or(u64::MAX, u64::from);
        [a.wrapping_shl(b) as u64, a.wrapping_shr(b) as u64, bits(a.checked_shl(b)), bits(a.checked_shr(b))]
    }
    exact u32_more(x) {
        let (a, b) = (x[0] as u32, x[1] as u32);
        [
            a.abs_diff(b) as u64,
            a.checked_next_power_of_two().map_or(3, u64::from),
            a.isqrt() as u64,
            a.checked_ilog2().map_or(99, u64::from) | (a.is_power_of_two() as u64) << 32,
        ]
    }
    exact i32_wrapping(x) {
        let (a, b) = (x[0] as i32, x[1] as i32);
        let divisor = if b == 0 { 1 } else { b };
        [
            a.wrapping_div(divisor) as u64,
            a.wrapping_rem(divisor) as u64,
            a.wrapping_abs() as u64,
            a.wrapping_mul(b) as u64,
        ]
    }
    exact i32_checked(x) {
        let (a, b) = (x[0] as i32, x[1] as i32);
        let bits = |value: Option<i32>| value.map_or(1 << 63, |value| value as u64);
        [bits(a.checked_add(b)), bits(a.checked_mul(b)), bits(a.checked_div(b)), bits(a.checked_rem(b))]
    }
    exact i32_saturating(x) {
        let (a, b) = (x[0] as i32, x[1] as i32);
        [
            a.saturating_add(b) as u64,
            a.saturating_sub(b) as u64,
            a.saturating_mul(b) as u64,
            a.rem_euclid(if b == 0 || b == -1 { 3 } else { b }) as u64,
        ]
    }
    exact i32_order(x) {
        let (a, b) = (x[0] as i32, x[1] as i32);
        [a.min(b) as u64, a.max(b) as u64, a.cmp(&b) as i64 as u64, a.signum() as u64 ^ a.abs_diff(b) as u64]
    }
    exact i32_shifts(x) {
        let (a, b) = (x[0] as i32, x[1] as u32);
        [a.wrapping_shr(b) as u64, a.wrapping_shl(b) as u64, (a >> (b & 31)) as u64, a.unsigned_abs() as u64]
    }
    exact u64_wrapping(x) {
        let (a, b) = (x[0], x[1]);
        [a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.checked_div(b).unwrap_or(5)]
    }
    exact u64_checked(x) {
        let (a, b) = (x[0], x[1]);
        [
            a.checked_mul(b).unwrap_or(11),
            a.saturating_mul(b),
            a.overflowing_add(b).1 as u64 | (a.overflowing_sub(b).1 as u64) << 1,
            a.checked_rem(b).unwrap_or(13),
        ]
    }
    exact u64_bits(x) {
        let (a, b) = (x[0], x[1]);
        [
            (a.leading_zeros() | a.trailing_zeros() << 8 | a.count_ones() << 16) as u64,
            a.rotate_left(b as u32),
            a.reverse_bits(),
            a.swap_bytes() ^ a.wrapping_shr(b as u32) ^ a.isqrt(),
        ]
    }
    exact i64_arithmetic(x) {
        let (a, b) = (x[0] as i64, x[1] as i64);
        let divisor = if b == 0 { 1 } else { b };
        [
            a.wrapping_div(divisor) as u64,
            a.wrapping_rem(divisor) as u64,
            a.saturating_add(b) as u64,
            a.checked_mul(b).map_or(17, |value| value as u64),
        ]
    }
    exact i64_more(x) {
        let (a, b) = (x[0] as i64, x[1] as i64);
        [
            a.min(b).wrapping_abs() as u64,
            a.saturating_sub(b) as u64,
            a.wrapping_shr(b as u32) as u64,
            a.div_euclid(if b == 0 || b == -1 { 7 } else { b }) as u64,
        ]
    }
    exact i128_arithmetic(x) {
        let a = (x[0] as u128 | (x[1] as u128) << 64) as i128;
        let b = (x[2] as u128 | (x[3] as u128) << 64) as i128;
        let (sum, product) = (a.wrapping_add(b), a.wrapping_mul(b));
        [sum as u64, (sum >> 64) as u64, product as u64, (product >> 64) as u64]
    }
    exact i128_division(x) {
        let a = (x[0] as u128 | (x[1] as u128) << 64) as i128;
        let b = (x[2] as u128 | (x[3] as u128) << 64) as i128;
        let divisor = if b == 0 { 1 } else { b };
        let (quotient, rest) = (a.wrapping_div(divisor), a.wrapping_rem(divisor));
        [quotient as u64, (quotient >> 64) as u64, rest as u64, (rest >> 64) as u64]
    }
    exact u128_shifts(x) {
        let a = x[0] as u128 | (x[1] as u128) << 64;
        let n = x[2] as u32;
        let (left, right) = (a.wrapping_shl(n), a.wrapping_shr(n));
        [left as u64, (left >> 64) as u64, right as u64, (right >> 64) as u64 ^ a.leading_zeros() as u64]
    }
    exact narrow(x) {
        let (a, b) = (x[0] as u8, x[1] as u8);
        let (c, d) = (x[0] as i16, x[1] as i16);
        [
            a.saturating_add(b) as u64 | (a.wrapping_mul(b) as u64) << 8 | (a.rotate_left(3) as u64) << 16,
            (a as i8).saturating_sub(b as i8) as u64,
            c.saturating_add(d) as u64,
            c.checked_mul(d).map_or(19, |value| value as u64) ^ (c.leading_zeros() as u64) << 48,
        ]
    }
    exact f32_to_int(x) {
        let a = f32::from_bits(x[0] as u32);
        [a as i32 as u64 | (a as u8 as u64) << 40, a as u32 as u64, a as i64 as u64, a as u64]
    }
    exact f64_to_int(x) {
        let a = f64::from_bits(x[0]);
        [a as i32 as u64 | (a as i8 as u8 as u64) << 40, a as u32 as u64, a as i64 as u64, a as u64]
    }
    exact int_to_f32(x) {
        let float = |value: f32| value.to_bits() as u64;
        [float(x[0] as f32), float(x[0] as i64 as f32), float(x[0] as i32 as f32), float(x[0] as u32 as f32)]
    }
    exact int_to_f64(x) {
        [
            (x[0] as f64).to_bits(),
            (x[0] as i64 as f64).to_bits(),
            (x[0] as i32 as f64).to_bits(),
            (x[0] as u8 as f64).to_bits(),
        ]
    }
    exact float_order(x) {
        let (a, b) = (f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
        let (c, d) = (f64::from_bits(x[0]), f64::from_bits(x[1]));
        let relation = |less: bool, equal: bool, more: bool| less as u64 | (equal as u64) << 1 | (more as u64) << 2;
        [
            a.total_cmp(&b) as i64 as u64,
            c.total_cmp(&d) as i64 as u64,
            relation(a < b, a == b, a >= b) | relation(c <= d, c != d, c > d) << 8,
            a.partial_cmp(&b).map_or(9, |order| order as i64 as u64),
        ]
    }
    exact float_bits(x) {
        let (a, b) = (f32::from_bits(x[0] as u32), f64::from_bits(x[1]));
        [
            (a.is_nan() as u64) | (a.is_finite() as u64) << 1 | (a.is_normal() as u64) << 2 | (a.is_sign_negative() as u64) << 3,
            (b.is_nan() as u64) | (b.is_infinite() as u64) << 1 | (b.is_subnormal() as u64) << 2,
            (a.to_bits() ^ 1) as u64,
            b.to_bits().rotate_left(7),
        ]
    }
    f32 f32_arithmetic(x) {
        let (a, b) = (f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
        [(a + b).to_bits() as u64, (a - b).to_bits() as u64, (a * b).to_bits() as u64, (a / b).to_bits() as u64]
    }
    f32 f32_more(x) {
        let (a, b) = (f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
        // Adding zero makes the sign of a zero certain, which `min` leaves open.
        [
            (a.min(b) + 0.0).to_bits() as u64,
            (a.max(b) + 0.0).to_bits() as u64,
            (a.abs() * b.signum()).to_bits() as u64,
            (a as f64 as f32).to_bits() as u64,
        ]
    }
    f64 f64_arithmetic(x) {
        let (a, b) = (f64::from_bits(x[0]), f64::from_bits(x[1]));
        [(a + b).to_bits(), (a - b).to_bits(), (a * b).to_bits(), (a / b).to_bits()]
    }
    f64 f64_more(x) {
        let (a, b) = (f64::from_bits(x[0]), f64::from_bits(x[1]));
        [
            (a.min(b) + 0.0).to_bits(),
            (a.max(b) + 0.0).to_bits(),
            a.copysign(b).abs().to_bits(),
            (a.recip() - b).to_bits(),
        ]
    }
    f32 f64_to_f32(x) {
        let (a, b) = (f64::from_bits(x[0]), f64::from_bits(x[1]));
        [
            (a as f32).to_bits() as u64,
            (b as f32).to_bits() as u64,
            ((a * b) as f32).to_bits() as u64,
            ((a as f32) + (b as f32)).to_bits() as u64,
        ]
    }
}
