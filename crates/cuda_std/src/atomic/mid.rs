//! rust-cuda's functions on raw pointers, with the ordering as an argument.
//!
//! [`Atomic`] has the same operations as methods. On the host they work too, among the host's threads.
//!
//! ```
//! use core::sync::atomic::Ordering::Relaxed;
//! use cuda_std::atomic::mid::atomic_fetch_add_f32_device;
//! let mut sum = 1.0;
//! let old = unsafe { atomic_fetch_add_f32_device(&mut sum, Relaxed, 2.5) };
//! assert_eq!((old, sum), (1.0, 3.5));
//! ```
//!
//! # Safety
//!
//! For all functions: the pointer is valid for reads and writes and aligned to its type's size; and while other threads may be at
//! work on the same memory, all of them use atomics of that size, with a scope that includes the others.
#![expect(clippy::missing_safety_doc, reason = "said once, for all functions")]

use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Release};

use pastey::paste;

use super::{Atomic, Block, Device, System, fence};

/// What a failed compare-and-swap orders, as core's `compare_and_swap` had it.
pub(super) fn failure(order: Ordering) -> Ordering {
    match order {
        AcqRel => Acquire,
        Release => Ordering::Relaxed,
        order => order,
    }
}

/// Everything for one scope.
macro_rules! scope {
    ($scope:ident $Scope:ident $threads:literal) => {
        paste! {
            #[doc = concat!("[`fence`] for ", $threads, ".")]
            ///
            /// # Panics
            ///
            /// If `ordering` is `Relaxed`.
            #[inline(always)]
            #[track_caller]
            pub fn [<$scope _thread_fence>](ordering: Ordering) {
                fence::<$Scope>(ordering);
            }
        }
        scope!(access $scope $Scope $threads u32 32, u64 64);
        scope!(change $scope $Scope $threads fetch_add, add: u32 u64 i32 i64 f32 f64);
        scope!(change $scope $Scope $threads fetch_sub, sub: u32 u64 i32 i64 f32 f64);
        scope!(change $scope $Scope $threads exchange, exch: u32 u64 i32 i64 f32 f64);
        scope!(change $scope $Scope $threads fetch_min, min: u32 u64 i32 i64);
        scope!(change $scope $Scope $threads fetch_max, max: u32 u64 i32 i64);
        scope!(change $scope $Scope $threads fetch_and, and: u32 u64 i32 i64);
        scope!(change $scope $Scope $threads fetch_or, or: u32 u64 i32 i64);
        scope!(change $scope $Scope $threads fetch_xor, xor: u32 u64 i32 i64);
        scope!(bits $scope $Scope $threads fetch_and, and: f32 u32, f64 u64);
        scope!(bits $scope $Scope $threads fetch_or, or: f32 u32, f64 u64);
        scope!(bits $scope $Scope $threads fetch_xor, xor: f32 u32, f64 u64);
        scope!(swap $scope $Scope $threads u32 u64 i32 i64 f32 f64);
    };
    (access $scope:ident $Scope:ident $threads:literal $($T:ident $width:literal),+) => {$(
        paste! {
            #[doc = concat!("The value at `place`, among ", $threads, ".")]
            ///
            /// # Panics
            ///
            /// If `ordering` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn [<atomic_load_ $width _ $scope>](place: *mut $T, ordering: Ordering) -> $T {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.load(ordering)
            }

            #[doc = concat!("Sets the value at `place`, among ", $threads, ".")]
            ///
            /// # Panics
            ///
            /// If `ordering` is `Acquire` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn [<atomic_store_ $width _ $scope>](
                place: *mut $T,
                ordering: Ordering,
                value: $T,
            ) {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.store(value, ordering);
            }
        }
    )+};
    (change $scope:ident $Scope:ident $threads:literal $method:ident, $op:ident: $($T:ident)+) => {$(
        paste! {
            #[doc = concat!("[`Atomic::", stringify!($method), "`] among ", $threads, "; the old value.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $op _ $T _ $scope>](
                place: *mut $T,
                ordering: Ordering,
                value: $T,
            ) -> $T {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.$method(value, ordering)
            }
        }
    )+};
    (bits $scope:ident $Scope:ident $threads:literal $method:ident, $op:ident: $($T:ident $Bits:ident),+) => {$(
        paste! {
            #[doc = concat!("[`Atomic::", stringify!($method), "`] of the numbers' bits, among ", $threads, "; the old value.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $op _ $T _ $scope>](
                place: *mut $T,
                ordering: Ordering,
                value: $T,
            ) -> $T {
                // SAFETY: the caller's promise.
                let place = unsafe { Atomic::<$Bits, $Scope>::from_ptr(place.cast()) };
                $T::from_bits(place.$method(value.to_bits(), ordering))
            }
        }
    )+};
    (swap $scope:ident $Scope:ident $threads:literal $($T:ident)+) => {$(
        paste! {
            #[doc = concat!("[`Atomic::compare_exchange`] among ", $threads, "; the old value.")]
            #[inline(always)]
            pub unsafe fn [<atomic_compare_and_swap_ $T _ $scope>](
                place: *mut $T,
                current: $T,
                new: $T,
                ordering: Ordering,
            ) -> $T {
                // SAFETY: the caller's promise.
                let place = unsafe { Atomic::<$T, $Scope>::from_ptr(place) };
                match place.compare_exchange(current, new, ordering, failure(ordering)) {
                    Ok(old) | Err(old) => old,
                }
            }
        }
    )+};
}

scope!(device Device "the threads of the device");
scope!(block Block "the threads of the block");
scope!(system System "all threads, the host's too");
