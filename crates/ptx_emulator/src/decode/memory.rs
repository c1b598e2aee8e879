//! `ld`, `st`, `ldu`, prefetches and other hints, `alloca`.

use ptx::ast::{AddressBase, Instruction, Operand};

use super::builder::{Builder, Decoded, Refusal, describe, invalid, unsupported};
use super::types::{Modifiers, Ty};
use crate::op::{
    Address, AddressRow, Element, MemoryOp, NONE, OpKind, Order, Scope, Semantics, Space,
};
use crate::program::Value;
use crate::row::Class;

/// Qualifiers that change nothing when accesses happen one at a time: memory order, scope, cache hints.
pub(super) fn is_hint(modifier: &str) -> bool {
    matches!(
        modifier,
        "weak"
            | "volatile"
            | "relaxed"
            | "acquire"
            | "release"
            | "acq_rel"
            | "sc"
            | "mmio"
            | "cta"
            | "cluster"
            | "gpu"
            | "sys"
            | "gl"
            | "nc"
            | "ca"
            | "cg"
            | "cs"
            | "lu"
            | "cv"
            | "wb"
            | "wt"
            | "unified"
    ) || modifier.starts_with("L1::")
        || modifier.starts_with("L2::")
}

/// Memory order and scope among the qualifiers; `otherwise` without any. Takes nothing: what has no meaning for the
/// machine is ignored later.
pub(super) fn order(i: &Instruction, otherwise: Semantics) -> Order {
    let has = |name: &str| i.modifiers.iter().any(|modifier| modifier.as_str() == name);
    let semantics = if has("volatile") {
        Semantics::Volatile
    } else if has("relaxed") || has("mmio") {
        Semantics::Relaxed
    } else if has("acq_rel") || has("sc") {
        Semantics::AcquireRelease
    } else if has("acquire") {
        Semantics::Acquire
    } else if has("release") {
        Semantics::Release
    } else {
        otherwise
    };
    // Without a scope: system for `.volatile` and `.mmio`, GPU for atomics (PTX ISA, `ld`, `atom`).
    let scope = if has("cta") {
        Scope::Block
    } else if has("cluster") {
        Scope::Cluster
    } else if has("sys") || has("volatile") || has("mmio") {
        Scope::System
    } else {
        Scope::Gpu
    };
    Order { semantics, scope, non_coherent: has("nc") }
}

/// Takes the state space; generic without one.
pub(super) fn space(m: &mut Modifiers) -> Space {
    m.find(|name| {
        Some(match name {
            "global" => Space::Global,
            "const" => Space::Constant,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::Cluster,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            _ => return None,
        })
    })
    .unwrap_or(Space::Generic)
}

/// An address operand: the space it is in after names were looked up, and the address.
pub(super) fn address(
    b: &mut Builder,
    operand: &Operand,
    space: Space,
) -> Result<(Space, Address), Refusal> {
    let Operand::Address { base, offset, .. } = operand else {
        return invalid(format!("{} is not an address; write it in brackets", describe(operand)));
    };
    let offset = *offset as u64;
    // Parameters of device functions live in local memory here.
    let register_space = if space == Space::Param && !b.is_entry { Space::Local } else { space };
    let name = match base {
        AddressBase::Absolute => {
            return Ok((register_space, Address { base: AddressRow::Zero, offset }));
        }
        AddressBase::Name(name) => name,
    };
    if let Some(register) = b.register(name) {
        let base = match register.class {
            Class::R => AddressRow::Narrow(register.row),
            Class::D => AddressRow::Wide(register.row),
            Class::Predicate => return invalid(format!("predicate `{name}` is no address")),
        };
        return Ok((register_space, Address { base, offset }));
    }
    if let Some(slot) = b.slot(name) {
        return match space {
            Space::Param | Space::Local => {
                let offset = u64::from(slot.offset).wrapping_add(offset);
                Ok((Space::Frame, Address { base: AddressRow::Zero, offset }))
            }
            _ => unsupported(format!("`{name}` outside its state space")),
        };
    }
    if let Some(at) = b.kernel_param(name) {
        let offset = u64::from(at).wrapping_add(offset);
        return match space {
            Space::Param => Ok((Space::Param, Address { base: AddressRow::Zero, offset })),
            _ => unsupported(format!("parameter `{name}` outside its state space")),
        };
    }
    let value = b.address_value(name, 0)?;
    let Value::Variable { index, .. } = value else {
        return invalid(format!("`{name}` is not a variable"));
    };
    let shared = b.symbols.is_shared(index);
    let shared_space = matches!(space, Space::Shared | Space::Cluster);
    if shared != shared_space && !(shared && space == Space::Generic) {
        return invalid(format!("`{name}` is not in the state space of the access"));
    }
    // A variable's name in a generic access stands for its address in its own space.
    let space = if shared { Space::Shared } else { space };
    let row = b.constant(Class::D, value);
    Ok((space, Address { base: AddressRow::Wide(row), offset }))
}

