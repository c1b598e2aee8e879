//! What the macros' output calls. Not part of the interface.

use core::mem::MaybeUninit;

/// Memory whose value may be anything: what shared memory holds when a block starts.
#[diagnostic::on_unimplemented(
    message = "shared memory starts undefined, and `{Self}` must always hold a value",
    label = "write `MaybeUninit<{Self}>` here, and `MaybeUninit::uninit()` as the value"
)]
pub trait Uninit {}

impl<T> Uninit for MaybeUninit<T> {}
impl<U: Uninit, const N: usize> Uninit for [U; N] {}

/// The bound is the check.
pub const fn must_be_uninit<T: Uninit>() {}

/// Ends a host call of a function that only the device has.
///
/// # Panics
///
/// Always: that is what it is for.
#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[inline(never)]
#[track_caller]
pub fn only_on_the_device(name: &str) -> ! {
    panic!(
        "`{name}` exists only on the device and was called on the host: call it from a kernel or a device function"
    )
}

/// A slice that a kernel got as address and length.
///
/// What makes a reference in the body does not tell LLVM that it is not null, which then asks for it wherever an `Option` of an element is
/// looked at.
///
/// # Safety
///
/// As for [`core::slice::from_raw_parts`].
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
#[must_use]
pub unsafe fn slice<'a, T>(first: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise; references are not null, those to empty slices neither.
    unsafe {
        core::hint::assert_unchecked(!first.is_null());
        core::slice::from_raw_parts(first, len)
    }
}

/// Largest alignment of a by-value kernel parameter, in bytes: rustc's `ptx-kernel` ABI passes a structure as an array of
/// integers, the largest of which has 16 bytes.
const LARGEST_ALIGNMENT: usize = 16;

/// Checks a by-value kernel parameter. The bound is on the device alone: on the host the packing function has its own.
#[cfg(target_arch = "nvptx64")]
pub const fn by_value<T: Copy>() {
    check_alignment::<T>();
}

/// Checks a by-value kernel parameter.
#[cfg(not(target_arch = "nvptx64"))]
pub const fn by_value<T>() {
    check_alignment::<T>();
}

const fn check_alignment<T>() {
    assert!(
        align_of::<T>() <= LARGEST_ALIGNMENT,
        "a kernel takes values aligned to at most 16 bytes: pass `&T` or `*const T`, which points to one on the device"
    );
}
