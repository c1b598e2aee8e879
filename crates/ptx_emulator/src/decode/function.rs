//! Decoding one function.

use ptx::ast::{Function as Tree, Instruction, Operand, StateSpace, Statement, Variable};
use ptx::cfg::Cfg;
use ptx::walk::{Step, walk};

use super::builder::{Builder, Refusal};
use super::control::{frame_access, register_element};
use super::lines::Lines;
use super::symbols::Symbols;
use super::types::Ty;
use super::{instruction, variables};
use crate::counters::OpClass;
use crate::error::{CompileErrorKind, DecodeError};
use crate::op::{FrameSlot, Guard, NONE, OpKind};
use crate::program::{Function, MAX_LOCAL_BYTES, ParamInfo, Place, Program, Signature};

/// Bytes of parameters a kernel may have; the largest limit of any architecture.
const MAX_PARAM_BYTES: u64 = 32_764;

fn invalid<T>(message: String, span: ptx::Span) -> Result<T, DecodeError> {
    Err(DecodeError { kind: CompileErrorKind::Invalid, message, span })
}

/// The layout of a kernel's parameters: each at the next multiple of its alignment.
pub(super) fn kernel_params(function: &Tree) -> Result<(Vec<ParamInfo>, u32), DecodeError> {
    let mut params = Vec::new();
    let mut end = 0u64;
    for param in &function.params {
        let bytes = variables::total_bytes(param)?;
        let align = variables::alignment(param);
        let offset = end.next_multiple_of(u64::from(align));
        end = offset.saturating_add(bytes);
        if end > MAX_PARAM_BYTES {
            let message = format!(
                "kernel `{}` has {end} bytes of parameters; at most {MAX_PARAM_BYTES} are possible",
                function.name
            );
            return invalid(message, param.span);
        }
        params.push(ParamInfo {
            name: param.name.clone(),
            offset: offset as u32,
            bytes: bytes as u32,
            align,
        });
    }
    Ok((params, end as u32))
}

/// Bytes of `.local` variables.
pub(super) fn local_bytes(function: &Tree) -> u32 {
    let mut sum = 0u64;
    for step in walk(function.body.as_deref().unwrap_or_default()) {
        if let Step::Statement(Statement::Variable(variable)) = step
            && variable.space == StateSpace::Local
        {
            sum = sum.saturating_add(variables::total_bytes(variable).unwrap_or(0));
        }
    }
    u32::try_from(sum).unwrap_or(u32::MAX)
}

/// What is in `list`, each once.
fn once<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

