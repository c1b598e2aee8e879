//! Integer arithmetic: `add`, `sub`, `mul`, `mad`, `div`, `min`, …, and the carry chain.

use ptx::ast::Instruction;

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::op::{CarryIn, OpKind};
use crate::row::{Class, RowFn, Rule, dd, ddd, dddd, drr, drrd, rr, rrr, rrrr};
use crate::semantics::{carry, int};

/// A function of two operands for each integer type.
macro_rules! two {
    ($ty:expr, $u16:path, $s16:path, $u32:path, $s32:path, $u64:path, $s64:path) => {
        match ($ty.is_signed(), $ty.bits) {
            (false, 16) => Some(rrr(|a, b| $u16(a as u16, b as u16) as u32)),
            (true, 16) => Some(rrr(|a, b| $s16(a as i16, b as i16) as u16 as u32)),
            (false, 32) => Some(rrr($u32)),
            (true, 32) => Some(rrr(|a, b| $s32(a as i32, b as i32) as u32)),
            (false, 64) => Some(ddd($u64)),
            (true, 64) => Some(ddd(|a, b| $s64(a as i64, b as i64) as u64)),
            _ => None,
        }
    };
}

/// A function of three operands for each integer type.
macro_rules! three {
    ($ty:expr, $u16:path, $s16:path, $u32:path, $s32:path, $u64:path, $s64:path) => {
        match ($ty.is_signed(), $ty.bits) {
            (false, 16) => Some(rrrr(|a, b, c| $u16(a as u16, b as u16, c as u16) as u32)),
            (true, 16) => Some(rrrr(|a, b, c| $s16(a as i16, b as i16, c as i16) as u16 as u32)),
            (false, 32) => Some(rrrr($u32)),
            (true, 32) => Some(rrrr(|a, b, c| $s32(a as i32, b as i32, c as i32) as u32)),
            (false, 64) => Some(dddd($u64)),
            (true, 64) => Some(dddd(|a, b, c| $s64(a as i64, b as i64, c as i64) as u64)),
            _ => None,
        }
    };
}

/// Which half of a product, or all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Lo,
    Hi,
    Wide,
}

fn half(m: &mut Modifiers) -> Option<Half> {
    m.find(|name| match name {
        "lo" => Some(Half::Lo),
        "hi" => Some(Half::Hi),
        "wide" => Some(Half::Wide),
        _ => None,
    })
}

/// The integer forms of an instruction whose other forms are floating-point; `ty` is its type.
pub(super) fn arithmetic(b: &mut Builder, i: &Instruction, m: &mut Modifiers, ty: Ty) -> Decoded {
    let opcode = i.opcode.as_str();
    if m.take("cc") || matches!(opcode, "addc" | "subc" | "madc") {
        return carry_chain(b, i, m, ty, i.modifiers.iter().any(|name| name == "cc"));
    }
    if matches!(ty.kind, Kind::U16x2 | Kind::S16x2) {
        return packed(b, i, m, ty);
    }
    if !ty.is_integer() {
        return unsupported(i.mnemonic());
    }
    let sat = m.take("sat");
    let relu = m.take("relu");
    if (sat || relu) && !(ty.is_signed() && ty.bits == 32) {
        return unsupported(i.mnemonic());
    }
    let f = match opcode {
        "add" if sat => Some(rrr(|a, b| int::add_sat_s32(a as i32, b as i32) as u32)),
        "sub" if sat => Some(rrr(|a, b| int::sub_sat_s32(a as i32, b as i32) as u32)),
        "min" if relu => Some(rrr(|a, b| int::min_relu_s32(a as i32, b as i32) as u32)),
        "max" if relu => Some(rrr(|a, b| int::max_relu_s32(a as i32, b as i32) as u32)),
        "mul" | "mad" => return product(b, i, m, ty, sat),
        _ if sat || relu => None,
        "add" => two!(
            ty,
            int::add_u16,
            int::add_s16,
            int::add_u32,
            int::add_s32,
            int::add_u64,
            int::add_s64
        ),
        "sub" => two!(
            ty,
            int::sub_u16,
            int::sub_s16,
            int::sub_u32,
            int::sub_s32,
            int::sub_u64,
            int::sub_s64
        ),
        "div" => two!(
            ty,
            int::div_u16,
            int::div_s16,
            int::div_u32,
            int::div_s32,
            int::div_u64,
            int::div_s64
        ),
        "rem" => two!(
            ty,
            int::rem_u16,
            int::rem_s16,
            int::rem_u32,
            int::rem_s32,
            int::rem_u64,
            int::rem_s64
        ),
        "min" => two!(
            ty,
            int::min_u16,
            int::min_s16,
            int::min_u32,
            int::min_s32,
            int::min_u64,
            int::min_s64
        ),
        "max" => two!(
            ty,
            int::max_u16,
            int::max_s16,
            int::max_u32,
            int::max_s32,
            int::max_u64,
            int::max_s64
        ),
        "sad" => three!(
            ty,
            int::sad_u16,
            int::sad_s16,
            int::sad_u32,
            int::sad_s32,
            int::sad_u64,
            int::sad_s64
        ),
        "abs" => match ty.bits {
            16 => Some(rr(|a| int::abs_s16(a as i16) as u16 as u32)),
            32 => Some(rr(|a| int::abs_s32(a as i32) as u32)),
            64 => Some(dd(|a| int::abs_s64(a as i64) as u64)),
            _ => None,
        },
        "neg" => match ty.bits {
            16 => Some(rr(|a| int::neg_s16(a as i16) as u16 as u32)),
            32 => Some(rr(|a| int::neg_s32(a as i32) as u32)),
            64 => Some(dd(|a| int::neg_s64(a as i64) as u64)),
            _ => None,
        },
        _ => None,
    };
    let rule = match opcode {
        "add" if !sat => Rule::Add,
        "sub" if !sat => Rule::Sub,
        "neg" => Rule::Neg,
        _ => Rule::None,
    };
    match f {
        Some(f) => b.row_op(&i.operands, f.with(exact(rule, ty)), ty, &[ty]),
        None => unsupported(i.mnemonic()),
    }
}

