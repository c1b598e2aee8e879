//! Printing from kernels, and assertions.
//!
//! [`print!`] and [`println!`] take Rust's format strings and become one call of CUDA's `vprintf` each, so that a line is
//! never torn by another thread's. What a kernel prints appears on the host's standard output when the host next
//! synchronises; the GPU keeps at most a few megabytes until then (`cuCtxGetLimit`: the printf FIFO's size) and drops the oldest.
//!
//! ```no_run
//! # use cuda_std::{println, thread};
//! let i = thread::index_1d();
//! let x = 0.5_f32;
//! println!("thread {i}: x = {x:.3}, bits {:#010x}", x.to_bits());
//! ```
//!
//! # What can be printed
//!
//! | in the braces | types | differs from Rust |
//! | --- | --- | --- |
//! | `{}` | integers of up to 64 bits, `bool`, `char`, `&str` | a `&str` is cut off after 255 bytes, and at a NUL |
//! | `{}`, `{:?}` | `f32`, `f64` | C's `%.7g` and `%.15g`: 7 and 15 significant digits, large numbers with exponent, `nan` |
//! | `{:.3}` | `f32`, `f64` | |
//! | `{:?}` | the same and raw pointers | texts in quotes, but without escapes |
//! | `{:e}`, `{:E}` | `f32`, `f64` | C's form, `1.500000e+00` |
//! | `{:x}`, `{:X}`, `{:o}` | integers of up to 64 bits | |
//! | `{:p}` | pointers, references | |
//!
//! Width, `<`, `>`, `+`, `0`, `#` and precision mean what they mean in Rust, as numbers in the string. What C's `printf` has
//! no counterpart for (`^`, fill characters, `{:b}`, `{:#?}`, widths from arguments) is a compile error, as is a type that
//! is not in the table. At most 32 values.
//!
//! On the host the macros print to standard output with Rust's own formatting.
//!
//! # Assertions
//!
//! `assert!` is core's. [`assert_eq!`] and [`assert_ne!`] report, in device code, the two expressions as written; import
//! them by name. Core's, which need no import, have only their place in the report, since kernels format no values.

mod format;
mod value;

pub use crate::{assert_eq, assert_ne, print, println};

/// For the output of `print!`.
#[doc(hidden)]
pub mod __private {
    pub use super::format::{Align, Classes, Conversion, Kind, Piece, c_format};
    pub use super::value::{Slots, address, debug, digits, exponent, plain};

    /// A format string, as a type: constants of generic functions can depend on types alone.
    pub trait Format {
        /// The parsed string.
        const PIECES: &'static [Piece];
    }

    /// Prints `COUNT` values with one call of `vprintf`; the C format string has at most `N` bytes with its NUL.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub fn print<F: Format, const N: usize, const COUNT: usize, S: Slots>(values: &S) {
        use core::mem::MaybeUninit;

        let format = const { &c_format::<N>(F::PIECES, S::CLASSES) };
        let mut buffer = [MaybeUninit::<u64>::uninit(); COUNT];
        let mut storage = MaybeUninit::uninit();
        // SAFETY: the macro counts the values; the format string ends with NUL and reads 8 bytes for each of them.
        unsafe {
            values.store(buffer.as_mut_ptr().cast(), &mut storage);
            core::arch::nvptx::vprintf(format.as_ptr(), buffer.as_ptr().cast());
        }
    }

    #[cfg(all(test, unix, target_arch = "x86_64"))]
    pub use super::tests::{host_print, print};

    /// Checks the format string against the types, so that the host build finds what the device build would.
    #[cfg(not(any(target_arch = "nvptx64", all(test, unix, target_arch = "x86_64"))))]
    #[inline(always)]
    pub fn print<F: Format, const N: usize, const COUNT: usize, S: Slots>(_values: &S) {
        let _: &[u8; N] = const { &c_format::<N>(F::PIECES, S::CLASSES) };
    }

    /// Prints on the host.
    #[cfg(not(any(target_arch = "nvptx64", all(test, unix, target_arch = "x86_64"))))]
    pub fn host_print(text: core::fmt::Arguments<'_>) {
        std::print!("{text}");
    }
}

/// Panics unless two expressions are equal. The message shows the expressions, not their values.
#[cfg(target_arch = "nvptx64")]
#[macro_export]
macro_rules! assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    // A literal, not `stringify!`: its braces would be places for values.
                    ::core::panic!($crate::__assertion_text!($left, ==, $right));
                }
            }
        }
    };
    ($left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    ::core::panic!($($message)+);
                }
            }
        }
    };
}

/// Panics if two expressions are equal. The message shows the expressions, not their values.
#[cfg(target_arch = "nvptx64")]
#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => {
                if *left == *right {
                    // A literal, not `stringify!`: its braces would be places for values.
                    ::core::panic!($crate::__assertion_text!($left, !=, $right));
                }
            }
        }
    };
    ($left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if *left == *right {
                    ::core::panic!($($message)+);
                }
            }
        }
    };
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
mod tests;
