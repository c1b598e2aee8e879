//! Loads and stores: addresses, state spaces, alignment, bounds.
//!
//! Every access is checked, whatever the launch: alignment to its own size, and that all of it lies in a live
//! allocation, in the block's shared memory, or in the thread's stack.

use super::block::BlockState;
use super::launch::Engine;
use super::report::{BadAccess, Reason};
use super::transfer::{self, Pattern};
use super::warp::{Frame, Warp};
use crate::fault::FaultKind;
use crate::memory::Owner;
use crate::memory::window::{self, Window};
use crate::op::{Address, AddressRow, MemoryOp, Space};
use crate::row::{LANES, Row64, lanes};

/// The outcome of an access.
pub(super) type Accessed = Result<(), Box<BadAccess>>;

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

/// Each lane's address.
#[inline]
pub(super) fn addresses(warp: &Warp, frame: &Frame, address: &Address) -> Row64 {
    let offset = address.offset;
    match address.base {
        AddressRow::Wide(row) => {
            let base = &warp.r64[(frame.base64 + row) as usize];
            let mut result = [0; LANES];
            for lane in 0..LANES {
                result[lane] = base[lane].wrapping_add(offset);
            }
            result
        }
        // 32-bit addresses stay in 32 bits.
        AddressRow::Narrow(row) => warp.r32[(frame.base32 + row) as usize]
            .map(|base| u64::from(base.wrapping_add(offset as u32))),
        AddressRow::Zero => [offset; LANES],
    }
}

/// A space's name in messages.
pub(super) fn name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Constant => "constant",
        Space::Shared => "shared",
        Space::Local | Space::Frame => "local",
        Space::Param => "param",
    }
}

/// A bad access of some lanes.
pub(super) fn bad(
    reason: Reason,
    space: Space,
    addresses: &Row64,
    lanes: u32,
    bytes: u32,
) -> Box<BadAccess> {
    let kind = match reason {
        Reason::Misaligned => FaultKind::MisalignedAddress,
        Reason::WrongSpace => FaultKind::InvalidAddressSpace,
        Reason::OutOfBounds | Reason::ReadOnly => FaultKind::IllegalAddress,
    };
    let address = addresses[(lanes.trailing_zeros() & 31) as usize];
    Box::new(BadAccess { kind, lanes, address, space: name(space), bytes, reason })
}

/// The lanes whose address is not a multiple of `bytes`.
pub(super) fn misaligned(addresses: &Row64, mask: u32, bytes: u32) -> u32 {
    let low = u64::from(bytes.saturating_sub(1));
    let mut any = 0;
    for address in addresses {
        any |= address & low;
    }
    if any == 0 {
        return 0;
    }
    lanes(mask).filter(|lane| addresses[*lane] & low != 0).fold(0, |m, lane| m | 1 << lane)
}

/// The lanes of `mask` whose generic address lies in the window of the first, the space and the addresses there.
pub(super) fn generic_group(addresses: &Row64, mask: u32) -> (Space, u32, Row64) {
    let first = window::of(addresses[(mask.trailing_zeros() & 31) as usize]);
    let group = lanes(mask)
        .filter(|lane| window::of(addresses[*lane]) == first)
        .fold(0, |m, lane| m | 1 << lane);
    let space = match first {
        Window::Global | Window::Function => return (Space::Global, group, *addresses),
        Window::Shared => Space::Shared,
        Window::Local => Space::Local,
        Window::Param => Space::Param,
    };
    let base = window::base(first);
    (space, group, addresses.map(|address| address.wrapping_sub(base)))
}