/// Rules hold modulo the size of a register, which 16-bit numbers do not fill.
fn exact(rule: Rule, ty: Ty) -> Rule {
    if ty.bits == 16 { Rule::None } else { rule }
}

fn product(b: &mut Builder, i: &Instruction, m: &mut Modifiers, ty: Ty, sat: bool) -> Decoded {
    let Some(half) = half(m) else {
        return invalid("an integer product needs .lo, .hi or .wide");
    };
    let mad = i.opcode == "mad";
    if sat {
        if !(mad && half == Half::Hi) {
            return unsupported(i.mnemonic());
        }
        let f = rrrr(|a, b, c| int::mad_hi_sat_s32(a as i32, b as i32, c as i32) as u32);
        return b.row_op(&i.operands, f, ty, &[ty]);
    }
    if half == Half::Wide {
        let wide = Ty { kind: ty.kind, bits: ty.bits * 2 };
        let f = match (mad, ty.is_signed(), ty.bits) {
            (false, false, 16) => rrr(|a, b| int::mul_wide_u16(a as u16, b as u16)),
            (false, true, 16) => rrr(|a, b| int::mul_wide_s16(a as i16, b as i16) as u32),
            (false, false, 32) => drr(int::mul_wide_u32).with(Rule::MulWideUnsigned),
            (false, true, 32) => {
                drr(|a, b| int::mul_wide_s32(a as i32, b as i32) as u64).with(Rule::MulWideSigned)
            }
            (true, false, 16) => rrrr(|a, b, c| int::mad_wide_u16(a as u16, b as u16, c)),
            (true, true, 16) => {
                rrrr(|a, b, c| int::mad_wide_s16(a as i16, b as i16, c as i32) as u32)
            }
            (true, false, 32) => drrd(int::mad_wide_u32).with(Rule::MadWideUnsigned),
            (true, true, 32) => {
                drrd(|a, b, c| int::mad_wide_s32(a as i32, b as i32, c as i64) as u64)
                    .with(Rule::MadWideSigned)
            }
            _ => return unsupported(i.mnemonic()),
        };
        return b.row_op(&i.operands, f, wide, &[ty, ty, wide]);
    }
    let f = match (mad, half) {
        (false, Half::Lo) => two!(
            ty,
            int::mul_lo_u16,
            int::mul_lo_s16,
            int::mul_lo_u32,
            int::mul_lo_s32,
            int::mul_lo_u64,
            int::mul_lo_s64
        ),
        (false, _) => two!(
            ty,
            int::mul_hi_u16,
            int::mul_hi_s16,
            int::mul_hi_u32,
            int::mul_hi_s32,
            int::mul_hi_u64,
            int::mul_hi_s64
        ),
        (true, Half::Lo) => three!(
            ty,
            int::mad_lo_u16,
            int::mad_lo_s16,
            int::mad_lo_u32,
            int::mad_lo_s32,
            int::mad_lo_u64,
            int::mad_lo_s64
        ),
        (true, _) => three!(
            ty,
            int::mad_hi_u16,
            int::mad_hi_s16,
            int::mad_hi_u32,
            int::mad_hi_s32,
            int::mad_hi_u64,
            int::mad_hi_s64
        ),
    };
    let rule = match (mad, half) {
        (false, Half::Lo) => Rule::Mul,
        (true, Half::Lo) => Rule::Mad,
        _ => Rule::None,
    };
    match f {
        Some(f) => b.row_op(&i.operands, f.with(exact(rule, ty)), ty, &[ty]),
        None => unsupported(i.mnemonic()),
    }
}

