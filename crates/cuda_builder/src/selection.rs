//! What LLVM means when it can't select instructions: it names a node of its own, at most with the function, and asks for a bug
//! report. The module knows which line asked for the operation.

use crate::error::{UnsupportedOperation, readable};
use crate::ir::location::Locations;
use crate::symbols;

/// Explains what `llc` said (with Rust names readable) about the textual module `module`; `None` if it failed for another reason.
pub(crate) fn explain(said: &str, module: &str) -> Option<UnsupportedOperation> {
    let locations = Locations::new(module);
    // `Cannot select: 0x5570: f32 = fsin 0x5571`, `no libcall available for fexp`, `Cannot select: intrinsic %llvm.x86.rdtsc`
    let nodes = said.lines().filter_map(|line| {
        let after = |mark| line.split_once(mark).map(|(_, rest): (&str, &str)| rest);
        let cannot = after("Cannot select: ");
        after("no libcall available for ")
            .or_else(|| cannot?.strip_prefix("intrinsic %"))
            .or_else(|| Some(cannot?.split_once(" = ")?.1))?
            .split_whitespace()
            .next()
    });
    for node in nodes {
        for intrinsic in intrinsics(module, node) {
            let users = symbols::users(module, intrinsic, &locations);
            if !users.is_empty() {
                let operation = intrinsic.trim_start_matches('@').to_owned();
                return Some(UnsupportedOperation { operation: Some(operation), users });
            }
        }
    }
    // An operator, such as an addition of `f128`: what is known is the function.
    if !["Cannot select", "no libcall available", "unsupported library call"]
        .iter()
        .any(|words| said.contains(words))
    {
        return None;
    }
    let function = said.lines().find_map(|line| {
        let quoted = || Some(line.split_once("on function '@")?.1.split_once('\'')?.0);
        line.strip_prefix("In function: ").or_else(quoted)
    })?;
    let is_the_function = |line: &&str| {
        line.starts_with("define ")
            && symbols::global_name(line).is_some_and(|name| readable(name) == function)
    };
    let mut body = module.lines().skip_while(|line| !is_the_function(line));
    let definition = body.next()?;
    let operator = body.take_while(|line| *line != "}").find(|line| is_beyond_the_gpu(line));
    let place = match operator.and_then(|line| locations.of_instruction(line)) {
        Some(place) => Some(place),
        // A function has no column.
        None => locations
            .of_instruction(definition)
            .map(|place| place.trim_end_matches(":0").to_owned()),
    };
    let user = match place {
        Some(place) => format!("`{function}` at {place}"),
        None => format!("`{function}`"),
    };
    Some(UnsupportedOperation { operation: None, users: vec![user] })
}

/// Whether an instruction is one of those that LLVM has only libraries for: with `f128`, or between 128-bit integers and floats.
fn is_beyond_the_gpu(line: &str) -> bool {
    let converts = |names: [&str; 2]| names.iter().any(|name| line.contains(name));
    line.contains("fp128")
        || converts([" uitofp i128 ", " sitofp i128 "])
        || (converts([" fptoui ", " fptosi "]) && line.contains(" to i128"))
}

/// The intrinsics of the module that LLVM may call `node` when it selects instructions: `fsin` is `@llvm.sin.f32`.
fn intrinsics<'a>(module: &'a str, node: &str) -> impl Iterator<Item = &'a str> {
    let names = [node.to_owned(), format!("llvm.{node}")];
    let float = node.strip_prefix('f').map(|name| format!("llvm.{name}"));
    let names: Vec<String> = names.into_iter().chain(float).collect();
    module
        .lines()
        .filter(|line| line.starts_with("declare "))
        .filter_map(symbols::global_name)
        .filter(move |global| {
            names.iter().any(|name| {
                let rest = global.strip_prefix('@').and_then(|global| global.strip_prefix(&**name));
                // The rest are the types.
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define ptx_kernel void @_RNvC1k4wave(ptr %p) !dbg !1 {
  %1 = call float @llvm.sin.f32(float 1.0), !dbg !2
  %2 = call i64 @llvm.x86.rdtsc()
}
declare float @llvm.sin.f32(float)
declare float @llvm.sinh.f32(float)
declare i64 @llvm.x86.rdtsc()
!1 = distinct !DISubprogram(name: "wave", file: !3, line: 4)
!2 = !DILocation(line: 5, column: 9, scope: !1)
!3 = !DIFile(filename: "src/lib.rs", directory: "")
"#;

    #[test]
    fn the_line_that_asks_for_the_operation_is_named() {
        let at_line = ["`k::wave` at src/lib.rs:5:9"];
        let at_function = ["`k::wave` at src/lib.rs:4"];
        for (said, operation, users) in [
            (
                "LLVM ERROR: Cannot select: 0x559c: f32 = fsin 0x559d\nIn function: k::wave",
                Some("llvm.sin.f32"),
                at_line,
            ),
            ("error: no libcall available for fsin\n", Some("llvm.sin.f32"), at_line),
            (
                "LLVM ERROR: Cannot select: intrinsic %llvm.x86.rdtsc\n",
                Some("llvm.x86.rdtsc"),
                ["`k::wave`"],
            ),
            (
                "LLVM ERROR: unsupported library call operation\n1.\tRunning pass 'Selection' on function '@k::wave'\n",
                None,
                at_function,
            ),
            (
                "LLVM ERROR: Cannot select: 0x1: f128 = fadd 0x2\nIn function: k::wave\n",
                None,
                at_function,
            ),
        ] {
            let found = explain(said, MODULE).expect(said);
            assert_eq!(found.operation.as_deref(), operation, "{said}");
            assert_eq!(found.users, users, "{said}");
        }
    }

    #[test]
    fn the_line_of_an_operator_is_found_where_it_is_known_to_be_beyond_the_gpu() {
        let said = "LLVM ERROR: unsupported library call operation\n1.\tRunning pass 'Selection' on function '@k::wave'\n";
        for operator in
            ["uitofp i128 %a to double", "fptosi double %a to i128", "fadd fp128 %a, %b"]
        {
            let call = "%1 = call float @llvm.sin.f32(float 1.0), !dbg !2";
            let module = MODULE.replace(call, &format!("%1 = {operator}, !dbg !2"));
            let found = explain(said, &module).expect(operator);
            assert_eq!(found.users, ["`k::wave` at src/lib.rs:5:9"], "{operator}");
        }
        let near = MODULE
            .replace("!1 = distinct", "  %9 = uitofp i128 %a to double, !dbg !2\n!1 = distinct");
        assert_eq!(
            explain(said, &near).expect("the function").users,
            ["`k::wave` at src/lib.rs:4"]
        );
    }

    #[test]
    fn other_failures_are_left_as_they_are() {
        for said in ["", "In function: k::wave", "Cannot select: 0x1: f32 = fsinh 0x2"] {
            assert_eq!(explain(said, MODULE), None, "{said}");
        }
    }
}
