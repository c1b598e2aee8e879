//! Loads and stores: addresses, state spaces, alignment, bounds.
//!
//! Every access is checked, whatever the launch: alignment to its own size, and that all of it lies in a live
//! allocation, in the block's shared memory, or in the thread's stack.

use std::sync::atomic::{Ordering, fence};

use super::block::BlockState;
use super::cluster::Remote;
use super::counting::What;
use super::launch::Engine;
use super::local;
use super::places::{Places, lowest};
use super::report::{BadAccess, Reason};
use super::transfer;
use super::warp::{Frame, Warp};
use crate::fault::FaultKind;
use crate::memory::window::{self, Window};
use crate::memory::{Memory, Owner};
use crate::op::{Address, AddressRow, MemoryOp, NONE, Space};
use crate::registers::Affine;
use crate::row::{LANES, Row64, lanes};

/// The outcome of an access.
pub(super) type Accessed = Result<(), Box<BadAccess>>;

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

impl Direction {
    fn what(self) -> What {
        match self {
            Direction::Load => What::Load,
            Direction::Store => What::Store,
        }
    }
}

/// Where the lanes access memory, if that is known to be evenly spaced.
#[inline(always)]
pub(super) fn even_addresses(
    warp: &Warp,
    frame: &Frame,
    address: &Address,
    mask: u32,
) -> Option<Affine> {
    let offset = address.offset;
    match address.base {
        AddressRow::Wide(row) => {
            let value = warp.r64.affine(frame.base64 + row, mask)?;
            Some(value.plus(offset))
        }
        // 32-bit addresses stay in 32 bits.
        AddressRow::Narrow(row) => {
            let value = warp.r32.affine(frame.base32 + row, mask)?;
            super::affine::widen_unsigned(value.plus(offset))
        }
        AddressRow::Zero => Some(Affine::uniform(offset)),
    }
}

/// Each lane's address.
#[inline]
pub(super) fn addresses(warp: &mut Warp, frame: &Frame, address: &Address) -> Row64 {
    let offset = address.offset;
    match address.base {
        AddressRow::Wide(row) => {
            let base = warp.r64.read(frame.base64 + row);
            let mut result = [0; LANES];
            for lane in 0..LANES {
                result[lane] = base[lane].wrapping_add(offset);
            }
            result
        }
        // 32-bit addresses stay in 32 bits.
        AddressRow::Narrow(row) => warp
            .r32
            .read(frame.base32 + row)
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
        Space::Shared | Space::Cluster => "shared",
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
        Reason::NotShared => FaultKind::NotSharedMemory,
        Reason::OutOfBounds | Reason::OtherBlock | Reason::ReadOnly => FaultKind::IllegalAddress,
    };
    let address = addresses[(lanes.trailing_zeros() & 31) as usize];
    Box::new(BadAccess { kind, lanes, address, space: name(space), bytes, reason })
}

/// The space that a window of generic addresses shows, and the address of its first byte.
#[inline]
fn shown(window: Window) -> (Space, u64) {
    let space = match window {
        // Global and constant addresses are generic addresses already; no data lies where functions seem to be.
        Window::Global | Window::Function => return (Space::Global, 0),
        Window::Shared => Space::Shared,
        Window::Local => Space::Local,
        Window::Param => Space::Param,
    };
    (space, window::base(window))
}

/// The lanes of `mask` whose generic address lies in the window of the first, the space and the addresses there.
pub(super) fn generic_group(addresses: &Row64, mask: u32) -> (Space, u32, Row64) {
    let first = window::of(addresses[lowest(mask)]);
    let group = lanes(mask)
        .filter(|lane| window::of(addresses[*lane]) == first)
        .fold(0, |m, lane| m | 1 << lane);
    let (space, base) = shown(first);
    (space, group, addresses.map(|address| address.wrapping_sub(base)))
}

/// The space and the places in it, if all generic addresses lie in one window.
#[inline]
fn generic_places(value: Affine, mask: u32) -> Option<(Space, Affine)> {
    let found = window::of(value.lane(lowest(mask)));
    if value.corners().iter().any(|corner| window::of(*corner) != found) {
        return None;
    }
    let (space, base) = shown(found);
    Some((space, value.plus(base.wrapping_neg())))
}

