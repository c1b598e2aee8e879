//! Cases for the rows of the table of instruction forms that no recording covers: hints, other names of the same
//! instruction, and forms of newer targets. Expected values come from the PTX ISA.

mod common;

use common::{fault, kernel, kernel_with, outputs};
use ptx_emulator::FaultKind;

/// What one thread leaves in `%r1`.
fn one(body: &str) -> u32 {
    outputs(&kernel(&format!("{body} st.global.b32 [%a], %r1; ret;")), 1, 1, 0)[0]
}

#[test]
fn f32_with_narrow_operands() {
    // 1.5 in f16 is 0x3E00, in bf16 0x3FC0; 2.25 in f32 0x40100000.
    let halves = "mov.b16 %h1, 0x3E00; mov.b16 %h2, 0x3FC0; mov.b32 %r2, 0x40100000;";
    let bits = |value: f32| value.to_bits();
    assert_eq!(one(&format!("{halves} add.rn.f32.f16 %r1, %h1, %r2;")), bits(3.75));
    assert_eq!(one(&format!("{halves} add.f32.bf16 %r1, %h2, %r2;")), bits(3.75));
    assert_eq!(one(&format!("{halves} sub.rz.f32.f16 %r1, %h1, %r2;")), bits(-0.75));
    assert_eq!(one(&format!("{halves} sub.rn.sat.f32.bf16 %r1, %h2, %r2;")), 0);
    assert_eq!(one(&format!("{halves} fma.rn.f32.f16 %r1, %h1, %h1, %r2;")), bits(4.5));
    assert_eq!(one(&format!("{halves} fma.rm.sat.f32.bf16 %r1, %h2, %h2, %r2;")), bits(1.0));
}

#[test]
fn tf32_saturates() {
    let infinity = "mov.b32 %r2, 0x7F800000; mov.b32 %r3, 0xFF800000;";
    assert_eq!(one(&format!("{infinity} cvt.rn.satfinite.tf32.f32 %r1, %r2;")), 0x7F7F_E000);
    assert_eq!(one(&format!("{infinity} cvt.rz.satfinite.tf32.f32 %r1, %r3;")), 0xFF7F_E000);
    assert_eq!(one(&format!("{infinity} cvt.rn.relu.satfinite.tf32.f32 %r1, %r3;")), 0);
    assert_eq!(one(&format!("{infinity} cvt.rz.tf32.f32 %r1, %r2;")), 0x7F80_0000);
}

