//! Rust's format strings (`std::fmt`, "Syntax"), as far as C's `printf` can do the same.

use syn::ext::IdentExt;

/// A part of a format string.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Value { argument: Argument, spec: Spec },
}

/// Which argument a `{…}` prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// `{}`: the next one.
    Next,
    /// `{0}`.
    Position(usize),
    /// `{name}`: one given as `name = …`, or a variable of that name.
    Name(String),
}

/// What stands behind the colon.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) align: Option<Align>,
    pub(super) plus: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) width: Option<u32>,
    pub(super) precision: Option<u32>,
    pub(super) kind: Kind,
    /// As written, for the host.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// The letter at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Display,
    Debug,
    LowerHex,
    UpperHex,
    Octal,
    LowerExp,
    UpperExp,
    Pointer,
}

/// Largest width and precision, in characters.
const LARGEST_WIDTH: u32 = 999;

/// The pieces of a format string; the error says what to write instead.
pub(super) fn parse(format: &str) -> Result<Vec<Piece>, String> {
    if format.contains('\0') {
        return Err(
            "the format string contains a NUL, where C would stop printing; remove it".into()
        );
    }
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some(brace) = rest.find(['{', '}']) {
        text.push_str(&rest[..brace]);
        let at_brace = &rest[brace..];
        if let Some(after) = at_brace.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = at_brace.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some(inside) = at_brace.strip_prefix('{') {
            let Some(end) = inside.find('}') else {
                return Err("a `{` has no `}`; for a brace itself write `{{`".into());
            };
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(parse_value(&inside[..end])?);
            rest = &inside[end + 1..];
        } else {
            return Err("a `}` has no `{`; for a brace itself write `}}`".into());
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

fn parse_value(inside: &str) -> Result<Piece, String> {
    let (argument, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let argument = argument.trim();
    let argument = if argument.is_empty() {
        Argument::Next
    } else if argument.bytes().all(|byte| byte.is_ascii_digit()) {
        let position =
            argument.parse().map_err(|_| format!("there is no argument number {argument}"))?;
        Argument::Position(position)
    } else if is_name(argument) {
        Argument::Name(argument.to_owned())
    } else {
        return Err(format!(
            "`{{{argument}}}` is not a name; give the expression as an argument: `{{}}` in the string, `, {argument}` behind it"
        ));
    };
    let spec = parse_spec(spec.trim_end())?;
    Ok(Piece::Value { argument, spec })
}

/// Keywords too: `{type}` means `r#type`.
fn is_name(text: &str) -> bool {
    let parser = |input: syn::parse::ParseStream<'_>| input.call(syn::Ident::parse_any);
    text != "_" && syn::parse::Parser::parse_str(parser, text).is_ok()
}

fn parse_spec(text: &str) -> Result<Spec, String> {
    let mut spec = Spec { text: text.to_owned(), ..Spec::default() };
    let mut rest = text;

    let mut characters = rest.chars();
    let (first, second) = (characters.next(), characters.next());
    if let (Some(_), Some('<' | '>' | '^')) = (first, second) {
        return Err(format!(
            "`{{:{text}}}`: C's printf pads with spaces or zeros only; leave the fill character out"
        ));
    }
    match first {
        Some('^') => {
            return Err(format!("`{{:{text}}}`: C's printf cannot centre; write `<` or `>`"));
        }
        Some('<') => spec.align = Some(Align::Left),
        Some('>') => spec.align = Some(Align::Right),
        _ => {}
    }
    if spec.align.is_some() {
        rest = &rest[1..];
    }
    if let Some(after) = rest.strip_prefix('+') {
        spec.plus = true;
        rest = after;
    }
    if rest.starts_with('-') {
        return Err(format!("`{{:{text}}}`: `-` has no meaning in Rust; leave it out"));
    }
    if let Some(after) = rest.strip_prefix('#') {
        spec.alternate = true;
        rest = after;
    }
    if let Some(after) = rest.strip_prefix('0')
        && !after.starts_with('$')
    {
        spec.zero = true;
        rest = after;
    }
    (spec.width, rest) = parse_number(rest, text)?;
    if let Some(after) = rest.strip_prefix('.') {
        if after.starts_with('*') {
            return Err(no_argument_widths(text));
        }
        (spec.precision, rest) = parse_number(after, text)?;
        if spec.precision.is_none() {
            // `.name$`, or nothing at all.
            return Err(no_argument_widths(text));
        }
    }
    if rest.contains('$') {
        return Err(no_argument_widths(text));
    }
    spec.kind = match rest {
        "" => Kind::Display,
        "?" => Kind::Debug,
        "x" => Kind::LowerHex,
        "X" => Kind::UpperHex,
        "o" => Kind::Octal,
        "e" => Kind::LowerExp,
        "E" => Kind::UpperExp,
        "p" => Kind::Pointer,
        "b" => {
            return Err(format!("`{{:{text}}}`: C's printf has no binary digits; write `x`"));
        }
        other => {
            return Err(format!(
                "`{{:{text}}}`: unknown format `{other}`; kernels print with ``, `?`, `x`, `X`, `o`, `e`, `E` and `p`"
            ));
        }
    };
    check_combination(&spec)?;
    Ok(spec)
}

/// What single parts allow and C does not.
fn check_combination(spec: &Spec) -> Result<(), String> {
    let text = &spec.text;
    let has_prefix = matches!(spec.kind, Kind::LowerHex | Kind::UpperHex | Kind::Octal);
    if spec.alternate && !has_prefix {
        return Err(match spec.kind {
            Kind::Debug => {
                format!("`{{:{text}}}`: kernels print no structures; write `{{:?}}` for each field")
            }
            _ => format!(
                "`{{:{text}}}`: in a kernel `#` goes with `x`, `X` or `o` only; leave it out"
            ),
        });
    }
    if spec.alternate && !spec.zero && spec.width.is_some() {
        return Err(format!(
            "`{{:{text}}}`: C's printf cannot pad in front of `0x`; pad with zeros (`{{:#010x}}`) or leave the width out"
        ));
    }
    if spec.kind == Kind::Pointer && (spec.width.is_some() || spec.zero) {
        return Err(format!(
            "`{{:{text}}}`: a pointer takes no width; cast it to `usize` and write `{{:#018x}}`"
        ));
    }
    Ok(())
}

/// Digits at the start, as a width or precision.
fn parse_number<'a>(rest: &'a str, spec: &str) -> Result<(Option<u32>, &'a str), String> {
    let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    if after.starts_with('$') {
        return Err(no_argument_widths(spec));
    }
    if digits.is_empty() {
        return Ok((None, rest));
    }
    match digits.parse() {
        Ok(number) if number <= LARGEST_WIDTH => Ok((Some(number), after)),
        _ => Err(format!(
            "`{{:{spec}}}`: a width or precision is at most {LARGEST_WIDTH} characters"
        )),
    }
}

fn no_argument_widths(spec: &str) -> String {
    format!(
        "`{{:{spec}}}`: in a kernel width and precision are numbers in the format string; write the number"
    )
}

#[cfg(test)]
mod tests {
    use super::{Align, Argument, Kind, Piece, Spec, parse};

    fn one(format: &str) -> (Argument, Spec) {
        match parse(format).map(|mut pieces| pieces.pop()) {
            Ok(Some(Piece::Value { argument, spec })) => (argument, spec),
            other => panic!("{format}: {other:?}"),
        }
    }

    #[test]
    fn text_and_escaped_braces() {
        assert_eq!(parse("a {{b}} c"), Ok(vec![Piece::Text("a {b} c".into())]));
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse("100 %"), Ok(vec![Piece::Text("100 %".into())]));
    }

    #[test]
    fn arguments() {
        assert_eq!(one("{}").0, Argument::Next);
        assert_eq!(one("{2:x}").0, Argument::Position(2));
        assert_eq!(one("{ value :?}").0, Argument::Name("value".into()));
    }

    #[test]
    fn every_part_of_a_spec() {
        let (_, spec) = one("{:<+08.3e}");
        assert_eq!(spec.align, Some(Align::Left));
        assert!(spec.plus && spec.zero && !spec.alternate);
        assert_eq!((spec.width, spec.precision), (Some(8), Some(3)));
        assert_eq!(spec.kind, Kind::LowerExp);
        assert_eq!(spec.text, "<+08.3e");
    }

    #[test]
    fn zero_is_a_flag_and_a_width() {
        let (_, spec) = one("{:#010X}");
        assert!(spec.zero && spec.alternate);
        assert_eq!((spec.width, spec.kind), (Some(10), Kind::UpperHex));
        let (_, spec) = one("{:0}");
        assert_eq!((spec.zero, spec.width), (true, None));
    }

    #[test]
    fn what_c_cannot_do_is_refused() {
        for (format, expected) in [
            ("{", "has no `}`"),
            ("}", "has no `{`"),
            ("{:^5}", "cannot centre"),
            ("{:*<5}", "fill"),
            ("{:b}", "binary"),
            ("{:#?}", "no structures"),
            ("{:#}", "`#` goes with"),
            ("{:#6x}", "in front of `0x`"),
            ("{:width$}", "write the number"),
            ("{:1$}", "write the number"),
            ("{:.*}", "write the number"),
            ("{:.prec$}", "write the number"),
            ("{:.}", "write the number"),
            ("{:1000}", "at most 999"),
            ("{:99999999999}", "at most 999"),
            ("{:18p}", "takes no width"),
            ("{:q}", "unknown format `q`"),
            ("{a.b}", "not a name"),
            ("{a + 1}", "not a name"),
            ("{-1}", "not a name"),
            ("a\0b", "NUL"),
            ("{:-5}", "`-` has no meaning"),
        ] {
            let error = parse(format).expect_err(format);
            assert!(error.contains(expected), "{format}: {error}");
        }
    }

    #[test]
    fn characters_of_several_bytes_do_not_break_it() {
        for format in ["{:ä}", "{:ä<5}", "ä{ö}ü", "{:}ä", "{:é.3}"] {
            let _ = parse(format);
        }
        assert_eq!(parse("日本"), Ok(vec![Piece::Text("日本".into())]));
    }
}
