//! The traits' methods: those that are intrinsics, those that are more, and those with two results.

use cuda_std::prelude::*;
use cuda_std::{FastFloat, FloatExt, GpuFloat};

use crate::Bits;

/// Kernels of one method, for each of the types that `T` stands for.
macro_rules! methods {
    ($($wide:ident, $narrow:ident = $Trait:ident::$method:ident($($A:ident),+), $of_f64:ident, $of_f32:ident;)+) => {$(
        methods! { @kernel $wide f64 $Trait $method $($A)+ }
        methods! { @kernel $narrow f32 $Trait $method $($A)+ }
    )+};
    (@kernel $kernel:ident $F:ident $Trait:ident $method:ident $($A:ident)+) => {
        #[kernel]
        pub unsafe fn $kernel(arguments: &[[u64; 4]], results: *mut [u64; 2]) {
            #[allow(dead_code)]
            type T = $F;
            let i = thread::index_1d() as usize;
            if i < arguments.len() {
                let mut words = arguments[i].into_iter();
                let result: $F =
                    $Trait::$method($(<$A>::of_bits(words.next().unwrap_or_default())),+);
                unsafe { *results.add(i) = [result.bits(), 0] };
            }
        }
    };
}

include!("method_table.rs");

/// The methods that are no intrinsic, and those with an order or with two results: `$call` for each of the types that `T`
/// stands for.
macro_rules! others {
    ($($wide:ident, $narrow:ident = |$($x:ident: $A:ident),+| -> $R:ty { $call:expr })+) => {$(
        others! { @kernel $wide f64 ($($x: $A),+) $R, $call }
        others! { @kernel $narrow f32 ($($x: $A),+) $R, $call }
    )+};
    (@kernel $kernel:ident $F:ident ($($x:ident: $A:ident),+) $R:ty, $call:expr) => {
        #[kernel]
        pub unsafe fn $kernel(arguments: &[[u64; 4]], results: *mut [u64; 2]) {
            #[allow(dead_code)]
            type T = $F;
            let i = thread::index_1d() as usize;
            if i < arguments.len() {
                let mut words = arguments[i].into_iter();
                $(let $x = <$A>::of_bits(words.next().unwrap_or_default());)+
                let result: $R = $call;
                unsafe { *results.add(i) = result.words() };
            }
        }
    };
}

/// One result or two, as words.
trait Words {
    fn words(self) -> [u64; 2];
}

impl Words for f32 {
    fn words(self) -> [u64; 2] {
        [self.bits(), 0]
    }
}

impl Words for f64 {
    fn words(self) -> [u64; 2] {
        [self.bits(), 0]
    }
}

impl Words for i32 {
    fn words(self) -> [u64; 2] {
        [self.bits(), 0]
    }
}

impl<A: Bits, B: Bits> Words for (A, B) {
    fn words(self) -> [u64; 2] {
        [self.0.bits(), self.1.bits()]
    }
}

others! {
    m_fract_f64, m_fract_f32 = |x: T| -> T { GpuFloat::fract(x) }
    m_signum_f64, m_signum_f32 = |x: T| -> T { GpuFloat::signum(x) }
    m_log_f64, m_log_f32 = |x: T, base: T| -> T { GpuFloat::log(x, base) }
    m_div_euclid_f64, m_div_euclid_f32 = |x: T, y: T| -> T { GpuFloat::div_euclid(x, y) }
    m_rem_euclid_f64, m_rem_euclid_f32 = |x: T, y: T| -> T { GpuFloat::rem_euclid(x, y) }
    m_sin_cos_f64, m_sin_cos_f32 = |x: T| -> (T, T) { GpuFloat::sin_cos(x) }

    m_jn_f64, m_jn_f32 = |order: i32, x: T| -> T { FloatExt::jn(x, order) }
    m_yn_f64, m_yn_f32 = |order: i32, x: T| -> T { FloatExt::yn(x, order) }
    m_frexp_f64, m_frexp_f32 = |x: T| -> (T, i32) { FloatExt::frexp(x) }
    m_unbiased_exp_f64, m_unbiased_exp_f32 = |x: T| -> i32 { FloatExt::unbiased_exp(x) }
    m_sincospi_f64, m_sincospi_f32 = |x: T| -> (T, T) { FloatExt::sincospi(x) }
    m_saturate_f64, m_saturate_f32 = |x: T| -> T { FloatExt::saturate(x) }
}

/// [`FastFloat`]'s only method with two results.
#[kernel]
pub unsafe fn m_fast_sin_cos(arguments: &[[u64; 4]], results: *mut [u64; 2]) {
    let i = thread::index_1d() as usize;
    if i < arguments.len() {
        let x = f32::of_bits(arguments[i][0]);
        unsafe { *results.add(i) = FastFloat::fast_sin_cos(x).words() };
    }
}
