//! Branches, loops, tables of branches, guards, exits: expected values are computed in Rust.

mod common;

use common::{fault_text, kernel, kernel_with, module, outputs};
use ptx_emulator::{CompileErrorKind, FaultKind, Program};

#[test]
fn both_sides_of_a_branch_and_what_follows() {
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.eq.b32 %p1, %r1, 0;
         @%p1 bra EVEN;
         mul.lo.u32 %r2, %t, 3;
         bra.uni DONE;
     EVEN:
         add.u32 %r2, %t, 1000;
     DONE:
         add.u32 %r2, %r2, 7;
         st.global.b32 [%a], %r2;
         ret;",
    );
    let expected: Vec<u32> =
        (0..70).map(|t| if t % 2 == 0 { t + 1007 } else { t * 3 + 7 }).collect();
    assert_eq!(outputs(&source, 1, 70, 0), expected);
}

#[test]
fn loops_of_different_lengths() {
    // The Collatz steps of every thread's number: lanes leave the loop one by one.
    let source = kernel(
        "add.u32 %r1, %g, 1;
         mov.b32 %r2, 0;
     HEAD:
         setp.eq.u32 %p1, %r1, 1;
         @%p1 bra DONE;
         and.b32 %r3, %r1, 1;
         setp.eq.u32 %p2, %r3, 0;
         @%p2 bra HALVE;
         mad.lo.u32 %r1, %r1, 3, 1;
         bra.uni NEXT;
     HALVE:
         shr.u32 %r1, %r1, 1;
     NEXT:
         add.u32 %r2, %r2, 1;
         bra.uni HEAD;
     DONE:
         st.global.b32 [%a], %r2;
         ret;",
    );
    let steps = |mut n: u32| {
        let mut count = 0;
        while n != 1 {
            n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    };
    let expected: Vec<u32> = (0..3 * 96).map(|g| steps(g + 1)).collect();
    assert_eq!(outputs(&source, 3, 96, 0), expected);
}

#[test]
fn nested_divergence_with_early_exits() {
    let source = kernel(
        "setp.ge.u32 %p1, %t, 40;
         @%p1 exit;
         and.b32 %r1, %t, 3;
         setp.lt.u32 %p2, %r1, 2;
         @!%p2 bra UPPER;
         setp.eq.u32 %p3, %r1, 0;
         @%p3 bra ZERO;
         mov.b32 %r2, 11;
         bra.uni INNER;
     ZERO:
         mov.b32 %r2, 10;
         setp.eq.u32 %p4, %t, 8;
         @%p4 bra LEAVE;
     INNER:
         add.u32 %r2, %r2, 100;
         bra.uni OUTER;
     UPPER:
         mov.b32 %r2, 20;
     OUTER:
         add.u32 %r2, %r2, 1000;
         st.global.b32 [%a], %r2;
     LEAVE:
         ret;",
    );
    let expected: Vec<u32> = (0..64)
        .map(|t| match (t, t & 3) {
            (40.., _) | (8, _) => u32::MAX,
            (_, 0) => 1110,
            (_, 1) => 1111,
            _ => 1020,
        })
        .collect();
    assert_eq!(outputs(&source, 1, 64, 0), expected);
}

#[test]
fn branch_tables() {
    let source = kernel(
        "rem.u32 %r1, %t, 5;
         setp.gt.u32 %p1, %r1, 3;
         @%p1 bra OTHER;
     TABLE: .branchtargets A, B, C, A;
         brx.idx %r1, TABLE;
     A:  mov.b32 %r2, 1; bra.uni DONE;
     B:  mov.b32 %r2, 2; bra.uni DONE;
     C:  mov.b32 %r2, 3; bra.uni DONE;
     OTHER:
         mov.b32 %r2, 4;
     DONE:
         st.global.b32 [%a], %r2;
         ret;",
    );
    let expected: Vec<u32> = (0..50).map(|t| [1, 2, 3, 1, 4][t as usize % 5]).collect();
    assert_eq!(outputs(&source, 1, 50, 0), expected);
}

#[test]
fn a_branch_table_is_not_left_at_its_end() {
    let source = kernel(
        "TABLE: .branchtargets A, A;
         brx.idx %t, TABLE;
     A:  ret;",
    );
    let (kind, text) = fault_text(&source, 1, 4, 0);
    assert_eq!(kind, FaultKind::InvalidPc);
    assert!(text.contains("the branch has 2 targets"), "{text}");
}

#[test]
fn guards_select_lanes() {
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.ne.u32 %p1|%p2, %r1, 0;
         mov.b32 %r2, 5;
         @%p1 add.u32 %r2, %r2, 10;
         @!%p1 add.u32 %r2, %r2, 20;
         @%p2 add.u32 %r2, %r2, 300;
         st.global.b32 [%a], %r2;
         ret;",
    );
    let expected: Vec<u32> = (0..33).map(|t| if t % 2 == 1 { 15 } else { 325 }).collect();
    assert_eq!(outputs(&source, 1, 33, 0), expected);
}

