//! Positions in PTX source text.

/// A half-open range of byte offsets into the source text of a module.
///
/// Two spans always compare equal: syntax trees are compared by what they say, not by where it
/// stood, so that `parse(print(module)) == module` can hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Span {}

impl Span {
    /// The span of the bytes `start..end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
