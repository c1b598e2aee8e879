//! Which checks run.

use std::fmt;
use std::str::FromStr;

/// One of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// Memory that a kernel's `malloc` gave and nobody freed; who allocated and freed what. Bounds and alignment are
    /// always checked.
    Memcheck,
    /// Accesses of two threads to the same bytes, one of them a write, that nothing orders.
    Racecheck,
    /// Use of memory and registers that nobody has written.
    Initcheck,
    /// Barriers and warp operations that not all their threads reach, or reach differently.
    Synccheck,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 4] =
        [Check::Memcheck, Check::Racecheck, Check::Initcheck, Check::Synccheck];

    /// The name, as compute-sanitizer's.
    pub fn name(self) -> &'static str {
        match self {
            Check::Memcheck => "memcheck",
            Check::Racecheck => "racecheck",
            Check::Initcheck => "initcheck",
            Check::Synccheck => "synccheck",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of checks.
///
/// ```
/// use ptx_emulator::{Check, CheckSet};
/// let checks: CheckSet = "racecheck,memcheck".parse()?;
/// assert!(checks.contains(Check::Racecheck) && !checks.contains(Check::Initcheck));
/// assert_eq!(checks.to_string(), "memcheck,racecheck");
/// assert_eq!("none".parse::<CheckSet>()?, CheckSet::NONE);
/// # Ok::<(), ptx_emulator::UnknownCheck>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CheckSet(u8);

impl CheckSet {
    /// No check.
    pub const NONE: CheckSet = CheckSet(0);
    /// Every check.
    pub const ALL: CheckSet = CheckSet(0b1111);

    /// Whether `check` is in the set.
    pub fn contains(self, check: Check) -> bool {
        self.0 & 1 << check as u8 != 0
    }

    /// The set with `check` in it.
    #[must_use]
    pub fn with(self, check: Check) -> CheckSet {
        CheckSet(self.0 | 1 << check as u8)
    }

    /// Whether there is no check in the set.
    pub fn is_empty(self) -> bool {
        self == CheckSet::NONE
    }
}

impl fmt::Display for CheckSet {
    /// The names with commas between them, or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Check::ALL.into_iter().filter(|check| self.contains(*check)).map(Check::name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

/// A name that is no check's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is no check; the checks are memcheck, racecheck, initcheck, synccheck, and `all` or `none` of them"
)]
pub struct UnknownCheck {
    /// What was given.
    pub name: String,
}

impl FromStr for CheckSet {
    type Err = UnknownCheck;

    /// Names with commas between them; `all`; `none`.
    fn from_str(text: &str) -> Result<CheckSet, UnknownCheck> {
        let mut set = CheckSet::NONE;
        for name in text.split(',').map(str::trim) {
            match name {
                "all" => set = CheckSet::ALL,
                "none" => {}
                name => match Check::ALL.into_iter().find(|check| check.name() == name) {
                    Some(check) => set = set.with(check),
                    None => return Err(UnknownCheck { name: name.to_owned() }),
                },
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_as_they_are_written() {
        for bits in 0..16 {
            let set = CheckSet(bits);
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        assert_eq!("all".parse(), Ok(CheckSet::ALL));
        assert_eq!(" initcheck , synccheck ".parse::<CheckSet>().map(|set| set.0), Ok(0b1100));
        for wrong in ["", "race", "memcheck,", "memcheck racecheck"] {
            assert!(wrong.parse::<CheckSet>().is_err(), "{wrong}");
        }
    }
}
