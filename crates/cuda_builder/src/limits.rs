//! Statics that are larger than the memory they lie in.
//!
//! ptxas refuses them when the driver loads the PTX, and names the kernel at most; here the module still knows the lines. What is
//! summed are the variables of the PTX, without padding: less than what ptxas counts by at most a few bytes, so nothing that it
//! accepts is refused.

use std::collections::{HashMap, HashSet};

use crate::error::{OversizedStatic, TooMuchMemory, readable};
use crate::ir::location::Locations;
use crate::symbols;

/// Statics in shared memory that one kernel uses, bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": 48 KiB of every architecture; more is for dynamic shared memory alone).
const SHARED_LIMIT: u64 = 48 << 10;

/// Statics in constant memory of a module, bytes (same table).
const CONSTANT_LIMIT: u64 = 64 << 10;

/// A variable of the PTX.
struct Variable<'a> {
    name: &'a str,
    bytes: u64,
}

/// A function of the PTX.
#[derive(Default)]
struct Function<'a> {
    is_kernel: bool,
    /// Every name in its body.
    words: HashSet<&'a str>,
}

/// Checks the PTX that was made of the textual module `module`.
///
/// # Errors
///
/// If its constant memory, or the shared memory of one kernel, is too large.
pub(crate) fn check(ptx: &str, module: &str) -> Result<(), TooMuchMemory> {
    let (shared, constant) = (variables(ptx, ".shared"), variables(ptx, ".const"));
    let total = |variables: &[&Variable<'_>]| variables.iter().map(|variable| variable.bytes).sum();
    let constant: Vec<&Variable<'_>> = constant.iter().collect();
    let bytes: u64 = total(&constant);
    if bytes > CONSTANT_LIMIT {
        let statics = statics(constant, module);
        return Err(TooMuchMemory::Constant { bytes, limit: CONSTANT_LIMIT, statics });
    }
    let all: Vec<&Variable<'_>> = shared.iter().collect();
    if total(&all) <= SHARED_LIMIT {
        return Ok(());
    }
    let functions = functions(ptx);
    let mut kernels: Vec<&str> = functions
        .iter()
        .filter(|(_, function)| function.is_kernel)
        .map(|(name, _)| *name)
        .collect();
    kernels.sort_unstable();
    for kernel in kernels {
        let reached = reached(kernel, &functions);
        let used: Vec<&Variable<'_>> =
            shared.iter().filter(|variable| reached.contains(variable.name)).collect();
        let bytes = total(&used);
        if bytes > SHARED_LIMIT {
            let statics = statics(used, module);
            let kernel = readable(kernel);
            return Err(TooMuchMemory::Shared { kernel, bytes, limit: SHARED_LIMIT, statics });
        }
    }
    Ok(())
}

/// The largest first, with the lines that use them.
fn statics(mut variables: Vec<&Variable<'_>>, module: &str) -> Vec<OversizedStatic> {
    variables.sort_by(|a, b| (b.bytes, a.name).cmp(&(a.bytes, b.name)));
    let locations = Locations::new(module);
    variables
        .into_iter()
        .map(|variable| {
            // LLVM replaces what PTX doesn't allow in names (NVPTXAssignValidGlobalNames).
            let name = format!("@{}", variable.name.replace("_$_", "."));
            let users = symbols::users(module, &name, &locations);
            OversizedStatic { name: readable(&name), bytes: variable.bytes, users }
        })
        .collect()
}

/// The variables in a state space, such as `.shared .align 4 .b8 TILE[256];` (PTX ISA, "Variable Declarations").
fn variables<'a>(ptx: &'a str, space: &str) -> Vec<Variable<'a>> {
    let parse = |line: &'a str| {
        let declaration = line.split(['=', ';']).next()?;
        let mut words = declaration.split_whitespace();
        words
            .by_ref()
            .take_while(|word| word.starts_with('.') && *word != ".param")
            .find(|word| *word == space)?;
        let mut words = words.skip_while(|word| element_bytes(word).is_none());
        let element = element_bytes(words.next()?)?;
        let (name, length) = match words.next()?.split_once('[') {
            // The size of `[]` comes with the launch.
            Some((name, length)) => (name, length.strip_suffix(']')?.parse().unwrap_or(0)),
            None => (declaration.split_whitespace().last()?, 1),
        };
        Some(Variable { name, bytes: element * length })
    };
    ptx.lines().filter_map(parse).collect()
}

/// The size of a fundamental type: 4 for `.f32`.
fn element_bytes(word: &str) -> Option<u64> {
    let bits: u64 = word.strip_prefix(['.'])?.strip_prefix(['b', 'u', 's', 'f'])?.parse().ok()?;
    Some(bits / 8)
}

