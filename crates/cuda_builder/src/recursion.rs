//! Functions that call themselves.
//!
//! PTX allows it, but each call takes stack of the thread's, and a call graph with a circle in it has no depth from which ptxas could
//! tell how much. The driver then reserves what the host's limit says (`CU_LIMIT_STACK_SIZE`, 1 KiB unless set; CUDA C++ Programming
//! Guide, "Recursion"), and a deeper call writes beyond it. So it is worth a warning, with the place.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::readable;
use crate::ir::location::Locations;
use crate::ir::token::{Kind, tokens};
use crate::symbols::global_name;

/// Parts of the mangled names of functions that end the thread: a panic within a panic is no recursion of the author's.
const PANICS: [&str; 2] = ["4core9panicking", "rust_begin_unwind"];

/// For each function, what it calls with the line of the module that does.
type Calls<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

/// A warning for each circle of calls in the textual module.
pub(crate) fn warnings(module: &str) -> Vec<String> {
    let calls = calls(module);
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut warnings = Vec::new();
    for &function in calls.keys() {
        if told.contains(function) {
            continue;
        }
        let Some(circle) = circle(function, &calls) else { continue };
        told.extend(&circle);
        if circle.iter().any(|name| PANICS.iter().any(|panic| name.contains(panic))) {
            continue;
        }
        warnings.push(warning(&circle, &calls, &Locations::new(module)));
    }
    warnings
}

fn calls(module: &str) -> Calls<'_> {
    let mut calls = Calls::new();
    let mut function = "";
    for line in module.lines() {
        if line.starts_with("define ") {
            function = global_name(line).unwrap_or_default();
            calls.entry(function).or_default();
        } else if line.starts_with(' ') && line.contains("call ") {
            // Arguments may be functions too, which the callee may call.
            let callees = tokens(line).filter(|token| token.kind == Kind::Global);
            let of = calls.entry(function).or_default();
            callees.for_each(|callee| {
                of.entry(callee.text).or_insert(line);
            });
        }
    }
    calls
}

/// The shortest way from a function back to it: the functions on it, itself first.
fn circle<'a>(start: &'a str, calls: &Calls<'a>) -> Option<Vec<&'a str>> {
    let mut from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = std::collections::VecDeque::from([start]);
    while let Some(caller) = next.pop_front() {
        for &callee in calls.get(caller)?.keys().filter(|callee| calls.contains_key(**callee)) {
            if callee == start {
                let mut circle = vec![caller];
                while *circle.last()? != start {
                    circle.push(from.get(circle.last()?)?);
                }
                circle.reverse();
                return Some(circle);
            }
            if !from.contains_key(callee) {
                from.insert(callee, caller);
                next.push_back(callee);
            }
        }
    }
    None
}

fn warning(circle: &[&str], calls: &Calls<'_>, locations: &Locations<'_>) -> String {
    let steps: Vec<String> = circle
        .iter()
        .zip(circle.iter().cycle().skip(1))
        .map(|(caller, callee)| {
            let line = calls.get(caller).and_then(|of| of.get(callee));
            let place = line.and_then(|line| locations.of_instruction(line));
            let place = place.map_or_else(String::new, |place| format!(" at {place}"));
            let callee = if caller == callee {
                "itself".to_owned()
            } else {
                format!("`{}`", readable(callee))
            };
            format!("`{}` calls {callee}{place}", readable(caller))
        })
        .collect();
    format!(
        "recursion: {}; nobody can tell how much stack that takes, and a thread has 1 KiB unless the host sets more (CU_LIMIT_STACK_SIZE): use a loop, or bound the depth and set the limit",
        steps.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define ptx_kernel void @kernel(ptr %p) {
  call void @_RNvC1k4deep(ptr %p), !dbg !2
  call void @_RNvC1k4even(ptr %p)
}
define void @_RNvC1k4deep(ptr %p) {
  tail call void @_RNvC1k4deep(ptr %p), !dbg !2
}
define void @_RNvC1k4even(ptr %p) {
  %1 = call i1 @_RNvC1k3odd(ptr %p)
}
define i1 @_RNvC1k3odd(ptr %p) {
  call void @_RNvC1k4even(ptr %p)
  call void @declared(ptr %p)
}
define void @rust_begin_unwind(ptr %p) {
  call void @_RNvNtC_4core9panicking5panic(ptr %p)
}
define void @_RNvNtC_4core9panicking5panic(ptr %p) {
  call void @rust_begin_unwind(ptr %p)
}
declare void @declared(ptr)
!1 = distinct !DISubprogram(name: "deep", file: !3, line: 4)
!2 = !DILocation(line: 5, column: 9, scope: !1)
!3 = !DIFile(filename: "src/lib.rs", directory: "")
"#;

    #[test]
    fn each_circle_is_told_once() {
        let warnings = warnings(MODULE);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[0].contains("`k::odd` calls `k::even`, `k::even` calls `k::odd`;"),
            "{warnings:?}"
        );
        assert!(warnings[1].contains("`k::deep` calls itself at src/lib.rs:5:9;"), "{warnings:?}");
    }

    #[test]
    fn calls_without_a_circle_are_none() {
        let straight = MODULE
            .replace(
                "call void @_RNvC1k4even(ptr %p)\n  call void @declared",
                "call void @declared",
            )
            .replace("tail call void @_RNvC1k4deep", "tail call void @declared");
        assert!(warnings(&straight).is_empty(), "{:?}", warnings(&straight));
    }
}
