//! The host build reads the kernel's body too.

use cuda_std::kernel;

#[kernel]
pub unsafe fn broken(a: &[f32], c: *mut f32) {
    let n: u32 = a.len();
    missing(n, c);
}

fn main() {}
