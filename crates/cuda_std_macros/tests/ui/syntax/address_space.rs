use std::mem::MaybeUninit;

use cuda_std::address_space;

#[address_space(shared)]
static mut INITIALISED: [f32; 16] = [0.0; 16];

#[address_space(shared)]
static mut WRAPPED: MaybeUninit<u32> = MaybeUninit::new(5);

#[address_space(shared)]
static IMMUTABLE: MaybeUninit<u32> = MaybeUninit::uninit();

#[address_space(local)]
static mut LOCAL: u32 = 0;

#[address_space(texture)]
static mut TEXTURE: u32 = 0;

#[address_space]
static mut NO_NAME: u32 = 0;

#[address_space("shared")]
static mut STRING: u32 = 0;

#[address_space(shared, constant)]
static mut TWO: u32 = 0;

#[address_space(shared)]
fn function() {}

#[address_space(global)]
const CONSTANT: u32 = 0;

fn main() {}
