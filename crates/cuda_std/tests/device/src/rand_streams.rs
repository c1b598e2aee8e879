//! Random numbers: generators that a kernel makes itself, and the ways to move one along its stream.

use cuda_std::prelude::*;
use cuda_std::rand::numba::Xoroshiro128p;
use cuda_std::rand::rand_core::TryRng;
use cuda_std::rand::xoroshiro::{Seed512, Xoshiro512StarStar};
use cuda_std::rand::{DefaultRand, GpuRand, Philox4x32, RngCore, SeedableRng};

/// Numba's two functions for uniform numbers, and a jump after each pair.
#[kernel]
pub unsafe fn numba_uniform(steps: u32, states: *mut Xoroshiro128p, out: *mut [u64; 2]) {
    let i = thread::index_1d();
    let state = unsafe { &mut *states.add(i as usize) };
    for step in 0..steps {
        let pair = [
            u64::from(state.xoroshiro128p_uniform_float32().to_bits()),
            state.xoroshiro128p_uniform_float64().to_bits(),
        ];
        unsafe { *out.add((i * steps + step) as usize) = pair };
        state.jump();
    }
}

/// A number, then `skipped[i]` left out, another, then `subsequences[i]` subsequences on, a third.
#[kernel]
pub unsafe fn philox_skips(seed: u64, skipped: &[u64], subsequences: &[u64], out: *mut [u32; 3]) {
    let i = thread::index_1d();
    let mut rng = Philox4x32::new(seed, i.into(), i.into());
    let first = rng.next_u32();
    rng.skip(skipped[i as usize]);
    let second = rng.next_u32();
    rng.skip_subsequences(subsequences[i as usize]);
    unsafe { *out.add(i as usize) = [first, second, rng.next_u32()] };
}

/// One normal number of each type at a time.
#[kernel]
pub unsafe fn single_normals(states: *mut DefaultRand, narrow: *mut f32, wide: *mut f64) {
    let i = thread::index_1d() as usize;
    unsafe {
        let rng = &mut *states.add(i);
        *narrow.add(i) = rng.normal_f32();
        *wide.add(i) = rng.normal_f64();
    }
}

/// What any generator draws from any seed.
fn seeded<R: SeedableRng + RngCore>(seed: R::Seed, number: u64) -> [u64; 2] {
    [R::from_seed(seed).next_u64(), R::seed_from_u64(number).next_u64()]
}

/// Generators of seeds that the kernel makes, of every size; a generator seeded by another one; bytes.
#[kernel]
pub unsafe fn seeds_in_the_kernel(out: *mut [u64; 6]) {
    let i = thread::index_1d();
    let mut long = Seed512::default();
    for (place, byte) in (0_u32..).zip(long.as_mut()) {
        *byte = (i * 7 + place * 3) as u8;
    }
    let [a, b] = seeded::<Xoshiro512StarStar>(long, i.into());
    let [c, d] = seeded::<DefaultRand>([i as u8; 16], u64::MAX - u64::from(i));
    let mut from_another = Philox4x32::from_rng(&mut DefaultRand::seed_from_u64(i.into()));
    let mut bytes = [0xA5; 8];
    // The generators never fail: their error has no value.
    let Ok(()) = from_another.try_fill_bytes(&mut bytes[..7]);
    let row = [a, b, c, d, from_another.next_u64(), u64::from_le_bytes(bytes)];
    unsafe { *out.add(i as usize) = row };
}
