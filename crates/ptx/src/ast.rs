//! The syntax tree of a PTX module.
//!
//! Instructions are kept in a generic form (opcode, modifiers, operands), so that a module with an
//! instruction this crate has never heard of still parses; what an instruction means is decided
//! when it is decoded for execution. Names keep their PTX spelling, `%` and `$` included.

use crate::span::Span;

/// One PTX module: everything in one `.ptx` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`.
    pub version: (u32, u32),
    /// `.target` operands: the architecture first (`sm_90`), then options such as `debug`.
    pub target: Vec<String>,
    /// `.address_size`, 64 unless stated otherwise.
    pub address_size: u32,
    /// Module-scope declarations in source order.
    pub items: Vec<Item>,
}

/// A module-scope declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `.global`, `.const`, `.shared`, … variable.
    Variable(Variable),
    /// `.entry` or `.func`, with or without a body.
    Function(Function),
    /// `.file index "name"[, timestamp, size]`.
    File(File),
    /// `.section name { … }`: debug data, kept as text.
    Section {
        /// Name, with its dot when it has one: `.debug_info`.
        name: String,
        /// Everything between the braces, as written.
        text: String,
        /// Where it stands.
        span: Span,
    },
    /// `.pragma "…";`.
    Pragma {
        /// What stands between the quotation marks, escapes resolved.
        text: String,
        /// Where it stands.
        span: Span,
    },
    /// `.alias name, target;`.
    Alias {
        /// The new name.
        name: String,
        /// The function it stands for.
        target: String,
        /// Where it stands.
        span: Span,
    },
    /// A `.loc` outside any function.
    Loc(Loc),
}

/// `.file`: a source file that `.loc` lines refer to by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path as the compiler wrote it.
    pub name: String,
    /// What followed the name: timestamp and file size, when present.
    pub timestamp_and_size: Option<(u64, u64)>,
    /// Where it stands.
    pub span: Span,
}

/// `.loc`: the source line of the instructions that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// Index of a `.file`.
    pub file: u32,
    /// Line, 1-based; 0 when the compiler had none.
    pub line: u32,
    /// Column, 1-based; 0 when the compiler had none.
    pub column: u32,
    /// Text after the three numbers on the line (`, function_name $L…, inlined_at …`).
    pub attributes: String,
    /// The trailing comment without `//`: `src/k.rs:9:5 @[ src/k.rs:4:2 ]`. LLVM writes the chain of
    /// inlined calls only there.
    pub comment: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// How a symbol is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Linkage {
    /// No directive: private to the module.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// State spaces (PTX ISA, State Spaces).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    /// `.reg`
    Reg,
    /// `.sreg`
    Sreg,
    /// `.const`
    Const,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.shared`
    Shared,
    /// `.tex`
    Tex,
}

/// Fundamental types as they appear in declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each variant is the PTX type of the same name
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
    Texref,
    Samplerref,
    Surfref,
}

/// A variable in any state space but `.reg`; also a parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Linkage; `Internal` for parameters.
    pub linkage: Linkage,
    /// State space.
    pub space: StateSpace,
    /// `.align` in bytes, when stated.
    pub align: Option<u32>,
    /// Element type.
    pub ty: Type,
    /// `.v2` or `.v4`: elements per vector, 1 otherwise.
    pub vector: u32,
    /// For kernel parameters that are pointers: `.ptr[.space][.align n]`.
    pub pointer: Option<PointerAttribute>,
    /// Further attributes, `.managed` inside `.attribute(…)` for instance.
    pub attributes: Vec<String>,
    /// Name; `_` for an unnamed parameter.
    pub name: String,
    /// Array dimensions in source order; `None` for `[]`. Empty for a scalar.
    pub dims: Vec<Option<u64>>,
    /// Initialiser, when present.
    pub init: Option<Initializer>,
    /// Where it stands.
    pub span: Span,
}

/// `.ptr` attribute of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// The space it points into, generic when absent.
    pub space: Option<StateSpace>,
    /// Alignment of what it points at, bytes.
    pub align: Option<u32>,
}

/// A variable's initial value.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// `{ … }`, possibly nested and shorter than the array: the rest is zero.
    List(Vec<Initializer>),
    /// A number.
    Immediate(Immediate),
    /// A symbol's address plus bytes: `x`, `x+4`; `generic` for `generic(x)`.
    Address {
        /// Name of the variable or function.
        symbol: String,
        /// Bytes added to its address.
        offset: i64,
        /// The generic address rather than the offset in the symbol's own space.
        generic: bool,
    },
    /// `mask(symbol)`: one byte of an address, `0xFF00(x)`.
    Masked {
        /// The bits that are kept: eight consecutive ones, shifted by whole bytes.
        mask: u64,
        /// The address they are taken from.
        inner: Box<Initializer>,
    },
    /// `{ addr_mode_0 = wrap, … }`: the properties of a sampler, texture or surface reference.
    Fields(Vec<(String, String)>),
}

/// `.entry` (a kernel) or `.func` (a device function).
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Linkage.
    pub linkage: Linkage,
    /// True for `.entry`.
    pub is_entry: bool,
    /// Name as written.
    pub name: String,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn`.
    pub noreturn: bool,
    /// Performance directives such as `.maxntid 256, 1, 1`.
    pub directives: Vec<FunctionDirective>,
    /// Body; `None` for a declaration.
    pub body: Option<Vec<Statement>>,
    /// The header, from linkage to the closing parenthesis.
    pub span: Span,
}

