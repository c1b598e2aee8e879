//! The xoroshiro and xoshiro generators of Blackman and Vigna, and SplitMix64, which seeds them.
//!
//! The numbers are those of the crate `rand_xoshiro`, seeds included; its types are neither `Copy` nor plain data, so they can
//! be no kernel's parameter and lie in no device array, which these can.
//!
//! | state | generators | numbers | jumps by |
//! | --- | --- | --- | --- |
//! | 64 bits | [`SplitMix64`] | `u64` | |
//! | 64 bits | [`Xoroshiro64Star`], [`Xoroshiro64StarStar`] | `u32` | |
//! | 128 bits | [`Xoroshiro128Plus`], [`Xoroshiro128PlusPlus`], [`Xoroshiro128StarStar`] | `u64` | 2^64, 2^96 |
//! | 128 bits | [`Xoshiro128Plus`], [`Xoshiro128PlusPlus`], [`Xoshiro128StarStar`] | `u32` | 2^64, 2^96 |
//! | 256 bits | [`Xoshiro256Plus`], [`Xoshiro256PlusPlus`], [`Xoshiro256StarStar`] | `u64` | 2^128, 2^192 |
//! | 512 bits | [`Xoshiro512Plus`], [`Xoshiro512PlusPlus`], [`Xoshiro512StarStar`] | `u64` | 2^256, 2^384 |
//!
//! The lowest bits of the `Plus` and `Star` generators are weak: they are for floating-point numbers, which take the highest.
//!
//! ```
//! use cuda_std::rand::xoroshiro::Xoshiro256PlusPlus;
//! use cuda_std::rand::{Rng, SeedableRng};
//!
//! let mut here = Xoshiro256PlusPlus::seed_from_u64(7);
//! let mut elsewhere = here;
//! elsewhere.jump();
//! assert_ne!(here.next_u64(), elsewhere.next_u64());
//! ```

use core::convert::Infallible;

use bytemuck::{Pod, Zeroable};
use rand_core::{Rng, SeedableRng, TryRng, utils};

use super::jumps;

/// A generator of 64 bits of state, any of which is a good seed: seeds the others.
///
/// ```
/// use cuda_std::rand::xoroshiro::SplitMix64;
/// use cuda_std::rand::{Rng, SeedableRng};
///
/// assert_eq!(SplitMix64::seed_from_u64(0).next_u64(), 0xE220_A839_7B1D_CDAF);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct SplitMix64 {
    x: u64,
}

impl SplitMix64 {
    /// The next state: 2^64 divided by the golden ratio further.
    #[inline]
    fn step(&mut self) -> u64 {
        self.x = self.x.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.x
    }
}

impl TryRng for SplitMix64 {
    type Error = Infallible;

    /// With other constants than [`try_next_u64`](TryRng::try_next_u64): those of dsiutils' 32-bit variant.
    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut z = self.step();
        z = (z ^ (z >> 33)).wrapping_mul(0x62A9_D9ED_7997_05F5);
        z = (z ^ (z >> 28)).wrapping_mul(0xCB24_D0A5_C88C_35B3);
        Ok((z >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut z = self.step();
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(z ^ (z >> 31))
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(bytes, || self.try_next_u64())
    }
}

impl SeedableRng for SplitMix64 {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Self {
        Self { x: u64::from_le_bytes(seed) }
    }

