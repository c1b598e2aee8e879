//! Whether a matrix product fits into memory, answered before anything is allocated.

use crate::error::Error;
use crate::reference::rows_to_check;

/// Bytes that an `m` x `k` by `k` x `n` product needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// On the host: A, B and C as f32, their page-locked copies, and the f64 reference.
    pub host: u128,
    /// On the device: A, B, C and what C is poisoned with before each measurement, as f32.
    pub device: u128,
}

impl Need {
    /// The need of an `m` x `k` by `k` x `n` product.
    #[must_use]
    pub fn of_product(m: u64, k: u64, n: u64) -> Self {
        let (m, k, n) = (u128::from(m), u128::from(k), u128::from(n));
        // Each product of two 64-bit numbers fits; their sum may not.
        let elements = (m * k).saturating_add(k * n).saturating_add(m * n);
        let matrices = elements.saturating_mul(4);
        let checked_rows = match (usize::try_from(m), usize::try_from(k), usize::try_from(n)) {
            // Only the number of rows matters here; above this many the list itself would be large.
            (Ok(m), Ok(k), Ok(n)) if m < 1 << 24 => rows_to_check(m, k, n).len() as u128,
            _ => m,
        };
        Self {
            host: matrices.saturating_mul(2).saturating_add((checked_rows * n).saturating_mul(8)),
            device: matrices.saturating_add((m * n).saturating_mul(4)),
        }
    }

    /// Compares with what the host has free now; see [`check_host`].
    ///
    /// # Errors
    ///
    /// [`Error::TooMuchMemory`] with both figures.
    pub fn check_host(self, what: &str) -> Result<(), Error> {
        check_host(self.host, || what.to_owned())
    }

    /// Compares with the `total` bytes of the device.
    ///
    /// # Errors
    ///
    /// [`Error::TooMuchMemory`] with both figures.
    pub fn check_device(self, what: &str, total: u64) -> Result<(), Error> {
        if self.device <= u128::from(total) {
            return Ok(());
        }
        Err(Error::TooMuchMemory {
            what: what.to_owned(),
            place: "device",
            needed: self.device,
            available: total,
            available_is: "is all there is",
        })
    }
}

/// Compares `needed` bytes with what the host has free now. A host that doesn't say counts as enough.
///
/// # Errors
///
/// [`Error::TooMuchMemory`] with both figures.
pub fn check_host(needed: u128, what: impl FnOnce() -> String) -> Result<(), Error> {
    match host_available() {
        Some(available) if needed > u128::from(available) => Err(Error::TooMuchMemory {
            what: what(),
            place: "host",
            needed,
            available,
            available_is: "is free",
        }),
        _ => Ok(()),
    }
}

/// Bytes the host can still give, with the limit of the control group (container) this process runs in.
fn host_available() -> Option<u64> {
    if !sysinfo::IS_SUPPORTED_SYSTEM {
        return None;
    }
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let free = match system.available_memory() {
        0 => return None,
        free => free,
    };
    // What a control group counts as used includes the file cache, which it gives back on demand; only resident memory is lost.
    let within_group =
        system.cgroup_limits().map(|group| group.total_memory.saturating_sub(group.rss));
    Some(within_group.map_or(free, |within| free.min(within)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_fits() {
        let need = Need::of_product(4, 5, 6);
        assert_eq!(need.device, (20 + 30 + 2 * 24) * 4);
        assert_eq!(need.host, 2 * (20 + 30 + 24) * 4 + 24 * 8);
        need.check_host("a product").unwrap();
        assert!(need.check_device("a product", 100).is_err());
    }

    #[test]
    fn an_absurd_product_names_both_figures() {
        let need = Need::of_product(1_000_000, 1_000_000, 1_000_000);
        let message = need.check_device("a product", 1 << 30).unwrap_err().to_string();
        assert_eq!(
            message,
            "a product would take 14.6 TiB of device memory, but 1.0 GiB is all there is; use a smaller size"
        );
        assert!(need.check_host("a product").is_err());
        assert!(Need::of_product(u64::MAX, u64::MAX, u64::MAX).check_host("a product").is_err());
    }
}