/// A directive between a function's header and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDirective {
    /// Name with its dot: `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, `.pragma`, ….
    pub name: String,
    /// Numeric arguments.
    pub values: Vec<u64>,
    /// String arguments (`.pragma`).
    pub strings: Vec<String>,
}

/// One statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name:`
    Label {
        /// Name, without the colon.
        name: String,
        /// Where it stands.
        span: Span,
    },
    /// `.reg .b32 %r<10>;` or `.reg .b32 a, b;`
    Register(RegisterDeclaration),
    /// `.shared`, `.local`, `.param`, … variable inside the body.
    Variable(Variable),
    /// An instruction.
    Instruction(Instruction),
    /// `.loc`
    Loc(Loc),
    /// `{ … }`: a scope of its own for names.
    Block(Vec<Statement>),
    /// `name: .callprototype (ret) _ (params);`
    CallPrototype {
        /// The label that `call` names.
        name: String,
        /// Return parameters.
        returns: Vec<Variable>,
        /// Parameters.
        params: Vec<Variable>,
        /// `.noreturn`.
        noreturn: bool,
        /// Where it stands.
        span: Span,
    },
    /// `name: .branchtargets a, b;`
    BranchTargets {
        /// The label that `brx.idx` names.
        name: String,
        /// Where index 0, 1, … leads.
        labels: Vec<String>,
        /// Where it stands.
        span: Span,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        /// The label that `call` names.
        name: String,
        /// Functions that the call may reach.
        functions: Vec<String>,
        /// Where it stands.
        span: Span,
    },
    /// `.pragma "…";`
    Pragma {
        /// What stands between the quotation marks, escapes resolved.
        text: String,
        /// Where it stands.
        span: Span,
    },
}

/// Declaration of registers.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterDeclaration {
    /// Type of each.
    pub ty: Type,
    /// `.v2`, `.v4`: elements per register, 1 otherwise.
    pub vector: u32,
    /// `(name, None)` for one register; `(prefix, Some(n))` for `prefix<n>`: prefix0 … prefix(n-1).
    pub names: Vec<(String, Option<u32>)>,
    /// Where it stands.
    pub span: Span,
}

/// `@p opcode.modifiers operands;`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// First part of the mnemonic: `ld`, `setp`, `bra`.
    pub opcode: String,
    /// The rest, without dots, in source order: `["global", "v4", "b32"]`, `["shared::cta", …]`.
    pub modifiers: Vec<String>,
    /// Operands in source order, destination first. For `call`, see [`Operand::List`].
    pub operands: Vec<Operand>,
    /// From guard to semicolon.
    pub span: Span,
}

impl Instruction {
    /// The whole mnemonic: `ld.global.v4.b32`.
    pub fn mnemonic(&self) -> String {
        let mut text = self.opcode.clone();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

/// Predicate guard of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// `@!p`.
    pub negated: bool,
    /// Register name.
    pub register: String,
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, variable, function, label or special register (`%r1`, `%tid.x`, `x`, `$L__BB0_2`); `_` too.
    Name(String),
    /// `!p`
    Not(String),
    /// A number.
    Immediate(Immediate),
    /// `name+4`, outside brackets (`mov.u64 %rd, x+4`).
    NameOffset(String, i64),
    /// `[base+offset]`; what an instruction's tensor or cache operands add stands in `rest` as
    /// `[base, {a, b}]`.
    Address {
        /// Register, variable or nothing.
        base: AddressBase,
        /// Bytes added to it.
        offset: i64,
        /// What follows the first comma inside the brackets.
        rest: Vec<Operand>,
    },
    /// `{a, b, _}`
    Vector(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `(a, b)`: the return and argument lists of `call`.
    List(Vec<Operand>),
}

/// What an address is relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register or variable.
    Name(String),
    /// An absolute address: `[16]`; the number is the operand's offset.
    Absolute,
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Immediate {
    /// A decimal, hexadecimal, octal or binary integer, two's complement, sign included.
    Integer(i128),
    /// `0fXXXXXXXX`: the bits of an f32.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX`, or a decimal float such as `1.5`: the bits of an f64.
    F64(u64),
}
