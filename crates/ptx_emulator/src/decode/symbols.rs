//! What names at module scope mean.

use std::collections::HashMap;

use crate::op::Intrinsic;
use crate::program::{ModuleVariable, VariableSpace};

/// A name at module scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Variable(u32),
    /// A function with a body.
    Function(u32),
    Intrinsic(Intrinsic),
    /// A function without a body anywhere.
    Unresolved(u32),
}

/// All names of a module.
#[derive(Default)]
pub(super) struct Symbols {
    names: HashMap<String, Symbol>,
    pub(super) variables: Vec<ModuleVariable>,
    pub(super) unresolved: Vec<String>,
    /// Names of functions that never return.
    pub(super) noreturn: std::collections::HashSet<String>,
}

impl Symbols {
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).copied()
    }

    pub(super) fn declare(&mut self, name: &str, symbol: Symbol) {
        self.names.insert(name.to_owned(), symbol);
    }

    /// Adds a variable; its name is not declared, it may belong to one function only.
    pub(super) fn add_variable(&mut self, variable: ModuleVariable) -> u32 {
        self.variables.push(variable);
        self.variables.len() as u32 - 1
    }

    pub(super) fn is_shared(&self, variable: u32) -> bool {
        self.variables.get(variable as usize).is_some_and(|found| {
            matches!(found.space, VariableSpace::Shared | VariableSpace::DynamicShared)
        })
    }

    pub(super) fn add_unresolved(&mut self, name: &str) -> u32 {
        let index = self.unresolved.len() as u32;
        self.names.insert(name.to_owned(), Symbol::Unresolved(index));
        self.unresolved.push(name.to_owned());
        index
    }
}

/// The function that the machine provides under this name.
pub(super) fn intrinsic(name: &str) -> Option<Intrinsic> {
    Some(match name {
        "vprintf" => Intrinsic::Printf,
        "__assertfail" => Intrinsic::AssertFail,
        "malloc" => Intrinsic::Malloc,
        "free" => Intrinsic::Free,
        _ => return None,
    })
}
