//! Calls: parameters, returns from divergent code, recursion, pointers to functions, limits of the stack.

mod common;

use common::{Rig, fault_text, kernel_with, outputs};
use ptx_emulator::{Ending, FaultKind};

const FACTORIAL: &str = "
.func (.param .b64 result) factorial(.param .b32 n)
{
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<2>;
    ld.param.b32 %r1, [n];
    mov.b64 %rd1, 1;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra DONE;
    sub.u32 %r2, %r1, 1;
    { .param .b32 a; .param .b64 v;
      st.param.b32 [a], %r2;
      call.uni (v), factorial, (a);
      ld.param.b64 %rd2, [v]; }
    cvt.u64.u32 %rd3, %r1;
    mul.lo.u64 %rd1, %rd2, %rd3;
DONE:
    st.param.b64 [result], %rd1;
    ret;
}";

#[test]
fn recursion_to_different_depths() {
    let source = kernel_with(
        FACTORIAL,
        "{ .param .b32 a; .param .b64 v;
           st.param.b32 [a], %t;
           call.uni (v), factorial, (a);
           ld.param.b64 %rd1, [v]; }
         cvt.u32.u64 %r1, %rd1;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let expected: Vec<u32> =
        (0..40u64).map(|t| (1..=t).fold(1u64, u64::wrapping_mul) as u32).collect();
    assert_eq!(outputs(&source, 1, 40, 0), expected);
}

#[test]
fn recursion_without_end() {
    let source = kernel_with(".func down() { call down, (); ret; }", "call down, (); ret;");
    let (kind, text) = fault_text(&source, 1, 3, 0);
    assert_eq!(kind, FaultKind::StackOverflow);
    assert!(text.contains("with the 130 calls"), "{text}");
    assert!(text.contains("stack:   down\n           down\n"), "{text}");
    assert!(text.contains("and 118 more"), "{text}");
}

#[test]
fn large_frames_fill_local_memory() {
    // A row of calls, whose stack is known before the launch: the stack limit does not count.
    let mut items = String::from(".func down0(.param .b32 n) { ret; }");
    for level in 1..=8 {
        items += &format!(
            ".func down{level}(.param .b32 n)
             {{ .local .align 16 .b8 depot[65536];
                .reg .b32 %r; .reg .pred %p;
                ld.param.b32 %r, [n];
                setp.eq.u32 %p, %r, 0;
                @%p ret;
                sub.u32 %r, %r, 1;
                {{ .param .b32 a; st.param.b32 [a], %r; call down{}, (a); }}
                ret; }}\n",
            level - 1
        );
    }
    let source = kernel_with(
        &items,
        "{ .param .b32 a; st.param.b32 [a], %n; call down8, (a); } st.global.b32 [%a], %n; ret;",
    );
    assert_eq!(outputs(&source, 1, 1, 6), [6]);
    let (kind, text) = fault_text(&source, 1, 1, 8);
    assert_eq!(kind, FaultKind::StackOverflow);
    assert!(text.contains("at most 524288 bytes of local memory"), "{text}");
}

#[test]
fn returns_from_divergent_code() {
    let source = kernel_with(
        ".func (.param .b32 out) classify(.param .b32 x)
         { .reg .b32 %r<3>; .reg .pred %p<4>;
           ld.param.b32 %r1, [x];
           setp.lt.u32 %p1, %r1, 10;
           @%p1 bra SMALL;
           setp.lt.u32 %p2, %r1, 20;
           @%p2 bra MIDDLE;
           st.param.b32 [out], 3;
           ret;
         SMALL:
           st.param.b32 [out], 1;
           and.b32 %r2, %r1, 1;
           setp.eq.u32 %p3, %r2, 0;
           @%p3 ret;
           st.param.b32 [out], 11;
           ret;
         MIDDLE:
           st.param.b32 [out], 2;
           ret; }",
        "and.b32 %r3, %t, 7;
         setp.eq.u32 %p1, %r3, 7;
         mov.b32 %r2, 99;
         @%p1 bra SKIP;
         { .param .b32 a; .param .b32 v;
           st.param.b32 [a], %t;
           call (v), classify, (a);
           ld.param.b32 %r2, [v]; }
     SKIP:
         activemask.b32 %r4;
         setp.ne.u32 %p2, %r4, -1;
         @%p2 add.u32 %r2, %r2, 1000;
         st.global.b32 [%a], %r2;
         ret;",
    );
    let expected: Vec<u32> = (0..32)
        .map(|t| match t {
            _ if t % 8 == 7 => 99,
            0..10 if t % 2 == 0 => 1,
            0..10 => 11,
            10..20 => 2,
            _ => 3,
        })
        .collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected, "the lanes meet again behind the call");
}

