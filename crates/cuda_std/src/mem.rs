//! Sizes of a block's shared memory.

use crate::gpu_only;

/// Bytes of dynamic shared memory that the launch gave each block.
///
/// PTX: `%dynamic_smem_size`, PTX ISA 4.1, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn dynamic_smem_size() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register that is the same for the whole launch.
    unsafe {
        core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    bytes
}

/// Bytes of shared memory that a block takes in all: static and dynamic, rounded up to the GPU's unit of allocation, with
/// what the system keeps for itself (1 KiB from sm_80 on).
///
/// PTX: `%total_smem_size`, PTX ISA 4.1, sm_20.
#[inline]
#[must_use]
#[gpu_only]
pub fn total_smem_size() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register that is the same for the whole launch.
    unsafe {
        core::arch::asm!("mov.u32 {}, %total_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    bytes
}
