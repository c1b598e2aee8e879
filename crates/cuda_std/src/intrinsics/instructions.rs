//! One rounding mode, one conversion, one approximation: what is a PTX instruction or two, with libdevice or without.
//!
//! Inline PTX, so that LLVM neither changes the rounding nor fuses an addition with a multiplication. With the builder's `ftz`, the f32
//! instructions flush subnormal numbers to zero, as libdevice's do.

use crate::gpu_only;

/// Writes `asm!` for an instruction: result, name, operands. A number's type gives its register.
#[cfg(target_arch = "nvptx64")]
macro_rules! ptx {
    (@[$($text:tt)*] [$($operand:tt)*]) => {
        core::arch::asm!(concat!($($text)* ";"), $($operand)* options(pure, nomem, nostack, preserves_flags))
    };
    (@[$($text:tt)*] [$($operand:tt)*] $x:ident: f32, $($rest:tt)*) => {
        ptx!(@[$($text)* ", {}",] [$($operand)* in(reg32) $x,] $($rest)*)
    };
    (@[$($text:tt)*] [$($operand:tt)*] $x:ident: i32, $($rest:tt)*) => {
        ptx!(@[$($text)* ", {}",] [$($operand)* in(reg32) $x,] $($rest)*)
    };
    (@[$($text:tt)*] [$($operand:tt)*] $x:ident: f64, $($rest:tt)*) => {
        ptx!(@[$($text)* ", {}",] [$($operand)* in(reg64) $x,] $($rest)*)
    };
    (@[$($text:tt)*] [$($operand:tt)*] $x:ident: i64, $($rest:tt)*) => {
        ptx!(@[$($text)* ", {}",] [$($operand)* in(reg64) $x,] $($rest)*)
    };
    (@[$($text:tt)*] [$($operand:tt)*] $x:ident: i16, $($rest:tt)*) => {
        ptx!(@[$($text)* ", {}",] [$($operand)* in(reg16) $x,] $($rest)*)
    };
    ($result:ident: f32, $name:expr, $($rest:tt)*) => { ptx!(@[$name, " {}",] [out(reg32) $result,] $($rest)*) };
    ($result:ident: i32, $name:expr, $($rest:tt)*) => { ptx!(@[$name, " {}",] [out(reg32) $result,] $($rest)*) };
    ($result:ident: f64, $name:expr, $($rest:tt)*) => { ptx!(@[$name, " {}",] [out(reg64) $result,] $($rest)*) };
    ($result:ident: i64, $name:expr, $($rest:tt)*) => { ptx!(@[$name, " {}",] [out(reg64) $result,] $($rest)*) };
    ($result:ident: i16, $name:expr, $($rest:tt)*) => { ptx!(@[$name, " {}",] [out(reg16) $result,] $($rest)*) };
}

/// Functions of one instruction: its name in brackets, in two parts where `.ftz` goes between them if the builder asks for that.
macro_rules! instructions {
    ($($name:ident($($x:ident: $T:ident),+) -> $R:ident = $op:tt, $text:literal;)+) => {
        $(instructions! { @one $name($($x: $T),+) -> $R = $op, $text })+
    };
    (@one $name:ident($($x:ident: $T:ident),+) -> $R:ident = ($op:literal), $text:literal) => {
        #[doc = concat!($text, ". PTX: `", $op, "`.")]
        #[inline(always)]
        #[must_use]
        #[gpu_only]
        pub fn $name($($x: $T),+) -> $R {
            let result: $R;
            // SAFETY: computes a value from values.
            unsafe { ptx!(result: $R, $op, $($x: $T,)+) };
            result
        }
    };
    (@one $name:ident($($x:ident: $T:ident),+) -> $R:ident = ($op:literal ftz $rest:literal), $text:literal) => {
        #[doc = concat!($text, ". PTX: `", $op, $rest, "`.")]
        #[inline(always)]
        #[must_use]
        #[gpu_only]
        pub fn $name($($x: $T),+) -> $R {
            let result: $R;
            if builder_says!(FLUSH_TO_ZERO) {
                // SAFETY: computes a value from values.
                unsafe { ptx!(result: $R, concat!($op, ".ftz", $rest), $($x: $T,)+) };
            } else {
                // SAFETY: computes a value from values.
                unsafe { ptx!(result: $R, concat!($op, $rest), $($x: $T,)+) };
            }
            result
        }
    };
}

