//! What a host needs to know of a kernel, gathered from the functions it can reach.

use std::collections::BTreeSet;

use ptx::ast;

use super::{function, stack};
use crate::error::{CompileErrorKind, DecodeError};
use crate::program::{Function, KernelInfo, Program, Value, VariableSpace};
use crate::row::Class;

/// Steps from function to function that finding out what kernels reach may take, for all kernels of a module together. Real modules need
/// thousands; without a limit, many kernels that reach many functions would take hours and all memory.
const MAX_REACH_STEPS: u64 = 1 << 24;

/// Finds the functions that kernels can reach.
pub(super) struct Reach<'a> {
    functions: &'a [Function],
    /// Functions whose address is taken somewhere: a call by address may reach any of them.
    taken: Vec<u32>,
    /// Functions from which calls can come back to one that is active.
    meet_circles: Vec<bool>,
    /// By function, the number of the last search that found it.
    found_by: Vec<u32>,
    searches: u32,
    steps_left: u64,
}

impl<'a> Reach<'a> {
    pub(super) fn new(program: &'a Program) -> Reach<'a> {
        let functions = program.functions.iter();
        let mut taken: Vec<u32> =
            functions.flat_map(|function| &function.takes_address_of).copied().collect();
        let relocations = program.variables.iter().flat_map(|variable| &variable.relocations);
        taken.extend(relocations.filter_map(|relocation| match relocation.value {
            Value::Function(index) => Some(index),
            _ => None,
        }));
        taken.sort_unstable();
        taken.dedup();
        Reach {
            functions: &program.functions,
            meet_circles: stack::meet_circles(&program.functions, &taken),
            taken,
            found_by: vec![0; program.functions.len()],
            searches: 0,
            steps_left: MAX_REACH_STEPS,
        }
    }

    /// The functions that `start` can reach, itself first; `None` when the module is too much.
    fn from(&mut self, start: u32) -> Option<Vec<u32>> {
        self.searches += 1;
        let mut order = Vec::new();
        self.add(&[start], &mut order)?;
        let mut by_address = false;
        let mut next = 0;
        while let Some(index) = order.get(next).copied() {
            next += 1;
            let functions = self.functions;
            let function = &functions[index as usize];
            // Who asks looks at these.
            self.steps_left = self.steps_left.checked_sub(function.shared_used.len() as u64)?;
            self.add(&function.callees, &mut order)?;
            if !function.calls_by_address.is_empty() && !by_address {
                by_address = true;
                let taken = std::mem::take(&mut self.taken);
                let added = self.add(&taken, &mut order);
                self.taken = taken;
                added?;
            }
        }
        Some(order)
    }

    fn add(&mut self, found: &[u32], order: &mut Vec<u32>) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(found.len() as u64)?;
        for index in found {
            let found_by = &mut self.found_by[*index as usize];
            if *found_by != self.searches {
                *found_by = self.searches;
                order.push(*index);
            }
        }
        Some(())
    }
}

/// The kernel that `function`, number `index` of the program, is.
pub(super) fn info(
    function: &ast::Function,
    index: u32,
    program: &Program,
    reach: &mut Reach<'_>,
) -> Result<KernelInfo, DecodeError> {
    let decoded = &program.functions[index as usize];
    let (params, param_bytes) = function::kernel_params(function)?;
    let too_much = || DecodeError {
        kind: CompileErrorKind::Unsupported,
        message: format!(
            "the module's kernels reach so many functions that the emulator does not follow them all ({MAX_REACH_STEPS} steps are possible); load fewer kernels in one module"
        ),
        span: function.span,
    };
    let reachable = reach.from(index).ok_or_else(too_much)?;
    let used = reachable.iter().flat_map(|index| &program.functions[*index as usize].shared_used);
    let used: BTreeSet<u32> = used.copied().collect();
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
        required_cluster: directive(".reqnctapercluster"),
        function: index,
        shared_layout: layout,
        dynamic_shared_offset: end.next_multiple_of(dynamic_align) as u32,
        stack_is_unknown: reachable.iter().any(|index| reach.meet_circles[*index as usize]),
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
