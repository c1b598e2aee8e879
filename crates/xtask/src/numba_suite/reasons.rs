//! Why tests do not pass: a table of patterns, kept in `crates/xtask/data/numba_reasons.toml`.

use serde::Deserialize;

use super::record::{Outcome, Record};

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    reason: Vec<Reason>,
}

/// One reason and the tests it is for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The outcome it explains: a test that is skipped for a reason may not fail for the same.
    pub outcome: Outcome,
    /// Patterns of test names; `*` stands for any text.
    tests: Vec<String>,
    /// What the test must have said, too; `*` stands for any text.
    #[serde(default)]
    message: Option<String>,
    /// The reason.
    pub why: String,
}

impl Reasons {
    /// Reads the table.
    ///
    /// # Errors
    /// The text says where the table is wrong.
    pub fn read(text: &str) -> Result<Reasons, toml::de::Error> {
        toml::from_str(text)
    }

    /// The first reason for a test's outcome.
    pub fn of(&self, name: &str, outcome: Outcome, message: &str) -> Option<&Reason> {
        self.reason.iter().find(|reason| reason.explains(name, outcome, message))
    }

    /// Reasons that no test of a run has.
    pub fn unused(&self, record: &Record) -> Vec<&Reason> {
        let has = |reason: &Reason| {
            record.tests.iter().any(|(name, test)| {
                self.of(name, test.outcome, &test.message)
                    .is_some_and(|found| std::ptr::eq(found, reason))
            })
        };
        self.reason.iter().filter(|reason| !has(reason)).collect()
    }
}

impl Reason {
    fn explains(&self, name: &str, outcome: Outcome, message: &str) -> bool {
        self.outcome == outcome
            && self.tests.iter().any(|pattern| matches(pattern, name))
            && self.message.as_ref().is_none_or(|pattern| matches(pattern, message))
    }
}

/// Whether a text is a pattern's, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("a::b", "a::b", true),
            ("a::b", "a::bc", false),
            ("a::*", "a::b", true),
            ("a::*", "b::a::", false),
            ("*::b", "a::b", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "`{pattern}` and `{text}`");
        }
    }

    #[test]
    fn a_reason_is_for_one_outcome() {
        let reasons = Reasons::read(
            "[[reason]]\noutcome = \"skipped\"\ntests = [\"m::*\", \"n::x\"]\nmessage = \"*two GPUs*\"\nwhy = \"one device\"\n",
        )
        .unwrap();
        let why = |name, outcome, message| {
            reasons.of(name, outcome, message).map(|reason| reason.why.as_str())
        };
        assert_eq!(why("m::y", Outcome::Skipped, "needs two GPUs"), Some("one device"));
        assert_eq!(why("n::x", Outcome::Skipped, "needs two GPUs"), Some("one device"));
        assert_eq!(why("m::y", Outcome::Failed, "needs two GPUs"), None);
        assert_eq!(why("m::y", Outcome::Skipped, "other"), None);
        assert_eq!(why("n::y", Outcome::Skipped, "needs two GPUs"), None);
    }

    #[test]
    fn a_wrong_table_is_refused() {
        assert!(Reasons::read("[[reason]]\ntests = []\nwhy = \"x\"\n").is_err());
        let odd = "[[reason]]\noutcome = \"skipped\"\ntests = []\nwhy = \"x\"\nbecause = 1\n";
        assert!(Reasons::read(odd).unwrap_err().to_string().contains("because"));
    }
}
