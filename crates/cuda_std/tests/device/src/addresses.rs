//! Which memory an address is of, and its two forms.

use core::hint::black_box;
use core::mem::MaybeUninit;

use cuda_std::prelude::*;
use cuda_std::ptr::{self, AddressSpace};

#[address_space(constant)]
static CONSTANT: [u32; 4] = [11, 22, 33, 44];

const SPACES: [AddressSpace; 4] =
    [AddressSpace::Global, AddressSpace::Shared, AddressSpace::Constant, AddressSpace::Local];

/// For an address of each memory: the memories it is in, as bits; whether its specific form leads back to it; what is read there
/// by way of both forms; whether the specific form is another number.
#[kernel]
pub unsafe fn addresses(global: &[u32], out: *mut [[u32; 4]; 4]) {
    let shared = shared_array![u32; 4];
    let mut local = [MaybeUninit::<u32>::uninit(); 4];
    let i = thread::index_1d();
    unsafe {
        if thread::thread_idx_x() == 0 {
            *shared.add(1) = 200;
        }
        local[1].write(300 + i);
    }
    thread::sync_threads();
    // So that LLVM does not see which memory it is.
    let pointers = black_box([
        global.as_ptr(),
        shared.cast_const(),
        CONSTANT.as_ptr(),
        local.as_ptr().cast::<u32>(),
    ]);
    let mut rows = [[0; 4]; 4];
    for ((row, pointer), space) in rows.iter_mut().zip(pointers).zip(SPACES) {
        let mut found = 0;
        for (bit, space) in SPACES.into_iter().enumerate() {
            if unsafe { ptr::is_in_address_space(pointer, space) } {
                found |= 1 << bit;
            }
        }
        let space = black_box(space);
        let second = pointer.wrapping_add(1);
        unsafe {
            let specific = ptr::convert_generic_to_specific_address_space(second, space);
            let back = ptr::convert_specific_address_space_to_generic(specific, space);
            *row = [found, u32::from(back == second), *back, u32::from(specific != second)];
        }
    }
    unsafe { *out.add(i as usize) = rows };
}

/// Where the second of four shared words is, counted from the first: by generic and by specific addresses.
#[kernel]
pub unsafe fn shared_distance(out: *mut [u32; 2]) {
    let words = shared_array![u32; 4];
    let next = black_box(words.wrapping_add(1));
    let distance = unsafe { ptr::shared_address(next) - ptr::shared_address(words) };
    unsafe { *out = [(next.addr() - words.addr()) as u32, distance] };
}
