//! Moves marked statics into the GPU's address spaces.
//!
//! Rust can't say where on the GPU a `static` lives. `cuda_std`'s `#[address_space(…)]` therefore puts it into a link section
//! whose name says so, and this pass rewrites the module before it is optimised:
//!
//! | section | becomes | in PTX |
//! | --- | --- | --- |
//! | `.cuda.shared` | internal, `addrspace(3)`, uninitialised | `.shared` |
//! | `.cuda.shared.dynamic` | external `addrspace(3)` array of length zero, 16-byte aligned | `.extern .shared` |
//! | `.cuda.constant` | external, `addrspace(4)`, initial value kept, not folded: the host may write it before a launch | `.visible .const` |
//! | `.cuda.global` | external, `addrspace(1)`, initial value kept, not folded | `.visible .global` |
//!
//! Each use becomes `addrspacecast (ptr addrspace(n) @X to ptr)`, a constant that is valid wherever a value is. LLVM then infers
//! the space of every access that provably stays within it, so that shared memory is read by `ld.shared`. Left in the generic
//! space, every access would be a plain `ld`, and ptxas would keep it so.
//!
//! The numbers are LLVM's ("User Guide for NVPTX Back-end", Address Spaces): 1 global, 3 shared, 4 constant.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::AddressSpaceError;
use crate::ir::global::{self, GlobalVariable};
use crate::ir::token::{Kind, tokens};

/// All marker sections begin so; a section with this prefix that isn't one of them is an error, not plain memory.
const PREFIX: &str = ".cuda.";

/// Where a static goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Shared,
    DynamicShared,
    Constant,
    /// An immutable static that nobody marked, put into constant memory because the builder was asked to.
    ImplicitConstant,
    Global,
}

impl Space {
    fn from_section(section: &str) -> Option<Self> {
        match section {
            ".cuda.shared" => Some(Self::Shared),
            ".cuda.shared.dynamic" => Some(Self::DynamicShared),
            ".cuda.constant" => Some(Self::Constant),
            ".cuda.global" => Some(Self::Global),
            _ => None,
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Global => 1,
            Self::Shared | Self::DynamicShared => 3,
            Self::Constant | Self::ImplicitConstant => 4,
        }
    }

    /// Whether the address is known before a launch, so that another static may hold it.
    fn has_constant_address(self) -> bool {
        !matches!(self, Self::Shared | Self::DynamicShared)
    }
}

/// Rewrites the textual module `module`. With `immutable_statics_to_constant`, immutable statics that carry no marker go into
/// constant memory too.
///
/// # Errors
///
/// If a section begins with `.cuda.` but is unknown, a shared static has an initial value, or another static holds the address
/// of a shared one.
pub(crate) fn rewrite(
    module: &str,
    immutable_statics_to_constant: bool,
) -> Result<Cow<'_, str>, AddressSpaceError> {
    let mut spaces = HashMap::new();
    for global in module.lines().filter_map(global::parse) {
        if let Some(space) = classify(&global, immutable_statics_to_constant)? {
            spaces.insert(global.name, space);
        }
    }
    if spaces.is_empty() {
        return Ok(Cow::Borrowed(module));
    }
    let mut out = String::with_capacity(module.len() + module.len() / 8);
    for line in module.lines() {
        match global::parse(line) {
            Some(global) => match spaces.get(global.name) {
                Some(&space) => define(&global, space, &spaces, &mut out)?,
                None => {
                    check_no_shared_address(&global, &spaces)?;
                    cast_uses(line, global.name, &spaces, &mut out);
                }
            },
            None => cast_uses(line, "", &spaces, &mut out),
        }
        out.push('\n');
    }
    Ok(Cow::Owned(out))
}

