//! What reports panics in front of what panics.
//!
//! PTX needs a declaration of each function that is called before its definition, and LLVM writes functions in the module's order.

use std::collections::BTreeMap;

use super::{HANDLER, names};

/// Parts of the names of functions that end in a panic.
const PANICKING: [&str; 4] =
    [HANDLER, "@__cuda_std_index_error", "4core9panicking", "13unwrap_failed"];

/// Moves such functions to the front, callees before callers.
pub(super) fn rewrite(module: &str) -> String {
    let mut moved: BTreeMap<&str, String> = BTreeMap::new();
    let mut order = Vec::new();
    let (mut before, mut after) = (String::new(), String::new());
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        let name = names(line).next().map(|(_, name)| name);
        let is_panicking = |name: &&str| PANICKING.iter().any(|part| name.contains(part));
        if line.starts_with("define ")
            && let Some(name) = name.filter(is_panicking)
        {
            let mut function = format!("{line}\n");
            for line in lines.by_ref() {
                function.push_str(line);
                function.push('\n');
                if line == "}" {
                    break;
                }
            }
            moved.insert(name, function);
            order.push(name);
            continue;
        }
        let is_before = after.is_empty() && !line.starts_with("define ");
        let out = if is_before { &mut before } else { &mut after };
        out.push_str(line);
        out.push('\n');
    }
    while let Some(name) = order.pop() {
        place(name, &mut moved, &mut before);
    }
    before + &after
}

/// Writes a function, unless it is written, and before it those that it calls.
fn place(name: &str, functions: &mut BTreeMap<&str, String>, out: &mut String) {
    let Some(function) = functions.remove(name) else { return };
    // Each call removes one, so the depth is limited by their number, which is that of `core`'s and `cuda_std`'s.
    for (_, used) in names(&function) {
        place(used, functions, out);
    }
    out.push_str(&function);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panicking_functions_come_first() {
        let function = |name: &str, callee: &str| {
            format!("define void {name}() {{\n  call void {callee}()\n}}\n")
        };
        let kernel = function("@kernel", "@_R4core9panicking5panic");
        let panics = function("@_R4core9panicking5panic", "@_R8cuda_std5panic6report");
        let reports = function("@_R8cuda_std5panic6report", "@other");
        let other = function("@other", "@kernel");
        let module =
            format!("@x = global i32 0\n{kernel}{panics}{other}{reports}declare void @f()\n");
        let expected =
            format!("@x = global i32 0\n{reports}{panics}{kernel}{other}declare void @f()\n");
        assert_eq!(rewrite(&module), expected);
    }
}
