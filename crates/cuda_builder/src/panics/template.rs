//! Format strings, as the compiler writes them into a module (the comments of `core::fmt::Arguments`).

/// Whether a constant of the module may be a format string with something between braces (`{:3}`, `{0}`, `{name:x}`). One that is none may
/// look so; then `cuda_std` shows options that nobody asks for.
pub(super) fn any_has_options(module: &str) -> bool {
    module
        .lines()
        .filter(|line| line.starts_with('@'))
        .filter_map(|line| line.split_once(" c\"")?.1.split('"').next())
        .any(|text| has_options(&bytes(text)))
}

/// The bytes of a string of LLVM's: `\\` and two hexadecimal digits stand for a byte (Language Reference, "String constants").
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'\\').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|digits| str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// Whether the bytes are a format string to their end, with a value that is not just `{}`.
fn has_options(template: &[u8]) -> bool {
    let mut found = false;
    let mut rest = template;
    while let [first, after @ ..] = rest {
        let len = match first {
            0 => return found && after.is_empty(),
            1..0x80 => usize::from(*first),
            0x80 => match after {
                [low, high, ..] => 2 + usize::from(u16::from_le_bytes([*low, *high])),
                _ => return false,
            },
            0x81..0xC0 => return false,
            0xC0.. => {
                found |= *first != 0xC0;
                // Flags, width, precision, which argument.
                let sizes = [(1, 4), (2, 2), (4, 2), (8, 2)];
                sizes.iter().filter(|(bit, _)| first & bit != 0).map(|(_, size)| size).sum()
            }
        };
        match after.get(len..) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_strings_with_options_are_found() {
        for (constant, expected) in [
            (r#"@a = private constant [5 x i8] c"\02ab\C0\00""#, false),
            (r#"@a = private constant [10 x i8] c"\02ab\C3 \00\00\60\05\00\00""#, true),
            (
                r#"@a = private constant <{ [4 x i8] }> <{ [4 x i8] c"\C8\01\00\00" }>, align 1"#,
                true,
            ),
            // Something follows the end.
            (r#"@a = private constant [5 x i8] c"\C8\01\00\00x""#, false),
            // Not at its end.
            (r#"@a = private constant [3 x i8] c"\C8\01\00""#, false),
            (r#"@a = private constant [5 x i8] c"hello""#, false),
            (r#"@a = global i32 5"#, false),
            ("", false),
        ] {
            assert_eq!(any_has_options(constant), expected, "{constant}");
        }
    }

    #[test]
    fn long_texts_have_two_bytes_of_length() {
        let mut template = vec![0x80, 0x2C, 0x01];
        template.extend([b'x'; 300]);
        template.extend([0xC2, 7, 0, 0]);
        assert!(has_options(&template));
        template.pop();
        assert!(!has_options(&template));
    }
}
