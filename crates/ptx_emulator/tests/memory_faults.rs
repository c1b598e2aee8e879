//! Accesses that must fail, and the text that says why; beside each a near miss that works.

mod common;

use common::{Rig, SEEDS, fault_text, kernel, kernel_with, outputs, params};
use ptx_emulator::{Ending, FaultKind};

#[test]
fn past_the_end_of_an_allocation() {
    // One word a thread, and one thread too many.
    let source = kernel("add.s64 %rd1, %a, 4; st.global.b32 [%rd1], %t; ret;");
    for seed in SEEDS {
        let mut rig = Rig::new(&source, seed);
        let out = rig.words("result", &[0; 64]);
        let fault = rig.launch("k", 1, 64, &params(out, 0)).expect_err("one past the end");
        assert_eq!(fault.kind(), &FaultKind::IllegalAddress);
        assert_eq!(fault.ending(), Ending::KernelBug);
        assert_eq!((fault.block(), fault.warp(), fault.lanes()), (Some([0; 3]), Some(1), 1 << 31));
        let expected = format!(
            "error: illegal address: write of 4 bytes at {:#x}
  kernel:  k, grid (1, 1, 1), block (64, 1, 1)
  where:   block (0, 0, 0), warp 1, lane 31 (thread (63, 0, 0))
  address: {:#x} in global memory, 0 bytes past the end of `result` (256 bytes at {out:#x})
  ptx:     line 18: st.global.b32 [%rd1], %t;
help: compare the index with the number of elements, and the grid with the size of the data",
            out + 256,
            out + 256
        );
        assert_eq!(fault.to_string(), expected);
    }
}

#[test]
fn lanes_are_named_exactly() {
    // Every fourth thread reads far beyond; generic addresses, half the warp masked off.
    let source = kernel(
        "setp.lt.u32 %p1, %t, 16;
         and.b32 %r1, %t, 3;
         setp.eq.u32 %p2, %r1, 3;
         selp.b64 %rd1, 4096, 0, %p2;
         add.s64 %rd2, %a, %rd1;
         @%p1 ld.b32 %r2, [%rd2];
         ret;",
    );
    let (kind, text) = fault_text(&source, 1, 32, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("lanes 3, 7, 11, 15 (first thread (3, 0, 0))"), "{text}");
    assert!(text.contains("read of 4 bytes"), "{text}");
}

#[test]
fn null_and_wild_pointers() {
    let (kind, text) =
        fault_text(&kernel("mov.b64 %rd1, 8; ld.global.b32 %r1, [%rd1]; ret;"), 1, 1, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("far from any allocation"), "{text}");
    assert!(text.contains("help: the pointer is null"), "{text}");
    let (_, text) =
        fault_text(&kernel("mov.b64 %rd1, 0x7ffc12345678; ld.b32 %r1, [%rd1]; ret;"), 1, 1, 0);
    assert!(text.contains("was a host pointer passed"), "{text}");
    // A negative index: before the start.
    let (_, text) = fault_text(&kernel("ld.global.b32 %r1, [%o+-4]; ret;"), 1, 1, 0);
    assert!(text.contains("4 bytes before the start of `out`"), "{text}");
}

#[test]
fn use_after_free_is_named() {
    let source = kernel("ld.global.b32 %r1, [%a]; ret;");
    let mut rig = Rig::new(&source, None);
    let freed = rig.words("old data", &[1, 2, 3, 4]);
    rig.machine.memory_mut().free(freed).expect("allocated");
    let fault = rig.launch("k", 1, 2, &params(freed, 0)).expect_err("freed");
    let text = fault.to_string();
    assert!(text.contains("at offset 0 of the freed `old data` (16 bytes"), "{text}");
    assert!(text.ends_with("help: the memory was freed before the kernel used it"), "{text}");
}

#[test]
fn alignment_of_the_whole_access() {
    for (instruction, offset, aligned) in [
        ("ld.global.b32 %r1, [%o+2]", 2, false),
        ("ld.global.b16 %h1, [%o+2]", 2, true),
        ("ld.global.b64 %rd1, [%o+4]", 4, false),
        ("ld.global.v2.b32 {%r1, %r2}, [%o+4]", 4, false),
        ("ld.global.v2.b32 {%r1, %r2}, [%o+8]", 8, true),
        ("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%o+8]", 8, false),
        ("st.global.b32 [%o+1], %t", 1, false),
        ("atom.global.add.u32 %r1, [%o+2], 1", 2, false),
        ("red.global.add.u64 [%o+4], 1", 4, false),
    ] {
        let source = kernel(&format!("{instruction}; ret;"));
        if aligned {
            outputs(&source, 1, 8, 0);
            continue;
        }
        let (kind, text) = fault_text(&source, 1, 8, 0);
        assert_eq!(kind, FaultKind::MisalignedAddress, "{instruction}");
        assert!(text.contains(&format!("{offset} bytes past a multiple of")), "{text}");
    }
}

#[test]
fn state_spaces_are_not_mixed_up() {
    let shared = ".shared .align 4 .b8 tile[64];";
    let body = "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1;";
    let wrong = kernel_with(shared, &format!("{body} ld.global.b32 %r1, [%rd2]; ret;"));
    let (kind, text) = fault_text(&wrong, 1, 1, 0);
    assert_eq!(kind, FaultKind::InvalidAddressSpace);
    assert!(text.contains("a generic address of shared memory"), "{text}");
    // The generic access works, and so does the conversion back.
    let right = kernel_with(
        shared,
        &format!(
            "{body} st.b32 [%rd2+4], 77; cvta.to.shared.u64 %rd3, %rd2; ld.shared.b32 %r1, [%rd3+4];
             st.global.b32 [%a], %r1; ret;"
        ),
    );
    assert_eq!(outputs(&right, 1, 1, 0), [77]);
    // A bare shared offset is no global address.
    let bare = kernel_with(shared, "mov.u64 %rd1, tile; ld.b32 %r1, [%rd1]; ret;");
    assert_eq!(fault_text(&bare, 1, 1, 0).0, FaultKind::IllegalAddress);
}

#[test]
fn spaces_are_recognised() {
    let source = kernel_with(
        ".shared .align 4 .b8 tile[64]; .const .u32 c = 5; .global .u32 g;",
        ".local .align 4 .b8 depot[16];
         mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1;
         mov.u64 %rd2, depot; cvta.local.u64 %rd2, %rd2;
         mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3;
         mov.u64 %rd4, g; cvta.global.u64 %rd4, %rd4;
         mov.u64 %rd5, p_out; cvta.param.u64 %rd5, %rd5;
         mov.b32 %r1, 0;
         isspacep.shared %p1, %rd1; selp.b32 %r2, 1, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.local %p1, %rd2; selp.b32 %r2, 2, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.const %p1, %rd3; selp.b32 %r2, 4, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.global %p1, %rd4; selp.b32 %r2, 8, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.global %p1, %rd1; selp.b32 %r2, 16, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.shared %p1, %rd4; selp.b32 %r2, 32, 0, %p1; or.b32 %r1, %r1, %r2;
         ld.u64 %rd6, [%rd5];
         setp.ne.u64 %p1, %rd6, %o; selp.b32 %r2, 64, 0, %p1; or.b32 %r1, %r1, %r2;
         st.global.b32 [%a], %r1;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 3, 0), [15; 3]);
}

