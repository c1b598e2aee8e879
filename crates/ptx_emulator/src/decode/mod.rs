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
mod lines;
mod matrix;
mod mbarrier;
mod memory;
mod moves;
mod special;
mod symbols;
mod types;
mod variables;
mod warp;

use std::collections::HashSet;
use std::sync::Arc;

use ptx::SourceMap;
use ptx::ast::{self, Item, Linkage, Module, StateSpace};

use self::lines::Lines;
use self::symbols::{Symbol, Symbols};
use crate::error::{CompileError, CompileErrorKind, DecodeError};
use crate::program::{Function, KernelInfo, Program, Value, VariableSpace};
use crate::row::Class;

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
        effects: std::sync::OnceLock::new(),
    };
    for function in &bodies {
        let decoded = function::decode(function, &mut symbols, &mut lines, &mut program)?;
        program.functions.push(decoded);
    }
    program.variables = symbols.variables;
    program.unresolved = symbols.unresolved;
    program.lines = lines.finish();
    for (index, function) in bodies.iter().enumerate() {
        if function.is_entry {
            let kernel = kernel(function, index as u32, &program)?;
            program.kernels.push(kernel);
        }
    }
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

fn kernel(
    function: &ast::Function,
    index: u32,
    program: &Program,
) -> Result<KernelInfo, DecodeError> {
    let decoded = &program.functions[index as usize];
    let (params, param_bytes) = function::kernel_params(function)?;
    let reachable = reachable(index, program);
    let mut used: Vec<u32> = reachable
        .iter()
        .flat_map(|index| &program.functions[*index as usize].shared_used)
        .copied()
        .collect();
    used.sort_unstable();
    used.dedup();
    let mut layout = Vec::new();
    let mut end = 0u64;
    let mut dynamic_align = 16;
    for index in used {
        let variable = &program.variables[index as usize];
        let align = u64::from(variable.align);
        if variable.space == VariableSpace::DynamicShared {
            dynamic_align = align.max(dynamic_align);
            continue;
        }
        let offset = end.next_multiple_of(align);
        end = offset.saturating_add(variable.bytes);
        if end > u64::from(u32::MAX / 2) {
            return Err(DecodeError {
                kind: CompileErrorKind::Invalid,
                message: format!(
                    "kernel `{}` declares {end} bytes of shared memory",
                    function.name
                ),
                span: function.span,
            });
        }
        layout.push((index, offset as u32));
    }
    let directive = |name: &str| {
        let found = function.directives.iter().find(|found| found.name == name)?;
        let axis =
            |at: usize| found.values.get(at).map_or(1, |v| u32::try_from(*v).unwrap_or(u32::MAX));
        Some([axis(0), axis(1), axis(2)])
    };
    Ok(KernelInfo {
        name: function.name.clone(),
        params,
        param_bytes,
        static_shared_bytes: end as u32,
        local_bytes: function::local_bytes(function),
        // PTX ISA, .maxnreg: what does not fit is spilled.
        registers: directive(".maxnreg")
            .map_or(registers(decoded), |[limit, ..]| registers(decoded).min(limit)),
        max_threads: directive(".maxntid"),
        required_threads: directive(".reqntid"),
        function: index,
        shared_layout: layout,
        dynamic_shared_offset: end.next_multiple_of(dynamic_align) as u32,
        reachable,
    })
}

/// 32-bit registers of a function: its rows, without those that hold constants.
fn registers(function: &Function) -> u32 {
    let constants = |class: Class| {
        function.constants.iter().filter(|(found, ..)| *found == class).count() as u32
    };
    let narrow = function.rows32.saturating_sub(constants(Class::R));
    let wide = function.rows64.saturating_sub(constants(Class::D));
    narrow.saturating_add(wide.saturating_mul(2)).min(255)
}

/// The functions that `start` can reach, itself first. A call by address may reach any function whose
/// address is taken somewhere.
fn reachable(start: u32, program: &Program) -> Vec<u32> {
    let mut taken: Vec<u32> = program
        .functions
        .iter()
        .flat_map(|function: &Function| &function.takes_address_of)
        .copied()
        .collect();
    taken.extend(program.variables.iter().flat_map(|variable| &variable.relocations).filter_map(
        |relocation| match relocation.value {
            Value::Function(index) => Some(index),
            _ => None,
        },
    ));
    let mut order = vec![start];
    let mut seen = HashSet::from([start]);
    let mut next = 0;
    while let Some(index) = order.get(next).copied() {
        next += 1;
        let function = &program.functions[index as usize];
        let by_address: &[u32] = if function.calls_by_address { &taken } else { &[] };
        for callee in function.callees.iter().chain(by_address) {
            if seen.insert(*callee) {
                order.push(*callee);
            }
        }
    }
    order
}
