//! Atomics on words at raw pointers, which all others are made of.
//!
//! On the device each is a call of a function named `cuda_std.atomic.…` that nobody defines: `cuda_builder` puts LLVM's atomic
//! instruction with ordering and scope in its place (`atomics.rs` there has the names). Rust's own atomics have no scopes, and
//! inline PTX would hide from LLVM which memory an address is in. On the host they are core's.
//!
//! # Safety
//!
//! For all functions: the pointer is valid for reads and writes and aligned to its type's size; and while other threads may be at
//! work on the same memory, all of them use atomics of that size, with a scope that includes the others.

use core::ops::BitAnd;
use core::sync::atomic::Ordering::{self, Relaxed};
#[cfg(target_arch = "nvptx64")]
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};

use half::{bf16, f16};

use super::scope::Scope;

/// Evaluates an expression with `CODE` the number that `cuda_builder` has for the ordering, a constant for each; panics as core does
/// for orderings that the operation can't have.
#[cfg(target_arch = "nvptx64")]
macro_rules! ordered {
    (load $order:expr, $CODE:ident => $call:expr) => {
        ordered!(match $order, $CODE => $call, {
            Relaxed 0, Acquire 1, SeqCst 4;
            Release "there is no such thing as a release load",
            AcqRel "there is no such thing as an acquire-release load"
        })
    };
    (store $order:expr, $CODE:ident => $call:expr) => {
        ordered!(match $order, $CODE => $call, {
            Relaxed 0, Release 2, SeqCst 4;
            Acquire "there is no such thing as an acquire store",
            AcqRel "there is no such thing as an acquire-release store"
        })
    };
    (failure $order:expr, $CODE:ident => $call:expr) => {
        ordered!(match $order, $CODE => $call, {
            Relaxed 0, Acquire 1, SeqCst 4;
            Release "there is no such thing as a release failure ordering",
            AcqRel "there is no such thing as an acquire-release failure ordering"
        })
    };
    (fence $order:expr, $CODE:ident => $call:expr) => {
        ordered!(match $order, $CODE => $call, {
            Acquire 1, Release 2, AcqRel 3, SeqCst 4;
            Relaxed "there is no such thing as a relaxed fence"
        })
    };
    (change $order:expr, $CODE:ident => $call:expr) => {
        ordered!(match $order, $CODE => $call, {
            Relaxed 0, Acquire 1, Release 2, AcqRel 3, SeqCst 4;
        })
    };
    (match $order:expr, $CODE:ident => $call:expr, {
        $($known:ident $number:literal),+; $($refused:ident $message:literal),*
    }) => {
        match $order {
            $($known => {
                const $CODE: u32 = $number;
                $call
            })+
            $($refused => panic!($message),)*
            // `Ordering` may grow.
            _ => panic!("this memory ordering is not supported"),
        }
    };
}

