//! What the PTX says, by LLVM's own tools: every operation, ordering and scope.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::super::Ordering::{Acquire, AcquireRelease, Monotonic, Release, SequentiallyConsistent};
use super::*;
use crate::toolchain::Toolchain;

const MODERN: Target = Target { capability: 75, ptx: (7, 8) };
const HOPPER: Target = Target { capability: 90, ptx: (7, 8) };
const PASCAL: Target = Target { capability: 60, ptx: (6, 3) };
const MAXWELL: Target = Target { capability: 50, ptx: (6, 3) };

const HEADER: &str = "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n";

fn run(toolchain: &Toolchain, tool: &str, folder: &Path, arguments: &[&str]) {
    let output = Command::new(toolchain.llvm_tool(tool))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the tool runs");
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles functions as the builder does: for each, in order, the memory instructions in its PTX.
fn compiled(functions: &[String], target: Target) -> Option<Vec<Vec<String>>> {
    let toolchain = match Toolchain::discover() {
        Ok(toolchain) => toolchain,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let mut module = HEADER.to_owned();
    for (number, body) in functions.iter().enumerate() {
        let _ = writeln!(
            module,
            "define void @f{number}(ptr %g, ptr addrspace(3) %s, ptr addrspace(1) %m, i8 %v8, i16 %v16, i32 %v32, i64 %v64, float %f, double %d, half %h, bfloat %b) {{\n{body}\n  ret void\n}}"
        );
    }
    fs::write(folder.join("lowered.ll"), lower(&module, target).as_bytes()).expect("writable");
    let (cpu, ptx) = (
        format!("-mcpu=sm_{}", target.capability),
        format!("-mattr=+ptx{}{}", target.ptx.0, target.ptx.1),
    );
    let passes = "-passes=always-inline,globaldce,verify";
    run(&toolchain, "opt", folder, &[passes, "-S", &cpu, &ptx, "lowered.ll", "-o", "final.ll"]);
    run(&toolchain, "llc", folder, &["-O3", &cpu, &ptx, "final.ll", "-o", "out.ptx"]);
    let text = fs::read_to_string(folder.join("out.ptx")).expect("it was written");
    let functions = text.split(".visible .func ").skip(1);
    let memory = ["atom", "ld.", "st.", "fence", "membar"];
    Some(
        functions
            .map(|function| {
                let lines = function.lines().map(str::trim);
                let memory = lines.filter(|line| {
                    memory.iter().any(|name| line.starts_with(name)) && !line.contains(".param")
                });
                // The instruction alone, without operands.
                memory
                    .map(|line| line.split([' ', '\t', ';']).next().unwrap_or_default().to_owned())
                    .collect()
            })
            .collect(),
    )
}

/// Compiles each function and compares its memory instructions.
#[track_caller]
fn check(target: Target, cases: &[(String, Vec<String>)]) {
    let functions: Vec<String> = cases.iter().map(|(body, _)| body.clone()).collect();
    let Some(found) = compiled(&functions, target) else {
        return;
    };
    assert_eq!(found.len(), cases.len());
    for ((body, expected), found) in cases.iter().zip(found) {
        assert_eq!(*expected, found, "{body}");
    }
}

/// The fence before an instruction, and its qualifier.
fn modern(ordering: Ordering) -> (Option<&'static str>, &'static str) {
    match ordering {
        Monotonic => (None, "relaxed"),
        Acquire => (None, "acquire"),
        Release => (None, "release"),
        AcquireRelease => (None, "acq_rel"),
        SequentiallyConsistent => (Some("fence.sc"), "acquire"),
    }
}

const NATIVE: [(&str, &str, &str); 25] = [
    ("xchg", "i32 %v32", "exch.b32"),
    ("add", "i32 %v32", "add.u32"),
    ("sub", "i32 %v32", "add.u32"),
    ("and", "i32 %v32", "and.b32"),
    ("or", "i32 %v32", "or.b32"),
    ("xor", "i32 %v32", "xor.b32"),
    ("max", "i32 %v32", "max.s32"),
    ("min", "i32 %v32", "min.s32"),
    ("umax", "i32 %v32", "max.u32"),
    ("umin", "i32 %v32", "min.u32"),
    ("uinc_wrap", "i32 %v32", "inc.u32"),
    ("udec_wrap", "i32 %v32", "dec.u32"),
    ("xchg", "i64 %v64", "exch.b64"),
    ("xchg", "ptr %g", "exch.b64"),
    ("add", "i64 %v64", "add.u64"),
    ("sub", "i64 %v64", "add.u64"),
    ("and", "i64 %v64", "and.b64"),
    ("or", "i64 %v64", "or.b64"),
    ("xor", "i64 %v64", "xor.b64"),
    ("max", "i64 %v64", "max.s64"),
    ("min", "i64 %v64", "min.s64"),
    ("umax", "i64 %v64", "max.u64"),
    ("umin", "i64 %v64", "min.u64"),
    ("fadd", "float %f", "add.f32"),
    ("fadd", "double %d", "add.f64"),
];

#[test]
fn instructions_of_ptx_say_ordering_scope_and_space() {
    let mut cases = Vec::new();
    for (op, value, ptx) in NATIVE {
        for ordering in Ordering::ALL {
            for scope in Scope::ALL {
                for (pointer, space) in [
                    ("ptr %g", ""),
                    ("ptr addrspace(3) %s", ".shared"),
                    ("ptr addrspace(1) %m", ".global"),
                ] {
                    let body = format!(
                        "  %r = atomicrmw {op} {pointer}, {value}{} {}, align 8",
                        scope.llvm(),
                        ordering.llvm()
                    );
                    let (fence, qualifier) = modern(ordering);
                    let scope = scope.ptx();
                    let fence = fence.map(|fence| format!("{fence}.{scope}"));
                    let instruction = format!("atom.{qualifier}.{scope}{space}.{ptx}");
                    cases.push((body, fence.into_iter().chain([instruction]).collect()));
                }
            }
        }
    }
    check(MODERN, &cases);
}

#[test]
fn bits_of_bytes_are_those_of_a_word() {
    let mut cases = Vec::new();
    for op in ["and", "or", "xor"] {
        for value in ["i8 %v8"] {
            for ordering in Ordering::ALL {
                let body =
                    format!("  %r = atomicrmw {op} ptr %g, {value} {}, align 2", ordering.llvm());
                let (fence, qualifier) = modern(ordering);
                let fence = fence.map(|fence| format!("{fence}.sys"));
                let instruction = format!("atom.{qualifier}.sys.{op}.b32");
                cases.push((body, fence.into_iter().chain([instruction]).collect()));
            }
        }
    }
    check(MODERN, &cases);
}

/// The fence before a loop, and the qualifier of its swap.
fn looped(ordering: Ordering, scope: Scope) -> (Option<String>, &'static str) {
    let scope = scope.ptx();
    match ordering {
        Monotonic => (None, "relaxed"),
        Acquire => (None, "acquire"),
        Release => (Some(format!("fence.acq_rel.{scope}")), "relaxed"),
        AcquireRelease => (Some(format!("fence.acq_rel.{scope}")), "acquire"),
        SequentiallyConsistent => (Some(format!("fence.sc.{scope}")), "acquire"),
    }
}

#[test]
fn everything_else_is_a_loop_whose_first_load_is_atomic_too() {
    let mut cases = Vec::new();
    let narrow =
        ["xchg", "add", "sub", "nand", "max", "min", "umax", "umin", "uinc_wrap", "udec_wrap"];
    let narrow = narrow.iter().flat_map(|op| [(*op, "i8 %v8", 32), (*op, "i16 %v16", 16)]);
    let wide = [
        ("and", "i16 %v16", 16),
        ("or", "i16 %v16", 16),
        ("xor", "i16 %v16", 16),
        ("nand", "i32 %v32", 32),
        ("nand", "i64 %v64", 64),
        ("uinc_wrap", "i64 %v64", 64),
        ("udec_wrap", "i64 %v64", 64),
        ("fadd", "bfloat %b", 16),
    ];
    for (op, value, bits) in narrow.chain(wide) {
        for ordering in Ordering::ALL {
            for scope in Scope::ALL {
                let body = format!(
                    "  %r = atomicrmw {op} ptr addrspace(1) %m, {value}{} {}, align 8",
                    scope.llvm(),
                    ordering.llvm()
                );
                let (fence, qualifier) = looped(ordering, scope);
                // A byte's neighbours may be anybody's.
                let scope = if value.starts_with("i8") { "sys" } else { scope.ptx() };
                let load = format!("ld.relaxed.{scope}.global.b{bits}");
                let swap = format!("atom.{qualifier}.{scope}.global.cas.b{bits}");
                cases.push((body, fence.into_iter().chain([load, swap]).collect()));
            }
        }
    }
    check(MODERN, &cases);
}

#[test]
fn comparing_and_swapping() {
    let mut cases = Vec::new();
    let failures = [Monotonic, Acquire, SequentiallyConsistent];
    for success in Ordering::ALL {
        for failure in failures {
            // As LLVM has it: the stronger of both.
            let qualifier = match (success, failure) {
                (SequentiallyConsistent, _) | (_, SequentiallyConsistent) => "acquire",
                (AcquireRelease, _) | (Release, Acquire) => "acq_rel",
                (Release, _) => "release",
                (Acquire, _) | (_, Acquire) => "acquire",
                _ => "relaxed",
            };
            let sc = success == SequentiallyConsistent || failure == SequentiallyConsistent;
            let fence = sc.then(|| "fence.sc.gpu".to_owned());
            let body = |value: &str| {
                format!(
                    "  %r = cmpxchg ptr addrspace(3) %s, {value}, {value} syncscope(\"device\") {} {}, align 4",
                    success.llvm(),
                    failure.llvm()
                )
            };
            let swap = format!("atom.{qualifier}.gpu.shared.cas.b32");
            cases.push((body("i32 %v32"), fence.clone().into_iter().chain([swap]).collect()));
            let swap = format!("atom.{qualifier}.gpu.shared.cas.b16");
            cases.push((body("i16 %v16"), fence.clone().into_iter().chain([swap]).collect()));

            let (before, qualifier) = looped(success, Scope::Device);
            let before = if failure == SequentiallyConsistent { fence } else { before };
            let after = failure.acquires().then(|| "fence.acq_rel.gpu".to_owned());
            let load = "ld.relaxed.sys.shared.b32".to_owned();
            let swap = format!("atom.{qualifier}.sys.shared.cas.b32");
            cases.push((
                body("i8 %v8"),
                before.into_iter().chain([load, swap]).chain(after).collect(),
            ));
        }
    }
    check(MODERN, &cases);
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn half_precision_sums_where_the_gpu_has_them() {
    let sum = |value: &str| {
        format!(
            "  %r = atomicrmw fadd ptr addrspace(1) %m, {value} syncscope(\"device\") acq_rel, align 2"
        )
    };
    let native = |ty: &str| vec![format!("atom.acq_rel.gpu.global.add.noftz.{ty}")];
    let cases = [(sum("half %h"), native("f16")), (sum("bfloat %b"), native("bf16"))];
    check(HOPPER, &cases);
    check(MODERN, &cases[..1]);
}

#[test]
fn before_sm_70_fences_stand_for_orderings() {
    let case = |body: &str, expected: &[&str]| (body.to_owned(), strings(expected));
    let m = "membar.sys";
    check(
        PASCAL,
        &[
            case("  %r = atomicrmw add ptr %g, i32 %v32 monotonic, align 4", &["atom.sys.add.u32"]),
            case(
                "  %r = atomicrmw add ptr %g, i32 %v32 acq_rel, align 4",
                &[m, "atom.sys.add.u32", m],
            ),
            case(
                "  %r = atomicrmw max ptr addrspace(3) %s, i64 %v64 syncscope(\"block\") release, align 8",
                &["membar.cta", "atom.cta.shared.max.s64"],
            ),
            case("  %r = load atomic i32, ptr %g acquire, align 4", &["ld.volatile.b32", m]),
            case("  %r = load atomic i32, ptr %g seq_cst, align 4", &[m, "ld.volatile.b32", m]),
            case("  store atomic i32 %v32, ptr %g release, align 4", &[m, "st.volatile.b32"]),
            case(
                "  %r = cmpxchg ptr %g, i32 %v32, i32 0 release acquire, align 4",
                &[m, "atom.sys.cas.b32", m],
            ),
            case(
                "  %r = cmpxchg ptr %g, i32 %v32, i32 0 monotonic monotonic, align 4",
                &["atom.sys.cas.b32"],
            ),
            case(
                "  %r = atomicrmw add ptr %g, i8 %v8 seq_cst, align 1",
                &[m, "ld.volatile.b32", "atom.sys.cas.b32", m],
            ),
            case(
                "  %r = cmpxchg ptr %g, i8 %v8, i8 0 acquire acquire, align 1",
                &["ld.volatile.b32", "atom.sys.cas.b32", m],
            ),
            case("  fence syncscope(\"device\") release", &["membar.gl"]),
        ],
    );
    check(
        MAXWELL,
        &[
            case("  %r = atomicrmw add ptr %g, i32 %v32 acquire, align 4", &["atom.add.u32", m]),
            case(
                "  %r = atomicrmw fadd ptr addrspace(1) %m, double %d monotonic, align 8",
                &["ld.volatile.global.b64", "atom.global.cas.b64"],
            ),
        ],
    );
}

#[test]
fn a_threads_own_memory_needs_no_atomics() {
    let body = "  %p = alloca i32
  %l = addrspacecast ptr %p to ptr addrspace(5)
  store volatile i32 %v32, ptr addrspace(5) %l
  %r = atomicrmw add ptr addrspace(5) %l, i32 1 acq_rel, align 4
  %c = cmpxchg ptr addrspace(5) %l, i32 %r, i32 7 acq_rel monotonic, align 4
  %x = load volatile i32, ptr addrspace(5) %l";
    let Some(found) = compiled(&[body.to_owned()], MODERN) else {
        return;
    };
    assert!(!found[0].is_empty());
    assert!(!found[0].iter().any(|line| line.starts_with("atom")), "{:?}", found[0]);
}

#[test]
fn a_fence_for_compilers_is_no_instruction() {
    check(MODERN, &[("  fence syncscope(\"singlethread\") seq_cst".to_owned(), Vec::new())]);
}

#[test]
fn unknown_operations_get_fences() {
    let body = "  %r = atomicrmw usub_sat ptr %g, i32 %v32 seq_cst, align 4".to_owned();
    let Some(found) = compiled(&[body], MODERN) else {
        return;
    };
    assert_eq!(found[0].first().map(String::as_str), Some("fence.sc.sys"));
    assert_eq!(found[0].last().map(String::as_str), Some("fence.acq_rel.sys"));
}

#[test]
fn a_module_without_atomics_is_left_alone() {
    let module = "define void @f(ptr %p) {\n  %x = load atomic i32, ptr %p acquire, align 4\n  fence seq_cst\n  ret void\n}\n";
    assert!(matches!(lower(module, MODERN), Cow::Borrowed(same) if same == module));
}
