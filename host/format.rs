//! Numbers as people read them.

/// A size in bytes with a binary unit, such as `1.5 MiB`.
///
/// ```
/// assert_eq!(ferrowarp::format::bytes(0), "0 bytes");
/// assert_eq!(ferrowarp::format::bytes(1536), "1.5 KiB");
/// ```
#[must_use]
pub fn bytes(bytes: u128) -> String {
    const UNITS: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    if bytes < 1024 {
        return if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 1023.95 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// A count with a space between groups of three digits, such as `1 048 576`.
///
/// ```
/// assert_eq!(ferrowarp::format::count(1_048_576), "1 048 576");
/// ```
#[must_use]
pub fn count(value: u128) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Milliseconds with about four significant digits, such as `12.35` or `0.0042`.
///
/// ```
/// assert_eq!(ferrowarp::format::milliseconds(12.3456), "12.35");
/// assert_eq!(ferrowarp::format::milliseconds(1234.56), "1235");
/// ```
#[must_use]
pub fn milliseconds(ms: f64) -> String {
    significant(ms)
}

/// A plain number with about four significant digits; a dash for a number that is not finite.
#[must_use]
pub fn significant(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 1.0 || size == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// A small number such as an error, with two significant digits: `0`, `1.5e-6`.
#[must_use]
pub fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_change_units_at_1024() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(bytes(4_000_000_000_000), "3.6 TiB");
        assert!(bytes(u128::MAX).ends_with("YiB"));
    }

    #[test]
    fn counts_group_digits() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1 000");
        assert_eq!(count(12_345_678), "12 345 678");
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(significant(0.0), "0.000");
        assert_eq!(significant(1.5), "1.500");
        assert_eq!(significant(99.999), "100.00");
        assert_eq!(significant(f64::INFINITY), "–");
        assert_eq!(significant(0.00421), "0.0042");
        assert_eq!(scientific(0.0), "0");
        assert_eq!(scientific(1.49e-6), "1.5e-6");
    }
}
