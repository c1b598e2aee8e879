//! Device memory: allocations with guard gaps, poisoned when fresh, bounds known exactly.
//!
//! Addresses are handed out in rising order and never twice, with at least [`GUARD_BYTES`] unmapped
//! bytes between neighbours, so a pointer past an allocation's end or to a freed one is always
//! recognised, and can be named.

mod allocation;
mod leak;
mod storage;
pub(crate) mod window;
mod written;

use std::collections::{BTreeMap, VecDeque};

pub(crate) use allocation::{Allocation, History, Nearest, Owner, Place};
pub use leak::Leak;
pub(crate) use storage::{Number, Storage};
pub(crate) use written::Written;

use crate::checks::{Check, CheckSet};
use crate::error::MemoryError;

/// What fresh storage is filled with, so that data nobody wrote shows.
pub(crate) const POISON: u8 = 0xCB;
/// Alignment of every allocation, bytes (CUDA C++ Programming Guide, device memory accesses).
const ALLOCATION_ALIGN: u64 = 256;
/// Unmapped bytes kept behind each allocation.
const GUARD_BYTES: u64 = 4096;
/// How many freed allocations are remembered by name, for use-after-free reports.
const REMEMBERED_FREES: usize = 65_536;

/// Device memory as the host sees it: global memory, and the module's `.global` and `.const`
/// variables.
///
/// ```
/// use ptx_emulator::{Machine, MachineConfig};
/// let mut machine = Machine::new(MachineConfig::default());
/// let address = machine.memory_mut().alloc(8, "numbers")?;
/// machine.memory_mut().write(address, &[1, 2, 3, 4])?;
/// let mut back = [0; 8];
/// machine.memory().read(address, &mut back)?;
/// assert_eq!(back, [1, 2, 3, 4, 0xCB, 0xCB, 0xCB, 0xCB]); // the rest was never written
/// # Ok::<(), ptx_emulator::MemoryError>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    slots: Vec<Allocation>,
    /// Base address -> slot, live and remembered freed ones.
    by_base: BTreeMap<u64, u32>,
    unused_slots: Vec<u32>,
    freed: VecDeque<u32>,
    next_global: u64,
    next_constant: u64,
    used: u64,
    capacity: u64,
    /// Whether it is kept which bytes were written.
    tracks: bool,
    /// Whether it is kept who frees what.
    remembers: bool,
    /// The last launch: its number and kernel.
    last_launch: Option<(u64, String)>,
}

impl Memory {
    pub(crate) fn new(capacity: u64, checks: CheckSet) -> Memory {
        Memory {
            tracks: checks.contains(Check::Initcheck),
            remembers: checks.contains(Check::Memcheck),
            last_launch: None,
            slots: Vec::new(),
            by_base: BTreeMap::new(),
            unused_slots: Vec::new(),
            freed: VecDeque::new(),
            next_global: window::GLOBAL_BASE,
            next_constant: window::CONSTANT_BASE,
            used: 0,
            capacity,
        }
    }

