//! Atomics on contended locations, vectors, and through generic addresses; single operations are checked against recorded hardware
//! in `golden.rs`.

mod common;

use common::{Rig, SEEDS, fault_text, kernel, kernel_with, outputs, params};
use ptx_emulator::FaultKind;

#[test]
fn a_histogram_over_blocks() {
    let source = kernel_with(
        ".global .align 4 .u32 bins[8];",
        "mul.lo.u32 %r1, %g, 7;
         add.u32 %r1, %r1, 3;
         and.b32 %r1, %r1, 7;
         mul.wide.u32 %rd1, %r1, 4;
         mov.u64 %rd2, bins;
         add.u64 %rd2, %rd2, %rd1;
         red.global.add.u32 [%rd2], 1;
         ret;",
    );
    for seed in SEEDS {
        let mut rig = Rig::new(&source, seed);
        rig.launch("k", 7, 100, &params(0, 0)).unwrap_or_else(|fault| panic!("{fault}"));
        let (bins, bytes) = rig.machine.global(rig.module, "bins").expect("declared");
        assert_eq!(bytes, 32);
        let mut expected = [0; 8];
        (0..700).for_each(|g| expected[(g * 7 + 3) % 8] += 1);
        assert_eq!(rig.read(bins, 8), expected);
    }
}

#[test]
fn old_values_are_all_different() {
    // Tickets: every thread gets a number of its own, in some order.
    let source = kernel_with(
        ".global .u32 counter; .shared .u32 local;",
        "atom.global.add.u32 %r1, [counter], 1; st.global.b32 [%a], %r1; ret;",
    );
    for seed in SEEDS {
        let mut rig = Rig::new(&source, seed);
        let out = rig.words("out", &[0; 128]);
        rig.launch("k", 2, 64, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
        let mut tickets = rig.read(out, 128);
        tickets.sort_unstable();
        assert_eq!(tickets, (0..128).collect::<Vec<u32>>());
    }
}

#[test]
fn generic_and_shared_locations() {
    let source = kernel_with(
        ".shared .align 16 .b8 cell[16];",
        "mov.u64 %rd1, cell;
         cvta.shared.u64 %rd2, %rd1;
         setp.eq.u32 %p1, %t, 0;
         @%p1 st.shared.v2.b64 [%rd1], {%o, %o};
         @%p1 st.shared.b64 [%rd1], 0;
         bar.sync 0;
         red.shared.max.s32 [%rd1], -5;
         atom.or.b32 %r1, [%rd2+4], 0x10;
         atom.shared.cas.b64 %rd3, [%rd1+8], %o, 77;
         bar.sync 0;
         ld.shared.v2.b32 {%r2, %r3}, [%rd1];
         ld.shared.b32 %r4, [%rd1+8];
         mad.lo.u32 %r2, %r3, 1000, %r2;
         mad.lo.u32 %r2, %r4, 100000, %r2;
         st.global.b32 [%a], %r2;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 40, 0), [77 * 100_000 + 16_000; 40]);
}

#[test]
fn vectors_and_wide_exchanges() {
    let source = kernel(
        ".reg .b128 %q<4>;
         mov.b64 %rd1, 3; mov.b64 %rd2, 4;
         mov.b128 %q1, {%rd1, %rd2};
         atom.global.exch.b128 %q2, [%o+16], %q1;
         atom.global.cas.b128 %q3, [%o+16], %q1, %q2;
         mov.b128 {%rd3, %rd4}, %q3;
         cvt.u32.u64 %r1, %rd3; cvt.u32.u64 %r2, %rd4;
         st.global.v2.b32 [%o], {%r1, %r2};
         red.global.add.v2.f32 [%o+8], {0f3F800000, 0f40000000};
         ret;",
    );
    let mut rig = Rig::new(&source, None);
    let out = rig.words("out", &[0, 0, 0, 1.5f32.to_bits(), 10, 11, 12, 13]);
    rig.launch("k", 1, 1, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = [3, 4, 1f32.to_bits(), 3.5f32.to_bits(), 10, 11, 12, 13];
    assert_eq!(rig.read(out, 8), expected);
}

#[test]
fn atomics_are_checked_like_other_accesses() {
    let (kind, text) = fault_text(&kernel("atom.global.add.u32 %r1, [%a+4], 1; ret;"), 1, 8, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("atomic access of 4 bytes"), "{text}");
    assert!(text.contains("lane 7"), "{text}");
}
