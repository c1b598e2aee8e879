//! Functions with pointers.

use cuda_std::intrinsics;
use cuda_std::prelude::*;

use crate::Bits;

/// Functions that write their second result, or both, through pointers.
macro_rules! pairs {
    ($($kernel:ident($($x:ident: $T:ident),+) -> ($A:ident, $B:ident) = $call:expr;)+) => {$(
        #[kernel]
        pub unsafe fn $kernel(arguments: &[[u64; 4]], results: *mut [u64; 2]) {
            let i = thread::index_1d() as usize;
            if i < arguments.len() {
                let mut words = arguments[i].into_iter();
                $(let $x = <$T>::of_bits(words.next().unwrap_or_default());)+
                let call: fn($($T),+) -> ($A, $B) = $call;
                let (a, b) = call($($x),+);
                unsafe { *results.add(i) = [a.bits(), b.bits()] };
            }
        }
    )+};
}

/// The second result of a call that writes it.
fn first<A, B: Default>(call: impl FnOnce(*mut B) -> A) -> (A, B) {
    let mut second = B::default();
    (call(&mut second), second)
}

/// Both results of a call that writes them.
fn both<T: Default>(call: impl FnOnce(*mut T, *mut T)) -> (T, T) {
    let (mut a, mut b) = (T::default(), T::default());
    call(&mut a, &mut b);
    (a, b)
}

pairs! {
    k_frexp(x: f64) -> (f64, i32) = |x| first(|to| unsafe { intrinsics::frexp(x, to) });
    k_frexpf(x: f32) -> (f32, i32) = |x| first(|to| unsafe { intrinsics::frexpf(x, to) });
    k_modf(x: f64) -> (f64, f64) = |x| first(|to| unsafe { intrinsics::modf(x, to) });
    k_modff(x: f32) -> (f32, f32) = |x| first(|to| unsafe { intrinsics::modff(x, to) });
    k_remquo(x: f64, y: f64) -> (f64, i32) = |x, y| first(|to| unsafe { intrinsics::remquo(x, y, to) });
    k_remquof(x: f32, y: f32) -> (f32, i32) = |x, y| first(|to| unsafe { intrinsics::remquof(x, y, to) });
    k_sincos(x: f64) -> (f64, f64) = |x| both(|sin, cos| unsafe { intrinsics::sincos(x, sin, cos) });
    k_sincosf(x: f32) -> (f32, f32) = |x| both(|sin, cos| unsafe { intrinsics::sincosf(x, sin, cos) });
    k_sincospi(x: f64) -> (f64, f64) = |x| both(|sin, cos| unsafe { intrinsics::sincospi(x, sin, cos) });
    k_sincospif(x: f32) -> (f32, f32) = |x| both(|sin, cos| unsafe { intrinsics::sincospif(x, sin, cos) });
    k_fast_sincosf(x: f32) -> (f32, f32) = |x| both(|sin, cos| unsafe { intrinsics::fast_sincosf(x, sin, cos) });
    k_norm(x: f64, y: f64, z: f64, w: f64) -> (f64, f64) = |x, y, z, w| {
        let t = [x, y, z, w];
        unsafe { (intrinsics::norm(4, t.as_ptr()), intrinsics::rnorm(3, t.as_ptr())) }
    };
    k_normf(x: f32, y: f32, z: f32, w: f32) -> (f32, f32) = |x, y, z, w| {
        let t = [x, y, z, w];
        unsafe { (intrinsics::normf(4, t.as_ptr()), intrinsics::rnormf(3, t.as_ptr())) }
    };
    k_nan(tag: i32) -> (f64, f32) = |tag| {
        let text = match tag {
            0 => c"",
            1 => c"0x1234",
            2 => c"077",
            3 => c"99",
            _ => c"0xzz",
        };
        let text = text.as_ptr();
        unsafe { (intrinsics::nan(text), intrinsics::nanf(text)) }
    };
}
