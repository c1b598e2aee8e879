//! Addresses of what must be in the block's shared memory: mbarrier objects, rows of matrices, targets of copies.

use super::access::bad;
use super::block::BlockState;
use super::report::{BadAccess, Reason};
use crate::memory::window::{self, Window};
use crate::op::Space;
use crate::row::{LANES, Row64, lanes};

/// The lanes of `mask` whose address a test finds wrong.
fn wrong(addresses: &Row64, mask: u32, test: impl Fn(u64) -> bool) -> u32 {
    lanes(mask).filter(|lane| test(addresses[*lane])).fold(0, |wrong, lane| wrong | 1 << lane)
}

/// Addresses in shared memory, where generic ones show it.
pub(super) fn without_window(addresses: &Row64, space: Space) -> Row64 {
    match space {
        Space::Generic => addresses.map(|address| match window::of(address) {
            Window::Shared => address.wrapping_sub(window::SHARED_BASE),
            // Of no block: left to whoever wants it in shared memory.
            _ => window::SHARED_RESERVED,
        }),
        _ => *addresses,
    }
}

/// Offsets in the block's shared memory, for the lanes of `mask`: aligned to `bytes`, and all of the bytes are there.
pub(super) fn offsets(
    block: &BlockState,
    addresses: &Row64,
    space: Space,
    mask: u32,
    bytes: u32,
) -> Result<[usize; LANES], Box<BadAccess>> {
    let mut at = *addresses;
    let fail = |reason: Reason, at: &Row64, lanes: u32| {
        if lanes == 0 { Ok(()) } else { Err(bad(reason, Space::Shared, at, lanes, bytes)) }
    };
    if space == Space::Generic {
        let elsewhere = wrong(&at, mask, |address| window::of(address) != Window::Shared);
        fail(Reason::NotShared, &at, elsewhere)?;
        at = at.map(|address| address.wrapping_sub(window::SHARED_BASE));
    }
    fail(
        Reason::Misaligned,
        &at,
        wrong(&at, mask, |address| address % u64::from(bytes.max(1)) != 0),
    )?;
    let offset = |address: u64| address.wrapping_sub(block.rank.shared_base);
    let limit = (block.shared.len() as u64).checked_sub(u64::from(bytes));
    let outside = wrong(&at, mask, |address| limit.is_none_or(|limit| offset(address) > limit));
    let generic = |address: u64| window::of(address) == Window::Shared;
    let reason = match outside {
        0 => Reason::OutOfBounds,
        lanes if generic(at[(lanes.trailing_zeros() & 31) as usize]) => Reason::WrongSpace,
        _ => Reason::OutOfBounds,
    };
    fail(reason, &at, outside)?;
    Ok(at.map(|address| offset(address) as usize))
}
