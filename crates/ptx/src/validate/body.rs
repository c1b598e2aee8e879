//! Bodies: declarations by scope, operands, branches and calls.

use super::{Checker, Symbol};
use crate::ast::{
    AddressBase, Function, Instruction, Operand, RegisterDeclaration, Statement, Type,
};
use crate::error::{Error, ErrorKind};
use crate::isa::{self, Verdict, component_index, special_register};
use crate::limits::MAX_REGISTERS;
use crate::span::Span;
use crate::walk::{Step, walk};

const VALUE: &str = "a register, variable, function or special register";
const PREDICATE: &str = "a predicate register";

/// Labels of one scope, which may be used before they stand.
type Labels<'a> = Vec<(&'a str, Symbol<'a>, Span)>;

impl<'a> Checker<'a, '_> {
    pub(super) fn body_of(&mut self, function: &'a Function) -> Result<(), Error> {
        self.scopes.enter();
        let result = self.body_inside(function);
        // However a body ends, its scopes end with it.
        self.scopes.truncate(1);
        result
    }

    fn body_inside(&mut self, function: &'a Function) -> Result<(), Error> {
        for parameter in function.returns.iter().chain(&function.params) {
            if parameter.name != "_" {
                let symbol = match parameter.space {
                    crate::ast::StateSpace::Reg => {
                        Symbol::Register { ty: parameter.ty, vector: parameter.vector }
                    }
                    _ => Symbol::Variable(parameter),
                };
                self.declare(&parameter.name, symbol, parameter.span)?;
            }
        }
        let Some(body) = &function.body else { return Ok(()) };
        let mut labels = labels_by_scope(body).into_iter();
        let mut registers = 0_u64;
        self.declare_labels(labels.next())?;
        for step in walk(body) {
            match step {
                Step::Enter => {
                    self.scopes.enter();
                    self.declare_labels(labels.next())?;
                }
                Step::Leave => self.scopes.leave(),
                Step::Statement(statement) => {
                    self.statement(statement, function, &mut registers)?
                }
            }
        }
        Ok(())
    }

    fn declare_labels(&mut self, labels: Option<Labels<'a>>) -> Result<(), Error> {
        labels
            .unwrap_or_default()
            .into_iter()
            .try_for_each(|(name, symbol, span)| self.declare(name, symbol, span))
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        function: &Function,
        registers: &mut u64,
    ) -> Result<(), Error> {
        match statement {
            Statement::Register(declaration) => self.registers(declaration, function, registers),
            Statement::Variable(variable) => {
                self.variable(variable)?;
                self.declare_variable(variable)?;
                self.initializer_of(variable)
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::CallPrototype { returns, params, .. } => {
                returns.iter().chain(params).try_for_each(|parameter| self.variable(parameter))
            }
            Statement::BranchTargets { labels, span, .. } => {
                labels.iter().try_for_each(|label| self.label(label, *span))
            }
            Statement::CallTargets { functions, span, .. } => {
                functions.iter().try_for_each(|name| self.callee(name, *span).map(|_| ()))
            }
            Statement::Label { .. }
            | Statement::Loc(_)
            | Statement::Pragma { .. }
            | Statement::Block(_) => Ok(()),
        }
    }

    fn registers(
        &mut self,
        declaration: &'a RegisterDeclaration,
        function: &Function,
        total: &mut u64,
    ) -> Result<(), Error> {
        let RegisterDeclaration { ty, vector, names, span } = declaration;
        let symbol = Symbol::Register { ty: *ty, vector: *vector };
        for (name, count) in names {
            if ty.is_opaque() {
                return Err(self.bad(name, "a reference is kept in a `.b64` register", *span));
            }
            if *vector > 1 && ty.bytes().is_none_or(|bytes| bytes * vector > 16) {
                return Err(self.bad(
                    name,
                    "a vector has numbers as elements and at most 16 bytes",
                    *span,
                ));
            }
            if *count == Some(0) {
                return Err(self.bad(name, "a family of registers has at least one", *span));
            }
            *total += u64::from(count.unwrap_or(1)) * u64::from(*vector);
            if *total > MAX_REGISTERS {
                let kind = ErrorKind::TooLarge {
                    name: function.name.clone(),
                    what: "it declares",
                    unit: "registers",
                    actual: (*total).into(),
                    limit: MAX_REGISTERS,
                };
                return Err(self.fail_at(kind, *span, name));
            }
            let result = match count {
                Some(count) => self.scopes.declare_family(name, *count, symbol),
                None => self.scopes.declare(name, symbol),
            };
            result.map_err(|first| self.duplicate(name, first, symbol, *span))?;
        }
        Ok(())
    }

    fn instruction(&self, instruction: &Instruction) -> Result<(), Error> {
        let span = instruction.span;
        if let Some(guard) = &instruction.guard {
            self.predicate(&guard.register, span)?;
        }
        self.form(instruction)?;
        match (instruction.opcode.as_str(), instruction.operands.as_slice()) {
            ("bra", [Operand::Name(label)]) => self.label(label, span),
            ("bra", _) => Err(self.bad_operands(instruction, "expected the label to go to")),
            ("brx", [index, Operand::Name(table)]) => {
                self.operand(index, span)?;
                let expected = "the label of `.branchtargets`";
                match self.scopes.find(table).map(|found| found.value) {
                    Some(Symbol::BranchTargets) => Ok(()),
                    Some(other) => Err(self.wrong_kind(table, other.describe(), expected, span)),
                    None => Err(self.unknown(table, expected, span)),
                }
            }
            ("brx", _) => Err(self
                .bad_operands(instruction, "expected an index and the label of `.branchtargets`")),
            ("call", operands) => self.call(instruction, operands),
            ("ret" | "exit" | "trap", [_, ..]) => {
                Err(self.bad_operands(instruction, "expected no operands"))
            }
            (_, operands) => operands.iter().try_for_each(|operand| self.operand(operand, span)),
        }
    }

    /// Modifiers that exist, in a combination that does not. What the table does not know may be newer than
    /// it, and is no error until it is reached.
    fn form(&self, instruction: &Instruction) -> Result<(), Error> {
        if self.newer_than_table {
            return Ok(());
        }
        match isa::instruction(&instruction.opcode, &instruction.modifiers) {
            Verdict::Impossible(nearest) => {
                let mnemonic = instruction.mnemonic();
                Err(self.fail(
                    ErrorKind::NoSuchForm { mnemonic, nearest: nearest.form },
                    instruction.span,
                ))
            }
            Verdict::Known(_) | Verdict::Unknown => Ok(()),
        }
    }

    fn bad_operands(&self, instruction: &Instruction, problem: &'static str) -> Error {
        let mnemonic = instruction.mnemonic();
        self.fail(ErrorKind::BadOperands { mnemonic, problem }, instruction.span)
    }

    fn label(&self, name: &str, span: Span) -> Result<(), Error> {
        match self.scopes.find(name).map(|found| found.value) {
            Some(Symbol::Label) => Ok(()),
            Some(other) => Err(self.wrong_kind(name, other.describe(), "a label", span)),
            None => Err(self.unknown(name, "a label", span)),
        }
    }

    fn predicate(&self, name: &str, span: Span) -> Result<(), Error> {
        match self.scopes.find(name).map(|found| found.value) {
            Some(Symbol::Register { ty: Type::Pred, .. }) => Ok(()),
            Some(other) => Err(self.wrong_kind(name, other.describe(), PREDICATE, span)),
            None => match special_register(name) {
                Some(special) if special.ty == Type::Pred => Ok(()),
                Some(_) => Err(self.wrong_kind(name, "a special register", PREDICATE, span)),
                None => Err(self.unknown(name, PREDICATE, span)),
            },
        }
    }

    fn operand(&self, operand: &Operand, span: Span) -> Result<(), Error> {
        match operand {
            Operand::Immediate(_) => Ok(()),
            Operand::Name(name) => self.value_name(name, span),
            Operand::Not(name) => self.predicate(name, span),
            Operand::NameOffset(name, _) => {
                let expected = "a variable or function, whose address an offset is added to";
                match self.scopes.find(name).map(|found| found.value) {
                    Some(Symbol::Variable(_) | Symbol::Function(_) | Symbol::Alias(_)) => Ok(()),
                    Some(other) => Err(self.wrong_kind(name, other.describe(), expected, span)),
                    None => Err(self.unknown(name, expected, span)),
                }
            }
            Operand::Address { base, rest, .. } => {
                if let AddressBase::Name(name) = base {
                    self.address_base(name, span)?;
                }
                rest.iter().try_for_each(|operand| self.operand(operand, span))
            }
            Operand::Vector(elements) | Operand::List(elements) => {
                elements.iter().try_for_each(|operand| self.operand(operand, span))
            }
            Operand::Pair(first, second) => {
                self.operand(first, span)?;
                self.operand(second, span)
            }
        }
    }

    fn value_name(&self, name: &str, span: Span) -> Result<(), Error> {
        // The sink: a result that is not wanted.
        if name == "_" {
            return Ok(());
        }
        match self.scopes.find(name).map(|found| found.value) {
            Some(
                Symbol::Register { .. }
                | Symbol::Variable(_)
                | Symbol::Function(_)
                | Symbol::Alias(_),
            ) => Ok(()),
            Some(other) => Err(self.wrong_kind(name, other.describe(), VALUE, span)),
            None if special_register(name).is_some() || self.is_component(name) => Ok(()),
            None => Err(self.unknown(name, VALUE, span)),
        }
    }

    /// `v.x` of a register declared with `.v2` or `.v4`.
    fn is_component(&self, name: &str) -> bool {
        let Some((base, component)) = name.rsplit_once('.') else { return false };
        let vector = match self.scopes.find(base).map(|found| found.value) {
            Some(Symbol::Register { vector, .. }) => vector,
            _ => return false,
        };
        vector > 1 && component_index(component).is_some_and(|index| index < vector)
    }

    fn address_base(&self, name: &str, span: Span) -> Result<(), Error> {
        let expected = "a register or variable to take as an address";
        match self.scopes.find(name).map(|found| found.value) {
            Some(Symbol::Register { ty, .. }) if ty != Type::Pred => Ok(()),
            Some(Symbol::Variable(_)) => Ok(()),
            Some(other) => Err(self.wrong_kind(name, other.describe(), expected, span)),
            None if self.is_component(name) => Ok(()),
            None if special_register(name).is_some() => {
                Err(self.wrong_kind(name, "a special register", expected, span))
            }
            None => Err(self.unknown(name, expected, span)),
        }
    }

    /// `call (returns), callee, (arguments), prototype`: all but the callee may be absent.
    fn call(&self, instruction: &Instruction, operands: &[Operand]) -> Result<(), Error> {
        let span = instruction.span;
        let (returns, rest) = split_list(operands);
        let Some((Operand::Name(callee), rest)) = rest.split_first() else {
            return Err(self.bad_operands(instruction, "expected a function to call"));
        };
        let (arguments, rest) = split_list(rest);
        let prototype = match rest {
            [] => None,
            [Operand::Name(prototype)] => Some(prototype.as_str()),
            _ => {
                let problem = "expected `(returns), function, (arguments), prototype`";
                return Err(self.bad_operands(instruction, problem));
            }
        };
        returns.iter().chain(arguments).try_for_each(|operand| self.operand(operand, span))?;

        let (function, want_returns, want_arguments) = match self.callee(callee, span)? {
            Some(function) => (callee.as_str(), function.returns.len(), function.params.len()),
            None => {
                let Some(prototype) = prototype else {
                    let problem =
                        "a call through a register needs a `.callprototype` or `.calltargets`";
                    return Err(self.bad_operands(instruction, problem));
                };
                let expected = "the label of `.callprototype` or `.calltargets`";
                match self.scopes.find(prototype).map(|found| found.value) {
                    Some(Symbol::CallPrototype { returns, params }) => (prototype, returns, params),
                    Some(Symbol::CallTargets) => return Ok(()),
                    Some(other) => {
                        return Err(self.wrong_kind(prototype, other.describe(), expected, span));
                    }
                    None => return Err(self.unknown(prototype, expected, span)),
                }
            }
        };
        for (what, expected, found) in [
            ("return values", want_returns, returns.len()),
            ("arguments", want_arguments, arguments.len()),
        ] {
            if expected != found {
                let function = function.to_owned();
                return Err(
                    self.fail(ErrorKind::CallArity { function, expected, found, what }, span)
                );
            }
        }
        Ok(())
    }

    /// The function that a name calls; `None` if it is a register that holds a function's address.
    fn callee(&self, name: &str, span: Span) -> Result<Option<&'a Function>, Error> {
        let expected = "a function to call";
        let mut symbol = self.scopes.find(name).map(|found| found.value);
        if let Some(Symbol::Alias(target)) = symbol {
            symbol = self.scopes.find(target).map(|found| found.value);
        }
        match symbol {
            Some(Symbol::Function(function)) if !function.is_entry => Ok(Some(function)),
            Some(Symbol::Register { ty, .. }) if ty != Type::Pred => Ok(None),
            Some(other) => Err(self.wrong_kind(name, other.describe(), expected, span)),
            None => Err(self.unknown(name, expected, span)),
        }
    }
}

