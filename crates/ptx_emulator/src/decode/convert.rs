//! `cvt`, `cvta`, `isspacep`.

use ptx::ast::Instruction;

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::types::{Kind, Modifiers, Ty};
use crate::memory::window::{self, Window};
use crate::op::{OpKind, SpaceTest};
use crate::row::{Class, RowFn, Rule, dd, dr, rd, rr, rrr, rrrr};
use crate::semantics::Rounding;
use crate::semantics::cvt::{self, ConvertMode, Float8, FloatType, IntType};
use crate::semantics::half::Clamp;

/// A row function from a function of 64-bit values.
fn lifted(from: Class, to: Class, f: impl Fn(u64) -> u64 + Copy + Send + Sync + 'static) -> RowFn {
    match (from, to) {
        (Class::D, Class::D) => dd(f),
        (Class::D, _) => rd(move |a| f(a) as u32),
        (_, Class::D) => dr(move |a| f(u64::from(a))),
        _ => rr(move |a| f(u64::from(a)) as u32),
    }
}

/// `cvt`
pub(super) fn convert(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if m.take("pack") {
        return pack_integers(b, i, m);
    }
    let integral = i.modifiers.iter().any(|n| matches!(n.as_str(), "rni" | "rzi" | "rmi" | "rpi"));
    let rounding = m.find(Rounding::from_modifier);
    let (ftz, sat, relu) = (m.take("ftz"), m.take("sat"), m.take("relu"));
    let satfinite = m.take("satfinite");
    let (Some(to), Some(from)) = (m.next(), m.next()) else {
        return invalid("needs two types");
    };
    let clamp = if sat {
        Clamp::Saturate
    } else if relu {
        Clamp::Relu
    } else {
        Clamp::None
    };
    let mode =
        ConvertMode { rounding: rounding.unwrap_or_default(), integral, ftz, clamp, satfinite };
    if let Some(packed) = packed(b, i, to, from, mode, rounding, relu) {
        return packed;
    }
    let (Some(to_ty), Some(from_ty)) = (Ty::from_modifier(to), Ty::from_modifier(from)) else {
        return unsupported(i.mnemonic());
    };
    let (to_class, from_class) = (to_ty.class(), from_ty.class());
    let int = IntType::from_modifier;
    let float = FloatType::from_modifier;
    let f = match (int(to), int(from), float(to), float(from)) {
        (Some(to), Some(from), ..) => match (to, from) {
            (IntType::U64 | IntType::S64, IntType::U32) if !sat => {
                dr(u64::from).with(Rule::WidenUnsigned)
            }
            (IntType::U64 | IntType::S64, IntType::S32) if !sat => {
                dr(|a| a as i32 as i64 as u64).with(Rule::WidenSigned)
            }
            (IntType::U32 | IntType::S32, IntType::U64 | IntType::S64) if !sat => {
                rd(|a| a as u32).with(Rule::Truncate)
            }
            _ => lifted(from_class, to_class, move |a| cvt::int_to_int(a, from, to, sat)),
        },
        (None, Some(from), Some(to), _) => lifted(from_class, to_class, move |a| {
            cvt::int_to_float(a, from, to, mode.rounding, sat)
        }),
        (Some(to), None, _, Some(from)) => lifted(from_class, to_class, move |a| {
            cvt::float_to_int(a, from, to, mode.rounding, ftz)
        }),
        (None, None, Some(to), Some(from)) => match (to, from) {
            (FloatType::F64, FloatType::F32) if mode == ConvertMode::default() => {
                lifted(from_class, to_class, |a| {
                    cvt::float_to_float(a, FloatType::F32, FloatType::F64, ConvertMode::default())
                })
            }
            _ => lifted(from_class, to_class, move |a| cvt::float_to_float(a, from, to, mode)),
        },
        _ => return unsupported(i.mnemonic()),
    };
    // A result narrower than its register is extended by the function already: by sign for signed types.
    let result = match to_ty.kind {
        Kind::Signed if to_ty.bits < 32 => Ty { kind: Kind::Signed, bits: 32 },
        _ => to_ty,
    };
    b.row_op(&i.operands, f, result, &[from_ty])
}

