//! Byte offsets to lines and columns, and excerpts with a caret.

use crate::span::Span;

/// Most characters of a source line that an excerpt shows: a hostile or generated line can be megabytes long.
const EXCERPT_CHARS: usize = 100;

/// A place in the text of a module, as an editor counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, 1-based.
    pub line: u32,
    /// Column in characters, 1-based. A tab counts as one.
    pub column: u32,
}

/// Finds lines in a module's text.
///
/// ```
/// use ptx::{SourceMap, Span};
///
/// let map = SourceMap::new("ret;\nexit\n");
/// let place = map.position(5);
/// assert_eq!((place.line, place.column), (2, 1));
/// assert_eq!(map.excerpt(Span::new(5, 9)), "  |\n2 | exit\n  | ^^^^");
/// ```
#[derive(Clone, Debug)]
pub struct SourceMap<'a> {
    source: &'a str,
    /// Byte offset at which each line begins.
    starts: Vec<u32>,
}

impl<'a> SourceMap<'a> {
    /// Indexes a text. Offsets past 4 GiB are not represented; [`crate::parse`] refuses such texts.
    pub fn new(source: &'a str) -> Self {
        let mut starts = vec![0];
        for (offset, byte) in source.bytes().enumerate() {
            if byte == b'\n'
                && let Ok(next) = u32::try_from(offset + 1)
            {
                starts.push(next);
            }
        }
        Self { source, starts }
    }

    /// Number of lines; at least 1.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Line and column of a byte offset. An offset past the end is taken as the end, one inside a
    /// character as that character's first byte.
    pub fn position(&self, offset: u32) -> Position {
        let offset = self.clamp(offset);
        let index = self.line_index(offset);
        let start = self.starts[index] as usize;
        let column = self.source[start..offset].chars().count() + 1;
        Position { line: to_u32(index + 1), column: to_u32(column) }
    }

    /// The text of a line (1-based) without its line break; `None` past the last line.
    pub fn line(&self, line: u32) -> Option<&'a str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)? as usize;
        let end = self.starts.get(index + 1).map_or(self.source.len(), |next| *next as usize - 1);
        let text = &self.source[start..end.max(start)];
        Some(text.strip_suffix('\r').unwrap_or(text))
    }

    /// The text of a span; empty where the span lies outside the source.
    pub fn text(&self, span: Span) -> &'a str {
        let (start, end) = (self.clamp(span.start), self.clamp(span.end));
        self.source.get(start..end).unwrap_or("")
    }

    /// The line on which a span begins, with carets under the part of the span on that line:
    ///
    /// ```text
    ///    |
    /// 12 |     mov.u32 %r1 %r2;
    ///    |                 ^^^
    /// ```
    ///
    /// Long lines are cut to a window around the caret. Tabs and control characters show as spaces.
    pub fn excerpt(&self, span: Span) -> String {
        let start = self.clamp(span.start);
        let index = self.line_index(start);
        let line_start = self.starts[index] as usize;
        let line = self.line(to_u32(index + 1)).unwrap_or("");
        let in_line = (start - line_start).min(line.len());
        let end_in_line = (self.clamp(span.end).max(start) - line_start).min(line.len());

        // Leave a third of the window before the caret, so that what led to it can be read.
        let before = line[..in_line].chars().count();
        let skipped = if before > EXCERPT_CHARS * 2 / 3 { before - EXCERPT_CHARS / 3 } else { 0 };
        let mut text = String::new();
        if skipped > 0 {
            text.push_str("... ");
        }
        let caret_column = text.len() + before - skipped;
        let mut rest = line.chars().skip(skipped);
        text.extend(
            rest.by_ref().take(EXCERPT_CHARS).map(|c| if c.is_control() { ' ' } else { c }),
        );
        if rest.next().is_some() {
            text.push_str(" ...");
        }
        let shown = text.chars().count();
        let wide = line[in_line..end_in_line].chars().take(EXCERPT_CHARS).count();
        let carets = wide.min(shown.saturating_sub(caret_column)).max(1);

        let number = (index + 1).to_string();
        let margin = " ".repeat(number.len());
        let text = text.trim_end();
        let space = if text.is_empty() { "" } else { " " };
        format!(
            "{margin} |\n{number} |{space}{text}\n{margin} | {}{}",
            " ".repeat(caret_column),
            "^".repeat(carets)
        )
    }

    /// Index of the line that holds a (clamped) byte offset.
    fn line_index(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    /// The nearest character boundary at or before `offset`, inside the source.
    fn clamp(&self, offset: u32) -> usize {
        self.source.floor_char_boundary((offset as usize).min(self.source.len()))
    }
}

fn to_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_clamp() {
        let map = SourceMap::new("aé\r\n\nz");
        let at = |offset| {
            let place = map.position(offset);
            (place.line, place.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 2));
        assert_eq!(at(2), (1, 2), "inside é");
        assert_eq!(at(3), (1, 3));
        assert_eq!(at(5), (2, 1));
        assert_eq!(at(6), (3, 1));
        assert_eq!(at(7), (3, 2), "end");
        assert_eq!(at(u32::MAX), (3, 2));
        assert_eq!(map.line(1), Some("aé"));
        assert_eq!(map.line(2), Some(""));
        assert_eq!(map.line(3), Some("z"));
        assert_eq!(map.line(4), None);
        assert_eq!(map.line(0), None);
        assert_eq!(map.line_count(), 3);
    }

    #[test]
    fn empty_source_has_one_line() {
        let map = SourceMap::new("");
        assert_eq!(map.position(9), Position { line: 1, column: 1 });
        assert_eq!(map.excerpt(Span::new(0, 0)), "  |\n1 |\n  | ^");
    }

    #[test]
    fn text_outside_the_source_is_empty() {
        let map = SourceMap::new("abc");
        assert_eq!(map.text(Span::new(1, 2)), "b");
        assert_eq!(map.text(Span::new(2, 1)), "");
        assert_eq!(map.text(Span::new(7, 9)), "");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let source = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let excerpt = SourceMap::new(&source).excerpt(Span::new(1000, 1001));
        let lines: Vec<&str> = excerpt.lines().collect();
        assert!(lines[1].starts_with("1 | ... aaa") && lines[1].ends_with("bbb ..."), "{excerpt}");
        assert!(lines[1].len() < 120, "{excerpt}");
        assert_eq!(lines[1].find('X'), lines[2].find('^'), "{excerpt}");
        assert_eq!(lines[2].matches('^').count(), 1);
    }

    #[test]
    fn spans_over_several_lines_mark_the_first() {
        let excerpt = SourceMap::new("ab\tcd\nef").excerpt(Span::new(3, 8));
        assert_eq!(excerpt, "  |\n1 | ab cd\n  |    ^^");
    }
}