/// The elements of a leading `( … )`, and what follows it.
fn split_list(operands: &[Operand]) -> (&[Operand], &[Operand]) {
    match operands {
        [Operand::List(elements), rest @ ..] => (elements, rest),
        _ => (&[], operands),
    }
}

/// What each scope of a body labels, in the order in which the scopes are entered.
fn labels_by_scope(body: &[Statement]) -> Vec<Labels<'_>> {
    let mut scopes: Vec<Labels<'_>> = vec![Vec::new()];
    let mut open = vec![0];
    for step in walk(body) {
        match step {
            Step::Enter => {
                open.push(scopes.len());
                scopes.push(Vec::new());
            }
            Step::Leave => {
                open.pop();
            }
            Step::Statement(statement) => {
                let (name, symbol, span) = match statement {
                    Statement::Label { name, span } => (name, Symbol::Label, *span),
                    Statement::BranchTargets { name, span, .. } => {
                        (name, Symbol::BranchTargets, *span)
                    }
                    Statement::CallTargets { name, span, .. } => (name, Symbol::CallTargets, *span),
                    Statement::CallPrototype { name, returns, params, span, .. } => (
                        name,
                        Symbol::CallPrototype { returns: returns.len(), params: params.len() },
                        *span,
                    ),
                    _ => continue,
                };
                if let Some(labels) = open.last().and_then(|scope| scopes.get_mut(*scope)) {
                    labels.push((name.as_str(), symbol, span));
                }
            }
        }
    }
    scopes
}
