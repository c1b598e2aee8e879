//! Results, and moving them from the project that made them to another.
//!
//! A result names the files of its project in two places, with the lines that code came from: `.file` directives in the PTX
//! and `!DIFile` nodes in the LLVM IR. Those in the workspace's folder are given the folder of the project that takes the
//! result, so that reports show lines of its own files. All other paths are the same for both: crates inside a workspace spell theirs
//! from its root on, also in panic messages, and crates outside are in the key with their full paths.

use std::path::Path;

use serde_json::{Value, json};

use crate::stages::Made;

/// A result as JSON.
pub(super) fn pack(made: &Made, workspace_root: &Path) -> Value {
    let Made { module, ptx, resources, warnings, notes } = made;
    json!({
        "workspace_root": workspace_root.to_string_lossy(),
        "module": module, "ptx": ptx, "resources": resources, "warnings": warnings, "notes": notes,
    })
}

/// The result for a project in `workspace_root`; `None` if something is missing.
pub(super) fn unpack(value: &Value, workspace_root: &Path) -> Option<Made> {
    let text = |name: &str| Some(value[name].as_str()?.to_owned());
    let lines = |name: &str| {
        let lines = value[name].as_array()?.iter();
        lines.map(|line| Some(line.as_str()?.to_owned())).collect::<Option<Vec<String>>>()
    };
    let (from, to) = (text("workspace_root")?, workspace_root.to_string_lossy());
    Some(Made {
        module: moved(&text("module")?, "= !DIFile(", r"\5C", &from, &to),
        ptx: moved(&text("ptx")?, "\t.file\t", r"\\", &from, &to),
        resources: text("resources")?,
        warnings: lines("warnings")?,
        notes: lines("notes")?,
    })
}

/// The text with the folder `from` become `to` in the lines with `mark`. `backslash` is how the text spells one.
fn moved(text: &str, mark: &str, backslash: &str, from: &str, to: &str) -> String {
    if from == to {
        return text.to_owned();
    }
    let spelled = |path: &str| path.replace('\\', backslash);
    let (from, to) = (spelled(from), spelled(to));
    let move_line = |line: &str| {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(&from) {
            let (before, after) = (&rest[..at], &rest[at + from.len()..]);
            // A whole path or the beginning of one: `/a/b` is not in `/a/bc` and not in `/x/a/b`.
            let whole = before.ends_with('"') && after.starts_with(['"', '/', '\\']);
            out.push_str(before);
            out.push_str(if whole { &to } else { &from });
            rest = after;
        }
        out + rest
    };
    text.split_inclusive('\n')
        .map(|line| if line.contains(mark) { move_line(line) } else { line.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_workspace_move_and_others_stay() {
        let made = Made {
            module: "!1 = !DIFile(filename: \"k/src/lib.rs\", directory: \"/one\")\n@s = c\"/one/x\"\n".to_owned(),
            ptx: "\t.file\t1 \"/one/k/src/lib.rs\"\n\t.file\t2 \"/one-more/lib.rs\"\n\t.file\t3 \"/x/one/a\"\n// \"/one/y\"\n".to_owned(),
            resources: "kernel `k`\n".to_owned(),
            warnings: vec!["unused".to_owned()],
            notes: vec![],
        };
        let same = unpack(&pack(&made, Path::new("/one")), Path::new("/one"));
        assert_eq!(same.as_ref(), Some(&made));
        let other = unpack(&pack(&made, Path::new("/one")), Path::new("/two")).expect("complete");
        assert_eq!(other.module, made.module.replace("directory: \"/one\"", "directory: \"/two\""));
        assert_eq!(other.ptx, made.ptx.replace("1 \"/one/k", "1 \"/two/k"));
        assert_eq!((other.resources, other.warnings), (made.resources, made.warnings));
        assert_eq!(unpack(&json!({"ptx": ""}), Path::new("/two")), None);
    }

    #[test]
    fn backslashes_are_spelled_as_the_text_spells_them() {
        let ptx = "\t.file\t1 \"C:\\\\one\\\\k\\\\lib.rs\"\n";
        assert_eq!(
            moved(ptx, "\t.file\t", r"\\", r"C:\one", r"D:\two"),
            "\t.file\t1 \"D:\\\\two\\\\k\\\\lib.rs\"\n"
        );
    }
}
