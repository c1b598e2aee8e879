//! [`PtxSet`]: the same kernels compiled for several architectures, and which of them a device runs best.

use crate::error::{Problem, Result};

/// PTX of the same kernels for several architectures, each with its architecture's name (`sm_75`, `sm_90a`, `sm_100f`).
///
/// `cuda_builder`'s `build_archs` writes a file that is just what [`PtxSet::new`] takes.
///
/// # Example
///
/// ```no_run
/// use cuda_host::{Device, PtxSet};
///
/// # fn main() -> cuda_host::Result<()> {
/// // PtxSet::new(include!(concat!(env!("OUT_DIR"), "/kernels.rs")))
/// let kernels = PtxSet::new(&[("sm_75", "…"), ("sm_90a", "…")]);
/// Device::open()?.load_best(&kernels)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PtxSet<'a> {
    entries: &'a [(&'a str, &'a str)],
}

impl<'a> PtxSet<'a> {
    /// A set of (architecture, PTX), in any order.
    #[must_use]
    pub const fn new(entries: &'a [(&'a str, &'a str)]) -> Self {
        Self { entries }
    }

    /// The architecture and the PTX that suit a device of this compute capability (major, minor) best: the highest
    /// architecture that is not above the device's. Those with `a` run on exactly their device, those with `f` on the
    /// family of theirs; where they run, they are better than the plain one of the same number.
    ///
    /// ```
    /// use cuda_host::PtxSet;
    ///
    /// let kernels = PtxSet::new(&[("sm_75", "old"), ("sm_90a", "hopper")]);
    /// assert_eq!(kernels.best((9, 0))?, ("sm_90a", "hopper"));
    /// assert_eq!(kernels.best((12, 0))?, ("sm_75", "old"));
    /// # Ok::<(), cuda_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// If none of them runs on the device (the message lists them), or one has a name that is no architecture's. Both have
    /// the kind [`ErrorKind::Module`](crate::ErrorKind::Module).
    pub fn best(&self, device: (u32, u32)) -> Result<(&'a str, &'a str)> {
        let mut best: Option<(Architecture, (&str, &str))> = None;
        for &entry in self.entries {
            let (name, _) = entry;
            let architecture = Architecture::parse(name)
                .ok_or_else(|| Problem::UnknownArchitecture { name: name.into() })?;
            if architecture.runs_on(device) && best.is_none_or(|(former, _)| former < architecture)
            {
                best = Some((architecture, entry));
            }
        }
        let none = || {
            let available = self.entries.iter().map(|(name, _)| String::from(*name)).collect();
            Problem::NoFittingPtx { available, device }.into()
        };
        best.map(|(_, entry)| entry).ok_or_else(none)
    }
}

/// An architecture by its name, ordered from the worst to the best for a device that runs both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Architecture {
    capability: (u32, u32),
    portability: Portability,
}

/// Which other devices run an architecture's PTX (PTX ISA, "PTX Module Directives: .target").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Portability {
    /// Every newer one.
    Newer,
    /// `f`: newer ones of its family.
    Family,
    /// `a`: none.
    Alone,
}

impl Architecture {
    /// `sm_90a`: the last digit is the minor number.
    fn parse(name: &str) -> Option<Self> {
        let number = name.strip_prefix("sm_")?;
        let (digits, portability) = match number.strip_suffix('a') {
            Some(digits) => (digits, Portability::Alone),
            None => match number.strip_suffix('f') {
                Some(digits) => (digits, Portability::Family),
                None => (number, Portability::Newer),
            },
        };
        if digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: u32 = digits.parse().ok()?;
        Some(Self { capability: (number / 10, number % 10), portability })
    }

    fn runs_on(self, device: (u32, u32)) -> bool {
        match self.portability {
            Portability::Newer => self.capability <= device,
            Portability::Family => {
                self.capability <= device && family(self.capability) == family(device)
            }
            Portability::Alone => self.capability == device,
        }
    }
}

/// A number for each family. A family is a major number, but 10.1 (Thor, which CUDA 13 calls 11.0) is none of 10.0's.
fn family((major, minor): (u32, u32)) -> (u32, bool) {
    (major, (major, minor) == (10, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    const ALL: &[(&str, &str)] = &[
        ("sm_90a", "7"),
        ("sm_75", "1"),
        ("sm_90", "6"),
        ("sm_80", "2"),
        ("sm_86", "3"),
        ("sm_100f", "9"),
        ("sm_100", "8"),
        ("sm_100a", "10"),
        ("sm_120", "11"),
    ];

    #[test]
    fn the_highest_that_is_not_above_the_device_is_taken() {
        for (device, expected) in [
            ((7, 5), "sm_75"),
            ((8, 0), "sm_80"),
            ((8, 6), "sm_86"),
            ((8, 9), "sm_86"),
            ((9, 0), "sm_90a"),
            ((10, 0), "sm_100a"),
            ((10, 1), "sm_100"),
            ((10, 3), "sm_100f"),
            ((11, 0), "sm_100"),
            ((12, 1), "sm_120"),
        ] {
            let (name, ptx) = PtxSet::new(ALL).best(device).expect("there is an old one");
            assert_eq!(name, expected, "{device:?}");
            assert!(ALL.contains(&(name, ptx)));
        }
    }

    #[test]
    fn nothing_that_fits_is_an_error_that_lists_what_there_is() {
        let set = PtxSet::new(&[("sm_80", ""), ("sm_90a", "")]);
        let error = set.best((7, 5)).expect_err("both are newer");
        assert_eq!(error.kind(), ErrorKind::Module);
        let text = error.to_string();
        assert!(text.contains("sm_80, sm_90a") && text.contains("7.5 (sm_75)"), "{text}");
        assert!(PtxSet::new(&[("sm_90a", "")]).best((10, 0)).is_err());
        assert!(PtxSet::new(&[("sm_120f", "")]).best((13, 0)).is_err());
        let text = PtxSet::new(&[]).best((9, 0)).expect_err("it is empty").to_string();
        assert!(text.contains("the set is empty"), "{text}");
    }

    #[test]
    fn names_that_are_no_architecture_are_errors() {
        for name in ["", "sm_", "sm_9", "90", "sm_90x", "sm_-90", "sm_90aa", "sm_99999999999"] {
            let entries = [("sm_50", ""), (name, "")];
            let error = PtxSet::new(&entries).best((9, 0));
            let error = error.expect_err("the name means nothing");
            assert_eq!(error.kind(), ErrorKind::Module);
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
    }
}
