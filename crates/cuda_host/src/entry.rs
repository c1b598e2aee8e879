//! What PTX text declares: its kernels and the size of their parameters.

use cuda_std::launch::Packed;
use ptx::ast::{Item, Type, Variable};

/// A kernel as the PTX declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Size of each parameter in bytes.
    params: Vec<u64>,
}

/// The kernels of a module; none if this text cannot be read, since the driver may know newer PTX than `ptx` does.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let Ok(module) = ptx::parse(text) else {
        return Vec::new();
    };
    let functions = module.items.into_iter().filter_map(|item| match item {
        Item::Function(function) if function.is_entry => Some(function),
        _ => None,
    });
    functions
        .map(|function| Entry {
            name: function.name,
            params: function.params.iter().map(bytes).collect(),
        })
        .collect()
}

impl Entry {
    /// How the packed parameters differ from the declared ones, if they do.
    pub(crate) fn difference(&self, packed: &[Packed]) -> Option<String> {
        if self.params.len() != packed.len() {
            return Some(format!(
                "the PTX takes {} parameters (a slice counts as two), the signature has {}",
                self.params.len(),
                packed.len()
            ));
        }
        let sizes = self.params.iter().zip(packed).enumerate();
        sizes.into_iter().find(|(_, (size, packed))| **size != packed.bytes as u64).map(
            |(index, (size, packed))| {
                format!(
                    "parameter {index} of the PTX has {size} bytes, of the signature {}",
                    packed.bytes
                )
            },
        )
    }
}

/// Size of a parameter in bytes.
fn bytes(param: &Variable) -> u64 {
    let elements = param.dims.iter().fold(1_u64, |all, dim| all.saturating_mul(dim.unwrap_or(0)));
    element_bytes(param.ty).saturating_mul(param.vector.into()).saturating_mul(elements)
}

/// PTX ISA, Fundamental Types; texture, sampler and surface references are 64-bit handles.
fn element_bytes(ty: Type) -> u64 {
    match ty {
        Type::B8 | Type::U8 | Type::S8 | Type::Pred => 1,
        Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
        Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 => 4,
        Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
        Type::B128 => 16,
        Type::Texref | Type::Samplerref | Type::Surfref => 8,
    }
}
