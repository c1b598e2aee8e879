//! Every message of this crate.
//!
//! A message is lower case, says what was expected and what was found, and names the limit with its
//! unit where there is one.

use std::fmt;

use crate::source_map::SourceMap;
use crate::span::Span;

/// Why a text is not a valid PTX module, and where.
///
/// `Display` gives the place, the message and the source line:
///
/// ```
/// let error = ptx::parse(".version 8.8\n.target sm_90\n.global .u33 x;").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "3:9: expected a type such as `.b32`, found `.u33`\n  |\n3 | .global .u33 x;\n  |         ^^^^"
/// );
/// assert_eq!((error.line(), error.column()), (3, 9));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    span: Span,
    line: u32,
    column: u32,
    excerpt: String,
}

impl Error {
    /// An error at a span of a text.
    pub(crate) fn new(kind: ErrorKind, span: Span, source: &str) -> Self {
        // Built only here, so that a text without errors never pays for the index.
        let map = SourceMap::new(source);
        let place = map.position(span.start);
        Self(Box::new(Inner {
            kind,
            span,
            line: place.line,
            column: place.column,
            excerpt: map.excerpt(span),
        }))
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where, as byte offsets.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Line, 1-based.
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// Column in characters, 1-based.
    pub fn column(&self) -> u32 {
        self.0.column
    }

    /// The source line with carets under the culprit; see [`SourceMap::excerpt`].
    pub fn excerpt(&self) -> &str {
        &self.0.excerpt
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, line, column, excerpt, .. } = &*self.0;
        write!(f, "{line}:{column}: {kind}\n{excerpt}")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("line", &self.0.line)
            .field("column", &self.0.column)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The kind's wording is already part of ours.
        None
    }
}

/// Why a body has no control-flow graph. Bodies of validated modules have one, unless they go beyond
/// the limit on branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfgError {
    kind: ErrorKind,
    span: Span,
}

