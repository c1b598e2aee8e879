//! One kernel for each way to panic. Thread `at` of the launch does it; the line is the one the test looks for.

use core::cell::RefCell;

use cuda_std::io::assert_eq;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn index_error(values: &[u32], at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let index = if i == at { values.len() + 4 } else { 0 };
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
pub unsafe fn formatted(at: u32, flag: bool, x: f32, wide: u64) {
    let i = thread::index_1d();
    let n = thread::block_dim_x() * thread::grid_dim_x();
    if i == at {
        let letter = char::from(b'a' + (i % 26) as u8);
        let name = if flag { "on" } else { "off" };
        let sum = -i64::from(i) * wide as i64;
        // line: formatted
        panic!("thread {i} of {n}: {x} is {name} ({flag}), {letter:?} {name:?}, sum {sum:+}, {wide:#x}|{i:>6}|{x:08.2}");
    }
}

#[kernel]
pub unsafe fn asserted(values: &[u32], limit: f64) {
    let i = thread::index_1d();
    let v = values[i as usize];
    assert!(f64::from(v) < limit, "value {i} is {v}, not below {limit:?}"); // line: asserted
}

#[kernel]
pub unsafe fn slice_end(values: &[u32], at: u32, out: *mut u64) {
    let i = thread::index_1d();
    let end = if i == at { 9 } else { 2 };
    unsafe { *out.add(i as usize) = values[1..end].len() as u64 }; // line: slice_end
}

#[kernel]
pub unsafe fn slice_order(values: &[u32], at: u32, out: *mut u64) {
    let i = thread::index_1d();
    let start = if i == at { 2 } else { 0 };
    unsafe { *out.add(i as usize) = values[start..1].len() as u64 }; // line: slice_order
}

#[kernel]
pub unsafe fn copied_slice(values: &[u32], at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let mut copy = [0; 2];
    let len = if i == at { 3 } else { 2 };
    copy.copy_from_slice(&values[..len]); // line: copied
    unsafe { *out.add(i as usize) = copy[1] };
}

#[kernel]
pub unsafe fn unwrap_on_err(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let result = if i == at { Err(-(i as i32)) } else { Ok(i) };
    unsafe { *out.add(i as usize) = result.unwrap() }; // line: unwrap_err
}

#[kernel]
pub unsafe fn expect_on_err(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let result = if i == at { Err("no \"entry\"") } else { Ok(i) };
    unsafe { *out.add(i as usize) = result.expect("the table is there") }; // line: expect
}

#[kernel]
pub unsafe fn converted(values: &[u32], out: *mut u8) {
    let i = thread::index_1d() as usize;
    unsafe { *out.add(i) = u8::try_from(values[i]).unwrap() }; // line: converted
}

/// Why a thread gives up.
#[derive(Debug)]
pub struct Trouble(#[expect(dead_code, reason = "read by `Debug` alone, which kernels don't call")] u32);

#[kernel]
pub unsafe fn own_error(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let result = if i == at { Err(Trouble(i)) } else { Ok(i) };
    unsafe { *out.add(i as usize) = result.unwrap() }; // line: own_error
}

#[kernel]
pub unsafe fn borrowed_twice(at: u32, out: *mut u32) {
    let i = thread::index_1d();
    let cell = RefCell::new(i);
    let other = &cell;
    let first = (i == at).then(|| other.borrow_mut());
    *cell.borrow_mut() += 1; // line: borrowed
    drop(first);
    unsafe { *out.add(i as usize) = cell.into_inner() };
}

#[kernel]
pub unsafe fn unequal_with_message(values: &[u32]) {
    let i = thread::index_1d();
    core::assert_eq!(values[i as usize], i, "thread {i} has {}", "another"); // line: unequal_with_message
}

/// All threads from `from` on panic, with two messages.
#[kernel]
pub unsafe fn many_panic(from: u32, out: *mut u32) {
    let i = thread::index_1d();
    unsafe { *out.add(i as usize) = i };
    thread::sync_threads();
    if i >= from {
        if i % 2 == 0 {
            panic!("an even thread, {i}"); // line: even
        }
        panic!("an odd thread, {i}"); // line: odd
    }
    thread::sync_threads();
    unsafe { *out.add(i as usize) = 0 };
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
