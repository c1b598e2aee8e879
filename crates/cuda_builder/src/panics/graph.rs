//! Who calls whom, and whether anybody calls formatters through pointers.

use std::collections::{HashMap, HashSet};

use super::{is_called, names};

/// Functions and variables of a textual module.
struct Graph<'a> {
    /// The names in each one's body or initial value.
    uses: HashMap<&'a str, Vec<&'a str>>,
    /// Functions that call through a pointer what may be a formatter.
    calling: HashSet<&'a str>,
    /// What is seen from outside of the module: kernels.
    roots: Vec<&'a str>,
}

/// Whether code that kernels reach calls through a pointer what has the form of a formatter: `(&T, &mut Formatter) -> Result`.
/// `core::fmt::write` does. Formatters that `is_formatter` knows count as reached only where they are called by name.
pub(super) fn formats(module: &str, is_formatter: impl Fn(&str) -> bool) -> bool {
    let graph = Graph::new(module, is_formatter);
    let mut reached: HashSet<&str> = graph.roots.iter().copied().collect();
    let mut open = graph.roots;
    while let Some(name) = open.pop() {
        if graph.calling.contains(name) {
            return true;
        }
        let uses = graph.uses.get(name).into_iter().flatten();
        open.extend(uses.copied().filter(|used| reached.insert(used)));
    }
    false
}

impl<'a> Graph<'a> {
    fn new(module: &'a str, is_formatter: impl Fn(&str) -> bool) -> Self {
        let mut graph = Self { uses: HashMap::new(), calling: HashSet::new(), roots: Vec::new() };
        let mut function = None;
        for line in module.lines() {
            let is_definition = line.starts_with("define ");
            let is_variable = line.starts_with('@');
            if is_definition || is_variable {
                let Some((_, name)) = names(line).next() else { continue };
                if !is_local(line) {
                    graph.roots.push(name);
                }
                graph.uses.entry(name).or_default();
                function = is_definition.then_some(name);
                if is_variable {
                    graph.add(name, line, &is_formatter);
                }
                continue;
            }
            if line == "}" {
                function = None;
            }
            if let Some(name) = function {
                graph.add(name, line, &is_formatter);
                if calls_formatter(line) {
                    graph.calling.insert(name);
                }
            }
        }
        graph
    }

    /// Notes what `user` uses in a line.
    fn add(&mut self, user: &'a str, line: &'a str, is_formatter: impl Fn(&str) -> bool) {
        let used = names(line)
            .filter(|(at, name)| {
                *name != user && (is_called(line, at + name.len()) || !is_formatter(name))
            })
            .map(|(_, name)| name);
        self.uses.entry(user).or_default().extend(used);
    }
}

/// Whether the definition in this line is seen within the module only (LLVM Language Reference, "Linkage Types").
fn is_local(line: &str) -> bool {
    let head = line.split('(').next().unwrap_or(line);
    head.split(' ').any(|word| matches!(word, "internal" | "private"))
}

/// Whether the line calls through a pointer a function `i1 (ptr, ptr)`.
fn calls_formatter(line: &str) -> bool {
    let Some((before, callee)) = line.split_once(" i1 %") else { return false };
    let Some((_, arguments)) = callee.split_once('(') else { return false };
    // Attributes of parameters have parentheses of their own.
    let mut depth = 1;
    let mut pointers = Vec::new();
    let mut argument = String::new();
    for character in arguments.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && character == ',' {
            pointers.push(argument.trim_start().starts_with("ptr"));
            argument.clear();
            if depth == 0 {
                break;
            }
        } else {
            argument.push(character);
        }
    }
    (before.ends_with("call") || before.contains("call ")) && pointers == [true, true]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
@table = private constant <{ ptr, ptr }> <{ ptr @drop, ptr @formatter }>
define ptx_kernel void @kernel(ptr %0) {
  call void @panics(ptr @table)
}
define internal void @panics(ptr %0) {
  store ptr @formatter, ptr %0
}
define internal i1 @formatter(ptr %0, ptr %1) {
  %3 = call i1 @write(ptr %0)
  ret i1 %3
}
define internal i1 @write(ptr %0) {
  %2 = load ptr, ptr %0
  %3 = call noundef zeroext i1 %2(ptr noundef captures(address, read) %0, ptr align 8 %0) #3
  ret i1 %3
}
define internal void @drop(ptr %0) {
  ret void
}
";

    #[test]
    fn formatters_in_tables_are_not_called() {
        assert!(!formats(MODULE, |name| name == "@formatter"));
        // If they weren't known for formatters, they might be.
        assert!(formats(MODULE, |_| false));
    }

    #[test]
    fn who_writes_formats() {
        let called = MODULE.replace("call void @panics(ptr @table)", "call i1 @write(ptr %0)");
        assert!(formats(&called, |name| name == "@formatter"));
        let by_name =
            MODULE.replace("call void @panics(ptr @table)", "call i1 @formatter(ptr %0, ptr %0)");
        assert!(formats(&by_name, |name| name == "@formatter"));
    }

    #[test]
    fn other_pointers_are_no_formatters() {
        for (line, expected) in [
            ("  %3 = call i1 %2(ptr %0, ptr %1)", true),
            (
                "  %3 = tail call noundef zeroext i1 %f(ptr noundef %0, ptr noalias align 8 dereferenceable(24) %1), !dbg !3",
                true,
            ),
            ("  %3 = call i1 %2(ptr %0, ptr %1, i64 3)", false),
            ("  %3 = call i1 %2(ptr %0, i64 3)", false),
            ("  %3 = call i1 %2(ptr %0)", false),
            ("  %3 = call i1 @f(ptr %0, ptr %1)", false),
            ("  %3 = call i32 %2(ptr %0, ptr %1)", false),
            ("  store i1 %2, ptr %1", false),
            ("  br i1 %2, label %3, label %4", false),
        ] {
            assert_eq!(calls_formatter(line), expected, "{line}");
        }
    }
}
