//! Host memory at a chosen address.
//!
//! Managed memory has one address for host and device, so the host's pages are mapped where the
//! emulator's device memory has the allocation. Only Linux offers that without the risk of replacing
//! something else.

/// Whether this system can do it.
pub(crate) const SUPPORTED: bool = cfg!(target_os = "linux");

/// Pages mapped at an address, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    address: u64,
    bytes: usize,
}

impl Mapping {
    /// The first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The size asked for, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(target_os = "linux")]
impl Mapping {
    /// The granularity of mappings, bytes.
    pub(crate) fn page_bytes() -> u64 {
        // SAFETY: sysconf only reads a constant of the system.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        u64::try_from(bytes).unwrap_or(4096)
    }

    /// Maps zeroed pages at `address`, a multiple of the page size; none where something lies already.
    pub(crate) fn at(address: u64, bytes: usize) -> Option<Mapping> {
        let wanted = usize::try_from(address).ok()?;
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_FIXED_NOREPLACE
            | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping that replaces nothing (MAP_FIXED_NOREPLACE).
        let found = unsafe {
            libc::mmap(
                std::ptr::without_provenance_mut(wanted),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if found == libc::MAP_FAILED {
            return None;
        }
        let mapping = Mapping { address: found.expose_provenance() as u64, bytes };
        // Kernels before 4.17 take the address as a hint only; dropping gives the pages back.
        (mapping.address == address).then_some(mapping)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mapping {
    fn drop(&mut self) {
        let address = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: exactly the mapping that `at` made; nobody is handed a reference into it that lasts.
        unsafe { libc::munmap(address, self.bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
impl Mapping {
    /// The granularity of mappings, bytes.
    pub(crate) fn page_bytes() -> u64 {
        4096
    }

    /// Not on this system.
    pub(crate) fn at(_address: u64, _bytes: usize) -> Option<Mapping> {
        None
    }
}
