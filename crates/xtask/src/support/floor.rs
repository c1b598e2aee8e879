//! The lowest PTX ISA version and GPU that an item needs, out of its documentation.

/// `PTX ISA 6.0, sm_30`, or one half of it, if the text says it: of each half, the first that it names.
pub(super) fn floor(text: &str) -> Option<String> {
    let version = after(text, "PTX ISA ", |c| c.is_ascii_digit() || c == '.')
        .map(|version| format!("PTX ISA {}", version.trim_end_matches('.')));
    let gpu = after(text, "sm_", char::is_alphanumeric).map(|number| format!("sm_{number}"));
    match (version, gpu) {
        (Some(version), Some(gpu)) => Some(format!("{version}, {gpu}")),
        (version, gpu) => version.or(gpu),
    }
}

/// What follows `mark`, if that begins with a digit, as long as `is_part` holds.
fn after<'a>(text: &'a str, mark: &str, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
    text.match_indices(mark).find_map(|(at, _)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| &rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::floor;

    #[test]
    fn the_first_of_each_counts() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            floor("PTX: `x`, PTX ISA 6.0, sm_30. (`y` would need sm_80.)"),
            some("PTX ISA 6.0, sm_30")
        );
        assert_eq!(floor("from PTX ISA 3.1."), some("PTX ISA 3.1"));
        assert_eq!(floor("`fence.sc`, sm_90a"), some("sm_90a"));
        assert_eq!(floor("The PTX ISA has sm_ in names"), None);
    }
}
