//! Module-scope variables and their initial values.

use ptx::ast::{Initializer, StateSpace, Variable};

use super::builder::immediate_bits;
use super::symbols::{Symbol, Symbols};
use super::types::Ty;
use crate::error::{CompileErrorKind, DecodeError};
use crate::program::{ModuleVariable, Relocation, Value, VariableSpace};

/// Largest variable; far more than any device has.
const MAX_BYTES: u64 = 1 << 40;

fn error<T>(
    kind: CompileErrorKind,
    variable: &Variable,
    message: String,
) -> Result<T, DecodeError> {
    Err(DecodeError { kind, message, span: variable.span })
}

/// Bytes of one element, vectors included.
pub(super) fn element_bytes(variable: &Variable) -> u32 {
    // Predicates have no memory form; the validator refuses them here.
    variable.ty.bytes().unwrap_or(1) * variable.vector.max(1)
}

/// Bytes of the whole variable.
pub(super) fn total_bytes(variable: &Variable) -> Result<u64, DecodeError> {
    let mut bytes = u64::from(element_bytes(variable));
    for dim in &variable.dims {
        bytes = bytes
            .checked_mul(dim.unwrap_or(0))
            .filter(|bytes| *bytes <= MAX_BYTES)
            .ok_or_else(|| DecodeError {
                kind: CompileErrorKind::Invalid,
                message: format!("`{}` is larger than {MAX_BYTES} bytes", variable.name),
                span: variable.span,
            })?;
    }
    Ok(bytes)
}

/// Alignment in bytes: what is declared, at least the element's own.
pub(super) fn alignment(variable: &Variable) -> u32 {
    let natural = element_bytes(variable).checked_next_power_of_two().unwrap_or(16).min(16);
    variable.align.unwrap_or(natural).clamp(1, 4096).next_power_of_two()
}

/// A variable without its initial value, which [`initialise`] reads once all names are known.
pub(super) fn make(variable: &Variable) -> Result<ModuleVariable, DecodeError> {
    let space = match variable.space {
        StateSpace::Global => VariableSpace::Global,
        StateSpace::Const => VariableSpace::Constant,
        StateSpace::Shared if variable.dims.iter().any(Option::is_none) => {
            VariableSpace::DynamicShared
        }
        StateSpace::Shared => VariableSpace::Shared,
        other => {
            let message =
                format!("`{}`: {} variables are not supported", variable.name, other.directive());
            return error(CompileErrorKind::Unsupported, variable, message);
        }
    };
    let bytes = match (&variable.init, variable.dims.first()) {
        // `x[] = {…}`: as many elements as the list has.
        (Some(Initializer::List(list)), Some(None)) => {
            let rest: Vec<Option<u64>> = variable.dims[1..].to_vec();
            let row = Variable { dims: rest, ..variable.clone() };
            total_bytes(&row)?.saturating_mul(list.len() as u64).min(MAX_BYTES)
        }
        _ => total_bytes(variable)?,
    };
    Ok(ModuleVariable {
        name: variable.name.clone(),
        space,
        bytes,
        align: alignment(variable),
        image: Vec::new(),
        relocations: Vec::new(),
    })
}

/// Reads the initial value of the variable with number `index`.
pub(super) fn initialise(
    variable: &Variable,
    index: u32,
    symbols: &mut Symbols,
) -> Result<(), DecodeError> {
    let Some(init) = &variable.init else {
        return Ok(());
    };
    let mut image = Image { variable, symbols, runs: Vec::new(), relocations: Vec::new() };
    let element = u64::from(element_bytes(variable));
    // Sizes of the sub-arrays, outermost first; the innermost is one element.
    let mut strides = vec![element];
    for dim in variable.dims.iter().skip(1).rev() {
        let inner = strides[0];
        strides.insert(0, inner.saturating_mul(dim.unwrap_or(1)));
    }
    if variable.vector > 1 {
        strides.push(element / u64::from(variable.vector));
    }
    image.fill(init, 0, &strides)?;
    let (runs, relocations) = (image.runs, image.relocations);
    let entry = &mut symbols.variables[index as usize];
    let fits = |offset: u64, bytes: u64| offset.saturating_add(bytes) <= entry.bytes;
    if !runs.iter().all(|(at, bytes)| fits(*at, bytes.len() as u64))
        || !relocations.iter().all(|r| fits(r.offset, u64::from(r.bytes)))
    {
        let message = format!("`{}` has more initial values than elements", variable.name);
        return error(CompileErrorKind::Invalid, variable, message);
    }
    entry.image = runs;
    entry.relocations = relocations;
    Ok(())
}

