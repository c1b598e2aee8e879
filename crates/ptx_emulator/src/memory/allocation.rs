//! One allocation, and the description of an address by the allocation nearest to it.

use std::fmt;

use super::storage::Storage;
use super::written::Written;

/// Who may free an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The host, through [`Memory::alloc`](super::Memory::alloc).
    Host,
    /// A `.global` variable of the module with this number.
    Module(u32),
    /// A `.const` variable of the module with this number; kernels may only read it.
    Constant(u32),
    /// A kernel's `malloc`.
    DeviceHeap,
}

/// Where an allocation came from and where it went, in words that follow "allocated" and "freed".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) allocated: Option<String>,
    pub(crate) freed: Option<String>,
}

/// A range of device memory.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    /// Bytes asked for; the bounds that are checked.
    pub(crate) bytes: u64,
    /// Empty once freed.
    pub(crate) data: Storage,
    pub(crate) label: String,
    pub(crate) owner: Owner,
    pub(crate) freed: bool,
    /// Who allocated it and who freed it, if that is kept.
    pub(crate) history: History,
    /// Which bytes were written, if that is kept.
    pub(crate) written: Option<Written>,
}

impl Allocation {
    /// Bytes were written.
    pub(super) fn mark(&mut self, at: usize, bytes: usize) {
        if let Some(written) = &mut self.written {
            written.mark(at, bytes);
        }
    }

    /// Whether kernels may only read it.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.owner, Owner::Constant(_))
    }

    /// Whether all of `bytes` bytes at `address` lie inside, and may be used.
    #[inline]
    pub(crate) fn contains(&self, address: u64, bytes: u64) -> bool {
        let length = self.data.len() as u64;
        bytes <= length && address.wrapping_sub(self.base) <= length - bytes
    }
}

/// How an address lies to the allocation nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    pub(crate) label: String,
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) freed: bool,
    pub(crate) device_heap: bool,
    pub(crate) history: History,
    pub(crate) place: Place,
}

/// Where an address is, seen from an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes before its first one.
    Before(u64),
    /// At this offset inside.
    Inside(u64),
    /// So many bytes past its end; 0 is the first byte that is not part of it.
    After(u64),
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Before(distance) => write!(f, "{distance} bytes before the start of ")?,
            Place::Inside(offset) => write!(f, "at offset {offset} of ")?,
            Place::After(distance) => write!(f, "{distance} bytes past the end of ")?,
        }
        if self.freed {
            write!(f, "the freed ")?;
        }
        write!(f, "`{}` ({} bytes at {:#x})", self.label, self.bytes, self.base)?;
        if let Some(who) = &self.history.allocated {
            write!(f, ", allocated {who}")?;
        }
        if let Some(who) = &self.history.freed {
            write!(f, ", freed {who}")?;
        }
        Ok(())
    }
}

pub(super) fn nearest(
    address: u64,
    below: Option<&Allocation>,
    above: Option<&Allocation>,
) -> Option<Nearest> {
    let after = below.map(|found| {
        let offset = address - found.base;
        let place = match offset.checked_sub(found.bytes) {
            Some(distance) => Place::After(distance),
            None => Place::Inside(offset),
        };
        (found, place)
    });
    let before = above.map(|found| (found, Place::Before(found.base - address)));
    let distance = |place: Place| match place {
        Place::Before(distance) | Place::After(distance) => distance,
        Place::Inside(_) => 0,
    };
    let (found, place) =
        [after, before].into_iter().flatten().min_by_key(|(_, place)| distance(*place))?;
    Some(Nearest {
        label: found.label.clone(),
        base: found.base,
        bytes: found.bytes,
        freed: found.freed,
        device_heap: found.owner == Owner::DeviceHeap,
        history: found.history.clone(),
        place,
    })
}
