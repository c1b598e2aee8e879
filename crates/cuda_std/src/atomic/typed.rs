//! [`Atomic`].

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{self, Relaxed};

use super::raw::Word;
use super::scope::{Device, Scope, System};
use super::value::sealed::Number;
use super::value::{AtomicCounter, AtomicInteger, AtomicNumber, AtomicValue};

/// A number that threads change at the same time, in any memory.
///
/// It is laid out as `T`, and so can be laid over memory of the device ([`from_ptr`](Self::from_ptr)) or be a static. Each
/// operation takes an [`Ordering`], as core's atomics do, and gives the value before. They work on the host too.
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::Atomic;
/// use cuda_std::prelude::*;
///
/// #[address_space(global)]
/// static TOTAL: Atomic<f32> = Atomic::new(0.0);
///
/// #[kernel]
/// pub fn sum(values: &[f32]) {
///     for i in thread::grid_stride(values.len()) {
///         TOTAL.fetch_add(values[i], Relaxed);
///     }
/// }
/// ```
///
/// `Atomic<T, Block>` is not `Sync`, so that no static is shared by blocks: in static shared memory, or at a pointer, it is
/// reached by [`from_ptr`](Self::from_ptr).
///
/// PTX: see [the module](super).
#[repr(transparent)]
pub struct Atomic<T, S = Device> {
    value: UnsafeCell<T>,
    scope: PhantomData<S>,
}

// SAFETY: all access through a shared reference is atomic for all threads of the device.
unsafe impl<T: AtomicValue> Sync for Atomic<T, Device> {}
// SAFETY: all access through a shared reference is atomic for all threads there are.
unsafe impl<T: AtomicValue> Sync for Atomic<T, System> {}

impl<T, S> Atomic<T, S> {
    /// An atomic that holds `value`.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), scope: PhantomData }
    }

    /// The value, which nobody else can reach any more.
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// The value; the exclusive reference shows that nobody else can reach it.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Its address.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// The number at `place` as an atomic.
    ///
    /// ```no_run
    /// # let (sums, i): (*mut f32, usize) = (core::ptr::null_mut(), 0);
    /// use core::sync::atomic::Ordering::Relaxed;
    /// use cuda_std::atomic::Atomic;
    /// unsafe { Atomic::<f32>::from_ptr(sums.add(i)) }.fetch_add(0.5, Relaxed);
    /// ```
    ///
    /// # Safety
    ///
    /// `place` is valid for reads and writes for `'a` and aligned to the size of `T`. During `'a`, whoever else accesses it at
    /// the same time does so atomically with the same size, and is in the scope `S`, as this thread is in theirs.
    #[inline]
    pub const unsafe fn from_ptr<'a>(place: *mut T) -> &'a Self {
        // SAFETY: the caller's promise; the layout is that of `T`.
        unsafe { &*place.cast() }
    }
}

impl<T: AtomicValue, S: Scope> Atomic<T, S> {
    fn word(&self) -> *mut T::Word {
        self.as_ptr().cast()
    }

    /// The value.
    ///
    /// # Panics
    ///
    /// If `order` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        // SAFETY: the place is valid, and shared only with atomics.
        T::from_word(unsafe { T::Word::load::<S>(self.word(), order) })
    }

    /// Sets the value.
    ///
    /// # Panics
    ///
    /// If `order` is `Acquire` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        // SAFETY: as in `load`.
        unsafe { T::Word::store::<S>(self.word(), value.to_word(), order) }
    }

    /// Sets the value; the old one.
    #[inline(always)]
    pub fn exchange(&self, value: T, order: Ordering) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::exchange::<S>(self.word(), value.to_word(), order) })
    }

    /// Sets the value to `new` if it is `current`; the old one, in `Err` if it wasn't.
    ///
    /// Floating-point numbers are compared bit by bit: a NaN is equal to itself, and 0 is not -0.
    ///
    /// # Errors
    ///
    /// With the value, if it isn't `current`.
    ///
    /// # Panics
    ///
    /// If `failure` is `Release` or `AcqRel`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        let (current, new) = (current.to_word(), new.to_word());
        // SAFETY: as in `load`.
        let old =
            unsafe { T::Word::compare_exchange::<S>(self.word(), current, new, success, failure) };
        if old == current { Ok(T::from_word(old)) } else { Err(T::from_word(old)) }
    }

    /// Sets the value to what `update` makes of it, as often as it takes; the old one, in `Err` if `update` gave `None`.
    ///
    /// ```
    /// use core::sync::atomic::Ordering::Relaxed;
    /// use cuda_std::atomic::Atomic;
    /// let scale = Atomic::<f32>::new(3.0);
    /// assert_eq!(scale.fetch_update(Relaxed, Relaxed, |x| (x < 100.0).then_some(x * 2.0)), Ok(3.0));
    /// assert_eq!(scale.into_inner(), 6.0);
    /// ```
    ///
    /// # Errors
    ///
    /// With the value, if `update` gave `None`.
    ///
    /// # Panics
    ///
    /// If `load` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn fetch_update(
        &self,
        store: Ordering,
        load: Ordering,
        mut update: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut old = self.load(load);
        while let Some(new) = update(old) {
            match self.compare_exchange(old, new, store, load) {
                Ok(old) => return Ok(old),
                Err(found) => old = found,
            }
        }
        Err(old)
    }
}