instructions! {
    fadd_rn(x: f32, y: f32) -> f32 = ("add.rn" ftz ".f32"), "`x + y`, rounded to nearest";
    fadd_rz(x: f32, y: f32) -> f32 = ("add.rz" ftz ".f32"), "`x + y`, rounded towards zero";
    fadd_ru(x: f32, y: f32) -> f32 = ("add.rp" ftz ".f32"), "`x + y`, rounded up";
    fadd_rd(x: f32, y: f32) -> f32 = ("add.rm" ftz ".f32"), "`x + y`, rounded down";
    dadd_rn(x: f64, y: f64) -> f64 = ("add.rn.f64"), "`x + y`, rounded to nearest";
    dadd_rz(x: f64, y: f64) -> f64 = ("add.rz.f64"), "`x + y`, rounded towards zero";
    dadd_ru(x: f64, y: f64) -> f64 = ("add.rp.f64"), "`x + y`, rounded up";
    dadd_rd(x: f64, y: f64) -> f64 = ("add.rm.f64"), "`x + y`, rounded down";
    fsub_rn(x: f32, y: f32) -> f32 = ("sub.rn" ftz ".f32"), "`x - y`, rounded to nearest";
    fsub_rz(x: f32, y: f32) -> f32 = ("sub.rz" ftz ".f32"), "`x - y`, rounded towards zero";
    fsub_ru(x: f32, y: f32) -> f32 = ("sub.rp" ftz ".f32"), "`x - y`, rounded up";
    fsub_rd(x: f32, y: f32) -> f32 = ("sub.rm" ftz ".f32"), "`x - y`, rounded down";
    dsub_rn(x: f64, y: f64) -> f64 = ("sub.rn.f64"), "`x - y`, rounded to nearest";
    dsub_rz(x: f64, y: f64) -> f64 = ("sub.rz.f64"), "`x - y`, rounded towards zero";
    dsub_ru(x: f64, y: f64) -> f64 = ("sub.rp.f64"), "`x - y`, rounded up";
    dsub_rd(x: f64, y: f64) -> f64 = ("sub.rm.f64"), "`x - y`, rounded down";
    fmul_rn(x: f32, y: f32) -> f32 = ("mul.rn" ftz ".f32"), "`x * y`, rounded to nearest";
    fmul_rz(x: f32, y: f32) -> f32 = ("mul.rz" ftz ".f32"), "`x * y`, rounded towards zero";
    fmul_ru(x: f32, y: f32) -> f32 = ("mul.rp" ftz ".f32"), "`x * y`, rounded up";
    fmul_rd(x: f32, y: f32) -> f32 = ("mul.rm" ftz ".f32"), "`x * y`, rounded down";
    dmul_rn(x: f64, y: f64) -> f64 = ("mul.rn.f64"), "`x * y`, rounded to nearest";
    dmul_rz(x: f64, y: f64) -> f64 = ("mul.rz.f64"), "`x * y`, rounded towards zero";
    dmul_ru(x: f64, y: f64) -> f64 = ("mul.rp.f64"), "`x * y`, rounded up";
    dmul_rd(x: f64, y: f64) -> f64 = ("mul.rm.f64"), "`x * y`, rounded down";
    fdiv_rn(x: f32, y: f32) -> f32 = ("div.rn" ftz ".f32"), "`x / y`, rounded to nearest";
    fdiv_rz(x: f32, y: f32) -> f32 = ("div.rz" ftz ".f32"), "`x / y`, rounded towards zero";
    fdiv_ru(x: f32, y: f32) -> f32 = ("div.rp" ftz ".f32"), "`x / y`, rounded up";
    fdiv_rd(x: f32, y: f32) -> f32 = ("div.rm" ftz ".f32"), "`x / y`, rounded down";
    ddiv_rn(x: f64, y: f64) -> f64 = ("div.rn.f64"), "`x / y`, rounded to nearest";
    ddiv_rz(x: f64, y: f64) -> f64 = ("div.rz.f64"), "`x / y`, rounded towards zero";
    ddiv_ru(x: f64, y: f64) -> f64 = ("div.rp.f64"), "`x / y`, rounded up";
    ddiv_rd(x: f64, y: f64) -> f64 = ("div.rm.f64"), "`x / y`, rounded down";
    frcp_rn(x: f32) -> f32 = ("rcp.rn" ftz ".f32"), "`1 / x`, rounded to nearest";
    frcp_rz(x: f32) -> f32 = ("rcp.rz" ftz ".f32"), "`1 / x`, rounded towards zero";
    frcp_ru(x: f32) -> f32 = ("rcp.rp" ftz ".f32"), "`1 / x`, rounded up";
    frcp_rd(x: f32) -> f32 = ("rcp.rm" ftz ".f32"), "`1 / x`, rounded down";
    drcp_rn(x: f64) -> f64 = ("rcp.rn.f64"), "`1 / x`, rounded to nearest";
    drcp_rz(x: f64) -> f64 = ("rcp.rz.f64"), "`1 / x`, rounded towards zero";
    drcp_ru(x: f64) -> f64 = ("rcp.rp.f64"), "`1 / x`, rounded up";
    drcp_rd(x: f64) -> f64 = ("rcp.rm.f64"), "`1 / x`, rounded down";
    fsqrt_rn(x: f32) -> f32 = ("sqrt.rn" ftz ".f32"), "The square root of `x`, rounded to nearest";
    fsqrt_rz(x: f32) -> f32 = ("sqrt.rz" ftz ".f32"), "The square root of `x`, rounded towards zero";
    fsqrt_ru(x: f32) -> f32 = ("sqrt.rp" ftz ".f32"), "The square root of `x`, rounded up";
    fsqrt_rd(x: f32) -> f32 = ("sqrt.rm" ftz ".f32"), "The square root of `x`, rounded down";
    dsqrt_rn(x: f64) -> f64 = ("sqrt.rn.f64"), "The square root of `x`, rounded to nearest";
    dsqrt_rz(x: f64) -> f64 = ("sqrt.rz.f64"), "The square root of `x`, rounded towards zero";
    dsqrt_ru(x: f64) -> f64 = ("sqrt.rp.f64"), "The square root of `x`, rounded up";
    dsqrt_rd(x: f64) -> f64 = ("sqrt.rm.f64"), "The square root of `x`, rounded down";
    fmaf_rn(x: f32, y: f32, z: f32) -> f32 = ("fma.rn" ftz ".f32"), "`x * y + z`, rounded to nearest once";
    fmaf_rz(x: f32, y: f32, z: f32) -> f32 = ("fma.rz" ftz ".f32"), "`x * y + z`, rounded towards zero once";
    fmaf_ru(x: f32, y: f32, z: f32) -> f32 = ("fma.rp" ftz ".f32"), "`x * y + z`, rounded up once";
    fmaf_rd(x: f32, y: f32, z: f32) -> f32 = ("fma.rm" ftz ".f32"), "`x * y + z`, rounded down once";
    fmaf_ieee_rn(x: f32, y: f32, z: f32) -> f32 = ("fma.rn.f32"), "`x * y + z`, rounded to nearest once; subnormal numbers stay, whatever the builder's `ftz` says";
    fmaf_ieee_rz(x: f32, y: f32, z: f32) -> f32 = ("fma.rz.f32"), "`x * y + z`, rounded towards zero once; subnormal numbers stay, whatever the builder's `ftz` says";
    fmaf_ieee_ru(x: f32, y: f32, z: f32) -> f32 = ("fma.rp.f32"), "`x * y + z`, rounded up once; subnormal numbers stay, whatever the builder's `ftz` says";
    fmaf_ieee_rd(x: f32, y: f32, z: f32) -> f32 = ("fma.rm.f32"), "`x * y + z`, rounded down once; subnormal numbers stay, whatever the builder's `ftz` says";
    fma_rn(x: f64, y: f64, z: f64) -> f64 = ("fma.rn.f64"), "`x * y + z`, rounded to nearest once";
    fma_rz(x: f64, y: f64, z: f64) -> f64 = ("fma.rz.f64"), "`x * y + z`, rounded towards zero once";
    fma_ru(x: f64, y: f64, z: f64) -> f64 = ("fma.rp.f64"), "`x * y + z`, rounded up once";
    fma_rd(x: f64, y: f64, z: f64) -> f64 = ("fma.rm.f64"), "`x * y + z`, rounded down once";

    double2float_rn(d: f64) -> f32 = ("cvt.rn" ftz ".f32.f64"), "`d` as an f32, rounded to nearest";
    double2float_rz(d: f64) -> f32 = ("cvt.rz" ftz ".f32.f64"), "`d` as an f32, rounded towards zero";
    double2float_ru(d: f64) -> f32 = ("cvt.rp" ftz ".f32.f64"), "`d` as an f32, rounded up";
    double2float_rd(d: f64) -> f32 = ("cvt.rm" ftz ".f32.f64"), "`d` as an f32, rounded down";
    float2int_rn(x: f32) -> i32 = ("cvt.rni" ftz ".s32.f32"), "`x` as a signed 32-bit integer, rounded to nearest; the nearest one if it is out of range";
    float2int_rz(x: f32) -> i32 = ("cvt.rzi" ftz ".s32.f32"), "`x` as a signed 32-bit integer, rounded towards zero; the nearest one if it is out of range";
    float2int_ru(x: f32) -> i32 = ("cvt.rpi" ftz ".s32.f32"), "`x` as a signed 32-bit integer, rounded up; the nearest one if it is out of range";
    float2int_rd(x: f32) -> i32 = ("cvt.rmi" ftz ".s32.f32"), "`x` as a signed 32-bit integer, rounded down; the nearest one if it is out of range";
    double2int_rn(x: f64) -> i32 = ("cvt.rni.s32.f64"), "`x` as a signed 32-bit integer, rounded to nearest; the nearest one if it is out of range";
    double2int_rz(x: f64) -> i32 = ("cvt.rzi.s32.f64"), "`x` as a signed 32-bit integer, rounded towards zero; the nearest one if it is out of range";
    double2int_ru(x: f64) -> i32 = ("cvt.rpi.s32.f64"), "`x` as a signed 32-bit integer, rounded up; the nearest one if it is out of range";
    double2int_rd(x: f64) -> i32 = ("cvt.rmi.s32.f64"), "`x` as a signed 32-bit integer, rounded down; the nearest one if it is out of range";
    float2uint_rn(x: f32) -> i32 = ("cvt.rni" ftz ".u32.f32"), "`x` as an unsigned 32-bit integer, rounded to nearest; the nearest one if it is out of range";
    float2uint_rz(x: f32) -> i32 = ("cvt.rzi" ftz ".u32.f32"), "`x` as an unsigned 32-bit integer, rounded towards zero; the nearest one if it is out of range";
    float2uint_ru(x: f32) -> i32 = ("cvt.rpi" ftz ".u32.f32"), "`x` as an unsigned 32-bit integer, rounded up; the nearest one if it is out of range";
    float2uint_rd(x: f32) -> i32 = ("cvt.rmi" ftz ".u32.f32"), "`x` as an unsigned 32-bit integer, rounded down; the nearest one if it is out of range";
    double2uint_rn(x: f64) -> i32 = ("cvt.rni.u32.f64"), "`x` as an unsigned 32-bit integer, rounded to nearest; the nearest one if it is out of range";
    double2uint_rz(x: f64) -> i32 = ("cvt.rzi.u32.f64"), "`x` as an unsigned 32-bit integer, rounded towards zero; the nearest one if it is out of range";
    double2uint_ru(x: f64) -> i32 = ("cvt.rpi.u32.f64"), "`x` as an unsigned 32-bit integer, rounded up; the nearest one if it is out of range";
    double2uint_rd(x: f64) -> i32 = ("cvt.rmi.u32.f64"), "`x` as an unsigned 32-bit integer, rounded down; the nearest one if it is out of range";
    float2ll_rn(x: f32) -> i64 = ("cvt.rni" ftz ".s64.f32"), "`x` as a signed 64-bit integer, rounded to nearest; the nearest one if it is out of range";
    float2ll_rz(x: f32) -> i64 = ("cvt.rzi" ftz ".s64.f32"), "`x` as a signed 64-bit integer, rounded towards zero; the nearest one if it is out of range";
    float2ll_ru(x: f32) -> i64 = ("cvt.rpi" ftz ".s64.f32"), "`x` as a signed 64-bit integer, rounded up; the nearest one if it is out of range";
    float2ll_rd(x: f32) -> i64 = ("cvt.rmi" ftz ".s64.f32"), "`x` as a signed 64-bit integer, rounded down; the nearest one if it is out of range";
    double2ll_rn(x: f64) -> i64 = ("cvt.rni.s64.f64"), "`x` as a signed 64-bit integer, rounded to nearest; the nearest one if it is out of range";
    double2ll_rz(x: f64) -> i64 = ("cvt.rzi.s64.f64"), "`x` as a signed 64-bit integer, rounded towards zero; the nearest one if it is out of range";
    double2ll_ru(x: f64) -> i64 = ("cvt.rpi.s64.f64"), "`x` as a signed 64-bit integer, rounded up; the nearest one if it is out of range";
    double2ll_rd(x: f64) -> i64 = ("cvt.rmi.s64.f64"), "`x` as a signed 64-bit integer, rounded down; the nearest one if it is out of range";
    float2ull_rn(x: f32) -> i64 = ("cvt.rni" ftz ".u64.f32"), "`x` as an unsigned 64-bit integer, rounded to nearest; the nearest one if it is out of range";
    float2ull_rz(x: f32) -> i64 = ("cvt.rzi" ftz ".u64.f32"), "`x` as an unsigned 64-bit integer, rounded towards zero; the nearest one if it is out of range";
    float2ull_ru(x: f32) -> i64 = ("cvt.rpi" ftz ".u64.f32"), "`x` as an unsigned 64-bit integer, rounded up; the nearest one if it is out of range";
    float2ull_rd(x: f32) -> i64 = ("cvt.rmi" ftz ".u64.f32"), "`x` as an unsigned 64-bit integer, rounded down; the nearest one if it is out of range";
    double2ull_rn(x: f64) -> i64 = ("cvt.rni.u64.f64"), "`x` as an unsigned 64-bit integer, rounded to nearest; the nearest one if it is out of range";
    double2ull_rz(x: f64) -> i64 = ("cvt.rzi.u64.f64"), "`x` as an unsigned 64-bit integer, rounded towards zero; the nearest one if it is out of range";
    double2ull_ru(x: f64) -> i64 = ("cvt.rpi.u64.f64"), "`x` as an unsigned 64-bit integer, rounded up; the nearest one if it is out of range";
    double2ull_rd(x: f64) -> i64 = ("cvt.rmi.u64.f64"), "`x` as an unsigned 64-bit integer, rounded down; the nearest one if it is out of range";
    int2float_rn(x: i32) -> f32 = ("cvt.rn.f32.s32"), "`x`, a signed 32-bit integer, as an f32, rounded to nearest";
    int2float_rz(x: i32) -> f32 = ("cvt.rz.f32.s32"), "`x`, a signed 32-bit integer, as an f32, rounded towards zero";
    int2float_ru(x: i32) -> f32 = ("cvt.rp.f32.s32"), "`x`, a signed 32-bit integer, as an f32, rounded up";
    int2float_rd(x: i32) -> f32 = ("cvt.rm.f32.s32"), "`x`, a signed 32-bit integer, as an f32, rounded down";
    int2double_rn(x: i32) -> f64 = ("cvt.rn.f64.s32"), "`x`, a signed 32-bit integer, as an f64, exactly";
    uint2float_rn(x: i32) -> f32 = ("cvt.rn.f32.u32"), "`x`, an unsigned 32-bit integer, as an f32, rounded to nearest";
    uint2float_rz(x: i32) -> f32 = ("cvt.rz.f32.u32"), "`x`, an unsigned 32-bit integer, as an f32, rounded towards zero";
    uint2float_ru(x: i32) -> f32 = ("cvt.rp.f32.u32"), "`x`, an unsigned 32-bit integer, as an f32, rounded up";
    uint2float_rd(x: i32) -> f32 = ("cvt.rm.f32.u32"), "`x`, an unsigned 32-bit integer, as an f32, rounded down";
    uint2double_rn(x: i32) -> f64 = ("cvt.rn.f64.u32"), "`x`, an unsigned 32-bit integer, as an f64, exactly";
    ll2float_rn(x: i64) -> f32 = ("cvt.rn.f32.s64"), "`x`, a signed 64-bit integer, as an f32, rounded to nearest";
    ll2float_rz(x: i64) -> f32 = ("cvt.rz.f32.s64"), "`x`, a signed 64-bit integer, as an f32, rounded towards zero";
    ll2float_ru(x: i64) -> f32 = ("cvt.rp.f32.s64"), "`x`, a signed 64-bit integer, as an f32, rounded up";
    ll2float_rd(x: i64) -> f32 = ("cvt.rm.f32.s64"), "`x`, a signed 64-bit integer, as an f32, rounded down";
    ll2double_rn(x: i64) -> f64 = ("cvt.rn.f64.s64"), "`x`, a signed 64-bit integer, as an f64, rounded to nearest";
    ll2double_rz(x: i64) -> f64 = ("cvt.rz.f64.s64"), "`x`, a signed 64-bit integer, as an f64, rounded towards zero";
    ll2double_ru(x: i64) -> f64 = ("cvt.rp.f64.s64"), "`x`, a signed 64-bit integer, as an f64, rounded up";
    ll2double_rd(x: i64) -> f64 = ("cvt.rm.f64.s64"), "`x`, a signed 64-bit integer, as an f64, rounded down";
    ull2float_rn(x: i64) -> f32 = ("cvt.rn.f32.u64"), "`x`, an unsigned 64-bit integer, as an f32, rounded to nearest";
    ull2float_rz(x: i64) -> f32 = ("cvt.rz.f32.u64"), "`x`, an unsigned 64-bit integer, as an f32, rounded towards zero";
    ull2float_ru(x: i64) -> f32 = ("cvt.rp.f32.u64"), "`x`, an unsigned 64-bit integer, as an f32, rounded up";
    ull2float_rd(x: i64) -> f32 = ("cvt.rm.f32.u64"), "`x`, an unsigned 64-bit integer, as an f32, rounded down";
    ull2double_rn(x: i64) -> f64 = ("cvt.rn.f64.u64"), "`x`, an unsigned 64-bit integer, as an f64, rounded to nearest";
    ull2double_rz(x: i64) -> f64 = ("cvt.rz.f64.u64"), "`x`, an unsigned 64-bit integer, as an f64, rounded towards zero";
    ull2double_ru(x: i64) -> f64 = ("cvt.rp.f64.u64"), "`x`, an unsigned 64-bit integer, as an f64, rounded up";
    ull2double_rd(x: i64) -> f64 = ("cvt.rm.f64.u64"), "`x`, an unsigned 64-bit integer, as an f64, rounded down";
    half2float(h: i16) -> f32 = ("cvt.f32.f16"), "The half with the bits `h` as an f32, exactly";
    float2half_rn(x: f32) -> i16 = ("cvt.rn.f16.f32"), "The bits of `x` as a half, rounded to nearest";

    saturatef(x: f32) -> f32 = ("cvt.sat" ftz ".f32.f32"), "`x` clamped to 0 … 1; 0 for NaN";
    rcp64h(d: f64) -> f64 = ("rcp.approx.ftz.f64"), "`1 / d` to about 20 bits; the lower 32 bits of `d` do not count, those of the result are 0";
    rsqrtf(x: f32) -> f32 = ("rsqrt.approx" ftz ".f32"), "`1 / sqrt(x)`, approximately";
    fast_sinf(x: f32) -> f32 = ("sin.approx" ftz ".f32"), "The sine, approximately: absolute error about 2^-21 for `x` in -π … π, growing beyond";
    fast_cosf(x: f32) -> f32 = ("cos.approx" ftz ".f32"), "The cosine, approximately: absolute error about 2^-21 for `x` in -π … π, growing beyond";
    fast_log2f(x: f32) -> f32 = ("lg2.approx" ftz ".f32"), "The logarithm to base 2, approximately";
    fast_fdividef(x: f32, y: f32) -> f32 = ("div.approx" ftz ".f32"), "`x / y`, approximately; 0 for `y` above 2^126";
    fast_tanhf(x: f32) -> f32 = ("tanh.approx.f32"), "The hyperbolic tangent, approximately: relative error about 2^-11. sm_75";
}