    /// Allocates `bytes` bytes of global memory; `label` names them in diagnostics. The address is a
    /// multiple of 256 and is never handed out again.
    ///
    /// # Errors
    /// [`MemoryError::ZeroSize`] for no bytes, [`MemoryError::OutOfMemory`] when the device's
    /// capacity or the host's memory does not suffice.
    pub fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        if bytes == 0 {
            return Err(MemoryError::ZeroSize);
        }
        self.insert(bytes, label, Owner::Host)
    }

    /// Frees what [`alloc`](Memory::alloc) returned.
    ///
    /// # Errors
    /// [`MemoryError::AlreadyFreed`] for a second free, [`MemoryError::NotAnAllocation`] for any
    /// address that is not the start of an allocation (a module's variable is not one).
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        self.release(address, Owner::Host)?;
        if self.remembers {
            let when = match &self.last_launch {
                Some((number, kernel)) => {
                    format!("by the host after launch {number}, of `{kernel}`")
                }
                None => "by the host before any launch".to_owned(),
            };
            self.note_free(address, when);
        }
        Ok(())
    }

    /// Copies `buffer.len()` bytes from device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfRange`], [`MemoryError::AlreadyFreed`] or [`MemoryError::NotAnAllocation`]
    /// unless all of the bytes lie in one live allocation.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), MemoryError> {
        if buffer.is_empty() {
            return Ok(());
        }
        let (slot, at) = self.range(address, buffer.len() as u64)?;
        if self.slots[slot].data.read_bytes(at, buffer) {
            Ok(())
        } else {
            Err(self.not_an_allocation(address))
        }
    }

    /// Copies `bytes` to device memory.
    ///
    /// # Errors
    /// As [`read`](Memory::read).
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (slot, at) = self.range(address, bytes.len() as u64)?;
        self.slots[slot].data.exclusive()[at..at + bytes.len()].copy_from_slice(bytes);
        self.slots[slot].mark(at, bytes.len());
        Ok(())
    }

    /// Copies `bytes` bytes within device memory; the ranges may overlap.
    ///
    /// # Errors
    /// As [`read`](Memory::read), for either range.
    pub fn copy(&mut self, destination: u64, source: u64, bytes: u64) -> Result<(), MemoryError> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, from_at) = self.range(source, bytes)?;
        let (to, to_at) = self.range(destination, bytes)?;
        // Both ranges were found inside allocations, so the length fits the host's usize.
        let length = bytes as usize;
        if from == to {
            let data = self.slots[from].data.exclusive();
            data.copy_within(from_at..from_at + length, to_at);
        } else if let Ok([from, to]) = self.slots.get_disjoint_mut([from, to]) {
            to.data.exclusive()[to_at..to_at + length]
                .copy_from_slice(&from.data.exclusive()[from_at..from_at + length]);
        }
        let bits = self.slots[from].written.as_ref().and_then(|bits| bits.part(from_at, length));
        if let Some(written) = &mut self.slots[to].written
            && let Some(bits) = bits
        {
            written.copy(to_at, &bits, 0, length);
        }
        Ok(())
    }

    /// Writes `pattern` (1, 2 or 4 bytes, as `cuMemsetD8/D16/D32` do) `count` times.
    ///
    /// # Errors
    /// As [`read`](Memory::read).
    pub fn fill(&mut self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let bytes = (pattern.len() as u64).saturating_mul(count);
        if bytes == 0 {
            return Ok(());
        }
        let (slot, at) = self.range(address, bytes)?;
        let target = &mut self.slots[slot].data.exclusive()[at..at + bytes as usize];
        match pattern {
            [byte] => target.fill(*byte),
            _ => target.chunks_exact_mut(pattern.len()).for_each(|c| c.copy_from_slice(pattern)),
        }
        self.slots[slot].mark(at, bytes as usize);
        Ok(())
    }

    /// The live allocation that `address` points into: its first address and its size in bytes.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let found = self.live(address)?;
        Some((found.base, found.bytes))
    }

    /// Bytes allocated now, modules' variables included.
    pub fn used_bytes(&self) -> u64 {
        self.used
    }

    /// Bytes the device has.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn insert(
        &mut self,
        bytes: u64,
        label: &str,
        owner: Owner,
    ) -> Result<u64, MemoryError> {
        let refused =
            MemoryError::OutOfMemory { requested: bytes, used: self.used, capacity: self.capacity };
        if bytes > self.capacity.saturating_sub(self.used) {
            return Err(refused);
        }
        let constant = matches!(owner, Owner::Constant(_));
        let next = if constant { &mut self.next_constant } else { &mut self.next_global };
        let limit = if constant { window::CONSTANT_END } else { window::GLOBAL_END };
        let base = *next;
        let span = bytes
            .checked_next_multiple_of(ALLOCATION_ALIGN)
            .and_then(|rounded| rounded.checked_add(GUARD_BYTES))
            .and_then(|span| base.checked_add(span))
            .filter(|end| *end <= limit);
        let (Some(end), Ok(length)) = (span, usize::try_from(bytes)) else {
            return Err(refused);
        };
        let Some(data) = Storage::new(length, POISON) else {
            return Err(refused);
        };
        let written = if self.tracks { Written::new(length) } else { None };
        *next = end;
        self.used += bytes;
        let label = label.to_owned();
        let entry = Allocation {
            base,
            bytes,
            data,
            label,
            owner,
            freed: false,
            history: History::default(),
            written,
        };
        let slot = match self.unused_slots.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_base.insert(base, slot);
        Ok(base)
    }

    pub(crate) fn release(&mut self, address: u64, owner: Owner) -> Result<(), MemoryError> {
        let Some(&slot) = self.by_base.get(&address) else {
            return Err(self.not_an_allocation(address));
        };
        let entry = &mut self.slots[slot as usize];
        if entry.freed {
            return Err(MemoryError::AlreadyFreed {
                address,
                label: entry.label.clone(),
                bytes: entry.bytes,
            });
        }
        if entry.owner != owner {
            return Err(self.not_an_allocation(address));
        }
        self.retire(slot);
        Ok(())
    }

    /// A launch begins.
    pub(crate) fn note_launch(&mut self, number: u64, kernel: &str) {
        if self.remembers {
            self.last_launch = Some((number, kernel.to_owned()));
        }
    }

    /// Says who allocated what begins at `address`.
    pub(crate) fn note_allocation(&mut self, address: u64, who: String) {
        if let Some(slot) = self.by_base.get(&address) {
            self.slots[*slot as usize].history.allocated = Some(who);
        }
    }

    /// Says who freed what began at `address`.
    pub(crate) fn note_free(&mut self, address: u64, who: String) {
        if let Some(slot) = self.by_base.get(&address) {
            self.slots[*slot as usize].history.freed = Some(who);
        }
    }

    /// What the host and kernels have allocated and not freed.
    pub(crate) fn leaks(&self) -> Vec<Leak> {
        let live = self.by_base.values().map(|slot| &self.slots[*slot as usize]);
        live.filter(|found| !found.freed).filter_map(Leak::of).collect()
    }

    /// Frees everything that `owner` holds.
    pub(crate) fn release_all(&mut self, owner: Owner) {
        let slots: Vec<u32> = self.by_base.values().copied().collect();
        for slot in slots {
            let entry = &self.slots[slot as usize];
            if entry.owner == owner && !entry.freed {
                self.retire(slot);
            }
        }
    }

    fn retire(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        entry.freed = true;
        entry.data = Storage::default();
        entry.written = None;
        self.used -= entry.bytes;
        self.freed.push_back(slot);
        if self.freed.len() > REMEMBERED_FREES
            && let Some(oldest) = self.freed.pop_front()
        {
            self.by_base.remove(&self.slots[oldest as usize].base);
            self.unused_slots.push(oldest);
        }
    }

    /// The slot of the allocation with the largest base not above `address`.
    fn at_or_below(&self, address: u64) -> Option<u32> {
        self.by_base.range(..=address).next_back().map(|(_, slot)| *slot)
    }

    fn live(&self, address: u64) -> Option<&Allocation> {
        let entry = &self.slots[self.at_or_below(address)? as usize];
        (!entry.freed && entry.contains(address, 1)).then_some(entry)
    }

    /// The slot that holds `bytes` bytes at `address`, all of them.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<u32> {
        let slot = self.at_or_below(address)?;
        self.slots[slot as usize].contains(address, bytes).then_some(slot)
    }

    /// The allocation in a slot; `None` for a number that is no slot.
    #[inline]
    pub(crate) fn slot(&self, slot: u32) -> Option<&Allocation> {
        self.slots.get(slot as usize)
    }

    /// As [`slot`](Memory::slot), to change its bytes.
    #[inline]
    pub(crate) fn slot_mut(&mut self, slot: u32) -> Option<&mut Allocation> {
        self.slots.get_mut(slot as usize)
    }

    /// The allocation nearest to `address`, live or freed.
    pub(crate) fn nearest(&self, address: u64) -> Option<Nearest> {
        let below = self.at_or_below(address).map(|slot| &self.slots[slot as usize]);
        let above = self.by_base.range(address..).next().map(|(_, s)| &self.slots[*s as usize]);
        allocation::nearest(address, below, above)
    }

    /// The space a global-window address belongs to, when it is inside a live allocation.
    pub(crate) fn is_constant(&self, address: u64) -> bool {
        self.live(address).is_some_and(|found| matches!(found.owner, Owner::Constant(_)))
    }

    fn range(&self, address: u64, bytes: u64) -> Result<(usize, usize), MemoryError> {
        let Some(slot) = self.at_or_below(address) else {
            return Err(self.not_an_allocation(address));
        };
        let entry = &self.slots[slot as usize];
        let inside = address - entry.base < entry.bytes.max(1);
        if inside && entry.freed {
            let (label, bytes) = (entry.label.clone(), entry.bytes);
            return Err(MemoryError::AlreadyFreed { address, label, bytes });
        }
        if !inside {
            return Err(self.not_an_allocation(address));
        }
        if !entry.contains(address, bytes) {
            return Err(MemoryError::OutOfRange {
                address,
                bytes,
                base: entry.base,
                size: entry.bytes,
                label: entry.label.clone(),
            });
        }
        Ok((slot as usize, (address - entry.base) as usize))
    }

    fn not_an_allocation(&self, address: u64) -> MemoryError {
        let nearest = self.nearest(address).map(|found| found.to_string());
        MemoryError::NotAnAllocation { address, nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(1 << 20, CheckSet::NONE)
    }

    #[test]
    fn addresses_are_aligned_apart_and_never_reused() {
        let mut memory = memory();
        let first = memory.alloc(1, "a").unwrap();
        let second = memory.alloc(1, "b").unwrap();
        assert_eq!(first % 256, 0);
        assert!(second - first >= 256 + 4096);
        memory.free(second).unwrap();
        assert!(memory.alloc(1, "c").unwrap() > second);
        assert_eq!(memory.used_bytes(), 2);
    }

    #[test]
    fn misuse_is_told_apart() {
        let mut memory = memory();
        assert_eq!(memory.alloc(0, "x"), Err(MemoryError::ZeroSize));
        let a = memory.alloc(16, "a").unwrap();
        assert!(matches!(memory.alloc(1 << 20, "big"), Err(MemoryError::OutOfMemory { .. })));
        assert!(matches!(memory.free(a + 8), Err(MemoryError::NotAnAllocation { .. })));
        assert!(matches!(memory.write(a + 8, &[0; 9]), Err(MemoryError::OutOfRange { .. })));
        memory.free(a).unwrap();
        assert!(matches!(memory.free(a), Err(MemoryError::AlreadyFreed { .. })));
        assert!(matches!(memory.read(a, &mut [0]), Err(MemoryError::AlreadyFreed { .. })));
        assert!(matches!(memory.read(7, &mut [0]), Err(MemoryError::NotAnAllocation { .. })));
    }

    #[test]
    fn copies_and_fills() {
        let mut memory = memory();
        let a = memory.alloc(16, "a").unwrap();
        let b = memory.alloc(16, "b").unwrap();
        memory.fill(a, &[1, 2], 8).unwrap();
        memory.write(a, &[9]).unwrap();
        memory.copy(a + 1, a, 15).unwrap(); // overlapping
        memory.copy(b, a, 16).unwrap();
        let mut back = [0; 16];
        memory.read(b, &mut back).unwrap();
        assert_eq!(back, [9, 9, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]);
        assert!(matches!(memory.fill(a, &[0; 4], u64::MAX), Err(MemoryError::OutOfRange { .. })));
        assert_eq!(memory.allocation(b + 15), Some((b, 16)));
        assert_eq!(memory.allocation(b + 16), None);
    }
}