#[test]
fn moves() {
    assert_eq!(
        one("mov.u32 %r2, 7; mov.b32 %r3, %r2; mov.f32 %r4, %r3; mov.b64 %rd1, {%r4, %r2};
             mov.f64 %rd2, %rd1; mov.b64 {%r5, %r6}, %rd2; mov.b16 %h1, -2; mov.b32 %r7, {%h1, %h1};
             add.u32 %r1, %r5, %r6; and.b32 %r7, %r7, 0x20010; add.u32 %r1, %r1, %r7;
             setp.eq.u32 %p1, %r2, 7; mov.pred %p2, %p1; @!%p2 mov.u32 %r1, 0;"),
        14 + 0x2_0010
    );
    assert_eq!(
        one(".reg .b128 %q, %w; mov.b64 %rd1, 3; mov.b64 %rd2, 4; mov.b128 %q, {%rd1, %rd2}; mov.b128 %w, %q;
             mov.b128 {%rd3, %rd4}, %w; shl.b64 %rd4, %rd4, 8; or.b64 %rd4, %rd4, %rd3; cvt.u32.u64 %r1, %rd4;"),
        0x403
    );
}

#[test]
fn order_scope_and_cache_hints_change_no_value() {
    let expected = one(
        "ld.global.b32 %r2, [%o]; st.global.b32 [%o], 5; ld.global.b32 %r3, [%o]; sub.u32 %r1, %r3, %r2;",
    );
    assert_eq!(expected, 6, "the output starts as all ones");
    for load in [
        "ld.b32 %r3, [%o]",
        "ld.weak.global.b32 %r3, [%o]",
        "ld.volatile.global.u32 %r3, [%o]",
        "ld.global.cg.s32 %r3, [%o]",
        "ld.global.L1::no_allocate.L2::128B.f32 %r3, [%o]",
        "ld.relaxed.gpu.global.b32 %r3, [%o]",
        "ld.acquire.sys.b32 %r3, [%o]",
        "ld.mmio.relaxed.sys.global.u32 %r3, [%o]",
        "ld.global.nc.b32 %r3, [%o]",
        "ld.global.nc.L1::evict_last.b32 %r3, [%o]",
        "ldu.global.b32 %r3, [%o]",
    ] {
        let body = format!(
            "ld.global.b32 %r2, [%o]; st.global.b32 [%o], 5; {load}; sub.u32 %r1, %r3, %r2;"
        );
        assert_eq!(one(&body), 6, "{load}");
    }
    for store in [
        "st.b32 [%o], 5",
        "st.weak.global.b32 [%o], 5",
        "st.volatile.global.u32 [%o], 5",
        "st.global.wt.s32 [%o], 5",
        "st.global.L1::evict_first.b32 [%o], 5",
        "st.relaxed.cta.global.b32 [%o], 5",
        "st.release.gpu.b32 [%o], 5",
        "st.mmio.relaxed.sys.global.u32 [%o], 5",
    ] {
        let body = format!(
            "ld.global.b32 %r2, [%o]; {store}; ld.global.b32 %r3, [%o]; sub.u32 %r1, %r3, %r2;"
        );
        assert_eq!(one(&body), 6, "{store}");
    }
}

#[test]
fn stores_of_wide_vectors() {
    let source = kernel_with(
        ".global .align 32 .b8 data[64];",
        "mov.u64 %rd1, data; mov.b32 %r2, 2; mov.b32 %r3, 3;
         st.global.v8.b32 [%rd1], {%r2, %r2, %r2, %r2, %r2, %r2, %r2, %r3};
         mov.b64 %rd2, 40; st.global.v4.b64 [%rd1+32], {%rd2, %rd2, %rd2, %rd2};
         ld.global.b32 %r4, [%rd1+28]; ld.global.b32 %r5, [%rd1+56]; add.u32 %r1, %r4, %r5;
         st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(outputs(&source, 1, 2, 0), [43, 43]);
}

#[test]
fn vector_atomics() {
    // Elements of 16 bits: 1.0 + 1.0 = 2.0 in f16, and max(1.0, -2.0) in bf16.
    let body = |operation: &str| {
        format!(
            "mov.b32 %r2, 0x3C003C00; st.global.v2.b32 [%rd1], {{%r2, %r2}}; mov.b32 {{%h1, %h2}}, %r2;
             {operation}; ld.global.b32 %r1, [%rd1+4];"
        )
    };
    let run = |operation: &str| {
        let text = format!("mov.u64 %rd1, data; {} st.global.b32 [%a], %r1; ret;", body(operation));
        outputs(&kernel_with(".global .align 16 .b8 data[16];", &text), 1, 1, 0)[0]
    };
    let list = "{%h1, %h2, %h1, %h2}";
    assert_eq!(run(&format!("red.global.add.noftz.v4.f16 [%rd1], {list}")), 0x4000_4000);
    let taken = "{%h3, %h4, %h5, %h6}";
    assert_eq!(run(&format!("atom.global.add.noftz.v4.f16 {taken}, [%rd1], {list}")), 0x4000_4000);
    assert_eq!(run(&format!("atom.global.max.noftz.v4.bf16 {taken}, [%rd1], {list}")), 0x3C00_3C00);
}

#[test]
fn cache_hints() {
    for hint in [
        "prefetch.global.L1 [%o]",
        "prefetch.L2 [%o]",
        "prefetch.global.L2::evict_last [%o]",
        "prefetch.tensormap [%o]",
        "prefetchu.L1 [%o]",
        "applypriority.global.L2::evict_normal [%o], 128",
        "discard.global.L2 [%o], 128",
    ] {
        assert_eq!(one(&format!("mov.b32 %r1, 3; {hint};")), 3, "{hint}");
    }
    // Data that is discarded must exist; what is prefetched need not.
    assert_eq!(one("mov.b32 %r1, 3; prefetch.global.L1 [16];"), 3);
    let fault = fault(&kernel("discard.global.L2 [16], 128; ret;"), 1, 1, 0);
    assert!(matches!(fault.kind(), FaultKind::IllegalAddress), "{fault}");
}

#[test]
fn breakpoints() {
    let fault = fault(&kernel("brkpt; ret;"), 1, 1, 0);
    assert!(fault.to_string().contains("brkpt"), "{fault}");
}

#[test]
fn hints_to_the_scheduler() {
    for hint in [
        "pmevent 1",
        "pmevent.mask 3",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
        "setmaxnreg.inc.sync.aligned.u32 64",
        "setmaxnreg.dec.sync.aligned.u32 64",
    ] {
        assert_eq!(one(&format!("mov.b32 %r1, 3; {hint};")), 3, "{hint}");
    }
}

#[test]
fn barriers_by_their_other_names() {
    for (wait, arrive) in [
        ("bar.sync", "bar.arrive"),
        ("bar.cta.sync", "bar.cta.arrive"),
        ("barrier.sync", "barrier.arrive"),
        ("barrier.cta.sync.aligned", "barrier.cta.arrive.aligned"),
    ] {
        // The second warp waits for the first, which only arrives.
        let source = kernel_with(
            ".shared .align 4 .b8 s[4];",
            &format!(
                "mov.u64 %rd1, s; setp.ge.u32 %p1, %t, 32; @%p1 bra WAIT;
                 st.shared.b32 [%rd1], 9; {arrive} 1, 64; bra DONE;
                 WAIT: {wait} 1, 64; DONE: ld.shared.b32 %r1, [%rd1]; st.global.b32 [%a], %r1; ret;"
            ),
        );
        assert_eq!(outputs(&source, 1, 64, 0), [9; 64], "{wait}");
    }
    let votes = "setp.lt.u32 %p1, %t, 3;
                 barrier.cta.red.popc.aligned.u32 %r1, 0, %p1; bar.red.or.pred %p2, 0, %p1;
                 barrier.red.and.pred %p3, 0, %p1; @%p2 add.u32 %r1, %r1, 10; @%p3 add.u32 %r1, %r1, 100;
                 st.global.b32 [%a], %r1; ret;";
    assert_eq!(outputs(&kernel(votes), 1, 40, 0), [13; 40]);
}

#[test]
fn cluster_barrier() {
    for (arrive, wait) in [
        ("barrier.cluster.arrive", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"),
        ("barrier.cluster.arrive.relaxed", "barrier.cluster.wait.aligned"),
    ] {
        let source = kernel_with(
            ".shared .align 4 .b8 s[512];",
            &format!(
                "mov.u64 %rd1, s; mad.wide.u32 %rd2, %t, 4, %rd1; st.shared.b32 [%rd2], %t; {arrive}; {wait};
                 xor.b32 %r2, %t, 32; mad.wide.u32 %rd2, %r2, 4, %rd1; ld.shared.b32 %r1, [%rd2];
                 st.global.b32 [%a], %r1; ret;"
            ),
        );
        let expected: Vec<u32> = (0..64).map(|t| t ^ 32).collect();
        assert_eq!(outputs(&source, 1, 64, 0), expected, "{arrive}");
    }
}

#[test]
fn fences() {
    for fence in [
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "membar.proxy.alias",
        "fence.sc.gpu",
        "fence.acq_rel.cluster",
        "fence.acquire.cta",
        "fence.sys",
        "fence.mbarrier_init.release.cluster",
        "fence.acquire.sync_restrict::shared::cluster.cluster",
        "fence.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.alias",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.async",
        "fence.proxy.tensormap::generic.release.gpu",
        "fence.proxy.tensormap::generic.acquire.gpu [%o], 128",
    ] {
        assert_eq!(one(&format!("mov.b32 %r1, 3; {fence};")), 3, "{fence}");
    }
}

#[test]
fn warp_operations_without_sync() {
    let source = kernel(
        "shfl.bfly.b32 %r1, %t, 1, 31; shfl.idx.b32 %r2|%p1, %t, 5, 31; setp.lt.u32 %p2, %t, 3;
         vote.ballot.b32 %r3, %p2; vote.any.pred %p3, %p2; vote.all.pred %p4, %p2;
         mad.lo.u32 %r1, %r2, 100, %r1; mad.lo.u32 %r1, %r3, 1000, %r1; @!%p3 mov.u32 %r1, 0; @%p4 mov.u32 %r1, 1;
         st.global.b32 [%a], %r1; ret;",
    );
    let expected: Vec<u32> = (0..32).map(|t| (t ^ 1) + 500 + 7000).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn redux_of_floats() {
    let run = |operation: &str| {
        let source = kernel(&format!(
            "cvt.rn.f32.u32 %r2, %t; sub.f32 %r2, %r2, 0f41A00000; setp.eq.u32 %p1, %t, 7;
             {operation}; st.global.b32 [%a], %r1; ret;"
        ));
        f32::from_bits(outputs(&source, 1, 32, 0)[3])
    };
    // -20, -19, …, 11
    assert_eq!(run("redux.sync.min.f32 %r1, %r2, -1"), -20.0);
    assert_eq!(run("redux.sync.max.f32 %r1, %r2, -1"), 11.0);
    assert_eq!(run("redux.sync.max.abs.f32 %r1, %r2, -1"), 20.0);
    assert_eq!(run("@%p1 mov.b32 %r2, 0x7FC00000; redux.sync.max.f32 %r1, %r2, -1"), 11.0);
    assert!(run("@%p1 mov.b32 %r2, 0x7FC00000; redux.sync.max.NaN.f32 %r1, %r2, -1").is_nan());
}

#[test]
fn vectors_of_every_width() {
    let run = |store: &str, load: &str| {
        let source = kernel_with(
            ".global .align 32 .b8 data[64];",
            &format!(
                "mov.u64 %rd1, data; mov.b32 %r2, 2; mov.b32 %r3, 3; mov.b64 %rd2, 0x200000002; mov.b64 %rd3, 0x300000002;
                 {store}; {load}; ld.global.b32 %r9, [%rd1+12]; add.u32 %r1, %r5, %r9; st.global.b32 [%a], %r1; ret;"
            ),
        );
        outputs(&source, 1, 2, 0)[1]
    };
    let (four, stored) = ("{%r5, %r6, %r7, %r8}", "{%r2, %r2, %r2, %r3}");
    for store in [
        "st.global.v4.b32",
        "st.volatile.global.v4.u32",
        "st.global.L1::no_allocate.v4.f32",
        "st.relaxed.gpu.global.v4.s32",
    ] {
        for load in [
            "ld.global.v4.b32",
            "ld.volatile.v4.u32",
            "ld.global.L1::evict_last.L2::128B.v4.f32",
            "ld.acquire.gpu.global.v4.b32",
            "ld.global.nc.v4.b32",
            "ldu.global.v4.b32",
        ] {
            assert_eq!(
                run(&format!("{store} [%rd1], {stored}"), &format!("{load} {four}, [%rd1]")),
                5,
                "{store} {load}"
            );
        }
    }
    let eight = "{%r5, %r6, %r7, %r8, %r10, %r11, %r12, %r13}";
    let store = "st.global.v8.b32 [%rd1], {%r2, %r2, %r2, %r3, %r2, %r2, %r2, %r2}";
    assert_eq!(run(store, &format!("ld.global.nc.L2::evict_first.v8.b32 {eight}, [%rd1]")), 5);
    let store = "st.relaxed.gpu.global.v8.b32 [%rd1], {%r2, %r2, %r2, %r3, %r2, %r2, %r2, %r2}";
    assert_eq!(run(store, &format!("ld.acquire.gpu.global.v8.b32 {eight}, [%rd1]")), 5);
    let store = "st.release.sys.global.v4.b64 [%rd1], {%rd2, %rd3, %rd2, %rd2}";
    let load =
        "ld.relaxed.sys.global.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd1]; cvt.u32.u64 %r5, %rd4";
    assert_eq!(run(store, load), 5);
    let store = "st.global.v4.b64 [%rd1], {%rd2, %rd3, %rd2, %rd2}";
    assert_eq!(
        run(store, "ld.global.nc.v4.u64 {%rd4, %rd5, %rd6, %rd7}, [%rd1]; cvt.u32.u64 %r5, %rd4"),
        5
    );
}

#[test]
fn bits_compared_as_half() {
    let sides = "mov.b32 %r2, 5; mov.b32 %r3, 6; mov.b16 %h1, 0;";
    assert_eq!(
        one(&format!("{sides} set.ne.f16.b32 %h1, %r2, %r3; cvt.u32.u16 %r1, %h1;")),
        0x3C00
    );
    assert_eq!(
        one(&format!("{sides} set.eq.bf16.b32 %h1, %r2, %r2; cvt.u32.u16 %r1, %h1;")),
        0x3F80
    );
    assert_eq!(one(&format!("{sides} set.eq.f16.b32 %h1, %r2, %r3; cvt.u32.u16 %r1, %h1;")), 0);
}

#[test]
fn addresses_into_and_out_of_generic_space() {
    let source = kernel_with(
        ".shared .align 4 .b8 tile[64]; .global .align 4 .u32 g = 7;",
        "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2;
         mov.u64 %rd4, g; cvta.global.u64 %rd5, %rd4; cvta.to.global.u64 %rd6, %rd5;
         st.b32 [%rd2], 3; ld.shared.b32 %r2, [%rd3]; ld.global.b32 %r3, [%rd6];
         add.u32 %r1, %r2, %r3; st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(outputs(&source, 1, 1, 0), [10]);
}

#[test]
fn lanes_wait_for_each_other() {
    // The odd lanes write what the even lanes read behind the barrier, whichever side runs first.
    let source = kernel_with(
        ".shared .align 4 .b8 s[256];",
        "mov.u64 %rd1, s; xor.b32 %r2, %t, 1; mad.wide.u32 %rd2, %t, 4, %rd1; mad.wide.u32 %rd3, %r2, 4, %rd1;
         and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;
         st.shared.b32 [%rd2], %t; bar.warp.sync -1; bra DONE;
         EVEN: bar.warp.sync 0xFFFFFFFF; ld.shared.b32 %r1, [%rd3]; st.global.b32 [%a], %r1; ret;
         DONE: st.global.b32 [%a], 0; ret;",
    );
    let expected: Vec<u32> = (0..32).map(|t| if t % 2 == 0 { t + 1 } else { 0 }).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn arrivals_at_an_object_of_the_cluster() {
    let source = kernel_with(
        ".shared .align 8 .b64 object;",
        "mov.u64 %rd1, object; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%rd1], 64; bar.sync 0;
         setp.lt.u32 %p2, %t, 32; @%p2 bra LOW;
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd1]; bra WAIT;
         LOW: mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%rd1], 0;
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%rd1], 0; @!%p3 bra WAIT;
         st.global.b32 [%a], 3; ret;",
    );
    assert_eq!(outputs(&source, 1, 64, 0), [3; 64]);
}

#[test]
fn phases_waited_for_by_their_state() {
    // Each thread arrives twice: when its copies are done, and by itself.
    let source = kernel_with(
        ".shared .align 8 .b64 object; .shared .align 16 .b8 tile[512]; .global .align 16 .b32 data[4] = {5, 6, 7, 8};",
        "mov.u64 %rd1, object; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%rd1], 64; bar.sync 0;
         mov.u64 %rd2, tile; mad.wide.u32 %rd2, %t, 16, %rd2; mov.u64 %rd3, data;
         cp.async.cg.shared.global [%rd2], [%rd3], 16;
         cp.async.mbarrier.arrive.noinc.shared.b64 [%rd1];
         mbarrier.arrive.shared.b64 %rd4, [%rd1];
         mbarrier.pending_count.b64 %r2, %rd4; setp.le.u32 %p2, %r2, 64; selp.b32 %r2, 100, 0, %p2;
         WAIT: mbarrier.try_wait.shared.b64 %p3, [%rd1], %rd4; @!%p3 bra WAIT;
         mbarrier.test_wait.shared.b64 %p3, [%rd1], %rd4; @%p3 add.u32 %r2, %r2, 1000;
         ld.shared.b32 %r1, [%rd2+8]; add.u32 %r1, %r1, %r2; st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(outputs(&source, 1, 32, 0), [1107; 32]);
}

#[test]
fn a_test_of_one_number_that_all_lanes_share() {
    // The kernel has more wide registers than narrow ones: a row of one kind is none of the other.
    let source = common::module(
        ".visible .entry k(.param .u64 p_out, .param .u32 p_n) { .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .b32 %r;
         ld.param.u64 %rd0, [p_out]; mov.b64 %rd1, 1; mov.b64 %rd2, 2; mov.b64 %rd3, 3; mov.b64 %rd4, 4;
         mov.b64 %rd5, 0d7FF8000000000000; testp.notanumber.f64 %p1, %rd5; testp.number.f64 %p2, %rd4;
         mov.b32 %r, 0; @%p1 add.u32 %r, %r, 1; @%p2 add.u32 %r, %r, 2; st.global.b32 [%rd0], %r; ret; }",
    );
    assert_eq!(outputs(&source, 1, 1, 0), [3]);
}
