//! The generator of Numba's `numba.cuda.random`, number for number.
//!
//! It is xoroshiro128+ with the constants its authors first published in 2016, and both halves of the first state are the same number.
//! For anything but Numba's own numbers take [`DefaultRand`](super::DefaultRand).

use core::convert::Infallible;

use bytemuck::{Pod, Zeroable};
use rand_core::{Rng, SeedableRng, TryRng, utils};

use super::xoroshiro::{SplitMix64, xoroshiro};

/// One element of Numba's `xoroshiro128p_dtype`: `s0` and `s1`.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::rand::numba::Xoroshiro128p;
///
/// /// One number a thread, each from its own state.
/// #[kernel]
/// pub fn draw(mut states: DisjointSlice<Xoroshiro128p>, mut out: DisjointSlice<f32>) {
///     let i = thread::unique_index();
///     if i.get() < out.len() {
///         out[i] = states[i].xoroshiro128p_uniform_float32();
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Xoroshiro128p {
    s: [u64; 2],
}

/// The polynomial of 2^64 steps, with the constants of 2016.
const JUMP: [u64; 2] = [0xBEAC_0467_EBA5_FACB, 0xD86B_048B_86AA_9922];

impl Xoroshiro128p {
    #[inline]
    fn next(&mut self) -> u64 {
        let s = &mut self.s;
        let number = s[0].wrapping_add(s[1]);
        xoroshiro!(s, 55, 14, 36);
        number
    }

    /// Advances by 2^64 steps; Numba's `xoroshiro128p_jump`.
    pub fn jump(&mut self) {
        self.advance(&JUMP);
    }

    super::jumping!(u64, 2, "2^64");

    /// A number from 0 to 1, **both included**: Numba rounds 53 bits to the 24 of `f32`, which makes 1 of the largest.
    /// [`uniform_f32`](super::GpuRand::uniform_f32) excludes it.
    #[inline]
    pub fn xoroshiro128p_uniform_float32(&mut self) -> f32 {
        self.xoroshiro128p_uniform_float64() as f32
    }

    /// A number from 0 to below 1, a multiple of 2^-53.
    #[inline]
    pub fn xoroshiro128p_uniform_float64(&mut self) -> f64 {
        super::unit_f64(self.next())
    }
}

/// Numba's `create_xoroshiro128p_states`, on the host: `n` states, 2^64 steps apart, the first of them `subsequence_start` times
/// 2^64 steps behind the seed's.
///
/// ```
/// # #[cfg(not(target_arch = "nvptx64"))] {
/// use cuda_std::rand::numba::create_xoroshiro128p_states;
///
/// let all = create_xoroshiro128p_states(100, 1, 0);
/// assert_eq!(all[60..], create_xoroshiro128p_states(40, 1, 60));
/// # }
/// ```
#[cfg(not(target_arch = "nvptx64"))]
#[must_use]
pub fn create_xoroshiro128p_states(
    n: usize,
    seed: u64,
    subsequence_start: u64,
) -> std::vec::Vec<Xoroshiro128p> {
    let mut first = Xoroshiro128p::seed_from_u64(seed);
    for _ in 0..subsequence_start {
        first.jump();
    }
    first.streams(n)
}

impl TryRng for Xoroshiro128p {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    /// Numba's `xoroshiro128p_next`.
    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(bytes, || Ok(self.next()))
    }
}

impl SeedableRng for Xoroshiro128p {
    type Seed = [u8; 16];

    /// The state, little-endian. All zeros would stay zeros: they stand for `seed_from_u64(0)`.
    fn from_seed(seed: [u8; 16]) -> Self {
        let s = utils::read_words(&seed);
        if s == [0; 2] { Self::seed_from_u64(0) } else { Self { s } }
    }

    /// Numba's `init_xoroshiro128p_state`.
    fn seed_from_u64(seed: u64) -> Self {
        Self { s: [SplitMix64::seed_from_u64(seed).next_u64(); 2] }
    }
}

super::device_copy!(Xoroshiro128p);
