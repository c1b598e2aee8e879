//! Against `rand_xoshiro`, published vectors, and the distributions themselves.

use core::convert::Infallible;
use std::collections::HashSet;
use std::vec::Vec;

use rand_core::TryRng;

use super::numba::{Xoroshiro128p, create_xoroshiro128p_states};
use super::xoroshiro::*;
use super::*;
use crate::intrinsics::normcdf;

const SEEDS: [u64; 4] = [0, 1, 0x0123_4567_89AB_CDEF, u64::MAX];

/// The same numbers of every size, in turns.
fn same_numbers(ours: &mut impl Rng, theirs: &mut impl Rng) {
    for _ in 0..300 {
        assert_eq!(ours.next_u64(), theirs.next_u64());
        assert_eq!(ours.next_u32(), theirs.next_u32());
    }
    let (mut mine, mut other) = ([0; 13], [1; 13]);
    ours.fill_bytes(&mut mine);
    theirs.fill_bytes(&mut other);
    assert_eq!(mine, other);
}

/// The same seeds, numbers and, where there are any, jumps as the generators of the same names in `rand_xoshiro`.
macro_rules! same_as_rand_xoshiro {
    ($($test:ident: $Name:ident $(, $jump:ident)*;)+) => {$(
        #[test]
        fn $test() {
            for seed in SEEDS {
                let mut ours = $Name::seed_from_u64(seed);
                let mut theirs = rand_xoshiro::$Name::seed_from_u64(seed);
                same_numbers(&mut ours, &mut theirs);
                $(
                    ours.$jump();
                    theirs.$jump();
                    same_numbers(&mut ours, &mut theirs);
                )*
            }
            let zero = <$Name as SeedableRng>::Seed::default();
            let mut theirs = rand_xoshiro::$Name::from_seed(zero);
            same_numbers(&mut $Name::from_seed(zero), &mut theirs);
            let any = core::array::from_fn(|i| i as u8 + 1);
            let mut theirs = rand_xoshiro::$Name::from_seed(any);
            same_numbers(&mut $Name::from_seed(any), &mut theirs);
        }
    )+};
}

/// The same for the seeds of 64 bytes, which have a type of their own.
macro_rules! same_large {
    ($($test:ident: $Name:ident;)+) => {$(
        #[test]
        fn $test() {
            for seed in SEEDS {
                let mut ours = $Name::seed_from_u64(seed);
                let mut theirs = rand_xoshiro::$Name::seed_from_u64(seed);
                same_numbers(&mut ours, &mut theirs);
                ours.jump();
                theirs.jump();
                same_numbers(&mut ours, &mut theirs);
                ours.long_jump();
                theirs.long_jump();
                same_numbers(&mut ours, &mut theirs);
            }
            for seed in [[0; 64], core::array::from_fn(|i| i as u8 + 1)] {
                let mut theirs = rand_xoshiro::$Name::from_seed(rand_xoshiro::Seed512(seed));
                same_numbers(&mut $Name::from_seed(Seed512(seed)), &mut theirs);
            }
        }
    )+};
}

same_as_rand_xoshiro! {
    split_mix_64: SplitMix64;
    xoroshiro_64_star: Xoroshiro64Star;
    xoroshiro_64_star_star: Xoroshiro64StarStar;
    xoroshiro_128_plus: Xoroshiro128Plus, jump, long_jump;
    xoroshiro_128_plus_plus: Xoroshiro128PlusPlus, jump, long_jump;
    xoroshiro_128_star_star: Xoroshiro128StarStar, jump, long_jump;
    xoshiro_128_plus: Xoshiro128Plus, jump, long_jump;
    xoshiro_128_plus_plus: Xoshiro128PlusPlus, jump, long_jump;
    xoshiro_128_star_star: Xoshiro128StarStar, jump, long_jump;
    xoshiro_256_plus: Xoshiro256Plus, jump, long_jump;
    xoshiro_256_plus_plus: Xoshiro256PlusPlus, jump, long_jump;
    xoshiro_256_star_star: Xoshiro256StarStar, jump, long_jump;
}

same_large! {
    xoshiro_512_plus: Xoshiro512Plus;
    xoshiro_512_plus_plus: Xoshiro512PlusPlus;
    xoshiro_512_star_star: Xoshiro512StarStar;
}

