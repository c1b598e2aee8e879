//! Functions that kernels call but nothing defines.
//!
//! They would only show when the driver loads the PTX, without a word on who calls them; here the module still knows.

use crate::error::{UnresolvedSymbol, readable};
use crate::ir::location::Locations;
use crate::ir::token::{Kind, tokens};

/// Functions that the CUDA driver provides to every module (CUDA C++ Programming Guide: formatted output, assertion, dynamic
/// global memory).
const DRIVER_FUNCTIONS: [&str; 4] = ["@vprintf", "@__assertfail", "@malloc", "@free"];

/// At most this many callers are listed for each function.
const MAX_USERS: usize = 4;

/// The functions that the textual module `module` declares, uses, and leaves undefined.
pub(crate) fn unresolved(module: &str) -> Vec<UnresolvedSymbol> {
    let names: Vec<&str> = module
        .lines()
        .filter(|line| line.starts_with("declare "))
        .filter_map(global_name)
        .filter(|name| {
            !name.starts_with("@llvm.")
                && !name.starts_with("@\"llvm.")
                && !DRIVER_FUNCTIONS.contains(name)
        })
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let locations = Locations::new(module);
    names
        .into_iter()
        .map(|name| UnresolvedSymbol {
            name: readable(name),
            users: users(module, name, &locations),
        })
        .collect()
}

/// The intrinsics that LLVM doesn't know: it leaves calls of them in the PTX, as of any other function.
pub(crate) fn unknown_intrinsics(ptx: &str, module: &str) -> Vec<UnresolvedSymbol> {
    let names = ptx.lines().filter_map(|line| {
        let (_, name) = line.strip_prefix(".extern .func")?.split_once("llvm.")?;
        let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        Some(format!("@llvm.{}", name.split(|c| !is_of_a_name(c)).next()?))
    });
    let locations = Locations::new(module);
    names
        .map(|name| UnresolvedSymbol {
            users: users(module, &name, &locations),
            name: name.trim_start_matches('@').to_owned(),
        })
        .collect()
}

/// The functions that use the global `name` (with its `@`), with the place of the use.
pub(crate) fn users(module: &str, name: &str, locations: &Locations<'_>) -> Vec<String> {
    let mut users: Vec<String> = Vec::new();
    let mut function = "";
    for line in module.lines() {
        if line.starts_with("define ") {
            function = global_name(line).unwrap_or_default();
        } else if line.starts_with(' ') && line.contains(name) && uses(line, name) {
            let user = match locations.of_instruction(line) {
                Some(location) => format!("`{}` at {location}", readable(function)),
                None => format!("`{}`", readable(function)),
            };
            if !users.contains(&user) {
                users.push(user);
            }
        }
        if users.len() == MAX_USERS {
            break;
        }
    }
    users
}

fn uses(line: &str, name: &str) -> bool {
    tokens(line).any(|token| token.kind == Kind::Global && token.text == name)
}

/// The first global name of a line: what a `define` or `declare` line is about.
pub(crate) fn global_name(line: &str) -> Option<&str> {
    tokens(line).find(|token| token.kind == Kind::Global).map(|token| token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define ptx_kernel void @kernel(ptr %p) {
  %1 = call float @__nv_sinf(float 1.0), !dbg !2
  %2 = call i32 @vprintf(ptr %p, ptr null)
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  call void @_RNvC1k7missing()
}
declare float @__nv_sinf(float)
declare i32 @vprintf(ptr, ptr)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @_RNvC1k7missing()
!1 = distinct !DISubprogram(name: "kernel", file: !3, line: 4)
!2 = !DILocation(line: 5, column: 9, scope: !1)
!3 = !DIFile(filename: "src/lib.rs", directory: "")
"#;

    #[test]
    fn names_the_function_its_caller_and_the_line() {
        let symbols = unresolved(MODULE);
        let shown: Vec<(&str, &[String])> =
            symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.users.as_slice())).collect();
        assert_eq!(
            shown,
            [
                ("__nv_sinf", ["`kernel` at src/lib.rs:5:9".to_owned()].as_slice()),
                ("k::missing", ["`kernel`".to_owned()].as_slice()),
            ]
        );
    }

    #[test]
    fn intrinsics_that_llvm_leaves_in_the_ptx_are_unknown() {
        let ptx = ".extern .func  (.param .b32 func_retval0) llvm.nvvm.nothing\n(\n)\n;\n.extern .func vprintf\n\tcall.uni llvm.nvvm.nothing\n";
        let module = MODULE.replace("__nv_sinf", "llvm.nvvm.nothing");
        assert_eq!(
            unknown_intrinsics(ptx, &module),
            [UnresolvedSymbol {
                name: "llvm.nvvm.nothing".to_owned(),
                users: vec!["`kernel` at src/lib.rs:5:9".to_owned()],
            }]
        );
    }

    #[test]
    fn what_the_driver_provides_is_resolved() {
        assert!(
            unresolved("declare i32 @vprintf(ptr, ptr)\ndeclare ptr @malloc(i64)\n").is_empty()
        );
    }
}
