//! The functions as kernels; `build.sh` beside it compiles them.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
#![allow(internal_features)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: it ends the launch.
    unsafe { core::arch::nvptx::trap() }
}

macro_rules! functions {
    ($($kind:ident $name:ident($x:ident) $body:block)*) => {
        $(
            /// One thread an input.
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn $name(input: *const [u64; 4], output: *mut [u64; 4]) {
                // SAFETY: input and output have as many elements as the launch has threads.
                unsafe {
                    let thread = (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize;
                    let $x = *input.add(thread);
                    *output.add(thread) = $body;
                }
            }
        )*
    };
}

include!("functions.rs");