/// The vectors for `philox4x32 10` of the Random123 library.
#[test]
fn philox_has_the_numbers_that_its_authors_publish() {
    let vectors = [
        ([0; 4], [0; 2], [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD]),
        (
            [0x243F_6A88, 0x85A3_08D3, 0x1319_8A2E, 0x0370_7344],
            [0xA409_3822, 0x299F_31D0],
            [0xD16C_FE09, 0x94FD_CCEB, 0x5001_E420, 0x2412_6EA1],
        ),
    ];
    for (counter, key, numbers) in vectors {
        assert_eq!(Philox4x32::block(counter, key), numbers);
    }
}

#[test]
fn philox_counts_as_curand_does() {
    let (seed, subsequence) = (0x1111_2222_3333_4444, 0x5555_6666_7777_8888);
    let mut rng = Philox4x32::new(seed, subsequence, 0);
    for block in 0..5 {
        let counter = [block, 0, 0x7777_8888, 0x5555_6666];
        for number in Philox4x32::block(counter, [0x3333_4444, 0x1111_2222]) {
            assert_eq!(rng.next_u32(), number);
        }
    }
    // The lower half is full: the next block belongs to the next subsequence.
    let mut rng = Philox4x32::new(seed, subsequence, u64::MAX);
    rng.skip(u64::MAX);
    rng.skip(u64::MAX);
    rng.skip(u64::MAX);
    rng.skip(3);
    assert_eq!(
        rng.next_u32(),
        Philox4x32::block(
            [u32::MAX, u32::MAX, 0x7777_8888, 0x5555_6666],
            [0x3333_4444, 0x1111_2222]
        )[3]
    );
    assert_eq!(rng, Philox4x32::new(seed, subsequence + 1, 0));
}

#[test]
fn philox_skips_as_if_it_had_drawn() {
    for drawn in 0..9 {
        for skipped in 0..9 {
            let mut skipping = Philox4x32::new(9, 4, drawn);
            let mut drawing = Philox4x32::new(9, 4, 0);
            skipping.skip(skipped);
            for _ in 0..drawn + skipped {
                drawing.next_u32();
            }
            assert_eq!(skipping, drawing);
            assert_eq!(skipping, Philox4x32::new(9, 4, drawn + skipped));
            skipping.skip_subsequences(7);
            assert_eq!(skipping, Philox4x32::new(9, 11, drawn + skipped));
        }
    }
    let mut last = Philox4x32::new(9, u64::MAX, 2);
    last.skip_subsequences(1);
    assert_eq!(last, Philox4x32::new(9, 0, 2));
}

/// States and numbers that the formulas of `numba/cuda/random.py` give in plain Python.
#[test]
fn numba_s_streams() {
    // Seed, subsequence, state, numbers.
    let vectors: [(u64, u64, [u64; 2], [u64; 3]); 5] = [
        (
            0x0000_0000_0000_0000,
            0,
            [0xE220_A839_7B1D_CDAF, 0xE220_A839_7B1D_CDAF],
            [0xC441_5072_F63B_9B5E, 0xD7F1_1054_1CBD_8EE6, 0xAC68_DE60_D41B_5562],
        ),
        (
            0x0000_0000_0000_0001,
            0,
            [0x910A_2DEC_8902_5CC1, 0x910A_2DEC_8902_5CC1],
            [0x2214_5BD9_1204_B982, 0x60C8_8516_F644_812E, 0x3B05_6FAB_69FC_74DD],
        ),
        (
            0x0000_0000_0000_0001,
            1,
            [0x73C1_9A53_48FC_9098, 0x6C96_C932_F21D_71EE],
            [0xE058_6386_3B1A_0286, 0x35D4_F476_E08D_5559, 0x6B48_E8D3_78DE_8C7B],
        ),
        (
            0x0000_0000_DEAD_BEEF,
            3,
            [0x9EA7_8CF6_918B_6378, 0x3603_4F2B_A2F3_C1FC],
            [0xD4AA_DC22_347F_2574, 0x5BA7_050F_EADD_A508, 0xE1FC_AEB8_1843_DB53],
        ),
        (
            0xFFFF_FFFF_FFFF_FFFF,
            5,
            [0xA68E_DAEF_D966_0B90, 0x307E_464F_0FFA_B733],
            [0xD70D_213E_E960_C2C3, 0xE357_B8A3_FD62_99B3, 0xDF78_74A1_997F_2F0A],
        ),
    ];
    for (seed, subsequence, state, numbers) in vectors {
        let mut rng = create_xoroshiro128p_states(1, seed, subsequence)[0];
        assert_eq!(bytemuck::cast::<_, [u64; 2]>(rng), state);
        assert_eq!([(); 3].map(|()| rng.next_u64()), numbers);
    }
    let all = create_xoroshiro128p_states(9, 77, 0);
    assert_eq!(all[4..], create_xoroshiro128p_states(5, 77, 4));
    assert_eq!(Xoroshiro128p::initialize_states(77, 9), all);
}

