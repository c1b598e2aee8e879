//! From an instruction's `!dbg` to the line of Rust it came from.
//!
//! LLVM Language Reference, "DILocation" and "Specialized Metadata Nodes": `!7 = !DILocation(line: 3, column: 5, scope: !4,
//! inlinedAt: !9)`; a scope leads through its own `scope` to a subprogram, and it or a lexical block names a `file`.

use std::collections::HashMap;

use super::token::{Kind, tokens};

/// No chain of scopes or inlined calls is followed further, so that malformed metadata can't loop.
const MAX_CHAIN: usize = 256;

/// The metadata nodes of a module, by number.
pub(crate) struct Locations<'a> {
    nodes: HashMap<&'a str, &'a str>,
}

impl<'a> Locations<'a> {
    /// Collects a module's numbered nodes.
    pub(crate) fn new(module: &'a str) -> Self {
        let nodes = module
            .lines()
            .filter_map(|line| line.strip_prefix('!')?.split_once(" = "))
            .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        Self { nodes }
    }

    /// `file:line:column` of an instruction, in the function that the user wrote: where it was inlined, the outermost call.
    pub(crate) fn of_instruction(&self, line: &str) -> Option<String> {
        let (_, reference) = line.rsplit_once("!dbg !")?;
        let mut node = self.node(leading_digits(reference))?;
        for _ in 0..MAX_CHAIN {
            match field(node, "inlinedAt").and_then(|at| self.node(at.strip_prefix('!')?)) {
                Some(caller) => node = caller,
                None => break,
            }
        }
        let (line, column) =
            (field(node, "line").unwrap_or("0"), field(node, "column").unwrap_or("0"));
        Some(format!("{}:{line}:{column}", self.file(node)?))
    }

    /// `file:line` of the function that a `define` line begins.
    pub(crate) fn of_function(&self, define: &str) -> Option<String> {
        let (_, reference) = define.rsplit_once("!dbg !")?;
        let node = self.node(leading_digits(reference))?;
        Some(format!("{}:{}", self.file(node)?, field(node, "line")?))
    }

    fn node(&self, number: &str) -> Option<&'a str> {
        self.nodes.get(number).copied()
    }

    /// The name of the file that `node` or the nearest scope around it names.
    fn file(&self, node: &'a str) -> Option<&'a str> {
        let mut node = node;
        for _ in 0..MAX_CHAIN {
            if let Some(file) = field(node, "file") {
                return field(self.node(file.strip_prefix('!')?)?, "filename")
                    .map(|name| name.trim_matches('"'));
            }
            node = self.node(field(node, "scope")?.strip_prefix('!')?)?;
        }
        None
    }
}

/// The text of a field of a specialised node: `3`, `!7` or `"name"`.
fn field<'a>(node: &'a str, name: &str) -> Option<&'a str> {
    let mut tokens = tokens(node).filter(|token| token.kind != Kind::Space);
    let mut position = None;
    while let Some(token) = tokens.next() {
        if token.kind == Kind::Word
            && token.text == name
            && tokens.next().is_some_and(|token| token.is(":"))
        {
            position = tokens.next();
            break;
        }
    }
    let first = position?;
    if first.is("!") {
        // `!7` is two tokens that touch in the text.
        let start = node.find(&format!("{name}: !"))? + name.len() + 2;
        return Some(&node[start..start + 1 + leading_digits(&node[start + 1..]).len()]);
    }
    Some(first.text)
}

fn leading_digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define void @kernel() !dbg !3 {
  call void @missing(), !dbg !7
}
!1 = !DIFile(filename: "src/lib.rs", directory: "/home/me")
!2 = !DIFile(filename: "/std/ops.rs", directory: "")
!3 = distinct !DISubprogram(name: "kernel", scope: !9, file: !1, line: 10)
!4 = distinct !DISubprogram(name: "inlined: line: 5", scope: !9, file: !2, line: 20)
!5 = distinct !DILexicalBlock(scope: !3, line: 11, column: 3)
!6 = distinct !DILocation(line: 12, column: 9, scope: !5)
!7 = !DILocation(line: 21, column: 5, scope: !4, inlinedAt: !6)
!8 = distinct !DILocation(line: 1, scope: !8, inlinedAt: !8)
!9 = !DINamespace(name: "k")
"#;

    #[test]
    fn follows_inlining_to_the_callers_line() {
        let locations = Locations::new(MODULE);
        assert_eq!(
            locations.of_instruction("  call void @missing(), !dbg !7").as_deref(),
            Some("src/lib.rs:12:9")
        );
        assert_eq!(
            locations.of_instruction("  ret void, !dbg !6").as_deref(),
            Some("src/lib.rs:12:9")
        );
    }

    #[test]
    fn without_or_with_broken_metadata_there_is_no_location() {
        let locations = Locations::new(MODULE);
        for line in
            ["  ret void", "  ret void, !dbg !99", "  ret void, !dbg !8", "  ret void, !dbg !"]
        {
            assert_eq!(locations.of_instruction(line), None, "{line}");
        }
    }
}
