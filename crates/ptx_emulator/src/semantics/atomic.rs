//! What `atom` and `red` compute where it differs from the plain instruction (PTX ISA, sections "Parallel
//! Synchronization and Communication Instructions: `atom`" and "`red`").
//!
//! The other operations are the plain ones: integer `add`, `min`, `max` and the bitwise ones; `.noftz` f16 and bf16 `add`, `min`,
//! `max` are those of [`super::half`] in the default mode; `exch` and `cas` move bits.

use super::rounding::{FloatMode, Rounding};

/// `atom.inc.u32`: one more, 0 after `limit` or beyond it.
#[inline]
#[must_use]
pub const fn inc_u32(memory: u32, limit: u32) -> u32 {
    if memory >= limit { 0 } else { memory + 1 }
}

/// `atom.dec.u32`: one less, `limit` after 0 or from beyond `limit`.
#[inline]
#[must_use]
pub const fn dec_u32(memory: u32, limit: u32) -> u32 {
    if memory == 0 || memory > limit { limit } else { memory - 1 }
}

/// `atom.global.add.f32`, also `.v2.f32` and through a generic address of global memory: subnormal inputs
/// and results become zero of the same sign, without any `.ftz` in sight.
#[inline]
#[must_use]
pub fn global_add_f32(memory: f32, operand: f32) -> f32 {
    super::f32::add_with(
        memory,
        operand,
        FloatMode { rounding: Rounding::NearestEven, ftz: true, sat: false },
    )
}

/// `atom.shared.add.f32`, also through a generic address of shared or local memory: subnormals stay.
#[inline]
#[must_use]
pub fn shared_add_f32(memory: f32, operand: f32) -> f32 {
    super::f32::add(memory, operand)
}

/// `atom.global.add.f64`: a NaN is handed on without being made quiet, the operand's before the memory's (recorded).
#[inline]
#[must_use]
pub fn global_add_f64(memory: f64, operand: f64) -> f64 {
    if operand.is_nan() {
        operand
    } else if memory.is_nan() {
        memory
    } else {
        super::f64::add(memory, operand)
    }
}

/// `atom.shared.add.f64`: a NaN is made quiet, the memory's goes before the operand's (recorded).
#[inline]
#[must_use]
pub fn shared_add_f64(memory: f64, operand: f64) -> f64 {
    super::f64::add(operand, memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_at_their_limit() {
        assert_eq!(
            (inc_u32(9, 10), inc_u32(10, 10), inc_u32(11, 10), inc_u32(u32::MAX, u32::MAX)),
            (10, 0, 0, 0)
        );
        assert_eq!(
            (dec_u32(1, 10), dec_u32(0, 10), dec_u32(11, 10), dec_u32(10, 10)),
            (0, 10, 10, 9)
        );
    }

    #[test]
    fn only_global_memory_flushes() {
        let tiny = f32::from_bits(0x8000_0005);
        assert_eq!(global_add_f32(tiny, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(shared_add_f32(tiny, -0.0).to_bits(), 0x8000_0005);
        assert_eq!(
            global_add_f32(f32::MIN_POSITIVE, -f32::from_bits(0x0080_0001)).to_bits(),
            0x8000_0000
        );
    }

    #[test]
    fn nan_of_double_sums() {
        let (memory, operand) =
            (f64::from_bits(0x7ff0_0000_0000_0001), f64::from_bits(0xfff0_0000_0000_0002));
        assert_eq!(global_add_f64(memory, operand).to_bits(), 0xfff0_0000_0000_0002);
        assert_eq!(global_add_f64(memory, 1.0).to_bits(), 0x7ff0_0000_0000_0001);
        assert_eq!(shared_add_f64(memory, operand).to_bits(), 0x7ff8_0000_0000_0001);
        assert_eq!(
            global_add_f64(f64::INFINITY, f64::NEG_INFINITY).to_bits(),
            0xfff8_0000_0000_0000
        );
    }
}
