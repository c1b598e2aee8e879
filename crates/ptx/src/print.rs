//! Syntax tree to text, laid out as LLVM lays it out.

use std::fmt::Write;

use crate::ast::{
    AddressBase, File, Function, Guard, Immediate, Initializer, Instruction, Item, Linkage, Loc,
    Module, Operand, RegisterDeclaration, StateSpace, Statement, Variable,
};
use crate::escape::escape;

/// Prints a module so that parsing the text gives the same module again.
///
/// ```
/// let text = ".version 8.8\n.target sm_90\n.address_size 64\n\n.global .align 4 .b32 x[2] = {1, 2};\n";
/// let module = ptx::parse(text)?;
/// assert_eq!(ptx::print(&module), text);
/// # Ok::<(), ptx::Error>(())
/// ```
///
/// A tree that was built by hand prints whatever it says: names are not checked, and text that a
/// `.loc`, `.section` or `.attribute` carries is written as it stands.
pub fn print(module: &Module) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.module(module);
    printer.out
}

/// Prints one instruction on one line, with its semicolon: for diagnostics.
///
/// ```
/// let text = ".version 8.8\n.target sm_90\n.entry k() { .reg .pred %p; @!%p  ret ; }";
/// let module = ptx::parse(text)?;
/// let ptx::ast::Item::Function(function) = &module.items[0] else { unreachable!() };
/// let Some(ptx::ast::Statement::Instruction(ret)) = function.body.as_ref().and_then(|b| b.last())
/// else { unreachable!() };
/// assert_eq!(ptx::print_instruction(ret), "@!%p ret;");
/// # Ok::<(), ptx::Error>(())
/// ```
pub fn print_instruction(instruction: &Instruction) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.instruction(instruction);
    printer.out
}

struct Printer {
    out: String,
    /// Tabs before a statement.
    indent: usize,
}

/// Writes formatted text. Writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($arguments:tt)*) => {{
        let _ = write!($printer.out, $($arguments)*);
    }};
}

impl Printer {
    fn module(&mut self, module: &Module) {
        put!(self, ".version {}.{}\n", module.version.0, module.version.1);
        if !module.target.is_empty() {
            put!(self, ".target {}\n", module.target.join(", "));
        }
        put!(self, ".address_size {}\n", module.address_size);
        for item in &module.items {
            self.out.push('\n');
            self.item(item);
            self.out.push('\n');
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Variable(variable) => {
                self.variable(variable);
                self.out.push(';');
            }
            Item::Function(function) => self.function(function),
            Item::File(file) => self.file(file),
            Item::Section { name, text, .. } => put!(self, ".section {name} {{{text}}}"),
            Item::Pragma { text, .. } => put!(self, ".pragma \"{}\";", escape(text)),
            Item::Alias { name, target, .. } => put!(self, ".alias {name}, {target};"),
            Item::Loc(loc) => self.loc(loc),
        }
    }

    fn file(&mut self, file: &File) {
        put!(self, ".file {} \"{}\"", file.index, escape(&file.name));
        if let Some((timestamp, size)) = file.timestamp_and_size {
            put!(self, ", {timestamp}, {size}");
        }
    }

    fn loc(&mut self, loc: &Loc) {
        put!(self, ".loc {} {} {}{}", loc.file, loc.line, loc.column, loc.attributes);
        if let Some(comment) = &loc.comment {
            put!(self, " // {comment}");
        }
    }

    fn function(&mut self, function: &Function) {
        self.linkage(function.linkage);
        self.out.push_str(if function.is_entry { ".entry " } else { ".func " });
        if !function.returns.is_empty() {
            self.parameters(&function.returns, false);
            self.out.push(' ');
        }
        self.out.push_str(&function.name);
        self.parameters(&function.params, true);
        if function.noreturn {
            self.out.push_str("\n.noreturn");
        }
        for directive in &function.directives {
            put!(self, "\n{}", directive.name);
            let strings = &directive.strings;
            if directive.name == ".attribute" {
                put!(self, "({})", strings.join(", "));
            } else if !strings.is_empty() {
                let quoted: Vec<String> =
                    strings.iter().map(|text| format!("\"{}\"", escape(text))).collect();
                put!(self, " {};", quoted.join(", "));
            }
            self.numbers(&directive.values);
        }
        match &function.body {
            None if function.noreturn || !function.directives.is_empty() => {
                self.out.push_str("\n;")
            }
            None => self.out.push(';'),
            Some(body) => {
                self.out.push('\n');
                self.block(body);
            }
        }
    }

    fn numbers(&mut self, values: &[u64]) {
        for (index, value) in values.iter().enumerate() {
            put!(self, "{}{value}", if index == 0 { " " } else { ", " });
        }
    }

