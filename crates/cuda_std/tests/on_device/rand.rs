//! Random numbers: the device's bits are the host's.

use bytemuck::{Pod, bytes_of, cast_slice};
use cuda_std::rand::numba::{Xoroshiro128p, create_xoroshiro128p_states};
use cuda_std::rand::xoroshiro::*;
use cuda_std::rand::{DefaultRand, GpuRand, Philox4x32, Rng, SeedableRng};

use crate::device::{Device, Params, line};

/// More than two blocks of 64, and the last warp is not full.
const THREADS: u32 = 141;
const STEPS: u32 = 9;

/// What the kernels draw in each step.
fn draw(rng: &mut impl Rng) -> [u64; 4] {
    [
        rng.next_u64(),
        rng.next_u32().into(),
        rng.uniform_f32().to_bits().into(),
        rng.uniform_f64().to_bits(),
    ]
}

fn upload<T: Pod>(device: &mut Device, states: &[T]) -> u64 {
    device.upload(cast_slice::<T, u8>(states))
}

/// The states' bytes.
fn download<T: Pod>(device: &Device, address: u64, states: &[T]) -> Vec<u8> {
    device.download(address, size_of_val(states))
}

/// Runs the kernel and the host's generators: the same numbers, and the same states afterwards.
fn check_draws<T: Pod + Rng>(kernel: &str, mut states: Vec<T>) {
    let mut device = Device::new();
    let on_device = upload(&mut device, &states);
    let out = device.upload(&vec![[u64::MAX; 4]; (THREADS * STEPS) as usize]);
    let params = Params::default().value(STEPS).value(on_device).value(THREADS).value(out);
    device.run(kernel, line(3, 64), &params);
    let expected: Vec<[u64; 4]> =
        states.iter_mut().flat_map(|rng| [(); STEPS as usize].map(|()| draw(rng))).collect();
    assert_eq!(device.download::<[u64; 4]>(out, expected.len()), expected, "{kernel}");
    assert_eq!(download(&device, on_device, &states), cast_slice::<T, u8>(&states), "{kernel}");
}

/// States of as many seeds as there are threads.
fn seeded<T: SeedableRng>() -> Vec<T> {
    (0..u64::from(THREADS)).map(|i| T::seed_from_u64(i * 0x1234_5678_9ABC)).collect()
}

#[test]
fn every_generator_s_bits() {
    check_draws("draw_split_mix_64", seeded::<SplitMix64>());
    check_draws("draw_xoroshiro_64_star", seeded::<Xoroshiro64Star>());
    check_draws("draw_xoroshiro_64_star_star", seeded::<Xoroshiro64StarStar>());
    check_draws("draw_xoroshiro_128_plus", seeded::<Xoroshiro128Plus>());
    check_draws("draw_xoroshiro_128_plus_plus", seeded::<Xoroshiro128PlusPlus>());
    check_draws("draw_xoshiro_128_plus", seeded::<Xoshiro128Plus>());
    check_draws("draw_xoshiro_128_plus_plus", seeded::<Xoshiro128PlusPlus>());
    check_draws("draw_xoshiro_128_star_star", seeded::<Xoshiro128StarStar>());
    check_draws("draw_xoshiro_256_plus", seeded::<Xoshiro256Plus>());
    check_draws("draw_xoshiro_256_plus_plus", seeded::<Xoshiro256PlusPlus>());
    check_draws("draw_xoshiro_256_star_star", seeded::<Xoshiro256StarStar>());
    check_draws("draw_xoshiro_512_plus", seeded::<Xoshiro512Plus>());
    check_draws("draw_xoshiro_512_plus_plus", seeded::<Xoshiro512PlusPlus>());
    check_draws("draw_xoshiro_512_star_star", seeded::<Xoshiro512StarStar>());
    check_draws("draw_philox_4x32", seeded::<Philox4x32>());
}

/// States that the host makes, one a thread, continue on the device.
#[test]
fn streams_made_on_the_host() {
    macro_rules! check {
        ($($kernel:literal: $Name:ident;)+) => {$(
            check_draws($kernel, $Name::initialize_states(11, THREADS as usize));
        )+};
    }
    check! {
        "draw_xoroshiro_128_plus": Xoroshiro128Plus;
        "draw_xoroshiro_128_plus_plus": Xoroshiro128PlusPlus;
        "draw_xoroshiro_128_star_star": Xoroshiro128StarStar;
        "draw_xoshiro_128_plus": Xoshiro128Plus;
        "draw_xoshiro_128_plus_plus": Xoshiro128PlusPlus;
        "draw_xoshiro_128_star_star": Xoshiro128StarStar;
        "draw_xoshiro_256_plus": Xoshiro256Plus;
        "draw_xoshiro_256_plus_plus": Xoshiro256PlusPlus;
        "draw_xoshiro_256_star_star": Xoshiro256StarStar;
        "draw_xoshiro_512_plus": Xoshiro512Plus;
        "draw_xoshiro_512_plus_plus": Xoshiro512PlusPlus;
        "draw_xoshiro_512_star_star": Xoshiro512StarStar;
        "draw_xoroshiro_128_star_star": DefaultRand;
        "draw_numba": Xoroshiro128p;
    }
    check_draws("draw_numba", create_xoroshiro128p_states(THREADS as usize, 12, 3));
}

