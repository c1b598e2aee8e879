//! The table of errors in `docs/maths.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::device::Source;

/// The largest errors that are stated for a function, in units in the last place.
#[derive(Clone, Copy, Default)]
pub struct Errors {
    pub fallback: Option<f64>,
    pub libdevice: Option<f64>,
}

impl Errors {
    pub fn of(&self, source: Source) -> Option<f64> {
        match source {
            Source::Fallback => self.fallback,
            Source::Libdevice => self.libdevice,
        }
    }
}

const START: &str = "<!-- written by the test `maths` -->\n";
const END: &str = "<!-- end -->";

/// `MATHS_TABLE=write cargo test -p cuda_std --test maths errors` writes the table anew.
pub fn is_to_be_written() -> bool {
    std::env::var("MATHS_TABLE").is_ok_and(|value| value == "write")
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/maths.md")
}

/// What the page states.
pub fn read() -> BTreeMap<String, Errors> {
    let page = fs::read_to_string(page()).expect("the page is there");
    let (_, rest) = page.split_once(START).expect("the page has the table");
    let (table, _) = rest.split_once(END).expect("the table ends");
    let number = |cell: &str| cell.trim().parse().ok();
    table
        .lines()
        .skip(2)
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let [_, name, fallback, libdevice, _] = cells[..] else { return None };
            let name = name.trim().trim_matches('`').to_owned();
            Some((name, Errors { fallback: number(fallback), libdevice: number(libdevice) }))
        })
        .collect()
}

/// Puts what was measured into the page, rounded up; what was not measured stays.
pub fn write(measured: &[(Source, BTreeMap<String, f64>)]) -> BTreeMap<String, Errors> {
    let mut stated = read();
    let names: Vec<String> =
        measured.iter().flat_map(|(_, errors)| errors.keys().cloned()).collect();
    stated.retain(|name, _| names.contains(name));
    for (source, errors) in measured {
        for (name, error) in errors {
            let entry = stated.entry(name.clone()).or_default();
            let limit = Some(rounded_up(*error));
            match source {
                Source::Fallback => entry.fallback = limit,
                Source::Libdevice => entry.libdevice = limit,
            }
        }
    }
    let cell =
        |value: Option<f64>| value.map_or("not measured".to_owned(), |value| value.to_string());
    let mut table =
        String::from("| function | without libdevice | with libdevice |\n| --- | --- | --- |\n");
    for (name, errors) in &stated {
        let [fallback, libdevice] = [errors.fallback, errors.libdevice].map(cell);
        table.push_str(&format!("| `{name}` | {fallback} | {libdevice} |\n"));
    }
    let text = fs::read_to_string(page()).expect("the page is there");
    let (before, rest) = text.split_once(START).expect("the page has the table");
    let (_, after) = rest.split_once(END).expect("the table ends");
    fs::write(page(), format!("{before}{START}{table}{END}{after}")).expect("writable");
    stated
}

/// A little more than what was seen, since not every argument was tried; two digits. Correct rounding is 0.5.
fn rounded_up(error: f64) -> f64 {
    if error <= 0.5 {
        return 0.5;
    }
    let unit = if error < 10.0 { 0.1 } else { 10_f64.powf(error.log10().floor() - 1.0) };
    let steps = (error * 1.02 / unit).ceil();
    (steps * unit * 1000.0).round() / 1000.0
}