    fn parameters(&mut self, parameters: &[Variable], one_a_line: bool) {
        let lines = one_a_line && parameters.len() > 1;
        self.out.push('(');
        for (index, parameter) in parameters.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            match (lines, index) {
                (true, _) => self.out.push_str("\n\t"),
                (false, 0) => {}
                (false, _) => self.out.push(' '),
            }
            self.variable(parameter);
        }
        if lines {
            self.out.push('\n');
        }
        self.out.push(')');
    }

    fn linkage(&mut self, linkage: Linkage) {
        if linkage != Linkage::Internal {
            self.out.push_str(linkage.directive());
            self.out.push(' ');
        }
    }

    /// A variable or parameter, without its semicolon.
    fn variable(&mut self, variable: &Variable) {
        self.linkage(variable.linkage);
        self.out.push_str(variable.space.directive());
        if !variable.attributes.is_empty() {
            put!(self, " .attribute({})", variable.attributes.join(", "));
        }
        if let Some(align) = variable.align {
            put!(self, " .align {align}");
        }
        if variable.vector > 1 {
            put!(self, " .v{}", variable.vector);
        }
        put!(self, " {}", variable.ty.directive());
        if let Some(pointer) = variable.pointer {
            self.out.push_str(" .ptr");
            if let Some(space) = pointer.space.map(StateSpace::directive) {
                put!(self, " {space}");
            }
            if let Some(align) = pointer.align {
                put!(self, " .align {align}");
            }
        }
        put!(self, " {}", variable.name);
        for length in &variable.dims {
            match length {
                Some(length) => put!(self, "[{length}]"),
                None => self.out.push_str("[]"),
            }
        }
        if let Some(init) = &variable.init {
            self.out.push_str(" = ");
            self.initializer(init);
        }
    }

    fn initializer(&mut self, init: &Initializer) {
        match init {
            Initializer::List(values) => {
                self.out.push('{');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.initializer(value);
                }
                self.out.push('}');
            }
            Initializer::Immediate(value) => self.immediate(*value),
            Initializer::Address { symbol, offset, generic } => {
                if *generic {
                    put!(self, "generic({symbol})");
                } else {
                    self.out.push_str(symbol);
                }
                if *offset != 0 {
                    put!(self, "{offset:+}");
                }
            }
            Initializer::Masked { mask, inner } => {
                put!(self, "0x{mask:X}(");
                self.initializer(inner);
                self.out.push(')');
            }
            Initializer::Fields(fields) => {
                self.out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    put!(self, "{}{name} = {value}", if index == 0 { " " } else { ", " });
                }
                self.out.push_str(" }");
            }
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n('\t', self.indent));
    }

    fn block(&mut self, statements: &[Statement]) {
        self.out.push('{');
        self.indent += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Label { name, .. } => put!(self, "\n{name}:"),
            Statement::CallPrototype { name, returns, params, noreturn, .. } => {
                put!(self, "\n{name}: .callprototype ");
                self.parameters(returns, false);
                self.out.push_str(" _ ");
                self.parameters(params, false);
                self.out.push_str(if *noreturn { " .noreturn;" } else { ";" });
            }
            Statement::BranchTargets { name, labels, .. } => {
                put!(self, "\n{name}: .branchtargets {};", labels.join(", "));
            }
            Statement::CallTargets { name, functions, .. } => {
                put!(self, "\n{name}: .calltargets {};", functions.join(", "));
            }
            inner => {
                self.line();
                self.indented(inner);
            }
        }
    }

    /// A statement that stands at the indentation of its block.
    fn indented(&mut self, statement: &Statement) {
        match statement {
            Statement::Register(registers) => self.registers(registers),
            Statement::Variable(variable) => {
                self.variable(variable);
                self.out.push(';');
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Loc(loc) => self.loc(loc),
            Statement::Block(statements) => self.block(statements),
            Statement::Pragma { text, .. } => put!(self, ".pragma \"{}\";", escape(text)),
            // `statement` has printed these at the margin.
            Statement::Label { .. }
            | Statement::CallPrototype { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. } => {}
        }
    }

    fn registers(&mut self, registers: &RegisterDeclaration) {
        self.out.push_str(".reg ");
        if registers.vector > 1 {
            put!(self, ".v{} ", registers.vector);
        }
        self.out.push_str(registers.ty.directive());
        for (index, (name, count)) in registers.names.iter().enumerate() {
            put!(self, "{}{name}", if index == 0 { " " } else { ", " });
            if let Some(count) = count {
                put!(self, "<{count}>");
            }
        }
        self.out.push(';');
    }

    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(Guard { negated, register }) = &instruction.guard {
            put!(self, "@{}{register} ", if *negated { "!" } else { "" });
        }
        self.out.push_str(&instruction.opcode);
        for modifier in &instruction.modifiers {
            put!(self, ".{modifier}");
        }
        if !instruction.operands.is_empty() {
            self.out.push(' ');
            self.operands(&instruction.operands);
        }
        self.out.push(';');
    }

    fn operands(&mut self, operands: &[Operand]) {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Name(name) => self.out.push_str(name),
            Operand::Not(name) => put!(self, "!{name}"),
            Operand::Immediate(value) => self.immediate(*value),
            Operand::NameOffset(name, offset) => put!(self, "{name}{offset:+}"),
            Operand::Address { base, offset, rest } => {
                self.out.push('[');
                match base {
                    AddressBase::Absolute => put!(self, "{offset}"),
                    AddressBase::Name(name) if *offset == 0 => self.out.push_str(name),
                    AddressBase::Name(name) => put!(self, "{name}{offset:+}"),
                }
                for operand in rest {
                    self.out.push_str(", ");
                    self.operand(operand);
                }
                self.out.push(']');
            }
            Operand::Vector(elements) => {
                self.out.push('{');
                self.operands(elements);
                self.out.push('}');
            }
            Operand::Pair(first, second) => {
                self.operand(first);
                self.out.push('|');
                self.operand(second);
            }
            Operand::List(elements) => {
                self.out.push('(');
                self.operands(elements);
                self.out.push(')');
            }
        }
    }

    fn immediate(&mut self, value: Immediate) {
        match value {
            Immediate::Integer(value) => put!(self, "{value}"),
            Immediate::F32(bits) => put!(self, "0f{bits:08X}"),
            Immediate::F64(bits) => put!(self, "0d{bits:016X}"),
        }
    }
}
