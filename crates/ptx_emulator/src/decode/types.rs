//! Types and modifiers of an instruction while it is being decoded.

use crate::row::Class;

/// How the bits of an operand are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bits,
    Unsigned,
    Signed,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    U16x2,
    S16x2,
    Predicate,
}

/// A type named by a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ty {
    pub(crate) kind: Kind,
    pub(crate) bits: u32,
}

impl Ty {
    pub(crate) const B32: Ty = Ty { kind: Kind::Bits, bits: 32 };
    pub(crate) const B64: Ty = Ty { kind: Kind::Bits, bits: 64 };
    pub(crate) const B16: Ty = Ty { kind: Kind::Bits, bits: 16 };
    pub(crate) const F32: Ty = Ty { kind: Kind::F32, bits: 32 };

    pub(crate) fn from_modifier(modifier: &str) -> Option<Ty> {
        let (kind, bits) = match modifier {
            "b8" => (Kind::Bits, 8),
            "b16" => (Kind::Bits, 16),
            "b32" => (Kind::Bits, 32),
            "b64" => (Kind::Bits, 64),
            "b128" => (Kind::Bits, 128),
            "u8" => (Kind::Unsigned, 8),
            "u16" => (Kind::Unsigned, 16),
            "u32" => (Kind::Unsigned, 32),
            "u64" => (Kind::Unsigned, 64),
            "s8" => (Kind::Signed, 8),
            "s16" => (Kind::Signed, 16),
            "s32" => (Kind::Signed, 32),
            "s64" => (Kind::Signed, 64),
            "f16" => (Kind::F16, 16),
            "f16x2" => (Kind::F16x2, 32),
            "bf16" => (Kind::Bf16, 16),
            "bf16x2" => (Kind::Bf16x2, 32),
            "f32" => (Kind::F32, 32),
            "f64" => (Kind::F64, 64),
            "u16x2" => (Kind::U16x2, 32),
            "s16x2" => (Kind::S16x2, 32),
            "pred" => (Kind::Predicate, 1),
            _ => return None,
        };
        Some(Ty { kind, bits })
    }

    pub(crate) fn class(self) -> Class {
        match self.bits {
            1 => Class::Predicate,
            64.. => Class::D,
            _ => Class::R,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }

    pub(crate) fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }
}

/// The modifiers of one instruction. Each is taken once; what is left over was not understood.
pub(crate) struct Modifiers<'a> {
    list: Vec<Option<&'a str>>,
}

impl<'a> Modifiers<'a> {
    pub(crate) fn new(list: &'a [String]) -> Modifiers<'a> {
        Modifiers { list: list.iter().map(|m| Some(m.as_str())).collect() }
    }

    /// Takes a modifier if it is there.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        match self.list.iter_mut().find(|m| **m == Some(name)) {
            Some(found) => {
                *found = None;
                true
            }
            None => false,
        }
    }

    /// Takes the first modifier that `read` understands.
    pub(crate) fn find<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.list.iter_mut().find_map(|slot| {
            let value = read((*slot)?)?;
            *slot = None;
            Some(value)
        })
    }

    /// Takes the next type; call it as often as there are types.
    pub(crate) fn ty(&mut self) -> Option<Ty> {
        self.find(Ty::from_modifier)
    }

    /// Takes everything that `accept` accepts, for qualifiers without effect here.
    pub(crate) fn ignore(&mut self, accept: impl Fn(&str) -> bool) {
        for slot in &mut self.list {
            if slot.is_some_and(&accept) {
                *slot = None;
            }
        }
    }

    /// The next modifier, whatever it is.
    pub(crate) fn next(&mut self) -> Option<&'a str> {
        self.list.iter_mut().find_map(Option::take)
    }

    /// The first modifier that nothing took.
    pub(crate) fn leftover(&self) -> Option<&'a str> {
        self.list.iter().find_map(|m| *m)
    }
}
