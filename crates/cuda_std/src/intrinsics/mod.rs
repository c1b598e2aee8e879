//! NVIDIA's libdevice functions, by their names without `__nv_`.
//!
//! Every function exists with and without libdevice. Which one a kernel gets is `cuda_builder`'s choice: it links libdevice where it
//! finds one, and its documentation says where that is looked for. The traits [`GpuFloat`](crate::GpuFloat) and
//! [`FloatExt`](crate::FloatExt) offer most of these functions as methods.
//!
//! | kind | with libdevice | without |
//! | --- | --- | --- |
//! | mathematical functions: [`sinf`], [`pow`], [`erfcx`], … | libdevice's | the `libm` crate's, or those of this crate where it has none |
//! | one rounding mode, or an approximation: [`fadd_rz`], [`float2int_rn`], [`fast_expf`], … | PTX instructions | the same |
//! | integers and bits: [`clz`], [`byte_perm`], [`float_as_int`], … | plain Rust | the same |
//!
//! How far the results are from the exact ones is in the repository's `docs/maths.md`, measured for both.
//!
//! As in libdevice and in rust-cuda, integers are `i32` and `i64` also where a function takes them for unsigned numbers
//! ([`umax`], [`float2uint_rn`], [`brev`]), and halves are the bits of an `f16` in an `i16`. Functions whose names end in `f` are for
//! `f32`.
//!
//! | ending | rounds |
//! | --- | --- |
//! | `_rn` | to the nearest, ties to the even one |
//! | `_rz` | towards zero |
//! | `_ru` | up, towards positive infinity |
//! | `_rd` | down, towards negative infinity |
//!
//! On the host the mathematical functions and those on integers and bits compute what a kernel without libdevice computes; those that
//! are PTX instructions panic.
//!
//! ```
//! use cuda_std::intrinsics;
//!
//! assert_eq!(intrinsics::byte_perm(0x3322_1100, 0x7766_5544, 0x0123), 0x0011_2233);
//! assert_eq!(intrinsics::sinpif(1.5), -1.0);
//! ```

/// Whether the builder set one of its switches ([`switch`]), which it says by what `__nvvm_reflect` gives for its name
/// (LLVM, "User Guide for NVPTX Back-end", Reflection Parameters). It is folded before anything else, so the side not taken
/// is gone before it could be missed.
///
/// A macro, not a function: without optimisation only the function that asks is folded.
#[cfg(target_arch = "nvptx64")]
macro_rules! builder_says {
    ($SWITCH:ident) => {
        // SAFETY: never a call: it becomes a constant when the module is compiled.
        unsafe {
            $crate::intrinsics::switch::__nvvm_reflect(
                &raw const $crate::intrinsics::switch::$SWITCH as *const u8,
            ) != 0
        }
    };
}

#[cfg(target_arch = "nvptx64")]
pub(crate) use builder_says;

mod bits;
mod functions;
mod instructions;
mod pointers;

/// The builder's switches, and the function that reads them.
#[cfg(target_arch = "nvptx64")]
pub(crate) mod switch {
    unsafe extern "C" {
        pub(crate) fn __nvvm_reflect(name: *const u8) -> i32;
    }

    /// Whether libdevice is linked.
    pub(crate) static LIBDEVICE: [u8; 21] = *b"__CUDA_STD_LIBDEVICE\0";
    /// Whether f32 instructions flush subnormal numbers to zero: the name is libdevice's own.
    pub(crate) static FLUSH_TO_ZERO: [u8; 11] = *b"__CUDA_FTZ\0";
    /// Whether panics show no values in messages.
    pub(crate) static CONSTANT_MESSAGES: [u8; 29] = *b"__CUDA_STD_CONSTANT_MESSAGES\0";
    /// Whether they show all of them, by `core::fmt`.
    pub(crate) static FULL_MESSAGES: [u8; 25] = *b"__CUDA_STD_FULL_MESSAGES\0";
    /// Whether panics are left in memory of the host.
    pub(crate) static PANIC_RECORD: [u8; 24] = *b"__CUDA_STD_PANIC_RECORD\0";
}

pub use bits::*;
pub use functions::*;
pub use instructions::*;
pub use pointers::*;
