//! Functions of `core` compiled by rustc twice: into this test, and to PTX that the emulator runs
//! (`both_ways/build.sh` makes `data/both_ways.ptx.gz`). Both must give the same bits.
//!
//! A NaN is the exception: f32 arithmetic on a GPU gives the one pattern 0x7FFFFFFF, that of f64 and conversions pass
//! payloads on by rules of their own (recorded, see `golden.rs`), and the host's processor has others. Here a NaN must
//! be a NaN.

// The functions are written for both targets, and say every conversion.
#![allow(clippy::unnecessary_cast)]

use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;
use ptx_emulator::{Launch, Machine, MachineConfig, Program};

/// What the words that a function gives are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)] // As the functions' file says it.
enum Kind {
    exact,
    f32,
    f64,
}

type Words = [u64; 4];

macro_rules! functions {
    ($($kind:ident $name:ident($x:ident) $body:block)*) => {
        const FUNCTIONS: &[(&str, Kind, fn(Words) -> Words)] =
            &[$((stringify!($name), Kind::$kind, |$x| $body)),*];
    };
}

include!("both_ways/functions.rs");

const THREADS: usize = 4000;

/// Inputs at the edges of integers and floats, and others.
fn inputs() -> Vec<Words> {
    const F32: [u32; 16] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007F_FFFF,
        0x0080_0000,
        0x3F80_0000,
        0xBF80_0000,
        0x7F7F_FFFF,
        0xFF7F_FFFF,
        0x7F80_0000,
        0xFF80_0000,
        0x7FC0_0000,
        0xFFA0_0001,
        0x4F00_0000,
        0xDF00_0000,
    ];
    const F64: [u64; 16] = [
        0,
        1 << 63,
        1,
        0x000F_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x3FF0_0000_0000_0000,
        0xBFE0_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0xFFF4_0000_0000_0001,
        0x41E0_0000_0000_0000,
        0x43E0_0000_0000_0000,
        0xC3E0_0000_0000_0001,
        0x36A0_0000_0000_0000,
    ];
    let mut state = 0x1234_5678_9ABC_DEF1_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut word = move || {
        let (a, b) = (next(), next());
        let shift = (b >> 8) & 63;
        match b & 15 {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << shift,
            3 => (1_u64 << shift).wrapping_sub(1),
            4 => (1_u64 << shift).wrapping_neg(),
            5 => a >> shift,
            6 => (a as i64 >> shift) as u64,
            7 | 8 => F64[a as usize % 16],
            9 | 10 => u64::from(F32[a as usize % 16]) | a << 32,
            // Floats of ordinary size, which meet near each other.
            11 => ((a as i64 >> 40) as f64 / 64.0).to_bits(),
            12 => u64::from(((a as i64 >> 50) as f32 / 8.0).to_bits()),
            _ => a,
        }
    };
    (0..THREADS).map(|_| [word(), word(), word(), word()]).collect()
}

fn same(kind: Kind, native: u64, emulated: u64) -> bool {
    match kind {
        Kind::exact => native == emulated,
        Kind::f32 if f32::from_bits(native as u32).is_nan() => {
            emulated >> 32 == 0 && f32::from_bits(emulated as u32).is_nan()
        }
        Kind::f32 => native == emulated,
        Kind::f64 if f64::from_bits(native).is_nan() => f64::from_bits(emulated).is_nan(),
        Kind::f64 => native == emulated,
    }
}

#[test]
fn functions_of_core_give_the_same_bits() {
    let mut ptx = String::new();
    GzDecoder::new(&include_bytes!("data/both_ways.ptx.gz")[..])
        .read_to_string(&mut ptx)
        .expect("gzip");
    let program = Arc::new(Program::compile(&ptx).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(program.kernels().count(), FUNCTIONS.len(), "run both_ways/build.sh");
    let inputs = inputs();
    let bytes: Vec<u8> = inputs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let mut wrong = Vec::new();
    for (name, kind, function) in FUNCTIONS {
        let mut machine = Machine::new(MachineConfig::default());
        let module = machine.load(program.clone()).expect("little memory is needed");
        let memory = machine.memory_mut();
        let input = memory.alloc(bytes.len() as u64, "input").expect("memory");
        let output = memory.alloc(bytes.len() as u64, "output").expect("memory");
        memory.write(input, &bytes).expect("allocated");
        let launch = Launch {
            kernel: name,
            grid: [(THREADS / 80) as u32, 1, 1],
            block: [80, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[input.to_le_bytes(), output.to_le_bytes()].concat(),
        };
        machine
            .launch(module, &launch, &mut Vec::new())
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let mut results = vec![0; bytes.len()];
        machine.memory().read(output, &mut results).expect("allocated");
        let words: Vec<u64> = results
            .chunks_exact(8)
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes))
            .collect();
        let mut differences = 0;
        for (words, input) in words.chunks_exact(4).zip(&inputs) {
            let native = function(*input);
            for at in 0..4 {
                if !same(*kind, native[at], words[at]) {
                    differences += 1;
                    if differences <= 2 {
                        wrong.push(format!(
                            "{name}: word {at} for {input:x?} is {:#x}, natively {:#x}",
                            words[at], native[at]
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
