//! Signatures that a kernel may have. No lint may fire at code that a user did not write.
#![deny(warnings, missing_docs, unused_qualifications, unsafe_op_in_unsafe_fn, improper_ctypes_definitions)]

use cuda_std::prelude::*;
use cuda_std::println;

/// By value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    x: f32,
    n: u64,
}

/// Everything at once, with a lint level, a lifetime, `mut` and `_`.
///
/// # Safety
/// It is never launched.
#[kernel]
#[allow(unused_variables)]
pub unsafe fn everything<'a>(
    slice: &'a [f32],
    mut rest: &[[u8; 4]],
    reference: &Pair,
    array: &[u32; 8],
    a: *const f32,
    b: *mut Pair,
    pair: Pair,
    tuple: (u32, f32),
    flag: bool,
    #[allow(unused_mut)] mut n: usize,
    _: i32,
    nothing: (),
    r#type: u8,
) {
    rest = &rest[1..];
    if rest.is_empty() || slice.is_empty() {
        return;
    }
    unsafe { (*b).n = u64::from(array[0]) };
}

/// A safe kernel.
#[kernel]
fn safe(x: &[f32]) {
    println!("{}", x.len());
}

/// As rust-cuda's users wrote them.
///
/// # Safety
/// It is never launched.
#[kernel]
#[unsafe(no_mangle)]
#[allow(improper_ctypes_definitions, clippy::missing_safety_doc)]
pub unsafe extern "C" fn as_before(x: &[f32], out: *mut f32) -> () {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        unsafe { *out.add(i) = x[i] };
    }
}

/// With limits.
///
/// # Safety
/// It is never launched.
#[kernel(launch_bounds(256, 4))]
pub unsafe fn bounded(_x: *mut f32) {}

/// With limits of another kind, and a comma behind them.
#[kernel(launch_bounds(1_024), max_registers(0x40),)]
pub fn with_few_registers(_x: &[f32]) {}

mod inner {
    use super::*;

    #[kernel]
    pub(crate) unsafe fn hidden(_n: u32) {}
}

fn main() {
    let _ = inner::hidden;
}
