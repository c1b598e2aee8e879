//! Names and sizes of types, state spaces and linkage, as PTX spells them.

use crate::ast::{Initializer, Linkage, StateSpace, Type, Variable};

/// The longest list first that a new type has to be added to: spelling, type, bytes in memory.
const TYPES: &[(&str, Type, Option<u32>)] = &[
    (".b8", Type::B8, Some(1)),
    (".b16", Type::B16, Some(2)),
    (".b32", Type::B32, Some(4)),
    (".b64", Type::B64, Some(8)),
    (".b128", Type::B128, Some(16)),
    (".u8", Type::U8, Some(1)),
    (".u16", Type::U16, Some(2)),
    (".u32", Type::U32, Some(4)),
    (".u64", Type::U64, Some(8)),
    (".s8", Type::S8, Some(1)),
    (".s16", Type::S16, Some(2)),
    (".s32", Type::S32, Some(4)),
    (".s64", Type::S64, Some(8)),
    (".f16", Type::F16, Some(2)),
    (".f16x2", Type::F16x2, Some(4)),
    (".bf16", Type::Bf16, Some(2)),
    (".bf16x2", Type::Bf16x2, Some(4)),
    (".f32", Type::F32, Some(4)),
    (".f64", Type::F64, Some(8)),
    (".pred", Type::Pred, None),
    // Opaque references are 64-bit handles wherever they are stored.
    (".texref", Type::Texref, Some(8)),
    (".samplerref", Type::Samplerref, Some(8)),
    (".surfref", Type::Surfref, Some(8)),
];

impl Type {
    /// The type that a directive names, `.b32` for instance; `None` if it names none.
    pub fn from_directive(directive: &str) -> Option<Self> {
        TYPES.iter().find(|(name, ..)| *name == directive).map(|(_, ty, _)| *ty)
    }

    /// The spelling with its dot: `.b32`.
    pub fn directive(self) -> &'static str {
        // Every variant is in the table, as the test below checks.
        TYPES.iter().find(|(_, ty, _)| *ty == self).map_or("", |(name, ..)| name)
    }

    /// Size of one element in memory, in bytes. `None` for a predicate, which has no memory form.
    pub fn bytes(self) -> Option<u32> {
        TYPES.iter().find(|(_, ty, _)| *ty == self).and_then(|(.., bytes)| *bytes)
    }

    /// Whether this is a texture, sampler or surface reference.
    pub fn is_opaque(self) -> bool {
        matches!(self, Type::Texref | Type::Samplerref | Type::Surfref)
    }
}

impl Variable {
    /// Size in bytes. An open first dimension has the length of the initialiser, or 0 without one.
    /// `None` when the size does not fit in 64 bits, which cannot be in a validated module.
    pub fn bytes(&self) -> Option<u64> {
        u64::try_from(self.saturating_bytes()).ok()
    }

    /// Size in bytes, saturating: for messages and limits. A predicate counts 0.
    pub(crate) fn saturating_bytes(&self) -> u128 {
        let element = u128::from(self.ty.bytes().unwrap_or(0)) * u128::from(self.vector);
        let (length, inner) = match self.dims.split_first() {
            Some((None, inner)) => (u128::from(self.open_length()), inner),
            _ => (1, self.dims.as_slice()),
        };
        let lengths = inner.iter().map(|length| u128::from(length.unwrap_or(0)));
        // A zero length makes the product zero wherever it stands.
        if length == 0 || lengths.clone().any(|length| length == 0) {
            return 0;
        }
        lengths.fold(element.saturating_mul(length), u128::saturating_mul)
    }

    /// Length that the initialiser gives to an open first dimension. A list without inner braces may
    /// run over several dimensions, as in C.
    fn open_length(&self) -> u64 {
        let Some(Initializer::List(values)) = &self.init else { return 0 };
        let count = values.len() as u64;
        if values.iter().any(|value| matches!(value, Initializer::List(_))) {
            return count;
        }
        let inner = self.dims.iter().skip(1).map(|length| length.unwrap_or(1));
        let inner = inner.fold(u64::from(self.vector), u64::saturating_mul);
        count.div_ceil(inner.max(1))
    }

    /// Alignment in bytes: as stated, or that of the type. A vector is aligned to its whole size (PTX
    /// ISA, Alignment).
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.ty.bytes().unwrap_or(1) * self.vector)
    }
}

const SPACES: &[(&str, StateSpace)] = &[
    (".reg", StateSpace::Reg),
    (".sreg", StateSpace::Sreg),
    (".const", StateSpace::Const),
    (".global", StateSpace::Global),
    (".local", StateSpace::Local),
    (".param", StateSpace::Param),
    (".shared", StateSpace::Shared),
    (".tex", StateSpace::Tex),
];

impl StateSpace {
    /// The state space that a directive names, `.global` for instance; `None` if it names none.
    pub fn from_directive(directive: &str) -> Option<Self> {
        SPACES.iter().find(|(name, _)| *name == directive).map(|(_, space)| *space)
    }

    /// The spelling with its dot: `.global`.
    pub fn directive(self) -> &'static str {
        SPACES.iter().find(|(_, space)| *space == self).map_or("", |(name, _)| name)
    }
}

const LINKAGES: &[(&str, Linkage)] = &[
    (".visible", Linkage::Visible),
    (".extern", Linkage::Extern),
    (".weak", Linkage::Weak),
    (".common", Linkage::Common),
];

impl Linkage {
    /// The linkage that a directive names, `.visible` for instance; `None` if it names none.
    pub fn from_directive(directive: &str) -> Option<Self> {
        LINKAGES.iter().find(|(name, _)| *name == directive).map(|(_, linkage)| *linkage)
    }

    /// The spelling with its dot; empty for [`Linkage::Internal`], which is the absence of one.
    pub fn directive(self) -> &'static str {
        LINKAGES.iter().find(|(_, linkage)| *linkage == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_values_are_inverse() {
        for (name, ty, _) in TYPES {
            assert_eq!(Type::from_directive(name), Some(*ty));
            assert_eq!(ty.directive(), *name);
        }
        for (name, space) in SPACES {
            assert_eq!(StateSpace::from_directive(name), Some(*space));
            assert_eq!(space.directive(), *name);
        }
        for (name, linkage) in LINKAGES {
            assert_eq!(Linkage::from_directive(name), Some(*linkage));
            assert_eq!(linkage.directive(), *name);
        }
        assert_eq!(Linkage::Internal.directive(), "");
        assert_eq!(Type::from_directive("b32"), None);
    }

    #[test]
    fn sizes_match_the_bits_in_the_name() {
        for (name, ty, bytes) in TYPES {
            let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).collect();
            let mut numbers = digits.split('x').map(|part| part.parse::<u32>().unwrap_or(0));
            match (numbers.next(), numbers.next()) {
                (Some(0) | None, _) => assert!(ty.is_opaque() || *ty == Type::Pred, "{name}"),
                (Some(bits), None) => assert_eq!(*bytes, Some(bits / 8), "{name}"),
                (Some(bits), Some(count)) => assert_eq!(*bytes, Some(bits * count / 8), "{name}"),
            }
        }
    }
}
