//! Random numbers.

use cuda_std::prelude::*;
use cuda_std::rand::numba::Xoroshiro128p;
use cuda_std::rand::xoroshiro::*;
use cuda_std::rand::{GpuRand, Philox4x32, Rng};

/// What `draw` takes in each step: a `u64`, a `u32`, the bits of both uniform numbers.
const NUMBERS: usize = 4;

#[inline(always)]
fn draw<R: Rng>(rng: &mut R) -> [u64; NUMBERS] {
    [
        rng.next_u64(),
        rng.next_u32().into(),
        rng.uniform_f32().to_bits().into(),
        rng.uniform_f64().to_bits(),
    ]
}

/// For each generator a kernel that draws `steps` times in each thread, which has its state in `states`, and one that jumps.
macro_rules! generators {
    ($($Name:ident: $draw:ident $(, $jump:ident)?;)+) => {$(
        #[kernel]
        pub unsafe fn $draw(steps: u32, states: *mut $Name, n: u32, out: *mut [u64; NUMBERS]) {
            let i = thread::index_1d();
            if i < n {
                let state = unsafe { states.add(i as usize) };
                let mut rng = unsafe { *state };
                for step in 0..steps {
                    unsafe { *out.add((i * steps + step) as usize) = draw(&mut rng) };
                }
                unsafe { *state = rng };
            }
        }

        $(
            #[kernel]
            pub unsafe fn $jump(states: *mut $Name, n: u32) {
                let i = thread::index_1d();
                if i < n {
                    let state = unsafe { &mut *states.add(i as usize) };
                    // Threads of a warp do different things.
                    if i % 3 == 0 {
                        state.jump();
                    } else if i % 3 == 1 {
                        state.long_jump();
                    }
                }
            }
        )?
    )+};
}

generators! {
    SplitMix64: draw_split_mix_64;
    Xoroshiro64Star: draw_xoroshiro_64_star;
    Xoroshiro64StarStar: draw_xoroshiro_64_star_star;
    Xoroshiro128Plus: draw_xoroshiro_128_plus, jump_xoroshiro_128_plus;
    Xoroshiro128PlusPlus: draw_xoroshiro_128_plus_plus, jump_xoroshiro_128_plus_plus;
    Xoroshiro128StarStar: draw_xoroshiro_128_star_star, jump_xoroshiro_128_star_star;
    Xoshiro128Plus: draw_xoshiro_128_plus, jump_xoshiro_128_plus;
    Xoshiro128PlusPlus: draw_xoshiro_128_plus_plus, jump_xoshiro_128_plus_plus;
    Xoshiro128StarStar: draw_xoshiro_128_star_star, jump_xoshiro_128_star_star;
    Xoshiro256Plus: draw_xoshiro_256_plus, jump_xoshiro_256_plus;
    Xoshiro256PlusPlus: draw_xoshiro_256_plus_plus, jump_xoshiro_256_plus_plus;
    Xoshiro256StarStar: draw_xoshiro_256_star_star, jump_xoshiro_256_star_star;
    Xoshiro512Plus: draw_xoshiro_512_plus, jump_xoshiro_512_plus;
    Xoshiro512PlusPlus: draw_xoshiro_512_plus_plus, jump_xoshiro_512_plus_plus;
    Xoshiro512StarStar: draw_xoshiro_512_star_star, jump_xoshiro_512_star_star;
    Philox4x32: draw_philox_4x32;
    Xoroshiro128p: draw_numba;
}

/// A subsequence a thread, made in the kernel.
#[kernel]
pub unsafe fn philox_streams(seed: u64, offset: u64, steps: u32, out: *mut u32) {
    let i = thread::index_1d();
    let mut rng = Philox4x32::new(seed, i.into(), offset);
    for step in 0..steps {
        unsafe { *out.add((i * steps + step) as usize) = rng.next_u32() };
    }
}

/// Pairs of normal numbers.
#[kernel]
pub unsafe fn normals(states: *mut Xoroshiro128StarStar, narrow: *mut [f32; 2], wide: *mut [f64; 2]) {
    let i = thread::index_1d() as usize;
    unsafe {
        let rng = &mut *states.add(i);
        *narrow.add(i) = rng.normal_f32_2();
        *wide.add(i) = rng.normal_f64_2();
    }
}

/// A state as a by-value parameter.
#[kernel]
pub unsafe fn one_number(mut rng: Xoroshiro128StarStar, out: *mut u64) {
    unsafe { *out = rng.next_u64() };
}
