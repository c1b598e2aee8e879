//! Bodies of functions.

use super::{Parser, Result_};
use crate::ast::{Guard, Instruction, Linkage, Loc, StateSpace, Statement};
use crate::error::ErrorKind;
use crate::lexer::TokenKind;
use crate::span::Span;

const STATEMENT: &str = "a label, a declaration or an instruction";

impl Parser<'_> {
    /// `{ … }` of a function or scope.
    pub(super) fn block(&mut self) -> Result_<Vec<Statement>> {
        self.nested(|parser| {
            let open = parser.expect('{', "`{`")?;
            let mut statements = Vec::new();
            while !parser.eat('}')? {
                if parser.token.kind == TokenKind::End {
                    return Err((ErrorKind::UnclosedBrace, open));
                }
                parser.statement(&mut statements)?;
            }
            Ok(statements)
        })
    }

    /// Appends what the next statement declares or does: nothing for a lone `;`, more than one
    /// statement for `.shared .b32 a, b;`.
    fn statement(&mut self, out: &mut Vec<Statement>) -> Result_<()> {
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Punct('{') => {
                let inner = self.block()?;
                out.push(Statement::Block(inner));
            }
            TokenKind::Punct(';') => {
                self.bump()?;
            }
            TokenKind::Directive(directive) => self.body_directive(directive, out)?,
            TokenKind::Punct('@') => out.push(self.instruction(start, None)?),
            TokenKind::Word(_) => {
                let (name, span) = self.name(STATEMENT)?;
                if self.eat(':')? {
                    let label = self.labelled(name, span)?;
                    out.push(label);
                } else {
                    out.push(self.instruction(start, Some((name, span)))?);
                }
            }
            _ => return Err(self.expected(STATEMENT)),
        }
        Ok(())
    }

    fn body_directive(&mut self, directive: &str, out: &mut Vec<Statement>) -> Result_<()> {
        let start = self.token.span;
        if directive == ".loc" {
            out.push(Statement::Loc(self.loc()?));
            return Ok(());
        }
        if directive == ".pragma" {
            self.bump()?;
            let text = self.text()?;
            self.expect(';', "`;` after `.pragma`")?;
            out.push(Statement::Pragma { text, span: self.since(start) });
            return Ok(());
        }
        let mut linkage = Linkage::Internal;
        if let Some(found) = Linkage::from_directive(directive) {
            self.bump()?;
            linkage = found;
        }
        let space = match self.token.kind {
            TokenKind::Directive(directive) => StateSpace::from_directive(directive),
            _ => None,
        };
        match space {
            Some(StateSpace::Reg) if linkage == Linkage::Internal => {
                self.bump()?;
                out.push(Statement::Register(self.registers(start)?));
                Ok(())
            }
            Some(space) if !matches!(space, StateSpace::Reg | StateSpace::Sreg) => {
                self.bump()?;
                out.extend(
                    self.variables(linkage, space, start)?.into_iter().map(Statement::Variable),
                );
                Ok(())
            }
            _ if linkage != Linkage::Internal => {
                Err(self.expected("a state space such as `.shared`"))
            }
            _ => {
                let directive =
                    self.lexer.slice(self.token.span.start, self.token.span.end).to_owned();
                Err((
                    ErrorKind::MisplacedDirective { directive, place: "inside a function" },
                    self.token.span,
                ))
            }
        }
    }

    /// What a label marks: `.branchtargets` and its like belong to it, all else stands for itself.
    fn labelled(&mut self, name: String, start: Span) -> Result_<Statement> {
        let TokenKind::Directive(
            directive @ (".callprototype" | ".branchtargets" | ".calltargets"),
        ) = self.token.kind
        else {
            return Ok(Statement::Label { name, span: start });
        };
        self.bump()?;
        if directive == ".callprototype" {
            return self.call_prototype(name, start);
        }
        let mut targets = vec![self.name("the name of a target")?.0];
        while self.eat(',')? {
            targets.push(self.name("the name of a target")?.0);
        }
        self.expect(';', "`,` or `;` after a target")?;
        let span = self.since(start);
        Ok(if directive == ".branchtargets" {
            Statement::BranchTargets { name, labels: targets, span }
        } else {
            Statement::CallTargets { name, functions: targets, span }
        })
    }

    /// `(ret) _ (params) .noreturn;`
    fn call_prototype(&mut self, name: String, start: Span) -> Result_<Statement> {
        let returns = if self.at('(') { self.parameters()? } else { Vec::new() };
        self.name("`_` in a call prototype")?;
        let params = if self.at('(') { self.parameters()? } else { Vec::new() };
        let mut noreturn = false;
        while let TokenKind::Directive(directive) = self.token.kind {
            match directive {
                ".noreturn" => noreturn = true,
                // An optimisation hint for the assembler (PTX ISA, .abi_preserve).
                ".abi_preserve" | ".abi_preserve_control" => {
                    self.bump()?;
                    self.small("a number of registers")?;
                    continue;
                }
                _ => return Err(self.expected("`.noreturn` or `;` after a call prototype")),
            }
            self.bump()?;
        }
        self.expect(';', "`;` after a call prototype")?;
        Ok(Statement::CallPrototype { name, returns, params, noreturn, span: self.since(start) })
    }

    /// `@p opcode.modifiers operands;`, of which the mnemonic may already be read.
    fn instruction(&mut self, start: Span, mnemonic: Option<(String, Span)>) -> Result_<Statement> {
        let mut guard = None;
        let (mnemonic, span) = match mnemonic {
            Some(mnemonic) => mnemonic,
            None => {
                self.expect('@', "`@`")?;
                let negated = self.eat('!')?;
                let (register, _) = self.name("a predicate register after `@`")?;
                guard = Some(Guard { negated, register });
                self.name("an instruction after its guard")?
            }
        };
        let (opcode, mut modifiers) = split_mnemonic(&mnemonic, span)?;
        while let TokenKind::Directive(directive) = self.token.kind {
            modifiers.push(directive[1..].to_owned());
            self.bump()?;
        }
        let operands = self.operands(opcode == "call")?;
        self.expect(';', "`,` or `;` after an operand")?;
        Ok(Statement::Instruction(Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            span: self.since(start),
        }))
    }

    /// `.loc file line column[, function_name label[+offset], inlined_at file line column]`.
    pub(super) fn loc(&mut self) -> Result_<Loc> {
        let start = self.token.span;
        self.bump()?;
        let file = self.small("the index of a `.file`")?;
        let line = self.small("a line number")?;
        let column = self.small("a column number")?;
        let attributes_start = self.last_end;
        // Without commas a `.loc` ends after its third number: it has no terminator of its own.
        while self.eat(',')? {
            match self.name("`function_name` or `inlined_at`")? {
                (word, _) if word == "function_name" => {
                    self.name("the label of a function's name")?;
                    if self.at('+') {
                        self.offset()?;
                    }
                }
                (word, _) if word == "inlined_at" => {
                    self.small("the index of a `.file`")?;
                    self.small("a line number")?;
                    self.small("a column number")?;
                }
                (word, span) => {
                    let expected = "`function_name` or `inlined_at`";
                    return Err((
                        ErrorKind::Expected { expected, found: super::quote(&word) },
                        span,
                    ));
                }
            }
        }
        let attributes = self.lexer.slice(attributes_start, self.last_end).trim().to_owned();
        let comment = self.lexer.trailing_comment(self.last_end).map(str::to_owned);
        Ok(Loc { file, line, column, attributes, comment, span: self.since(start) })
    }
}

/// `ld.global.b32` to `ld` and `["global", "b32"]`.
fn split_mnemonic(mnemonic: &str, span: Span) -> Result_<(String, Vec<String>)> {
    let mut parts = mnemonic.split('.');
    let opcode = parts.next().unwrap_or_default();
    let modifiers: Vec<String> = parts.map(str::to_owned).collect();
    let known_shape = opcode.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && opcode.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && !modifiers.iter().any(String::is_empty);
    if known_shape {
        return Ok((opcode.to_owned(), modifiers));
    }
    Err((ErrorKind::Expected { expected: STATEMENT, found: super::quote(mnemonic) }, span))
}