/// `mul24`, `mad24`
pub(super) fn product24(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (Some(half), Some(ty)) = (half(m), m.ty()) else {
        return invalid("needs .lo or .hi and a type");
    };
    let sat = m.take("sat");
    let f = match (i.opcode.as_str(), half, ty.is_signed(), sat) {
        ("mul24", Half::Lo, false, false) => rrr(int::mul24_lo_u32),
        ("mul24", Half::Lo, true, false) => {
            rrr(|a, b| int::mul24_lo_s32(a as i32, b as i32) as u32)
        }
        ("mul24", Half::Hi, false, false) => rrr(int::mul24_hi_u32),
        ("mul24", Half::Hi, true, false) => {
            rrr(|a, b| int::mul24_hi_s32(a as i32, b as i32) as u32)
        }
        ("mad24", Half::Lo, false, false) => rrrr(int::mad24_lo_u32),
        ("mad24", Half::Lo, true, false) => {
            rrrr(|a, b, c| int::mad24_lo_s32(a as i32, b as i32, c as i32) as u32)
        }
        ("mad24", Half::Hi, false, false) => rrrr(int::mad24_hi_u32),
        ("mad24", Half::Hi, true, false) => {
            rrrr(|a, b, c| int::mad24_hi_s32(a as i32, b as i32, c as i32) as u32)
        }
        ("mad24", Half::Hi, true, true) => {
            rrrr(|a, b, c| int::mad24_hi_sat_s32(a as i32, b as i32, c as i32) as u32)
        }
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

fn packed(b: &mut Builder, i: &Instruction, m: &mut Modifiers, ty: Ty) -> Decoded {
    let relu = m.take("relu");
    let signed = ty.kind == Kind::S16x2;
    let f: RowFn = match (i.opcode.as_str(), signed, relu) {
        ("add", false, false) => rrr(int::add_u16x2),
        ("add", true, false) => rrr(int::add_s16x2),
        ("min", false, false) => rrr(int::min_u16x2),
        ("min", true, false) => rrr(int::min_s16x2),
        ("max", false, false) => rrr(int::max_u16x2),
        ("max", true, false) => rrr(int::max_s16x2),
        ("min", true, true) => rrr(int::min_relu_s16x2),
        ("max", true, true) => rrr(int::max_relu_s16x2),
        _ => return unsupported(i.mnemonic()),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
fn carry_chain(
    b: &mut Builder,
    i: &Instruction,
    m: &mut Modifiers,
    ty: Ty,
    writes: bool,
) -> Decoded {
    m.take("cc");
    let opcode = i.opcode.as_str();
    let product = opcode.starts_with("mad");
    let hi = match (product, half(m)) {
        (true, Some(Half::Hi)) => true,
        (true, Some(Half::Lo)) | (false, None) => false,
        _ => return unsupported(i.mnemonic()),
    };
    let sources = if product { 3 } else { 2 };
    if i.operands.len() != sources + 1 {
        return invalid(format!("takes {} operands, {} are given", sources + 1, i.operands.len()));
    }
    let reads = match opcode {
        "add" | "mad" => CarryIn::Clear,
        "sub" => CarryIn::Set,
        _ => CarryIn::Flag,
    };
    let class = ty.class();
    let mut s = [0; 3];
    for (index, operand) in i.operands[1..].iter().enumerate() {
        s[index] = b.source(operand, class, ty)?;
    }
    let d = b.destination(&i.operands[0], class, ty)?;
    let flag = b.carry_flag();
    let subtract = opcode.starts_with("sub");
    let op = match class {
        Class::R if ty.bits == 32 => OpKind::Carry32 {
            f: match (product, hi, subtract, ty.is_signed()) {
                (true, false, ..) => carry::madc_lo_u32,
                (true, true, _, false) => carry::madc_hi_u32,
                (true, true, _, true) => carry::madc_hi_s32,
                (false, _, true, _) => |a, b, _, carry| carry::subc_u32(a, b, carry),
                (false, _, false, _) => |a, b, _, carry| carry::addc_u32(a, b, carry),
            },
            d: d.row,
            s,
            flag,
            reads,
            writes,
        },
        Class::D if ty.bits == 64 => OpKind::Carry64 {
            f: match (product, hi, subtract, ty.is_signed()) {
                (true, false, ..) => carry::madc_lo_u64,
                (true, true, _, false) => carry::madc_hi_u64,
                (true, true, _, true) => carry::madc_hi_s64,
                (false, _, true, _) => |a, b, _, carry| carry::subc_u64(a, b, carry),
                (false, _, false, _) => |a, b, _, carry| carry::addc_u64(a, b, carry),
            },
            d: d.row,
            s,
            flag,
            reads,
            writes,
        },
        _ => return unsupported(i.mnemonic()),
    };
    b.emit(op);
    b.finish(d);
    Ok(())
}
