//! Literals (PTX ISA, Constants).

use crate::ast::Immediate;
use crate::error::ErrorKind;

/// How many bytes belong to the number that starts here: all that could, so that `12ab` is one
/// malformed number and not two tokens.
pub(crate) fn length(bytes: &[u8]) -> usize {
    let word = |at: usize| {
        bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$')
    };
    let hex = matches!(bytes, [b'0', b'x' | b'X' | b'f' | b'F' | b'd' | b'D', ..]);
    let mut at = 0;
    let mut fraction = false;
    loop {
        if word(at) {
            // The sign of an exponent: `1e-5`.
            let exponent = !hex
                && matches!(bytes[at], b'e' | b'E')
                && matches!(bytes.get(at + 1), Some(b'+' | b'-'))
                && bytes.get(at + 2).is_some_and(u8::is_ascii_digit);
            at += if exponent { 2 } else { 1 };
        } else if !hex
            && !fraction
            && bytes.get(at) == Some(&b'.')
            && bytes.get(at + 1).is_none_or(|b| *b != b'.')
        {
            fraction = true;
            at += 1;
        } else {
            return at;
        }
    }
}

/// The value of an unsigned literal. Integers have 64 bits; a decimal float is an f64.
pub(crate) fn parse(text: &str) -> Result<Immediate, ErrorKind> {
    let malformed = |problem| ErrorKind::MalformedNumber { text: shorten(text), problem };
    let bytes = text.as_bytes();
    match bytes {
        [b'0', b'f' | b'F', digits @ ..] => match hex(digits, 8) {
            Some(bits) => Ok(Immediate::F32(bits as u32)),
            None => Err(malformed("`0f` must be followed by 8 hexadecimal digits")),
        },
        [b'0', b'd' | b'D', digits @ ..] => match hex(digits, 16) {
            Some(bits) => Ok(Immediate::F64(bits)),
            None => Err(malformed("`0d` must be followed by 16 hexadecimal digits")),
        },
        _ if bytes.contains(&b'.')
            || (!matches!(bytes, [b'0', b'x' | b'X' | b'b' | b'B', ..])
                && text.contains(['e', 'E'])) =>
        {
            // Only characters that a float is made of: `parse` would accept `inf` and the like.
            let plain = text
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
            match text.parse::<f64>() {
                Ok(value) if plain => Ok(Immediate::F64(value.to_bits())),
                _ => Err(malformed("expected a decimal number such as 1.5 or 2.0e-3")),
            }
        }
        _ => integer(text),
    }
}

fn integer(text: &str) -> Result<Immediate, ErrorKind> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix, problem) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => {
            (&digits[2..], 16, "`0x` must be followed by hexadecimal digits")
        }
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2, "`0b` must be followed by binary digits"),
        [b'0', _, ..] => {
            (&digits[1..], 8, "a number that begins with 0 is octal, with digits 0 to 7")
        }
        _ => (digits, 10, "expected decimal digits"),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(ErrorKind::MalformedNumber { text: shorten(text), problem });
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) => Ok(Immediate::Integer(value.into())),
        Err(_) => Err(ErrorKind::NumberOutOfRange {
            text: shorten(text),
            what: "a 64-bit integer",
            limit: u64::MAX,
        }),
    }
}

/// The value of exactly `count` hexadecimal digits.
fn hex(digits: &[u8], count: usize) -> Option<u64> {
    if digits.len() != count {
        return None;
    }
    digits.iter().try_fold(0, |value: u64, digit| {
        Some(value << 4 | u64::from(char::from(*digit).to_digit(16)?))
    })
}

/// A literal for a message: hostile ones can be megabytes long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> Immediate {
        assert_eq!(length(text.as_bytes()), text.len(), "{text}");
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_form_of_the_isa() {
        for (text, value) in [
            ("0", 0),
            ("42", 42),
            ("42U", 42),
            ("0U", 0),
            ("0x7771U", 0x7771),
            ("0XfF", 255),
            ("017", 15),
            ("0b101U", 5),
            ("0B0", 0),
            ("18446744073709551615", u64::MAX.into()),
            ("0xFFFFFFFFFFFFFFFF", u64::MAX.into()),
        ] {
            assert_eq!(ok(text), Immediate::Integer(value), "{text}");
        }
        assert_eq!(ok("0f3f800000"), Immediate::F32(0x3f80_0000));
        assert_eq!(ok("0FDEADbeef"), Immediate::F32(0xdead_beef));
        assert_eq!(ok("0dC3E0000000000000"), Immediate::F64(0xc3e0_0000_0000_0000));
        for (text, value) in
            [("1.5", 1.5), ("2.", 2.0), (".5", 0.5), ("1e3", 1e3), ("1.0E-2", 0.01), ("1e+2", 1e2)]
        {
            assert_eq!(ok(text), Immediate::F64(f64::to_bits(value)), "{text}");
        }
    }

    #[test]
    fn malformed_numbers_are_refused() {
        for text in [
            "0x",
            "0xg",
            "0f3f80000",
            "0f3f8000000",
            "0d0",
            "08",
            "0b2",
            "12ab",
            "1_000",
            "5u",
            "1.5.5",
            "1e",
            "0xFFU0",
            "U",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["18446744073709551616", "0x10000000000000000"] {
            assert!(matches!(parse(text), Err(ErrorKind::NumberOutOfRange { .. })), "{text}");
        }
    }

    #[test]
    fn a_number_ends_where_it_can_no_longer_go_on() {
        for (text, expected) in [
            ("8.8\n", 3),
            ("1+2", 1),
            ("0x1e+5", 4),
            ("1e+5;", 4),
            ("1e+x", 2),
            ("3..4", 1),
            ("7]", 1),
        ] {
            assert_eq!(length(text.as_bytes()), expected, "{text}");
        }
    }
}
