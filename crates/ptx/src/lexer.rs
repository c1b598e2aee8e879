//! Text to tokens.
//!
//! A dotted mnemonic (`ld.global.v4.b32`) and a dotted name (`llvm.nvvm.mma`, `%tid.x`) are one
//! [`TokenKind::Word`]: PTX does not tell them apart, and LLVM writes dots in function names.

use crate::ast::Immediate;
use crate::error::ErrorKind;
use crate::limits::MAX_TOKENS;
use crate::number;
use crate::span::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind<'a> {
    /// A name or mnemonic, dots and `::` included.
    Word(&'a str),
    /// `.name`, with its dot; one part only, `::` included: `.shared::cta`.
    Directive(&'a str),
    /// A literal, without a sign.
    Number(Immediate),
    /// What stands between quotation marks, escapes unresolved.
    Text(&'a str),
    /// One of the punctuation characters, or `<<` and `>>` as `«` and `»`.
    Punct(char),
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) span: Span,
}

/// Produces one token at a time, so that a text is never held as tokens.
pub(crate) struct Lexer<'a> {
    source: &'a str,
    /// Byte offset of what comes next. Always at a character boundary.
    position: usize,
    tokens: u32,
}

/// What the lexer reports: the parser adds the source to make an [`crate::Error`].
pub(crate) type LexError = (ErrorKind, Span);

impl<'a> Lexer<'a> {
    /// Starts at the beginning of a text of less than 4 GiB, which the caller has checked.
    pub(crate) fn new(source: &'a str) -> Self {
        let position = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, position, tokens: 0 }
    }

    /// The next token; [`TokenKind::End`] again and again at the end.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, LexError> {
        self.skip_blanks()?;
        let start = self.position;
        let bytes = self.source.as_bytes();
        let Some(&first) = bytes.get(start) else {
            return Ok(Token { kind: TokenKind::End, span: span(start, start) });
        };
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err((ErrorKind::TooManyTokens { limit: MAX_TOKENS }, span(start, start + 1)));
        }
        let kind = match first {
            b'0'..=b'9' => {
                let length = number::length(&bytes[start..]);
                self.position = start + length;
                let text = &self.source[start..self.position];
                TokenKind::Number(
                    number::parse(text).map_err(|kind| (kind, span(start, self.position)))?,
                )
            }
            b'.' => match bytes.get(start + 1) {
                Some(b'0'..=b'9') if !is_shape(&bytes[start + 1..]) => {
                    let length = number::length(&bytes[start..]);
                    self.position = start + length;
                    let text = &self.source[start..self.position];
                    TokenKind::Number(
                        number::parse(text).map_err(|kind| (kind, span(start, self.position)))?,
                    )
                }
                Some(&next) if is_word(next) => {
                    self.position = part_end(bytes, start + 1);
                    TokenKind::Directive(&self.source[start..self.position])
                }
                _ => return Err((ErrorKind::UnexpectedCharacter('.'), span(start, start + 1))),
            },
            b'"' => self.text(start)?,
            byte if is_word(byte)
                || (byte == b'%' && bytes.get(start + 1).is_some_and(|b| is_word(*b))) =>
            {
                self.position = word_end(bytes, start);
                TokenKind::Word(&self.source[start..self.position])
            }
            b'<' | b'>' if bytes.get(start + 1) == Some(&first) => {
                self.position = start + 2;
                TokenKind::Punct(if first == b'<' { '«' } else { '»' })
            }
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b';' | b':' | b'@'
            | b'!' | b'|' | b'+' | b'-' | b'*' | b'/' | b'=' | b'~' | b'&' | b'^' => {
                self.position = start + 1;
                TokenKind::Punct(char::from(first))
            }
            _ => {
                let found = self.source[start..].chars().next().unwrap_or('\u{fffd}');
                let end = start + found.len_utf8();
                return Err((ErrorKind::UnexpectedCharacter(found), span(start, end)));
            }
        };
        Ok(Token { kind, span: span(start, self.position) })
    }

    /// The rest of the line after the last token, if it is blank or a `//` comment: the comment's
    /// text, trimmed.
    pub(crate) fn trailing_comment(&self, after: u32) -> Option<&'a str> {
        let rest = self.source.get(after as usize..)?;
        let comment = rest.trim_start_matches([' ', '\t']).strip_prefix("//")?;
        let end = comment.find('\n').unwrap_or(comment.len());
        Some(comment[..end].trim())
    }

    /// Skips to the `}` that closes a `.section` whose `{` ended at `start`; gives the text between.
    ///
    /// The text is not split into tokens: debug data can be most of a module.
    pub(crate) fn raw_block(&mut self, start: u32) -> Result<&'a str, LexError> {
        let start = start as usize;
        self.position = start;
        let mut depth = 0_usize;
        loop {
            self.skip_blanks()?;
            let Some(&byte) = self.source.as_bytes().get(self.position) else {
                return Err((ErrorKind::UnclosedBrace, span(start.saturating_sub(1), start)));
            };
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 0 => {
                    let text = &self.source[start..self.position];
                    self.position += 1;
                    return Ok(text);
                }
                b'}' => depth -= 1,
                b'"' => {
                    self.text(self.position)?;
                    continue;
                }
                _ => {}
            }
            let width = self.source[self.position..].chars().next().map_or(1, char::len_utf8);
            self.position += width;
        }
    }

    /// The text from one offset to another.
    pub(crate) fn slice(&self, start: u32, end: u32) -> &'a str {
        self.source.get(start as usize..end as usize).unwrap_or("")
    }

    fn text(&mut self, start: usize) -> Result<TokenKind<'a>, LexError> {
        let bytes = self.source.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                None | Some(b'\n') => return Err((ErrorKind::UnclosedString, span(start, at))),
                Some(b'"') => break,
                // An escaped quotation mark or backslash does not end the string.
                Some(b'\\') if matches!(bytes.get(at + 1), Some(b'"' | b'\\')) => at += 2,
                Some(_) => at += 1,
            }
        }
        self.position = at + 1;
        Ok(TokenKind::Text(&self.source[start + 1..at]))
    }

    fn skip_blanks(&mut self) -> Result<(), LexError> {
        let bytes = self.source.as_bytes();
        loop {
            match bytes.get(self.position) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.position += 1,
                Some(b'/') if bytes.get(self.position + 1) == Some(&b'/') => {
                    let rest = &self.source[self.position..];
                    self.position += rest.find('\n').unwrap_or(rest.len());
                }
                Some(b'/') if bytes.get(self.position + 1) == Some(&b'*') => {
                    let start = self.position;
                    let Some(length) = self.source[start + 2..].find("*/") else {
                        return Err((ErrorKind::UnclosedComment, span(start, start + 2)));
                    };
                    self.position = start + 2 + length + 2;
                }
                _ => return Ok(()),
            }
        }
    }
}

