//! Lanes with equal values.

use crate::gpu_only;

/// LLVM's own intrinsics, convergent as those of [`super`].
#[cfg(target_arch = "nvptx64")]
mod intrinsic {
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.match.any.sync.i32"]
        pub(super) fn any_32(mask: u32, value: u32) -> u32;
        #[link_name = "llvm.nvvm.match.any.sync.i64"]
        pub(super) fn any_64(mask: u32, value: u64) -> u32;
    }
}

mod sealed {
    pub trait Bits: Copy {
        /// Whether it takes the 64-bit instruction.
        const WIDE: bool;
        fn bits(self) -> u64;
    }
}

/// A value that lanes can be compared by. Floating-point numbers are compared bit by bit: a NaN equals itself, and -0.0 and
/// 0.0 differ.
pub trait WarpMatchValue: sealed::Bits {}

macro_rules! matching {
    ($($T:ty, $WIDE:literal, $bits:expr);+ $(;)?) => {$(
        impl sealed::Bits for $T {
            const WIDE: bool = $WIDE;
            #[inline(always)]
            fn bits(self) -> u64 {
                let bits: fn($T) -> u64 = $bits;
                bits(self)
            }
        }
        impl WarpMatchValue for $T {}
    )+};
}

matching! {
    u32, false, u64::from;
    i32, false, |value| u64::from(value.cast_unsigned());
    f32, false, |value| u64::from(value.to_bits());
    u64, true, |value| value;
    i64, true, i64::cast_unsigned;
    f64, true, f64::to_bits;
}

/// The lanes of `mask` that have the same value as this one, as a mask.
///
/// PTX: `match.any.sync.b32` or `.b64`, PTX ISA 6.0, sm_70.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    let bits = value.bits();
    if T::WIDE {
        // SAFETY: the caller's promise.
        unsafe { intrinsic::any_64(mask, bits) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { intrinsic::any_32(mask, bits as u32) }
    }
}

/// `mask` if all of its lanes have the same value, else `None`.
///
/// PTX: `match.any.sync.b32` or `.b64` and a comparison, PTX ISA 6.0, sm_70.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's promise.
    let same = unsafe { warp_match_any(mask, value) };
    (same == mask).then_some(mask)
}
