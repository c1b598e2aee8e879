//! What can be checked of a module without executing it: names, declarations, sizes, the shape of
//! branches and calls.
//!
//! Instructions are held against the table of forms, [`crate::isa::table`]: modifiers that exist but do not go
//! together are an error. An instruction or modifier that the table does not know is none until it is
//! reached, and which operands an instruction takes is not checked here.

mod body;
mod declarations;
mod initializers;

use crate::ast::{Function, Item, Module, StateSpace, Type, Variable};
use crate::error::{Error, ErrorKind};
use crate::isa::NEWEST;
use crate::lexer::is_word;
use crate::scope::Scopes;
use crate::source_map::SourceMap;
use crate::span::Span;

/// Checks a parsed module; `source` is the text it was parsed from, for the errors.
///
/// After it every name that an operand, initialiser or branch uses is declared and of the right kind,
/// every branch has a target, every call as many arguments as its callee has parameters, and every
/// size is finite: [`crate::cfg::Cfg::of_function`] then fails for no function but one with an absurd
/// number of branches.
///
/// ```
/// let source = ".version 8.8\n.target sm_90\n.visible .entry k() {\n  bra DONE;\n}\n";
/// let error = ptx::validate(&ptx::parse(source)?, source).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "4:7: `DONE` is not declared: expected a label\n  |\n4 |   bra DONE;\n  |       ^^^^"
/// );
/// # Ok::<(), ptx::Error>(())
/// ```
///
/// # Errors
/// The first rule that the module breaks, in source order within each of these steps: header,
/// declarations at module scope, bodies.
pub fn validate(module: &Module, source: &str) -> Result<(), Error> {
    let newer_than_table = module.version > NEWEST;
    let mut checker = Checker { source, scopes: Scopes::new(), newer_than_table };
    if module.target.is_empty() {
        return Err(checker.fail(ErrorKind::MissingDirective(".target"), Span::default()));
    }
    if module.address_size != 64 {
        let span = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
        let span = checker.word_in(span, ".address_size");
        return Err(checker.fail(ErrorKind::AddressSize(module.address_size), span));
    }
    for item in &module.items {
        checker.declare_item(item)?;
    }
    for item in &module.items {
        checker.item(item)?;
    }
    Ok(())
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Symbol<'a> {
    Register { ty: Type, vector: u32 },
    Variable(&'a Variable),
    Function(&'a Function),
    Alias(&'a str),
    Label,
    BranchTargets,
    CallTargets,
    CallPrototype { returns: usize, params: usize },
}

impl Symbol<'_> {
    fn describe(&self) -> &'static str {
        match self {
            Symbol::Register { ty: Type::Pred, .. } => "a predicate register",
            Symbol::Register { .. } => "a register",
            Symbol::Variable(Variable { space: StateSpace::Param, .. }) => "a parameter",
            Symbol::Variable(_) => "a variable",
            Symbol::Function(Function { is_entry: true, .. }) => "a kernel",
            Symbol::Function(_) => "a function",
            Symbol::Alias(_) => "an alias",
            Symbol::Label => "a label",
            Symbol::BranchTargets => "a list of branch targets",
            Symbol::CallTargets => "a list of call targets",
            Symbol::CallPrototype { .. } => "a call prototype",
        }
    }
}

struct Checker<'a, 's> {
    source: &'s str,
    scopes: Scopes<'a, Symbol<'a>>,
    /// The module's PTX version is newer than the table of instruction forms.
    newer_than_table: bool,
}

impl<'a> Checker<'a, '_> {
    fn fail(&self, kind: ErrorKind, span: Span) -> Error {
        Error::new(kind, span, self.source)
    }

    /// Where a name stands within a span: the tree keeps no place for each name.
    fn word_in(&self, span: Span, name: &str) -> Span {
        let map = SourceMap::new(self.source);
        let text = map.text(span);
        let bytes = text.as_bytes();
        let whole = |start: usize| {
            let before =
                start.checked_sub(1).is_none_or(|at| !is_word(bytes[at]) && bytes[at] != b'%');
            before && bytes.get(start + name.len()).is_none_or(|byte| !is_word(*byte))
        };
        let found = text.match_indices(name).find(|(start, _)| !name.is_empty() && whole(*start));
        match found.and_then(|(start, _)| u32::try_from(start).ok()) {
            Some(start) => {
                let start = span.start.saturating_add(start);
                Span::new(start, start.saturating_add(u32::try_from(name.len()).unwrap_or(0)))
            }
            None => span,
        }
    }

    /// An error about a name that stands somewhere in a span.
    fn fail_at(&self, kind: ErrorKind, span: Span, name: &str) -> Error {
        self.fail(kind, self.word_in(span, name))
    }

    fn unknown(&self, name: &str, expected: &'static str, span: Span) -> Error {
        self.fail_at(ErrorKind::UnknownName { name: name.to_owned(), expected }, span, name)
    }

    fn wrong_kind(
        &self,
        name: &str,
        found: &'static str,
        expected: &'static str,
        span: Span,
    ) -> Error {
        self.fail_at(ErrorKind::WrongKind { name: name.to_owned(), found, expected }, span, name)
    }

    fn bad(&self, name: &str, problem: &'static str, span: Span) -> Error {
        self.fail_at(ErrorKind::BadDeclaration { name: name.to_owned(), problem }, span, name)
    }

    fn declare(&mut self, name: &'a str, symbol: Symbol<'a>, span: Span) -> Result<(), Error> {
        let result = self.scopes.declare(name, symbol);
        result.map_err(|first| self.duplicate(name, first, symbol, span))
    }

    fn duplicate(&self, name: &str, first: Symbol<'_>, second: Symbol<'_>, span: Span) -> Error {
        let (first, second) = (first.describe(), second.describe());
        self.fail_at(ErrorKind::DuplicateName { name: name.to_owned(), first, second }, span, name)
    }

    /// Makes a name of module scope known. Functions and variables may be used before they stand.
    fn declare_item(&mut self, item: &'a Item) -> Result<(), Error> {
        match item {
            Item::Variable(variable) => self.declare_variable(variable),
            Item::Function(function) => self.declare_function(function),
            Item::Alias { name, target, span } => self.declare_alias(name, target, *span),
            Item::File(_) | Item::Section { .. } | Item::Pragma { .. } | Item::Loc(_) => Ok(()),
        }
    }

    /// Checks an item once all names of module scope are known.
    fn item(&mut self, item: &'a Item) -> Result<(), Error> {
        match item {
            Item::Variable(variable) => {
                self.variable(variable)?;
                self.initializer_of(variable)
            }
            Item::Function(function) => {
                self.function(function)?;
                self.body_of(function)
            }
            Item::Alias { name, target, span } => self.alias(name, target, *span),
            Item::File(_) | Item::Section { .. } | Item::Pragma { .. } | Item::Loc(_) => Ok(()),
        }
    }
}
