//! Who sees an atomic as one.

use core::sync::atomic::Ordering;

use super::raw;

mod sealed {
    pub trait Sealed {}
}

/// The threads among which an operation is atomic, and its ordering holds: [`Block`], [`Device`] or [`System`].
///
/// ```
/// use core::sync::atomic::Ordering::Relaxed;
/// use cuda_std::atomic::{Atomic, Scope};
///
/// fn count<S: Scope>(counter: &Atomic<u32, S>) -> u32 {
///     counter.fetch_add(1, Relaxed)
/// }
/// # assert_eq!(count(&Atomic::<u32>::new(5)), 5);
/// ```
///
/// PTX ISA, "Memory Consistency Model", Scope.
pub trait Scope: sealed::Sealed + Copy + 'static {
    /// Its number, as `cuda_builder` knows it.
    #[doc(hidden)]
    const CODE: u32;
}

macro_rules! scopes {
    ($($(#[$attribute:meta])* $name:ident = $code:literal;)+) => {$(
        $(#[$attribute])*
        ///
        /// ```
        #[doc = concat!("use cuda_std::atomic::{Atomic, ", stringify!($name), "};")]
        #[doc = concat!("assert_eq!(Atomic::<u32, ", stringify!($name), ">::new(7).into_inner(), 7);")]
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Scope for $name {
            const CODE: u32 = $code;
        }
    )+};
}

scopes! {
    /// The threads of one block. PTX: `.cta`.
    Block = 0;
    /// The threads of all blocks and launches on one device. PTX: `.gpu`.
    Device = 1;
    /// All threads, of the host and other devices too. PTX: `.sys`.
    System = 2;
}

/// Orders this thread's memory accesses before the call ahead of those after it, for the threads of the scope, as
/// [`core::sync::atomic::fence`] does for those of the system.
///
/// ```
/// use core::sync::atomic::Ordering::SeqCst;
/// use cuda_std::atomic::{Device, fence};
/// fence::<Device>(SeqCst);
/// ```
///
/// PTX: `fence.acq_rel` or `fence.sc`, PTX ISA 6.0, sm_70; before that `membar`.
///
/// # Panics
///
/// If `order` is `Relaxed`, which is no fence.
#[inline(always)]
#[track_caller]
pub fn fence<S: Scope>(order: Ordering) {
    raw::fence::<S>(order);
}