#[test]
fn pointers_to_functions() {
    let source = kernel_with(
        ".func (.param .b32 v) twice(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [v], %r; ret; }
         .func (.param .b32 v) square(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, %r; st.param.b32 [v], %r; ret; }
         .global .align 8 .u64 table[3] = {twice, square, twice};",
        "rem.u32 %r1, %t, 3;
         mul.wide.u32 %rd1, %r1, 8;
         mov.u64 %rd2, table;
         add.u64 %rd2, %rd2, %rd1;
         ld.global.u64 %rd3, [%rd2];
         setp.eq.u32 %p1, %t, 13;
         mov.u64 %rd4, square;
         selp.b64 %rd3, %rd4, %rd3, %p1;
         { .param .b32 a; .param .b32 v;
           st.param.b32 [a], %t;
           prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
           call (v), %rd3, (a), prototype;
           ld.param.b32 %r2, [v]; }
         st.global.b32 [%a], %r2;
         ret;",
    );
    let expected: Vec<u32> =
        (0..40).map(|t| if t % 3 == 1 || t == 13 { t * t } else { 2 * t }).collect();
    assert_eq!(outputs(&source, 1, 40, 0), expected);
}

#[test]
fn calls_of_what_is_no_function() {
    let call = |address: &str| {
        kernel_with(
            ".func f() { ret; }",
            &format!(
                "mov.u64 %rd1, f; mov.u64 %rd1, {address};
                 prototype: .callprototype _ ();
                 call %rd1, (), prototype; ret;"
            ),
        )
    };
    let (kind, text) = fault_text(&call("0x1234"), 1, 5, 0);
    assert_eq!(kind, FaultKind::InvalidPc);
    assert!(text.contains("the address called is 0x1234"), "{text}");
    // Data is not code, and code is not data.
    let source = kernel_with(".func f() { ret; }", "mov.u64 %rd1, f; ld.u64 %rd2, [%rd1]; ret;");
    let (kind, text) = fault_text(&source, 1, 1, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("the address of a function"), "{text}");
}

