//! Source lines from `.loc`, with the chain of inlined calls that LLVM writes in the comment behind it.

use std::collections::HashMap;

use ptx::ast::{Item, Loc, Module};

use crate::program::{SourceLine, SourcePosition};

/// Collects the source lines of a program.
pub(super) struct Lines {
    files: HashMap<u32, String>,
    list: Vec<SourceLine>,
    known: HashMap<(u32, u32, u32, Option<String>, String), u32>,
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
        let key = (loc.file, loc.line, loc.column, loc.comment.clone(), loc.attributes.clone());
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let mut chain: Vec<SourcePosition> = loc
            .frames()
            .into_iter()
            .map(|frame| SourcePosition {
                file: frame.file.to_owned(),
                line: frame.line,
                column: frame.column,
            })
            .collect();
        if chain.is_empty() {
            chain.push(self.position(loc.file, loc.line, loc.column));
            if let Some(caller) = loc.inlined_at() {
                chain.push(self.position(caller.file, caller.line, caller.column));
            }
        }
        let index = self.list.len() as u32;
        self.list.push(SourceLine { chain });
        self.known.insert(key, index);
        index
    }

    fn position(&self, file: u32, line: u32, column: u32) -> SourcePosition {
        let name = self.files.get(&file).cloned();
        let file = name.unwrap_or_else(|| format!("<file {file}>"));
        SourcePosition { file, line, column }
    }

    pub(super) fn finish(self) -> Vec<SourceLine> {
        self.list
    }
}
