//! PTX's special registers for places and sizes (PTX ISA, chapter 10).

use glam::UVec3;

use crate::gpu_only;

macro_rules! register {
    ($($name:ident, $intrinsic:ident, $register:literal, $text:literal;)+) => {$(
        #[doc = $text]
        #[doc = ""]
        #[doc = concat!("PTX: `", $register, "`.")]
        #[inline]
        #[must_use]
        #[gpu_only]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register, which every thread of every launch has.
            unsafe { core::arch::nvptx::$intrinsic() }
        }
    )+};
}

register! {
    thread_idx_x, _thread_idx_x, "%tid.x", "The thread's index in its block along x, from 0 to `block_dim_x() - 1`.";
    thread_idx_y, _thread_idx_y, "%tid.y", "The thread's index in its block along y, from 0 to `block_dim_y() - 1`.";
    thread_idx_z, _thread_idx_z, "%tid.z", "The thread's index in its block along z, from 0 to `block_dim_z() - 1`.";
    block_idx_x, _block_idx_x, "%ctaid.x", "The block's index in the grid along x, from 0 to `grid_dim_x() - 1`.";
    block_idx_y, _block_idx_y, "%ctaid.y", "The block's index in the grid along y, from 0 to `grid_dim_y() - 1`.";
    block_idx_z, _block_idx_z, "%ctaid.z", "The block's index in the grid along z, from 0 to `grid_dim_z() - 1`.";
    block_dim_x, _block_dim_x, "%ntid.x", "Threads in a block along x (at most 1024).";
    block_dim_y, _block_dim_y, "%ntid.y", "Threads in a block along y (at most 1024).";
    block_dim_z, _block_dim_z, "%ntid.z", "Threads in a block along z (at most 64).";
    grid_dim_x, _grid_dim_x, "%nctaid.x", "Blocks in the grid along x (at most 2^31 - 1).";
    grid_dim_y, _grid_dim_y, "%nctaid.y", "Blocks in the grid along y (at most 65535).";
    grid_dim_z, _grid_dim_z, "%nctaid.z", "Blocks in the grid along z (at most 65535).";
}

macro_rules! registers {
    ($($name:ident, $x:ident, $y:ident, $z:ident, $text:literal;)+) => {$(
        #[doc = $text]
        #[inline]
        #[must_use]
        pub fn $name() -> UVec3 {
            UVec3::new($x(), $y(), $z())
        }
    )+};
}

registers! {
    thread_idx, thread_idx_x, thread_idx_y, thread_idx_z, "The thread's index in its block.";
    block_idx, block_idx_x, block_idx_y, block_idx_z, "The block's index in the grid.";
    block_dim, block_dim_x, block_dim_y, block_dim_z, "Threads in a block, by axis (at most 1024 in all).";
    grid_dim, grid_dim_x, grid_dim_y, grid_dim_z, "Blocks in the grid, by axis.";
}

/// Threads in a warp: 32 on every NVIDIA GPU so far, and a constant of the PTX target. PTX: `WARP_SZ`.
#[inline]
#[must_use]
#[gpu_only]
pub fn warp_size() -> u32 {
    let size: u32;
    // SAFETY: a constant of the assembler.
    unsafe {
        core::arch::asm!("mov.u32 {}, WARP_SZ;", out(reg32) size, options(pure, nomem, nostack, preserves_flags));
    }
    size
}
