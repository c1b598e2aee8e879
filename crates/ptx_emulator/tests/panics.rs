//! Rust panics and C assertions as a kernel reports them; kernels as LLVM writes them.

mod common;

use common::{fault, kernel, kernel_with, module};
use ptx_emulator::{Ending, FaultKind};

#[test]
fn a_bounds_check_that_fails() {
    // What rustc and LLVM make of `a[i]`: the arguments of the panic are gone, the handler traps.
    let source = kernel_with(
        ".func _RNvNtCsbRDiNOlPP07_4core9panicking18panic_bounds_check() .noreturn
         {
             .loc 2 271 5 // /rustc/abc/library/core/src/panicking.rs:271:5
             trap; exit;
         }
         .file 1 \"src/lib.rs\"
         .file 2 \"/rustc/abc/library/core/src/panicking.rs\"",
        ".loc 1 45 39 // src/lib.rs:45:39 @[ src/lib.rs:12:5 ]
         setp.lt.u32 %p1, %t, %n;
         @%p1 bra FINE;
         { call.uni _RNvNtCsbRDiNOlPP07_4core9panicking18panic_bounds_check, (); }
         exit;
     FINE:
         st.global.b32 [%a], %t;
         ret;",
    );
    let fault = fault(&source, 1, 32, 29);
    assert_eq!(fault.kind(), &FaultKind::Trap);
    assert_eq!(fault.lanes(), 0xE000_0000);
    assert_eq!(
        fault.panic_message(),
        Some("index out of bounds (core::panicking::panic_bounds_check)")
    );
    let expected =
        "error: kernel panicked: index out of bounds (core::panicking::panic_bounds_check)
  kernel:  k, grid (1, 1, 1), block (32, 1, 1)
  where:   block (0, 0, 0), warp 0, lanes 29-31 (first thread (29, 0, 0))
  ptx:     line 7: trap;
  source:  src/lib.rs:45:39
  inlined: src/lib.rs:45:39, called at src/lib.rs:12:5
  stack:   core::panicking::panic_bounds_check
           k at src/lib.rs:45:39
help: the kernel ended itself: see the source line above, and the lanes that reached it";
    assert_eq!(fault.to_string(), expected);
}

const STRINGS: &str = ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c) .noreturn;
.global .align 1 .b8 message[8] = {115, 117, 109, 32, 62, 32, 48, 0};";

fn failing(file: &str, function: &str) -> String {
    let bytes = |text: &str| {
        let list: Vec<String> = text.bytes().chain([0]).map(|byte| byte.to_string()).collect();
        format!("[{}] = {{{}}}", list.len(), list.join(", "))
    };
    kernel_with(
        &format!(
            "{STRINGS}
             .global .align 1 .b8 file{}; .global .align 1 .b8 name{};",
            bytes(file),
            bytes(function)
        ),
        "setp.ne.u32 %p1, %g, 37;
         @%p1 ret;
         mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
         mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
         mov.u64 %rd3, name; cvta.global.u64 %rd3, %rd3;
         { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
           st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 42; st.param.b64 [n], %rd3; st.param.b64 [c], 1;
           call.uni __assertfail, (m, f, l, n, c); }
         exit;",
    )
}

#[test]
fn an_assertion_in_cpp() {
    let fault = fault(&failing("kernel.cu", "reduce(float*)"), 2, 32, 0);
    let kind = FaultKind::Assert {
        message: "sum > 0".into(),
        file: "kernel.cu".into(),
        line: 42,
        function: "reduce(float*)".into(),
    };
    assert_eq!(fault.kind(), &kind);
    assert_eq!((fault.ending(), fault.panic_message()), (Ending::KernelBug, None));
    assert_eq!((fault.block(), fault.lanes()), (Some([1, 0, 0]), 1 << 5));
    let text = fault.to_string();
    assert!(
        text.starts_with("error: assertion failed at kernel.cu:42 in reduce(float*): sum > 0\n"),
        "{text}"
    );
}

#[test]
fn a_panic_reported_through_assertfail() {
    let fault = fault(&failing("src/lib.rs", ""), 2, 32, 0);
    assert_eq!(fault.panic_message(), Some("sum > 0"));
    let text = fault.to_string();
    assert!(text.starts_with("error: kernel panicked at src/lib.rs:42: sum > 0\n"), "{text}");
}

#[test]
fn a_bare_trap_is_no_panic() {
    let fault = fault(&kernel("setp.eq.u32 %p1, %t, 5; @%p1 trap; ret;"), 1, 32, 0);
    assert_eq!((fault.kind(), fault.panic_message()), (&FaultKind::Trap, None));
    assert_eq!(fault.lanes(), 1 << 5);
    assert!(fault.to_string().starts_with("error: the kernel executed a trap\n"));
    let fault = common::fault(&kernel("brkpt; ret;"), 1, 1, 0);
    assert_eq!(fault.kind(), &FaultKind::Breakpoint);
}

#[test]
fn lines_without_a_comment_come_from_the_file_table() {
    let source = module(
        ".visible .entry k(.param .u64 p, .param .u32 n) {
             .loc 7 12 3
             trap; }
         .file 7 \"shader.cu\"",
    );
    let text = fault(&source, 1, 1, 0).to_string();
    assert!(text.contains("source:  shader.cu:12:3\nhelp"), "{text}");
    let inlined = source.replace("12 3", "12 3, function_name name, inlined_at 7 40 1");
    let text = fault(&inlined, 1, 1, 0).to_string();
    assert!(text.contains("inlined: shader.cu:12:3, called at shader.cu:40:1"), "{text}");
}
