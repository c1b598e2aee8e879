//! From syntax tree to operations: names are resolved, types and qualifiers chosen, operands numbered.

mod async_copy;
mod atomic;
mod bits;
mod builder;
mod cluster;
mod compare;
mod control;
mod convert;
mod float;
mod function;
mod instruction;
mod integer;
mod kernel;
mod lines;
mod matrix;
mod mbarrier;
mod memory;
mod moves;
mod special;
mod stack;
mod symbols;
mod types;
mod variables;
mod warp;

use std::sync::Arc;

use ptx::SourceMap;
use ptx::ast::{self, Item, Linkage, Module, StateSpace};

use self::kernel::Reach;
use self::lines::Lines;
use self::symbols::{Symbol, Symbols};
use crate::error::{CompileError, CompileErrorKind, DecodeError};
use crate::program::Program;

/// Parses, validates and decodes.
pub(crate) fn compile(source: &str) -> Result<Program, CompileError> {
    let module = ptx::parse(source).map_err(|error| from_ptx(CompileErrorKind::Syntax, &error))?;
    ptx::validate(&module, source).map_err(|error| {
        let kind = match error.kind() {
            ptx::ErrorKind::AddressSize(_) => CompileErrorKind::Unsupported,
            _ => CompileErrorKind::Invalid,
        };
        from_ptx(kind, &error)
    })?;
    decode(&module, source).map_err(|error| {
        let map = SourceMap::new(source);
        let at = map.position(error.span.start);
        let text =
            format!("{}:{}: {}\n{}", at.line, at.column, error.message, map.excerpt(error.span));
        CompileError::new(error.kind, text)
    })
}

fn from_ptx(kind: CompileErrorKind, error: &ptx::Error) -> CompileError {
    CompileError::new(kind, error)
}

fn decode(module: &Module, source: &str) -> Result<Program, DecodeError> {
    let mut symbols = Symbols::default();
    let bodies = declare(module, &mut symbols)?;
    let mut lines = Lines::new(module);
    let mut program = Program {
        source: Arc::from(source),
        version: module.version,
        target: module.target.first().cloned().unwrap_or_default(),
        kernels: Vec::new(),
        functions: Vec::new(),
        variables: Vec::new(),
        ops: Vec::new(),
        places: Vec::new(),
        classes: Vec::new(),
        lines: Vec::new(),
        unresolved: Vec::new(),
        panic_begin: None,
        effects: std::sync::OnceLock::new(),
    };
    for function in &bodies {
        let decoded = function::decode(function, &mut symbols, &mut lines, &mut program)?;
        program.functions.push(decoded);
    }
    program.variables = symbols.variables;
    program.unresolved = symbols.unresolved;
    program.panic_begin = crate::machine::panic_begin(&program);
    program.lines = lines.finish();
    let mut reach = Reach::new(&program);
    let entries = bodies.iter().zip(0..).filter(|(function, _)| function.is_entry);
    let kernels =
        entries.map(|(function, index)| kernel::info(function, index, &program, &mut reach));
    program.kernels = kernels.collect::<Result<_, DecodeError>>()?;
    Ok(program)
}

/// Declares all names at module scope; the functions with bodies, in the order of their numbers.
fn declare<'a>(
    module: &'a Module,
    symbols: &mut Symbols,
) -> Result<Vec<&'a ast::Function>, DecodeError> {
    let mut bodies = Vec::new();
    let mut externals = Vec::new();
    let mut declared = Vec::new();
    let mut defined = Vec::new();
    for item in &module.items {
        match item {
            Item::Function(function) => {
                if function.noreturn {
                    symbols.noreturn.insert(function.name.clone());
                }
                if function.body.is_some() {
                    symbols.declare(&function.name, Symbol::Function(bodies.len() as u32));
                    bodies.push(function);
                } else {
                    externals.push(function);
                }
            }
            Item::Variable(variable) => {
                let dynamic = variable.space == StateSpace::Shared
                    && variable.dims.iter().any(Option::is_none);
                if variable.linkage == Linkage::Extern && !dynamic {
                    declared.push(variable);
                } else {
                    let index = symbols.add_variable(variables::make(variable)?);
                    symbols.declare(&variable.name, Symbol::Variable(index));
                    defined.push((variable, index));
                }
            }
            _ => {}
        }
    }
    for variable in declared {
        if symbols.lookup(&variable.name).is_none() {
            return Err(DecodeError {
                kind: CompileErrorKind::UnresolvedSymbol,
                message: format!("`{}` is declared .extern, and defined nowhere", variable.name),
                span: variable.span,
            });
        }
    }
    for function in externals {
        if symbols.lookup(&function.name).is_none() {
            match symbols::intrinsic(&function.name) {
                Some(intrinsic) => symbols.declare(&function.name, Symbol::Intrinsic(intrinsic)),
                None => {
                    symbols.add_unresolved(&function.name);
                }
            }
        }
    }
    for item in &module.items {
        if let Item::Alias { name, target, span } = item {
            let Some(symbol) = symbols.lookup(target) else {
                return Err(DecodeError {
                    kind: CompileErrorKind::UnresolvedSymbol,
                    message: format!("`{target}`, which `{name}` stands for, is not defined"),
                    span: *span,
                });
            };
            symbols.declare(name, symbol);
            if symbols.noreturn.contains(target) {
                symbols.noreturn.insert(name.clone());
            }
        }
    }
    // Initial values refer to names that may be declared later.
    for (variable, index) in defined {
        variables::initialise(variable, index, symbols)?;
    }
    Ok(bodies)
}
