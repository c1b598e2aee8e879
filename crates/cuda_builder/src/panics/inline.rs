//! Lets LLVM see which panics have values in their messages.
//!
//! `core` forbids inlining `panic_fmt`, and without inlining LLVM takes every message for one with values.

use super::HANDLER;

/// Parts of the two functions' mangled names, in either mangling.
const PANIC_PATH: [&str; 2] = ["4core9panicking9panic_fmt", "rust_begin_unwind"];

/// The definition of a function that is to stay small: with loops rolled up it takes few registers.
fn small(line: &str) -> String {
    match line.rfind(" #") {
        Some(at) => format!("{} optsize{}", &line[..at], &line[at..]),
        None => line.to_owned(),
    }
}

/// The textual module with both functions inlined always.
pub(super) fn rewrite(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with("define ") && line.contains(HANDLER) {
            out.push_str(&small(line));
            out.push('\n');
            continue;
        }
        let attributes = if line.starts_with("define ") {
            "alwaysinline noreturn nounwind"
        } else {
            // Their calls carry `noinline` too.
            "noreturn nounwind"
        };
        match names_panic_path(line).then(|| with_attributes(line, attributes)).flatten() {
            Some(changed) => out.push_str(&changed),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// Whether the line defines or calls one of the two.
fn names_panic_path(line: &str) -> bool {
    let called = line.trim_start();
    let is_call = called.starts_with("call ") || called.contains(" call ");
    (line.starts_with("define ") || is_call)
        && line
            .split_once('@')
            .and_then(|(_, rest)| rest.split_once('('))
            .is_some_and(|(name, _)| PANIC_PATH.iter().any(|part| name.contains(part)))
}

/// The line with `attributes` in place of its attribute group (` #12`); `None` if it has none.
fn with_attributes(line: &str, attributes: &str) -> Option<String> {
    let at = line.rfind(" #")?;
    let rest = line[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < line.len() - at - 2).then(|| format!("{} {attributes}{rest}", &line[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_and_calls_change_and_nothing_else() {
        let module = "\
define hidden void @_RNvNtCs5_4core9panicking9panic_fmt(ptr %a, ptr %b) unnamed_addr #7 !dbg !12 {
  call void @_RNvCs9_7___rustc17rust_begin_unwind(ptr %i) #9, !dbg !3
  tail call void @_ZN4core9panicking9panic_fmt17h01E(ptr %i) #9
  call void @_RNvCs9_4core9panicking5panic(ptr %i) #9
define void @other(ptr %panic_fmt) #7 {
declare void @_ZN4core9panicking9panic_fmt17h01E(ptr) #7
";
        let expected = "\
define hidden void @_RNvNtCs5_4core9panicking9panic_fmt(ptr %a, ptr %b) unnamed_addr alwaysinline noreturn nounwind !dbg !12 {
  call void @_RNvCs9_7___rustc17rust_begin_unwind(ptr %i) noreturn nounwind, !dbg !3
  tail call void @_ZN4core9panicking9panic_fmt17h01E(ptr %i) noreturn nounwind
  call void @_RNvCs9_4core9panicking5panic(ptr %i) #9
define void @other(ptr %panic_fmt) #7 {
declare void @_ZN4core9panicking9panic_fmt17h01E(ptr) #7
";
        assert_eq!(rewrite(module), expected);
    }
}
