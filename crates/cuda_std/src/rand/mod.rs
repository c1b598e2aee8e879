//! Random numbers in kernels: the generators of rust-cuda's crate `gpu_rand`, Numba's and cuRAND's Philox.
//!
//! A seed makes the same bits on every GPU, on the emulator and on the host. Two ways to give each thread a stream of its own:
//!
//! - [`DefaultRand::initialize_states`](xoroshiro::Xoroshiro128StarStar::initialize_states) makes, on the host, one state a thread.
//!   Kernels keep them in device memory.
//! - [`Philox4x32`] needs no memory: its numbers are a function of seed, thread and position.
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::rand::{DefaultRand, GpuRand};
//!
//! /// Counts, for each thread, how many of `tries` random points of the unit square lie in the quarter circle.
//! #[kernel]
//! pub fn count_hits(tries: u32, mut states: DisjointSlice<DefaultRand>, mut hits: DisjointSlice<u32>) {
//!     let i = thread::unique_index();
//!     if i.get() < hits.len() {
//!         // A copy in registers while the thread works, written back for the next launch.
//!         let mut rng = states[i];
//!         for _ in 0..tries {
//!             let (x, y) = (rng.uniform_f32(), rng.uniform_f32());
//!             if x * x + y * y < 1.0 {
//!                 hits[i] += 1;
//!             }
//!         }
//!         states[i] = rng;
//!     }
//! }
//!
//! # #[cfg(not(target_arch = "nvptx64"))]
//! let states = DefaultRand::initialize_states(42, 1024);
//! ```
//!
//! The states are plain data (`bytemuck::Pod`, `cust`'s `DeviceCopy`). None of the generators is for secrets.

mod gpu_rand;
mod jumps;
pub mod numba;
mod philox;
#[cfg(test)]
mod tests;
pub mod xoroshiro;

pub use gpu_rand::GpuRand;
use gpu_rand::unit_f64;
pub use philox::Philox4x32;
/// The traits of generators: [`Rng`] for numbers, [`SeedableRng`] for seeds.
pub use rand_core;
/// Also by the name it had before version 0.10 of `rand_core`.
pub use rand_core::Rng as RngCore;
pub use rand_core::{Rng, SeedableRng};

/// The generator to take without a reason for another: xoroshiro128**, as in rust-cuda.
pub type DefaultRand = xoroshiro::Xoroshiro128StarStar;

/// What `cust` wants of values that it copies to a device.
macro_rules! device_copy {
    ($Name:ty) => {
        // SAFETY: it is `Pod`, so has no pointers and any bytes are a value.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl cust_core::DeviceCopy for $Name {}
    };
}
use device_copy;

/// Methods of a generator whose state is `s: [$W; $N]` and which has `next` and `jump`, by `$distance` steps.
macro_rules! jumping {
    ($W:ty, $N:literal, $distance:literal) => {
        /// Advances by as many steps as the polynomial stands for.
        fn advance(&mut self, polynomial: &[$W; $N]) {
            let mut sum = [0; $N];
            for word in polynomial {
                for bit in 0..<$W>::BITS {
                    if word >> bit & 1 != 0 {
                        for (sum, word) in sum.iter_mut().zip(self.s) {
                            *sum ^= word;
                        }
                    }
                    self.next();
                }
            }
            self.s = sum;
        }

        #[doc = concat!("`num` states on the host, one a thread: the seed's, and each further one ", $distance, " steps behind the one before.")]
        #[cfg(not(target_arch = "nvptx64"))]
        #[must_use]
        pub fn initialize_states(seed: u64, num: usize) -> std::vec::Vec<Self> {
            <Self as rand_core::SeedableRng>::seed_from_u64(seed).streams(num)
        }

        /// This state and those after one, two … jumps, `num` in all.
        #[cfg(not(target_arch = "nvptx64"))]
        fn streams(mut self, num: usize) -> std::vec::Vec<Self> {
            let next = || {
                let state = self;
                self.jump();
                state
            };
            core::iter::repeat_with(next).take(num).collect()
        }
    };
}
use jumping;