    /// The seed is the state.
    fn seed_from_u64(seed: u64) -> Self {
        Self { x: seed }
    }
}

super::device_copy!(SplitMix64);

/// The seed of the generators with 512 bits of state: an array of 64 bytes, which has no `Default` itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed512(pub [u8; 64]);

impl Default for Seed512 {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl AsRef<[u8]> for Seed512 {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Seed512 {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// The step of the xoroshiro generators, with their three distances.
macro_rules! xoroshiro {
    ($s:ident, $rotate:literal, $shift:literal, $rotate_second:literal) => {{
        let second = $s[0] ^ $s[1];
        $s[0] = $s[0].rotate_left($rotate) ^ second ^ (second << $shift);
        $s[1] = second.rotate_left($rotate_second);
    }};
}
pub(super) use xoroshiro;

/// The step of the xoshiro generators of four words, with their two distances.
macro_rules! xoshiro4 {
    ($s:ident, $shift:literal, $rotate:literal) => {{
        let shifted = $s[1] << $shift;
        $s[2] ^= $s[0];
        $s[3] ^= $s[1];
        $s[1] ^= $s[2];
        $s[0] ^= $s[3];
        $s[2] ^= shifted;
        $s[3] = $s[3].rotate_left($rotate);
    }};
}

/// The step of the xoshiro generators of eight words.
macro_rules! xoshiro8 {
    ($s:ident) => {{
        let shifted = $s[1] << 11;
        $s[2] ^= $s[0];
        $s[5] ^= $s[1];
        $s[1] ^= $s[2];
        $s[7] ^= $s[3];
        $s[3] ^= $s[4];
        $s[4] ^= $s[5];
        $s[0] ^= $s[6];
        $s[6] ^= $s[7];
        $s[6] ^= shifted;
        $s[7] = $s[7].rotate_left(21);
    }};
}

/// The scrambler `**`: times `a`, rotated, times `b`.
macro_rules! star_star {
    ($x:expr, $a:literal, $rotate:literal, $b:literal) => {
        $x.wrapping_mul($a).rotate_left($rotate).wrapping_mul($b)
    };
}

/// The scrambler `++`: the rotated sum, plus the first.
macro_rules! plus_plus {
    ($x:expr, $y:expr, $rotate:literal) => {
        $x.wrapping_add($y).rotate_left($rotate).wrapping_add($x)
    };
}

/// How a generator of the given words makes the numbers of the other size, which half of a `u64` a `u32` is.
macro_rules! numbers {
    (u32) => {
        #[inline]
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(self.next())
        }

        #[inline]
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            utils::next_u64_via_u32(self)
        }
    };
    (u64 >> $shift:literal) => {
        #[inline]
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok((self.next() >> $shift) as u32)
        }

        #[inline]
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.next())
        }
    };
}

/// A state, or that of the seed 0 in place of all zeros. Not by way of the generators' own `seed_from_u64`: functions that call each
/// other have no size of stack that ptxas could know.
fn or_of_0<W: Copy + Default + PartialEq, const N: usize>(
    s: [W; N],
    expanded: impl Fn(u64) -> [W; N],
) -> [W; N] {
    if s == [W::default(); N] { expanded(0) } else { s }
}

/// One paragraph a generator: words of state, type of the seed, the number made from a state, the step to the next, how numbers of
/// both sizes are made, and how it jumps.
macro_rules! generators {
    ($(
        $Name:ident, $sign:literal: [$W:ty; $N:literal], $Seed:ty;
        |$s:ident| $output:expr, $step:expr;
        [$($numbers:tt)+];
        $(=> $jumps:ident, $jump:literal, $long_jump:literal;)?
    )+) => {$(
        #[doc = concat!("The generator ", $sign, ": numbers of type `", stringify!($W), "`, and a state of ", $N, " of them.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
        #[repr(C)]
        pub struct $Name {
            s: [$W; $N],
        }

        impl $Name {
            #[inline]
            fn next(&mut self) -> $W {
                let $s = &mut self.s;
                let number = $output;
                $step;
                number
            }

            /// What [`SplitMix64`] makes of a seed.
            fn expanded(seed: u64) -> [$W; $N] {
                let mut bytes = <$Seed>::default();
                SplitMix64::seed_from_u64(seed).fill_bytes(bytes.as_mut());
                utils::read_words(bytes.as_ref())
            }

            $(
                #[doc = concat!("Advances by ", $jump, " steps: a stream for each thread.")]
                pub fn jump(&mut self) {
                    self.advance(&jumps::$jumps.jump);
                }

                #[doc = concat!("Advances by ", $long_jump, " steps: streams for each device, within which [`jump`](Self::jump) makes one for each thread.")]
                pub fn long_jump(&mut self) {
                    self.advance(&jumps::$jumps.long_jump);
                }

                super::jumping!($W, $N, $jump);
            )?
        }

        impl TryRng for $Name {
            type Error = Infallible;

            numbers!($($numbers)+);

            #[inline]
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
                utils::fill_bytes_via_next_word(bytes, || Ok(self.next()))
            }
        }

        impl SeedableRng for $Name {
            type Seed = $Seed;

            /// The state, little-endian. All zeros would stay zeros: they stand for `seed_from_u64(0)`.
            fn from_seed(seed: $Seed) -> Self {
                Self { s: or_of_0(utils::read_words(seed.as_ref()), Self::expanded) }
            }

            /// The state is what [`SplitMix64`] makes of the seed.
            fn seed_from_u64(seed: u64) -> Self {
                Self { s: or_of_0(Self::expanded(seed), Self::expanded) }
            }
        }

        super::device_copy!($Name);
    )+};
}

