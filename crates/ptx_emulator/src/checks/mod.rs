//! Checks of running kernels, named as compute-sanitizer names its tools.
//!
//! The machine says what happens ([`crate::events`]); each check is a client that knows nothing of the machine. What they find
//! is described by `machine::watch`, which knows the code and the memory.

mod finding;
pub(crate) mod init;
pub(crate) mod race;
mod set;

use std::collections::HashMap;

pub use finding::{Finding, FindingAddress, FindingKind, Party, Severity};
pub use set::{Check, CheckSet, UnknownCheck};

use init::BlockInit;
use race::{BlockRace, Race};

/// Findings of a launch that are kept; each is a pair of places in the code.
const MOST_FINDINGS: usize = 100;

/// What makes two findings the same: kind, position in the code, the other side's position.
pub(crate) type FindingKey = (FindingKind, u32, u32);

/// The checks of a machine.
#[derive(Debug)]
pub(crate) struct Checks {
    pub(crate) set: CheckSet,
    /// While a launch runs.
    pub(crate) race: Option<Race>,
    findings: Vec<Finding>,
    /// Where the present launch's findings begin, and which they are.
    begin: usize,
    known: HashMap<FindingKey, usize>,
    left_out: u64,
}

/// What checks keep about a running block.
#[derive(Debug, Default)]
pub(crate) struct BlockChecks {
    pub(crate) race: Option<BlockRace>,
    pub(crate) init: Option<BlockInit>,
}

impl Checks {
    /// `None` if nothing is to be checked.
    pub(crate) fn new(set: CheckSet) -> Option<Box<Checks>> {
        (!set.is_empty()).then(|| {
            Box::new(Checks {
                set,
                race: None,
                findings: Vec::new(),
                begin: 0,
                known: HashMap::new(),
                left_out: 0,
            })
        })
    }

    pub(crate) fn launch_begins(&mut self) {
        self.begin = self.findings.len();
        self.known.clear();
        self.race = self.set.contains(Check::Racecheck).then(Race::new);
    }

    pub(crate) fn launch_ends(&mut self) {
        self.race = None;
    }

    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        self.left_out = 0;
        std::mem::take(&mut self.findings)
    }

    /// Findings beyond the limit since they were last taken.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Counts a finding. True if it is new and must be described.
    pub(crate) fn is_new(&mut self, key: FindingKey, severity: Severity) -> bool {
        if let Some(finding) = self.known.get(&key).and_then(|at| self.findings.get_mut(*at)) {
            finding.count += 1;
            // The worst of them is shown.
            if severity > finding.severity {
                return true;
            }
            return false;
        }
        if self.findings.len() - self.begin.min(self.findings.len()) >= MOST_FINDINGS {
            self.left_out += 1;
            return false;
        }
        true
    }

    pub(crate) fn add(&mut self, key: FindingKey, mut finding: Finding) {
        if let Some(old) = self.known.get(&key).and_then(|at| self.findings.get_mut(*at)) {
            finding.count = old.count;
            *old = finding;
            return;
        }
        self.known.insert(key, self.findings.len());
        self.findings.push(finding);
    }
}