#[test]
fn shared_memory_ends_where_it_is_declared() {
    let items = ".shared .align 4 .b8 tile[100];";
    let source = |index: &str| {
        kernel_with(items, &format!("mov.u64 %rd1, tile; ld.shared.b32 %r1, [%rd1+{index}]; ret;"))
    };
    outputs(&source("96"), 1, 1, 0);
    let (kind, text) = fault_text(&source("100"), 1, 1, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(
        text.contains("0 bytes past the end of `tile` (100 bytes), the last of 100 shared bytes"),
        "{text}"
    );
    let (_, text) =
        fault_text(&kernel_with(items, "mov.u64 %rd1, 0; st.shared.b32 [%rd1], 1; ret;"), 1, 1, 0);
    assert!(text.contains("before the first shared variable"), "{text}");
}

#[test]
fn local_memory_ends_with_the_frame() {
    let body = ".local .align 8 .b8 depot[32];
         mov.u64 %rd1, depot;
         mul.wide.u32 %rd2, %t, 8;
         add.u64 %rd3, %rd1, %rd2;
         st.local.b64 [%rd3], %rd2;
         ld.local.b64 %rd4, [%rd3];
         cvt.u32.u64 %r1, %rd4;
         st.global.b32 [%a], %r1;
         ret;";
    assert_eq!(outputs(&kernel(body), 1, 4, 0), [0, 8, 16, 24]);
    let (kind, text) = fault_text(&kernel(body), 1, 6, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("lanes 4-5"), "{text}");
    assert!(
        text.contains("in local memory, 0 bytes past the end of the thread's stack frame"),
        "{text}"
    );
}

#[test]
fn constants_and_parameters_are_read_only() {
    let source =
        kernel_with(".const .u32 c[2] = {7, 8};", "mov.u64 %rd1, c; st.b32 [%rd1], 1; ret;");
    let (kind, text) = fault_text(&source, 1, 1, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(
        text.contains("help: constant memory and kernel parameters can only be read"),
        "{text}"
    );
    let source = kernel("mov.u64 %rd1, p_n; cvta.param.u64 %rd1, %rd1; st.b32 [%rd1], 1; ret;");
    assert_eq!(fault_text(&source, 1, 1, 0).0, FaultKind::IllegalAddress);
}

#[test]
fn fresh_memory_is_poisoned() {
    let source = kernel_with(
        ".shared .align 4 .b8 tile[64];",
        ".local .align 4 .b8 depot[16];
         mov.u64 %rd1, tile; mov.u64 %rd2, depot;
         ld.shared.b32 %r1, [%rd1];
         ld.local.b32 %r2, [%rd2+8];
         xor.b32 %r4, %r1, %r2;
         xor.b32 %r4, %r4, %r3;
         st.global.b32 [%a], %r4;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 2, 0), [0xCBCB_CBCB; 2]);
}

#[test]
fn loads_extend_and_stores_cut() {
    let source = kernel_with(
        ".global .align 8 .b8 bytes[16] = {0x80, 0x7F, 0xFF, 0x01, 0xF0, 0, 0, 0x80};",
        "mov.u64 %rd1, bytes;
         ld.global.s8 %r1, [%rd1]; ld.global.u8 %r2, [%rd1]; ld.global.s16 %r3, [%rd1+6];
         ld.global.b8 %rd2, [%rd1+2]; ld.global.s32 %rd3, [%rd1+4]; ld.global.s8 %h1, [%rd1];
         st.global.b32 [%o], %r1; st.global.b32 [%o+4], %r2; st.global.b32 [%o+8], %r3;
         cvt.u32.u64 %r4, %rd2; st.global.b32 [%o+12], %r4;
         shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r4, %rd3; st.global.b32 [%o+16], %r4;
         cvt.u32.u16 %r4, %h1; st.global.b32 [%o+20], %r4;
         mov.b32 %r5, 0x12345678; st.global.b16 [%o+24], %r5; st.global.b8 [%o+27], %r5;
         ret;",
    );
    let mut rig = Rig::new(&source, None);
    let out = rig.words("out", &[u32::MAX; 7]);
    rig.launch("k", 1, 1, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = [0xFFFF_FF80, 0x80, 0xFFFF_8000, 0xFF, 0xFFFF_FFFF, 0xFF80, 0x78FF_5678];
    assert_eq!(rig.read(out, 7), expected);
}

#[test]
fn wide_vectors_and_128_bits() {
    let source = kernel_with(
        ".global .align 32 .b32 data[8] = {1, 2, 3, 4, 5, 6, 7, 8};",
        ".reg .b128 %q<2>;
         mov.u64 %rd1, data;
         ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, _}, [%rd1];
         ld.global.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [%rd1];
         ld.global.b128 %q1, [%rd1+16];
         mov.b128 {%rd6, %rd7}, %q1;
         mad.lo.u32 %r8, %r7, 100, %r1;
         cvt.u32.u64 %r9, %rd5; mad.lo.u32 %r8, %r8, 100, %r9;
         shr.u64 %rd7, %rd7, 32; cvt.u32.u64 %r9, %rd7; mad.lo.u32 %r8, %r8, 100, %r9;
         st.global.b32 [%a], %r8;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 5, 0), [701 * 10_000 + 708; 5]);
}

#[test]
fn predicates_are_not_in_memory() {
    for instruction in ["ld.global.pred %p1, [%a]", "st.global.pred [%a], %p1"] {
        let refused = ptx_emulator::Program::compile(&kernel(&format!("{instruction}; ret;")));
        assert!(refused.is_err(), "{instruction}");
    }
    // Under all checks a prefetch, which reads nothing, stays one.
    for seed in SEEDS {
        let mut config = ptx_emulator::MachineConfig::default();
        config.checks = ptx_emulator::CheckSet::ALL;
        config.schedule_seed = seed;
        let mut rig = Rig::with(&kernel("prefetch.global.L2 [%a]; ret;"), config);
        let out = rig.words("out", &[0; 32]);
        rig.launch("k", 1, 32, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
    }
}
