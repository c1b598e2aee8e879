//! What the emulator can tell about launches beyond their results: findings of checks, and counters.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use ptx_emulator::counters::Counters;
use ptx_emulator::{CheckSet, Finding, MachineConfig};

use super::{EMULATOR, Emulator};
use crate::error::ApiError;

/// What the program asked for before the emulator started.
#[derive(Clone, Copy, Debug)]
struct Wishes {
    /// None: what the environment says.
    checks: Option<CheckSet>,
    counters: bool,
}

static WISHES: Mutex<Wishes> = Mutex::new(Wishes { checks: None, counters: false });

/// Changes the wishes; false if the emulator runs already.
fn wish(change: impl FnOnce(&mut Wishes)) -> bool {
    let emulator = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    change(&mut WISHES.lock().unwrap_or_else(PoisonError::into_inner));
    emulator.is_none()
}

/// Sets which checks the emulator makes in every launch, in place of what `FERROWARP_CHECK` says; the program fetches what they find with
/// [`take_findings`]. To be called before anything of CUDA: false, and without effect until the next
/// [`reset_emulator`](crate::reset_emulator), if the emulator runs already. Without effect on a GPU.
///
/// # Example
///
/// ```
/// use cuda_driver::CheckSet;
/// assert!(cuda_driver::set_checks(CheckSet::ALL));
/// // … launch, synchronise …
/// assert!(cuda_driver::take_findings().is_empty());
/// ```
pub fn set_checks(checks: CheckSet) -> bool {
    wish(|wishes| wishes.checks = Some(checks))
}

/// Sets whether the emulator counts what launches do; the program fetches the counters with [`take_counters`]. To be called
/// before anything of CUDA, as [`set_checks`].
pub fn set_counters(on: bool) -> bool {
    wish(|wishes| wishes.counters = on)
}

/// What the checks of [`set_checks`] found in the launches since the last call, in order. Empty on a GPU. With
/// `FERROWARP_CHECK` findings are written to the standard error instead.
pub fn take_findings() -> Vec<Finding> {
    let mut emulator = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    emulator.as_mut().map_or_else(Vec::new, |emulator| emulator.machine.take_findings())
}

/// Counters of launches of one kernel with one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// How many launches these are the sums of.
    pub launches: u64,
    /// The sums.
    pub counters: Counters,
}

/// The counters of the launches since the last call, in the order in which kernels with their grids and blocks were first
/// launched. Empty on a GPU, and unless [`set_counters`] asked for them.
pub fn take_counters() -> Vec<Profile> {
    let mut emulator = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    emulator.as_mut().map_or_else(Vec::new, |emulator| std::mem::take(&mut emulator.profiles))
}

/// Adds what the program or the environment asks for. True if findings are to be printed.
pub(super) fn configure(config: &mut MachineConfig) -> Result<bool, ApiError> {
    let wishes = *WISHES.lock().unwrap_or_else(PoisonError::into_inner);
    config.counters = wishes.counters;
    if let Some(checks) = wishes.checks {
        config.checks = checks;
        return Ok(false);
    }
    let Some(value) = super::set_variable("FERROWARP_CHECK") else {
        return Ok(false);
    };
    match value.parse() {
        Ok(checks) => config.checks = checks,
        Err(_) => {
            let expected =
                "memcheck, racecheck, initcheck, synccheck with commas between them, all, or none";
            return Err(ApiError::argument("FERROWARP_CHECK", format_args!("`{value}`"), expected));
        }
    }
    Ok(true)
}

impl Emulator {
    /// After a launch, however it ended.
    pub(super) fn observe(&mut self) {
        if self.print_findings {
            let mut stderr = std::io::stderr().lock();
            let left_out = self.machine.findings_left_out();
            for finding in self.machine.take_findings() {
                // Without a standard error there is nobody to tell.
                let _ = writeln!(stderr, "{finding}");
            }
            if left_out > 0 {
                let _ = writeln!(stderr, "and {left_out} more findings that were not kept");
            }
        }
        let Some(counters) = self.machine.take_counters() else {
            return;
        };
        for profile in &mut self.profiles {
            if profile.counters.add(&counters) {
                profile.launches += 1;
                return;
            }
        }
        self.profiles.push(Profile { launches: 1, counters });
    }
}
