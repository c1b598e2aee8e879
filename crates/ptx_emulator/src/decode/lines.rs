//! Source lines from `.loc`, with the chain of inlined calls that LLVM writes in the comment behind it.

use std::collections::HashMap;

use ptx::ast::{Item, Loc, Module};

use crate::program::{SourceLine, SourcePosition};

/// Collects the source lines of a program.
pub(super) struct Lines {
    files: HashMap<u32, String>,
    list: Vec<SourceLine>,
    known: HashMap<(u32, u32, u32, Option<String>), u32>,
}

impl Lines {
    pub(super) fn new(module: &Module) -> Lines {
        let files = module
            .items
            .iter()
            .filter_map(|item| match item {
                Item::File(file) => Some((file.index, file.name.clone())),
                _ => None,
            })
            .collect();
        Lines { files, list: Vec::new(), known: HashMap::new() }
    }

    /// The number of a `.loc`'s line.
    pub(super) fn add(&mut self, loc: &Loc) -> u32 {
        let key = (loc.file, loc.line, loc.column, loc.comment.clone());
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let chain = loc.comment.as_deref().and_then(parse_chain).unwrap_or_else(|| {
            let file = self.files.get(&loc.file).cloned();
            let file = file.unwrap_or_else(|| format!("<file {}>", loc.file));
            vec![SourcePosition { file, line: loc.line, column: loc.column }]
        });
        let index = self.list.len() as u32;
        self.list.push(SourceLine { chain });
        self.known.insert(key, index);
        index
    }

    pub(super) fn finish(self) -> Vec<SourceLine> {
        self.list
    }
}

/// `src/k.rs:9:5 @[ src/k.rs:4:2 @[ … ] ]`
fn parse_chain(comment: &str) -> Option<Vec<SourcePosition>> {
    let mut chain = Vec::new();
    for part in comment.split("@[") {
        let part = part.trim().trim_end_matches([']', ' ']);
        let mut pieces = part.rsplitn(3, ':');
        let (column, line, file) = (pieces.next()?, pieces.next()?, pieces.next()?);
        chain.push(SourcePosition {
            file: file.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        });
    }
    (!chain.is_empty()).then_some(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_chains() {
        let chain =
            parse_chain("core/src/cmp.rs:1915:50 @[ core/range.rs:9:12 @[ src/lib.rs:45:12 ] ]");
        let chain = chain.expect("well-formed");
        let places: Vec<String> =
            chain.iter().map(|p| format!("{}:{}:{}", p.file, p.line, p.column)).collect();
        assert_eq!(places, ["core/src/cmp.rs:1915:50", "core/range.rs:9:12", "src/lib.rs:45:12"]);
        assert_eq!(parse_chain("just a comment"), None);
        assert_eq!(parse_chain("C:\\k.rs:1:x"), None);
        assert_eq!(parse_chain("C:\\k.rs:1:2").map(|c| c[0].file.clone()), Some("C:\\k.rs".into()));
    }
}
