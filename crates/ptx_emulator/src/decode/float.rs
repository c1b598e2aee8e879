//! Floating-point arithmetic of f32, f64, f16, bf16 and their packed pairs, and the approximations.

use ptx::ast::Instruction;

use super::builder::{Builder, Decoded, Refusal, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::op::{NONE, OpKind};
use crate::row::{
    RowFn, Rows, dd, ddd, ddd_quick, dddd, dddd_quick, pd, pr, rr, rrr, rrr_quick, rrrr, rrrr_quick,
};
use crate::semantics::cmp::{self, FloatTest};
use crate::semantics::half::{
    self, Bf16, Clamp, F16, HalfFormat, HalfMode, halfwise, pairwise, triplewise,
};
use crate::semantics::{FloatMode, MinMaxMode, Rounding, approx, f32 as single, f64 as double};

/// f32 functions on bits.
fn s1(f: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static) -> RowFn {
    rr(move |a| f(f32::from_bits(a)).to_bits())
}
fn s2(f: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static) -> RowFn {
    rrr(move |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits())
}
fn s3(f: impl Fn(f32, f32, f32) -> f32 + Copy + Send + Sync + 'static) -> RowFn {
    rrrr(move |a, b, c| f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits())
}

/// As `s2`, with a quick way for processors with AVX2 and FMA: results that are NaN are computed again.
fn s2_quick(
    f: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static,
    quick: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static,
) -> RowFn {
    let single = f32::from_bits;
    rrr_quick(
        move |a, b| f(single(a), single(b)).to_bits(),
        move |a, b| quick(single(a), single(b)).to_bits(),
    )
}

/// As [`s2_quick`], of three operands.
fn s3_quick(
    f: impl Fn(f32, f32, f32) -> f32 + Copy + Send + Sync + 'static,
    quick: impl Fn(f32, f32, f32) -> f32 + Copy + Send + Sync + 'static,
) -> RowFn {
    let single = f32::from_bits;
    rrrr_quick(
        move |a, b, c| f(single(a), single(b), single(c)).to_bits(),
        move |a, b, c| quick(single(a), single(b), single(c)).to_bits(),
    )
}

/// f64 functions on bits.
fn d1(f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> RowFn {
    dd(move |a| f(f64::from_bits(a)).to_bits())
}
fn d2(f: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> RowFn {
    ddd(move |a, b| f(f64::from_bits(a), f64::from_bits(b)).to_bits())
}
fn d3(f: impl Fn(f64, f64, f64) -> f64 + Copy + Send + Sync + 'static) -> RowFn {
    dddd(move |a, b, c| f(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits())
}

/// As [`s2_quick`], in double precision.
fn d2_quick(
    f: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
    quick: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> RowFn {
    let double = f64::from_bits;
    ddd_quick(
        move |a, b| f(double(a), double(b)).to_bits(),
        move |a, b| quick(double(a), double(b)).to_bits(),
    )
}

/// As [`s3_quick`], in double precision.
fn d3_quick(
    f: impl Fn(f64, f64, f64) -> f64 + Copy + Send + Sync + 'static,
    quick: impl Fn(f64, f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> RowFn {
    let double = f64::from_bits;
    dddd_quick(
        move |a, b, c| f(double(a), double(b), double(c)).to_bits(),
        move |a, b, c| quick(double(a), double(b), double(c)).to_bits(),
    )
}

/// 16-bit functions, scalar or packed.
fn h1(packed: bool, f: impl Fn(u16) -> u16 + Copy + Send + Sync + 'static) -> RowFn {
    if packed { rr(move |a| halfwise(a, f)) } else { rr(move |a| u32::from(f(a as u16))) }
}
fn h2(packed: bool, f: impl Fn(u16, u16) -> u16 + Copy + Send + Sync + 'static) -> RowFn {
    if packed {
        rrr(move |a, b| pairwise(a, b, f))
    } else {
        rrr(move |a, b| u32::from(f(a as u16, b as u16)))
    }
}
fn h3(packed: bool, f: impl Fn(u16, u16, u16) -> u16 + Copy + Send + Sync + 'static) -> RowFn {
    if packed {
        rrrr(move |a, b, c| triplewise(a, b, c, f))
    } else {
        rrrr(move |a, b, c| u32::from(f(a as u16, b as u16, c as u16)))
    }
}

/// `add`, `sub`, `mul`, `fma`, `div`, `rcp`, `sqrt`, `min`, `max`, `abs`, `neg` of a floating-point type.
pub(super) fn arithmetic(b: &mut Builder, i: &Instruction, m: &mut Modifiers, ty: Ty) -> Decoded {
    if m.take("approx") || m.take("full") {
        return approximate(b, i, m, ty);
    }
    let f = match ty.kind {
        Kind::F32 => single_precision(i, m)?,
        Kind::F64 => double_precision(i, m)?,
        Kind::F16 => half_precision::<F16>(i, m, false)?,
        Kind::F16x2 => half_precision::<F16>(i, m, true)?,
        Kind::Bf16 => half_precision::<Bf16>(i, m, false)?,
        Kind::Bf16x2 => half_precision::<Bf16>(i, m, true)?,
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

fn min_max_mode(m: &mut Modifiers) -> MinMaxMode {
    let mode =
        MinMaxMode { ftz: m.take("ftz"), nan: m.take("NaN"), xorsign_abs: m.take("xorsign") };
    if mode.xorsign_abs {
        m.take("abs");
    }
    mode
}

fn single_precision(i: &Instruction, m: &mut Modifiers) -> Result<RowFn, Refusal> {
    let opcode = i.opcode.as_str();
    if matches!(opcode, "min" | "max") {
        let mode = min_max_mode(m);
        return Ok(match (opcode, mode == MinMaxMode::default()) {
            ("min", true) => s2(single::min),
            ("max", true) => s2(single::max),
            ("min", false) => s2(move |a, b| single::min_with(a, b, mode)),
            _ => s2(move |a, b| single::max_with(a, b, mode)),
        });
    }
    let mode = FloatMode {
        rounding: m.find(Rounding::from_modifier).unwrap_or_default(),
        ftz: m.take("ftz"),
        sat: m.take("sat"),
    };
    let plain = mode == FloatMode::default();
    Ok(match opcode {
        "add" if plain => s2_quick(single::add, |a, b| a + b),
        "sub" if plain => s2_quick(single::sub, |a, b| a - b),
        "mul" if plain => s2_quick(single::mul, |a, b| a * b),
        "fma" | "mad" if plain => s3_quick(single::fma, f32::mul_add),
        "div" if plain => s2_quick(single::div, |a, b| a / b),
        "rcp" if plain => s1(single::rcp),
        "sqrt" if plain => s1(single::sqrt),
        "add" => s2(move |a, b| single::add_with(a, b, mode)),
        "sub" => s2(move |a, b| single::sub_with(a, b, mode)),
        "mul" => s2(move |a, b| single::mul_with(a, b, mode)),
        "fma" | "mad" => s3(move |a, b, c| single::fma_with(a, b, c, mode)),
        "div" => s2(move |a, b| single::div_with(a, b, mode)),
        "rcp" => s1(move |a| single::rcp_with(a, mode)),
        "sqrt" => s1(move |a| single::sqrt_with(a, mode)),
        "abs" => s1(move |a| single::abs(a, mode.ftz)),
        "neg" => s1(move |a| single::neg(a, mode.ftz)),
        _ => return unsupported(i.mnemonic()),
    })
}

fn double_precision(i: &Instruction, m: &mut Modifiers) -> Result<RowFn, Refusal> {
    let rounding = m.find(Rounding::from_modifier).unwrap_or_default();
    let plain = rounding == Rounding::NearestEven;
    Ok(match i.opcode.as_str() {
        "add" if plain => d2_quick(double::add, |a, b| a + b),
        "sub" if plain => d2_quick(double::sub, |a, b| a - b),
        "mul" if plain => d2_quick(double::mul, |a, b| a * b),
        "fma" | "mad" if plain => d3_quick(double::fma, f64::mul_add),
        "div" if plain => d2_quick(double::div, |a, b| a / b),
        "rcp" if plain => d1(double::rcp),
        "sqrt" if plain => d1(double::sqrt),
        "add" => d2(move |a, b| double::add_rounded(a, b, rounding)),
        "sub" => d2(move |a, b| double::sub_rounded(a, b, rounding)),
        "mul" => d2(move |a, b| double::mul_rounded(a, b, rounding)),
        "fma" | "mad" => d3(move |a, b, c| double::fma_rounded(a, b, c, rounding)),
        "div" => d2(move |a, b| double::div_rounded(a, b, rounding)),
        "rcp" => d1(move |a| double::rcp_rounded(a, rounding)),
        "sqrt" => d1(move |a| double::sqrt_rounded(a, rounding)),
        "abs" => d1(double::abs),
        "neg" => d1(double::neg),
        "min" => d2(double::min),
        "max" => d2(double::max),
        _ => return unsupported(i.mnemonic()),
    })
}

fn half_precision<F: HalfFormat + 'static>(
    i: &Instruction,
    m: &mut Modifiers,
    packed: bool,
) -> Result<RowFn, Refusal> {
    let opcode = i.opcode.as_str();
    if matches!(opcode, "min" | "max") {
        let mode = min_max_mode(m);
        return Ok(match opcode {
            "min" => h2(packed, move |a, b| half::min::<F>(a, b, mode)),
            _ => h2(packed, move |a, b| half::max::<F>(a, b, mode)),
        });
    }
    m.take("rn");
    let clamp = match (m.take("sat"), m.take("relu")) {
        (true, false) => Clamp::Saturate,
        (false, true) => Clamp::Relu,
        (false, false) => Clamp::None,
        _ => return unsupported(i.mnemonic()),
    };
    let mode = HalfMode { ftz: m.take("ftz"), clamp, oob: opcode == "fma" && m.take("oob") };
    Ok(match opcode {
        "add" => h2(packed, move |a, b| half::add::<F>(a, b, mode)),
        "sub" => h2(packed, move |a, b| half::sub::<F>(a, b, mode)),
        "mul" => h2(packed, move |a, b| half::mul::<F>(a, b, mode)),
        "fma" => h3(packed, move |a, b, c| half::fma::<F>(a, b, c, mode)),
        "abs" => h1(packed, move |a| half::abs::<F>(a, mode.ftz)),
        "neg" => h1(packed, move |a| half::neg::<F>(a, mode.ftz)),
        _ => return unsupported(i.mnemonic()),
    })
}

/// Forms with `.approx` or `.full`, after that modifier was taken.
fn approximate(b: &mut Builder, i: &Instruction, m: &mut Modifiers, ty: Ty) -> Decoded {
    let ftz = m.take("ftz");
    let full = i.modifiers.iter().any(|name| name == "full");
    let f = match (i.opcode.as_str(), ty.kind) {
        ("div", Kind::F32) if full => s2(move |a, b| approx::div_full(a, b, ftz)),
        ("div", Kind::F32) => s2(move |a, b| approx::div(a, b, ftz)),
        ("rcp", Kind::F32) => s1(move |a| approx::rcp(a, ftz)),
        ("sqrt", Kind::F32) => s1(move |a| approx::sqrt(a, ftz)),
        ("rsqrt", Kind::F32) => s1(move |a| approx::rsqrt(a, ftz)),
        ("sin", Kind::F32) => s1(move |a| approx::sin(a, ftz)),
        ("cos", Kind::F32) => s1(move |a| approx::cos(a, ftz)),
        ("lg2", Kind::F32) => s1(move |a| approx::lg2(a, ftz)),
        ("ex2", Kind::F32) => s1(move |a| approx::ex2(a, ftz)),
        ("tanh", Kind::F32) => s1(approx::tanh),
        ("rcp", Kind::F64) if ftz => d1(approx::rcp_f64),
        ("rsqrt", Kind::F64) if ftz => d1(approx::rsqrt_ftz_f64),
        ("rsqrt", Kind::F64) => d1(approx::rsqrt_f64),
        ("ex2", Kind::F16) => h1(false, move |a| approx::ex2_half::<F16>(a, ftz)),
        ("ex2", Kind::F16x2) => h1(true, move |a| approx::ex2_half::<F16>(a, ftz)),
        ("ex2", Kind::Bf16) => h1(false, move |a| approx::ex2_half::<Bf16>(a, ftz)),
        ("ex2", Kind::Bf16x2) => h1(true, move |a| approx::ex2_half::<Bf16>(a, ftz)),
        ("tanh", Kind::F16) => h1(false, approx::tanh_half::<F16>),
        ("tanh", Kind::F16x2) => h1(true, approx::tanh_half::<F16>),
        ("tanh", Kind::Bf16) => h1(false, approx::tanh_half::<Bf16>),
        ("tanh", Kind::Bf16x2) => h1(true, approx::tanh_half::<Bf16>),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

/// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`: approximate in all their forms.
pub(super) fn transcendental(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if !m.take("approx") {
        return unsupported(i.mnemonic());
    }
    match m.ty() {
        Some(ty) => approximate(b, i, m, ty),
        None => invalid("needs a type"),
    }
}

/// `add`, `sub`, `fma` of f32 with f16 or bf16 operands: the narrow operands are widened exactly.
pub(super) fn mixed(b: &mut Builder, i: &Instruction, m: &mut Modifiers, narrow: Ty) -> Decoded {
    let mode = FloatMode {
        rounding: m.find(Rounding::from_modifier).unwrap_or_default(),
        ftz: false,
        sat: m.take("sat"),
    };
    let widen = match narrow.kind {
        Kind::F16 => |a: u32| F16::widen(a as u16),
        Kind::Bf16 => |a: u32| Bf16::widen(a as u16),
        _ => return unsupported(i.mnemonic()),
    };
    let single = f32::from_bits;
    let f = match i.opcode.as_str() {
        "add" => rrr(move |a, c| single::add_with(widen(a), single(c), mode).to_bits()),
        "sub" => rrr(move |a, c| single::sub_with(widen(a), single(c), mode).to_bits()),
        "fma" => {
            rrrr(move |a, b, c| single::fma_with(widen(a), widen(b), single(c), mode).to_bits())
        }
        _ => return unsupported(i.mnemonic()),
    };
    let sources: &[Ty] =
        if i.opcode == "fma" { &[narrow, narrow, Ty::F32] } else { &[narrow, Ty::F32] };
    b.row_op(&i.operands, f, Ty::F32, sources)
}

/// `copysign`
pub(super) fn copysign(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    match m.ty() {
        Some(ty @ Ty { kind: Kind::F32, .. }) => {
            b.row_op(&i.operands, s2(single::copysign), ty, &[ty])
        }
        Some(ty @ Ty { kind: Kind::F64, .. }) => {
            b.row_op(&i.operands, d2(double::copysign), ty, &[ty])
        }
        _ => unsupported(i.mnemonic()),
    }
}

/// `testp`
pub(super) fn test(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (Some(test), Some(ty)) = (m.find(FloatTest::from_modifier), m.ty()) else {
        return invalid("needs a property and a type");
    };
    let f = match ty.kind {
        Kind::F32 => pr(move |a| cmp::testp_f32(test, f32::from_bits(a))),
        Kind::F64 => pd(move |a| cmp::testp_f64(test, f64::from_bits(a))),
        _ => return unsupported(i.mnemonic()),
    };
    let [d, a] = i.operands.as_slice() else {
        return invalid("takes 2 operands");
    };
    let a = b.source(a, ty.class(), ty)?;
    let d = b.predicate_destination(d)?;
    b.emit(OpKind::Compare { f, rows: Rows { d, s: [a, a, 0, 0] }, q: NONE, combine: None });
    Ok(())
}
