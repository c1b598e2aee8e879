//! Random numbers of generators that kernels make and move: the device's bits are the host's.

use bytemuck::cast_slice;
use cuda_std::rand::numba::Xoroshiro128p;
use cuda_std::rand::rand_core::TryRng;
use cuda_std::rand::xoroshiro::{Seed512, Xoshiro512StarStar};
use cuda_std::rand::{DefaultRand, GpuRand, Philox4x32, Rng, SeedableRng};

use crate::device::{Device, Params, line, numbers};

#[test]
fn numba_s_uniform_numbers_and_jumps() {
    const STEPS: u32 = 5;
    let mut states: Vec<Xoroshiro128p> = (70..70 + 66).map(Xoroshiro128p::seed_from_u64).collect();
    let mut device = Device::checked();
    let on_device = device.upload(cast_slice::<Xoroshiro128p, u8>(&states));
    let out = device.upload(&[[u64::MAX; 2]; 66 * STEPS as usize]);
    let params = Params::default().value(STEPS).value(on_device).value(out);
    device.run("numba_uniform", line(2, 33), &params);
    let mut expected = Vec::new();
    for state in &mut states {
        for _ in 0..STEPS {
            // Numba's definition: the upper 53 bits of each number as a fraction.
            let [narrow, wide] = [(); 2].map(|()| (state.next_u64() >> 11) as f64 / 2_f64.powi(53));
            expected.push([u64::from((narrow as f32).to_bits()), wide.to_bits()]);
            state.jump();
        }
    }
    assert_eq!(device.download::<[u64; 2]>(out, expected.len()), expected);
    let after = device.download::<u8>(on_device, size_of_val(&*states));
    assert_eq!(after, cast_slice::<Xoroshiro128p, u8>(&states));
}

/// Number `position` of a subsequence, by Philox's definition alone.
fn philox(seed: u64, subsequence: u64, position: u128) -> u32 {
    // A subsequence has 2^64 blocks of four; behind its last one the next subsequence begins.
    let block = (u128::from(subsequence) << 64).wrapping_add(position / 4);
    let counter = [0, 32, 64, 96].map(|shift| (block >> shift) as u32);
    let numbers = Philox4x32::block(counter, [seed as u32, (seed >> 32) as u32]);
    numbers[(position % 4) as usize]
}

#[test]
fn philox_skips_numbers_and_subsequences() {
    const SEED: u64 = 0x0123_4567_89AB_CDEF;
    let mut skipped: Vec<u64> = numbers(41).take(61).map(|n| n >> (n % 64)).collect();
    skipped.extend([0, 1, 2, 3, 4, 5, u64::MAX, u64::MAX - 1]);
    let mut subsequences: Vec<u64> = numbers(42).take(67).map(|n| n >> (n % 64)).collect();
    subsequences.extend([0, u64::MAX]);
    let mut device = Device::checked();
    let [first, second] = [&skipped, &subsequences].map(|values| device.upload(values));
    let out = device.upload(&[[0xA5A5_A5A5_u32; 3]; 69]);
    let params = Params::default().value(SEED).slice(first, 69).slice(second, 69).value(out);
    device.run("philox_skips", line(3, 23), &params);
    let row = |i: u64| {
        let skipped = u128::from(skipped[i as usize]);
        let place = u128::from(i) + 1 + skipped;
        [
            philox(SEED, i, i.into()),
            philox(SEED, i, place),
            philox(SEED, i.wrapping_add(subsequences[i as usize]), place + 1),
        ]
    };
    assert_eq!(device.download::<[u32; 3]>(out, 69), (0..69).map(row).collect::<Vec<_>>());
}

/// The logarithm, the square root and the cosine of both sides are accurate to a few units in the last place.
#[test]
fn normal_numbers_one_at_a_time() {
    let mut states: Vec<DefaultRand> = (0..93).map(|i| DefaultRand::seed_from_u64(i * i)).collect();
    let mut device = Device::checked();
    let on_device = device.upload(cast_slice::<DefaultRand, u8>(&states));
    let narrow = device.upload(&[f32::NAN; 93]);
    let wide = device.upload(&[f64::NAN; 93]);
    let params = Params::default().value(on_device).value(narrow).value(wide);
    device.run("single_normals", line(3, 31), &params);
    let narrow = device.download::<f32>(narrow, 93);
    let wide = device.download::<f64>(wide, 93);
    for ((state, narrow), wide) in states.iter_mut().zip(narrow).zip(wide) {
        let host = state.normal_f32();
        assert!((narrow - host).abs() <= 8.0 * f32::EPSILON * host.abs(), "{narrow} {host}");
        let host = state.normal_f64();
        assert!((wide - host).abs() <= 8.0 * f64::EPSILON * host.abs(), "{wide} {host}");
    }
    let after = device.download::<u8>(on_device, size_of_val(&*states));
    assert_eq!(after, cast_slice::<DefaultRand, u8>(&states));
}

#[test]
fn seeds_made_in_the_kernel() {
    let mut device = Device::checked();
    let out = device.upload(&[[u64::MAX; 6]; 70]);
    device.run("seeds_in_the_kernel", line(2, 35), &Params::default().value(out));
    let row = |i: u32| {
        let long = Seed512(std::array::from_fn(|place| (i * 7 + place as u32 * 3) as u8));
        let mut another = Philox4x32::from_rng(&mut DefaultRand::seed_from_u64(i.into()));
        let mut bytes = [0xA5; 8];
        let Ok(()) = another.try_fill_bytes(&mut bytes[..7]);
        [
            Xoshiro512StarStar::from_seed(long).next_u64(),
            Xoshiro512StarStar::seed_from_u64(i.into()).next_u64(),
            DefaultRand::from_seed([i as u8; 16]).next_u64(),
            DefaultRand::seed_from_u64(u64::MAX - u64::from(i)).next_u64(),
            another.next_u64(),
            u64::from_le_bytes(bytes),
        ]
    };
    assert_eq!(device.download::<[u64; 6]>(out, 70), (0..70).map(row).collect::<Vec<_>>());
}
