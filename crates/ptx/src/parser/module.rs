//! Module scope: header directives, functions, files, sections.

use super::{Parser, Result_};
use crate::ast::{File, Function, FunctionDirective, Item, Linkage, Module, StateSpace};
use crate::error::ErrorKind;
use crate::lexer::TokenKind;
use crate::span::Span;

const ITEM: &str = "a module directive such as `.global`, `.func` or `.entry`";

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Result_<Module> {
        if !self.at_directive(".version") {
            return Err(self.expected("`.version`, with which every module begins"));
        }
        self.bump()?;
        let mut module = Module { version: self.version()?, address_size: 64, ..Module::default() };
        let mut address_size = None;
        loop {
            let start = self.token.span;
            match self.token.kind {
                TokenKind::End => break,
                TokenKind::Punct(';') => {
                    self.bump()?;
                }
                // Concatenated modules repeat their header (PTX ISA, .version and .target).
                TokenKind::Directive(".version") => {
                    self.bump()?;
                    if self.version()? != module.version {
                        let first = format!("{}.{}", module.version.0, module.version.1);
                        let kind =
                            ErrorKind::ContradictingDirective { directive: ".version", first };
                        return Err((kind, self.since(start)));
                    }
                }
                TokenKind::Directive(".target") => {
                    self.bump()?;
                    let target = self.target()?;
                    if module.target.is_empty() {
                        module.target = target;
                    } else if module.target != target {
                        let first = module.target.join(", ");
                        let kind =
                            ErrorKind::ContradictingDirective { directive: ".target", first };
                        return Err((kind, self.since(start)));
                    }
                }
                TokenKind::Directive(".address_size") => {
                    self.bump()?;
                    let bits = self.small("an address size in bits")?;
                    if let Some(first) = address_size.filter(|first| *first != bits) {
                        let first = u32::to_string(&first);
                        let kind =
                            ErrorKind::ContradictingDirective { directive: ".address_size", first };
                        return Err((kind, self.since(start)));
                    }
                    address_size = Some(bits);
                    module.address_size = bits;
                }
                TokenKind::Directive(directive) => self.item(directive, &mut module.items)?,
                _ => return Err(self.expected(ITEM)),
            }
        }
        Ok(module)
    }

    /// `8.8`: two integers joined by a dot, not a float: 8.10 is newer than 8.9.
    fn version(&mut self) -> Result_<(u32, u32)> {
        let expected = "a version such as `8.8`";
        let TokenKind::Number(_) = self.token.kind else { return Err(self.expected(expected)) };
        let text = self.lexer.slice(self.token.span.start, self.token.span.end);
        let version = text.split_once('.').and_then(|(major, minor)| {
            let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
            (plain(major) && plain(minor)).then_some(())?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let Some(version) = version else { return Err(self.expected(expected)) };
        self.bump()?;
        Ok(version)
    }

    fn target(&mut self) -> Result_<Vec<String>> {
        let mut target = vec![self.name("an architecture such as `sm_90`")?.0];
        while self.eat(',')? {
            target.push(self.name("a target option such as `debug`")?.0);
        }
        Ok(target)
    }

    fn item(&mut self, directive: &str, items: &mut Vec<Item>) -> Result_<()> {
        let start = self.token.span;
        match directive {
            ".loc" => items.push(Item::Loc(self.loc()?)),
            ".file" => items.push(Item::File(self.file(start)?)),
            ".section" => items.push(self.section(start)?),
            ".pragma" => {
                self.bump()?;
                let text = self.text()?;
                self.expect(';', "`;` after `.pragma`")?;
                items.push(Item::Pragma { text, span: self.since(start) });
            }
            ".alias" => {
                self.bump()?;
                let (name, _) = self.name("the name of an alias")?;
                self.expect(',', "`,` after the name of an alias")?;
                let (target, _) = self.name("the function that the alias stands for")?;
                self.expect(';', "`;` after `.alias`")?;
                items.push(Item::Alias { name, target, span: self.since(start) });
            }
            _ => self.symbol(start, items)?,
        }
        Ok(())
    }

    /// A variable or function, with its linkage.
    fn symbol(&mut self, start: Span, items: &mut Vec<Item>) -> Result_<()> {
        let mut linkage = Linkage::Internal;
        while let TokenKind::Directive(directive) = self.token.kind {
            let Some(found) = Linkage::from_directive(directive) else { break };
            if linkage != Linkage::Internal {
                return Err(self.expected("one linkage directive, not two"));
            }
            linkage = found;
            self.bump()?;
        }
        let TokenKind::Directive(directive) = self.token.kind else {
            return Err(self.expected(ITEM));
        };
        match (directive, StateSpace::from_directive(directive)) {
            (".entry" | ".func", _) => {
                self.bump()?;
                let function = self.function(linkage, directive == ".entry", start)?;
                items.push(Item::Function(function));
            }
            (
                _,
                Some(StateSpace::Reg | StateSpace::Sreg | StateSpace::Local | StateSpace::Param),
            ) => {
                let kind = ErrorKind::MisplacedDirective {
                    directive: directive.to_owned(),
                    place: "at module scope, only inside a function",
                };
                return Err((kind, self.token.span));
            }
            (_, Some(space)) => {
                self.bump()?;
                items
                    .extend(self.variables(linkage, space, start)?.into_iter().map(Item::Variable));
            }
            (_, None) => return Err(self.expected(ITEM)),
        }
        Ok(())
    }

    fn function(&mut self, linkage: Linkage, is_entry: bool, start: Span) -> Result_<Function> {
        let mut function = Function {
            linkage,
            is_entry,
            name: String::new(),
            returns: Vec::new(),
            params: Vec::new(),
            noreturn: false,
            directives: Vec::new(),
            body: None,
            span: start,
        };
        // `.attribute` stands before the name (PTX ISA, .func).
        self.function_directives(&mut function)?;
        if self.at('(') {
            function.returns = self.parameters()?;
        }
        function.name = self.name("the name of a function")?.0;
        if self.at('(') {
            function.params = self.parameters()?;
        }
        function.span = self.since(start);
        self.function_directives(&mut function)?;
        if self.at('{') {
            function.body = Some(self.block()?);
        } else {
            self.expect(';', "`{` or `;` after the header of a function")?;
        }
        Ok(function)
    }

    fn function_directives(&mut self, function: &mut Function) -> Result_<()> {
        while let TokenKind::Directive(name) = self.token.kind {
            if name == ".noreturn" {
                self.bump()?;
                function.noreturn = true;
                continue;
            }
            let mut directive = FunctionDirective {
                name: name.to_owned(),
                values: Vec::new(),
                strings: Vec::new(),
            };
            match name {
                ".attribute" => directive.strings = self.attribute()?,
                ".pragma" => {
                    self.bump()?;
                    directive.strings.push(self.text()?);
                    while self.eat(',')? {
                        directive.strings.push(self.text()?);
                    }
                    self.expect(';', "`;` after `.pragma`")?;
                }
                _ => {
                    self.bump()?;
                    if self.at_expression() {
                        directive.values.push(self.bounded("a value of a directive", u64::MAX)?);
                        while self.eat(',')? {
                            directive
                                .values
                                .push(self.bounded("a value of a directive", u64::MAX)?);
                        }
                    }
                }
            }
            function.directives.push(directive);
        }
        Ok(())
    }

    fn file(&mut self, start: Span) -> Result_<File> {
        self.bump()?;
        let index = self.small("the index of a file")?;
        let name = self.text()?;
        let timestamp_and_size = if self.eat(',')? {
            let timestamp = self.bounded("a timestamp in seconds", u64::MAX)?;
            self.expect(',', "`,` and a file size after a timestamp")?;
            Some((timestamp, self.bounded("a file size in bytes", u64::MAX)?))
        } else {
            None
        };
        Ok(File { index, name, timestamp_and_size, span: self.since(start) })
    }

    fn section(&mut self, start: Span) -> Result_<Item> {
        self.bump()?;
        let name = match self.token.kind {
            TokenKind::Directive(name) | TokenKind::Word(name) => name.to_owned(),
            _ => return Err(self.expected("the name of a section")),
        };
        self.bump()?;
        if !self.at('{') {
            return Err(self.expected("`{` after the name of a section"));
        }
        let text = self.lexer.raw_block(self.token.span.end)?.to_owned();
        // The brace is still the current token; what follows its block is next.
        self.bump()?;
        Ok(Item::Section { name, text, span: self.since(start) })
    }
}
