//! Special registers (PTX ISA, Special Registers) and components of vectors.

use crate::ast::Type;

/// A predefined, read-only register as an operand names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialRegister {
    /// Name without component or number: `%tid`, `%envreg`.
    pub base: &'static str,
    /// Type of a component, or of the whole if it is no vector.
    pub ty: Type,
    /// What follows the base.
    pub part: Part,
}

/// Which part of a special register an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `%laneid`: a register that is one value.
    Whole,
    /// `%tid`: all four components, the fourth being zero.
    Vector,
    /// `%tid.y`: 0 for `.x` to 3 for `.w`.
    Component(u32),
    /// `%envreg5`: one of a numbered family.
    Number(u32),
}

/// `.v4 .u32` registers with components `.x` to `.w`.
const VECTORS: &[&str] = &[
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
];

const SCALARS: &[(&str, Type)] = &[
    ("%laneid", Type::U32),
    ("%warpid", Type::U32),
    ("%nwarpid", Type::U32),
    ("%smid", Type::U32),
    ("%nsmid", Type::U32),
    ("%gridid", Type::U64),
    ("%is_explicit_cluster", Type::Pred),
    ("%cluster_ctarank", Type::U32),
    ("%cluster_nctarank", Type::U32),
    ("%lanemask_eq", Type::U32),
    ("%lanemask_le", Type::U32),
    ("%lanemask_lt", Type::U32),
    ("%lanemask_ge", Type::U32),
    ("%lanemask_gt", Type::U32),
    ("%clock", Type::U32),
    ("%clock_hi", Type::U32),
    ("%clock64", Type::U64),
    ("%globaltimer", Type::U64),
    ("%globaltimer_lo", Type::U32),
    ("%globaltimer_hi", Type::U32),
    ("%reserved_smem_offset_begin", Type::B32),
    ("%reserved_smem_offset_end", Type::B32),
    ("%reserved_smem_offset_cap", Type::B32),
    ("%total_smem_size", Type::U32),
    ("%aggr_smem_size", Type::U32),
    ("%dynamic_smem_size", Type::U32),
    ("%current_graph_exec", Type::U64),
];

/// Numbered families: prefix, suffix, how many, type.
const FAMILIES: &[(&str, &str, u32, Type)] = &[
    ("%envreg", "", 32, Type::B32),
    ("%pm", "", 8, Type::U32),
    ("%pm", "_64", 8, Type::U64),
    ("%reserved_smem_offset_", "", 2, Type::B32),
];

/// The special register that a name stands for, if it stands for one.
///
/// ```
/// use ptx::isa::{Part, special_register};
///
/// let register = special_register("%tid.y").expect("predefined");
/// assert_eq!((register.base, register.part), ("%tid", Part::Component(1)));
/// assert_eq!(special_register("%r1"), None);
/// ```
pub fn special_register(name: &str) -> Option<SpecialRegister> {
    if !name.starts_with('%') {
        return None;
    }
    if let Some((base, ty)) = SCALARS.iter().find(|(base, _)| *base == name) {
        return Some(SpecialRegister { base, ty: *ty, part: Part::Whole });
    }
    let (base, component) = match name.split_once('.') {
        Some((base, component)) => (base, Some(component_index(component)?)),
        None => (name, None),
    };
    if let Some(base) = VECTORS.iter().find(|vector| **vector == base) {
        let part = component.map_or(Part::Vector, Part::Component);
        return Some(SpecialRegister { base, ty: Type::U32, part });
    }
    FAMILIES.iter().find_map(|(prefix, suffix, count, ty)| {
        let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let number: u32 = digits.parse().ok()?;
        // `%envreg05` and `%envreg+5` are not names of the family.
        let canonical = number < *count && number.to_string() == digits;
        canonical.then_some(SpecialRegister { base: prefix, ty: *ty, part: Part::Number(number) })
    })
}

/// The index of a vector component: `x` or `r` is 0, `w` or `a` is 3 (PTX ISA, Vectors as Operands).
pub fn component_index(component: &str) -> Option<u32> {
    match component {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind_are_found() {
        for (name, ty, part) in [
            ("%tid", Type::U32, Part::Vector),
            ("%nctaid.z", Type::U32, Part::Component(2)),
            ("%cluster_ctaid.x", Type::U32, Part::Component(0)),
            ("%laneid", Type::U32, Part::Whole),
            ("%clock64", Type::U64, Part::Whole),
            ("%is_explicit_cluster", Type::Pred, Part::Whole),
            ("%envreg0", Type::B32, Part::Number(0)),
            ("%envreg31", Type::B32, Part::Number(31)),
            ("%pm7", Type::U32, Part::Number(7)),
            ("%pm3_64", Type::U64, Part::Number(3)),
            ("%reserved_smem_offset_1", Type::B32, Part::Number(1)),
        ] {
            let found = special_register(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((found.ty, found.part), (ty, part), "{name}");
        }
    }

    #[test]
    fn near_misses_are_not() {
        for name in [
            "tid",
            "%tid.q",
            "%laneid.x",
            "%envreg32",
            "%envreg05",
            "%envreg",
            "%envreg+5",
            "%pm8",
            "%r1",
            "%",
            "",
        ] {
            assert_eq!(special_register(name), None, "{name}");
        }
    }
}