/// The functions that have bodies, by name. LLVM writes the braces of a body at the beginning of their lines.
fn functions(ptx: &str) -> HashMap<&str, Function<'_>> {
    let mut functions: HashMap<&str, Function<'_>> = HashMap::new();
    let (mut header, mut inside) = (None, false);
    for line in ptx.lines() {
        let mut words = line.split_whitespace();
        if inside {
            inside = line != "}";
            if let Some((name, _)) = header {
                let function = functions.entry(name).or_default();
                function.words.extend(line.split(|c: char| !is_of_a_name(c)));
            }
        } else if line == "{" {
            inside = true;
            if let Some((name, is_kernel)) = header {
                functions.entry(name).or_default().is_kernel = is_kernel;
            }
        } else if let Some(kind) = words.find(|word| matches!(*word, ".entry" | ".func")) {
            let before = line.trim_end_matches(|c: char| !is_of_a_name(c));
            let name = before.rsplit(|c: char| !is_of_a_name(c)).next();
            header = name.map(|name| (name, kind == ".entry"));
        }
    }
    functions
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Every name in a function's body and in those of the functions it names.
fn reached<'a>(start: &'a str, functions: &HashMap<&'a str, Function<'a>>) -> HashSet<&'a str> {
    let (mut reached, mut next) = (HashSet::new(), vec![start]);
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(functions.get(name).into_iter().flat_map(|function| &function.words));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 7.8
.extern .shared .align 16 .b8 DYNAMIC[];
.shared .align 4 .b8 _RNvC1k4TILE[40000];
.shared .align 4 .u32 COUNT;
.shared .align 8 .f64 SUMS[1000];
.visible .const .align 4 .b8 TABLE[65000] = {1, 2, 3};
.func  (.param .b32 func_retval0) helper(
\t.param .b64 .ptr .shared .align 4 helper_param_0
)
{
\tmov.b32 \t%r1, SUMS;
\tld.shared.b32 %r2, [COUNT];
}
.visible .entry small()
{
\t// demoted variable
\t.shared .align 4 .b8 _RNvC1k3OWN[49152];
\tst.shared.b32 [_RNvC1k3OWN], %r1;
}
.visible .entry large(
\t.param .u64 large_param_0
)
{
\tst.shared.b32 [_RNvC1k4TILE+4], %r1;
\tcall.uni (retval0), helper, (param0);
}
";
    const MODULE: &str = r#"
define ptx_kernel void @large(ptr %p) {
  store i32 0, ptr addrspace(3) @_RNvC1k4TILE, !dbg !2
}
!1 = distinct !DISubprogram(name: "large", file: !3, line: 4)
!2 = !DILocation(line: 5, column: 9, scope: !1)
!3 = !DIFile(filename: "src/lib.rs", directory: "")
"#;

    #[test]
    fn a_kernel_has_what_it_and_its_functions_use() {
        // 40000 + 4 + 8000 bytes: below the limit of 49152, while all of the module's is above.
        assert_eq!(check(PTX, MODULE), Ok(()));
        let error = check(&PTX.replace("SUMS[1000]", "SUMS[1144]"), MODULE);
        let error = error.expect_err("4 bytes too many");
        let statics = |error: &TooMuchMemory| match error {
            TooMuchMemory::Shared { statics, .. } | TooMuchMemory::Constant { statics, .. } => {
                statics.iter().map(|one| (one.name.clone(), one.bytes)).collect::<Vec<_>>()
            }
        };
        assert_eq!(
            statics(&error),
            [("k::TILE".to_owned(), 40000), ("SUMS".to_owned(), 9152), ("COUNT".to_owned(), 4)]
        );
        let text = error.to_string();
        for part in
            ["kernel `large`", "49156 bytes", "49152 bytes (48 KiB)", "`large` at src/lib.rs:5:9"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(check(&PTX.replace("SUMS[1000]", "SUMS[1143]"), MODULE), Ok(()));
        let error = check(&PTX.replace("OWN[49152]", "OWN[49153]"), MODULE);
        assert_eq!(statics(&error.expect_err("1 byte too many")), [("k::OWN".to_owned(), 49153)]);
    }

    #[test]
    fn constant_memory_is_the_modules() {
        let ptx = |bytes: u32| PTX.replace("TABLE[65000]", &format!("TABLE[{bytes}]"));
        assert_eq!(check(&ptx(65536), MODULE), Ok(()));
        let text = check(&ptx(65537), MODULE).expect_err("1 byte too many").to_string();
        for part in ["65537 bytes of constant memory", "65536 bytes (64 KiB)", "TABLE"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
