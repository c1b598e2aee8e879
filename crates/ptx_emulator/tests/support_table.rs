//! The table of instruction forms tells the truth about the emulator: what it marks as supported has a conformance
//! case and is executed, and whatever the recordings have is in it.

mod golden_support;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use golden_support::forms;
use ptx::isa::{Case, Form, Row, Verdict, instruction, table};
use ptx_emulator::{FaultKind, Launch, Machine, MachineConfig, Program};

const FAMILIES: [&str; 10] =
    ["int", "bits", "cmp", "f32", "f64", "half", "approx", "cvt", "warp", "atom"];

/// The row of a mnemonic.
fn row_of(mnemonic: &str) -> Option<&'static Row> {
    let mut parts = mnemonic.split('.');
    let opcode = parts.next()?;
    match instruction(opcode, &parts.collect::<Vec<_>>()) {
        Verdict::Known(row) => Some(row),
        Verdict::Impossible(_) | Verdict::Unknown => None,
    }
}

/// The mnemonics in a piece of PTX that may have anything else between its instructions.
fn mnemonics(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "._:%$".contains(c)))
        .map(|word| word.trim_end_matches('.').to_owned())
        .collect()
}

#[test]
fn every_recorded_instruction_has_a_row() {
    for family in FAMILIES {
        for form in forms(family) {
            for statement in format!("{} {}", form.before, form.ptx).split(';') {
                let mut words = statement
                    .split_whitespace()
                    .map(|word| word.trim_start_matches(['{', '}']))
                    .filter(|word| {
                        !word.is_empty() && !word.starts_with('@') && !word.ends_with(':')
                    });
                // A declaration is no instruction.
                let Some(mnemonic) = words.next().filter(|word| !word.starts_with('.')) else {
                    continue;
                };
                let row = row_of(mnemonic);
                assert!(
                    row.is_some_and(Row::is_supported),
                    "{family}: `{mnemonic}` of `{}` is recorded, but is in no supported row of the table: {row:?}",
                    form.ptx
                );
            }
        }
    }
}

/// The text of a test, from its name to the brace that ends it.
fn text_of_test(name: &str) -> Option<String> {
    let (file, function) = name.split_once("::")?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(format!("{file}.rs"));
    let text = std::fs::read_to_string(path).ok()?;
    let start = text.find(&format!("#[test]\nfn {function}()"))?;
    let end = text[start..].find("\n}\n")?;
    Some(text[start..start + end].to_owned())
}

/// The text of a recording.
fn recording(family: &str) -> String {
    let path = format!("{}/tests/data/golden/{family}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the recording exists");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    text
}

/// What is wrong with the cases of some rows.
fn without_case<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let recorded: Vec<(&str, BTreeSet<&str>)> = FAMILIES
        .iter()
        .map(|family| {
            let found = forms(family)
                .iter()
                .flat_map(|form| mnemonics(&format!("{} {}", form.before, form.ptx)))
                .filter_map(|mnemonic| row_of(&mnemonic))
                .map(|row| row.form)
                .collect();
            (*family, found)
        })
        .chain(["matrix", "async"].map(|family| {
            // These recordings have forms of their own; their mnemonics look the same.
            let found = mnemonics(&recording(family));
            (
                family,
                found.iter().filter_map(|mnemonic| row_of(mnemonic)).map(|row| row.form).collect(),
            )
        }))
        .collect();
    let mut wrong = Vec::new();
    for row in rows.filter(|row| row.is_supported()) {
        match row.case {
            Case::Golden(family) => {
                let found = recorded.iter().find(|(name, _)| *name == family);
                if !found.is_some_and(|(_, forms)| forms.contains(row.form)) {
                    wrong.push(format!("`{}`: no record of it in `{family}`", row.form));
                }
            }
            Case::Test(name) => match text_of_test(name) {
                None => wrong.push(format!("`{}`: there is no test `{name}`", row.form)),
                Some(text) => {
                    let uses = mnemonics(&text).iter().any(|mnemonic| {
                        row_of(mnemonic).is_some_and(|found| found.form == row.form)
                    });
                    if !uses {
                        wrong.push(format!("`{}`: the test `{name}` does not use it", row.form));
                    }
                }
            },
            Case::None => wrong.push(format!("`{}` has no conformance case", row.form)),
        }
    }
    wrong
}

#[test]
fn every_supported_row_has_a_conformance_case() {
    let wrong = without_case(table());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_row_without_case_is_noticed() {
    let add = *table().find(|row| row.form == "add.@i").expect("there is such a row");
    let planted = [
        Row { case: Case::None, ..add },
        Row { case: Case::Golden("warp"), ..add },
        Row { case: Case::Test("warp_ops::no_such_test"), ..add },
        Row { case: Case::Test("conformance::breakpoints"), ..add },
        add,
    ];
    assert_eq!(without_case(planted.iter()).len(), 4, "all but the last are wrong");
}

/// What running an instruction says about the emulator having it.
enum Outcome {
    Executed,
    Unsupported,
    Refused(String),
}

/// Compiles an example and lets one warp reach it.
fn reach(row: &Row, mnemonic: &[&str]) -> Option<Outcome> {
    let example = row.example(mnemonic)?;
    let source = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.func f() {{ ret; }}\n.visible .entry k()\n{{\n{}\n\
         T: .branchtargets L;\n{}\nL: ret;\n}}\n",
        example.declarations, example.instruction
    );
    let program = match Program::compile(&source) {
        Ok(program) => program,
        Err(error) => return Some(Outcome::Refused(error.to_string())),
    };
    let mut config = MachineConfig::default();
    config.fuel = Some(1000);
    let mut machine = Machine::new(config);
    let module = machine.load(Arc::new(program)).expect("no variables");
    let launch = Launch {
        kernel: "k",
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared_bytes: 0,
        params: &[],
    };
    Some(match machine.launch(module, &launch, &mut Vec::new()) {
        Err(fault) if matches!(fault.kind(), FaultKind::UnsupportedInstruction { .. }) => {
            Outcome::Unsupported
        }
        _ => Outcome::Executed,
    })
}

#[test]
fn what_the_table_calls_supported_is_decoded() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in table().filter(|row| row.is_supported()) {
        for mnemonic in Form::new(row.form).some_mnemonics(150) {
            let text = mnemonic.join(".");
            match reach(row, &mnemonic) {
                Some(Outcome::Executed) => count += 1,
                Some(Outcome::Unsupported) => wrong.push(format!("{}: {text} is not", row.form)),
                Some(Outcome::Refused(error)) => {
                    wrong.push(format!("{}: {text}: {error}", row.form))
                }
                None => wrong.push(format!("{}: its operands make no example", row.form)),
            }
        }
    }
    println!("{count} mnemonics");
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), count + wrong.len(), wrong.join("\n"));
}

#[test]
fn what_the_table_calls_missing_faults_when_it_is_reached() {
    for row in table().filter(|row| !row.is_supported()) {
        let Some(mnemonic) = Form::new(row.form).some_mnemonics(1).next() else { continue };
        if !row.operands.contains("[") {
            assert!(
                matches!(reach(row, &mnemonic), None | Some(Outcome::Unsupported)),
                "`{}` is marked as missing",
                row.form
            );
        }
    }
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SUPPORT.md");
    let found = std::fs::read_to_string(path).expect("the page exists").replace("\r\n", "\n");
    assert!(
        found == ptx_emulator::support::page(),
        "run `cargo xtask tables` and commit docs/SUPPORT.md"
    );
}
