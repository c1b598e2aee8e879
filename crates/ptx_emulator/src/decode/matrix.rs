//! `ldmatrix`, `stmatrix`, `movmatrix`, `mma`.

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, Destination, Refusal, describe, invalid, unsupported};
use super::memory;
use super::types::{Modifiers, Ty};
use super::warp::warp_op;
use crate::matrix_op::{MatrixOp, Multiply, Numbers};
use crate::op::{OpKind, Space, WarpKind, WarpOp};
use crate::row::Class;
use crate::semantics::Rounding;
use crate::semantics::mma::layout::{Order, registers};
use crate::semantics::mma::{Accumulator, BitOperation, Integers, Multiplicand, Shape};

/// A warp operation of all lanes.
fn emit(b: &mut Builder, matrix: MatrixOp) {
    let members = b.constant_bits(Class::R, u64::from(u32::MAX));
    let kind = WarpKind::Matrix { at: b.place.span.start };
    let op = WarpOp { members, matrix: Some(Box::new(matrix)), ..warp_op(kind) };
    b.emit(OpKind::Warp(Box::new(op)));
}

/// A vector's elements; a single register stands for a vector of one.
fn fragment(operand: &Operand, count: usize) -> Result<Vec<&Operand>, Refusal> {
    let elements = match operand {
        Operand::Vector(elements) => elements.iter().collect(),
        single => vec![single],
    };
    if elements.len() != count {
        return invalid(format!(
            "the fragment {} has {} registers; this form needs {count}",
            describe(operand),
            elements.len()
        ));
    }
    Ok(elements)
}

fn sources(
    b: &mut Builder,
    operand: &Operand,
    count: usize,
    ty: Ty,
) -> Result<Box<[u32]>, Refusal> {
    fragment(operand, count)?.into_iter().map(|part| b.source(part, ty.class(), ty)).collect()
}

fn destinations(
    b: &mut Builder,
    operand: &Operand,
    count: usize,
    ty: Ty,
) -> Result<(Box<[u32]>, Vec<Destination>), Refusal> {
    let mut list = Vec::new();
    for part in fragment(operand, count)? {
        list.push(b.destination(part, ty.class(), ty)?);
    }
    Ok((list.iter().map(|destination| destination.row).collect(), list))
}

/// `ldmatrix`, `stmatrix`
pub(super) fn transfer(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let whole = m.take("sync") && m.take("aligned") && m.take("m8n8");
    let count = m.find(|name| match name {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    });
    let transpose = m.take("trans");
    let space = memory::space(m);
    // The forms of 8-bit elements exist on sm_100a and later only.
    let (true, Some(count), true) = (whole, count, m.take("b16")) else {
        return unsupported(i.mnemonic());
    };
    let [first, second] = i.operands.as_slice() else {
        return invalid("takes an address and a vector");
    };
    let load = i.opcode == "ldmatrix";
    let (place, vector) = if load { (second, first) } else { (first, second) };
    let (space, address) = memory::address(b, place, space)?;
    if !matches!(space, Space::Shared | Space::Generic) {
        return invalid("matrices are in shared memory");
    }
    if load {
        let (d, after) = destinations(b, vector, count, Ty::B32)?;
        emit(b, MatrixOp::Load { space, address, transpose, d });
        after.into_iter().for_each(|destination| b.finish(destination));
    } else {
        let a = sources(b, vector, count, Ty::B32)?;
        emit(b, MatrixOp::Store { space, address, transpose, a });
    }
    Ok(())
}

/// `movmatrix`
pub(super) fn transpose(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if !["sync", "aligned", "m8n8", "trans", "b16"].iter().all(|name| m.take(name)) {
        return unsupported(i.mnemonic());
    }
    let [d, a] = i.operands.as_slice() else {
        return invalid("takes 2 operands");
    };
    let a = b.source(a, Class::R, Ty::B32)?;
    let d = b.destination(d, Class::R, Ty::B32)?;
    emit(b, MatrixOp::Transpose { d: d.row, a });
    b.finish(d);
    Ok(())
}

