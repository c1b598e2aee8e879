//! rust-cuda's functions on raw pointers, with the ordering in the name: one for each instruction of PTX.
//!
//! `volatile` is PTX's `.volatile` in loads and stores, and relaxed in all else. [`Atomic`] has the same operations
//! as methods. On the host they work too, among the host's threads.
//!
//! ```
//! use cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i32_device;
//! let mut largest = 3;
//! let old = unsafe { atomic_fetch_max_relaxed_i32_device(&mut largest, 8) };
//! assert_eq!((old, largest), (3, 8));
//! ```
//!
//! # Safety
//!
//! For all functions but the fences, which are always safe to call and unsafe in name only: the pointer is valid for reads and
//! writes and aligned to its type's size; and while other threads may be at work on the same memory, all of them use atomics of
//! that size, with a scope that includes the others.
#![expect(clippy::missing_safety_doc, reason = "said once, for all functions")]

use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use pastey::paste;

use super::{Atomic, Block, Device, System, fence};

/// Everything for one scope.
macro_rules! scope {
    ($scope:ident $Scope:ident $membar:literal $threads:literal) => {
        paste! {
            #[doc = concat!("A full fence for ", $threads, ". PTX: `", $membar, "`, the same as `fence.sc` from sm_70 on.")]
            #[inline(always)]
            pub unsafe fn [<membar_ $scope>]() {
                fence::<$Scope>(SeqCst);
            }

            #[doc = concat!("A sequentially consistent fence for ", $threads, ". PTX: `fence.sc`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<fence_sc_ $scope>]() {
                fence::<$Scope>(SeqCst);
            }

            #[doc = concat!("An acquiring and releasing fence for ", $threads, ". PTX: `fence.acq_rel`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<fence_acqrel_ $scope>]() {
                fence::<$Scope>(AcqRel);
            }
        }
        scope!(access $scope $Scope $threads u32 32, u64 64);
        scope!(orders $scope $Scope $threads inc, fetch_inc, u32 u64);
        scope!(orders $scope $Scope $threads dec, fetch_dec, u32 u64);
        scope!(orders $scope $Scope $threads add, fetch_add, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads sub, fetch_sub, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads exch, exchange, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads min, fetch_min, u32 u64 i32 i64);
        scope!(orders $scope $Scope $threads max, fetch_max, u32 u64 i32 i64);
        scope!(orders $scope $Scope $threads and, fetch_and, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads or, fetch_or, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads xor, fetch_xor, u32 u64 i32 i64 f32 f64);
        scope!(orders $scope $Scope $threads cas, compare_exchange, u32 u64 i32 i64 f32 f64);
    };
    (access $scope:ident $Scope:ident $threads:literal $($T:ident $width:literal),+) => {$(
        scope!(load $scope $Scope $threads $T $width relaxed Relaxed);
        scope!(load $scope $Scope $threads $T $width acquire Acquire);
        scope!(store $scope $Scope $threads $T $width relaxed Relaxed);
        scope!(store $scope $Scope $threads $T $width release Release);
        paste! {
            #[doc = concat!("The value at `place`, read anew. PTX: `ld.volatile`, whose scope is the system.")]
            #[inline(always)]
            pub unsafe fn [<atomic_load_volatile_ $width _ $scope>](place: *const $T) -> $T {
                // SAFETY: the caller's promise.
                unsafe { place.read_volatile() }
            }

            #[doc = concat!("Sets the value at `place`, at once. PTX: `st.volatile`, whose scope is the system.")]
            #[inline(always)]
            pub unsafe fn [<atomic_store_volatile_ $width _ $scope>](place: *mut $T, value: $T) {
                // SAFETY: the caller's promise.
                unsafe { place.write_volatile(value) }
            }
        }
    )+};
    (load $scope:ident $Scope:ident $threads:literal $T:ident $width:literal $order:ident $Order:ident) => {
        paste! {
            #[doc = concat!("The value at `place`, ", stringify!($order), " among ", $threads, ". PTX: `ld.", stringify!($order), "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_load_ $order _ $width _ $scope>](place: *const $T) -> $T {
                // SAFETY: the caller's promise; a load writes nothing.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place.cast_mut()) }.load($Order)
            }
        }
    };
    (store $scope:ident $Scope:ident $threads:literal $T:ident $width:literal $order:ident $Order:ident) => {
        paste! {
            #[doc = concat!("Sets the value at `place`, ", stringify!($order), " among ", $threads, ". PTX: `st.", stringify!($order), "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_store_ $order _ $width _ $scope>](place: *mut $T, value: $T) {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.store(value, $Order);
            }
        }
    };
    (orders $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, $($T:ident)+) => {$(
        scope!(change $scope $Scope $threads $op, $method, $T, relaxed Relaxed "relaxed");
        scope!(change $scope $Scope $threads $op, $method, $T, acquire Acquire "acquire");
        scope!(change $scope $Scope $threads $op, $method, $T, release Release "release");
        scope!(change $scope $Scope $threads $op, $method, $T, acqrel AcqRel "acq_rel");
        scope!(change $scope $Scope $threads $op, $method, $T, volatile Relaxed "relaxed");
    )+};
    (change $scope:ident $Scope:ident $threads:literal cas, $method:ident, $T:ident, $order:ident $Order:ident $ptx:literal) => {
        paste! {
            #[doc = concat!("Sets the value at `place` to `new` if it is `current`, among ", $threads, "; the old value. PTX: `atom.", $ptx, "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_cas_ $order _ $T _ $scope>](
                place: *mut $T,
                current: $T,
                new: $T,
            ) -> $T {
                const ORDER: Ordering = $Order;
                // SAFETY: the caller's promise.
                let place = unsafe { Atomic::<$T, $Scope>::from_ptr(place) };
                match place.compare_exchange(current, new, ORDER, super::mid::failure(ORDER)) {
                    Ok(old) | Err(old) => old,
                }
            }
        }
    };
    (change $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, f32, $order:ident $Order:ident $ptx:literal) => {
        scope!(float $scope $Scope $threads $op, $method, f32 u32, $order $Order $ptx);
    };
    (change $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, f64, $order:ident $Order:ident $ptx:literal) => {
        scope!(float $scope $Scope $threads $op, $method, f64 u64, $order $Order $ptx);
    };
    (change $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, $T:ident, $order:ident $Order:ident $ptx:literal) => {
        paste! {
            #[doc = concat!("[`Atomic::", stringify!($method), "`] among ", $threads, "; the old value. PTX: `atom.", $ptx, "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $op _ $order _ $T _ $scope>](place: *mut $T, value: $T) -> $T {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.$method(value, $Order)
            }
        }
    };
    (float $scope:ident $Scope:ident $threads:literal and, $method:ident, $T:ident $Bits:ident, $($order:tt)+) => {
        scope!(bits $scope $Scope $threads and, $method, $T $Bits, $($order)+);
    };
    (float $scope:ident $Scope:ident $threads:literal or, $method:ident, $T:ident $Bits:ident, $($order:tt)+) => {
        scope!(bits $scope $Scope $threads or, $method, $T $Bits, $($order)+);
    };
    (float $scope:ident $Scope:ident $threads:literal xor, $method:ident, $T:ident $Bits:ident, $($order:tt)+) => {
        scope!(bits $scope $Scope $threads xor, $method, $T $Bits, $($order)+);
    };
    (float $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, $T:ident $Bits:ident, $order:ident $Order:ident $ptx:literal) => {
        paste! {
            #[doc = concat!("[`Atomic::", stringify!($method), "`] among ", $threads, "; the old value. PTX: `atom.", $ptx, "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $op _ $order _ $T _ $scope>](place: *mut $T, value: $T) -> $T {
                // SAFETY: the caller's promise.
                unsafe { Atomic::<$T, $Scope>::from_ptr(place) }.$method(value, $Order)
            }
        }
    };
    (bits $scope:ident $Scope:ident $threads:literal $op:ident, $method:ident, $T:ident $Bits:ident, $order:ident $Order:ident $ptx:literal) => {
        paste! {
            #[doc = concat!("[`Atomic::", stringify!($method), "`] of the numbers' bits, among ", $threads, "; the old value. PTX: `atom.", $ptx, "`, sm_70.")]
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $op _ $order _ $T _ $scope>](place: *mut $T, value: $T) -> $T {
                // SAFETY: the caller's promise.
                let place = unsafe { Atomic::<$Bits, $Scope>::from_ptr(place.cast()) };
                $T::from_bits(place.$method(value.to_bits(), $Order))
            }
        }
    };
}

scope!(device Device "membar.gl" "the threads of the device");
scope!(block Block "membar.cta" "the threads of the block");
scope!(system System "membar.sys" "all threads, the host's too");
