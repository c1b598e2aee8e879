//! Checks of running kernels, named as compute-sanitizer names its tools.

mod set;

pub use set::{Check, CheckSet, UnknownCheck};

/// Something that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {}

/// The checks of a machine.
#[derive(Debug)]
pub(crate) struct Checks {
    findings: Vec<Finding>,
}

/// What checks keep about a running block.
#[derive(Debug)]
pub(crate) struct BlockChecks {}

impl Checks {
    /// `None` if nothing is to be checked.
    pub(crate) fn new(set: CheckSet) -> Option<Box<Checks>> {
        (set != CheckSet::NONE).then(|| Box::new(Checks { findings: Vec::new() }))
    }

    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }
}
