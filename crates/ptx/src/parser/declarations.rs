//! Variables, parameters, registers and initialisers.

use super::{Parser, Result_, quote};
use crate::ast::{
    Immediate, Initializer, Linkage, PointerAttribute, RegisterDeclaration, StateSpace, Type,
    Variable,
};
use crate::error::ErrorKind;
use crate::lexer::TokenKind;
use crate::limits::MAX_ALIGN;
use crate::span::Span;

const TYPE: &str = "a type such as `.b32`";

/// What stands between a state space and a name.
struct Prefix {
    align: Option<u32>,
    ty: Type,
    vector: u32,
    pointer: Option<PointerAttribute>,
    attributes: Vec<String>,
}

impl Parser<'_> {
    /// One or more variables of one declaration, from after the state space to the semicolon.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
        space: StateSpace,
        start: Span,
    ) -> Result_<Vec<Variable>> {
        let prefix = self.prefix(false)?;
        let mut variables = Vec::new();
        loop {
            let (name, _) = self.name("the name of a variable")?;
            let dims = self.dimensions()?;
            let init = if self.eat('=')? { Some(self.initializer()?) } else { None };
            variables.push(Variable {
                linkage,
                space,
                align: prefix.align,
                ty: prefix.ty,
                vector: prefix.vector,
                pointer: None,
                attributes: prefix.attributes.clone(),
                name,
                dims,
                init,
                span: self.since(start),
            });
            if !self.eat(',')? {
                break;
            }
        }
        self.expect(';', "`;` after a declaration")?;
        Ok(variables)
    }

    /// `(…)` of a function or prototype.
    pub(super) fn parameters(&mut self) -> Result_<Vec<Variable>> {
        self.expect('(', "`(` before the parameters")?;
        let mut parameters = Vec::new();
        if self.eat(')')? {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if self.eat(')')? {
                return Ok(parameters);
            }
            self.expect(',', "`,` or `)` after a parameter")?;
        }
    }

    fn parameter(&mut self) -> Result_<Variable> {
        let start = self.token.span;
        let space = match self.token.kind {
            TokenKind::Directive(".param") => StateSpace::Param,
            TokenKind::Directive(".reg") => StateSpace::Reg,
            _ => return Err(self.expected("a parameter: `.param` or `.reg`")),
        };
        self.bump()?;
        let prefix = self.prefix(true)?;
        let name = match self.token.kind {
            // A prototype may leave its parameters without names.
            TokenKind::Punct(',' | ')' | '[') => "_".to_owned(),
            _ => self.name("the name of a parameter")?.0,
        };
        let dims = self.dimensions()?;
        Ok(Variable {
            linkage: Linkage::Internal,
            space,
            align: prefix.align,
            ty: prefix.ty,
            vector: prefix.vector,
            pointer: prefix.pointer,
            attributes: prefix.attributes,
            name,
            dims,
            init: None,
            span: self.since(start),
        })
    }

    /// `.align 8 .v2 .b32`, for parameters also `.b64 .ptr .global .align 4`.
    fn prefix(&mut self, parameter: bool) -> Result_<Prefix> {
        let (mut align, mut vector, mut attributes) = (None, 1, Vec::new());
        let ty = loop {
            match self.token.kind {
                TokenKind::Directive(".align") => align = Some(self.align()?),
                TokenKind::Directive(".attribute") => attributes.extend(self.attribute()?),
                TokenKind::Directive(directive) => {
                    if let Some(ty) = Type::from_directive(directive) {
                        self.bump()?;
                        break ty;
                    }
                    vector = match directive {
                        ".v2" => 2,
                        ".v4" => 4,
                        _ => return Err(self.expected(TYPE)),
                    };
                    self.bump()?;
                }
                _ => return Err(self.expected(TYPE)),
            }
        };
        let pointer =
            if parameter && self.eat_directive(".ptr")? { Some(self.pointer()?) } else { None };
        Ok(Prefix { align, ty, vector, pointer, attributes })
    }

    fn pointer(&mut self) -> Result_<PointerAttribute> {
        let mut pointer = PointerAttribute { space: None, align: None };
        while let TokenKind::Directive(directive) = self.token.kind {
            match StateSpace::from_directive(directive) {
                Some(space) => {
                    self.bump()?;
                    pointer.space = Some(space);
                }
                None if directive == ".align" => pointer.align = Some(self.align()?),
                None => return Err(self.expected("a state space or `.align` after `.ptr`")),
            }
        }
        Ok(pointer)
    }

    fn align(&mut self) -> Result_<u32> {
        self.bump()?;
        let value = self.bounded("an alignment in bytes", MAX_ALIGN.into())?;
        Ok(u32::try_from(value).unwrap_or(MAX_ALIGN))
    }

    /// `.attribute(.managed, .unified(1, 2))`: each as its text without blanks.
    pub(super) fn attribute(&mut self) -> Result_<Vec<String>> {
        self.bump()?;
        self.expect('(', "`(` after `.attribute`")?;
        let mut attributes = vec![String::new()];
        let mut depth = 0_u32;
        loop {
            match self.token.kind {
                TokenKind::Punct('(') => depth += 1,
                TokenKind::Punct(')') if depth == 0 => break,
                TokenKind::Punct(')') => depth -= 1,
                TokenKind::Punct(',') if depth == 0 => {
                    self.bump()?;
                    attributes.push(String::new());
                    continue;
                }
                TokenKind::Directive(_) | TokenKind::Number(_) | TokenKind::Punct(',') => {}
                _ => return Err(self.expected("an attribute such as `.managed`")),
            }
            let span = self.bump()?.span;
            let text = self.lexer.slice(span.start, span.end);
            if let Some(attribute) = attributes.last_mut() {
                attribute.push_str(text);
            }
        }
        if attributes.iter().any(String::is_empty) {
            return Err(self.expected("an attribute such as `.managed`"));
        }
        self.bump()?;
        Ok(attributes)
    }

    fn dimensions(&mut self) -> Result_<Vec<Option<u64>>> {
        let mut dims = Vec::new();
        while self.eat('[')? {
            if self.eat(']')? {
                dims.push(None);
                continue;
            }
            dims.push(Some(self.bounded("an array length in elements", u64::MAX)?));
            self.expect(']', "`]` after an array length")?;
        }
        Ok(dims)
    }

    fn initializer(&mut self) -> Result_<Initializer> {
        if self.at('{') {
            return self.nested(Self::initializer_list);
        }
        if self.at_expression() || self.at('(') {
            let start = self.token.span;
            let value = self.immediate()?;
            let Immediate::Integer(mask) = value else { return Ok(Initializer::Immediate(value)) };
            if !self.at('(') {
                return Ok(Initializer::Immediate(value));
            }
            let Ok(mask) = u64::try_from(mask) else {
                let text = mask.to_string();
                let kind = ErrorKind::NumberOutOfRange { text, what: "a mask", limit: u64::MAX };
                return Err((kind, self.since(start)));
            };
            self.bump()?;
            let inner = Box::new(self.symbol_address()?);
            self.expect(')', "`)` after a masked address")?;
            return Ok(Initializer::Masked { mask, inner });
        }
        self.symbol_address()
    }

    fn initializer_list(&mut self) -> Result_<Initializer> {
        self.expect('{', "`{`")?;
        let mut values = Vec::new();
        let mut fields = Vec::new();
        while !self.eat('}')? {
            if let (TokenKind::Word(_), true) = (self.token.kind, values.is_empty()) {
                let start = self.token.span;
                let (name, _) = self.name("a value")?;
                if self.eat('=')? {
                    fields.push((name, self.field_value()?));
                } else {
                    values.push(self.symbol_address_after(name, start)?);
                }
            } else {
                values.push(self.initializer()?);
            }
            if !values.is_empty() && !fields.is_empty() {
                return Err(self.expected("`name = value`"));
            }
            if !self.at('}') {
                self.expect(',', "`,` or `}` in an initialiser")?;
            }
        }
        Ok(if fields.is_empty() { Initializer::List(values) } else { Initializer::Fields(fields) })
    }

    /// The value of a property of a sampler or texture: a word or a number.
    fn field_value(&mut self) -> Result_<String> {
        match self.token.kind {
            TokenKind::Word(word) => {
                self.bump()?;
                Ok(word.to_owned())
            }
            TokenKind::Number(Immediate::Integer(value)) => {
                self.bump()?;
                Ok(value.to_string())
            }
            _ => Err(self.expected("a word or a number after `=`")),
        }
    }

    fn symbol_address(&mut self) -> Result_<Initializer> {
        let start = self.token.span;
        let (name, _) = self.name("a value: a number, a symbol, `generic(symbol)` or `{ … }`")?;
        self.symbol_address_after(name, start)
    }

    /// `x`, `x+4`, `generic(x)`, `generic(x)+4`, `generic(x+4)`, of which the first name is read.
    fn symbol_address_after(&mut self, name: String, start: Span) -> Result_<Initializer> {
        let generic = name == "generic" && self.at('(');
        let mut symbol = name;
        let mut offset = 0_i64;
        if generic {
            self.bump()?;
            symbol = self.name("the symbol inside `generic( )`")?.0;
            if self.at('+') || self.at('-') {
                offset = self.offset()?;
            }
            self.expect(')', "`)` after `generic(symbol`")?;
        }
        if self.at('+') || self.at('-') {
            offset = offset.wrapping_add(self.offset()?);
        }
        if self.at('(') {
            let span = self.since(start);
            let found = quote(self.lexer.slice(span.start, span.end));
            let expected = "`generic` or a mask such as `0xFF` before `(`";
            return Err((ErrorKind::Expected { expected, found }, span));
        }
        Ok(Initializer::Address { symbol, offset, generic })
    }

    /// `.b32 %r<10>, x;`, from after `.reg` to the semicolon.
    pub(super) fn registers(&mut self, start: Span) -> Result_<RegisterDeclaration> {
        let prefix = self.prefix(false)?;
        let mut names = Vec::new();
        loop {
            let (name, _) = self.name("the name of a register")?;
            let count = if self.eat('<')? {
                let count = self.small("a number of registers")?;
                self.expect('>', "`>` after a number of registers")?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.eat(',')? {
                break;
            }
        }
        self.expect(';', "`;` after a declaration")?;
        Ok(RegisterDeclaration {
            ty: prefix.ty,
            vector: prefix.vector,
            names,
            span: self.since(start),
        })
    }
}
