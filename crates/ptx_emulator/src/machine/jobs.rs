//! How many threads of the host run a launch.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// How many threads of the host run the blocks of a launch.
///
/// With more than one, blocks run side by side where that cannot show: results, counters and faults are those of one job, as
/// long as the kernel has no data races. The blocks of a cluster stay together on one thread. Launches in which the order of blocks
/// shows run on one thread all the same: those with checks, with `printf`, `malloc` or clocks, with accesses to global memory that
/// are more than weak, or with atomics on global memory whose results depend on the order (used results, sums of floating-point
/// numbers, exchanges). [`in_any_order`](Jobs::in_any_order) runs side by side whatever can; then such a kernel may give other
/// results each time, as on a GPU.
///
/// ```
/// use ptx_emulator::Jobs;
/// let jobs: Jobs = "4".parse()?;
/// assert_eq!(jobs, Jobs::new(4));
/// assert_eq!("auto,any-order".parse(), Ok(Jobs::AUTO.in_any_order()));
/// assert_eq!(Jobs::default(), Jobs::ONE);
/// # Ok::<(), ptx_emulator::UnknownJobs>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// `None`: as many as the host has processors.
    count: Option<NonZeroU32>,
    any_order: bool,
}

impl Jobs {
    /// One block after the other.
    pub const ONE: Jobs = Jobs { count: NonZeroU32::new(1), any_order: false };
    /// As many jobs as the host has processors.
    pub const AUTO: Jobs = Jobs { count: None, any_order: false };
    /// More threads than any host has would only take memory.
    const MOST: u32 = 1024;

    /// So many jobs, 1 to 1024.
    #[must_use]
    pub fn new(count: u32) -> Jobs {
        Jobs { count: NonZeroU32::new(count.clamp(1, Jobs::MOST)), any_order: false }
    }

    /// The same number, also where the order of blocks shows in the results.
    #[must_use]
    pub fn in_any_order(self) -> Jobs {
        Jobs { any_order: true, ..self }
    }

    /// The number of jobs on this host.
    pub(super) fn count(self) -> u64 {
        let count = self.count.or_else(|| {
            let found = std::thread::available_parallelism().ok()?.get();
            NonZeroU32::new(found.min(Jobs::MOST as usize) as u32)
        });
        count.map_or(1, |count| u64::from(count.get()))
    }

    pub(super) fn is_any_order(self) -> bool {
        self.any_order
    }
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs::ONE
    }
}

/// A text that is no number of jobs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no number of jobs: write 1 to {most}, or auto, and `,any-order` behind it if results may differ from run to run", most = Jobs::MOST)]
pub struct UnknownJobs(String);

impl FromStr for Jobs {
    type Err = UnknownJobs;

    fn from_str(text: &str) -> Result<Jobs, UnknownJobs> {
        let unknown = || UnknownJobs(text.to_owned());
        let (count, any_order) = match text.split_once(',') {
            Some((count, "any-order")) => (count, true),
            Some(_) => return Err(unknown()),
            None => (text, false),
        };
        let jobs = match count {
            "auto" => Jobs::AUTO,
            number => match number.parse() {
                Ok(number @ 1..=Jobs::MOST) => Jobs::new(number),
                _ => return Err(unknown()),
            },
        };
        Ok(Jobs { any_order, ..jobs })
    }
}

impl fmt::Display for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            Some(count) => write!(f, "{count}")?,
            None => write!(f, "auto")?,
        }
        if self.any_order { write!(f, ",any-order") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_jobs_are_the_same_both_ways() {
        for text in ["1", "3", "1024", "auto", "2,any-order", "auto,any-order"] {
            assert_eq!(text.parse::<Jobs>().unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "1025", "many", "2,", "2,any", "any-order"] {
            assert_eq!(text.parse::<Jobs>(), Err(UnknownJobs(text.to_owned())), "{text}");
        }
    }
}
