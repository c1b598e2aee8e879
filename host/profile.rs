//! Counters as JSON, and the text of source lines beside them.

use std::collections::HashMap;
use std::path::Path;

use ptx_emulator::counters::{Activity, Counters, GlobalTraffic, SharedTraffic};
use serde_json::{Value, json};

/// Longest source file whose text is shown, bytes.
const LONGEST_FILE: u64 = 4 << 20;

/// The counters as one value: totals, classes, a row for each PTX instruction and each source line.
#[must_use]
pub fn counters(counters: &Counters) -> Value {
    let classes: serde_json::Map<String, Value> = counters
        .classes
        .iter()
        .map(|class| {
            let counts = json!({
                "warp_instructions": class.warp_instructions,
                "thread_instructions": class.thread_instructions,
            });
            (class.class.to_string(), counts)
        })
        .collect();
    let instructions: Value = counters
        .instructions
        .iter()
        .map(|found| {
            json!({
                "function": found.function,
                "line": found.line,
                "text": found.text,
                "class": found.class.to_string(),
                "counters": activity(&found.activity),
            })
        })
        .collect();
    let lines: Value = counters
        .lines
        .iter()
        .map(|found| {
            json!({
                "file": found.position.file,
                "line": found.position.line,
                "counters": activity(&found.activity),
            })
        })
        .collect();
    json!({
        "kernel": counters.kernel,
        "grid": counters.grid,
        "block": counters.block,
        "total": activity(&counters.total),
        "classes": classes,
        "instructions": instructions,
        "lines": lines,
    })
}

fn activity(found: &Activity) -> Value {
    json!({
        "warp_instructions": found.warp_instructions,
        "thread_instructions": found.thread_instructions,
        "average_active_lanes": found.average_active_lanes(),
        "branches": found.branches,
        "divergent_branches": found.divergent_branches,
        "global_loads": global(&found.global_loads),
        "global_stores": global(&found.global_stores),
        "global_atomics": global(&found.global_atomics),
        "shared_loads": shared(&found.shared_loads),
        "shared_stores": shared(&found.shared_stores),
        "shared_atomics": shared(&found.shared_atomics),
        "max_lanes_on_one_address": found.max_lanes_on_one_address,
        "local_load_bytes": found.local_load_bytes,
        "local_store_bytes": found.local_store_bytes,
        "barriers": found.barriers,
        "barrier_waits": found.barrier_waits,
    })
}

fn global(found: &GlobalTraffic) -> Value {
    json!({
        "requests": found.requests,
        "bytes": found.bytes,
        "sectors": found.sectors,
        "ideal_sectors": found.ideal_sectors,
        "lines": found.lines,
        "efficiency": found.efficiency(),
    })
}

fn shared(found: &SharedTraffic) -> Value {
    json!({
        "requests": found.requests,
        "bytes": found.bytes,
        "wavefronts": found.wavefronts,
        "ideal_wavefronts": found.ideal_wavefronts,
        "bank_conflicts": found.bank_conflicts(),
        "conflict_degree": found.conflict_degree(),
        "max_degree": found.max_degree,
    })
}

/// The texts of the source files that counters name, as far as they are on this machine.
#[derive(Debug, Default)]
pub struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// Reads the files.
    #[must_use]
    pub fn of(counters: &Counters) -> Self {
        let mut files = HashMap::new();
        for line in &counters.lines {
            let name = &line.position.file;
            if !files.contains_key(name) {
                files.insert(name.clone(), read(Path::new(name)));
            }
        }
        Self { files }
    }

    /// A line's text, 1-based.
    #[must_use]
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        self.files.get(file)?.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// A file's lines; none if it is not there, too long, or no text.
fn read(path: &Path) -> Vec<String> {
    let short = |metadata: std::fs::Metadata| metadata.is_file() && metadata.len() <= LONGEST_FILE;
    if !std::fs::metadata(path).is_ok_and(short) {
        return Vec::new();
    }
    std::fs::read_to_string(path)
        .map_or_else(|_| Vec::new(), |text| text.lines().map(str::to_owned).collect())
}