/// `.v2`, `.v4`, `.v8`
fn vector(m: &mut Modifiers) -> usize {
    m.find(|name| match name {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    })
    .unwrap_or(1)
}

fn elements(operand: &Operand, count: usize) -> Result<Vec<&Operand>, Refusal> {
    match operand {
        Operand::Vector(parts) if parts.len() == count => Ok(parts.iter().collect()),
        Operand::Vector(parts) => {
            invalid(format!("the vector has {} elements, the access {count}", parts.len()))
        }
        other if count == 1 => Ok(vec![other]),
        other => invalid(format!("{} is not a vector", describe(other))),
    }
}

/// The type of an access.
fn in_memory(m: &mut Modifiers) -> Result<Ty, Refusal> {
    match m.ty() {
        Some(ty) if ty.bits >= 8 => Ok(ty),
        Some(_) => invalid("predicates cannot be in memory"),
        None => invalid("needs a type"),
    }
}

/// `ld`, `ldu`
pub(super) fn load(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let order = order(i, Semantics::Weak);
    let strong = ["volatile", "relaxed", "acquire", "mmio"].iter().any(|name| m.take(name));
    m.ignore(is_hint);
    let space = space(m);
    let count = vector(m);
    let ty = in_memory(m)?;
    // A cache policy may follow.
    let [target, source, ..] = i.operands.as_slice() else {
        return invalid("takes a destination and an address");
    };
    let (space, place) = address(b, source, space)?;
    let mut list = Vec::new();
    for operand in elements(target, count)? {
        list.push(loaded(b, operand, ty)?);
    }
    let bytes = ty.bits / 8 * count as u32;
    let elements = list.into_boxed_slice();
    let op = MemoryOp { space, address: place, elements, bytes, strong, order };
    b.emit(OpKind::Load(Box::new(op)));
    Ok(())
}

/// The register an element is loaded into.
fn loaded(b: &mut Builder, operand: &Operand, ty: Ty) -> Result<(u32, Element), Refusal> {
    let bytes = (ty.bits / 8) as u8;
    let sign = ty.is_signed();
    let Operand::Name(name) = operand else {
        return invalid(format!("{} cannot be written", describe(operand)));
    };
    let shape = |class: Class, bits: u32| match class {
        _ if ty.bits == 128 => Element::Pair,
        Class::D => Element::Wide { bytes, sign },
        _ => Element::Narrow { bytes, sign, register: bits as u8 },
    };
    if name == "_" {
        return Ok((NONE, shape(ty.class(), ty.bits.min(64))));
    }
    match b.register(name) {
        Some(register) if register.class == Class::Predicate || register.bits < ty.bits => {
            invalid(format!("register `{name}` cannot hold {} bits", ty.bits))
        }
        Some(register) if ty.bits == 128 || register.bits < 128 => {
            Ok((register.row, shape(register.class, register.bits)))
        }
        Some(_) => unsupported("loads of less than 128 bits into a 128-bit register"),
        None => invalid(format!("`{name}` is not a register")),
    }
}

