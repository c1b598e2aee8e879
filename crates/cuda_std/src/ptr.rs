//! Which memory a pointer points into.
//!
//! Rust's pointers are *generic* addresses: one range for all memories. PTX also has an address of its own kind for
//! each memory (a *specific* address), which inline PTX needs at times.

use crate::gpu_only;

/// The memories that have addresses of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// The device's main memory.
    Global,
    /// A block's shared memory.
    Shared,
    /// Memory that kernels only read, through its own cache.
    Constant,
    /// A thread's own variables.
    Local,
}

#[cfg(target_arch = "nvptx64")]
macro_rules! is_in {
    ($ptr:expr, $space:literal) => {{
        let found: u32;
        // SAFETY: looks at an address, not at what is there.
        unsafe {
            core::arch::asm!(
                "{{",
                ".reg .pred %found;",
                concat!("isspacep.", $space, " %found, {ptr};"),
                "selp.u32 {found}, 1, 0, %found;",
                "}}",
                ptr = in(reg64) $ptr,
                found = out(reg32) found,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        found != 0
    }};
}

#[cfg(target_arch = "nvptx64")]
macro_rules! converted {
    ($ptr:expr, $instruction:literal) => {{
        let address: u64;
        // SAFETY: computes with an address, does not follow it.
        unsafe {
            core::arch::asm!(
                concat!($instruction, " {}, {};"),
                out(reg64) address,
                in(reg64) $ptr,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        address as *const _
    }};
}

/// Whether the generic address `ptr` lies in `space`. PTX: `isspacep`, PTX ISA 2.0 (`.const` 3.1), sm_20.
///
/// # Safety
///
/// Nothing is asked of `ptr`, and it is not followed; the function is `unsafe` as rust-cuda's is.
#[inline]
#[must_use]
#[gpu_only]
pub unsafe fn is_in_address_space<T>(ptr: *const T, space: AddressSpace) -> bool {
    match space {
        AddressSpace::Global => is_in!(ptr, "global"),
        AddressSpace::Shared => is_in!(ptr, "shared"),
        AddressSpace::Constant => is_in!(ptr, "const"),
        AddressSpace::Local => is_in!(ptr, "local"),
    }
}

/// The specific address in `space` of the generic address `ptr`. PTX: `cvta.to`, PTX ISA 2.0 (`.const` 3.1), sm_20.
///
/// # Safety
///
/// `ptr` lies in `space`. The result is no pointer that Rust may follow: it is for inline PTX.
#[inline]
#[must_use]
#[gpu_only]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    space: AddressSpace,
) -> *const T {
    match space {
        AddressSpace::Global => converted!(ptr, "cvta.to.global.u64"),
        AddressSpace::Shared => converted!(ptr, "cvta.to.shared.u64"),
        AddressSpace::Constant => converted!(ptr, "cvta.to.const.u64"),
        AddressSpace::Local => converted!(ptr, "cvta.to.local.u64"),
    }
}

/// The generic address of the specific address `ptr` in `space`. PTX: `cvta`, PTX ISA 2.0 (`.const` 3.1), sm_20.
///
/// # Safety
///
/// `ptr` is an address of `space`.
#[inline]
#[must_use]
#[gpu_only]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    space: AddressSpace,
) -> *const T {
    match space {
        AddressSpace::Global => converted!(ptr, "cvta.global.u64"),
        AddressSpace::Shared => converted!(ptr, "cvta.shared.u64"),
        AddressSpace::Constant => converted!(ptr, "cvta.const.u64"),
        AddressSpace::Local => converted!(ptr, "cvta.local.u64"),
    }
}

/// The address within shared memory of the generic address `ptr`, in the 32 bits in which inline PTX takes it.
///
/// CUDA: `__cvta_generic_to_shared()`; PTX: `cvta.to.shared`, PTX ISA 2.0, sm_20.
///
/// # Safety
///
/// `ptr` lies in shared memory.
#[inline]
#[must_use]
#[gpu_only]
pub unsafe fn shared_address<T>(ptr: *const T) -> u32 {
    // SAFETY: the caller's promise. Shared memory has less than 4 GiB.
    unsafe { convert_generic_to_specific_address_space(ptr, AddressSpace::Shared).addr() as u32 }
}
