//! One kernel for each way to panic. Thread `at` of the launch does it; the line is the one the test looks for.

use cuda_std::io::assert_eq;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn index_error(values: &[u32], at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let index = if i == at { values.len() } else { 0 };
    unsafe { *out.add(i as usize) = values[index] }; // line: index
}

#[kernel]
pub fn no_element(at: u32, mut out: DisjointSlice<u32>) {
    let i = thread::unique_index();
    if i.get() == at as usize {
        out[i] = 1; // line: element
    }
}

#[kernel]
pub unsafe fn division_by_zero(divisors: &[i32], out: *mut i32) {
    let i = thread::index_1d() as usize;
    unsafe { *out.add(i) = 100 / divisors[i] }; // line: division
}

#[kernel]
pub unsafe fn explicit_panic(at: u32) {
    if thread::index_1d() == at {
        panic!("this thread gives up"); // line: explicit
    }
}

#[kernel]
pub unsafe fn unwrap_on_none(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let difference = if i == at { None } else { Some(i) };
    unsafe { *out.add(i as usize) = difference.unwrap() }; // line: unwrap
}

#[kernel]
pub unsafe fn overflow(values: &[u8], out: *mut u8) {
    let i = thread::index_1d() as usize;
    unsafe { *out.add(i) = checked_double(values[i]) };
}

fn checked_double(value: u8) -> u8 {
    // As a debug build's `+` does it.
    match value.checked_add(value) {
        Some(sum) => sum,
        None => panic!("attempt to add with overflow"), // line: overflow
    }
}

#[kernel]
pub unsafe fn unequal(values: &[u32]) {
    let i = thread::index_1d();
    assert_eq!(values[i as usize], i); // line: unequal
}

#[kernel]
pub unsafe fn cores_unequal(values: &[u32]) {
    let i = thread::index_1d();
    core::assert_eq!(values[i as usize], i); // line: cores_unequal
}

#[kernel]
pub unsafe fn formatted(at: u32) {
    let i = thread::index_1d();
    if i == at {
        panic!("thread {i} has a message with a value"); // line: formatted
    }
}

#[kernel]
pub unsafe fn long_message(at: u32) {
    if thread::index_1d() == at {
        // line: long
        panic!(
            "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
             0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
             0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
        );
    }
}
