//! Device memory as a launch has it.

use std::ops::Deref;

use crate::memory::Memory;

/// Device memory, and whether other jobs have it too.
pub(super) enum Device<'a> {
    /// This job is the only one.
    Own(&'a mut Memory),
    /// Its bytes can be read and written, but nothing can be allocated.
    Shared(&'a Memory),
}

impl Deref for Device<'_> {
    type Target = Memory;

    #[inline(always)]
    fn deref(&self) -> &Memory {
        match self {
            Device::Own(memory) => memory,
            Device::Shared(memory) => memory,
        }
    }
}

impl Device<'_> {
    /// To change more than bytes. `None` where other jobs have it too: they do not run what needs this.
    pub(super) fn own(&mut self) -> Option<&mut Memory> {
        match self {
            Device::Own(memory) => Some(memory),
            Device::Shared(_) => None,
        }
    }

    /// Whether no other job has it.
    #[inline(always)]
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Device::Own(_))
    }
}
