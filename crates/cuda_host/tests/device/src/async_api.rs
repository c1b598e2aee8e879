//! The kernel of the asynchronous example.

use cuda_std::prelude::*;

/// `data[i] += by`, one thread an element.
///
/// # Safety
/// `data` has an element for each thread of the launch.
#[kernel]
pub unsafe fn increment(data: *mut u32, by: u32) {
    let i = thread::index_1d() as usize;
    // SAFETY: the caller's promise.
    unsafe { *data.add(i) = (*data.add(i)).wrapping_add(by) };
}
