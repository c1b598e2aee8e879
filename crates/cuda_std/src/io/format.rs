//! From Rust's format pieces to C's format string, at compile time.
//!
//! `print!` knows the text and what follows the colon in each `{…}`; the types of the values it does not know. So it
//! writes the pieces down as constants, and the type checker chooses each value's [`Class`] (see `value`). Both meet here.

/// A part of a format string, as the macro parsed it.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// To be printed as it is.
    Text(&'static str),
    /// The next value.
    Value(Conversion),
}

/// What follows the colon in `{…:…}`.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// Which of Rust's formatting traits.
    pub kind: Kind,
    /// `+`.
    pub plus: bool,
    /// `#`.
    pub alternate: bool,
    /// `0` in front of the width.
    pub zero: bool,
    /// `<` or `>`.
    pub align: Align,
    /// Characters, 0 for none.
    pub width: u32,
    /// Digits behind the point, or characters of a text.
    pub precision: Option<u32>,
}

/// Rust's formatting traits, as far as C's `printf` has their like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{}` and `{:?}`.
    Plain,
    /// `{:x}`.
    LowerHex,
    /// `{:X}`.
    UpperHex,
    /// `{:o}`.
    Octal,
    /// `{:e}`.
    LowerExp,
    /// `{:E}`.
    UpperExp,
    /// `{:p}`.
    Pointer,
}

/// Where a value stands in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// As its type does: numbers right, texts left.
    Default,
    /// `<`.
    Left,
    /// `>`.
    Right,
}

/// What C is told about a value's type. Each value takes 8 bytes of the argument buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `long long`.
    Signed,
    /// `unsigned long long`.
    Unsigned,
    /// A `double` that was an `f32`.
    Single,
    /// `double`.
    Double,
    /// `char *`.
    Text,
    /// `char *`, printed in double quotes.
    QuotedText,
    /// `char *`, printed in single quotes.
    QuotedChar,
    /// An address, printed as `0x` and hexadecimal digits.
    Address,
}

/// The classes of a print's values, in order.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// The first value's.
    pub first: Class,
    /// The others'.
    pub rest: Option<&'static Self>,
}

/// The C format string of `pieces`, ending with NUL, in `N` bytes; the rest of them stays 0.
///
/// # Panics
///
/// When a conversion has no counterpart in C for its value's class, or `N` is too small (the macro's mistake). In a
/// constant both are compile errors.
#[must_use]
pub const fn c_format<const N: usize>(
    pieces: &[Piece],
    mut classes: Option<&'static Classes>,
) -> [u8; N] {
    let mut out = Writer { bytes: [0; N], len: 0 };
    let mut i = 0;
    while i < pieces.len() {
        match pieces[i] {
            Piece::Text(text) => out.text(text),
            Piece::Value(conversion) => {
                let Some(next) = classes else { panic!("more conversions than values") };
                out.conversion(conversion, next.first);
                classes = next.rest;
            }
        }
        i += 1;
    }
    assert!(out.len < N, "the format string is longer than planned");
    out.bytes
}

struct Writer<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Writer<N> {
    const fn byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    const fn literal(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    /// A text of the user's: `%` is C's special character.
    const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            if bytes[i] == b'%' {
                self.byte(b'%');
            }
            self.byte(bytes[i]);
            i += 1;
        }
    }

    const fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }

    const fn conversion(&mut self, conversion: Conversion, class: Class) {
        match class {
            Class::Signed | Class::Unsigned => self.integer(conversion, class),
            Class::Single | Class::Double => self.float(conversion, class),
            Class::Text => self.string(conversion),
            Class::QuotedText => self.quoted(conversion, "\"%s\""),
            Class::QuotedChar => self.quoted(conversion, "'%s'"),
            Class::Address => self.address(conversion),
        }
    }

    const fn integer(&mut self, conversion: Conversion, class: Class) {
        let Conversion { mut plus, zero, align, mut width, .. } = conversion;
        if plus && matches!(class, Class::Unsigned) {
            // C has no sign for unsigned numbers: it is written in front.
            assert!(
                width == 0 || zero,
                "`+` with a width needs a signed number: cast it to `i64`, or pad with `0`"
            );
            self.byte(b'+');
            width = width.saturating_sub(1);
            plus = false;
        }
        if conversion.alternate {
            // C's own `#` prints no `0x` for 0, a plain `0` for `0o`, and `0X` for `X`.
            match conversion.kind {
                Kind::LowerHex | Kind::UpperHex => self.literal("0x"),
                Kind::Octal => self.literal("0o"),
                _ => panic!("`#` needs `x`, `X` or `o` behind it"),
            }
            width = width.saturating_sub(2);
        }
        // A precision changes nothing about an integer in Rust.
        self.flags(plus, zero, matches!(align, Align::Left), width);
        self.literal(match conversion.kind {
            Kind::LowerHex => "llx",
            Kind::UpperHex => "llX",
            Kind::Octal => "llo",
            _ if matches!(class, Class::Signed) => "lld",
            _ => "llu",
        });
    }

    const fn float(&mut self, conversion: Conversion, class: Class) {
        let Conversion { plus, zero, align, width, .. } = conversion;
        let is_single = matches!(class, Class::Single);
        self.flags(plus, zero, matches!(align, Align::Left), width);
        let letter = match (conversion.kind, conversion.precision) {
            (Kind::LowerExp, _) => b'e',
            (Kind::UpperExp, _) => b'E',
            (_, Some(_)) => b'f',
            (_, None) => b'g',
        };
        // Without a precision: as many significant digits as every value of the type has right.
        let precision = match (conversion.precision, letter) {
            (Some(precision), _) => precision,
            (None, b'g') if is_single => 7,
            (None, b'g') => 15,
            (None, _) if is_single => 6,
            (None, _) => 14,
        };
        self.byte(b'.');
        self.number(precision);
        self.byte(letter);
    }

    const fn string(&mut self, conversion: Conversion) {
        let left = !matches!(conversion.align, Align::Right);
        self.flags(false, false, left, conversion.width);
        if let Some(precision) = conversion.precision {
            self.byte(b'.');
            self.number(precision);
        }
        self.byte(b's');
    }

    const fn quoted(&mut self, conversion: Conversion, c: &str) {
        assert!(
            conversion.width == 0,
            "a quoted text takes no width: leave the width or the `?` out"
        );
        self.literal(c);
    }

    const fn address(&mut self, conversion: Conversion) {
        assert!(
            conversion.width == 0,
            "a pointer takes no width: cast it to `usize` and print that"
        );
        self.literal("0x%llx");
    }

    /// `%` and what stands in front of the letter, but for the precision.
    const fn flags(&mut self, plus: bool, zero: bool, left: bool, width: u32) {
        self.byte(b'%');
        if plus {
            self.byte(b'+');
        }
        if width > 0 {
            // In Rust `0` wins over `<`, in C it is the other way round.
            if zero {
                self.byte(b'0');
            } else if left {
                self.byte(b'-');
            }
            self.number(width);
        }
    }
}
