//! Where the lanes of a warp access memory: alignment and bounds of all of them at once.

use crate::registers::Affine;
use crate::row::{FULL, Row64, lanes, mask_of};

/// Where the lanes of a warp access memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Places<'a> {
    /// Evenly spaced; the same place for all if the stride is 0.
    Even(Affine),
    Each(&'a Row64),
}

impl Places<'_> {
    /// The evenly spaced places that `addresses` are, if they are: for all lanes, or the same for those of `mask`.
    #[inline]
    pub(super) fn of(addresses: &Row64, mask: u32) -> Places<'_> {
        if mask == FULL {
            if let Some(value) = Affine::of(addresses) {
                return Places::Even(value);
            }
        } else {
            let first = addresses[lowest(mask)];
            if lanes(mask).all(|lane| addresses[lane] == first) {
                return Places::Even(Affine::uniform(first));
            }
        }
        Places::Each(addresses)
    }

    #[inline(always)]
    pub(super) fn lane(self, lane: usize) -> u64 {
        match self {
            Places::Even(value) => value.lane(lane),
            Places::Each(addresses) => addresses[lane],
        }
    }

    /// All lanes' places.
    pub(super) fn row(self) -> Row64 {
        match self {
            Places::Even(value) => std::array::from_fn(|lane| value.lane(lane)),
            Places::Each(addresses) => *addresses,
        }
    }

    /// The lanes whose place is not a multiple of `bytes`.
    #[inline(always)]
    pub(super) fn misaligned(self, mask: u32, bytes: u32) -> u32 {
        let low = u64::from(bytes.saturating_sub(1));
        let any = match self {
            Places::Even(value) => value.base | value.stride | value.step,
            Places::Each(addresses) => addresses.iter().fold(0, |any, address| any | address),
        };
        if any & low == 0 {
            return 0;
        }
        lanes(mask).filter(|lane| self.lane(*lane) & low != 0).fold(0, |m, lane| m | 1 << lane)
    }

    /// The lanes whose whole access lies within `length` bytes at `base`.
    #[inline(always)]
    pub(super) fn fitting(self, mask: u32, bytes: u32, base: u64, length: u64) -> u32 {
        let Some(limit) = length.checked_sub(u64::from(bytes)) else {
            return 0;
        };
        let fits = |lane: usize| self.lane(lane).wrapping_sub(base) <= limit;
        // Evenly spaced places do not wrap around: if the corners fit, so does what is between.
        if let Places::Even(value) = self
            && value.is_near()
        {
            if value.corners().iter().all(|corner| corner.wrapping_sub(base) <= limit) {
                return mask;
            }
            if value.is_uniform() {
                return 0;
            }
        }
        mask_of(fits) & mask
    }
}

/// The lowest lane of a mask; 0 if there is none.
#[inline(always)]
pub(super) fn lowest(mask: u32) -> usize {
    (mask.trailing_zeros() & 31) as usize
}

/// The highest lane of a mask; 0 if there is none.
#[inline(always)]
pub(super) fn highest(mask: u32) -> usize {
    (31 - mask.leading_zeros().min(31)) as usize
}
