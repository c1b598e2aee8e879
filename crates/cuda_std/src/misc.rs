//! Clock, breakpoint, profiler triggers.

use crate::gpu_only;

/// Stops in the debugger; without one the launch fails. PTX: `brkpt`.
#[inline(always)]
#[gpu_only]
pub fn breakpoint() {
    // SAFETY: stops the thread.
    unsafe { core::arch::asm!("brkpt;", options(nomem, nostack, preserves_flags)) }
}

/// Counts one event of the profiler's trigger `N` (0 to 15). PTX: `pmevent`, PTX ISA 1.4.
#[inline(always)]
#[gpu_only]
pub fn profiler_event<const N: u32>() {
    const { assert!(N < 16, "the profiler has triggers 0 to 15") };
    // SAFETY: counts an event, nothing else.
    unsafe { core::arch::asm!("pmevent {};", const N, options(nomem, nostack, preserves_flags)) }
}

/// Counts one event of the profiler's trigger `counter`, 0 to 7; other numbers do nothing.
///
/// The trigger's number is part of the instruction, so this is a choice between eight of them:
/// [`profiler_event`] is one instruction.
#[inline(always)]
#[gpu_only]
pub fn profiler_counter(counter: u32) {
    match counter {
        0 => profiler_event::<0>(),
        1 => profiler_event::<1>(),
        2 => profiler_event::<2>(),
        3 => profiler_event::<3>(),
        4 => profiler_event::<4>(),
        5 => profiler_event::<5>(),
        6 => profiler_event::<6>(),
        7 => profiler_event::<7>(),
        _ => {}
    }
}

/// The multiprocessor's cycle counter: differences between two readings of one thread are cycles.
///
/// PTX: `%clock64`, PTX ISA 2.0, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register. Not `pure` and not `nomem`: readings stay where they are among memory accesses.
    unsafe {
        core::arch::asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack, preserves_flags))
    };
    cycles
}