impl Engine<'_> {
    pub(super) fn load(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
    ) -> Accessed {
        self.transfer(block, warp, frame, op, mask, pc, Direction::Load)
    }

    pub(super) fn store(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
    ) -> Accessed {
        self.transfer(block, warp, frame, op, mask, pc, Direction::Store)
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    fn transfer(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
        direction: Direction,
    ) -> Accessed {
        let mut addresses = addresses(warp, frame, &op.address);
        let mut space = op.space;
        if space == Space::Frame {
            let base = u64::from(frame.base_local) * 4;
            addresses = addresses.map(|offset| offset.wrapping_add(base));
            space = Space::Local;
        }
        if space != Space::Generic {
            return self.in_space(block, warp, frame, op, &addresses, space, mask, pc, direction);
        }
        let mut rest = mask;
        while rest != 0 {
            let (space, group, inner) = generic_group(&addresses, rest);
            self.in_space(block, warp, frame, op, &inner, space, group, pc, direction)?;
            rest &= !group;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    fn in_space(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        addresses: &Row64,
        space: Space,
        mask: u32,
        pc: u32,
        direction: Direction,
    ) -> Accessed {
        let bytes = op.bytes;
        let wrong = misaligned(addresses, mask, bytes);
        if wrong != 0 {
            return Err(bad(Reason::Misaligned, space, addresses, wrong, bytes));
        }
        let pattern = transfer::pattern(addresses, mask, bytes);
        match space {
            Space::Shared => {
                let (base, length) = (window::SHARED_RESERVED, block.shared.len() as u64);
                let fit = transfer::fitting(addresses, mask, pattern, bytes, base, length);
                if fit != mask {
                    let reason = self.why_not_there(addresses, mask & !fit, space);
                    return Err(bad(reason, space, addresses, mask & !fit, bytes));
                }
                match direction {
                    Direction::Load => {
                        transfer::load(&block.shared, base, addresses, mask, pattern, op, warp, frame);
                    }
                    Direction::Store => {
                        let data = &mut block.shared;
                        transfer::store(data, base, addresses, mask, pattern, op, warp, frame);
                    }
                }
                Ok(())
            }
            Space::Local | Space::Frame => {
                let base = window::LOCAL_RESERVED;
                let length = (u64::from(frame.top_local) * 4).saturating_sub(base);
                let fit = transfer::fitting(addresses, mask, pattern, bytes, base, length);
                if fit != mask {
                    let reason = self.why_not_there(addresses, mask & !fit, space);
                    return Err(bad(reason, Space::Local, addresses, mask & !fit, bytes));
                }
                match direction {
                    Direction::Load => {
                        transfer::load_local(addresses, mask, pattern, op, warp, frame);
                    }
                    Direction::Store => {
                        transfer::store_local(addresses, mask, pattern, op, warp, frame);
                    }
                }
                Ok(())
            }
            Space::Param => {
                let length = self.params.len() as u64;
                let fit = transfer::fitting(addresses, mask, pattern, bytes, 0, length);
                if direction == Direction::Store {
                    return Err(bad(Reason::ReadOnly, space, addresses, mask, bytes));
                }
                if fit != mask {
                    return Err(bad(Reason::OutOfBounds, space, addresses, mask & !fit, bytes));
                }
                transfer::load(&self.params, 0, addresses, mask, pattern, op, warp, frame);
                Ok(())
            }
            Space::Global | Space::Constant | Space::Generic => {
                self.in_memory(warp, frame, op, addresses, space, mask, pc, direction, pattern)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    fn in_memory(
        &mut self,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        addresses: &Row64,
        space: Space,
        mask: u32,
        pc: u32,
        direction: Direction,
        pattern: Pattern,
    ) -> Accessed {
        let bytes = op.bytes;
        let mut rest = mask;
        // All lanes at once when one allocation holds what they access, else one allocation after the other.
        let mut pattern = pattern;
        while rest != 0 {
            let cached = self.caches.get(pc as usize).copied().unwrap_or(u32::MAX);
            let fit_in = |slot: u32, memory: &crate::memory::Memory| {
                memory.slot(slot).map_or(0, |found| {
                    let length = found.data.len() as u64;
                    transfer::fitting(addresses, rest, pattern, bytes, found.base, length)
                })
            };
            let mut slot = cached;
            let mut fit = fit_in(slot, self.memory);
            if fit == 0 {
                let first = addresses[(rest.trailing_zeros() & 31) as usize];
                match self.memory.find(first, u64::from(bytes)) {
                    Some(found) => slot = found,
                    None => return Err(self.not_there(addresses, rest, space, bytes)),
                }
                if let Some(cache) = self.caches.get_mut(pc as usize) {
                    *cache = slot;
                }
                fit = fit_in(slot, self.memory);
                if fit == 0 {
                    return Err(self.not_there(addresses, rest, space, bytes));
                }
            }
            if fit != rest {
                pattern = Pattern::General;
            }
            match direction {
                Direction::Load => {
                    if let Some(found) = self.memory.slot(slot) {
                        let base = found.base;
                        transfer::load(&found.data, base, addresses, fit, pattern, op, warp, frame);
                    }
                }
                Direction::Store => {
                    if let Some(found) = self.memory.slot_mut(slot) {
                        if matches!(found.owner, Owner::Constant(_)) {
                            return Err(bad(Reason::ReadOnly, space, addresses, fit, bytes));
                        }
                        let base = found.base;
                        let data = &mut found.data;
                        transfer::store(data, base, addresses, fit, pattern, op, warp, frame);
                    }
                }
            }
            rest &= !fit;
        }
        Ok(())
    }

    /// The lanes of `mask` that access nothing there is. The first one does.
    pub(super) fn not_there(
        &self,
        addresses: &Row64,
        mask: u32,
        space: Space,
        bytes: u32,
    ) -> Box<BadAccess> {
        let wrong = lanes(mask)
            .filter(|lane| self.memory.find(addresses[*lane], u64::from(bytes)).is_none())
            .fold(0, |m, lane| m | 1 << lane);
        let reason = self.why_not_there(addresses, wrong, space);
        bad(reason, space, addresses, wrong, bytes)
    }

    /// Whether the first lane's address is one of another space.
    fn why_not_there(&self, addresses: &Row64, wrong: u32, space: Space) -> Reason {
        let address = addresses[(wrong.trailing_zeros() & 31) as usize];
        let other = match space {
            Space::Global | Space::Constant => matches!(
                window::of(address),
                Window::Shared | Window::Local | Window::Param
            ),
            Space::Shared => window::of(address) == Window::Shared,
            Space::Local | Space::Frame => window::of(address) == Window::Local,
            _ => false,
        };
        if other { Reason::WrongSpace } else { Reason::OutOfBounds }
    }
}