struct Image<'a> {
    variable: &'a Variable,
    symbols: &'a Symbols,
    /// Offset and bytes of what is given; the rest is zero.
    runs: Vec<(u64, Vec<u8>)>,
    relocations: Vec<Relocation>,
}

impl Image<'_> {
    fn fill(
        &mut self,
        init: &Initializer,
        offset: u64,
        strides: &[u64],
    ) -> Result<(), DecodeError> {
        let variable = self.variable;
        match init {
            Initializer::List(list) => {
                let (Some((outer, inner)), Some(last)) = (strides.split_first(), strides.last())
                else {
                    let message =
                        format!("`{}`: the initial value is nested too deeply", variable.name);
                    return error(CompileErrorKind::Invalid, variable, message);
                };
                for (index, value) in list.iter().enumerate() {
                    // Numbers that are not in lists of their own follow each other, whatever the dimensions.
                    let nested = matches!(value, Initializer::List(_));
                    let stride = if nested { outer } else { last };
                    let at = offset.saturating_add(stride.saturating_mul(index as u64));
                    self.fill(value, at, inner)?;
                }
                Ok(())
            }
            Initializer::Immediate(value) => {
                let bytes = variable.ty.bytes().unwrap_or(1);
                let Some(bits) = immediate_bits(*value, ast_type(variable)) else {
                    let message = format!("`{}`: a number does not fit its type", variable.name);
                    return error(CompileErrorKind::Invalid, variable, message);
                };
                let bytes = &u128::from(bits).to_le_bytes()[..bytes as usize];
                match self.runs.last_mut() {
                    Some((start, run)) if *start + run.len() as u64 == offset => {
                        run.extend_from_slice(bytes);
                    }
                    _ => self.runs.push((offset, bytes.to_vec())),
                }
                Ok(())
            }
            Initializer::Fields(_) => error(
                CompileErrorKind::Unsupported,
                variable,
                format!("`{}`: texture, sampler and surface references", variable.name),
            ),
            Initializer::Address { .. } | Initializer::Masked { .. } => {
                let relocation = self.address(init, offset, 0)?;
                self.relocations.push(relocation);
                Ok(())
            }
        }
    }

    fn address(
        &self,
        init: &Initializer,
        offset: u64,
        shift: u32,
    ) -> Result<Relocation, DecodeError> {
        let variable = self.variable;
        let bytes = variable.ty.bytes().unwrap_or(1);
        match init {
            // Global and constant addresses are generic addresses already.
            Initializer::Address { symbol, offset: addend, .. } => {
                let value = match self.symbols.lookup(symbol) {
                    Some(Symbol::Variable(index)) if !self.symbols.is_shared(index) => {
                        Value::Variable { index, offset: *addend as u64 }
                    }
                    Some(Symbol::Function(index)) => Value::Function(index),
                    Some(_) => {
                        let message = format!(
                            "`{}`: the address of `{symbol}` is not known before a kernel runs",
                            variable.name
                        );
                        return error(CompileErrorKind::Unsupported, variable, message);
                    }
                    None => {
                        let message = format!("`{symbol}` is not defined");
                        return error(CompileErrorKind::UnresolvedSymbol, variable, message);
                    }
                };
                Ok(Relocation { offset, bytes, value, shift })
            }
            Initializer::Masked { mask, inner } => {
                let shift = if *mask == 0 { 0 } else { mask.trailing_zeros() & !7 };
                self.address(inner, offset, shift)
            }
            _ => error(
                CompileErrorKind::Invalid,
                variable,
                format!("`{}`: expected the address of a variable", variable.name),
            ),
        }
    }
}

fn ast_type(variable: &Variable) -> Ty {
    Ty::from_modifier(variable.ty.directive().trim_start_matches('.')).unwrap_or(Ty::B64)
}
