//! How far results are from the exact ones: measured, and held to what `docs/maths.md` states.

use std::collections::BTreeMap;

use crate::device::{Source, run};
use crate::domains;
use crate::on_device::{Backend, backend};
use crate::report::{self, Errors};
use crate::ulp;

/// Arguments of each function of f32.
const COUNT: usize = 12_000;

/// The largest error of each function.
fn measure(source: Source) -> BTreeMap<String, f64> {
    let mut errors = BTreeMap::new();
    for (seed, function) in (1..).zip(domains::all()) {
        let (bits, values) = function.arguments(seed, COUNT);
        let found = run(source, &format!("k_{}", function.name), &bits);
        let mut largest = (0_f64, 0);
        for (i, (found, values)) in found.iter().zip(&values).enumerate() {
            let exact = (function.reference)(values);
            let scale = if function.from_swing { swing(values) } else { 0.0 };
            let error = ulp::of_f32(f32::from_bits(found[0] as u32), exact, scale);
            if error > largest.0 {
                largest = (error, i);
            }
        }
        let (error, i) = largest;
        assert!(error.is_finite(), "{} of {:?} is {:x?}", function.name, values[i], found[i]);
        println!("{:<16} {error:10.3} at {:?}", function.name, values[i]);
        errors.insert(function.name.to_owned(), error);
    }
    for (name, vectors) in vectors() {
        let arguments: Vec<[u64; 4]> = vectors.iter().map(|vector| vector.arguments).collect();
        let found = run(source, &format!("k_{name}"), &arguments);
        let mut largest = (0_f64, 0);
        for (i, (found, vector)) in found.iter().zip(&vectors).enumerate() {
            let scale = if name.len() == 2 { swing(&vector.values) } else { 0.0 };
            let got = f64::from_bits(found[0]);
            let error = ulp::of_f64(got, vector.near, vector.rest, scale);
            if error > largest.0 {
                largest = (error, i);
            }
        }
        let (error, i) = largest;
        assert!(error.is_finite(), "{name} of {:?} is {:x?}", vectors[i].values, found[i]);
        println!("{name:<16} {error:10.3} at {:?}", vectors[i].values);
        errors.insert(name, error);
    }
    errors
}

/// The size of a Bessel function's swings at its last argument (Abramowitz and Stegun, 9.2.1), at most 1.
fn swing(values: &[f64]) -> f64 {
    let x = values.last().expect("a function has an argument").abs();
    (2.0 / (std::f64::consts::PI * x)).sqrt().min(1.0)
}

/// A function's arguments and exact value.
struct Vector {
    arguments: [u64; 4],
    values: Vec<f64>,
    near: f64,
    /// In units in the last place.
    rest: f64,
}

/// What `make_vectors.py` wrote, by function.
fn vectors() -> BTreeMap<String, Vec<Vector>> {
    let mut functions: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in include_str!("vectors.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, middle @ .., near, rest] = words.as_slice() else { panic!("{line}") };
        let bits = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
        let mut arguments = [0; 4];
        let mut values = Vec::new();
        for (argument, word) in arguments.iter_mut().zip(middle) {
            if let Some(integer) = word.strip_prefix('i') {
                let integer: i32 = integer.parse().expect("decimal");
                *argument = u64::from(integer as u32);
                values.push(integer.into());
            } else {
                *argument = bits(word);
                values.push(f64::from_bits(*argument));
            }
        }
        let rest: f64 = rest.parse().expect("a number");
        functions.entry((*name).to_owned()).or_default().push(Vector {
            arguments,
            values,
            near: f64::from_bits(bits(near)),
            rest: rest / 1000.0,
        });
    }
    functions
}

/// How much more the error of a function may be on hardware than on the emulator, whose approximate instructions round correctly
/// (PTX ISA, "Floating Point Instructions"): `sin` and `cos` are off by up to 2^-20.5, `tanh` by a relative 2^-11, the others by
/// about 2 units in the last place.
fn allowance(source: Source, name: &str) -> f64 {
    let of_f32 = domains::all().any(|function| function.name == name);
    match name {
        _ if backend() == Backend::Emulator => 0.0,
        "fast_sinf" | "fast_cosf" => 8.0,
        "fast_tanhf" => 8192.0,
        // The logarithm's error is multiplied by the exponent.
        "fast_powf" => 16.0,
        "frsqrt_rn" => 0.0,
        "rsqrtf" => 2.0,
        _ if name.starts_with("fast_") => 4.0,
        _ if of_f32 && source == Source::Libdevice => 2.0,
        _ => 0.0,
    }
}

#[test]
fn errors_stay_within_what_the_documentation_states() {
    let measured: Vec<(Source, BTreeMap<String, f64>)> =
        Source::all().map(|source| (source, measure(source))).collect();
    let stated = if report::is_to_be_written() { report::write(&measured) } else { report::read() };
    let mut wrong = Vec::new();
    for (source, errors) in &measured {
        for (name, &error) in errors {
            let limit = stated.get(name).and_then(|errors: &Errors| errors.of(*source));
            let limit = limit.map(|limit| limit + allowance(*source, name));
            match limit {
                Some(limit) if error <= limit => {}
                Some(limit) => {
                    wrong.push(format!("{name} from {source:?}: {error}, stated {limit}"))
                }
                None => wrong.push(format!("{name} from {source:?}: {error}, nothing stated")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