#[test]
fn the_end_of_a_function_is_no_return() {
    let (kind, text) = fault_text(&kernel("mov.b32 %r1, 1;"), 1, 2, 0);
    assert_eq!(kind, FaultKind::FellOffEnd);
    assert!(
        text.starts_with("error: the end of a function was reached without a return"),
        "{text}"
    );
    assert!(text.contains("lanes 0-1"), "{text}");
}

#[test]
fn unknown_instructions_fault_only_when_reached() {
    let body = "setp.eq.u32 %p1, %n, 0;
         @%p1 bra DONE;
         tcgen05.frobnicate.b32 %r1, [%a];
     DONE: st.global.b32 [%a], %n; ret;";
    assert_eq!(outputs(&kernel(body), 1, 1, 0), [0]);
    let (kind, text) = fault_text(&kernel(body), 1, 1, 1);
    let mnemonic = "tcgen05.frobnicate.b32".to_owned();
    assert_eq!(kind, FaultKind::UnsupportedInstruction { mnemonic });
    assert_eq!(kind.ending(), ptx_emulator::Ending::Unsupported);
    assert!(
        text.starts_with("unsupported: the emulator does not implement `tcgen05.frobnicate.b32`"),
        "{text}"
    );
    let program = common::compile(&kernel(body));
    assert_eq!(program.unsupported_instructions(), [(20, "tcgen05.frobnicate.b32")]);
    // Forms newer than the emulator load, whatever their types and operands.
    for newer in
        ["add.rn.f32x2 %rd1, %rd2, %rd3", "min.f32 %r1, %r2, %r3, %r4", "mma.sync.x {%r1}, {%r2}"]
    {
        let source = kernel(&format!("@%p1 {newer}; ret;"));
        assert_eq!(common::compile(&source).unsupported_instructions().len(), 1, "{newer}");
    }
    // A modifier that is not understood must not be ignored.
    let (kind, _) = fault_text(&kernel("add.nonsense.u32 %r1, %t, 1; ret;"), 1, 1, 0);
    assert!(matches!(kind, FaultKind::UnsupportedInstruction { .. }));
}

#[test]
fn broken_modules_are_refused_with_a_place() {
    let cases = [
        ("this is not PTX", CompileErrorKind::Syntax, "1:1"),
        (&module(".visible .entry k() { bra NOWHERE; }"), CompileErrorKind::Invalid, "4:"),
        (&module(".visible .entry k() { add.u32 %r1, %r2, 1; }"), CompileErrorKind::Invalid, "4:"),
        (&kernel("add.u32 %r1, %r2;"), CompileErrorKind::Invalid, "18:"),
        (&kernel("add.u32 %p1, %r2, 1;"), CompileErrorKind::Invalid, "18:"),
        (
            &module(".extern .global .u32 x; .entry k() { ret; }"),
            CompileErrorKind::UnresolvedSymbol,
            "4:",
        ),
    ];
    for (source, kind, place) in cases {
        let error = Program::compile(source).expect_err(source);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(place), "{error}");
    }
}

#[test]
fn names_in_scopes() {
    let source = kernel_with(
        "",
        "mov.b32 %r1, 1;
         { .reg .b32 %r1; mov.b32 %r1, 99; { .reg .b32 x; add.u32 x, %r1, 1; mov.b32 %r2, x; } }
         { .reg .b32 x; mov.b32 x, 5; add.u32 %r2, %r2, x; }
         mad.lo.u32 %r2, %r2, 10, %r1;
         st.global.b32 [%a], %r2;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 1, 0), [1051]);
}
