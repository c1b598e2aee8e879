//! Statics and functions that the attributes take. On the host they stay what they are.
#![deny(warnings)]

use std::mem::{self, MaybeUninit};

use cuda_std::{address_space, externally_visible, gpu_only, shared_array};

#[address_space(shared)]
static mut TILE: MaybeUninit<[[f32; 16]; 16]> = MaybeUninit::uninit();
#[address_space(shared)]
static mut ELEMENTS: [MaybeUninit<f32>; 16] = [const { MaybeUninit::uninit() }; 16];
#[address_space(shared)]
static mut FULL_PATH: mem::MaybeUninit<u8> = const { mem::MaybeUninit::<u8>::uninit() };
#[address_space(constant)]
static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
#[address_space(constant)]
static mut SCALE: f32 = 2.0;
#[address_space(global)]
#[externally_visible]
pub static mut TOTAL: u64 = 0;

#[gpu_only]
#[inline]
fn on_the_device(x: u32) -> u32 {
    x + 1
}

#[externally_visible]
fn found_by_name() {}

fn main() {
    assert_eq!(WEIGHTS.iter().sum::<f32>(), 1.0);
    let tile = (&raw mut TILE).cast::<f32>();
    let array = shared_array![f32; 8];
    unsafe {
        *tile = 3.0;
        *array.add(7) = *tile;
        TOTAL += *array.add(7) as u64 + SCALE as u64;
        let total = TOTAL;
        assert_eq!(total, 5);
        *(&raw mut ELEMENTS).cast::<f32>().add(3) = 1.0;
        FULL_PATH = MaybeUninit::new(1);
    }
    found_by_name();

    let panic = std::panic::catch_unwind(|| on_the_device(1)).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert_eq!(
        message,
        "`on_the_device` exists only on the device and was called on the host: call it from a kernel or a device function"
    );
}