/// Declares [`Word`] and implements it from the table of operations and that of words.
macro_rules! words {
    (
        operations $operations:tt
        $($W:ident $Signed:ident $Atomic:ident $SignedAtomic:ident $ty:literal;)+
    ) => {
        words!(interface $operations);
        $(words!(word $W $Signed $Atomic $SignedAtomic $ty; $operations);)+
    };
    (interface { $($op:ident $llvm:literal)+ }) => {
        /// The bits of a value: `u16`, `u32` or `u64`.
        pub trait Word: Copy + Eq + BitAnd<Output = Self> {
            const ZERO: Self;
            /// The sign bit of a number of this size.
            const SIGN: Self;

            unsafe fn load<S: Scope>(place: *const Self, order: Ordering) -> Self;
            unsafe fn store<S: Scope>(place: *mut Self, value: Self, order: Ordering);
            /// The old value.
            unsafe fn compare_exchange<S: Scope>(
                place: *mut Self,
                current: Self,
                new: Self,
                success: Ordering,
                failure: Ordering,
            ) -> Self;
            $(unsafe fn $op<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self;)+
        }
    };
    (
        word $W:ident $Signed:ident $Atomic:ident $SignedAtomic:ident $ty:literal;
        { $($op:ident $llvm:literal)+ }
    ) => {
        #[cfg(target_arch = "nvptx64")]
        impl Word for $W {
            const ZERO: Self = 0;
            const SIGN: Self = 1 << (Self::BITS - 1);

            #[inline(always)]
            #[track_caller]
            unsafe fn load<S: Scope>(place: *const Self, order: Ordering) -> Self {
                unsafe extern "C" {
                    #[link_name = concat!("cuda_std.atomic.load.", $ty)]
                    fn load(place: *const $W, order: u32, scope: u32) -> $W;
                }
                // SAFETY: the caller's promise.
                ordered!(load order, CODE => unsafe { load(place, CODE, S::CODE) })
            }

            #[inline(always)]
            #[track_caller]
            unsafe fn store<S: Scope>(place: *mut Self, value: Self, order: Ordering) {
                unsafe extern "C" {
                    #[link_name = concat!("cuda_std.atomic.store.", $ty)]
                    fn store(place: *mut $W, value: $W, order: u32, scope: u32);
                }
                // SAFETY: the caller's promise.
                ordered!(store order, CODE => unsafe { store(place, value, CODE, S::CODE) })
            }

            #[inline(always)]
            #[track_caller]
            unsafe fn compare_exchange<S: Scope>(
                place: *mut Self,
                current: Self,
                new: Self,
                success: Ordering,
                failure: Ordering,
            ) -> Self {
                unsafe extern "C" {
                    #[link_name = concat!("cuda_std.atomic.cas.", $ty)]
                    fn swap(
                        place: *mut $W,
                        current: $W,
                        new: $W,
                        success: u32,
                        failure: u32,
                        scope: u32,
                    ) -> $W;
                }
                ordered!(change success, SUCCESS => ordered!(failure failure, FAILURE => {
                    // SAFETY: the caller's promise.
                    unsafe { swap(place, current, new, SUCCESS, FAILURE, S::CODE) }
                }))
            }

            $(
                #[inline(always)]
                unsafe fn $op<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                    unsafe extern "C" {
                        #[link_name = concat!("cuda_std.atomic.rmw.", $llvm, ".", $ty)]
                        fn change(place: *mut $W, value: $W, order: u32, scope: u32) -> $W;
                    }
                    // SAFETY: the caller's promise.
                    ordered!(change order, CODE => unsafe { change(place, value, CODE, S::CODE) })
                }
            )+
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl Word for $W {
            const ZERO: Self = 0;
            const SIGN: Self = 1 << (Self::BITS - 1);

            #[track_caller]
            unsafe fn load<S: Scope>(place: *const Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise; a load writes nothing.
                unsafe { host::$Atomic::from_ptr(place.cast_mut()) }.load(order)
            }

            #[track_caller]
            unsafe fn store<S: Scope>(place: *mut Self, value: Self, order: Ordering) {
                // SAFETY: the caller's promise.
                unsafe { host::$Atomic::from_ptr(place) }.store(value, order);
            }

            #[track_caller]
            unsafe fn compare_exchange<S: Scope>(
                place: *mut Self,
                current: Self,
                new: Self,
                success: Ordering,
                failure: Ordering,
            ) -> Self {
                // SAFETY: the caller's promise.
                let place = unsafe { host::$Atomic::from_ptr(place) };
                match place.compare_exchange(current, new, success, failure) {
                    Ok(old) | Err(old) => old,
                }
            }

            $(
                unsafe fn $op<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                    // SAFETY: the caller's promise.
                    let places = unsafe {
                        (host::$Atomic::from_ptr(place), host::$SignedAtomic::from_ptr(place.cast()))
                    };
                    words!(host $op, places, value, $Signed, order)
                }
            )+
        }
    };
    (host exchange, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.swap($value, $order)
    };
    (host add, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_add($value, $order)
    };
    (host sub, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_sub($value, $order)
    };
    (host and, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_and($value, $order)
    };
    (host or, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_or($value, $order)
    };
    (host xor, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_xor($value, $order)
    };
    (host max, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_max($value, $order)
    };
    (host min, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.0.fetch_min($value, $order)
    };
    (host signed_max, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.1.fetch_max($value as $Signed, $order) as Self
    };
    (host signed_min, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        $places.1.fetch_min($value as $Signed, $order) as Self
    };
    (host inc, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        host_update!($places.0, $order, |old| if old >= $value { 0 } else { old + 1 })
    };
    (host dec, $places:ident, $value:ident, $Signed:ident, $order:ident) => {
        host_update!($places.0, $order, |old| {
            if old == 0 || old > $value { $value } else { old - 1 }
        })
    };
}