#[test]
fn states_are_a_jump_apart_and_their_streams_do_not_meet() {
    macro_rules! check {
        ($($Name:ident)+) => {$(
            let states = $Name::initialize_states(5, 64);
            let mut expected = $Name::seed_from_u64(5);
            let mut seen = HashSet::new();
            for mut state in states {
                assert_eq!(state, expected);
                expected.jump();
                // Two numbers of a state are its fingerprint: streams that meet have one in common.
                for _ in 0..500 {
                    assert!(seen.insert((state.next_u64(), { let mut next = state; next.next_u64() })));
                }
            }
            assert_eq!($Name::initialize_states(5, 0), []);
        )+};
    }
    check!(Xoroshiro128Plus Xoroshiro128PlusPlus Xoroshiro128StarStar Xoshiro128Plus Xoshiro128PlusPlus Xoshiro128StarStar);
    check!(Xoshiro256Plus Xoshiro256PlusPlus Xoshiro256StarStar Xoshiro512Plus Xoshiro512PlusPlus Xoshiro512StarStar);
    check!(Xoroshiro128p);
}

/// The same bits again and again.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

#[test]
fn ends_of_the_intervals() {
    let (mut least, mut greatest) = (Constant(0), Constant(u64::MAX));
    assert_eq!((least.uniform_f32(), least.uniform_f64()), (0.0, 0.0));
    assert_eq!(greatest.uniform_f32(), 1.0 - 2.0_f32.powi(-24));
    assert_eq!(greatest.uniform_f64(), 1.0 - 2.0_f64.powi(-53));
    assert_eq!((least.normal_f32(), least.normal_f64()), (0.0, 0.0));
    let (narrow, wide) = (greatest.normal_f32(), greatest.normal_f64());
    assert!(narrow > 5.76 && narrow < 5.8 && wide > 8.57 && wide < 8.6, "{narrow} {wide}");
    // The state whose sum is the largest number.
    let mut numba: Xoroshiro128p = bytemuck::cast([u64::MAX - 5, 5]);
    assert_eq!(numba.xoroshiro128p_uniform_float32(), 1.0);
    let mut numba: Xoroshiro128p = bytemuck::cast([u64::MAX - 5, 5]);
    assert_eq!(numba.xoroshiro128p_uniform_float64(), 1.0 - 2.0_f64.powi(-53));
}

/// How many numbers a distribution is judged by.
const COUNT: usize = 100_000;

/// Pearson's statistic of numbers that should be spread evenly over [0, 1], in 100 classes: 99 on average, and outside of 45 to 170
/// less than once in 10^5 seeds.
#[track_caller]
fn check_even(numbers: impl Iterator<Item = f64>) {
    let mut counts = [0_u32; 100];
    for x in numbers {
        counts[((x * 100.0) as usize).min(99)] += 1;
    }
    let total: u32 = counts.iter().sum();
    let expected = f64::from(total) / 100.0;
    let statistic: f64 =
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    assert!((45.0..170.0).contains(&statistic), "{statistic}");
}

/// The means of the first four powers, each within five standard deviations of a mean of so many.
#[track_caller]
fn check_moments(numbers: &[f64], expected: [f64; 4], variances: [f64; 4]) {
    for (power, (expected, variance)) in expected.into_iter().zip(variances).enumerate() {
        let sum: f64 = numbers.iter().map(|x| x.powi(power as i32 + 1)).sum();
        let (mean, n) = (sum / numbers.len() as f64, numbers.len() as f64);
        let tolerance = 5.0 * (variance / n).sqrt();
        assert!((mean - expected).abs() < tolerance, "power {}: {mean}", power + 1);
    }
}

