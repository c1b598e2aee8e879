//! Assertions of unequal values: one of `cuda_std`'s with its own text, one with a message.

use cuda_std::io::assert_ne;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn equal(values: &[u32], out: *mut u32) {
    let i = thread::index_1d();
    assert_ne!(values[i as usize], i); // line: equal
    unsafe { *out.add(i as usize) = i };
}

#[kernel]
pub unsafe fn equal_with_a_message(values: &[u32], out: *mut u32) {
    let i = thread::index_1d();
    assert_ne!(values[i as usize], i, "a thread has its own number"); // line: message
    unsafe { *out.add(i as usize) = i };
}
