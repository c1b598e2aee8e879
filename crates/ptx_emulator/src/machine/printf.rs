//! The formatting of `vprintf`: C's conversions, flags, widths and precisions.
//!
//! Arguments lie in a buffer as C's default promotions leave them: integers of up to 4 bytes in 4, `long`, `long long`,
//! pointers and `double` in 8, each aligned to its size.

/// Widest field and longest precision; longer ones are cut, so that a format cannot ask for all memory.
const MAX_WIDTH: usize = 4096;

/// Formats. `argument` reads bytes of the argument buffer, `string` what a pointer points to. Gives the text
/// and the number of arguments used.
pub(super) fn format(
    format: &[u8],
    argument: &mut dyn FnMut(u64, u32) -> Result<u64, u64>,
    string: &mut dyn FnMut(u64) -> Result<Vec<u8>, u64>,
) -> Result<(Vec<u8>, usize), u64> {
    let mut arguments = Arguments { read: argument, offset: 0, used: 0 };
    let mut text = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        let (spec, length) = Spec::parse(&rest[at + 1..], &mut arguments)?;
        let whole = &rest[at..at + 1 + length];
        rest = &rest[at + 1 + length..];
        match spec {
            Some(spec) => spec.write(&mut text, &mut arguments, string)?,
            // What is no conversion is printed as it stands.
            None => text.extend_from_slice(whole),
        }
    }
    text.extend_from_slice(rest);
    Ok((text, arguments.used))
}

struct Arguments<'a> {
    read: &'a mut dyn FnMut(u64, u32) -> Result<u64, u64>,
    offset: u64,
    used: usize,
}

impl Arguments<'_> {
    fn next(&mut self, bytes: u32) -> Result<u64, u64> {
        let start = self.offset.next_multiple_of(u64::from(bytes));
        self.offset = start + u64::from(bytes);
        self.used += 1;
        (self.read)(start, bytes)
    }
}

/// One conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer argument as it is printed: 1, 2, 4 or 8.
    bytes: u32,
    conversion: u8,
}

