//! Takes the processor out of a module's function attributes.
//!
//! Each crate's functions carry the processor they were compiled for, rustc's default for most of them. LLVM inlines no function
//! into one of another processor, and selects instructions by these attributes. Without them, `opt` and `llc` put the processor
//! of their command line on every function alike.

use crate::ir::token::{Kind, tokens};

/// The attributes that go (LLVM Language Reference, "Function Attributes").
const TARGET_ATTRIBUTES: [&str; 3] = ["\"target-cpu\"", "\"target-features\"", "\"tune-cpu\""];

/// The textual module without its target attributes.
pub(crate) fn strip(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with("attributes #") {
            strip_line(line, &mut out)
        } else {
            out.push_str(line)
        }
        out.push('\n');
    }
    out
}

/// Copies an `attributes #0 = { … "target-cpu"="sm_75" … }` line but for those attributes.
fn strip_line(line: &str, out: &mut String) {
    let mut tokens = tokens(line);
    while let Some(token) = tokens.next() {
        if token.kind == Kind::String && TARGET_ATTRIBUTES.contains(&token.text) {
            // The `=` and the value.
            tokens.nth(1);
        } else {
            out.push_str(token.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attributes_change() {
        let module = "define void @f() #0 {\n  call void asm \"\\22target-cpu\\22\", \"\"()\n}\nattributes #0 = { nounwind \"target-cpu\"=\"sm_30\" \"target-features\"=\"+ptx32,+sm_30\" \"x\"=\"y\" }\n";
        let expected = "define void @f() #0 {\n  call void asm \"\\22target-cpu\\22\", \"\"()\n}\nattributes #0 = { nounwind   \"x\"=\"y\" }\n";
        assert_eq!(strip(module), expected);
    }
}
