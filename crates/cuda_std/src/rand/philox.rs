//! Philox 4x32: the counter-based generator of cuRAND, PyTorch and NumPy.

use core::convert::Infallible;

use bytemuck::{Pod, Zeroable};
use rand_core::{SeedableRng, TryRng, utils};

/// Philox 4x32 with 10 rounds, of Salmon and others ("Parallel random numbers: as easy as 1, 2, 3", SC 2011).
///
/// A number depends on seed, subsequence and position alone: any thread can start anywhere at once, without a state in memory and
/// without jumps. Seed, subsequences and offsets count as those of cuRAND's `curandStatePhilox4_32_10_t`: each of the 2^64
/// subsequences has 2^66 numbers of type `u32`.
///
/// ```
/// use cuda_std::rand::{Philox4x32, Rng};
///
/// let mut rng = Philox4x32::new(42, 3, 0);
/// rng.next_u32();
/// assert_eq!(rng.next_u32(), Philox4x32::new(42, 3, 1).next_u32());
/// ```
///
/// In a kernel, one subsequence a thread:
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::rand::{GpuRand, Philox4x32};
///
/// #[kernel]
/// pub fn noise(seed: u64, mut out: DisjointSlice<f32>) {
///     let i = thread::unique_index();
///     if i.get() < out.len() {
///         out[i] = Philox4x32::new(seed, i.get() as u64, 0).normal_f32();
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Philox4x32 {
    /// Which block of four numbers is current: a number of 128 bits, the lowest first.
    counter: [u32; 4],
    key: [u32; 2],
    /// The current block.
    block: [u32; 4],
    /// How many numbers of it are taken, 0 to 3.
    taken: u32,
}

impl Philox4x32 {
    /// The generator of a seed and a subsequence, after its first `offset` numbers of type `u32`.
    ///
    /// What cuRAND's `curand_init` does for its Philox: the key is the seed, the upper half of the counter is the subsequence,
    /// the lower half a quarter of the offset.
    #[inline]
    #[must_use]
    pub fn new(seed: u64, subsequence: u64, offset: u64) -> Self {
        let counter = u128::from(subsequence) << 64 | u128::from(offset / 4);
        let (counter, key) = (words(counter), [seed as u32, (seed >> 32) as u32]);
        Self { counter, key, block: Self::block(counter, key), taken: (offset % 4) as u32 }
    }

    /// The function itself: the four numbers of a counter and a key.
    ///
    /// ```
    /// use cuda_std::rand::Philox4x32;
    ///
    /// let numbers = Philox4x32::block([0; 4], [0; 2]);
    /// assert_eq!(numbers, [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
    /// ```
    #[inline]
    #[must_use]
    pub fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
        let ([mut a, mut b, mut c, mut d], [mut left, mut right]) = (counter, key);
        for _ in 0..10 {
            let (first, second) = (wide(0xD251_1F53, a), wide(0xCD9E_8D57, c));
            (a, b, c, d) = (second.1 ^ b ^ left, second.0, first.1 ^ d ^ right, first.0);
            left = left.wrapping_add(0x9E37_79B9);
            right = right.wrapping_add(0xBB67_AE85);
        }
        [a, b, c, d]
    }

    /// Goes on as if `count` more numbers of type `u32` had been taken; cuRAND's `skipahead`.
    #[inline]
    pub fn skip(&mut self, count: u64) {
        let position = u64::from(self.taken) + count % 4;
        self.taken = (position % 4) as u32;
        self.advance(u128::from(count / 4) + u128::from(position / 4));
    }

    /// Goes on at the same place of the subsequence `count` further; cuRAND's `skipahead_sequence`.
    #[inline]
    pub fn skip_subsequences(&mut self, count: u64) {
        self.advance(u128::from(count) << 64);
    }

    /// Goes `blocks` on, and from the last one to the first.
    #[inline]
    fn advance(&mut self, blocks: u128) {
        let [a, b, c, d] = self.counter.map(u128::from);
        self.counter = words((a | b << 32 | c << 64 | d << 96).wrapping_add(blocks));
        self.block = Self::block(self.counter, self.key);
    }
}

/// The lower and the upper half of a product.
#[inline]
fn wide(a: u32, b: u32) -> (u32, u32) {
    let product = u64::from(a) * u64::from(b);
    (product as u32, (product >> 32) as u32)
}

/// A number's words, the lowest first.
#[inline]
fn words(x: u128) -> [u32; 4] {
    [x as u32, (x >> 32) as u32, (x >> 64) as u32, (x >> 96) as u32]
}

impl TryRng for Philox4x32 {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // A match, not an index: an array indexed at run time would have to lie in local memory.
        let [first, second, third, fourth] = self.block;
        let number = match self.taken {
            0 => first,
            1 => second,
            2 => third,
            _ => fourth,
        };
        if self.taken == 3 {
            self.taken = 0;
            self.advance(1);
        } else {
            self.taken += 1;
        }
        Ok(number)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        utils::next_u64_via_u32(self)
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(bytes, || self.try_next_u32())
    }
}

impl SeedableRng for Philox4x32 {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Self {
        Self::seed_from_u64(u64::from_le_bytes(seed))
    }

    /// The start of subsequence 0.
    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed, 0, 0)
    }
}

super::device_copy!(Philox4x32);
