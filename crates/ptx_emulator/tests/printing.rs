//! `vprintf` from kernels: order, arguments in memory, return value.

mod common;

use common::{Rig, SEEDS, kernel_with, params};

const ITEMS: &str = ".extern .func (.param .b32 v) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[30] = {116, 37, 100, 32, 37, 115, 32, 37, 46, 50, 102, 32, 37, 108, 108, 117, 10, 0};
.global .align 1 .b8 word[4] = {97, 98, 99, 0};";

// "t%d %s %.2f %llu\n" with an int, a pointer, a double and an unsigned long long.
const BODY: &str = ".local .align 8 .b8 depot[32];
     mov.u64 %rd1, depot;
     st.local.b32 [%rd1], %g;
     mov.u64 %rd2, word; cvta.global.u64 %rd2, %rd2;
     st.local.b64 [%rd1+8], %rd2;
     st.local.b64 [%rd1+16], 0d3FF8000000000000;
     st.local.b64 [%rd1+24], -1;
     cvta.local.u64 %rd1, %rd1;
     mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3;
     { .param .b64 f; .param .b64 x; .param .b32 v;
       st.param.b64 [x], %rd1; st.param.b64 [f], %rd3;
       call.uni (v), vprintf, (f, x);
       ld.param.b32 %r1, [v]; }
     st.global.b32 [%a], %r1;
     ret;";

#[test]
fn lines_of_all_threads() {
    for seed in SEEDS {
        let mut rig = Rig::new(&kernel_with(ITEMS, BODY), seed);
        let out = rig.words("out", &[0; 6]);
        rig.launch("k", 2, 3, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
        let text = String::from_utf8(rig.printed.clone()).expect("ASCII");
        let mut lines: Vec<&str> = text.lines().collect();
        let expected: Vec<String> =
            (0..6).map(|g| format!("t{g} abc 1.50 18446744073709551615")).collect();
        if seed.is_none() {
            assert_eq!(lines, expected, "lane by lane, block by block");
        }
        lines.sort_unstable();
        assert_eq!(lines, expected);
        assert_eq!(rig.read(out, 6), [4; 6], "vprintf returns the number of arguments");
    }
}

#[test]
fn a_bad_format_pointer_is_a_fault() {
    let body = "{ .param .b64 f; .param .b64 x; .param .b32 v;
       st.param.b64 [x], 0; st.param.b64 [f], 99; call.uni (v), vprintf, (f, x); } ret;";
    let (kind, text) = common::fault_text(&kernel_with(ITEMS, body), 1, 1, 0);
    assert_eq!(kind, ptx_emulator::FaultKind::IllegalAddress);
    assert!(text.contains("call.uni (v), vprintf, (f, x);"), "{text}");
}
