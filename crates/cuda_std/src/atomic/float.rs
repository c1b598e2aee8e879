//! rust-cuda's types.

use core::sync::atomic::Ordering;

use super::{Atomic, AtomicValue, Block, Device, Scope, System};

/// The atomic of the integer with the number's bits.
#[inline(always)]
fn bits<T, W: AtomicValue, S: Scope>(number: &Atomic<T, S>) -> &Atomic<W, S> {
    const { assert!(size_of::<T>() == size_of::<W>() && align_of::<T>() == align_of::<W>()) };
    // SAFETY: the reference shows that the place is valid; whoever uses it does so with atomics of this size and scope.
    unsafe { Atomic::from_ptr(number.as_ptr().cast()) }
}

/// A method; those of the block's types are unsafe.
macro_rules! method {
    (safe: $(#[$attribute:meta])* fn $($rest:tt)+) => {
        $(#[$attribute])*
        #[inline(always)]
        #[track_caller]
        pub fn $($rest)+
    };
    (unsafe: $(#[$attribute:meta])* fn $($rest:tt)+) => {
        $(#[$attribute])*
        ///
        /// # Safety
        ///
        /// All threads that use this number at the same time are of one block.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $($rest)+
    };
}

macro_rules! types {
    ($($name:ident: $T:ident as $Bits:ident, $Scope:ident, $threads:literal, $safety:tt;)+) => {$(
        #[doc = concat!("A number of type `", stringify!($T), "` that ", $threads, " change at the same time.")]
        ///
        #[doc = concat!("The name is rust-cuda's; [`Atomic<", stringify!($T), ", ", stringify!($Scope), ">`](Atomic) has more operations.")]
        ///
        /// ```
        /// use core::sync::atomic::Ordering::Relaxed;
        #[doc = concat!("use cuda_std::atomic::", stringify!($name), ";")]
        #[doc = concat!("let number = ", stringify!($name), "::new(1.5);")]
        #[doc = concat!("assert_eq!(", types!(@call $safety "number.fetch_add(2.0, Relaxed)"), ", 1.5);")]
        /// assert_eq!(number.into_inner(), 3.5);
        /// ```
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(Atomic<$T, $Scope>);

        types!(@sync $safety $name);

        impl $name {
            /// An atomic that holds `value`.
            #[inline]
            #[must_use]
            pub const fn new(value: $T) -> Self {
                Self(Atomic::new(value))
            }

            /// The value, which nobody else can reach any more.
            #[inline]
            #[must_use]
            pub fn into_inner(self) -> $T {
                self.0.into_inner()
            }

            method! { $safety:
                /// Adds `value`; the old value.
                fn fetch_add(&self, value: $T, order: Ordering) -> $T {
                    self.0.fetch_add(value, order)
                }
            }

            method! { $safety:
                /// Subtracts `value`; the old value.
                fn fetch_sub(&self, value: $T, order: Ordering) -> $T {
                    self.0.fetch_sub(value, order)
                }
            }

            method! { $safety:
                /// Keeps the bits that are set in those of `value`; the old value.
                fn fetch_and(&self, value: $T, order: Ordering) -> $T {
                    $T::from_bits(bits::<_, $Bits, _>(&self.0).fetch_and(value.to_bits(), order))
                }
            }

            method! { $safety:
                /// Sets the bits that are set in those of `value`; the old value.
                fn fetch_or(&self, value: $T, order: Ordering) -> $T {
                    $T::from_bits(bits::<_, $Bits, _>(&self.0).fetch_or(value.to_bits(), order))
                }
            }

            method! { $safety:
                /// Flips the bits that are set in those of `value`; the old value.
                fn fetch_xor(&self, value: $T, order: Ordering) -> $T {
                    $T::from_bits(bits::<_, $Bits, _>(&self.0).fetch_xor(value.to_bits(), order))
                }
            }

            method! { $safety:
                /// The value.
                ///
                /// # Panics
                ///
                /// If `order` is `Release` or `AcqRel`.
                fn load(&self, order: Ordering) -> $T {
                    self.0.load(order)
                }
            }

            method! { $safety:
                /// Sets the value.
                ///
                /// # Panics
                ///
                /// If `order` is `Acquire` or `AcqRel`.
                fn store(&self, value: $T, order: Ordering) {
                    self.0.store(value, order);
                }
            }
        }
    )+};
    (@call safe $call:literal) => { $call };
    (@call unsafe $call:literal) => { concat!("unsafe { ", $call, " }") };
    (@sync safe $name:ident) => {};
    (@sync unsafe $name:ident) => {
        // SAFETY: its methods are unsafe, and ask that one block alone uses it at a time.
        unsafe impl Sync for $name {}
    };
}

types! {
    AtomicF32: f32 as u32, Device, "threads of one device", safe;
    AtomicF64: f64 as u64, Device, "threads of one device", safe;
    BlockAtomicF32: f32 as u32, Block, "threads of one block", unsafe;
    BlockAtomicF64: f64 as u64, Block, "threads of one block", unsafe;
    SystemAtomicF32: f32 as u32, System, "threads of devices and the host", safe;
    SystemAtomicF64: f64 as u64, System, "threads of devices and the host", safe;
}
