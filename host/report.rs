//! The result of `matmul`: six rows, as a table and as JSON.

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::{Serialize, Serializer};

use crate::format::{milliseconds, scientific, significant};
use crate::reference::Accuracy;
use crate::timing::Samples;

/// The six functions, in the order of the table.
pub const FUNCTIONS: [&str; 6] = [
    "cpu_mat_mul",
    "cpu_mat_mul_fast",
    "mat_mul_naive_kernel",
    "mat_mul_shared_kernel",
    "host_naive",
    "host_optimized",
];

/// One function's figures. A figure that was not measured is absent, `null` in JSON, never estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// One of [`FUNCTIONS`].
    pub name: &'static str,
    /// Median time in milliseconds.
    pub ms: Option<f64>,
    /// 10^9 floating-point operations per second, a multiply-add counting as two.
    pub gflops: Option<f64>,
    /// How many times faster than `cpu_mat_mul`.
    pub speedup: Option<f64>,
    /// The largest `|c - reference|`.
    #[serde(serialize_with = "finite")]
    pub max_abs_err: Option<f64>,
    /// The largest `|c - reference| / |reference|`.
    #[serde(serialize_with = "finite")]
    pub max_rel_err: Option<f64>,
    /// Fastest time in milliseconds.
    pub ms_min: Option<f64>,
    /// Slowest time in milliseconds.
    pub ms_max: Option<f64>,
    /// How many times were measured.
    pub samples: usize,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// All that `matmul` reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// `matmul`.
    pub command: &'static str,
    /// `gpu` or `emulator`.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Rows and columns of the thread blocks.
    pub block: u32,
    /// The seed of the random matrices; absent when they came from files.
    pub seed: Option<u64>,
    /// How many rows of C were compared with the f64 product, out of `m`.
    pub checked_rows: usize,
    /// The functions, in the order of [`FUNCTIONS`].
    pub rows: Vec<Row>,
    /// Where the result was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
}

impl Row {
    /// A row from measurements of a product that takes `operations` floating-point operations.
    #[must_use]
    pub fn measured(
        name: &'static str,
        operations: f64,
        samples: &Samples,
        accuracy: Accuracy,
    ) -> Self {
        let ms = samples.median();
        // An empty product has no rate.
        let gflops = (operations > 0.0 && ms > 0.0).then(|| operations / (ms * 1e6));
        Self {
            name,
            ms: Some(ms),
            gflops,
            speedup: None,
            max_abs_err: Some(accuracy.max_abs_err),
            max_rel_err: Some(accuracy.max_rel_err),
            ms_min: Some(samples.min()),
            ms_max: Some(samples.max()),
            samples: samples.count(),
            skipped: None,
        }
    }

    /// A row for a function that was not run.
    #[must_use]
    pub fn skipped(name: &'static str, reason: String) -> Self {
        Self {
            name,
            ms: None,
            gflops: None,
            speedup: None,
            max_abs_err: None,
            max_rel_err: None,
            ms_min: None,
            ms_max: None,
            samples: 0,
            skipped: Some(reason),
        }
    }
}

impl Report {
    /// Fills in the speed-ups over `cpu_mat_mul`, where that was run and there was work to do.
    pub fn compare(&mut self) {
        let yardstick =
            self.rows.iter().find(|row| row.name == FUNCTIONS[0] && row.gflops.is_some());
        let Some(base) = yardstick.and_then(|row| row.ms) else { return };
        for row in &mut self.rows {
            row.speedup = row.ms.filter(|&ms| ms > 0.0).map(|ms| base / ms);
        }
    }

    /// The table, and below it a line for each row that was skipped and for a partial check.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header([
            "function",
            "time (ms)",
            "min – max (ms)",
            "runs",
            "GFLOP/s",
            "speed-up",
            "max abs err",
            "max rel err",
        ]);
        let dash = || "–".to_owned();
        for row in &self.rows {
            let spread = match (row.ms_min, row.ms_max) {
                (Some(min), Some(max)) if row.samples > 1 => {
                    format!("{} – {}", milliseconds(min), milliseconds(max))
                }
                _ => dash(),
            };
            let numbers = [
                row.ms.map_or_else(dash, milliseconds),
                spread,
                row.samples.to_string(),
                row.gflops.map_or_else(dash, significant),
                row.speedup.map_or_else(dash, |factor| format!("{}x", significant(factor))),
                row.max_abs_err.map_or_else(dash, scientific),
                row.max_rel_err.map_or_else(dash, scientific),
            ];
            let cells =
                numbers.into_iter().map(|n| Cell::new(n).set_alignment(CellAlignment::Right));
            table.add_row(std::iter::once(Cell::new(row.name)).chain(cells));
        }
        let mut text = table.to_string();
        for (name, reason) in
            self.rows.iter().filter_map(|row| Some((row.name, row.skipped.as_ref()?)))
        {
            text += &format!("\n{name} was not run: {reason}");
        }
        if self.backend == "emulator" {
            text += "\nOn the emulator the kernels' times are the emulation's, which the CPU spends on every instruction of every thread; \
                     a GPU's are another matter.";
        }
        if self.checked_rows < self.m {
            let (checked, all) = (self.checked_rows, self.m);
            text += &format!(
                "\nThe errors are those of {checked} evenly spaced rows out of {all}: an f64 product of all would take too long."
            );
        }
        text
    }
}

/// JSON has no infinity and no NaN.
fn finite<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.filter(|value| value.is_finite()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let accuracy = Accuracy { max_abs_err: 1e-5, max_rel_err: f64::INFINITY };
        let row = |name, ms: &[f64]| {
            Row::measured(name, 2e6, &Samples::new(ms.to_vec()).unwrap(), accuracy)
        };
        let mut report = Report {
            command: "matmul",
            backend: "emulator".to_owned(),
            device: "a device".to_owned(),
            m: 100,
            k: 100,
            n: 100,
            block: 16,
            seed: Some(1),
            checked_rows: 100,
            rows: vec![row(FUNCTIONS[0], &[4.0, 2.0, 3.0]), row(FUNCTIONS[1], &[1.5])],
            out: None,
        };
        report.compare();
        report
    }

    #[test]
    fn rates_and_speedups() {
        let report = report();
        assert_eq!(report.rows[0].ms, Some(3.0));
        assert_eq!(report.rows[0].speedup, Some(1.0));
        assert_eq!(report.rows[1].speedup, Some(2.0));
        assert!((report.rows[1].gflops.unwrap() - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn json_has_the_promised_keys_first_and_only_valid_numbers() {
        let json = serde_json::to_value(report()).unwrap();
        let keys: Vec<_> = json["rows"][0].as_object().unwrap().keys().take(6).cloned().collect();
        assert_eq!(keys, ["name", "ms", "gflops", "speedup", "max_abs_err", "max_rel_err"]);
        assert!(json["rows"][0]["max_rel_err"].is_null());
        assert!(json.get("out").is_none());
    }

    #[test]
    fn skipped_rows_say_why_and_make_no_speedups() {
        let mut report = report();
        report.rows[0] = Row::skipped(FUNCTIONS[0], "it would take minutes".to_owned());
        report.rows[1].speedup = None;
        report.checked_rows = 7;
        report.compare();
        assert_eq!(report.rows[1].speedup, None);
        let text = report.text();
        assert!(text.contains("cpu_mat_mul was not run: it would take minutes"), "{text}");
        assert!(text.contains("7 evenly spaced rows out of 100"), "{text}");
    }
}
