//! Masks of the lanes beside this one.

use crate::gpu_only;

macro_rules! lane_mask {
    ($($name:ident, $register:literal, $text:literal;)+) => {$(
        #[doc = concat!($text, ", bit *n* for lane *n*.")]
        #[doc = ""]
        #[doc = concat!("PTX: `", $register, "`, PTX ISA 2.0, sm_20.")]
        #[inline]
        #[must_use]
        #[gpu_only]
        pub fn $name() -> u32 {
            let mask: u32;
            // SAFETY: reads a register with one value for the life of the thread.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, ", $register, ";"), out(reg32) mask,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            mask
        }
    )+};
}

lane_mask! {
    lanemask_eq, "%lanemask_eq", "This lane alone";
    lanemask_lt, "%lanemask_lt", "The lanes with lower numbers";
    lanemask_le, "%lanemask_le", "This lane and those with lower numbers";
    lanemask_gt, "%lanemask_gt", "The lanes with higher numbers";
    lanemask_ge, "%lanemask_ge", "This lane and those with higher numbers";
}