/// Neighbours are not correlated.
#[track_caller]
fn check_neighbours(numbers: &[f64], mean: f64, variance: f64) {
    let products = numbers.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let correlation = products.sum::<f64>() / numbers.len() as f64 / variance;
    assert!(correlation.abs() < 5.0 / (numbers.len() as f64).sqrt(), "{correlation}");
}

#[track_caller]
fn check_uniform(mut next: impl FnMut() -> f64) {
    let numbers: Vec<f64> = core::iter::repeat_with(&mut next).take(COUNT).collect();
    assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
    check_even(numbers.iter().copied());
    // Of x^k: mean 1/(k+1), variance 1/(2k+1) - 1/(k+1)².
    let means = [1.0, 2.0, 3.0, 4.0].map(|k| 1.0 / (k + 1.0));
    let variances = [1.0, 2.0, 3.0, 4.0_f64].map(|k| 1.0 / (2.0 * k + 1.0) - (k + 1.0).powi(-2));
    check_moments(&numbers, means, variances);
    check_neighbours(&numbers, 0.5, 1.0 / 12.0);
}

#[track_caller]
fn check_normal(mut pair: impl FnMut() -> [f64; 2]) {
    let numbers: Vec<f64> = core::iter::repeat_with(&mut pair).take(COUNT / 2).flatten().collect();
    check_even(numbers.iter().map(|&x| normcdf(x)));
    // Of x^k: the moments 0, 1, 0, 3, and variances from the moments 1, 3, 15, 105 of order 2k.
    check_moments(&numbers, [0.0, 1.0, 0.0, 3.0], [1.0, 2.0, 15.0, 96.0]);
    check_neighbours(&numbers, 0.0, 1.0);
    // The two of a pair, and their squares.
    let squares: Vec<f64> = numbers.iter().map(|x| x * x).collect();
    check_neighbours(&squares, 1.0, 2.0);
}

#[test]
fn distributions() {
    macro_rules! check {
        ($($Name:ident)+) => {$(
            let mut rng = $Name::seed_from_u64(2024);
            check_uniform(|| rng.uniform_f32().into());
            check_uniform(|| rng.uniform_f64());
            check_normal(|| rng.normal_f32_2().map(f64::from));
            check_normal(|| rng.normal_f64_2());
        )+};
    }
    check!(SplitMix64 Xoroshiro64Star Xoroshiro64StarStar);
    check!(Xoroshiro128Plus Xoroshiro128PlusPlus Xoroshiro128StarStar);
    check!(Xoshiro128Plus Xoshiro128PlusPlus Xoshiro128StarStar);
    check!(Xoshiro256Plus Xoshiro256PlusPlus Xoshiro256StarStar);
    check!(Xoshiro512Plus Xoshiro512PlusPlus Xoshiro512StarStar);
    check!(Philox4x32 Xoroshiro128p);
}

#[test]
fn one_normal_number_is_the_first_of_two() {
    let (mut one, mut two) = (DefaultRand::seed_from_u64(3), DefaultRand::seed_from_u64(3));
    for _ in 0..100 {
        assert_eq!(one.normal_f32(), two.normal_f32_2()[0]);
        assert_eq!(one.normal_f64(), two.normal_f64_2()[0]);
    }
    assert_eq!(one, two);
}

/// Streams of neighbouring threads, one number of each: what a kernel's first numbers are.
#[test]
fn first_numbers_of_many_threads() {
    let mut states = DefaultRand::initialize_states(8, COUNT / 10);
    check_even(states.iter_mut().map(|state| state.uniform_f64()));
    check_even((0..COUNT as u64).map(|thread| Philox4x32::new(8, thread, 0).uniform_f64()));
}

#[test]
fn states_are_plain_data() {
    fn check<T: bytemuck::Pod + cust_core::DeviceCopy>(bytes: usize) {
        assert_eq!(size_of::<T>(), bytes);
    }
    check::<DefaultRand>(16);
    check::<SplitMix64>(8);
    check::<Xoshiro512Plus>(64);
    check::<Philox4x32>(44);
    check::<Xoroshiro128p>(16);
}