impl Spec {
    /// Reads what follows `%`; also how many bytes that is. `None` for something that is no conversion.
    fn parse(text: &[u8], arguments: &mut Arguments<'_>) -> Result<(Option<Spec>, usize), u64> {
        let mut spec = Spec { bytes: 4, ..Spec::default() };
        let mut at = 0;
        let peek = |at: usize| text.get(at).copied().unwrap_or(0);
        loop {
            match peek(at) {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let mut number = |at: &mut usize, left: &mut bool| -> Result<Option<usize>, u64> {
            if peek(*at) == b'*' {
                *at += 1;
                let value = arguments.next(4)? as u32 as i32;
                *left |= value < 0;
                return Ok(Some(value.unsigned_abs() as usize));
            }
            let digits = text[*at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = text[*at..*at + digits]
                .iter()
                .fold(0usize, |n, d| n.saturating_mul(10).saturating_add(usize::from(d - b'0')));
            *at += digits;
            Ok((digits > 0).then_some(value))
        };
        let mut left = false;
        spec.width = number(&mut at, &mut left)?.unwrap_or(0).min(MAX_WIDTH);
        spec.left |= left;
        if peek(at) == b'.' {
            at += 1;
            let mut negative = false;
            let value = number(&mut at, &mut negative)?.unwrap_or(0).min(MAX_WIDTH);
            // A negative precision counts as none.
            spec.precision = (!negative).then_some(value);
        }
        loop {
            match peek(at) {
                b'l' | b'j' | b'z' | b't' => spec.bytes = 8,
                b'h' if spec.bytes == 2 => spec.bytes = 1,
                b'h' => spec.bytes = 2,
                b'L' => {}
                _ => break,
            }
            at += 1;
        }
        spec.conversion = peek(at);
        let known = b"diuxXocspfFeEgGaA%".contains(&spec.conversion) && spec.conversion != 0;
        let length = (at + 1).min(text.len());
        Ok((known.then_some(spec), length))
    }

    fn write(
        &self,
        text: &mut Vec<u8>,
        arguments: &mut Arguments<'_>,
        string: &mut dyn FnMut(u64) -> Result<Vec<u8>, u64>,
    ) -> Result<(), u64> {
        match self.conversion {
            b'%' => text.push(b'%'),
            b'd' | b'i' => {
                let raw = arguments.next(if self.bytes == 8 { 8 } else { 4 })?;
                let value = match self.bytes {
                    1 => i64::from(raw as i8),
                    2 => i64::from(raw as i16),
                    4 => i64::from(raw as i32),
                    _ => raw as i64,
                };
                let digits = value.unsigned_abs().to_string();
                self.integer(text, self.sign(value < 0), &digits, value == 0);
            }
            b'u' | b'x' | b'X' | b'o' => {
                let raw = arguments.next(if self.bytes == 8 { 8 } else { 4 })?;
                let value = match self.bytes {
                    1 => u64::from(raw as u8),
                    2 => u64::from(raw as u16),
                    4 => u64::from(raw as u32),
                    _ => raw,
                };
                let (prefix, digits) = match self.conversion {
                    b'x' => ("0x", format!("{value:x}")),
                    b'X' => ("0X", format!("{value:X}")),
                    b'o' => ("", format!("{value:o}")),
                    _ => ("", value.to_string()),
                };
                let prefix = if self.alternate && value != 0 { prefix } else { "" };
                // `#o` raises the precision until the first digit is 0.
                let digits =
                    if self.alternate && self.conversion == b'o' && !digits.starts_with('0') {
                        format!("0{digits}")
                    } else {
                        digits
                    };
                self.integer(
                    text,
                    prefix,
                    &digits,
                    value == 0 && !(self.alternate && self.conversion == b'o'),
                );
            }
            b'c' => {
                let value = arguments.next(4)? as u8;
                self.pad(text, "", &[value], false);
            }
            b's' => {
                let address = arguments.next(8)?;
                let mut value = if address == 0 { b"(null)".to_vec() } else { string(address)? };
                value.truncate(self.precision.unwrap_or(value.len()));
                self.pad(text, "", &value, false);
            }
            b'p' => {
                let address = arguments.next(8)?;
                let value = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
                self.pad(text, "", value.as_bytes(), false);
            }
            _ => {
                let value = f64::from_bits(arguments.next(8)?);
                self.float(text, value);
            }
        }
        Ok(())
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, text: &mut Vec<u8>, prefix: &str, digits: &str, zero: bool) {
        let digits = match self.precision {
            Some(0) if zero => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits.to_owned(),
        };
        self.pad(text, prefix, digits.as_bytes(), self.zero && self.precision.is_none());
    }

    /// Brings sign or prefix and body to the width.
    fn pad(&self, text: &mut Vec<u8>, prefix: &str, body: &[u8], zeros: bool) {
        let missing = self.width.saturating_sub(prefix.len() + body.len());
        if !self.left && !zeros {
            text.resize(text.len() + missing, b' ');
        }
        text.extend_from_slice(prefix.as_bytes());
        if zeros && !self.left {
            text.resize(text.len() + missing, b'0');
        }
        text.extend_from_slice(body);
        if self.left {
            text.resize(text.len() + missing, b' ');
        }
    }

    fn float(&self, text: &mut Vec<u8>, value: f64) {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        if !value.is_finite() {
            let word = if value.is_nan() { "nan" } else { "inf" };
            let word = if self.conversion.is_ascii_uppercase() {
                word.to_uppercase()
            } else {
                word.to_owned()
            };
            return self.pad(text, sign, word.as_bytes(), false);
        }
        let precision = self.precision.unwrap_or(6);
        let body = match self.conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, precision, self.alternate),
            b'e' => exponent(magnitude, precision, self.alternate),
            b'g' => general(magnitude, precision, self.alternate),
            _ => hexadecimal(magnitude, self.precision, self.alternate),
        };
        let body = if self.conversion.is_ascii_uppercase() { body.to_uppercase() } else { body };
        match body.split_at_checked(2) {
            // Zeros of the padding go behind the prefix of a hexadecimal float.
            Some((prefix @ ("0x" | "0X"), digits)) => {
                let prefix = format!("{sign}{prefix}");
                self.pad(text, &prefix, digits.as_bytes(), self.zero);
            }
            _ => self.pad(text, sign, body.as_bytes(), self.zero),
        }
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$}");
    if point && precision == 0 { text + "." } else { text }
}

/// `d.ddde±dd`
fn exponent(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let dot = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{dot}e{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: whichever of the two fits, without trailing zeros.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let scientific = exponent(value, precision - 1, keep_zeros);
    let power: i32 =
        scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let use_fixed = power >= -4 && power < precision as i32;
    let text = if use_fixed {
        fixed(value, (precision as i32 - 1 - power).max(0) as usize, keep_zeros)
    } else {
        scientific
    };
    if keep_zeros {
        return text;
    }
    let (digits, tail) = match text.split_once('e') {
        Some((digits, tail)) => (digits.to_owned(), format!("e{tail}")),
        None => (text, String::new()),
    };
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits}{tail}")
}

/// `%a`: `0x1.8p+1`
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52 & 0x7FF) as i32;
    let (lead, power) = match (biased, fraction) {
        (0, 0) => (0u64, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    // 13 hexadecimal digits of fraction, rounded to nearest even where fewer are wanted.
    let mut number = lead << 52 | fraction;
    let digits = match precision {
        Some(precision) if precision < 13 => {
            let drop = 4 * (13 - precision) as u32;
            let (kept, rest) = (number >> drop, number & ((1 << drop) - 1));
            let half = 1u64 << (drop - 1);
            let up = rest > half || (rest == half && kept & 1 != 0);
            number = (kept + u64::from(up)) << drop;
            precision
        }
        Some(precision) => precision,
        None => 13,
    };
    let lead = number >> 52;
    let mut text = format!("{:013x}", number & ((1 << 52) - 1));
    match precision {
        Some(_) => {
            let padded = format!("{text:0<digits$}");
            text = padded[..digits].to_owned();
        }
        None => text.truncate(text.trim_end_matches('0').len()),
    }
    let dot = if text.is_empty() && !point { "" } else { "." };
    let sign = if power < 0 { '-' } else { '+' };
    format!("0x{lead}{dot}{text}p{sign}{}", power.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats with arguments given as 4- or 8-byte values.
    fn print(template: &str, arguments: &[(u64, u32)]) -> String {
        let mut buffer = Vec::new();
        for (value, bytes) in arguments {
            buffer.resize(buffer.len().next_multiple_of(*bytes as usize), 0);
            buffer.extend_from_slice(&value.to_le_bytes()[..*bytes as usize]);
        }
        let mut read = |offset: u64, bytes: u32| {
            let at = offset as usize;
            let found = buffer.get(at..at + bytes as usize).ok_or(offset)?;
            Ok(found.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        };
        let mut string = |address: u64| {
            if address == 1 { Ok(b"text".to_vec()) } else { Err(address) }
        };
        let result = format(template.as_bytes(), &mut read, &mut string).expect("arguments fit");
        String::from_utf8(result.0).expect("ASCII")
    }

    fn float(template: &str, value: f64) -> String {
        print(template, &[(value.to_bits(), 8)])
    }

    // The expected texts are those of glibc's printf.
    #[test]
    fn integers() {
        assert_eq!(
            print("%d %i|%5d|%-5d|%05d", &[(u64::MAX, 4), (7, 4), (42, 4), (42, 4), (42, 4)]),
            "-1 7|   42|42   |00042"
        );
        assert_eq!(print("%+d % d %.3d %.0d|", &[(5, 4), (5, 4), (5, 4), (0, 4)]), "+5  5 005 |");
        assert_eq!(
            print("%x %X %#x %#o %o", &[(255, 4), (255, 4), (255, 4), (8, 4), (8, 4)]),
            "ff FF 0xff 010 10"
        );
        assert_eq!(
            print("%#010x|%08.3x|%#x", &[(255, 4), (255, 4), (0, 4)]),
            "0x000000ff|     0ff|0"
        );
        assert_eq!(
            print("%hhd %hd %hu %u", &[(0x1FF, 4), (0x1_8000, 4), (0x1_8000, 4), (u64::MAX, 4)]),
            "-1 -32768 32768 4294967295"
        );
        assert_eq!(
            print("%ld %llu %zx", &[(u64::MAX, 8), (u64::MAX, 8), (16, 8)]),
            "-1 18446744073709551615 10"
        );
        assert_eq!(print("%d %ld %d", &[(1, 4), (2, 8), (3, 4)]), "1 2 3");
        assert_eq!(
            print("%*d|%-*d|%.*d", &[(5, 4), (1, 4), (3, 4), (2, 4), (3, 4), (4, 4)]),
            "    1|2  |004"
        );
        assert_eq!(print("%*d|", &[((-4i64) as u64, 4), (1, 4)]), "1   |");
    }

    #[test]
    fn text() {
        assert_eq!(
            print("%c%5c|%-3c|%s|%.2s|%6s", &[(65, 4), (66, 4), (67, 4), (1, 8), (1, 8), (1, 8)]),
            "A    B|C  |text|te|  text"
        );
        assert_eq!(print("100%% %y %", &[]), "100% %y %");
        assert_eq!(print("%p %p %s", &[(0xABC, 8), (0, 8), (0, 8)]), "0xabc (nil) (null)");
    }

    #[test]
    fn floats() {
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%.2f", 2.675), "2.67");
        assert_eq!(float("%.0f %%", 2.5), "2 %");
        assert_eq!(float("%#.0f", 3.0), "3.");
        assert_eq!(float("%8.3f|", -1.0), "  -1.000|");
        assert_eq!(float("%08.3f", -1.0), "-001.000");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.1E", 1e-10), "1.0E-10");
        assert_eq!(float("%e", 1e100), "1.000000e+100");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 0.00001), "1e-05");
        assert_eq!(float("%g", 1e6), "1e+06");
        assert_eq!(float("%g", 123456.0), "123456");
        assert_eq!(float("%.3g", 1234.0), "1.23e+03");
        assert_eq!(float("%#g", 1.0), "1.00000");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%a", 3.0), "0x1.8p+1");
        assert_eq!(float("%a", 1.0), "0x1p+0");
        assert_eq!(float("%.2a", 1.999), "0x2.00p+0");
        assert_eq!(float("%A", -0.1), "-0X1.999999999999AP-4");
        assert_eq!(float("%a", 5e-324), "0x0.0000000000001p-1022");
        assert_eq!(float("%f %%", f64::NAN.abs()), "nan %");
        assert_eq!(float("%5F|", f64::NEG_INFINITY), " -INF|");
        assert_eq!(float("%f", -0.0), "-0.000000");
    }

    #[test]
    fn bad_pointers_are_told() {
        let mut read = |_: u64, _: u32| Ok(99);
        let mut string = |address: u64| Err(address);
        assert_eq!(format(b"%s", &mut read, &mut string), Err(99));
        let mut read = |offset: u64, _: u32| Err(offset + 1000);
        assert_eq!(format(b"%d", &mut read, &mut string), Err(1000));
    }
}
