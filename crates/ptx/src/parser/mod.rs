//! Tokens to syntax tree: recursive descent with one token of lookahead.
//!
//! Only scopes, initialiser lists and constant expressions nest, and each level is counted against
//! [`MAX_NESTING`], so the stack is bounded whatever the input.

mod declarations;
mod expressions;
mod module;
mod operands;
mod statements;

use crate::ast::Module;
use crate::error::{Error, ErrorKind};
use crate::lexer::{LexError, Lexer, Token, TokenKind};
use crate::limits::{MAX_NESTING, MAX_SOURCE_BYTES};
use crate::span::Span;

/// Parses the text of a PTX module.
///
/// Every instruction parses, known or not; names are not looked up: that is [`crate::validate()`].
///
/// ```
/// let module = ptx::parse(
///     ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }",
/// )?;
/// assert_eq!(module.version, (8, 8));
/// assert_eq!(module.items.len(), 1);
/// # Ok::<(), ptx::Error>(())
/// ```
///
/// # Errors
/// When the text is not PTX, or goes beyond one of the [`crate::limits`].
pub fn parse(source: &str) -> Result<Module, Error> {
    if source.len() > MAX_SOURCE_BYTES {
        let kind = ErrorKind::SourceTooLong { bytes: source.len(), limit: MAX_SOURCE_BYTES };
        // The text is not indexed: that it is too long can be said without reading it.
        return Err(Error::new(kind, Span::default(), ""));
    }
    let attach = |(kind, span): LexError| Error::new(kind, span, source);
    let mut parser = Parser::new(source).map_err(attach)?;
    parser.module().map_err(attach)
}

type Result_<T> = Result<T, LexError>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token that has not been consumed yet.
    token: Token<'a>,
    /// End of the token consumed last.
    last_end: u32,
    /// Levels of nesting at this point.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Result_<Self> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next()?;
        Ok(Self { lexer, token, last_end: 0, depth: 0 })
    }

    /// Consumes a token.
    fn bump(&mut self) -> Result_<Token<'a>> {
        let next = self.lexer.next()?;
        self.last_end = self.token.span.end;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn at(&self, punct: char) -> bool {
        self.token.kind == TokenKind::Punct(punct)
    }

    fn at_directive(&self, directive: &str) -> bool {
        self.token.kind == TokenKind::Directive(directive)
    }

    /// Consumes a punctuation character if it is next.
    fn eat(&mut self, punct: char) -> Result_<bool> {
        let found = self.at(punct);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Consumes a directive if it is next.
    fn eat_directive(&mut self, directive: &str) -> Result_<bool> {
        let found = self.at_directive(directive);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Consumes a punctuation character that must be next.
    fn expect(&mut self, punct: char, expected: &'static str) -> Result_<Span> {
        if self.at(punct) { Ok(self.bump()?.span) } else { Err(self.expected(expected)) }
    }

    /// Consumes a name. Names are whole words, dots included.
    fn name(&mut self, expected: &'static str) -> Result_<(String, Span)> {
        match self.token.kind {
            TokenKind::Word(word) => {
                let span = self.bump()?.span;
                Ok((word.to_owned(), span))
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// Consumes a string and resolves its escapes.
    fn text(&mut self) -> Result_<String> {
        match self.token.kind {
            TokenKind::Text(raw) => {
                self.bump()?;
                Ok(crate::escape::unescape(raw))
            }
            _ => Err(self.expected("a string in quotation marks")),
        }
    }

    /// The error that something else is expected than the next token.
    fn expected(&self, expected: &'static str) -> LexError {
        let found = match self.token.kind {
            TokenKind::End => "the end of the module".to_owned(),
            _ => quote(self.lexer.slice(self.token.span.start, self.token.span.end)),
        };
        (ErrorKind::Expected { expected, found }, self.token.span)
    }

    /// Enters a level of nesting, for the length of `inside`.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result_<T>) -> Result_<T> {
        if self.depth == MAX_NESTING {
            return Err((ErrorKind::NestingTooDeep { limit: MAX_NESTING }, self.token.span));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// From a span to the last consumed token.
    fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.last_end)
    }
}

/// A piece of source for a message, cut short: tokens of hostile input can be megabytes long.
fn quote(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}