/// Methods that change the value by a function of `sealed::Number`.
macro_rules! number_methods {
    ($($(#[$attribute:meta])* $name:ident = $raw:ident;)+) => {
        impl<T: AtomicNumber, S: Scope> Atomic<T, S> {$(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name(&self, value: T, order: Ordering) -> T {
                // SAFETY: the place is valid, and shared only with atomics.
                unsafe { <T as Number>::$raw::<S>(self.as_ptr(), value, order) }
            }
        )+}
    };
}

number_methods! {
    /// Adds `value`, integers around the end of their range; the old value.
    ///
    /// Floating-point sums depend on the order of the threads, since each is rounded.
    fetch_add = add;
    /// Subtracts `value`, integers around the end of their range; the old value.
    fetch_sub = sub;
    /// Sets the value to the smaller of it and `value`; the old one.
    ///
    /// -0 is smaller than 0. A NaN as `value` changes nothing, as with [`f32::min`]; where the memory holds a NaN, it may stay or
    /// give way.
    fetch_min = min;
    /// Sets the value to the larger of it and `value`; the old one.
    ///
    /// -0 is smaller than 0. A NaN as `value` changes nothing, as with [`f32::max`]; where the memory holds a NaN, it may stay or
    /// give way.
    fetch_max = max;
}

/// Methods that change the value by a function of its word.
macro_rules! word_methods {
    ($Bound:ident: $($(#[$attribute:meta])* $name:ident($value:ident) = $raw:ident;)+) => {
        impl<T: $Bound, S: Scope> Atomic<T, S> {$(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name(&self, $value: T, order: Ordering) -> T {
                // SAFETY: the place is valid, and shared only with atomics.
                T::from_word(unsafe { T::Word::$raw::<S>(self.word(), $value.to_word(), order) })
            }
        )+}
    };
}

word_methods! {
    AtomicInteger:
    /// Keeps the bits that are set in `value`; the old value.
    fetch_and(value) = and;
    /// Sets the bits that are set in `value`; the old value.
    fetch_or(value) = or;
    /// Flips the bits that are set in `value`; the old value.
    fetch_xor(value) = xor;
}

word_methods! {
    AtomicCounter:
    /// Adds 1, or starts again at 0 where the value is `limit` or more; the old value. So the values go from 0 to `limit`.
    ///
    /// ```
    /// use core::sync::atomic::Ordering::Relaxed;
    /// use cuda_std::atomic::Atomic;
    /// let slot = Atomic::<u32>::new(0);
    /// let slots: [u32; 5] = core::array::from_fn(|_| slot.fetch_inc(2, Relaxed));
    /// assert_eq!(slots, [0, 1, 2, 0, 1]);
    /// ```
    fetch_inc(limit) = inc;
    /// Subtracts 1, or starts again at `limit` where the value is 0 or above `limit`; the old value.
    ///
    /// ```
    /// use core::sync::atomic::Ordering::Relaxed;
    /// use cuda_std::atomic::Atomic;
    /// let slot = Atomic::<u64>::new(1);
    /// let slots: [u64; 4] = core::array::from_fn(|_| slot.fetch_dec(2, Relaxed));
    /// assert_eq!(slots, [1, 0, 2, 1]);
    /// ```
    fetch_dec(limit) = dec;
}

impl<T: Default, S> Default for Atomic<T, S> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T, S> From<T> for Atomic<T, S> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Shows the value, as core's atomics do.
impl<T: AtomicValue + fmt::Debug, S: Scope> fmt::Debug for Atomic<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Relaxed).fmt(f)
    }
}

#[cfg(test)]
mod tests;