#[test]
fn jumps() {
    macro_rules! check {
        ($($kernel:literal: $Name:ident;)+) => {$(
            let mut states = seeded::<$Name>();
            states.truncate(40);
            let mut device = Device::new();
            let on_device = upload(&mut device, &states);
            let params = Params::default().value(on_device).value(40_u32);
            device.run($kernel, line(1, 64), &params);
            for (i, state) in states.iter_mut().enumerate() {
                match i % 3 {
                    0 => state.jump(),
                    1 => state.long_jump(),
                    _ => {}
                }
            }
            let expected = cast_slice::<$Name, u8>(&states);
            assert_eq!(download(&device, on_device, &states), expected, $kernel);
        )+};
    }
    check! {
        "jump_xoroshiro_128_plus": Xoroshiro128Plus;
        "jump_xoroshiro_128_plus_plus": Xoroshiro128PlusPlus;
        "jump_xoroshiro_128_star_star": Xoroshiro128StarStar;
        "jump_xoshiro_128_plus": Xoshiro128Plus;
        "jump_xoshiro_128_plus_plus": Xoshiro128PlusPlus;
        "jump_xoshiro_128_star_star": Xoshiro128StarStar;
        "jump_xoshiro_256_plus": Xoshiro256Plus;
        "jump_xoshiro_256_plus_plus": Xoshiro256PlusPlus;
        "jump_xoshiro_256_star_star": Xoshiro256StarStar;
        "jump_xoshiro_512_plus": Xoshiro512Plus;
        "jump_xoshiro_512_plus_plus": Xoshiro512PlusPlus;
        "jump_xoshiro_512_star_star": Xoshiro512StarStar;
    }
}

#[test]
fn philox_in_the_kernel() {
    let (seed, steps) = (0xFEDC_BA98_7654_3210_u64, 7);
    for offset in [0, 1, 4_294_967_295 * 4 + 2, u64::MAX - 1] {
        let mut device = Device::new();
        let out = device.upload(&vec![0xA5A5_A5A5_u32; 96 * steps as usize]);
        let params = Params::default().value(seed).value(offset).value(steps).value(out);
        device.run("philox_streams", line(3, 32), &params);
        // By the definition, not by the host's generator.
        let number = |thread: u32, step: u32| {
            let position = u128::from(offset) + u128::from(step);
            let block = position / 4;
            let counter = [block as u32, (block >> 32) as u32, thread, 0];
            Philox4x32::block(counter, [seed as u32, (seed >> 32) as u32])[(position % 4) as usize]
        };
        let expected: Vec<u32> = (0..96)
            .flat_map(|thread| (0..steps).map(move |step| (thread, step)))
            .map(|(thread, step)| number(thread, step))
            .collect();
        assert_eq!(device.download::<u32>(out, expected.len()), expected);
    }
}

/// The logarithm, the square root, sine and cosine of both sides are accurate to a few units in the last place.
#[test]
fn normal_numbers() {
    let mut states = DefaultRand::initialize_states(13, 256);
    let mut device = Device::new();
    let on_device = upload(&mut device, &states);
    let narrow = device.upload(&[[f32::NAN; 2]; 256]);
    let wide = device.upload(&[[f64::NAN; 2]; 256]);
    let params = Params::default().value(on_device).value(narrow).value(wide);
    device.run("normals", line(4, 64), &params);
    let narrow = device.download::<[f32; 2]>(narrow, 256);
    let wide = device.download::<[f64; 2]>(wide, 256);
    for ((state, narrow), wide) in states.iter_mut().zip(narrow).zip(wide) {
        for (device, host) in narrow.into_iter().zip(state.normal_f32_2()) {
            assert!((device - host).abs() <= 8.0 * f32::EPSILON * host.abs(), "{device} {host}");
        }
        for (device, host) in wide.into_iter().zip(state.normal_f64_2()) {
            assert!((device - host).abs() <= 8.0 * f64::EPSILON * host.abs(), "{device} {host}");
        }
    }
    assert_eq!(download(&device, on_device, &states), cast_slice::<_, u8>(&states));
}

#[test]
fn a_state_as_a_parameter() {
    let mut rng = DefaultRand::seed_from_u64(17);
    let mut device = Device::new();
    let out = device.upload(&[0_u64]);
    device.run("one_number", line(1, 1), &Params::default().bytes(bytes_of(&rng), 8).value(out));
    assert_eq!(device.download::<u64>(out, 1), [rng.next_u64()]);
}
