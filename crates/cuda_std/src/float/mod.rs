//! Floating-point functions as methods: [`GpuFloat`] has those of Rust's standard library, which kernels lack, [`FloatExt`] has
//! libdevice's others, [`FastFloat`] has approximations of one or a few instructions.
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::{FastFloat, FloatExt, GpuFloat};
//!
//! /// `y = sin(x) + erf(x)`, and a fast square root.
//! ///
//! /// # Safety
//! /// `y` points to as many elements as `x` has.
//! #[kernel]
//! pub unsafe fn functions(x: &[f32], y: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     if i < x.len() {
//!         let value = x[i].sin() + x[i].error_function();
//!         unsafe { *y.add(i) = value.abs().fast_sqrt() };
//!     }
//! }
//! ```
//!
//! The functions are those of [`intrinsics`](crate::intrinsics): libdevice's where the builder links it, else the `libm` crate's or
//! this crate's. The repository's `docs/maths.md` says how accurate both are.

mod ext;
mod fast;
mod gpu;
mod pairs;
#[cfg(test)]
mod tests;

pub use ext::FloatExt;
pub use fast::FastFloat;
pub use gpu::GpuFloat;
pub use pairs::{Bf16x2, F16x2};

/// Only f32 and f64 implement the traits, so that they can grow.
mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A trait whose methods are intrinsics, implemented for f64 and f32. One line a method: its name and further arguments, the
/// intrinsics for f64 and f32, what it is.
macro_rules! intrinsic_methods {
    (
        $(#[$attribute:meta])*
        pub trait $Trait:ident {
            $($name:ident($($x:ident: $T:ty),*) = $wide:ident, $narrow:ident, $text:literal;)+
        }
        $($more:tt)*
    ) => {
        intrinsic_methods! {
            @trait [$(#[$attribute])* pub trait $Trait] [$($name($($x: $T),*) $text)+] $($more)*
        }
        intrinsic_methods! { @impl f64 $Trait [$($name($($x: $T),*) $wide)+] $($more)* }
        intrinsic_methods! { @impl f32 $Trait [$($name($($x: $T),*) $narrow)+] $($more)* }
    };
    (
        @trait [$($head:tt)*] [$($name:ident($($x:ident: $T:ty),*) $text:literal)+]
        $($(#[$doc:meta])+ fn $other:ident($this:ident $(, $y:ident: $U:ty)*) -> $R:ty $body:block)*
    ) => {
        $($head)*: Copy + PartialOrd + super::sealed::Sealed {
            $(
                #[doc = concat!($text, ".")]
                #[must_use]
                fn $name(self $(, $x: $T)*) -> Self;
            )+
            $(
                $(#[$doc])+
                #[must_use]
                fn $other($this $(, $y: $U)*) -> $R;
            )*
        }
    };
    (
        @impl $F:ident $Trait:ident [$($name:ident($($x:ident: $T:ty),*) $intrinsic:ident)+]
        $($(#[$doc:meta])+ fn $other:ident($this:ident $(, $y:ident: $U:ty)*) -> $R:ty $body:block)*
    ) => {
        impl $Trait for $F {
            $(
                #[inline(always)]
                fn $name(self $(, $x: $T)*) -> Self {
                    crate::intrinsics::$intrinsic(self $(, $x)*)
                }
            )+
            $(
                #[inline(always)]
                fn $other($this $(, $y: $U)*) -> $R $body
            )*
        }
    };
}
use intrinsic_methods;
