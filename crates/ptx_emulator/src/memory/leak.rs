//! Allocations that nobody freed.

use std::fmt;

use super::{Allocation, Owner};

/// An allocation that is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// Its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The name it was given.
    pub label: String,
    /// Whether a kernel's `malloc` made it, and not the host.
    pub device_heap: bool,
    /// Which thread of which kernel allocated it; known under memcheck for the device heap.
    pub allocated: Option<String>,
}

impl Leak {
    /// `None` for what belongs to a module.
    pub(super) fn of(found: &Allocation) -> Option<Leak> {
        let device_heap = match found.owner {
            Owner::Host => false,
            Owner::DeviceHeap => true,
            Owner::Module(_) | Owner::Constant(_) => return None,
        };
        Some(Leak {
            address: found.base,
            bytes: found.bytes,
            label: found.label.clone(),
            device_heap,
            allocated: found.history.allocated.clone(),
        })
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Leak { address, bytes, label, .. } = self;
        write!(
            f,
            "memcheck error: leak of {bytes} bytes at {address:#x}: `{label}` was never freed"
        )?;
        if let Some(who) = &self.allocated {
            write!(f, "\n  allocated {who}")?;
        }
        let help = if self.device_heap {
            "free in a kernel what a kernel's malloc gave; the heap is small"
        } else {
            "free it, or let the value that owns it go out of scope"
        };
        write!(f, "\nhelp: {help}")
    }
}