generators! {
    Xoroshiro64Star, "xoroshiro64*": [u32; 2], [u8; 8];
    |s| s[0].wrapping_mul(0x9E37_79BB), xoroshiro!(s, 26, 9, 13);
    [u32];

    Xoroshiro64StarStar, "xoroshiro64**": [u32; 2], [u8; 8];
    |s| star_star!(s[0], 0x9E37_79BB, 5, 5), xoroshiro!(s, 26, 9, 13);
    [u32];

    Xoroshiro128Plus, "xoroshiro128+": [u64; 2], [u8; 16];
    |s| s[0].wrapping_add(s[1]), xoroshiro!(s, 24, 16, 37);
    [u64 >> 32];
    => XOROSHIRO128, "2^64", "2^96";

    Xoroshiro128PlusPlus, "xoroshiro128++": [u64; 2], [u8; 16];
    |s| plus_plus!(s[0], s[1], 17), xoroshiro!(s, 49, 21, 28);
    [u64 >> 0];
    => XOROSHIRO128_PLUS_PLUS, "2^64", "2^96";

    Xoroshiro128StarStar, "xoroshiro128**": [u64; 2], [u8; 16];
    |s| star_star!(s[0], 5, 7, 9), xoroshiro!(s, 24, 16, 37);
    [u64 >> 0];
    => XOROSHIRO128, "2^64", "2^96";

    Xoshiro128Plus, "xoshiro128+": [u32; 4], [u8; 16];
    |s| s[0].wrapping_add(s[3]), xoshiro4!(s, 9, 11);
    [u32];
    => XOSHIRO128, "2^64", "2^96";

    Xoshiro128PlusPlus, "xoshiro128++": [u32; 4], [u8; 16];
    |s| plus_plus!(s[0], s[3], 7), xoshiro4!(s, 9, 11);
    [u32];
    => XOSHIRO128, "2^64", "2^96";

    Xoshiro128StarStar, "xoshiro128**": [u32; 4], [u8; 16];
    |s| star_star!(s[1], 5, 7, 9), xoshiro4!(s, 9, 11);
    [u32];
    => XOSHIRO128, "2^64", "2^96";

    Xoshiro256Plus, "xoshiro256+": [u64; 4], [u8; 32];
    |s| s[0].wrapping_add(s[3]), xoshiro4!(s, 17, 45);
    [u64 >> 32];
    => XOSHIRO256, "2^128", "2^192";

    Xoshiro256PlusPlus, "xoshiro256++": [u64; 4], [u8; 32];
    |s| plus_plus!(s[0], s[3], 23), xoshiro4!(s, 17, 45);
    [u64 >> 32];
    => XOSHIRO256, "2^128", "2^192";

    Xoshiro256StarStar, "xoshiro256**": [u64; 4], [u8; 32];
    |s| star_star!(s[1], 5, 7, 9), xoshiro4!(s, 17, 45);
    [u64 >> 32];
    => XOSHIRO256, "2^128", "2^192";

    Xoshiro512Plus, "xoshiro512+": [u64; 8], Seed512;
    |s| s[0].wrapping_add(s[2]), xoshiro8!(s);
    [u64 >> 32];
    => XOSHIRO512, "2^256", "2^384";

    Xoshiro512PlusPlus, "xoshiro512++": [u64; 8], Seed512;
    |s| plus_plus!(s[2], s[0], 17), xoshiro8!(s);
    [u64 >> 32];
    => XOSHIRO512, "2^256", "2^384";

    Xoshiro512StarStar, "xoshiro512**": [u64; 8], Seed512;
    |s| star_star!(s[1], 5, 7, 9), xoshiro8!(s);
    [u64 >> 32];
    => XOSHIRO512, "2^256", "2^384";
}
