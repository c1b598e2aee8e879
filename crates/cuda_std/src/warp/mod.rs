//! Work within a warp: the 32 threads that execute together, called lanes.
//!
//! The functions with a `mask` wait for the lanes it names (bit *n* for lane *n*): each of them must make the same call
//! with the same mask, and a lane that calls must be in it. Otherwise the result is undefined, hence `unsafe`.
//! [`FULL_MASK`] names all lanes.

pub(crate) mod items;
mod lane_masks;
mod matching;
mod reduce;
mod shuffle;

pub use items::{warp_reduce_items, warp_scan_exclusive_items, warp_scan_inclusive_items};
pub use lane_masks::{lanemask_eq, lanemask_ge, lanemask_gt, lanemask_le, lanemask_lt};
pub use matching::{WarpMatchValue, warp_match_all, warp_match_any};
#[cfg(target_arch = "nvptx64")]
pub(crate) use reduce::scan_lowest;
pub use reduce::{
    WarpReduceValue, WarpReductionOp, warp_reduce, warp_reduce_with, warp_scan_exclusive,
    warp_scan_inclusive,
};
pub use shuffle::{
    WarpShuffleValue, warp_broadcast, warp_shuffle_down, warp_shuffle_idx, warp_shuffle_up,
    warp_shuffle_xor,
};

use crate::gpu_only;

/// All 32 lanes.
pub const FULL_MASK: u32 = u32::MAX;

/// LLVM's own intrinsics, which it knows to be convergent: it neither duplicates nor moves them into branches.
#[cfg(target_arch = "nvptx64")]
mod intrinsic {
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub(super) fn bar_warp_sync(mask: u32);
        #[link_name = "llvm.nvvm.activemask"]
        pub(super) fn activemask() -> u32;
        #[link_name = "llvm.nvvm.vote.all.sync"]
        pub(super) fn vote_all_sync(mask: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.vote.any.sync"]
        pub(super) fn vote_any_sync(mask: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub(super) fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    }
}

/// The thread's number in its warp, 0 to 31. PTX: `%laneid`, PTX ISA 1.3.
#[inline]
#[must_use]
#[gpu_only]
pub fn lane_id() -> u32 {
    let lane: u32;
    // SAFETY: reads a special register that never changes for a thread.
    unsafe {
        core::arch::asm!("mov.u32 {}, %laneid;", out(reg32) lane, options(pure, nomem, nostack, preserves_flags));
    }
    lane
}

/// The lanes that execute this call together, as a mask.
///
/// Which lanes that are is the hardware's choice: after a branch, lanes that took the same side may still arrive apart. To
/// make lanes meet, use [`sync_warp`]. PTX: `activemask.b32`, PTX ISA 6.2, sm_30.
#[inline(always)]
#[must_use]
#[gpu_only]
pub fn activemask() -> u32 {
    // SAFETY: reads which lanes are active.
    unsafe { intrinsic::activemask() }
}

/// Waits until the lanes of `mask` are here; what they wrote to memory before is then visible to each other.
///
/// PTX: `bar.warp.sync`, PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](self).
#[inline(always)]
#[gpu_only]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { intrinsic::bar_warp_sync(mask) }
}

/// Whether `predicate` holds in all lanes of `mask`. PTX: `vote.sync.all.pred`, PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](self).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { intrinsic::vote_all_sync(mask, predicate) }
}

/// Whether `predicate` holds in any lane of `mask`. PTX: `vote.sync.any.pred`, PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](self).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { intrinsic::vote_any_sync(mask, predicate) }
}

/// The lanes of `mask` in which `predicate` holds, as a mask. PTX: `vote.sync.ballot.b32`, PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](self).
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { intrinsic::vote_ballot_sync(mask, predicate) }
}