/// Which space a global variable goes to; `None` if it stays where it is.
fn classify(
    global: &GlobalVariable<'_>,
    immutable_to_constant: bool,
) -> Result<Option<Space>, AddressSpaceError> {
    let section = global.section.unwrap_or_default();
    if !section.starts_with(PREFIX) {
        let implicit =
            immutable_to_constant && section.is_empty() && global.constant && global.is_local();
        return Ok(implicit.then_some(Space::ImplicitConstant));
    }
    let space = Space::from_section(section).ok_or_else(|| AddressSpaceError::UnknownSection {
        name: global.name.to_owned(),
        section: section.to_owned(),
    })?;
    if space == Space::Shared && !is_uninitialised(global) {
        return Err(AddressSpaceError::InitialisedShared { name: global.name.to_owned() });
    }
    Ok(Some(space))
}

/// Whether a static has no initial value: `MaybeUninit::uninit()` gives `undef`. A type of size zero has nothing to initialise.
fn is_uninitialised(global: &GlobalVariable<'_>) -> bool {
    let zero_sized = matches!(global.ty, "[0 x i8]" | "{}" | "<{}>" | "<{ [0 x i8] }>");
    zero_sized || matches!(global.initialiser, Some("undef" | "poison"))
}

/// Writes the definition of a static in its new space.
fn define(
    global: &GlobalVariable<'_>,
    space: Space,
    spaces: &HashMap<&str, Space>,
    out: &mut String,
) -> Result<(), AddressSpaceError> {
    let linkage = match space {
        Space::Shared => "internal ",
        Space::DynamicShared => "external ",
        Space::ImplicitConstant => "internal unnamed_addr ",
        Space::Constant | Space::Global => "",
    };
    let external = if matches!(space, Space::Constant | Space::Global) {
        "externally_initialized "
    } else {
        ""
    };
    // A constant may not be "constant" to LLVM if the program may write it; in global memory an immutable static stays one.
    let keyword = if global.constant { "constant" } else { "global" };
    out.push_str(&format!("{} = {linkage}addrspace({}) {external}", global.name, space.number()));
    match space {
        Space::Shared => out.push_str(&format!("global {} undef", global.ty)),
        Space::DynamicShared => out.push_str("global [0 x i8], align 16"),
        Space::Constant | Space::ImplicitConstant | Space::Global => {
            out.push_str(&format!("{keyword} {} ", global.ty));
            check_no_shared_address(global, spaces)?;
            cast_uses(global.initialiser.unwrap_or_default(), "", spaces, out);
        }
    }
    if space != Space::DynamicShared {
        for clause in &global.rest {
            out.push(',');
            out.push_str(clause);
        }
    }
    Ok(())
}

/// Shared memory has another address in every block, so no static can hold one.
fn check_no_shared_address(
    global: &GlobalVariable<'_>,
    spaces: &HashMap<&str, Space>,
) -> Result<(), AddressSpaceError> {
    // `llvm.used` and its like list names; they hold no addresses.
    if global.section == Some("llvm.metadata") {
        return Ok(());
    }
    let shared = tokens(global.initialiser.unwrap_or_default()).find(|token| {
        token.kind == Kind::Global
            && spaces.get(token.text).is_some_and(|space| !space.has_constant_address())
    });
    match shared {
        Some(token) => Err(AddressSpaceError::SharedAddressInStatic {
            shared: token.text.to_owned(),
            holder: global.name.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Copies `line` with each use of a moved static cast to the generic space. `defined` is the name the line defines.
fn cast_uses(line: &str, defined: &str, spaces: &HashMap<&str, Space>, out: &mut String) {
    if !line.contains('@') {
        out.push_str(line);
        return;
    }
    for token in tokens(line) {
        match spaces.get(token.text) {
            Some(space) if token.kind == Kind::Global && token.text != defined => {
                out.push_str(&format!(
                    "addrspacecast (ptr addrspace({}) {} to ptr)",
                    space.number(),
                    token.text
                ));
            }
            _ => out.push_str(token.text),
        }
    }
}

#[cfg(test)]
mod llvm_tests;
#[cfg(test)]
mod tests;