/// Instructions with f32 operands that no function of libdevice is alone.
mod part {
    use crate::gpu_only;

    instructions! {
        ex2_approx(x: f32) -> f32 = ("ex2.approx" ftz ".f32"), "`2^x`, approximately";
        sqrt_approx(x: f32) -> f32 = ("sqrt.approx" ftz ".f32"), "The square root, approximately";
        rcp_approx(x: f32) -> f32 = ("rcp.approx" ftz ".f32"), "`1 / x`, approximately";
    }
}

pub(crate) use part::{rcp_approx, sqrt_approx};

macro_rules! approximations {
    ($($name:ident($($x:ident),+) = $value:expr, $text:literal;)+) => {$(
        #[doc = concat!($text, ".")]
        #[inline(always)]
        #[must_use]
        pub fn $name($($x: f32),+) -> f32 {
            $value
        }
    )+};
}

approximations! {
    fast_exp2f(x) = part::ex2_approx(x), "`2^x`, approximately. PTX: `ex2.approx`. CUDA's `exp2f`; libdevice has no `fast_` name for it";
    fast_expf(x) = part::ex2_approx(x * core::f32::consts::LOG2_E), "`e^x`, approximately; the relative error grows with `x`. PTX: `ex2.approx`";
    fast_exp10f(x) = part::ex2_approx(x * core::f32::consts::LOG2_10), "`10^x`, approximately; the relative error grows with `x`. PTX: `ex2.approx`";
    fast_logf(x) = fast_log2f(x) * core::f32::consts::LN_2, "The natural logarithm, approximately. PTX: `lg2.approx`";
    fast_log10f(x) = fast_log2f(x) * core::f32::consts::LOG10_2, "The logarithm to base 10, approximately. PTX: `lg2.approx`";
    fast_powf(x, y) = part::ex2_approx(y * fast_log2f(x)), "`x^y` for positive `x`, approximately. PTX: `lg2.approx`, `ex2.approx`";
    fast_tanf(x) = fast_fdividef(fast_sinf(x), fast_cosf(x)), "The tangent, approximately. PTX: `sin.approx`, `cos.approx`, `div.approx`";
}

/// `1 / sqrt(x)`, correctly rounded.
///
/// PTX has no such instruction: the square root and the division are those of f64, whose 29 more bits decide every f32.
#[inline]
#[must_use]
pub fn frsqrt_rn(x: f32) -> f32 {
    (1.0 / libm::sqrt(f64::from(x))) as f32
}
