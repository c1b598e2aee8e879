//! What each instruction does to control, with labels resolved in their scopes.

use std::collections::HashMap;

use super::MAX_EDGES;
use crate::ast::{Instruction, Operand, Statement};
use crate::error::{CfgError, ErrorKind};
use crate::span::Span;
use crate::walk::{Step, walk};

/// What one instruction does to control.
pub(super) struct Flow {
    pub(super) kind: FlowKind,
    pub(super) guarded: bool,
    pub(super) span: Span,
}

pub(super) enum FlowKind {
    Next,
    /// Instruction numbers.
    Branch(Vec<usize>),
    Return,
    Terminate,
}

impl Flow {
    pub(super) fn targets(&self) -> &[usize] {
        match &self.kind {
            FlowKind::Branch(targets) => targets,
            _ => &[],
        }
    }
}

/// What a label may stand for.
enum Mark<'a> {
    /// The number of the instruction that follows it.
    Instruction(usize),
    BranchTargets(&'a [String]),
    CallPrototype {
        noreturn: bool,
    },
}

/// A body with its scopes resolved to numbers.
pub(super) struct Flat<'a> {
    /// Each instruction with the scope it stands in.
    instructions: Vec<(&'a Instruction, usize)>,
    /// The scope around each scope; the outermost is its own.
    parents: Vec<usize>,
    /// What the labels of each scope mark.
    marks: Vec<HashMap<&'a str, Mark<'a>>>,
}

impl<'a> Flat<'a> {
    pub(super) fn new(body: &'a [Statement]) -> Self {
        let mut flat =
            Self { instructions: Vec::new(), parents: vec![0], marks: vec![HashMap::new()] };
        let mut scope = 0;
        for step in walk(body) {
            let statement = match step {
                Step::Enter => {
                    flat.parents.push(scope);
                    flat.marks.push(HashMap::new());
                    scope = flat.parents.len() - 1;
                    continue;
                }
                Step::Leave => {
                    scope = flat.parents[scope];
                    continue;
                }
                Step::Statement(statement) => statement,
            };
            let (name, mark) = match statement {
                Statement::Instruction(instruction) => {
                    flat.instructions.push((instruction, scope));
                    continue;
                }
                Statement::Label { name, .. } => (name, Mark::Instruction(flat.instructions.len())),
                Statement::BranchTargets { name, labels, .. } => {
                    (name, Mark::BranchTargets(labels))
                }
                Statement::CallPrototype { name, noreturn, .. } => {
                    (name, Mark::CallPrototype { noreturn: *noreturn })
                }
                _ => continue,
            };
            flat.marks[scope].entry(name).or_insert(mark);
        }
        flat
    }

    /// What a name means in a scope or one around it, and the scope that declares it.
    fn find(&self, name: &str, mut scope: usize) -> Option<(&Mark<'a>, usize)> {
        loop {
            // Scopes nest at most `MAX_NESTING` deep when parsed.
            if let Some(mark) = self.marks[scope].get(name) {
                return Some((mark, scope));
            }
            if scope == 0 {
                return None;
            }
            scope = self.parents[scope];
        }
    }

    pub(super) fn flows(&self, noreturn: impl Fn(&str) -> bool) -> Result<Vec<Flow>, CfgError> {
        let mut table_entries = 0;
        self.instructions
            .iter()
            .map(|(instruction, scope)| {
                let kind = match instruction.opcode.as_str() {
                    "bra" => FlowKind::Branch(vec![self.branch_target(instruction, *scope)?]),
                    "brx" => {
                        let targets = self.jump_table(instruction, *scope)?;
                        table_entries += targets.len();
                        if table_entries > MAX_EDGES {
                            let kind = ErrorKind::TooManyBranches { limit: MAX_EDGES };
                            return Err(CfgError::new(kind, instruction.span));
                        }
                        FlowKind::Branch(targets)
                    }
                    "ret" => FlowKind::Return,
                    "exit" | "trap" => FlowKind::Terminate,
                    "call" if self.never_returns(instruction, *scope, &noreturn) => {
                        FlowKind::Terminate
                    }
                    _ => FlowKind::Next,
                };
                Ok(Flow { kind, guarded: instruction.guard.is_some(), span: instruction.span })
            })
            .collect()
    }

    fn branch_target(&self, instruction: &Instruction, scope: usize) -> Result<usize, CfgError> {
        let [Operand::Name(label)] = instruction.operands.as_slice() else {
            return Err(bad_operands(instruction, "expected the label to go to"));
        };
        self.label(label, scope, instruction)
    }

    fn jump_table(&self, instruction: &Instruction, scope: usize) -> Result<Vec<usize>, CfgError> {
        let [_, Operand::Name(table)] = instruction.operands.as_slice() else {
            return Err(bad_operands(
                instruction,
                "expected an index and the label of `.branchtargets`",
            ));
        };
        let Some((Mark::BranchTargets(labels), declared)) = self.find(table, scope) else {
            let kind = ErrorKind::UnknownName {
                name: table.clone(),
                expected: "the label of `.branchtargets`",
            };
            return Err(CfgError::new(kind, instruction.span));
        };
        if labels.len() > MAX_EDGES {
            return Err(CfgError::new(
                ErrorKind::TooManyBranches { limit: MAX_EDGES },
                instruction.span,
            ));
        }
        labels.iter().map(|label| self.label(label, declared, instruction)).collect()
    }

    fn label(
        &self,
        name: &str,
        scope: usize,
        instruction: &Instruction,
    ) -> Result<usize, CfgError> {
        match self.find(name, scope) {
            Some((Mark::Instruction(number), _)) => Ok(*number),
            _ => {
                let kind = ErrorKind::UnknownName { name: name.to_owned(), expected: "a label" };
                Err(CfgError::new(kind, instruction.span))
            }
        }
    }

    fn never_returns(
        &self,
        call: &Instruction,
        scope: usize,
        noreturn: impl Fn(&str) -> bool,
    ) -> bool {
        // `call (ret), f, (args), prototype`: the first name is what is called.
        let mut names = call.operands.iter().filter_map(|operand| match operand {
            Operand::Name(name) => Some(name.as_str()),
            _ => None,
        });
        let called = names.next();
        let prototype = names.next();
        called.is_some_and(noreturn)
            || prototype
                .and_then(|name| self.find(name, scope))
                .is_some_and(|(mark, _)| matches!(mark, Mark::CallPrototype { noreturn: true }))
    }
}

fn bad_operands(instruction: &Instruction, problem: &'static str) -> CfgError {
    let mnemonic = instruction.mnemonic();
    CfgError::new(ErrorKind::BadOperands { mnemonic, problem }, instruction.span)
}
