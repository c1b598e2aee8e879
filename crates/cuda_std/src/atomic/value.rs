//! The types that atomics hold, and what can be done with each.

use core::sync::atomic::Ordering;

use half::{bf16, f16};

use super::raw::{self, Word};
use super::scope::Scope;

/// A number that an [`Atomic`](super::Atomic) can hold: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, `f16` or `bf16`.
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::{Atomic, AtomicValue};
///
/// fn take<T: AtomicValue + Default>(place: &Atomic<T>) -> T {
///     place.exchange(T::default(), Relaxed)
/// }
/// # assert_eq!(take(&Atomic::new(2.5_f32)), 2.5);
/// ```
pub trait AtomicValue: Copy + Send + sealed::Bits + 'static {}

/// A number that can be added to and compared: every [`AtomicValue`].
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::{Atomic, AtomicNumber};
///
/// fn both<T: AtomicNumber>(sum: &Atomic<T>, largest: &Atomic<T>, value: T) {
///     sum.fetch_add(value, Relaxed);
///     largest.fetch_max(value, Relaxed);
/// }
/// # let (sum, largest) = (Atomic::new(1), Atomic::new(5));
/// # both(&sum, &largest, 4_i64);
/// # assert_eq!((sum.into_inner(), largest.into_inner()), (5, 5));
/// ```
pub trait AtomicNumber: AtomicValue + sealed::Number {}

/// An integer: `u32`, `i32`, `u64` or `i64`.
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::{Atomic, AtomicInteger};
///
/// fn set_bits<T: AtomicInteger>(place: &Atomic<T>, bits: T) -> T {
///     place.fetch_or(bits, Relaxed)
/// }
/// # assert_eq!(set_bits(&Atomic::new(0b101), 0b010), 0b101);
/// ```
pub trait AtomicInteger: AtomicNumber {}

/// An integer that counts up to a limit and around: `u32` or `u64`.
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::{Atomic, AtomicCounter};
///
/// fn next<T: AtomicCounter>(place: &Atomic<T>, last: T) -> T {
///     place.fetch_inc(last, Relaxed)
/// }
/// # let place = Atomic::new(9_u64);
/// # assert_eq!((next(&place, 9), next(&place, 9)), (9, 0));
/// ```
pub trait AtomicCounter: AtomicInteger {}

pub(super) mod sealed {
    use super::{Ordering, Scope, Word};

    /// A value as the bits that the hardware moves.
    pub trait Bits: Sized {
        type Word: Word;
        fn to_word(self) -> Self::Word;
        fn from_word(word: Self::Word) -> Self;
    }

    /// # Safety (of all functions)
    ///
    /// As [`raw`](crate::atomic::raw)'s.
    pub trait Number: Sized {
        unsafe fn add<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self;
        unsafe fn sub<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self;
        unsafe fn min<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self;
        unsafe fn max<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self;
    }
}

macro_rules! integers {
    ($($T:ident as $Word:ident, $min:ident, $max:ident;)+) => {$(
        impl sealed::Bits for $T {
            type Word = $Word;

            #[inline(always)]
            fn to_word(self) -> $Word {
                self as $Word
            }

            #[inline(always)]
            fn from_word(word: $Word) -> Self {
                word as Self
            }
        }

        integers!(number $T as $Word: add add, sub sub, min $min, max $max);
        impl AtomicValue for $T {}
        impl AtomicNumber for $T {}
        impl AtomicInteger for $T {}
    )+};
    (number $T:ident as $Word:ident: $($name:ident $raw:ident),+) => {
        impl sealed::Number for $T {$(
            #[inline(always)]
            unsafe fn $name<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise; the word is the integer's bits.
                unsafe { <$Word as Word>::$raw::<S>(place.cast(), value as $Word, order) as Self }
            }
        )+}
    };
}

integers! {
    u32 as u32, min, max;
    i32 as u32, signed_min, signed_max;
    u64 as u64, min, max;
    i64 as u64, signed_min, signed_max;
}

impl AtomicCounter for u32 {}
impl AtomicCounter for u64 {}

macro_rules! floats {
    ($($T:ident as $Word:ident, $add:ident;)+) => {$(
        impl sealed::Bits for $T {
            type Word = $Word;

            #[inline(always)]
            fn to_word(self) -> $Word {
                self.to_bits()
            }

            #[inline(always)]
            fn from_word(word: $Word) -> Self {
                Self::from_bits(word)
            }
        }

        impl sealed::Number for $T {
            #[inline(always)]
            unsafe fn add<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise.
                unsafe { raw::$add::<S>(place, value, order) }
            }

            #[inline(always)]
            unsafe fn sub<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise. IEEE 754 defines a difference as this sum.
                unsafe { raw::$add::<S>(place, Self::from_bits(value.to_bits() ^ <$Word as Word>::SIGN), order) }
            }

            #[inline(always)]
            unsafe fn min<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise.
                Self::from_bits(unsafe { float_min::<$Word, S>(place.cast(), value.to_bits(), value.is_nan(), order) })
            }

            #[inline(always)]
            unsafe fn max<S: Scope>(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: the caller's promise.
                Self::from_bits(unsafe { float_max::<$Word, S>(place.cast(), value.to_bits(), value.is_nan(), order) })
            }
        }

        impl AtomicValue for $T {}
        impl AtomicNumber for $T {}
    )+};
}

floats! {
    f32 as u32, add_f32;
    f64 as u64, add_f64;
    f16 as u16, add_f16;
    bf16 as u16, add_bf16;
}

/// The larger of two numbers, by comparing them as integers: numbers with a clear sign bit order as signed integers do and are
/// above all others, those with the sign bit set order the other way round as unsigned ones. So one instruction does, and -0 is
/// below 0.
///
/// # Safety
///
/// As [`raw`]'s functions.
#[inline(always)]
unsafe fn float_max<W: Word, S: Scope>(
    place: *mut W,
    value: W,
    is_nan: bool,
    order: Ordering,
) -> W {
    // SAFETY: the caller's promise.
    unsafe {
        if is_nan {
            W::or::<S>(place, W::ZERO, order)
        } else if value & W::SIGN == W::ZERO {
            W::signed_max::<S>(place, value, order)
        } else {
            W::min::<S>(place, value, order)
        }
    }
}

/// The smaller of two numbers; see [`float_max`].
///
/// # Safety
///
/// As [`raw`]'s functions.
#[inline(always)]
unsafe fn float_min<W: Word, S: Scope>(
    place: *mut W,
    value: W,
    is_nan: bool,
    order: Ordering,
) -> W {
    // SAFETY: the caller's promise.
    unsafe {
        if is_nan {
            W::or::<S>(place, W::ZERO, order)
        } else if value & W::SIGN == W::ZERO {
            W::signed_min::<S>(place, value, order)
        } else {
            W::max::<S>(place, value, order)
        }
    }
}
