//! Barriers of a block, memory fences, sleep.

use crate::gpu_only;

/// LLVM's own intrinsics, which it knows to be convergent: it neither duplicates nor moves them. Inline PTX has no such mark.
#[cfg(target_arch = "nvptx64")]
mod intrinsic {
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.barrier0"]
        pub(super) fn barrier();
        #[link_name = "llvm.nvvm.barrier0.popc"]
        pub(super) fn barrier_popc(predicate: u32) -> u32;
        #[link_name = "llvm.nvvm.barrier0.and"]
        pub(super) fn barrier_and(predicate: u32) -> u32;
        #[link_name = "llvm.nvvm.barrier0.or"]
        pub(super) fn barrier_or(predicate: u32) -> u32;
        #[link_name = "llvm.nvvm.membar.cta"]
        pub(super) fn membar_cta();
        #[link_name = "llvm.nvvm.membar.gl"]
        pub(super) fn membar_gl();
        #[link_name = "llvm.nvvm.membar.sys"]
        pub(super) fn membar_sys();
    }
}

/// Waits until all threads of the block are here; what they wrote to shared and global memory before is then visible to
/// all of them.
///
/// Every thread of the block must reach the same call: a barrier that only some threads run (in one arm of a branch that
/// differs between threads, or after some returned early) is undefined in CUDA, and usually hangs. PTX: `bar.sync 0`.
#[inline(always)]
#[gpu_only]
pub fn sync_threads() {
    // SAFETY: the barrier touches no memory of its own.
    unsafe { intrinsic::barrier() }
}

/// [`sync_threads`], and the number of the block's threads whose `predicate` is not 0. PTX: `bar.red.popc.u32`.
#[inline(always)]
#[gpu_only]
pub fn sync_threads_count(predicate: u32) -> u32 {
    // SAFETY: as in `sync_threads`.
    unsafe { intrinsic::barrier_popc(predicate) }
}

/// [`sync_threads`], and 1 if `predicate` is not 0 in all of the block's threads, else 0. PTX: `bar.red.and.pred`.
#[inline(always)]
#[gpu_only]
pub fn sync_threads_and(predicate: u32) -> u32 {
    // SAFETY: as in `sync_threads`.
    unsafe { intrinsic::barrier_and(predicate) }
}

/// [`sync_threads`], and 1 if `predicate` is not 0 in any of the block's threads, else 0. PTX: `bar.red.or.pred`.
#[inline(always)]
#[gpu_only]
pub fn sync_threads_or(predicate: u32) -> u32 {
    // SAFETY: as in `sync_threads`.
    unsafe { intrinsic::barrier_or(predicate) }
}

/// Orders this thread's memory accesses before the call ahead of those after it, as all threads of the *block* see them.
///
/// No thread waits for another. CUDA: `__threadfence_block()`; PTX: `membar.cta`.
#[inline(always)]
#[gpu_only]
pub fn block_fence() {
    // SAFETY: a fence accesses no memory.
    unsafe { intrinsic::membar_cta() }
}

/// Orders this thread's memory accesses before the call ahead of those after it, as all threads of the *grid* see them.
///
/// The name is rust-cuda's; a grid's blocks run anywhere on the device, so this is [`device_fence`].
#[inline(always)]
pub fn grid_fence() {
    device_fence();
}

/// Orders this thread's memory accesses before the call ahead of those after it, as all threads of the *device* see them.
///
/// No thread waits for another. CUDA: `__threadfence()`; PTX: `membar.gl`.
#[inline(always)]
#[gpu_only]
pub fn device_fence() {
    // SAFETY: a fence accesses no memory.
    unsafe { intrinsic::membar_gl() }
}

/// Orders this thread's memory accesses before the call ahead of those after it, as the device, the host and other
/// devices see them.
///
/// No thread waits for another. CUDA: `__threadfence_system()`; PTX: `membar.sys` (sm_20).
#[inline(always)]
#[gpu_only]
pub fn system_fence() {
    // SAFETY: a fence accesses no memory.
    unsafe { intrinsic::membar_sys() }
}

/// Suspends the thread for about `nanos` nanoseconds: between none and twice as many, at most a millisecond.
///
/// PTX: `nanosleep.u32`, PTX ISA 6.3, sm_70.
#[inline]
#[gpu_only]
pub fn nanosleep(nanos: u32) {
    // SAFETY: only time passes. Without `nomem`, so that a loop that waits for another thread's write reads again.
    unsafe {
        core::arch::asm!("nanosleep.u32 {};", in(reg32) nanos, options(nostack, preserves_flags))
    }
}
