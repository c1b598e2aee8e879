//! Clocks, hints, ends.

use cuda_std::misc::*;
use cuda_std::prelude::*;

/// What clocks and registers say, each as 1 if it makes sense.
#[kernel]
pub unsafe fn clocks(out: *mut [u32; 4]) {
    let (start, nanoseconds, cycles) = (clock32(), globaltimer(), clock());
    thread::nanosleep(2000);
    let short = clock32().wrapping_sub(start);
    let long = clock() - cycles;
    let passed = globaltimer() - nanoseconds;
    unsafe {
        *out.add(thread::index_1d() as usize) = [
            u32::from(short > 0 && u64::from(short) < 1 << 31),
            u32::from(long > 0),
            u32::from(nanoseconds > 0 && passed < 1_000_000_000),
            u32::from(smid() < nsmid()),
        ];
    }
}

/// Hints change no value: the integer part of a logarithm, by cases.
#[kernel]
pub unsafe fn hinted(values: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    if unlikely(i >= values.len()) {
        return;
    }
    let value = values[i];
    // SAFETY: the test gives nothing else.
    unsafe { assume(value % 8 == 0) };
    let result = if likely(value > 100) { value / 8 } else { value % 8 + 1 };
    unsafe { *out.add(i) = result };
}

/// Thread 5 ends the launch without a message.
#[kernel]
pub unsafe fn trapping() {
    if thread::thread_idx_x() == 5 {
        trap();
    }
}

/// Blocks of at most 96 threads, of which a multiprocessor is to hold four.
#[kernel(launch_bounds(96, 4))]
pub fn bounded(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::unique_index()) {
        *out = thread::block_dim_x();
    }
}

/// Few registers.
#[kernel(launch_bounds(1024), max_registers(32))]
pub fn with_few_registers(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::unique_index()) {
        *out = 32;
    }
}

/// Thread `at` stops for the debugger before it writes.
#[kernel]
pub unsafe fn stopping(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    if i == at {
        breakpoint();
    }
    unsafe { *out.add(i as usize) = i };
}