/// Decodes `function` and appends its operations to the program.
pub(super) fn decode(
    function: &Tree,
    symbols: &mut Symbols,
    lines: &mut Lines,
    program: &mut Program,
) -> Result<Function, DecodeError> {
    let body = function.body.as_deref().unwrap_or_default();
    let noreturn = std::mem::take(&mut symbols.noreturn);
    let cfg = Cfg::build_with(body, |name| noreturn.contains(name));
    symbols.noreturn = noreturn;
    let cfg = cfg.map_err(|error| {
        let span = error.span();
        let kind = CompileErrorKind::Invalid;
        DecodeError { kind, message: error.kind().to_string(), span }
    })?;

    let mut b = Builder::new(symbols, function.is_entry);
    b.place = Place { span: function.span, line: NONE };
    let (params, returns) = declare_params(function, &mut b)?;

    // A position where diverged lanes meet gets an operation of its own.
    let mut meets = vec![false; cfg.blocks().len() + 1];
    for (id, block) in cfg.blocks().iter().enumerate() {
        let last = block.instructions.end.saturating_sub(1);
        if !cfg.branch_targets(last).is_empty()
            && let Some(join) = cfg.reconvergence(id)
        {
            meets[join] = true;
        }
    }
    let mut starts = Vec::new();
    for step in walk(body) {
        match step {
            Step::Enter => b.open_scope(),
            Step::Leave => b.close_scope(),
            Step::Statement(statement) => match statement {
                Statement::Instruction(tree) => {
                    let number = starts.len();
                    let block = cfg.block_of(number);
                    starts.push(b.ops.len() as u32);
                    b.place.span = tree.span;
                    b.guard = Guard::ALWAYS;
                    if let Some(block) = block
                        && meets[block]
                        && cfg.blocks()[block].instructions.start == number
                    {
                        b.emit(OpKind::Join);
                    }
                    let first = b.ops.len();
                    decode_one(&mut b, tree, &cfg, number)?;
                    b.classify(first, OpClass::of(&tree.opcode, &tree.modifiers));
                }
                Statement::Register(declaration) => b.declare_registers(declaration),
                Statement::Variable(variable) => declare_variable(&mut b, variable)?,
                Statement::Loc(loc) => b.place.line = lines.add(loc),
                Statement::CallPrototype { name, .. }
                | Statement::BranchTargets { name, .. }
                | Statement::CallTargets { name, .. } => b.declare_prototype(name),
                Statement::Label { .. } | Statement::Pragma { .. } | Statement::Block(_) => {}
            },
        }
    }
    starts.push(b.ops.len() as u32);
    b.guard = Guard::ALWAYS;
    b.emit(OpKind::FellOffEnd);
    if b.frame_bytes > MAX_LOCAL_BYTES {
        let message = format!(
            "`{}` needs {} bytes of local memory a thread; at most {MAX_LOCAL_BYTES} are possible",
            function.name, b.frame_bytes
        );
        return invalid(message, function.span);
    }

    let start = program.ops.len() as u32;
    let position = |number: u32| match starts.get(number as usize) {
        Some(op) => start + op,
        None => NONE,
    };
    for op in &mut b.ops {
        match &mut op.kind {
            OpKind::Branch { target, join } => {
                *target = position(*target);
                *join = position(*join);
            }
            OpKind::BranchTable { targets, join, .. } => {
                targets.iter_mut().for_each(|target| *target = position(*target));
                *join = position(*join);
            }
            _ => {}
        }
    }
    program.ops.append(&mut b.ops);
    program.places.append(&mut b.places);
    program.classes.append(&mut b.classes);
    Ok(Function {
        name: function.name.clone(),
        start,
        rows32: b.rows32,
        rows64: b.rows64,
        predicates: b.predicates,
        constants: b.constant_list,
        frame_bytes: b.frame_bytes,
        frame_align: b.frame_align,
        depot_bytes: b.depot_bytes,
        depot_align: b.depot_align,
        signature: Signature::of(&params, &returns),
        params,
        returns,
        callees: once(b.callees),
        calls_by_address: once(b.calls_by_address),
        takes_address_of: once(b.takes_address_of),
        shared_used: once(b.shared_used),
    })
}

/// Jump targets and meeting points are instruction numbers here; [`decode`] turns them into positions.
fn decode_one(
    b: &mut Builder,
    tree: &Instruction,
    cfg: &Cfg,
    number: usize,
) -> Result<(), DecodeError> {
    if let Some(guard) = &tree.guard {
        match b.register(&guard.register) {
            Some(register) if register.class == crate::row::Class::Predicate => {
                b.guard = Guard::new(register.row, guard.negated);
            }
            _ => {
                let message = format!("guard `{}` is not a predicate register", guard.register);
                return invalid(message, tree.span);
            }
        }
    }
    let targets = cfg.branch_targets(number);
    let decoded = if targets.is_empty() && tree.opcode != "brx" {
        let before = (b.ops.len(), b.constant_list.len());
        let mut modifiers = super::types::Modifiers::new(&tree.modifiers);
        let result = instruction::decode(b, tree, &mut modifiers);
        let result = match (result, modifiers.leftover()) {
            // A qualifier that is not known here may also change what operands there are.
            (Ok(()) | Err(Refusal::Invalid(_)), Some(_)) => {
                Err(Refusal::Unsupported(tree.mnemonic()))
            }
            (result, _) => result,
        };
        if let Err(Refusal::Unsupported(reason)) = &result {
            b.ops.truncate(before.0);
            b.places.truncate(before.0);
            b.classes.truncate(before.0);
            b.emit(OpKind::Unsupported { reason: reason.as_str().into() });
            Ok(())
        } else {
            result
        }
    } else {
        branch(b, tree, cfg, number, targets)
    };
    match decoded {
        Ok(()) => Ok(()),
        Err(Refusal::Invalid(message) | Refusal::Unsupported(message)) => {
            invalid(format!("`{}`: {message}", tree.mnemonic()), tree.span)
        }
    }
}

