//! Functions of integers and bits, against other ways to compute the same.

use crate::device::{Source, numbers, run};

/// A function of up to three words, of which the lower 32 or 64 bits count.
type Words = fn([u64; 4]) -> u64;

fn signed(word: u64) -> i128 {
    i128::from(word as u32 as i32)
}

fn unsigned(word: u64) -> i128 {
    i128::from(word as u32)
}

fn long(word: u64) -> i128 {
    i128::from(word as i64)
}

fn narrow(value: i128) -> u64 {
    u64::from(value as u32)
}

/// The lower 24 bits, the highest of them the sign.
fn signed_24(word: u64) -> i128 {
    let low = i128::from(word & 0xFF_FFFF);
    if low >= 1 << 23 { low - (1 << 24) } else { low }
}

/// The number of the lowest (`step` 1) or highest (`step` -1) set bit of `bits` bits.
fn find(word: u64, mut order: impl Iterator<Item = u32>) -> Option<u32> {
    order.find(|bit| word >> bit & 1 == 1)
}

fn reversed(word: u64, bits: u32) -> u64 {
    (0..bits).fold(0, |sum, bit| sum << 1 | word >> bit & 1)
}

const FUNCTIONS: &[(&str, Words)] = &[
    ("abs", |a| narrow(signed(a[0]).abs())),
    ("llabs", |a| long(a[0]).unsigned_abs() as u64),
    ("max", |a| narrow(signed(a[0]).max(signed(a[1])))),
    ("min", |a| narrow(signed(a[0]).min(signed(a[1])))),
    ("umax", |a| narrow(unsigned(a[0]).max(unsigned(a[1])))),
    ("umin", |a| narrow(unsigned(a[0]).min(unsigned(a[1])))),
    ("llmax", |a| long(a[0]).max(long(a[1])) as u64),
    ("llmin", |a| long(a[0]).min(long(a[1])) as u64),
    ("ullmax", |a| a[0].max(a[1])),
    ("ullmin", |a| a[0].min(a[1])),
    ("clz", |a| find(a[0], (0..32).rev()).map_or(32, |bit| 31 - bit).into()),
    ("clzll", |a| find(a[0], (0..64).rev()).map_or(64, |bit| 63 - bit).into()),
    ("popc", |a| (0..32).map(|bit| a[0] >> bit & 1).sum()),
    ("popcll", |a| (0..64).map(|bit| a[0] >> bit & 1).sum()),
    ("ffs", |a| find(a[0], 0..32).map_or(0, |bit| bit + 1).into()),
    ("ffsll", |a| find(a[0], 0..64).map_or(0, |bit| bit + 1).into()),
    ("brev", |a| reversed(a[0], 32)),
    ("brevll", |a| reversed(a[0], 64)),
    ("mulhi", |a| narrow((signed(a[0]) * signed(a[1])).div_euclid(1 << 32))),
    ("umulhi", |a| narrow(unsigned(a[0]) * unsigned(a[1]) / (1 << 32))),
    ("mul64hi", |a| (long(a[0]) * long(a[1])).div_euclid(1 << 64) as u64),
    ("umul64hi", |a| (u128::from(a[0]) * u128::from(a[1]) / (1 << 64)) as u64),
    ("mul24", |a| narrow(signed_24(a[0]) * signed_24(a[1]))),
    ("umul24", |a| narrow(i128::from(a[0] & 0xFF_FFFF) * i128::from(a[1] & 0xFF_FFFF))),
    ("sad", |a| narrow((signed(a[0]) - signed(a[1])).abs() + unsigned(a[2]))),
    ("usad", |a| narrow((unsigned(a[0]) - unsigned(a[1])).abs() + unsigned(a[2]))),
    ("hadd", |a| narrow((signed(a[0]) + signed(a[1])).div_euclid(2))),
    ("rhadd", |a| narrow((signed(a[0]) + signed(a[1]) + 1).div_euclid(2))),
    ("uhadd", |a| narrow((unsigned(a[0]) + unsigned(a[1])) / 2)),
    ("urhadd", |a| narrow((unsigned(a[0]) + unsigned(a[1]) + 1) / 2)),
    ("byte_perm", |a| {
        let mut bytes = (a[0] as u32).to_le_bytes().to_vec();
        bytes.extend((a[1] as u32).to_le_bytes());
        let pick = [0, 4, 8, 12].map(|shift| bytes[(a[2] >> shift & 7) as usize]);
        u32::from_le_bytes(pick).into()
    }),
    ("float_as_int", |a| narrow(unsigned(a[0]))),
    ("float_as_uint", |a| narrow(unsigned(a[0]))),
    ("int_as_float", |a| narrow(unsigned(a[0]))),
    ("uint_as_float", |a| narrow(unsigned(a[0]))),
    ("double_as_longlong", |a| a[0]),
    ("longlong_as_double", |a| a[0]),
    ("double2hiint", |a| a[0] / (1 << 32)),
    ("double2loint", |a| a[0] % (1 << 32)),
    ("hiloint2double", |a| (a[0] << 32) + a[1] % (1 << 32)),
];

#[test]
fn integer_functions_agree_with_other_ways_to_compute_them() {
    const EDGES: [u64; 8] =
        [0, 1, u64::MAX, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1, 0x0080_0000];
    let mut random = numbers(7);
    let mut word = || {
        let pick = random.next().expect("endless");
        let edge = EDGES[(pick >> 8) as usize % EDGES.len()];
        // Edges, small numbers, and anything.
        match pick % 4 {
            0 => edge,
            1 => pick >> 58,
            _ => random.next().expect("endless"),
        }
    };
    let arguments: Vec<[u64; 4]> = (0..1501).map(|_| std::array::from_fn(|_| word())).collect();
    for (name, expected) in FUNCTIONS {
        let found = run(Source::Fallback, &format!("k_{name}"), &arguments);
        for (found, arguments) in found.iter().zip(&arguments) {
            // NaNs keep their bits: no arithmetic is done.
            assert_eq!(found[0], expected(*arguments), "{name} of {arguments:x?}");
        }
    }
}
