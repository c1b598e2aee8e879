//! Loads and stores: addresses, state spaces, alignment, bounds.
//!
//! Every access is checked, whatever the launch: alignment to its own size, and that all of it lies in a live
//! allocation, in the block's shared memory, or in the thread's stack.

use super::block::BlockState;
use super::launch::Engine;
use super::report::{BadAccess, Reason};
use super::transfer::{self, Lanes, Pattern};
use super::warp::{Frame, Warp};
use crate::fault::FaultKind;
use crate::memory::window::{self, Window};
use crate::memory::{Memory, Owner};
use crate::op::{Address, AddressRow, MemoryOp, NONE, Space};
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

/// An access of lanes in one space.
struct Request<'a> {
    op: &'a MemoryOp,
    space: Space,
    /// Addresses in that space.
    addresses: Row64,
    mask: u32,
    pc: u32,
    direction: Direction,
}

impl Request<'_> {
    fn bad(&self, reason: Reason, lanes: u32) -> Box<BadAccess> {
        bad(reason, self.space, &self.addresses, lanes, self.op.bytes)
    }
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
        let (addresses, direction) = (addresses(warp, frame, &op.address), Direction::Load);
        let request = Request { op, space: op.space, addresses, mask, pc, direction };
        self.transfer(block, warp, frame, request)
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
        let (addresses, direction) = (addresses(warp, frame, &op.address), Direction::Store);
        let request = Request { op, space: op.space, addresses, mask, pc, direction };
        self.transfer(block, warp, frame, request)
    }

    fn transfer(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mut request: Request<'_>,
    ) -> Accessed {
        match request.space {
            Space::Frame => {
                let base = u64::from(frame.base_local) * 4;
                request.addresses = request.addresses.map(|offset| offset.wrapping_add(base));
                request.space = Space::Local;
                self.in_space(block, warp, frame, &request)
            }
            Space::Generic => {
                let (generic, mut rest) = (request.addresses, request.mask);
                while rest != 0 {
                    let (space, mask, addresses) = generic_group(&generic, rest);
                    let part = Request { space, mask, addresses, ..request };
                    self.in_space(block, warp, frame, &part)?;
                    rest &= !mask;
                }
                Ok(())
            }
            _ => self.in_space(block, warp, frame, &request),
        }
    }

    fn in_space(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        request: &Request<'_>,
    ) -> Accessed {
        let Request { op, space, ref addresses, mask, direction, .. } = *request;
        let wrong = misaligned(addresses, mask, op.bytes);
        if wrong != 0 {
            return Err(request.bad(Reason::Misaligned, wrong));
        }
        let pattern = transfer::pattern(addresses, mask, op.bytes);
        let lanes = Lanes { addresses, mask, pattern };
        let (base, length) = match space {
            Space::Shared => (window::SHARED_RESERVED, block.shared.len() as u64),
            Space::Local | Space::Frame => {
                let base = window::LOCAL_RESERVED;
                (base, (u64::from(frame.top_local) * 4).saturating_sub(base))
            }
            Space::Param if direction == Direction::Store => {
                return Err(request.bad(Reason::ReadOnly, mask));
            }
            Space::Param => (0, self.params.len() as u64),
            Space::Global | Space::Constant | Space::Generic => {
                return self.in_memory(warp, frame, request, pattern);
            }
        };
        let fit = transfer::fitting(lanes, op.bytes, base, length);
        if fit != mask {
            let reason = self.why_not_there(addresses, mask & !fit, space);
            return Err(request.bad(reason, mask & !fit));
        }
        match (space, direction) {
            (Space::Shared, Direction::Load) => {
                transfer::load(&block.shared, base, lanes, op, warp, frame);
            }
            (Space::Shared, Direction::Store) => {
                transfer::store(&mut block.shared, base, lanes, op, warp, frame);
            }
            (Space::Param, _) => transfer::load(&self.params, base, lanes, op, warp, frame),
            (_, Direction::Load) => transfer::load_local(lanes, op, warp, frame),
            (_, Direction::Store) => transfer::store_local(lanes, op, warp, frame),
        }
        Ok(())
    }

    /// Global and constant memory: all lanes at once when one allocation holds what they access, else one
    /// allocation after the other.
    fn in_memory(
        &mut self,
        warp: &mut Warp,
        frame: &Frame,
        request: &Request<'_>,
        mut pattern: Pattern,
    ) -> Accessed {
        let Request { op, space, ref addresses, direction, .. } = *request;
        let mut rest = request.mask;
        while rest != 0 {
            let fit_in = |slot: u32, memory: &Memory| {
                memory.slot(slot).map_or(0, |found| {
                    let lanes = Lanes { addresses, mask: rest, pattern };
                    transfer::fitting(lanes, op.bytes, found.base, found.data.len() as u64)
                })
            };
            let mut slot = self.caches.get(request.pc as usize).copied().unwrap_or(NONE);
            let mut fit = fit_in(slot, self.memory);
            if fit == 0 {
                let first = addresses[(rest.trailing_zeros() & 31) as usize];
                let Some(found) = self.memory.find(first, u64::from(op.bytes)) else {
                    return Err(self.not_there(addresses, rest, space, op.bytes));
                };
                slot = found;
                if let Some(cache) = self.caches.get_mut(request.pc as usize) {
                    *cache = slot;
                }
                fit = fit_in(slot, self.memory);
                if fit == 0 {
                    return Err(self.not_there(addresses, rest, space, op.bytes));
                }
            }
            if fit != rest {
                pattern = Pattern::General;
            }
            let lanes = Lanes { addresses, mask: fit, pattern };
            if let Some(found) = self.memory.slot_mut(slot) {
                let base = found.base;
                match direction {
                    Direction::Load => transfer::load(&found.data, base, lanes, op, warp, frame),
                    Direction::Store if matches!(found.owner, Owner::Constant(_)) => {
                        return Err(request.bad(Reason::ReadOnly, fit));
                    }
                    Direction::Store => {
                        transfer::store(&mut found.data, base, lanes, op, warp, frame);
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
            Space::Global | Space::Constant => {
                matches!(window::of(address), Window::Shared | Window::Local | Window::Param)
            }
            Space::Shared => window::of(address) == Window::Shared,
            Space::Local | Space::Frame => window::of(address) == Window::Local,
            _ => false,
        };
        if other { Reason::WrongSpace } else { Reason::OutOfBounds }
    }
}
