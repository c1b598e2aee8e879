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
//! # All of Rust's formatting
//!
//! [`print_full!`] and [`println_full!`] leave the formatting to `core::fmt`, and so print whatever is `Display` or `Debug`, with every
//! option, in any number. They too print a line in one piece, of up to 1019 bytes; a longer one ends with `…`. A NUL in it is
//! printed as `␀`. The price is tens of kilobytes of PTX, 1 KiB of local memory and many registers: for looking into a kernel,
//! not for leaving in it.
//!
//! ```no_run
//! # use cuda_std::{println_full, thread};
//! #[derive(Debug)]
//! struct Cell { row: u32, value: Option<i128> }
//!
//! let cell = Cell { row: thread::index_1d(), value: Some(-1) };
//! println_full!("{cell:#?} is {:^20}", "centred");
//! ```
//!
//! `core::fmt` calls functions through pointers, which may come back to it, so nobody knows before the launch how much stack a kernel with it
//! needs, and the GPU gives what the context says: 1 KiB a thread unless the host asks for more, which floating-point numbers and panics with
//! values in the same module need. Too little is an illegal address, error 700; the emulator says which functions take how much. 16 KiB
//! for each thread that can run at once, with `cuda_host` and with `cust`:
//!
//! ```ignore
//! device.set_stack_limit(16 << 10)?;
//! CurrentContext::set_resource_limit(ResourceLimit::StackSize, 16 << 10)?;
//! ```
//!
//! On the host all four macros print to standard output with Rust's own formatting.
//!
//! # Assertions
//!
//! `assert!` is core's. [`assert_eq!`] and [`assert_ne!`] report, in device code, the two expressions as written; import
//! them by name. Core's, which need no import, report the two values, for which kernels take a few kilobytes more.

mod format;
#[cfg(any(target_arch = "nvptx64", test))]
mod full;
mod value;

pub use crate::{assert_eq, assert_ne, print, print_full, println, println_full};

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

    /// Prints with `core::fmt`.
    #[cfg(target_arch = "nvptx64")]
    #[inline(never)]
    pub fn print_full(arguments: core::fmt::Arguments<'_>, is_line: bool) {
        let buffer = super::full::Buffer::of(arguments, is_line);
        let text = buffer.bytes().as_ptr();
        // SAFETY: both texts end with NUL; the format string reads the address of the one.
        unsafe { core::arch::nvptx::vprintf(c"%s".as_ptr().cast(), (&raw const text).cast()) };
    }

    /// Prints on the host.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn print_full(arguments: core::fmt::Arguments<'_>, is_line: bool) {
        if is_line {
            std::println!("{arguments}");
        } else {
            std::print!("{arguments}");
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

/// Prints with all of Rust's formatting, which takes tens of kilobytes of PTX; see [`io`](crate::io#all-of-rusts-formatting).
#[macro_export]
macro_rules! print_full {
    ($($arguments:tt)*) => {
        $crate::io::__private::print_full(::core::format_args!($($arguments)*), false)
    };
}

/// Prints a line with all of Rust's formatting, which takes tens of kilobytes of PTX; see [`io`](crate::io#all-of-rusts-formatting).
#[macro_export]
macro_rules! println_full {
    () => {
        $crate::println!()
    };
    ($($arguments:tt)+) => {
        $crate::io::__private::print_full(::core::format_args!($($arguments)+), true)
    };
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
