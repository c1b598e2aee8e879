//! `bench emulator`: the emulator's speed by patterns of access, in one run.

use comfy_table::{Cell, CellAlignment, Table, presets};
use ptx_emulator::patterns::Pattern;
use ptx_emulator::{CheckSet, Jobs, Machine, MachineConfig, Program};
use serde::Serialize;

use crate::cli::BenchArgs;
use crate::console::Console;
use crate::error::Error;
use crate::format::{milliseconds, significant};
use crate::timing::{Effort, Samples, timed};

/// Bytes of the module whose loading is measured.
const MODULE_BYTES: usize = 1 << 20;

#[derive(Serialize)]
struct Output {
    command: &'static str,
    /// Rows and columns of the matrices, and of those of the rows with several jobs.
    size: u32,
    size_of_jobs: u32,
    /// Processors of this machine.
    processors: usize,
    rows: Vec<Row>,
    /// How many times faster the jobs are than one, on the same matrices.
    speedup_of_jobs: f64,
    /// Milliseconds from a megabyte of PTX to a loaded module.
    load_ms: f64,
}

/// One pattern, run in one way.
#[derive(Serialize)]
struct Row {
    pattern: &'static str,
    size: u32,
    jobs: String,
    checks: String,
    /// Median time.
    ms: f64,
    /// From the fastest to the slowest run, as a part of the median.
    spread: f64,
    /// PTX instructions of active lanes a second.
    lane_operations_per_s: f64,
    /// How many times longer it takes than without checks.
    cost: Option<f64>,
    samples: usize,
}

/// Runs the command.
///
/// # Errors
///
/// For a machine without room, and when standard output is closed.
pub fn run(arguments: &BenchArgs, console: &mut Console) -> Result<(), Error> {
    let (size, large) = (arguments.size, 2 * arguments.size);
    let effort = Effort { samples: arguments.samples.into(), budget_ms: f64::INFINITY };
    let mut rows = Vec::new();
    for pattern in Pattern::ALL {
        rows.push(measure(pattern, size, Jobs::ONE, CheckSet::NONE, effort)?);
    }
    for pattern in [Pattern::Coalesced, Pattern::Tiled] {
        let plain = rows.iter().find(|row| row.pattern == pattern.name()).map(|row| row.ms);
        for checks in ["memcheck", "racecheck", "all"] {
            let checks = checks.parse().unwrap_or(CheckSet::NONE);
            let mut row = measure(pattern, size, Jobs::ONE, checks, effort)?;
            row.cost = plain.map(|plain| row.ms / plain);
            rows.push(row);
        }
    }
    let one = measure(Pattern::Coalesced, large, Jobs::ONE, CheckSet::NONE, effort)?;
    let several = measure(Pattern::Coalesced, large, arguments.jobs, CheckSet::NONE, effort)?;
    let speedup_of_jobs = one.ms / several.ms;
    rows.extend([one, several]);
    let load_ms = loading(effort)?;

    console.line(table(&rows))?;
    console.line(format_args!(
        "{} jobs against one: {}x; a module of 1 MiB of PTX loads in {} ms",
        arguments.jobs,
        significant(speedup_of_jobs),
        milliseconds(load_ms),
    ))?;
    console.json(&Output {
        command: "bench",
        size,
        size_of_jobs: large,
        processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        rows,
        speedup_of_jobs,
        load_ms,
    })
}

fn measure(
    pattern: Pattern,
    size: u32,
    jobs: Jobs,
    checks: CheckSet,
    effort: Effort,
) -> Result<Row, Error> {
    let mut config = MachineConfig::default();
    config.counters = true;
    config.jobs = jobs;
    config.checks = checks;
    let mut prepared = pattern.prepare(size, config)?;
    let mut operations = 0;
    let samples = Samples::measure(effort, || {
        let (report, ms) = timed(|| prepared.run());
        operations = report.map_err(Error::Fault)?.thread_instructions;
        Ok::<f64, Error>(ms)
    })?;
    let ms = samples.median();
    Ok(Row {
        pattern: pattern.name(),
        size,
        jobs: jobs.to_string(),
        checks: checks.to_string(),
        ms,
        spread: (samples.max() - samples.min()) / ms,
        lane_operations_per_s: operations as f64 / ms * 1e3,
        cost: None,
        samples: samples.count(),
    })
}

/// The time that a module of many kernels takes from text to a loaded program.
fn loading(effort: Effort) -> Result<f64, Error> {
    let source = Pattern::Coalesced.source();
    let (head, kernel) = source.split_once(".visible").unwrap_or_default();
    let count = MODULE_BYTES / kernel.len().max(1);
    let kernels = (0..count).map(|number| {
        format!(".visible{}", kernel.replacen("kernel", &format!("kernel_{number}"), 1))
    });
    let text = format!("{head}{}", kernels.collect::<String>());
    let samples = Samples::measure(effort, || {
        let (loaded, ms) = timed(|| {
            let program = Program::compile(&text)?;
            Machine::new(MachineConfig::default()).load(program.into())?;
            Ok::<_, ptx_emulator::patterns::PatternError>(())
        });
        loaded?;
        Ok::<f64, Error>(ms)
    })?;
    Ok(samples.median())
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["pattern", "n", "jobs", "checks", "ms", "spread", "lane ops/s", "cost"]);
    for row in rows {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(row.pattern),
            right(row.size.to_string()),
            right(row.jobs.clone()),
            Cell::new(&row.checks),
            right(significant(row.ms)),
            right(format!("{:.0}%", 100.0 * row.spread)),
            right(format!("{:.3e}", row.lane_operations_per_s)),
            right(row.cost.map_or_else(String::new, |cost| format!("{cost:.2}x"))),
        ]);
    }
    table
}
