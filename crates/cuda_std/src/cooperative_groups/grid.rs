//! The whole launch as a group, with a barrier.
//!
//! A cooperative launch gives each grid a workspace in global memory, whose address is in the environment registers 1 (upper half)
//! and 2 (lower half): 4 bytes that tell its size, then 4 bytes for the barrier, zero at first. That is how NVIDIA's own headers
//! find it; it is compiled into programs, so the driver has to keep to it. CUDA.jl does the same.

use glam::UVec3;

#[cfg(target_arch = "nvptx64")]
use crate::block;
use crate::gpu_only;
use crate::thread::{block_dim, block_idx, grid_dim, index_usize};
#[cfg(target_arch = "nvptx64")]
use crate::thread::{device_fence, sync_threads};

/// All threads of the launch: [`this_grid`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid(());

/// The launch that this thread is in.
///
/// ```
/// use cuda_std::cooperative_groups::this_grid;
/// use cuda_std::prelude::*;
///
/// /// Smooths `x`, by way of `y`, in two steps that each need all of the one before.
/// ///
/// /// # Safety
/// /// `x` and `y` have `n` elements. The launch is cooperative.
/// #[kernel]
/// pub unsafe fn smooth(x: *mut f32, y: *mut f32, n: usize) {
///     let grid = this_grid();
///     for (from, to) in [(x, y), (y, x)] {
///         for i in thread::grid_stride(n) {
///             let (left, right) = (i.saturating_sub(1), (i + 1).min(n - 1));
///             unsafe { *to.add(i) = (*from.add(left) + *from.add(right)) / 2.0 };
///         }
///         grid.sync();
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn this_grid() -> Grid {
    Grid(())
}

impl Grid {
    /// Whether [`sync`](Self::sync) is possible: whether the launch has a workspace with a barrier.
    ///
    /// Every cooperative launch (`cuLaunchCooperativeKernel`) has one, and only there have all blocks a place on the device at the same
    /// time. NVIDIA's driver gives one to other launches too (seen with driver 580 on an H200), where the answer is `true` all the same, as
    /// that of CUDA C++'s `is_valid` is, which looks at the same place; a `sync` then waits for ever if not all blocks fit. The emulator
    /// gives it to cooperative launches alone.
    #[inline]
    #[must_use]
    pub fn is_valid(self) -> bool {
        workspace() != 0
    }

    /// Blocks of the launch.
    #[inline]
    #[must_use]
    pub fn num_blocks(self) -> u64 {
        product(grid_dim())
    }

    /// The block's number in the launch, x fastest and z slowest.
    #[inline]
    #[must_use]
    pub fn block_rank(self) -> u64 {
        let (block, grid) = (block_idx(), grid_dim());
        (u64::from(block.z) * u64::from(grid.y) + u64::from(block.y)) * u64::from(grid.x)
            + u64::from(block.x)
    }

    /// Blocks along x, y and z: `grid_dim()`.
    #[inline]
    #[must_use]
    pub fn dim_blocks(self) -> UVec3 {
        grid_dim()
    }

    /// Threads of the launch.
    #[inline]
    #[must_use]
    pub fn num_threads(self) -> u64 {
        self.num_blocks() * product(block_dim())
    }

    /// The thread's number in the launch; the threads of block 0 come first.
    #[inline]
    #[must_use]
    pub fn thread_rank(self) -> u64 {
        index_usize() as u64
    }

    /// Waits until all threads of the launch are here; what they wrote to memory before is then visible to all of them.
    ///
    /// Every thread of the launch must reach the same call, as for [`sync_threads`](crate::thread::sync_threads) in a block. Needs sm_70
    /// (PTX ISA 6.0).
    ///
    /// # Panics
    ///
    /// If the launch has no workspace: see [`is_valid`](Self::is_valid).
    #[inline]
    #[gpu_only]
    pub fn sync(self) {
        let workspace = workspace();
        assert!(workspace != 0, "a barrier of the whole grid needs a cooperative launch");
        sync_threads();
        if block::thread_rank() == 0 {
            // SAFETY: the launch's workspace, whose second word is the barrier.
            unsafe { pass(workspace + 4, self.num_blocks() as u32, self.block_rank() == 0) };
        }
        sync_threads();
    }
}

/// The product of the components, in 64 bits.
#[inline]
fn product(size: UVec3) -> u64 {
    u64::from(size.x) * u64::from(size.y) * u64::from(size.z)
}

/// The address of the grid's workspace; 0 in a launch that has none.
#[inline]
#[gpu_only]
fn workspace() -> u64 {
    let (high, low): (u32, u32);
    // SAFETY: reads registers that are the same for the whole launch.
    unsafe {
        core::arch::asm!(
            "mov.u32 {}, %envreg1;", "mov.u32 {}, %envreg2;",
            out(reg32) high, out(reg32) low, options(pure, nomem, nostack, preserves_flags)
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// The bit of the barrier that changes when all blocks have arrived.
#[cfg(target_arch = "nvptx64")]
const PHASE: u32 = 1 << 31;

/// Arrives for a block, and waits for the other `blocks - 1`.
///
/// Each block adds 1, the first one `PHASE` less the others' sum: the last to arrive, whichever it is, changes the phase, and the
/// counter below it is zero again.
///
/// # Safety
///
/// `barrier` is the address of a barrier of this grid, in global memory.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
unsafe fn pass(barrier: u64, blocks: u32, is_first: bool) {
    let share = if is_first { PHASE - (blocks - 1) } else { 1 };
    let before: u32;
    // What the block's other threads wrote is before their barrier; this makes it visible to the device (PTX ISA, "Causality order").
    device_fence();
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!(
            "atom.add.release.gpu.u32 {}, [{}], {};",
            out(reg32) before, in(reg64) barrier, in(reg32) share, options(nostack, preserves_flags)
        );
    }
    loop {
        let now: u32;
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "ld.acquire.gpu.u32 {}, [{}];",
                out(reg32) now, in(reg64) barrier, options(nostack, preserves_flags)
            );
        }
        if (before ^ now) & PHASE != 0 {
            break;
        }
    }
    device_fence();
}
