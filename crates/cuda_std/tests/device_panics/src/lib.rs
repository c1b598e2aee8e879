//! Kernels that panic, for builds with different options.

#![no_std]

use cuda_std::prelude::*;

/// The smallest kernel that can panic in two ways: an index out of bounds, and an `unwrap`.
#[kernel]
pub unsafe fn hello(values: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    let next = values[i].checked_add(1).unwrap();
    unsafe { *out.add(i) = next };
}

#[cfg(feature = "all")]
mod all {
    use super::*;

    /// Why a thread gives up.
    #[derive(Debug)]
    pub struct Trouble {
        #[expect(dead_code, reason = "read by `Debug` alone")]
        thread: u32,
    }

    #[kernel]
    pub unsafe fn own_error(values: &[u32], out: *mut u32) {
        let i = thread::index_1d();
        let value = values[i as usize];
        let result = if value < 100 { Ok(value) } else { Err(Trouble { thread: i }) };
        unsafe { *out.add(i as usize) = result.unwrap() };
    }

    #[kernel]
    pub unsafe fn formatted(values: &[u32], out: *mut u32) {
        let i = thread::index_1d();
        let value = values[i as usize];
        assert!(value < 100, "value {i} is {value:>5}|{:.2?}", value as f32 / 3.0);
        unsafe { *out.add(i as usize) = value };
    }

    /// Overflows for 200, in builds that check.
    #[kernel]
    pub unsafe fn doubled(values: &[u32], out: *mut u32) {
        let i = thread::index_1d();
        let value = values[i as usize] as u8;
        unsafe { *out.add(i as usize) = u32::from(value + value) };
    }

    #[kernel]
    pub unsafe fn debug_asserted(values: &[u32], out: *mut u32) {
        let i = thread::index_1d();
        let value = values[i as usize];
        debug_assert!(value < 100, "{value} is too much");
        unsafe { *out.add(i as usize) = value };
    }
}
