//! The record of a run of numba-cuda's tests: JSON lines that the pytest plugin wrote, summed up by test.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed, as its authors say it does.
    Xfailed,
    /// It was not run.
    Skipped,
    /// Its authors say that it fails, and it passed.
    Xpassed,
    /// It failed.
    Failed,
    /// What surrounds it failed: its module, its set-up.
    Error,
    /// It took longer than a test may.
    Overran,
    /// The process died in it.
    Crashed,
}

impl Outcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Xfailed => "xfailed",
            Outcome::Skipped => "skipped",
            Outcome::Xpassed => "xpassed",
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Overran => "over the time limit",
            Outcome::Crashed => "crashed",
        }
    }
}

/// A test's result.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What came of it.
    pub outcome: Outcome,
    /// What it said, where it did not pass.
    pub message: String,
    /// Time it took, seconds.
    pub seconds: f64,
}

/// One line. A line has one of the first three.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    planned: Option<Vec<String>>,
    worker: usize,
    begin: Option<String>,
    end: Option<String>,
    outcome: Option<Outcome>,
    seconds: f64,
    message: String,
}

/// A whole run.
#[derive(Debug, Default)]
pub struct Record {
    /// Results by test, `cudapy.test_sync::TestSync::test_x`.
    pub tests: BTreeMap<String, Test>,
    /// Tests that were collected and have no result.
    pub not_run: BTreeSet<String>,
    /// How often each worker collected tests.
    pub plans: BTreeMap<usize, usize>,
}

/// The row that says that the process died in a test.
pub fn crash_row(test: &str, message: &str) -> String {
    let row = serde_json::json!({ "end": test, "outcome": "crashed", "message": message });
    format!("{row}\n")
}

/// A line that is no row of a record.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a row of a record: {problem}")]
pub struct BadLine {
    /// 1-based.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Record {
    /// Sums a record up. A test that began and never ended took too long, unless a row says that it crashed.
    ///
    /// # Errors
    /// [`BadLine`] where a line is not a row.
    pub fn read(text: &str) -> Result<Record, BadLine> {
        let mut record = Record::default();
        let mut begun = BTreeSet::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let bad = |problem: String| BadLine { line: index + 1, problem };
            let row: Row = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
            let worker = row.worker;
            match row {
                Row { planned: Some(tests), .. } => {
                    record.not_run.extend(tests);
                    *record.plans.entry(worker).or_default() += 1;
                }
                Row { begin: Some(test), .. } => {
                    begun.insert(test);
                }
                Row { end: Some(name), outcome: Some(outcome), message, seconds, .. } => {
                    begun.remove(&name);
                    record.tests.insert(name, Test { outcome, message, seconds });
                }
                _ => return Err(bad("it has no planned, begin, or end with outcome".to_owned())),
            }
        }
        for name in begun {
            let message = "its time was over".to_owned();
            record.tests.insert(name, Test { outcome: Outcome::Overran, message, seconds: 0.0 });
        }
        record.not_run.retain(|name| !record.tests.contains_key(name));
        Ok(record)
    }

    /// How many tests came to an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.tests.values().filter(|test| test.outcome == outcome).count()
    }

    /// Tests collected.
    pub fn total(&self) -> usize {
        self.tests.len() + self.not_run.len()
    }

    /// One line with all counts.
    pub fn totals(&self) -> String {
        use Outcome::*;
        let others: Vec<String> = [Failed, Error, Crashed, Overran, Skipped, Xfailed, Xpassed]
            .into_iter()
            .map(|outcome| (outcome, self.count(outcome)))
            .filter(|(outcome, count)| *count > 0 || *outcome == Failed)
            .map(|(outcome, count)| format!("{count} {}", outcome.word()))
            .chain((!self.not_run.is_empty()).then(|| format!("{} not run", self.not_run.len())))
            .collect();
        format!("{} of {} passed; {}", self.count(Passed), self.total(), others.join(", "))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Two that passed, one each of the others; a test of the second plan was not reached.
    pub const SMALL: &str = r#"
{"planned": ["a::ok", "a::bad", "a::skip", "a::hang"]}
{"begin": "a::ok"}
{"end": "a::ok", "outcome": "passed", "seconds": 1.5, "message": ""}
{"begin": "a::bad"}
{"end": "a::bad", "outcome": "failed", "seconds": 0.1, "message": "AssertionError: 1 != 2\nmore"}
{"begin": "a::skip"}
{"end": "a::skip", "outcome": "skipped", "seconds": 0, "message": "needs two GPUs"}
{"begin": "a::hang"}
{"end": "b::(module)", "outcome": "error", "seconds": 0, "message": "ImportError: no module x"}
{"planned": ["c::late", "c::ok", "c::known"], "worker": 1}
{"begin": "c::ok"}
{"begin": "c::known"}
{"end": "c::known", "outcome": "xfailed", "seconds": 0, "message": ""}
{"end": "c::ok", "outcome": "passed", "seconds": 0.5, "message": ""}
"#;

    #[test]
    fn each_test_has_its_outcome() {
        let record = Record::read(SMALL).unwrap();
        let outcomes: Vec<(&str, &str)> =
            record.tests.iter().map(|(name, test)| (name.as_str(), test.outcome.word())).collect();
        assert_eq!(
            outcomes,
            [
                ("a::bad", "failed"),
                ("a::hang", "over the time limit"),
                ("a::ok", "passed"),
                ("a::skip", "skipped"),
                ("b::(module)", "error"),
                ("c::known", "xfailed"),
                ("c::ok", "passed"),
            ]
        );
        assert_eq!(record.not_run.iter().collect::<Vec<_>>(), ["c::late"]);
        assert_eq!(record.plans, BTreeMap::from([(0, 1), (1, 1)]));
        assert_eq!(
            record.totals(),
            "2 of 8 passed; 1 failed, 1 error, 1 over the time limit, 1 skipped, 1 xfailed, 1 not run"
        );
    }

    #[test]
    fn a_crash_is_no_matter_of_time() {
        let row = format!("{SMALL}{}", crash_row("a::hang", "signal: 11"));
        let record = Record::read(&row).unwrap();
        assert_eq!((record.count(Outcome::Crashed), record.count(Outcome::Overran)), (1, 0));
        assert_eq!(record.tests["a::hang"].message, "signal: 11");
        assert!(record.totals().contains("1 error, 1 crashed, 1 skipped"));
    }

    #[test]
    fn a_test_that_ended_badly_and_was_run_again_has_its_last_outcome() {
        let again = format!(
            "{SMALL}{}\n",
            r#"{"end": "a::hang", "outcome": "passed", "seconds": 9, "message": ""}"#
        );
        assert_eq!(Record::read(&again).unwrap().count(Outcome::Overran), 0);
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        assert_eq!(Record::read("{}\n").unwrap_err().line, 1);
        let error = Record::read("{\"begin\": \"a\"}\nnonsense\n").unwrap_err();
        assert!(error.to_string().starts_with("line 2 is not a row of a record"), "{error}");
        let odd = r#"{"end": "a", "outcome": "exploded"}"#;
        assert!(Record::read(odd).unwrap_err().problem.contains("exploded"));
        assert_eq!(Record::read("").unwrap().totals(), "0 of 0 passed; 0 failed");
    }
}