/// `mma`
pub(super) fn multiply(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let aligned = m.take("sync") && m.take("aligned");
    let (true, Some(shape)) = (aligned, m.find(Shape::from_modifier)) else {
        // `.sp` and the block-scaled forms among others.
        return unsupported(i.mnemonic());
    };
    let order = |name: &str| match name {
        "row" => Some(Order::Row),
        "col" => Some(Order::Column),
        _ => None,
    };
    let (Some(left), Some(right)) = (m.find(order), m.find(order)) else {
        return invalid("needs the layouts of A and B, .row or .col");
    };
    let saturate = m.take("satfinite");
    let rounding = m.find(Rounding::from_modifier);
    let bits = match (m.take("and"), m.take("xor")) {
        (true, false) => Some(BitOperation::And),
        (false, true) => Some(BitOperation::Xor),
        _ => None,
    };
    if bits.is_some() {
        m.take("popc");
    }
    let types: Vec<&str> = std::iter::from_fn(|| m.next()).collect();
    let &[d_type, a_type, b_type, c_type] = types.as_slice() else {
        return unsupported(i.mnemonic());
    };
    let form = Form { shape, orders: [left, right], saturate, rounding, bits };
    let Some(numbers) = form.numbers([d_type, a_type, b_type, c_type]) else {
        return unsupported(i.mnemonic());
    };
    let [d, left, right, c] = i.operands.as_slice() else {
        return invalid("takes 4 operands");
    };
    let [per_ab, per_c] = numbers.per_register();
    let (wide, quad_pairs) =
        (matches!(numbers, Numbers::F64(_)), matches!(numbers, Numbers::QuadPairs { .. }));
    let ty = if wide { Ty::B64 } else { Ty::B32 };
    // Four multiplications at once take four times the registers.
    let matrices = if quad_pairs { 4 } else { 1 };
    let Shape { m: rows, n: columns, k } = shape;
    let per_d = match numbers {
        Numbers::QuadPairs { d, .. } => d.per_register(),
        _ => per_c,
    };
    let left = sources(b, left, registers(matrices * rows * k, per_ab), ty)?;
    let right = sources(b, right, registers(matrices * k * columns, per_ab), ty)?;
    let c = sources(b, c, registers(matrices * rows * columns, per_c), ty)?;
    let (d, after) = destinations(b, d, registers(matrices * rows * columns, per_d), ty)?;
    emit(b, MatrixOp::Multiply(Multiply { shape, numbers, a: left, b: right, c, d }));
    after.into_iter().for_each(|destination| b.finish(destination));
    Ok(())
}

/// The qualifiers of an `mma` besides its types.
struct Form {
    shape: Shape,
    orders: [Order; 2],
    saturate: bool,
    rounding: Option<Rounding>,
    bits: Option<BitOperation>,
}

impl Form {
    /// What is multiplied, if this is a form of sm_80 to sm_90 (PTX ISA, `mma`).
    fn numbers(&self, [d, a, b, c]: [&str; 4]) -> Option<Numbers> {
        let Shape { m, n, k } = self.shape;
        let accumulator = |name: &str| match name {
            "f16" => Some(Accumulator::F16),
            "f32" => Some(Accumulator::F32),
            _ => None,
        };
        if (m, n, k, a, b) == (8, 8, 4, "f16", "f16") {
            let (c, d) = (accumulator(c)?, accumulator(d)?);
            let known = (c, d) != (Accumulator::F32, Accumulator::F16);
            let plain = !self.saturate && self.rounding.is_none() && self.bits.is_none();
            return (known && plain).then_some(Numbers::QuadPairs { orders: self.orders, c, d });
        }
        if self.orders != [Order::Row, Order::Column] || c != d {
            return None;
        }
        let numbers = match (a, b, d) {
            ("f64", "f64", "f64") => Numbers::F64(self.rounding.unwrap_or_default()),
            ("b1", "b1", "s32") => Numbers::Bits(self.bits?),
            ("s8" | "u8", "s8" | "u8", "s32") | ("s4" | "u4", "s4" | "u4", "s32") => {
                Numbers::Integers(Integers {
                    bits: if a.ends_with('8') { 8 } else { 4 },
                    a_signed: a.starts_with('s'),
                    b_signed: b.starts_with('s'),
                    saturate: self.saturate,
                })
            }
            _ => {
                let multiplicands =
                    [Multiplicand::from_modifier(a)?, Multiplicand::from_modifier(b)?];
                let wide = matches!(multiplicands, [Multiplicand::Bf16 | Multiplicand::Tf32, _]);
                let accumulator = accumulator(d)?;
                let eighths = multiplicands.map(Multiplicand::bits) == [8, 8];
                let agree = multiplicands[0] == multiplicands[1] || eighths;
                if !agree || (wide && accumulator == Accumulator::F16) {
                    return None;
                }
                Numbers::Float { multiplicands, accumulator }
            }
        };
        let integer = matches!(numbers, Numbers::Integers(_));
        let double = matches!(numbers, Numbers::F64(_));
        if (self.saturate && !integer)
            || (self.rounding.is_some() && !double)
            || (self.bits.is_some() != matches!(numbers, Numbers::Bits(_)))
            || self.rounding == Some(Rounding::NearestAway)
        {
            return None;
        }
        let shapes: &[(usize, usize)] = match numbers {
            Numbers::F64(_) => &[(8, 4), (16, 4), (16, 8), (16, 16)],
            Numbers::Bits(_) => &[(8, 128), (16, 128), (16, 256)],
            Numbers::Integers(Integers { bits: 8, .. }) => &[(8, 16), (16, 16), (16, 32)],
            Numbers::Integers(_) => &[(8, 32), (16, 32), (16, 64)],
            Numbers::Float { multiplicands: [a, _], .. } => match a.bits() {
                32 => &[(16, 4), (16, 8)],
                16 => &[(16, 8), (16, 16)],
                _ => &[(16, 16), (16, 32)],
            },
            Numbers::QuadPairs { .. } => &[],
        };
        (n == 8 && shapes.contains(&(m, k))).then_some(numbers)
    }
}
