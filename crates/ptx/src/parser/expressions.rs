//! Constant expressions (PTX ISA, Constant Expressions), evaluated as they are read.
//!
//! Literals, `WARP_SZ`, unary `+ - ~`, and `* / + - << >> & ^ |` with C's precedence, over integers
//! of 64 bits with either sign. Comparisons, `?:` and casts are not read: no compiler writes them.

use super::{Parser, Result_};
use crate::ast::Immediate;
use crate::error::ErrorKind;
use crate::lexer::TokenKind;
use crate::span::Span;

/// Lanes per warp, on every target so far (PTX ISA, `WARP_SZ`).
const WARP_SIZE: i128 = 32;

/// Binary operators by how strongly they bind.
fn strength(operator: char) -> Option<u8> {
    Some(match operator {
        '|' => 0,
        '^' => 1,
        '&' => 2,
        '«' | '»' => 3,
        '+' | '-' => 4,
        '*' | '/' => 5,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Whether a number can begin with the next token.
    pub(super) fn at_expression(&self) -> bool {
        matches!(
            self.token.kind,
            TokenKind::Number(_) | TokenKind::Punct('-' | '+' | '~') | TokenKind::Word("WARP_SZ")
        )
    }

    /// An immediate operand: a constant expression or a float.
    pub(super) fn immediate(&mut self) -> Result_<Immediate> {
        self.binary(0)
    }

    /// An integer, as itself.
    pub(super) fn integer(&mut self, expected: &'static str) -> Result_<(i128, Span)> {
        if !self.at_expression() && !self.at('(') {
            return Err(self.expected(expected));
        }
        let start = self.token.span;
        match self.immediate()? {
            Immediate::Integer(value) => Ok((value, self.since(start))),
            _ => Err(self.unexpected_float(start, expected)),
        }
    }

    /// A non-negative integer of at most `limit`.
    pub(super) fn bounded(&mut self, what: &'static str, limit: u64) -> Result_<u64> {
        let (value, span) = self.integer(what)?;
        match u64::try_from(value) {
            Ok(value) if value <= limit => Ok(value),
            _ => Err((ErrorKind::NumberOutOfRange { text: value.to_string(), what, limit }, span)),
        }
    }

    /// A non-negative integer of 32 bits.
    pub(super) fn small(&mut self, what: &'static str) -> Result_<u32> {
        let value = self.bounded(what, u32::MAX.into())?;
        // `bounded` has checked it.
        Ok(u32::try_from(value).unwrap_or(u32::MAX))
    }

    /// `+4`, `-8`, `+-8`: what stands after a name, in bytes. Addresses wrap at 64 bits.
    pub(super) fn offset(&mut self) -> Result_<i64> {
        self.eat('+')?;
        let (value, _) = self.integer("an offset in bytes")?;
        Ok(value as i64)
    }

    fn binary(&mut self, weakest: u8) -> Result_<Immediate> {
        let start = self.token.span;
        let mut left = self.unary()?;
        while let TokenKind::Punct(operator) = self.token.kind {
            let Some(strength) = strength(operator).filter(|s| *s >= weakest) else { break };
            self.bump()?;
            // Each level binds more strongly than the last: at most six deep.
            let right = self.binary(strength + 1)?;
            left = self.apply(operator, left, right, start)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result_<Immediate> {
        let start = self.token.span;
        let mut negative = false;
        let mut inverted = None;
        while let TokenKind::Punct(sign @ ('-' | '+' | '~')) = self.token.kind {
            self.bump()?;
            if sign == '~' {
                // `~-x` and `-~x` differ; nobody writes them.
                if negative || inverted.is_some() {
                    return Err((
                        ErrorKind::BadExpression("put parentheses around `~`"),
                        self.since(start),
                    ));
                }
                inverted = Some(());
            } else {
                negative ^= sign == '-';
            }
        }
        let mut value = self.primary()?;
        if negative {
            value = match value {
                Immediate::Integer(value) => Immediate::Integer(-value),
                Immediate::F32(bits) => Immediate::F32(bits ^ 1 << 31),
                Immediate::F64(bits) => Immediate::F64(bits ^ 1 << 63),
            };
        }
        if inverted.is_some() {
            value = match value {
                Immediate::Integer(value) => Immediate::Integer(!value),
                _ => return Err(self.unexpected_float(start, "an integer after `~`")),
            };
        }
        self.in_range(value, start)
    }

    fn primary(&mut self) -> Result_<Immediate> {
        match self.token.kind {
            TokenKind::Number(value) => {
                self.bump()?;
                Ok(value)
            }
            TokenKind::Word("WARP_SZ") => {
                self.bump()?;
                Ok(Immediate::Integer(WARP_SIZE))
            }
            TokenKind::Punct('(') => self.nested(|parser| {
                parser.bump()?;
                let value = parser.binary(0)?;
                parser.expect(')', "`)` after a constant expression")?;
                Ok(value)
            }),
            _ => Err(self.expected("a number")),
        }
    }

    fn apply(
        &self,
        operator: char,
        left: Immediate,
        right: Immediate,
        start: Span,
    ) -> Result_<Immediate> {
        let (Immediate::Integer(a), Immediate::Integer(b)) = (left, right) else {
            return Err(self.unexpected_float(start, "integers in a constant expression"));
        };
        let fail = |why| (ErrorKind::BadExpression(why), self.since(start));
        let value = match operator {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' if b == 0 => return Err(fail("it divides by zero")),
            '/' => a.checked_div(b),
            '&' => Some(a & b),
            '^' => Some(a ^ b),
            '|' => Some(a | b),
            _ => {
                let Some(amount) = u32::try_from(b).ok().filter(|amount| *amount < 64) else {
                    return Err(fail("it shifts by less than 0 or more than 63 bits"));
                };
                if operator == '«' { a.checked_mul(1 << amount) } else { Some(a >> amount) }
            }
        };
        match value {
            Some(value) => self.in_range(Immediate::Integer(value), start),
            None => Err(fail("it does not fit in 64 bits")),
        }
    }

    fn in_range(&self, value: Immediate, start: Span) -> Result_<Immediate> {
        match value {
            Immediate::Integer(value) if value.unsigned_abs() > u64::MAX.into() => {
                Err((ErrorKind::BadExpression("it does not fit in 64 bits"), self.since(start)))
            }
            value => Ok(value),
        }
    }

    fn unexpected_float(&self, start: Span, expected: &'static str) -> (ErrorKind, Span) {
        let span = self.since(start);
        let found = super::quote(self.lexer.slice(span.start, span.end));
        (ErrorKind::Expected { expected, found }, span)
    }
}
