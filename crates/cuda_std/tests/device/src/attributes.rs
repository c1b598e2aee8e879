//! Attributes of items that are no kernels.

use cuda_std::prelude::*;
use cuda_std::{externally_visible, gpu_only};

/// A variable that the host finds by its name.
#[externally_visible]
static mut SEEN_BY_THE_HOST: [u32; 3] = [3, 5, 7];

/// A device function under its own name, for other modules to call.
#[externally_visible]
#[inline(never)]
pub extern "C" fn twice_and_one(x: u32) -> u32 {
    x.wrapping_mul(2).wrapping_add(1)
}

/// A function whose body only a device has.
#[gpu_only]
fn across() -> u32 {
    thread::block_dim_x() - 1 - thread::thread_idx_x()
}

#[kernel]
pub unsafe fn attributed(out: *mut [u32; 3]) {
    let i = thread::index_1d() as usize;
    let factor = unsafe { (&raw const SEEN_BY_THE_HOST).cast::<u32>().add(i % 3).read_volatile() };
    unsafe { *out.add(i) = [factor, twice_and_one(i as u32), across()] };
}
