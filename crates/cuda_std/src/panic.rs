//! The device's panic handler: says what happened and where, for each thread that panics, and stops the launch.
//!
//! It goes through `__assertfail`, the driver's half of CUDA's `assert`: the driver prints file, line, block, thread and
//! text to the host's standard error, and every later call on the context answers `CUDA_ERROR_ASSERT` (710).

use core::arch::nvptx::{__assert_fail, trap};
use core::mem::MaybeUninit;
use core::panic::{Location, PanicInfo};

/// Stands where a message has run-time values in it. Formatting is left out on purpose: `core::fmt` would add tens of
/// kilobytes, and calls through pointers, to every kernel with a bounds check in it.
const UNFORMATTED: &str =
    "index out of bounds, or another panic with run-time values in its message";

// Small, so that it can be inlined into core's `panic_fmt` and that into its callers: then LLVM sees that nobody reads the
// values of a message, and drops them together with the functions that would format them.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    report(info.message().as_str().unwrap_or(UNFORMATTED), info.location())
}

/// Hands the panic to the driver, which never returns.
#[cold]
#[inline(never)]
fn report(text: &str, location: Option<&Location<'_>>) -> ! {
    let (file, line, column) = match location {
        Some(at) => (at.file_as_c_str(), at.line(), at.column()),
        None => (c"an unknown file", 0, 0),
    };
    let mut message = [MaybeUninit::uninit(); MESSAGE_BYTES];
    let mut place = [MaybeUninit::uninit(); PLACE_BYTES];
    let message = write_message(text, &mut message);
    let place = write_place(column, &mut place);
    // SAFETY: all texts end with NUL and live until the thread ends.
    unsafe {
        if let Some(at) = location {
            crate::panic_record::write(message, at);
        }
        __assert_fail(message, file.as_ptr().cast(), line, place);
        trap()
    }
}

/// Room for a message and its NUL, in bytes; a longer one is cut off.
const MESSAGE_BYTES: usize = 256;

/// A copy of `text` with the NUL behind it that C wants.
#[inline(always)]
fn write_message(text: &str, buffer: &mut [MaybeUninit<u8>; MESSAGE_BYTES]) -> *const u8 {
    let len = text.len().min(MESSAGE_BYTES - 1);
    let start = buffer.as_mut_ptr().cast::<u8>();
    // SAFETY: `len` bytes fit, and one more behind them.
    unsafe {
        copy(text.as_ptr(), start, len);
        *start.add(len) = 0;
    }
    start
}

/// What stands before the column's number.
const PLACE: &[u8; 23] = b"kernel panic at column ";
/// [`PLACE`], the ten digits of the largest `u32`, the NUL.
const PLACE_BYTES: usize = PLACE.len() + 10 + 1;

/// `kernel panic at column N`: the driver prints it where C has the function's name.
#[inline(always)]
fn write_place(column: u32, buffer: &mut [MaybeUninit<u8>; PLACE_BYTES]) -> *const u8 {
    let start = buffer.as_mut_ptr().cast::<u8>();
    let mut at = PLACE_BYTES - 1;
    let mut rest = column;
    // SAFETY: from the end backwards: the NUL, at most ten digits, the text. Raw pointers, because a bounds check here
    // would put a second panic into the handler.
    unsafe {
        *start.add(at) = 0;
        loop {
            at -= 1;
            *start.add(at) = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        at -= PLACE.len();
        copy(PLACE.as_ptr(), start.add(at), PLACE.len());
        start.add(at)
    }
}

/// One loop for both texts: inlined, LLVM would unroll it into a load and a store for each byte.
///
/// # Safety
///
/// `len` bytes at `from` may be read and `len` bytes at `to` written; they do not overlap.
#[inline(never)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, len) }
}
