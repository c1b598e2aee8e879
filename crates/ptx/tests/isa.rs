//! The table of instruction forms against an assembler: every mnemonic that a row allows must assemble for the
//! target that the row names, and what the validator calls impossible must not.
//!
//! NVIDIA's assembler is not there everywhere; with one,
//! `PTXAS=/path/to/ptxas cargo test -p ptx --test isa -- --ignored` runs these.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use ptx::isa::{Form, Row, Verdict, instruction, table};

/// Instructions assembled for a target; the messages of those that are refused. The assembler looks for some
/// errors only in a text without errors of other kinds, so that it is asked until it has none.
fn assemble(target: &str, instructions: &[(String, String)]) -> BTreeMap<usize, String> {
    let mut refused = BTreeMap::new();
    loop {
        let left: Vec<usize> =
            (0..instructions.len()).filter(|index| !refused.contains_key(index)).collect();
        let text: Vec<_> = left.iter().map(|index| instructions[*index].clone()).collect();
        let more = assemble_once(target, &text);
        if more.is_empty() {
            return refused;
        }
        refused.extend(more.into_iter().map(|(index, message)| (left[index], message)));
    }
}

fn assemble_once(target: &str, instructions: &[(String, String)]) -> BTreeMap<usize, String> {
    let ptxas = std::env::var_os("PTXAS").expect("PTXAS names the assembler");
    let mut text = format!(
        ".version 9.0\n.target {target}\n.address_size 64\n.func f() {{ ret; }}\n.visible .entry k() {{\nT: .branchtargets L;\n"
    );
    let first = text.lines().count() + 1;
    for (declarations, instruction) in instructions {
        let _ = writeln!(text, "{{ {} {instruction} }}", declarations.replace('\n', " "));
    }
    text += "L: ret;\n}\n";
    let folder = std::env::temp_dir().join(format!("ptx-forms-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(format!("{target}.ptx"));
    std::fs::write(&path, text).expect("written");
    let output = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .arg("-O0")
        .arg(&path)
        .arg("-o")
        .arg(folder.join("out.cubin"))
        .output()
        .expect("PTXAS runs");
    let mut refused = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        // ptxas FILE, line N; error   : TEXT
        let Some((_, rest)) = line.split_once(", line ") else { continue };
        let Some((number, message)) = rest.split_once(';') else { continue };
        if let Ok(number) = number.trim().parse::<usize>()
            && let Some(index) = number.checked_sub(first)
            && !message.contains("warning")
        {
            refused.entry(index).or_insert_with(|| message.trim().to_owned());
        }
    }
    refused
}

fn target(row: &Row) -> &'static str {
    if row.sm >= 100 { "sm_100a" } else { "sm_90a" }
}

/// Where the table is more generous than the assembler, on purpose: it does not say which cache hints go with which
/// state spaces, orders and each other, and the examples' operands do not suit everything.
const EXPECTED: &[&str] = &[
    "'cache prefetching'",
    "cannot be combined with modifier",
    "'.L2::cache_hint' cannot be applied",
    "type with '.L2::evict",
    "Illegal state space for address operand '::func'",
    "without '.sync' is not supported on .target sm_70",
    ".evict",
    "'.no_allocate' cannot be applied",
    "'::entry'",
    "'.volatile' cannot be applied",
    "'ld/st with .local.volatile'",
    "exceeds 128 bit limit",
];

#[test]
#[ignore = "needs PTXAS"]
fn the_assembler_takes_what_the_table_allows() {
    let mut wrong = String::new();
    for arch in ["sm_90a", "sm_100a"] {
        let mut rows = Vec::new();
        let mut instructions = Vec::new();
        for row in table().filter(|row| target(row) == arch) {
            let form = Form::new(row.form);
            if form.is_open() || row.operands.is_empty() && row.form.starts_with("cvt") {
                continue;
            }
            // Of long forms a part is enough.
            for mnemonic in form.some_mnemonics(400) {
                if let Some(example) = row.example(&mnemonic) {
                    rows.push(row);
                    instructions.push((example.declarations, example.instruction));
                }
            }
        }
        println!("{arch}: {} instructions", instructions.len());
        for (index, message) in assemble(arch, &instructions) {
            let (_, text) = &instructions[index];
            // Between bf16 and 8 bits the assembler wants registers of 8 bits.
            let bytes = text.contains("bf16") && (text.contains(".s8") || text.contains(".u8"));
            if bytes || EXPECTED.iter().any(|expected| message.contains(expected)) {
                continue;
            }
            let _ = writeln!(wrong, "{}\t{}\t{message}", rows[index].form, text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "needs PTXAS"]
fn the_assembler_refuses_what_the_validator_calls_impossible() {
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut instructions = Vec::new();
    // Behind the name of a fence the assembler takes words that make no sense.
    for row in table().filter(|row| !row.form.starts_with("fence")) {
        let form = Form::new(row.form);
        let words: Vec<&str> = table()
            .map(|row| Form::new(row.form))
            .filter(|other| other.opcode() == form.opcode())
            .flat_map(|form| form.words().collect::<Vec<_>>())
            .collect();
        let all: Vec<_> = form.some_mnemonics(400).collect();
        for _ in 0..60 {
            let mut mnemonic = all[below(all.len())].clone();
            if words.is_empty() {
                break;
            }
            match below(3) {
                0 if !mnemonic.is_empty() => {
                    mnemonic.remove(below(mnemonic.len()));
                }
                1 if !mnemonic.is_empty() => {
                    let at = below(mnemonic.len());
                    mnemonic[at] = words[below(words.len())];
                }
                _ => mnemonic.insert(below(mnemonic.len() + 1), words[below(words.len())]),
            }
            let mut sorted = mnemonic.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() < mnemonic.len() {
                // The assembler takes `add.sat.sat`, which nobody writes.
                continue;
            }
            if matches!(instruction(form.opcode(), &mnemonic), Verdict::Impossible(_))
                && let Some(example) = row.example(&mnemonic)
            {
                instructions.push((example.declarations, example.instruction));
            }
        }
    }
    let refused = assemble("sm_100a", &instructions);
    let taken: Vec<&str> = instructions
        .iter()
        .enumerate()
        .filter(|(index, _)| !refused.contains_key(index))
        .map(|(_, (_, text))| text.as_str())
        .collect();
    assert!(
        taken.is_empty(),
        "ptxas takes {} of {}:\n{}",
        taken.len(),
        instructions.len(),
        taken.join("\n")
    );
}
