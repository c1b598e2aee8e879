//! Escapes in strings: `\\`, `\"`, `\n`, `\t` and three-digit octal bytes, as LLVM writes them.

/// The text that a string literal stands for. What is no escape stays as it is.
pub(crate) fn unescape(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, used) = match (first, tail) {
            (b'\\', [c @ (b'\\' | b'"'), ..]) => (*c, 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), 4)
            }
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[used..];
    }
    // Octal escapes spell UTF-8 byte by byte; anything else is not a path that could be shown.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The literal, without quotation marks, that [`unescape`] turns back into `text`.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unescape(r"C:\\a\\b"), r"C:\a\b");
        assert_eq!(unescape(r#"\"x\""#), "\"x\"");
        assert_eq!(unescape(r"caf\303\251"), "café");
        assert_eq!(unescape(r"\q\400\7"), r"\q\400\7", "not escapes");
        assert_eq!(unescape(r"\377"), "\u{fffd}");
    }

    proptest::proptest! {
        #[test]
        fn escape_is_undone(text in ".*|[\\x00-\\x1f\\\\\"0-7nt]*") {
            let literal = escape(&text);
            assert!(!literal.contains('\n'));
            assert_eq!(unescape(&literal), text);
        }
    }
}
