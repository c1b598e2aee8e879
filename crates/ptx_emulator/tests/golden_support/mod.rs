//! Reads the recorded answers under `tests/data/golden` (its README describes the format).

// Each test crate uses a part of this.
#![allow(dead_code)]

pub mod bounds;
pub mod kernel;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde_json::Value;

/// One register of a form: its name and its PTX type.
#[derive(Clone, Debug)]
pub struct Register {
    pub name: String,
    pub ty: String,
}

impl Register {
    /// Width in bits; 1 for a predicate.
    pub fn bits(&self) -> u32 {
        match self.ty.as_str() {
            "pred" => 1,
            "s8" | "u8" | "b8" | "r8" => 8,
            "s16" | "u16" | "b16" | "f16" | "bf16" | "e4m3x2" | "e5m2x2" => 16,
            "s32" | "u32" | "b32" | "f32" | "tf32" | "f16x2" | "bf16x2" | "s16x2" | "u16x2" => 32,
            "s64" | "u64" | "b64" | "f64" => 64,
            "b128" => 128,
            other => panic!("unknown type {other} in the recorded data"),
        }
    }

    /// Bytes of one element in memory.
    pub fn bytes(&self) -> usize {
        (self.bits() as usize / 8).max(1)
    }
}

/// One recorded instruction form with its inputs and outputs, a column for each register.
#[derive(Debug)]
pub struct Form {
    pub id: u64,
    pub ptx: String,
    pub before: String,
    pub block: u32,
    pub ins: Vec<Register>,
    pub outs: Vec<Register>,
    pub inputs: std::rc::Rc<Vec<Vec<u128>>>,
    pub outputs: std::rc::Rc<Vec<Vec<u128>>>,
    /// The name of the input set.
    pub set: String,
}

impl Form {
    /// Number of elements, one a thread.
    pub fn count(&self) -> usize {
        self.inputs[0].len()
    }
}

/// The lines of a family's file.
pub fn lines(family: &str) -> impl Iterator<Item = Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/data/golden/{family}.jsonl.gz"));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(file))
        .lines()
        .map(|line| serde_json::from_str(&line.expect("readable data")).expect("valid JSON"))
}

/// A column of fixed-width hexadecimal numbers, most significant digit first.
fn column(hex: &Value, bits: u32) -> Vec<u128> {
    let digits = (bits as usize / 4).max(1);
    let hex = hex.as_str().expect("a hexadecimal column");
    assert_eq!(hex.len() % digits, 0, "column of whole numbers");
    (0..hex.len())
        .step_by(digits)
        .map(|at| u128::from_str_radix(&hex[at..at + digits], 16).expect("hexadecimal"))
        .collect()
}

fn registers(value: &Value) -> Vec<Register> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    value
        .as_array()
        .expect("registers")
        .iter()
        .map(|pair| Register { name: text(&pair[0]), ty: text(&pair[1]) })
        .collect()
}

/// All forms of a family, in recorded order.
pub fn forms(family: &str) -> Vec<Form> {
    let mut sets = HashMap::new();
    let mut outputs_by_id = HashMap::new();
    let mut forms = Vec::new();
    for line in lines(family) {
        match line["kind"].as_str() {
            Some("inputs") => {
                let name = line["set"].as_str().expect("set").to_owned();
                let columns = if line["range"].is_null() {
                    let widths = line["widths"].as_array().expect("widths");
                    let hex = line["hex"].as_array().expect("columns");
                    widths
                        .iter()
                        .zip(hex)
                        .map(|(bits, hex)| column(hex, bits.as_u64().expect("width") as u32))
                        .collect()
                } else {
                    vec![(0..line["count"].as_u64().expect("count")).map(u128::from).collect()]
                };
                sets.insert(name, std::rc::Rc::new(columns));
            }
            Some("form") => {
                let outs = registers(&line["outs"]);
                let id = line["id"].as_u64().expect("id");
                let outputs = match line["same_as"].as_u64() {
                    Some(other) => std::rc::Rc::clone(&outputs_by_id[&other]),
                    None => {
                        let hex = line["hex"].as_array().expect("columns");
                        std::rc::Rc::new(
                            outs.iter()
                                .zip(hex)
                                .map(|(out, hex)| column(hex, out.bits()))
                                .collect::<Vec<_>>(),
                        )
                    }
                };
                outputs_by_id.insert(id, std::rc::Rc::clone(&outputs));
                let set = line["set"].as_str().expect("set").to_owned();
                forms.push(Form {
                    id,
                    ptx: line["ptx"].as_str().expect("ptx").to_owned(),
                    before: line["before"].as_str().unwrap_or_default().to_owned(),
                    block: line["block"].as_u64().unwrap_or(128) as u32,
                    ins: registers(&line["ins"]),
                    outs,
                    inputs: std::rc::Rc::clone(&sets[&set]),
                    outputs,
                    set,
                });
            }
            _ => {}
        }
    }
    assert!(!forms.is_empty(), "no forms in {family}");
    forms
}
