//! From `panic!` to `__assertfail`.

use core::arch::asm;
use core::arch::nvptx::{__assert_fail, trap};
use core::mem::MaybeUninit;
use core::panic::{Location, PanicInfo, PanicMessage};
use core::sync::atomic::{AtomicU64, Ordering};

use super::message::{self, Module, Pair};
use super::tag::Tag;
use super::text::Text;
use super::value::decimal;
use crate::intrinsics::builder_says;

/// Stands where a message has run-time values in it that are not shown.
const UNFORMATTED: &str = "a panic with run-time values in its message";

unsafe extern "C" {
    /// The tag of a formatter, by its address. Defined by `cuda_builder`, as the next one.
    safe fn __cuda_std_formatter_tag(formatter: usize) -> usize;
    /// The kinds of values that messages have.
    safe fn __cuda_std_message_kinds() -> u32;
}

/// The module that is being built.
struct ThisModule;

impl Module for ThisModule {
    #[inline(always)]
    fn tag_of(formatter: usize) -> Tag {
        Tag(__cuda_std_formatter_tag(formatter))
    }

    #[inline(always)]
    fn has(kind: u32) -> bool {
        __cuda_std_message_kinds() & kind != 0
    }
}

// Small, so that it can be inlined into core's `panic_fmt` and that into its callers: then LLVM sees which messages have values.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // There is always one, says `core`.
    let Some(location) = info.location() else {
        // SAFETY: ends the launch.
        unsafe { trap() }
    };
    match info.message().as_str() {
        Some(text) => report(text, location),
        None if builder_says!(CONSTANT_MESSAGES) => report(UNFORMATTED, location),
        None => report_values(info.message(), location),
    }
}

/// Reports a message without values.
#[cold]
#[inline(never)]
fn report(text: &str, location: &Location<'_>) -> ! {
    let mut memory = MaybeUninit::uninit();
    let message = begin(&mut memory);
    message.push_str(text);
    fail(message, location)
}

/// Reports a message with values.
#[cold]
#[inline(never)]
fn report_values(arguments: PanicMessage<'_>, location: &Location<'_>) -> ! {
    let mut memory = MaybeUninit::uninit();
    let message = begin(&mut memory);
    if builder_says!(FULL_MESSAGES) {
        // It fails when the text does, which never does.
        let _ = core::fmt::write(message, format_args!("{arguments}"));
    } else {
        // SAFETY: a message is a reference to `fmt::Arguments`, of which `as_str` said that they are more than a text; the builder
        // says that it knows them.
        unsafe {
            let arguments: *const Pair = core::mem::transmute(arguments);
            message::write::<ThisModule>(message, *arguments);
        }
    }
    fail(message, location)
}

/// Reports an index error. `cuda_builder` has it called instead of core's `panic_bounds_check`: most kernels panic for no other
/// reason, and so need nothing that reads messages.
#[cold]
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __cuda_std_index_error(index: usize, len: usize, location: &Location<'_>) -> ! {
    let mut memory = MaybeUninit::uninit();
    let message = begin(&mut memory);
    message.push_str("index out of bounds: the len is ");
    decimal(message, len as u64);
    message.push_str(" but the index is ");
    decimal(message, index as u64);
    fail(message, location)
}

impl core::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

/// The last launch that panicked: its `%gridid`, and a bit that is set whatever that may be.
///
/// The emulator knows it by its name: blocks that it runs at the same time may each set it.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Begins the message of the one thread of the launch that reports, and ends the others. Thousands of threads may panic for the same
/// reason, and the driver prints each `__assertfail`. That one ends the launch, so nobody waits for those that have left.
#[inline(never)]
fn begin(memory: &mut MaybeUninit<Text>) -> &mut Text {
    let (lanes, below, grid): (u32, u32, u64);
    // SAFETY: reads registers (PTX ISA, "activemask", "Special Registers").
    unsafe {
        asm!("activemask.b32 {};", out(reg32) lanes, options(nomem, nostack));
        asm!("mov.u32 {}, %lanemask_lt;", out(reg32) below, options(nomem, nostack));
        asm!("mov.u64 {}, %gridid;", out(reg64) grid, options(nomem, nostack));
    }
    let mine = grid | 1 << 63;
    if lanes & below != 0 || REPORTED.swap(mine, Ordering::Relaxed) == mine {
        // SAFETY: the thread ends (PTX ISA, "exit").
        unsafe { asm!("exit;", options(noreturn)) }
    }
    Text::new(memory)
}

/// Hands the panic to the driver, which never returns.
#[inline(never)]
fn fail(message: &mut Text, location: &Location<'_>) -> ! {
    message.finish();
    // The driver prints it where C has the function's name.
    message.begin_second();
    message.push_str("kernel panic at column ");
    decimal(message, u64::from(location.column()));
    message.finish_second();
    if builder_says!(PANIC_RECORD) {
        // SAFETY: the message ends with NUL, and one thread of the launch comes here.
        unsafe { crate::panic_record::write(message.first(), location) };
    }
    // SAFETY: all texts end with NUL and live until the thread ends.
    unsafe {
        let file = location.file_as_c_str().as_ptr().cast();
        __assert_fail(message.first(), file, location.line(), message.second());
        trap()
    }
}
