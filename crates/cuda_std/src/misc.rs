//! Clocks, breakpoint, trap, profiler triggers, hints to the compiler.

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

/// The lower half of the multiprocessor's cycle counter: one instruction less than [`clock`], for short stretches (differences
/// modulo 2^32).
///
/// CUDA: `clock()`; PTX: `%clock`, PTX ISA 1.0.
#[inline]
#[must_use]
#[gpu_only]
pub fn clock32() -> u32 {
    let cycles: u32;
    // SAFETY: as in `clock`.
    unsafe {
        core::arch::asm!("mov.u32 {}, %clock;", out(reg32) cycles, options(nostack, preserves_flags))
    };
    cycles
}

/// The device's clock in nanoseconds, the same for all multiprocessors. It advances in steps, of about a microsecond on an H200.
///
/// PTX: `%globaltimer`, PTX ISA 3.1, sm_30.
#[inline]
#[must_use]
#[gpu_only]
pub fn globaltimer() -> u64 {
    let nanoseconds: u64;
    // SAFETY: as in `clock`.
    unsafe {
        core::arch::asm!("mov.u64 {}, %globaltimer;", out(reg64) nanoseconds, options(nostack, preserves_flags))
    };
    nanoseconds
}

/// The number of the multiprocessor that the thread runs on, for diagnosis: a debugger may move the thread to another one.
///
/// PTX: `%smid`, PTX ISA 1.3.
#[inline]
#[must_use]
#[gpu_only]
pub fn smid() -> u32 {
    let number: u32;
    // SAFETY: reads a special register. Not `pure`: it may change.
    unsafe {
        core::arch::asm!("mov.u32 {}, %smid;", out(reg32) number, options(nomem, nostack, preserves_flags))
    };
    number
}

/// More than the highest number that [`smid`] gives: numbers may have gaps.
///
/// PTX: `%nsmid`, PTX ISA 2.0, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn nsmid() -> u32 {
    let number: u32;
    // SAFETY: reads a special register that is the same for the whole launch.
    unsafe {
        core::arch::asm!("mov.u32 {}, %nsmid;", out(reg32) number, options(pure, nomem, nostack, preserves_flags))
    };
    number
}

/// Ends the launch with an error and no message (a `panic!` has one): `CUDA_ERROR_LAUNCH_FAILED`.
///
/// CUDA: `__trap()`; PTX: `trap`.
#[inline(always)]
#[gpu_only]
pub fn trap() -> ! {
    // SAFETY: ends the launch.
    unsafe { core::arch::nvptx::trap() }
}

/// `condition`, which is nearly always true: the compiler puts what happens otherwise out of the way.
///
/// ```
/// # use cuda_std::misc::likely;
/// # let (i, n) = (1, 2);
/// if likely(i < n) {
///     // …
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn likely(condition: bool) -> bool {
    if !condition {
        rare();
    }
    condition
}

/// `condition`, which is hardly ever true: the compiler puts what happens then out of the way.
///
/// ```
/// # use cuda_std::misc::unlikely;
/// # let denominator = 1.0;
/// if unlikely(denominator == 0.0) {
///     // …
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn unlikely(condition: bool) -> bool {
    if condition {
        rare();
    }
    condition
}

/// What is called here is taken to be called rarely.
#[cold]
#[inline(always)]
const fn rare() {}

/// Lets the compiler reckon with `condition` without computing it.
///
/// ```
/// # use cuda_std::misc::assume;
/// # let n = 64;
/// // SAFETY: the kernel's own contract.
/// unsafe { assume(n % 32 == 0) };
/// ```
///
/// CUDA: `__builtin_assume()`; Rust: [`core::hint::assert_unchecked`].
///
/// # Safety
///
/// `condition` is true.
#[inline(always)]
pub const unsafe fn assume(condition: bool) {
    // SAFETY: the caller's promise.
    unsafe { core::hint::assert_unchecked(condition) }
}
