//! Operands of instructions.

use super::{Parser, Result_};
use crate::ast::{AddressBase, Operand};
use crate::lexer::TokenKind;

const OPERAND: &str = "an operand: a name, a number, `[address]` or `{vector}`";

impl Parser<'_> {
    /// Comma-separated operands up to the semicolon, which is left. `lists` allows `(a, b)`, which
    /// only `call` has; elsewhere a parenthesis opens a constant expression.
    pub(super) fn operands(&mut self, lists: bool) -> Result_<Vec<Operand>> {
        let mut operands = Vec::new();
        if self.at(';') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(lists)?);
            if !self.eat(',')? {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, lists: bool) -> Result_<Operand> {
        let first = match self.token.kind {
            TokenKind::Punct('[') => return self.address(),
            TokenKind::Punct('(') if lists => return self.list(),
            TokenKind::Punct('(') => return Ok(Operand::Immediate(self.immediate()?)),
            TokenKind::Punct('{') => self.vector()?,
            _ => self.simple()?,
        };
        if !self.at('|') {
            return Ok(first);
        }
        if !matches!(first, Operand::Name(_) | Operand::Vector(_)) {
            return Err(self.expected("`,` or `;` after an operand"));
        }
        self.bump()?;
        let (second, _) = self.name("a predicate register after `|`")?;
        Ok(Operand::Pair(Box::new(first), Box::new(Operand::Name(second))))
    }

    /// A name, `!name`, `name+4` or a number.
    fn simple(&mut self) -> Result_<Operand> {
        if self.at_expression() {
            return Ok(Operand::Immediate(self.immediate()?));
        }
        if self.eat('!')? {
            let (name, _) = self.name("a predicate register after `!`")?;
            return Ok(Operand::Not(name));
        }
        let (name, _) = self.name(OPERAND)?;
        if self.at('+') || self.at('-') {
            return Ok(Operand::NameOffset(name, self.offset()?));
        }
        Ok(Operand::Name(name))
    }

    /// `{a, b, _}`. Vectors do not nest.
    fn vector(&mut self) -> Result_<Operand> {
        self.expect('{', "`{`")?;
        Ok(Operand::Vector(self.simple_operands('}', "`,` or `}` in a vector")?))
    }

    /// `(a, b)` of a call, possibly empty.
    fn list(&mut self) -> Result_<Operand> {
        self.expect('(', "`(`")?;
        Ok(Operand::List(self.simple_operands(')', "`,` or `)` in the list of a call")?))
    }

    fn simple_operands(&mut self, close: char, expected: &'static str) -> Result_<Vec<Operand>> {
        let mut elements = Vec::new();
        if self.eat(close)? {
            return Ok(elements);
        }
        loop {
            elements.push(self.simple()?);
            if self.eat(close)? {
                return Ok(elements);
            }
            self.expect(',', expected)?;
        }
    }

    /// `[base+offset]`, `[offset]`, `[base, {a, b}]`, `[base, sampler, {a, b}]`.
    fn address(&mut self) -> Result_<Operand> {
        self.expect('[', "`[`")?;
        let (base, offset) = if self.at_expression() || self.at('(') {
            let (value, _) = self.integer("an address")?;
            // An absolute address may be written signed or unsigned.
            (AddressBase::Absolute, value as i64)
        } else {
            let (name, _) = self.name("a register, a variable or a number inside `[ ]`")?;
            let offset = if self.at('+') || self.at('-') { self.offset()? } else { 0 };
            (AddressBase::Name(name), offset)
        };
        let mut rest = Vec::new();
        while self.eat(',')? {
            rest.push(if self.at('{') { self.vector()? } else { self.simple()? });
        }
        self.expect(']', "`]` after an address")?;
        Ok(Operand::Address { base, offset, rest })
    }
}