#[test]
fn structures_and_several_parameters() {
    let source = kernel_with(
        ".func (.param .align 8 .b8 v[16]) swap(.param .align 8 .b8 x[16], .param .b8 k, .param .b64 y)
         { .reg .b64 %rd<4>; .reg .b32 %r<4>;
           ld.param.v2.b64 {%rd1, %rd2}, [x];
           ld.param.b8 %r1, [k];
           ld.param.b64 %rd3, [y];
           add.u64 %rd1, %rd1, %rd3;
           cvt.u64.u32 %rd3, %r1;
           add.u64 %rd2, %rd2, %rd3;
           st.param.b64 [v+8], %rd1;
           st.param.b64 [v], %rd2;
           ret; }",
        "cvt.u64.u32 %rd1, %t;
         { .param .align 8 .b8 a[16]; .param .b8 k; .param .b64 y; .param .align 8 .b8 v[16];
           st.param.b64 [y], 1000;
           st.param.b64 [a+8], 7;
           st.param.b64 [a], %rd1;
           st.param.b8 [k], 200;
           call.uni (v), swap, (a, k, y);
           ld.param.b64 %rd2, [v];
           ld.param.b64 %rd3, [v+8]; }
         mad.lo.u64 %rd2, %rd2, 10000, %rd3;
         cvt.u32.u64 %r1, %rd2;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let expected: Vec<u32> = (0..33).map(|t| 207 * 10_000 + 1000 + t).collect();
    assert_eq!(outputs(&source, 1, 33, 0), expected);
}

#[test]
fn register_parameters() {
    let source = kernel_with(
        ".func (.reg .b32 v) add3(.reg .b32 x, .reg .b64 y) { .reg .b32 %r; cvt.u32.u64 %r, y; add.u32 v, x, %r; add.u32 v, v, 3; ret; }",
        "mov.b64 %rd1, 100; call (%r1), add3, (%t, %rd1); st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(outputs(&source, 1, 4, 0), [103, 104, 105, 106]);
}

#[test]
fn dynamic_stack_allocation() {
    let source = kernel_with(
        "",
        "stacksave.u64 %rd9;
         add.u32 %r1, %t, 1;
         cvt.u64.u32 %rd1, %r1;
         shl.b64 %rd1, %rd1, 2;
         alloca.u64 %rd2, %rd1, 16;
         st.local.b32 [%rd2], %t;
         alloca.u64 %rd3, 32, 16;
         st.local.b32 [%rd3], %n;
         ld.local.b32 %r2, [%rd2];
         stackrestore.u64 %rd9;
         alloca.u64 %rd4, 16, 16;
         setp.eq.u64 %p1, %rd4, %rd2;
         @%p1 add.u32 %r2, %r2, 100;
         st.global.b32 [%a], %r2;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 5, 9), [100, 101, 102, 103, 104]);
}

#[test]
fn functions_that_are_nowhere() {
    let source = kernel_with(
        ".extern .func (.param .b32 v) mystery();",
        "setp.eq.u32 %p1, %n, 0;
         @%p1 bra DONE;
         { .param .b32 v; call (v), mystery, (); }
     DONE:
         st.global.b32 [%a], 5; ret;",
    );
    assert_eq!(outputs(&source, 1, 1, 0), [5]);
    let (kind, text) = fault_text(&source, 1, 1, 1);
    assert_eq!(kind, FaultKind::UnresolvedFunction { name: "mystery".into() });
    assert_eq!(kind.ending(), Ending::Unsupported);
    assert!(text.contains("call of `mystery`, which is defined nowhere"), "{text}");
    let source = kernel_with(".extern .func llvm.nvvm.wrong();", "call llvm.nvvm.wrong, (); ret;");
    let (_, text) = fault_text(&source, 1, 1, 0);
    assert!(text.starts_with("unsupported: unresolved intrinsic `llvm.nvvm.wrong`"), "{text}");
}

#[test]
fn aliases_stand_for_functions() {
    let source = kernel_with(
        &format!("{FACTORIAL}\n.func (.param .b64 result) again(.param .b32 n);\n.alias again, factorial;"),
        "{ .param .b32 a; .param .b64 v; st.param.b32 [a], 5; call (v), again, (a); ld.param.b64 %rd1, [v]; }
         cvt.u32.u64 %r1, %rd1; st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(outputs(&source, 1, 1, 0), [120]);
}

#[test]
fn a_fault_inside_calls_shows_the_way_there() {
    let source = kernel_with(
        ".func _ZN3lib5inner17h0123456789abcdefE(.param .b64 p) { .reg .b64 %rd; ld.param.b64 %rd, [p]; st.b32 [%rd], 1; ret; }
         .func outer(.param .b64 p) { .reg .b64 %rd; ld.param.b64 %rd, [p];
             { .param .b64 a; st.param.b64 [a], %rd; call _ZN3lib5inner17h0123456789abcdefE, (a); } ret; }",
        "{ .param .b64 a; st.param.b64 [a], 64; call outer, (a); } ret;",
    );
    let rig = Rig::new(&source, None);
    drop(rig);
    let (_, text) = fault_text(&source, 1, 1, 0);
    assert!(text.contains("  stack:   lib::inner\n           outer\n           k\n"), "{text}");
}
