//! What the checks found: as text, as JSON, and what it means for the exit code.

use ptx_emulator::{CheckSet, Finding, Leak, Severity};
use serde_json::{Value, json};

use crate::error::Error;

/// The checks of a run and what they have found so far.
#[derive(Debug, Default)]
pub struct Findings {
    checks: CheckSet,
    list: Vec<Finding>,
    /// Memory that kernels allocated and did not free.
    leaks: Vec<Leak>,
    /// Different findings beyond those that a launch keeps.
    left_out: u64,
}

impl Findings {
    /// Nothing found yet by `checks`.
    #[must_use]
    pub fn new(checks: CheckSet) -> Self {
        Self { checks, ..Self::default() }
    }

    /// Whether anything is checked.
    #[must_use]
    pub fn are_wanted(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Which checks there are.
    #[must_use]
    pub fn checks(&self) -> CheckSet {
        self.checks
    }

    /// Adds findings, and those that the driver has.
    pub fn add(&mut self, found: Vec<Finding>) {
        self.list.extend(found);
        if self.are_wanted() {
            self.list.extend(cuda_driver::take_findings());
        }
    }

    /// Adds what kernels allocated and did not free; it is an error each.
    pub fn add_leaks(&mut self, leaks: Vec<Leak>) {
        self.leaks.extend(leaks);
    }

    /// Adds to the number of findings that were not kept.
    pub fn add_left_out(&mut self, count: u64) {
        self.left_out += count;
    }

    /// How many findings are errors, and how many warnings.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let errors = self.list.iter().filter(|found| found.severity() == Severity::Error).count();
        (errors + self.leaks.len(), self.list.len() - errors)
    }

    /// All findings and a line that sums them up.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.list {
            text.push_str(&format!("{finding}\n\n"));
        }
        for leak in &self.leaks {
            text.push_str(&format!("{leak}\n\n"));
        }
        if self.left_out > 0 {
            text.push_str(&format!("and {} more findings that were not kept\n\n", self.left_out));
        }
        let (errors, warnings) = self.count();
        text + &format!("{}: {}", self.checks, summary(errors, warnings))
    }

    /// The findings as a list.
    #[must_use]
    pub fn json(&self) -> Value {
        let one = |found: &Finding| {
            json!({
                "check": found.check().name(),
                "severity": found.severity().to_string(),
                "title": found.title(),
                "kernel": found.kernel(),
                "ptx_line": found.party().and_then(|party| party.ptx_line()),
                "count": found.count(),
                "text": found.to_string(),
            })
        };
        let leak = |found: &Leak| {
            json!({
                "check": "memcheck",
                "severity": "error",
                "title": format!("leak of {} bytes", found.bytes),
                "text": found.to_string(),
            })
        };
        self.list.iter().map(one).chain(self.leaks.iter().map(leak)).collect()
    }

    /// The end of a run that went well otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Findings`] if a finding is an error.
    pub fn verdict(&self) -> Result<(), Error> {
        let (errors, warnings) = self.count();
        if errors == 0 { Ok(()) } else { Err(Error::Findings { errors, warnings }) }
    }
}

/// `no errors`, `2 errors, 1 warning`
pub(crate) fn summary(errors: usize, warnings: usize) -> String {
    let many = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    match (errors, warnings) {
        (0, 0) => "nothing found".to_owned(),
        (_, 0) => many(errors, "error"),
        (0, _) => many(warnings, "warning"),
        _ => format!("{}, {}", many(errors, "error"), many(warnings, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        assert_eq!(summary(0, 0), "nothing found");
        assert_eq!(summary(1, 0), "1 error");
        assert_eq!(summary(0, 2), "2 warnings");
        assert_eq!(summary(2, 1), "2 errors, 1 warning");
    }

    #[test]
    fn without_findings_all_is_well() {
        let findings = Findings::new(CheckSet::ALL);
        findings.verdict().unwrap();
        assert_eq!(findings.text(), "memcheck,racecheck,initcheck,synccheck: nothing found");
        assert_eq!(findings.json(), json!([]));
    }
}