/// Whether a byte can stand inside a name (PTX ISA, Identifiers: `[a-zA-Z0-9_$]`).
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Whether what follows a dot is a modifier that begins with a digit (`.2d`, `.16x64b`) rather than
/// the fraction of a number.
fn is_shape(bytes: &[u8]) -> bool {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    match bytes.get(digits) {
        Some(b'e' | b'E') => false,
        Some(&byte) => is_word(byte),
        None => false,
    }
}

/// End of a part of a name that starts at `start`: word characters, joined by `::`.
fn part_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        while bytes.get(at).is_some_and(|b| is_word(*b)) {
            at += 1;
        }
        let joined = bytes.get(at) == Some(&b':')
            && bytes.get(at + 1) == Some(&b':')
            && bytes.get(at + 2).is_some_and(|b| is_word(*b));
        if !joined {
            return at;
        }
        at += 2;
    }
}

/// End of a word that starts at `start`: parts joined by dots. Legacy-mangled Rust names of other
/// targets have two dots in a row.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut at = part_end(bytes, start + usize::from(bytes.get(start) == Some(&b'%')));
    while bytes.get(at) == Some(&b'.') {
        let dots = bytes[at..].iter().take_while(|b| **b == b'.').count();
        if !bytes.get(at + dots).is_some_and(|b| is_word(*b)) {
            break;
        }
        at = part_end(bytes, at + dots);
    }
    at
}

fn span(start: usize, end: usize) -> Span {
    // The caller of `Lexer::new` has bounded the length.
    let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span::new(narrow(start), narrow(end))
}