/// `st`
pub(super) fn store(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if m.take("async") || m.take("bulk") {
        return unsupported(i.mnemonic());
    }
    m.ignore(is_hint);
    let space = space(m);
    let count = vector(m);
    let ty = in_memory(m)?;
    let [target, source, ..] = i.operands.as_slice() else {
        return invalid("takes an address and a value");
    };
    let (space, place) = address(b, target, space)?;
    if space == Space::Constant {
        return invalid("constant memory cannot be written");
    }
    let bytes = (ty.bits / 8) as u8;
    let mut list = Vec::new();
    for operand in elements(source, count)? {
        if ty.bits == 128 {
            list.push((super::moves::pair(b, operand)?, Element::Pair));
            continue;
        }
        let wide = match operand {
            Operand::Name(name) => {
                b.register(name).map_or(ty.class(), |register| register.class) == Class::D
            }
            _ => ty.class() == Class::D,
        };
        list.push(if wide {
            (b.source(operand, Class::D, ty)?, Element::Wide { bytes, sign: false })
        } else if ty.class() == Class::D {
            // A 64-bit store of a narrower register is not PTX.
            return invalid("the register is narrower than the access");
        } else {
            let element = Element::Narrow { bytes, sign: false, register: 32 };
            (b.source(operand, Class::R, ty)?, element)
        });
    }
    let bytes = ty.bits / 8 * count as u32;
    let elements = list.into_boxed_slice();
    let order = order(i, Semantics::Weak);
    let op = MemoryOp { space, address: place, elements, bytes, strong: false, order };
    b.emit(OpKind::Store(Box::new(op)));
    Ok(())
}

/// `prefetch`, `prefetchu`, `applypriority`, `discard`: hints to a cache there is none of here.
pub(super) fn hint(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let space = space(m);
    m.ignore(|name| {
        is_hint(name) || matches!(name, "L1" | "L2" | "evict_last" | "evict_normal" | "tensormap")
    });
    let Some(operand) = i.operands.first() else {
        return invalid("takes an address");
    };
    let (space, place) = address(b, operand, space)?;
    // The hardware ignores prefetches of unmapped addresses; discard and priorities name data that must exist.
    let bytes = if i.opcode.starts_with("prefetch") { 0 } else { 1 };
    b.emit(OpKind::Touch(Box::new(MemoryOp {
        space,
        address: place,
        elements: Box::new([]),
        bytes,
        strong: false,
        order: Order::WEAK,
    })));
    Ok(())
}

/// `alloca`
pub(super) fn alloca(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    let (Some(target), Some(size)) = (i.operands.first(), i.operands.get(1)) else {
        return invalid("takes a destination and a size");
    };
    let align = match i.operands.get(2) {
        None => 8,
        Some(Operand::Immediate(ptx::ast::Immediate::Integer(align)))
            if (1..=4096).contains(align) && (*align as u32).is_power_of_two() =>
        {
            *align as u32
        }
        Some(_) => return invalid("the alignment must be a power of two"),
    };
    let class = ty.class();
    let size = b.source(size, class, ty)?;
    let d = b.destination(target, class, ty)?;
    let wide = class == Class::D;
    b.emit(OpKind::Alloca { d: d.row, wide, size, size_wide: wide, align });
    b.finish(d);
    Ok(())
}

/// `stacksave`, `stackrestore`
pub(super) fn stack(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (Some(ty), [operand]) = (m.ty(), i.operands.as_slice()) else {
        return invalid("takes a type and one operand");
    };
    let wide = ty.class() == Class::D;
    if i.opcode == "stacksave" {
        let d = b.destination(operand, ty.class(), ty)?;
        b.emit(OpKind::StackSave { d: d.row, wide });
        b.finish(d);
    } else {
        let a = b.source(operand, ty.class(), ty)?;
        b.emit(OpKind::StackRestore { a, wide });
    }
    Ok(())
}
