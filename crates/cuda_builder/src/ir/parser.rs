//! Taking one line apart: types, operands, bracketed groups.

use super::token::{Kind, Token, tokens};

/// Walks over a line's tokens, blanks and comments skipped, knowing the byte position.
pub(crate) struct Parser<'a> {
    line: &'a str,
    /// Each token with the byte position where it starts.
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        let mut position = 0;
        let tokens = tokens(line)
            .map(|token| {
                let start = position;
                position += token.text.len();
                (start, token)
            })
            .filter(|(_, token)| !matches!(token.kind, Kind::Space | Kind::Comment))
            .collect();
        Self { line, tokens, next: 0 }
    }

    pub(crate) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }

    /// Where the last token taken ended.
    pub(crate) fn position(&self) -> usize {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.map_or(0, |(start, token)| start + token.text.len())
    }

    /// Takes one token, or one bracketed group with everything in it.
    pub(crate) fn tree(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let token = self.next()?;
            if token.kind == Kind::Punctuation {
                match token.text {
                    "(" | "[" | "{" | "<" => depth += 1,
                    ")" | "]" | "}" | ">" => depth = depth.checked_sub(1)?,
                    _ => {}
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Takes a type: a word, a name or a bracketed group, then `addrspace(n)` after `ptr`, or the parameters of `target`.
    pub(crate) fn ty(&mut self) -> Option<&'a str> {
        let start = self.position();
        let first = self.peek()?;
        self.tree()?;
        if first.is("ptr") && self.peek().is_some_and(|token| token.is("addrspace")) {
            self.next();
            self.tree()?;
        } else if first.is("target") {
            self.tree()?;
        }
        Some(self.line[start..self.position()].trim())
    }

    /// Takes everything up to the next comma outside brackets.
    pub(crate) fn skip_to_comma(&mut self) {
        while self.peek().is_some_and(|token| !token.is(",")) {
            if self.tree().is_none() {
                self.next = self.tokens.len();
            }
        }
    }
}