/// Conversions to or from packed pairs and to `.tf32`; `None` when it is neither.
fn packed(
    b: &mut Builder,
    i: &Instruction,
    to: &str,
    from: &str,
    mode: ConvertMode,
    rounding: Option<Rounding>,
    relu: bool,
) -> Option<Decoded> {
    let f16x2 = Ty { kind: Kind::F16x2, bits: 32 };
    Some(match (to, from) {
        ("f16x2", "f32") => {
            let f = rrr(move |x, y| cvt::pack_halves(x, y, FloatType::F16, mode));
            b.row_op(&i.operands, f, Ty::B32, &[Ty::F32])
        }
        ("bf16x2", "f32") => {
            let f = rrr(move |x, y| cvt::pack_halves(x, y, FloatType::Bf16, mode));
            b.row_op(&i.operands, f, Ty::B32, &[Ty::F32])
        }
        ("tf32", "f32") => {
            let rounding = rounding.unwrap_or(Rounding::NearestAway);
            let f = rr(move |x| cvt::f32_to_tf32(x, rounding, relu, mode.satfinite));
            b.row_op(&i.operands, f, Ty::B32, &[Ty::F32])
        }
        (to, "f32") if Float8::from_modifier(to).is_some() => {
            let to = Float8::from_modifier(to)?;
            let f = rrr(move |x, y| u32::from(cvt::pack_float8_f32(x, y, to, relu)));
            b.row_op(&i.operands, f, Ty::B16, &[Ty::F32])
        }
        (to, "f16x2") if Float8::from_modifier(to).is_some() => {
            let to = Float8::from_modifier(to)?;
            let f = rr(move |x| u32::from(cvt::pack_float8_f16x2(x, to, relu)));
            b.row_op(&i.operands, f, Ty::B16, &[f16x2])
        }
        ("f16x2", from) if Float8::from_modifier(from).is_some() => {
            let from = Float8::from_modifier(from)?;
            let f = rr(move |x| cvt::unpack_float8_f16x2(x as u16, from, relu));
            b.row_op(&i.operands, f, Ty::B32, &[Ty::B16])
        }
        _ => return None,
    })
}

/// `cvt.pack.sat.*.s32{.b32}`
fn pack_integers(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    m.take("sat");
    let (Some(to), Some("s32")) = (m.next(), m.next()) else {
        return invalid("needs a packed type and .s32");
    };
    let (signed, bits) = match to {
        "u2" => (false, 2),
        "s2" => (true, 2),
        "u4" => (false, 4),
        "s4" => (true, 4),
        "u8" => (false, 8),
        "s8" => (true, 8),
        "u16" => (false, 16),
        "s16" => (true, 16),
        _ => return unsupported(i.mnemonic()),
    };
    let f = if m.take("b32") {
        rrrr(move |x, y, c| cvt::cvt_pack(x as i32, y as i32, c, bits, signed))
    } else {
        rrr(move |x, y| cvt::cvt_pack(x as i32, y as i32, 0, bits, signed))
    };
    b.row_op(&i.operands, f, Ty::B32, &[Ty::B32])
}

/// `cvta`, `cvta.to`
pub(super) fn address(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let to = m.take("to");
    let window = m.find(|space| match space {
        "global" | "const" => Some(Window::Global),
        "shared" | "shared::cta" | "shared::cluster" => Some(Window::Shared),
        "local" => Some(Window::Local),
        "param" | "param::entry" => Some(Window::Param),
        _ => None,
    });
    let Some(mut window) = window else {
        return invalid("needs a state space");
    };
    // Parameters of device functions live in local memory here.
    if window == Window::Param && !b.is_entry {
        window = Window::Local;
    }
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    if ty.bits != 64 {
        return unsupported(format!("{} (32-bit generic addresses)", i.mnemonic()));
    }
    let base = window::base(window);
    let f = match (base, to) {
        (0, _) => dd(|a| a),
        (_, true) => dd(move |a| a.wrapping_sub(base)),
        (_, false) => dd(move |a| a.wrapping_add(base)),
    };
    b.row_op(&i.operands, f, ty, &[ty])
}

/// `isspacep`
pub(super) fn is_space(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let window = m.find(|space| match space {
        "global" => Some(SpaceTest::Global),
        "const" => Some(SpaceTest::Constant),
        "shared" | "shared::cta" => Some(SpaceTest::Shared),
        "shared::cluster" => Some(SpaceTest::Cluster),
        "local" => Some(SpaceTest::Local),
        "param" | "param::entry" => Some(SpaceTest::Param),
        _ => None,
    });
    let (Some(window), [d, a]) = (window, i.operands.as_slice()) else {
        return invalid("needs a state space and two operands");
    };
    let address = b.source(a, Class::D, Ty::B64)?;
    let d = b.predicate_destination(d)?;
    b.emit(OpKind::IsSpace { d, address, window });
    Ok(())
}