impl CfgError {
    pub(crate) fn new(kind: ErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The instruction, as byte offsets.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The same with line, column and excerpt of the module's text.
    pub fn locate(self, source: &str) -> Error {
        Error::new(self.kind, self.span, source)
    }
}

impl fmt::Display for CfgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for CfgError {}

/// A name for a message. Mangled names run to some hundred characters, hostile ones to megabytes.
fn short(name: &str) -> String {
    const SHOWN: usize = 200;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// What is wrong with a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A character that no token begins with.
    #[error("unexpected character {0:?}")]
    UnexpectedCharacter(char),
    /// `/*` without `*/`.
    #[error("this comment is never closed: expected `*/`")]
    UnclosedComment,
    /// `"` without its partner on the same line.
    #[error("this string is not closed on its line: expected `\"`")]
    UnclosedString,
    /// `{` without `}`.
    #[error("this `{{` is never closed: expected `}}`")]
    UnclosedBrace,
    /// A literal that follows none of the forms of PTX.
    #[error("malformed number `{text}`: {problem}")]
    MalformedNumber {
        /// As written.
        text: String,
        /// What its form asks for.
        problem: &'static str,
    },
    /// A number outside what its place can hold.
    #[error("`{text}` is out of range: {what} is from 0 to {limit}")]
    NumberOutOfRange {
        /// As written.
        text: String,
        /// What the number stands for.
        what: &'static str,
        /// Largest value.
        limit: u64,
    },
    /// A constant expression that has no value.
    #[error("this constant expression has no value: {0}")]
    BadExpression(&'static str),
    /// The text is longer than [`crate::limits::MAX_SOURCE_BYTES`].
    #[error("the module is {bytes} bytes long, the limit is {limit} bytes")]
    SourceTooLong {
        /// Length in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// More tokens than [`crate::limits::MAX_TOKENS`].
    #[error("the module has more than {limit} tokens, which is the limit")]
    TooManyTokens {
        /// Limit in tokens.
        limit: u32,
    },
    /// Deeper nesting than [`crate::limits::MAX_NESTING`].
    #[error("nested more than {limit} levels deep, which is the limit")]
    NestingTooDeep {
        /// Limit in levels.
        limit: usize,
    },
    /// The grammar asks for something else here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the grammar allows.
        expected: &'static str,
        /// What stands there, quoted, or `the end of the module`.
        found: String,
    },
    /// A directive where none of its kind may stand.
    #[error("`{}` cannot stand {place}", short(.directive))]
    MisplacedDirective {
        /// The directive, with its dot.
        directive: String,
        /// Where it was found.
        place: &'static str,
    },
    /// `.version`, `.address_size` or `.target` given twice, with different values.
    #[error("`{}` was already given as `{first}`", short(.directive))]
    ContradictingDirective {
        /// The directive, with its dot.
        directive: &'static str,
        /// Its first value.
        first: String,
    },

    /// A name declared twice in one scope.
    #[error("`{}` is declared twice in this scope: first as {first}, again as {second}", short(.name))]
    DuplicateName {
        /// The name.
        name: String,
        /// What it was.
        first: &'static str,
        /// What it is declared as here.
        second: &'static str,
    },
    /// A name that nothing in reach declares.
    #[error("`{}` is not declared: expected {expected}", short(.name))]
    UnknownName {
        /// The name.
        name: String,
        /// What may stand here.
        expected: &'static str,
    },
    /// A name that stands for something else.
    #[error("`{}` is {found}, expected {expected}", short(.name))]
    WrongKind {
        /// The name.
        name: String,
        /// What it is.
        found: &'static str,
        /// What may stand here.
        expected: &'static str,
    },
    /// A call with another number of arguments than the function has parameters.
    #[error("wrong number of {what} for `{}`: expected {expected}, found {found}", short(.function))]
    CallArity {
        /// The function or prototype.
        function: String,
        /// How many it declares.
        expected: usize,
        /// How many the call gives.
        found: usize,
        /// `arguments` or `return values`.
        what: &'static str,
    },
    /// A declaration and a definition that disagree.
    #[error("`{}` does not match its earlier declaration: {what}", short(.name))]
    DeclarationMismatch {
        /// The function.
        name: String,
        /// What differs.
        what: &'static str,
    },
    /// Something that a declaration may not say.
    #[error("`{}`: {problem}", short(.name))]
    BadDeclaration {
        /// What is declared.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A directive of a function with values that it cannot have.
    #[error("`{}` of `{}`: {problem}", short(.directive), short(.function))]
    BadDirective {
        /// The directive, with its dot.
        directive: String,
        /// The function it belongs to.
        function: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Something larger than its limit.
    #[error("`{}` is too large: {what} {actual} {unit}, the limit is {limit} {unit}", short(.name))]
    TooLarge {
        /// What is declared.
        name: String,
        /// What it does that is counted: `it takes`.
        what: &'static str,
        /// What is counted: `bytes`.
        unit: &'static str,
        /// How much.
        actual: u128,
        /// The limit, same unit.
        limit: u64,
    },
    /// An instruction whose operands do not have the one shape it can have.
    #[error("`{}`: {problem}", short(.mnemonic))]
    BadOperands {
        /// The mnemonic.
        mnemonic: String,
        /// What is wrong with them.
        problem: &'static str,
    },
    /// Modifiers that exist, in a combination that does not.
    #[error("`{}` is no instruction: these modifiers do not go together; a form that exists is `{nearest}`", short(.mnemonic))]
    NoSuchForm {
        /// The mnemonic.
        mnemonic: String,
        /// A form of the same opcode, in the notation of [`Form`](crate::isa::Form).
        nearest: &'static str,
    },
    /// More edges in a control-flow graph than any real function has.
    #[error("the function has more than {limit} branches, which is the limit")]
    TooManyBranches {
        /// Limit in edges.
        limit: usize,
    },
    /// A module directive that is missing.
    #[error("the module has no `{0}` directive")]
    MissingDirective(&'static str),
    /// A module for another pointer size.
    #[error("`.address_size {0}` is not supported, 64 is")]
    AddressSize(u32),
}
