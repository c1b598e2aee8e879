//! Functions, variables and parameters.

use super::{Checker, Symbol};
use crate::ast::{Function, FunctionDirective, Linkage, StateSpace, Type, Variable};
use crate::error::{Error, ErrorKind};
use crate::limits::{MAX_ALIGN, MAX_KERNEL_PARAMETER_BYTES, MAX_VARIABLE_BYTES};
use crate::span::Span;

impl<'a> Checker<'a, '_> {
    pub(super) fn declare_variable(&mut self, variable: &'a Variable) -> Result<(), Error> {
        let symbol = Symbol::Variable(variable);
        match self.scopes.declare(&variable.name, symbol) {
            Ok(()) => Ok(()),
            // `.extern` and the definition may stand in one module.
            Err(Symbol::Variable(first))
                if first.linkage == Linkage::Extern || variable.linkage == Linkage::Extern =>
            {
                Ok(())
            }
            Err(first) => Err(self.duplicate(&variable.name, first, symbol, variable.span)),
        }
    }

    pub(super) fn declare_function(&mut self, function: &'a Function) -> Result<(), Error> {
        let symbol = Symbol::Function(function);
        let mismatch = |what| ErrorKind::DeclarationMismatch { name: function.name.clone(), what };
        let first = match self.scopes.declare(&function.name, symbol) {
            Ok(()) => return Ok(()),
            Err(Symbol::Function(first)) if first.body.is_none() || function.body.is_none() => {
                first
            }
            // LLVM declares an alias as a function first.
            Err(Symbol::Alias(_)) if function.body.is_none() => return Ok(()),
            Err(first) => return Err(self.duplicate(&function.name, first, symbol, function.span)),
        };
        let what = if first.is_entry != function.is_entry {
            "one is a kernel, the other a function"
        } else if first.params.len() != function.params.len() {
            "another number of parameters"
        } else if first.returns.len() != function.returns.len() {
            "another number of return values"
        } else {
            return Ok(());
        };
        Err(self.fail_at(mismatch(what), function.span, &function.name))
    }

    pub(super) fn declare_alias(
        &mut self,
        name: &'a str,
        target: &'a str,
        span: Span,
    ) -> Result<(), Error> {
        let symbol = Symbol::Alias(target);
        match self.scopes.declare(name, symbol) {
            Ok(()) => Ok(()),
            Err(Symbol::Function(first)) if first.body.is_none() => Ok(()),
            Err(first) => Err(self.duplicate(name, first, symbol, span)),
        }
    }

    /// PTX ISA, `.alias`: the target is a function that the module defines.
    pub(super) fn alias(&self, name: &str, target: &str, span: Span) -> Result<(), Error> {
        let expected = "a function that is defined in this module";
        match self.scopes.find(target).map(|found| found.value) {
            None => Err(self.unknown(target, expected, span)),
            Some(Symbol::Function(Function { is_entry: false, .. })) if name != target => Ok(()),
            Some(symbol) => Err(self.wrong_kind(target, symbol.describe(), expected, span)),
        }
    }

    pub(super) fn function(&self, function: &Function) -> Result<(), Error> {
        let Function { name, span, .. } = function;
        if function.is_entry && !function.returns.is_empty() {
            return Err(self.bad(name, "a kernel returns nothing", *span));
        }
        if function.linkage == Linkage::Extern && function.body.is_some() {
            return Err(self.bad(
                name,
                "`.extern` says that the body is elsewhere, but here is one",
                *span,
            ));
        }
        if function.linkage == Linkage::Common {
            return Err(self.bad(name, "`.common` is for variables, not for functions", *span));
        }
        for variable in function.returns.iter().chain(&function.params) {
            self.variable(variable)?;
        }
        if function.is_entry {
            self.kernel_parameters(function)?;
        }
        function
            .directives
            .iter()
            .try_for_each(|directive| self.function_directive(function, directive))
    }

    fn kernel_parameters(&self, function: &Function) -> Result<(), Error> {
        let mut end = 0_u64;
        for parameter in &function.params {
            if parameter.space != StateSpace::Param {
                return Err(self.bad(
                    &parameter.name,
                    "a parameter of a kernel is in `.param`, not in registers",
                    parameter.span,
                ));
            }
            if parameter.dims.first() == Some(&None) {
                return Err(self.bad(
                    &parameter.name,
                    "a parameter of a kernel has a length",
                    parameter.span,
                ));
            }
            let align = u64::from(parameter.alignment());
            // Each is at most `MAX_VARIABLE_BYTES`: no sum of them overflows before the limit is seen.
            end = end.next_multiple_of(align.max(1)) + parameter.bytes().unwrap_or(0);
            if end > MAX_KERNEL_PARAMETER_BYTES {
                let kind = ErrorKind::TooLarge {
                    name: function.name.clone(),
                    what: "its parameters take",
                    unit: "bytes",
                    actual: end.into(),
                    limit: MAX_KERNEL_PARAMETER_BYTES,
                };
                return Err(self.fail(kind, parameter.span));
            }
        }
        Ok(())
    }

    /// PTX ISA, Performance-Tuning Directives.
    fn function_directive(
        &self,
        function: &Function,
        directive: &FunctionDirective,
    ) -> Result<(), Error> {
        let values = &directive.values;
        let in_range = values.iter().all(|value| (1..=u64::from(u32::MAX)).contains(value));
        let problem = match directive.name.as_str() {
            ".maxntid" | ".reqntid" | ".reqnctapercluster"
                if !(1..=3).contains(&values.len()) || !in_range =>
            {
                "expected 1 to 3 extents, each at least 1 and of 32 bits"
            }
            ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank"
                if values.len() != 1 || !in_range =>
            {
                "expected one number, at least 1 and of 32 bits"
            }
            _ => return Ok(()),
        };
        // The tree keeps no place for directives: they follow the header.
        let after =
            Span::new(function.span.start, u32::try_from(self.source.len()).unwrap_or(u32::MAX));
        let kind = ErrorKind::BadDirective {
            directive: directive.name.clone(),
            function: function.name.clone(),
            problem,
        };
        Err(self.fail_at(kind, after, &directive.name))
    }

    /// A variable or parameter wherever it stands, without its initialiser's values.
    pub(super) fn variable(&self, variable: &Variable) -> Result<(), Error> {
        let Variable { name, span, ty, .. } = variable;
        let fail = |problem| Err(self.bad(name, problem, *span));
        for align in [variable.align, variable.pointer.and_then(|pointer| pointer.align)]
            .into_iter()
            .flatten()
        {
            if !align.is_power_of_two() || align > MAX_ALIGN {
                return fail("an alignment is a power of two");
            }
        }
        if *ty == Type::Pred && variable.space != StateSpace::Reg {
            return fail("`.pred` exists only in registers");
        }
        let opaque_space = matches!(
            variable.space,
            StateSpace::Global | StateSpace::Param | StateSpace::Tex | StateSpace::Reg
        );
        if ty.is_opaque() && !opaque_space {
            return fail("a texture, sampler or surface reference is in `.global` or `.param`");
        }
        if variable.vector > 1
            && ty.bytes().is_none_or(|bytes| ty.is_opaque() || bytes * variable.vector > 16)
        {
            return fail("a vector has numbers as elements and at most 16 bytes");
        }
        if variable.dims.iter().skip(1).any(Option::is_none) {
            return fail("only the first dimension of an array may be left open");
        }
        if variable.space == StateSpace::Reg && !variable.dims.is_empty() {
            return fail("registers form no arrays");
        }
        let actual = variable.saturating_bytes();
        if actual > MAX_VARIABLE_BYTES.into() {
            let kind = ErrorKind::TooLarge {
                name: name.clone(),
                what: "it takes",
                unit: "bytes",
                actual,
                limit: MAX_VARIABLE_BYTES,
            };
            return Err(self.fail_at(kind, *span, name));
        }
        if variable.init.is_some() {
            if variable.linkage == Linkage::Extern {
                return fail("`.extern` says that the value is elsewhere, but here is one");
            }
            if !matches!(variable.space, StateSpace::Global | StateSpace::Const) {
                return fail("only `.global` and `.const` variables have an initialiser");
            }
        }
        Ok(())
    }
}