/// A loop around compare-and-swap; the old value.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! host_update {
    ($place:expr, $order:expr, $update:expr) => {{
        let update = $update;
        let mut old = $place.load(Relaxed);
        loop {
            match $place.compare_exchange_weak(old, update(old), $order, Relaxed) {
                Ok(old) => break old,
                Err(found) => old = found,
            }
        }
    }};
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    pub(super) use core::sync::atomic::{
        AtomicI16, AtomicI32, AtomicI64, AtomicU16, AtomicU32, AtomicU64,
    };
}

// The names are LLVM's ("LLVM Language Reference", atomicrmw).
words! {
    operations {
        exchange "xchg"
        add "add"
        sub "sub"
        and "and"
        or "or"
        xor "xor"
        max "umax"
        min "umin"
        signed_max "max"
        signed_min "min"
        inc "uinc_wrap"
        dec "udec_wrap"
    }
    u16 i16 AtomicU16 AtomicI16 "i16";
    u32 i32 AtomicU32 AtomicI32 "i32";
    u64 i64 AtomicU64 AtomicI64 "i64";
}

/// Sums of floating-point numbers. Those of 16 bits go by their bits.
macro_rules! sums {
    ($($(#[$attribute:meta])* $name:ident $T:ident $Passed:ident $Atomic:ident $symbol:literal $pass:expr, $take:expr;)+) => {$(
        /// Adds; the old value.
        ///
        /// # Safety
        ///
        /// As the module says.
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        pub(super) unsafe fn $name<S: Scope>(place: *mut $T, value: $T, order: Ordering) -> $T {
            unsafe extern "C" {
                #[link_name = concat!("cuda_std.atomic.rmw.fadd.", $symbol)]
                fn add(place: *mut $T, value: $Passed, order: u32, scope: u32) -> $Passed;
            }
            let value: $Passed = $pass(value);
            // SAFETY: the caller's promise.
            $take(ordered!(change order, CODE => unsafe { add(place, value, CODE, S::CODE) }))
        }

        /// Adds; the old value.
        ///
        /// # Safety
        ///
        /// As the module says.
        #[cfg(not(target_arch = "nvptx64"))]
        #[expect(clippy::extra_unused_type_parameters, reason = "the host has no scopes")]
        pub(super) unsafe fn $name<S: Scope>(place: *mut $T, value: $T, order: Ordering) -> $T {
            // SAFETY: the caller's promise.
            let place = unsafe { host::$Atomic::from_ptr(place.cast()) };
            let add = |old| ($T::from_bits(old) + value).to_bits();
            $T::from_bits(host_update!(place, order, add))
        }
    )+};
}

sums! {
    add_f32 f32 f32 AtomicU32 "f32" core::convert::identity, core::convert::identity;
    add_f64 f64 f64 AtomicU64 "f64" core::convert::identity, core::convert::identity;
    add_f16 f16 u16 AtomicU16 "f16" f16::to_bits, f16::from_bits;
    add_bf16 bf16 u16 AtomicU16 "bf16" bf16::to_bits, bf16::from_bits;
}

/// See [`fence`](super::fence).
#[inline(always)]
#[track_caller]
#[cfg_attr(
    not(target_arch = "nvptx64"),
    expect(clippy::extra_unused_type_parameters, reason = "the host has no scopes")
)]
pub(super) fn fence<S: Scope>(order: Ordering) {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            #[link_name = "cuda_std.atomic.fence"]
            fn fence(order: u32, scope: u32);
        }
        // SAFETY: a fence accesses no memory.
        ordered!(fence order, CODE => unsafe { fence(CODE, S::CODE) });
    }
    #[cfg(not(target_arch = "nvptx64"))]
    core::sync::atomic::fence(order);
}
