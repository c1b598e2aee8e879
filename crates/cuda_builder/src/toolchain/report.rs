//! What was looked for in each toolchain, as lines to show.

use std::fmt;

use super::{Toolchain, mend};

/// One thing a toolchain needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// What it is, such as "standard library source".
    pub what: &'static str,
    /// Whether it is there and fits.
    pub found: bool,
    /// Where it is with its version, or what is missing.
    pub detail: String,
}

/// One toolchain that was examined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CandidateReport {
    /// Where it comes from, such as "the active toolchain".
    pub origin: String,
    /// What it needs, in the order it was looked for; looking stops at a rustc that doesn't run or is too old.
    pub items: Vec<Item>,
}

impl CandidateReport {
    /// Whether everything was found.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.items.iter().all(|item| item.found)
    }
}

/// Everything that was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolchainReport {
    candidates: Vec<CandidateReport>,
    chosen: Option<Toolchain>,
}

impl ToolchainReport {
    /// Adds a candidate, unless one that was found another way is the same.
    pub(super) fn add(&mut self, candidate: CandidateReport) {
        if !self.candidates.iter().any(|other| other.items == candidate.items) {
            self.candidates.push(candidate);
        }
    }

    pub(super) fn choose(&mut self, toolchain: Option<Toolchain>) {
        if self.chosen.is_none() {
            self.chosen = toolchain;
        }
    }

    /// The toolchains that were examined, first choice first.
    #[must_use]
    pub fn candidates(&self) -> &[CandidateReport] {
        &self.candidates
    }

    /// The first complete one.
    #[must_use]
    pub fn chosen(&self) -> Option<&Toolchain> {
        self.chosen.as_ref()
    }

    /// Commands of which any one completes a toolchain on this machine.
    #[must_use]
    pub fn mend(&self) -> Vec<String> {
        mend::commands()
    }
}

/// One line a toolchain, and one for each thing it needs, `ok` or `missing`.
impl fmt::Display for ToolchainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for candidate in &self.candidates {
            writeln!(f, "  {}", candidate.origin)?;
            for Item { what, found, detail } in &candidate.items {
                writeln!(f, "    {} {what}: {detail}", if *found { "ok     " } else { "missing" })?;
            }
        }
        Ok(())
    }
}
