//! The promise: whatever the text, `compile` refuses it or every launch ends properly; nothing panics.

#[path = "../../../fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/bodies/run.rs"]
mod run;

use std::sync::Arc;

use proptest::prelude::*;
use ptx_emulator::{CheckSet, Program};
use run::body as survive;

/// How many [`specimens`] there are.
const SPECIMENS: usize = 4;

/// Modules with most kinds of instructions, to be damaged.
fn specimens() -> [String; SPECIMENS] {
    [
        include_str!("data/fuzz/memory.ptx").to_owned(),
        include_str!("data/fuzz/control.ptx").to_owned(),
        include_str!("data/fuzz/matrix.ptx").to_owned(),
        include_str!("data/fuzz/loops.ptx").to_owned(),
    ]
}

#[test]
fn the_specimens_themselves_compile() {
    for source in specimens() {
        let program = Program::compile(&source).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(program.unsupported_instructions(), []);
        survive(&source);
        // Whole, they come to their end.
        let ends = run::run(&Arc::new(program), None, CheckSet::NONE);
        assert!(ends[0].0.starts_with("LaunchReport"), "{}", ends[0].0);
    }
}

/// What a word can be exchanged with.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Register(String),
    Modifier,
    Number,
    Other,
}

fn kind(source: &str, (start, end): (usize, usize)) -> Kind {
    let word = &source[start..end];
    match word.as_bytes()[0] {
        b'%' => Kind::Register(word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()),
        b'0'..=b'9' | b'-' | b'+' => Kind::Number,
        _ if source[..start].ends_with('.') => Kind::Modifier,
        _ => Kind::Other,
    }
}

/// Words of the kernel's instructions.
fn words(source: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    let kernel = source.rfind("mad.wide.u32 %a").unwrap_or(0);
    for (at, c) in source.char_indices().chain([(source.len(), ' ')]) {
        let inside = c.is_ascii_alphanumeric() || "%_$+-".contains(c);
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    words.retain(|word| word.0 > kernel);
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Replaces words by others of their kind: instructions that are well-formed, with wrong registers, types and addresses.
    #[test]
    fn exchanged_words(which in 0..SPECIMENS, swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8)) {
        let mut source = specimens()[which].clone();
        for (to, from) in swaps {
            let all = words(&source);
            let to = all[to.index(all.len())];
            let same: Vec<(usize, usize)> = all.into_iter().filter(|word| kind(&source, *word) == kind(&source, to)).collect();
            let from = same[from.index(same.len())];
            let word = source[from.0..from.1].to_owned();
            source.replace_range(to.0..to.1, &word);
        }
        survive(&source);
    }

    /// Replaces numbers by those that sit at limits.
    #[test]
    fn extreme_numbers(which in 0..SPECIMENS, changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..14), 1..8)) {
        const EXTREMES: [&str; 14] = [
            "0", "-1", "4294967295", "4294967296", "18446744073709551615", "-9223372036854775808", "0x7fffffff", "1", "65536", "31", "32", "1024", "-2", "3",
        ];
        let mut source = specimens()[which].clone();
        for (at, extreme) in changes {
            let numbers: Vec<(usize, usize)> = words(&source).into_iter().filter(|word| kind(&source, *word) == Kind::Number).collect();
            let at = numbers[at.index(numbers.len())];
            source.replace_range(at.0..at.1, EXTREMES[extreme]);
        }
        survive(&source);
    }

    /// Replaces words by numbers and types that sit at limits.
    #[test]
    fn extreme_words(which in 0..SPECIMENS, changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..26), 1..5)) {
        const EXTREMES: [&str; 26] = [
            "0", "-1", "4294967295", "4294967296", "18446744073709551615", "-9223372036854775808", "0x7fffffff", "1", "65536", "0f7FC00000",
            "0dFFF0000000000000", "b128", "b8", "u64", "s16", "f64", "pred", "v8", "b32", "f16x2", "%r19", "%rd19", "%p7", "_", "16", "generic",
        ];
        let mut source = specimens()[which].clone();
        for (at, extreme) in changes {
            let words = words(&source);
            let at = words[at.index(words.len())];
            source.replace_range(at.0..at.1, EXTREMES[extreme]);
        }
        survive(&source);
    }

    /// Damages bytes.
    #[test]
    fn flipped_bytes(which in 0..SPECIMENS, changes in prop::collection::vec((any::<prop::sample::Index>(), 0x09u8..0x7f), 1..8)) {
        let mut bytes = specimens()[which].clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    /// Removes a piece.
    #[test]
    fn missing_pieces(which in 0..SPECIMENS, at in any::<prop::sample::Index>(), length in 1usize..60) {
        let mut source = specimens()[which].clone();
        let start = at.index(source.len());
        let end = (start + length).min(source.len());
        source.replace_range(start..end, "");
        survive(&source);
    }
}

/// What fuzzing reached, made small.
#[test]
fn the_packed_corpus_survives() {
    let inputs = corpus::unpack(include_bytes!("data/run.corpus.gz"));
    assert!(inputs.len() > 500, "{} inputs", inputs.len());
    for input in inputs {
        let text = String::from_utf8_lossy(&input);
        if std::panic::catch_unwind(|| survive(&text)).is_err() {
            panic!("this input did not survive:\n{text}");
        }
    }
}

/// Where fuzzing begins, and what it found.
#[test]
fn the_corpus_survives() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fuzz");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("readable").path();
        let bytes = std::fs::read(&path).expect("readable");
        println!("{}", path.display());
        let text = String::from_utf8_lossy(&bytes);
        survive(&text);
        count += 1;
    }
    assert!(count > 8, "{count} inputs");
}