fn branch(
    b: &mut Builder,
    tree: &Instruction,
    cfg: &Cfg,
    number: usize,
    targets: &[usize],
) -> Result<(), Refusal> {
    let join = cfg
        .block_of(number)
        .and_then(|block| cfg.reconvergence(block))
        .and_then(|block| cfg.blocks().get(block))
        .map_or(NONE, |block| block.instructions.start as u32);
    if tree.opcode == "brx" {
        let Some(index) = tree.operands.first() else {
            return Err(Refusal::Invalid("takes an index and a list of targets".into()));
        };
        let index = b.source(index, crate::row::Class::R, Ty::B32)?;
        let targets = targets.iter().map(|target| *target as u32).collect();
        b.emit(OpKind::BranchTable { index, targets, join });
    } else {
        b.emit(OpKind::Branch { target: targets[0] as u32, join });
    }
    Ok(())
}

fn declare_variable(b: &mut Builder, variable: &Variable) -> Result<(), DecodeError> {
    match variable.space {
        StateSpace::Local | StateSpace::Param => {
            let bytes = variables::total_bytes(variable)?;
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let align = variables::alignment(variable);
            if variable.space == StateSpace::Local {
                b.declare_local(&variable.name, bytes, align);
            } else {
                b.declare_slot(&variable.name, bytes, align);
            }
            Ok(())
        }
        // A variable of the module that only this function names ("demoted" by LLVM).
        _ => {
            let index = b.symbols.add_variable(variables::make(variable)?);
            variables::initialise(variable, index, b.symbols)?;
            b.declare_variable(&variable.name, index);
            Ok(())
        }
    }
}

/// Parameters of a kernel are read from the launch's block; those of a device function are slots of its frame.
fn declare_params(
    function: &Tree,
    b: &mut Builder,
) -> Result<(Vec<FrameSlot>, Vec<FrameSlot>), DecodeError> {
    if function.is_entry {
        let (params, _) = kernel_params(function)?;
        for param in &params {
            b.declare_kernel_param(&param.name, param.offset);
        }
        return Ok((Vec::new(), Vec::new()));
    }
    let mut slots = |list: &[Variable], inputs: bool| -> Result<Vec<FrameSlot>, DecodeError> {
        let mut slots = Vec::new();
        for param in list {
            let bytes = u32::try_from(variables::total_bytes(param)?).unwrap_or(u32::MAX);
            let align = variables::alignment(param);
            if param.space != StateSpace::Reg {
                slots.push(b.declare_slot(&param.name, bytes, align));
                continue;
            }
            let slot = b.declare_slot(&format!("{} in memory", param.name), bytes, align);
            let register = b.new_register(param.ty);
            b.declare_register(&param.name, register);
            if inputs {
                let element = register_element(register.bits);
                b.emit(OpKind::Load(frame_access(slot, register.row, element)));
            } else {
                let ty = Ty { bits: register.bits, ..Ty::B64 };
                b.register_returns.push((Operand::Name(param.name.clone()), slot, ty));
            }
            slots.push(slot);
        }
        Ok(slots)
    };
    let returns = slots(&function.returns, false)?;
    let params = slots(&function.params, true)?;
    Ok((params, returns))
}