/// An access of lanes in one space.
#[derive(Clone, Copy)]
struct Request<'a> {
    op: &'a MemoryOp,
    space: Space,
    /// Places in that space.
    places: Places<'a>,
    mask: u32,
    pc: u32,
    direction: Direction,
}

impl Request<'_> {
    fn bad(&self, reason: Reason, lanes: u32) -> Box<BadAccess> {
        bad(reason, self.space, &self.places.row(), lanes, self.op.bytes)
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
    #[inline]
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
        // What other jobs do before or after must stay there.
        let ordered = op.order.is_strong() && !self.memory.is_own();
        if ordered {
            fence(Ordering::SeqCst);
        }
        let result = self.transfer_now(block, warp, frame, op, mask, pc, direction);
        if ordered {
            fence(Ordering::SeqCst);
        }
        result
    }

    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    #[inline]
    fn transfer_now(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &MemoryOp,
        mask: u32,
        pc: u32,
        direction: Direction,
    ) -> Accessed {
        if let Some(value) = even_addresses(warp, frame, &op.address, mask) {
            let found = match op.space {
                Space::Generic => generic_places(value, mask),
                Space::Frame => Some((Space::Local, value.plus(u64::from(frame.base_local) * 4))),
                space => Some((space.seen(), value)),
            };
            if let Some((space, value)) = found {
                let places = Places::Even(value);
                let request = Request { op, space, places, mask, pc, direction };
                return self.in_space(block, warp, frame, request);
            }
        }
        let mut addresses = addresses(warp, frame, &op.address);
        let mut space = op.space.seen();
        match op.space {
            Space::Generic => {
                let mut rest = mask;
                while rest != 0 {
                    let (space, mask, inside) = generic_group(&addresses, rest);
                    let places = Places::of(&inside, mask);
                    let request = Request { op, space, places, mask, pc, direction };
                    self.in_space(block, warp, frame, request)?;
                    rest &= !mask;
                }
                return Ok(());
            }
            Space::Frame => {
                let base = u64::from(frame.base_local) * 4;
                addresses = addresses.map(|offset| offset.wrapping_add(base));
                space = Space::Local;
            }
            _ => {}
        }
        let places = Places::of(&addresses, mask);
        let request = Request { op, space, places, mask, pc, direction };
        self.in_space(block, warp, frame, request)
    }

    fn in_space(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        request: Request<'_>,
    ) -> Accessed {
        let Request { op, space, places, mask, direction, .. } = request;
        let wrong = places.misaligned(mask, op.bytes);
        if wrong != 0 {
            return Err(request.bad(Reason::Misaligned, wrong));
        }
        let (base, length) = match space {
            Space::Shared => {
                let may_be_remote = op.space != Space::Shared && self.cluster.is_some();
                if let Some(row) = may_be_remote.then(|| places.row())
                    && let Some(remote) = self.remote(block, &row, mask)
                {
                    let rest = mask & !remote.mask;
                    self.remote_access(warp, frame, request, &row, &remote)?;
                    let request = Request { mask: rest, ..request };
                    return if rest == 0 {
                        Ok(())
                    } else {
                        self.in_space(block, warp, frame, request)
                    };
                }
                (block.rank.shared_base, block.shared.len() as u64)
            }
            Space::Local | Space::Frame => {
                let base = window::LOCAL_RESERVED;
                (base, (u64::from(frame.top_local) * 4).saturating_sub(base))
            }
            Space::Param if direction == Direction::Store => {
                return Err(request.bad(Reason::ReadOnly, mask));
            }
            Space::Param => (0, self.params.len() as u64),
            Space::Global | Space::Constant | Space::Generic | Space::Cluster => {
                return self.in_memory(warp, frame, request);
            }
        };
        let fit = places.fitting(mask, op.bytes, base, length);
        if fit != mask {
            let (row, wrong) = (places.row(), mask & !fit);
            if let Some(remote) = self.elsewhere(block, &row, wrong, op.space) {
                return Err(request.bad(Reason::OtherBlock, remote));
            }
            let reason = self.why_not_there(&row, wrong, space);
            return Err(request.bad(reason, wrong));
        }
        // The frame holds the program's own `.local` variables and, beside them, parameters of calls.
        let own = op.space != Space::Frame || self.program.is_local(request.pc);
        if let Some(counting) = &mut self.counting
            && own
        {
            counting.access(request.pc, direction.what(), space, places, mask, op.bytes);
        }
        match (space, direction) {
            (Space::Shared, Direction::Load) => {
                transfer::load(&block.shared, base, places, mask, op, warp, frame);
            }
            (Space::Shared, Direction::Store) => {
                transfer::store(&block.shared, base, places, mask, op, warp, frame);
            }
            (Space::Param, _) => {
                transfer::load(self.params, base, places, mask, op, warp, frame);
            }
            (_, Direction::Load) => local::load_local(places, mask, op, warp, frame),
            (_, Direction::Store) => local::store_local(places, mask, op, warp, frame),
        }
        Ok(())
    }

    /// The shared memory of another block of the cluster.
    fn remote_access(
        &mut self,
        warp: &mut Warp,
        frame: &Frame,
        request: Request<'_>,
        row: &Row64,
        remote: &Remote,
    ) -> Accessed {
        let Request { op, direction, pc, .. } = request;
        self.check_remote(remote, row, op.bytes)?;
        if let Some(counting) = &mut self.counting {
            let places = Places::of(row, remote.mask);
            counting.access(pc, direction.what(), Space::Shared, places, remote.mask, op.bytes);
        }
        if let Some(member) = self.member(remote.rank) {
            let places = Places::Each(row);
            let (base, mask) = (remote.base, remote.mask);
            match direction {
                Direction::Load => {
                    transfer::load(&member.shared, base, places, mask, op, warp, frame)
                }
                Direction::Store => {
                    transfer::store(&member.shared, base, places, mask, op, warp, frame)
                }
            }
        }
        Ok(())
    }

    /// Global and constant memory: all lanes at once when one allocation holds what they access, else one
    /// allocation after the other.
    fn in_memory(&mut self, warp: &mut Warp, frame: &Frame, request: Request<'_>) -> Accessed {
        let Request { op, space, places, direction, .. } = request;
        let mut rest = request.mask;
        while rest != 0 {
            let fit_in = |slot: u32, memory: &Memory| {
                memory.slot(slot).map_or(0, |found| {
                    places.fitting(rest, op.bytes, found.base, found.data.len() as u64)
                })
            };
            let mut slot = self.caches.get(request.pc as usize).copied().unwrap_or(NONE);
            let mut fit = fit_in(slot, &self.memory);
            if fit == 0 {
                let first = places.lane(lowest(rest));
                let Some(found) = self.memory.find(first, u64::from(op.bytes)) else {
                    return Err(self.not_there(&places.row(), rest, space, op.bytes));
                };
                slot = found;
                if let Some(cache) = self.caches.get_mut(request.pc as usize) {
                    *cache = slot;
                }
                fit = fit_in(slot, &self.memory);
                if fit == 0 {
                    return Err(self.not_there(&places.row(), rest, space, op.bytes));
                }
            }
            if let Some(found) = self.memory.slot(slot) {
                let base = found.base;
                match direction {
                    Direction::Load => {
                        transfer::load(&found.data, base, places, fit, op, warp, frame);
                    }
                    Direction::Store if matches!(found.owner, Owner::Constant(_)) => {
                        return Err(request.bad(Reason::ReadOnly, fit));
                    }
                    Direction::Store => {
                        transfer::store(&found.data, base, places, fit, op, warp, frame);
                    }
                }
            }
            rest &= !fit;
        }
        if let Some(counting) = &mut self.counting
            && !self.memory.is_constant(places.lane(lowest(request.mask)))
        {
            let what = direction.what();
            counting.access(request.pc, what, Space::Global, places, request.mask, op.bytes);
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
