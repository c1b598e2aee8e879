//! What a `.loc` says of source lines.
//!
//! rustc and LLVM inline most calls. The chain of calls stands in the comment that LLVM's NVPTX
//! back end writes behind a `.loc`: `src/k.rs:9:5 @[ src/k.rs:4:2 ]` is line 9, inlined at line 4.
//! From PTX 7.2 on a compiler may also write `, function_name …, inlined_at file line column`, which
//! gives one step of the chain.

use crate::ast::Loc;

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame<'a> {
    /// The path as the compiler wrote it.
    pub file: &'a str,
    /// Line, 1-based; 0 when the compiler had none.
    pub line: u32,
    /// Column, 1-based; 0 when the compiler had none.
    pub column: u32,
}

/// One step outwards from a `.loc`: the call that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InlinedAt<'a> {
    /// The label of the inlined function's name in a debug section.
    pub function_name: Option<&'a str>,
    /// Index of the caller's `.file`.
    pub file: u32,
    /// The caller's line.
    pub line: u32,
    /// The caller's column.
    pub column: u32,
}

impl Loc {
    /// The places of the comment, the innermost call first; empty if the comment is absent or
    /// something else.
    ///
    /// ```
    /// let module = ptx::parse(
    ///     ".version 8.8\n.target sm_90\n.loc 1 9 5 // src/k.rs:9:5 @[ src/k.rs:4:2 ]\n",
    /// )?;
    /// let ptx::ast::Item::Loc(loc) = &module.items[0] else { unreachable!() };
    /// let lines: Vec<u32> = loc.frames().iter().map(|frame| frame.line).collect();
    /// assert_eq!(lines, [9, 4]);
    /// # Ok::<(), ptx::Error>(())
    /// ```
    pub fn frames(&self) -> Vec<Frame<'_>> {
        self.comment.as_deref().and_then(frames).unwrap_or_default()
    }

    /// The `inlined_at` attribute.
    pub fn inlined_at(&self) -> Option<InlinedAt<'_>> {
        let (before, after) = self.attributes.split_once("inlined_at")?;
        let mut numbers = after.split_whitespace().map(str::parse);
        let mut number = || numbers.next()?.ok();
        let (file, line, column) = (number()?, number()?, number()?);
        let function_name = before.split_once("function_name").and_then(|(_, rest)| {
            rest.split([',', '+']).next().map(str::trim).filter(|name| !name.is_empty())
        });
        Some(InlinedAt { function_name, file, line, column })
    }
}

/// Splits `a:1:2 @[ b:3:4 @[ c:5:6 ] ]`; `None` if the text has another form.
fn frames(comment: &str) -> Option<Vec<Frame<'_>>> {
    const OPEN: &str = " @[ ";
    let depth = comment.matches(OPEN).count();
    let mut text = comment;
    for _ in 0..depth {
        text = text.trim_end().strip_suffix(']')?;
    }
    text.split(OPEN).map(frame).collect()
}

/// `path:line:column` or `path:line`. The path may hold colons.
fn frame(text: &str) -> Option<Frame<'_>> {
    let (rest, last) = text.trim().rsplit_once(':')?;
    let last = last.parse().ok()?;
    let with_column =
        rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line, column) = match with_column {
        Some((file, line)) => (file, line, last),
        None => (rest, last, 0),
    };
    (!file.is_empty()).then_some(Frame { file, line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(comment: &str) -> Vec<(String, u32, u32)> {
        let loc = Loc {
            file: 1,
            line: 1,
            column: 1,
            attributes: String::new(),
            comment: Some(comment.to_owned()),
            span: crate::Span::default(),
        };
        loc.frames().iter().map(|f| (f.file.to_owned(), f.line, f.column)).collect()
    }

    #[test]
    fn chains_of_any_depth() {
        assert_eq!(of("src/k.rs:9:5"), [("src/k.rs".to_owned(), 9, 5)]);
        assert_eq!(
            of("a.rs:1:2 @[ b c.rs:3:4 @[ C:\\d.rs:5:6 ] ]"),
            [("a.rs".to_owned(), 1, 2), ("b c.rs".to_owned(), 3, 4), ("C:\\d.rs".to_owned(), 5, 6)]
        );
        assert_eq!(
            of("a.rs:0 @[ a.rs:7:1 ]"),
            [("a.rs".to_owned(), 0, 0), ("a.rs".to_owned(), 7, 1)]
        );
    }

    #[test]
    fn other_comments_are_no_chain() {
        for comment in
            ["", "hello", "a.rs:1:2 @[ b", ":1:2", "a:b", "a:1:2 @[ x ]", "a:99999999999"]
        {
            assert!(of(comment).is_empty(), "{comment}");
        }
    }

    #[test]
    fn inlined_at_attribute() {
        let mut loc = Loc {
            file: 1,
            line: 1,
            column: 1,
            attributes: ", function_name $L__info_string0+12, inlined_at 1 4 2".to_owned(),
            comment: None,
            span: crate::Span::default(),
        };
        let expected =
            InlinedAt { function_name: Some("$L__info_string0"), file: 1, line: 4, column: 2 };
        assert_eq!(loc.inlined_at(), Some(expected));
        loc.attributes = ", inlined_at 2 5 6".to_owned();
        let expected = InlinedAt { function_name: None, file: 2, line: 5, column: 6 };
        assert_eq!(loc.inlined_at(), Some(expected));
        loc.attributes = ", inlined_at 2 x 6".to_owned();
        assert_eq!(loc.inlined_at(), None);
    }
}
