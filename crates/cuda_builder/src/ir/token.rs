//! A lossless tokenizer for one line of textual LLVM IR.
//!
//! Concatenating the tokens gives the line back, byte for byte, so a rewriter touches only what it means to touch: a name
//! inside a string, a comment or a longer name is never taken for a use.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `@name` or `@"any \22name"`: a global variable or function.
    Global,
    /// `%name`: a local value, label or named type.
    Local,
    /// `"…"`; the `c` of a character array and the `!` of a metadata string are tokens of their own.
    String,
    /// A keyword, type, number or label: letters, digits and `-$._`.
    Word,
    /// One punctuation character.
    Punctuation,
    /// Blanks.
    Space,
    /// `;` to the end of the line.
    Comment,
}

/// A token and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
}

impl Token<'_> {
    /// Whether this is the punctuation or word `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Punctuation | Kind::Word) && self.text == text
    }
}

/// The tokens of `line`, in order.
pub(crate) fn tokens(line: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '@' | '%' if name_length(&rest[1..]) > 0 => {
                (if first == '@' { Kind::Global } else { Kind::Local }, 1 + name_length(&rest[1..]))
            }
            '"' => (Kind::String, string_length(rest)),
            ';' => (Kind::Comment, rest.len()),
            c if is_name(c) => (Kind::Word, word_length(rest)),
            c if c.is_whitespace() => {
                (Kind::Space, rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()))
            }
            c => (Kind::Punctuation, c.len_utf8()),
        };
        let (text, after) = rest.split_at(length);
        rest = after;
        Some(Token { kind, text })
    })
}

/// The characters of an unquoted name (LLVM Language Reference, "Identifiers").
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_')
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !is_name(c)).unwrap_or(text.len())
}

/// The length of the quoted or plain name at the start of `text`, 0 if there is none.
fn name_length(text: &str) -> usize {
    if text.starts_with('"') { string_length(text) } else { word_length(text) }
}

/// The length of the string at the start of `text`, quotes included. LLVM writes a quote inside a string as `\22`, so the
/// next quote ends it.
fn string_length(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> Vec<(Kind, &str)> {
        tokens(line)
            .filter(|token| token.kind != Kind::Space)
            .map(|token| (token.kind, token.text))
            .collect()
    }

    #[test]
    fn tells_names_strings_and_comments_apart() {
        assert_eq!(
            kinds(r#"  store ptr @a.b, ptr @"odd \22name", !x !"@c" ; @d"#),
            [
                (Kind::Word, "store"),
                (Kind::Word, "ptr"),
                (Kind::Global, "@a.b"),
                (Kind::Punctuation, ","),
                (Kind::Word, "ptr"),
                (Kind::Global, r#"@"odd \22name""#),
                (Kind::Punctuation, ","),
                (Kind::Punctuation, "!"),
                (Kind::Word, "x"),
                (Kind::Punctuation, "!"),
                (Kind::String, r#""@c""#),
                (Kind::Comment, "; @d"),
            ]
        );
    }

    #[test]
    fn a_semicolon_inside_a_string_is_no_comment() {
        assert_eq!(kinds(r#"c";@x" @y"#).last(), Some(&(Kind::Global, "@y")));
    }

    #[test]
    fn loses_nothing_whatever_the_text() {
        for line in [
            "",
            "@",
            "%",
            "\"open",
            "@\"open",
            "α β @γ",
            "}",
            "$c = comdat any",
            "%\"a b\" = add i32 1, 2",
            "@0 = x",
        ] {
            assert_eq!(tokens(line).map(|token| token.text).collect::<String>(), line);
        }
    }
}
