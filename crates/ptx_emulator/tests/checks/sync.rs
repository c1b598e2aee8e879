//! Barriers and warp operations that not all their threads reach, or reach differently.

use ptx_emulator::{FindingKind, Severity};

use crate::common::kernel;
use crate::support::{clean, findings_of, kinds, texts};

#[test]
fn half_of_the_block_at_a_barrier() {
    // Half of each warp, half of the warps.
    let half = |condition: &str| {
        kernel(&format!("{condition} @!%p1 bra END; bar.sync 0; st.global.b32 [%a], %t; END: ret;"))
    };
    let lanes = "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0;";
    let warps = "setp.lt.u32 %p1, %t, 32;";
    assert_eq!(kinds(&half(lanes), "synccheck", 1, 64), [FindingKind::BarrierAfterExit]);
    assert_eq!(kinds(&half(warps), "synccheck", 1, 64), [FindingKind::BarrierAfterExit]);
    // All of it, and the rest of the work for some.
    clean(
        &kernel("setp.lt.u32 %p1, %t, 32; bar.sync 0; @%p1 st.global.b32 [%a], %t; ret;"),
        "synccheck",
        1,
        64,
    );
    clean(&half(warps), "synccheck", 1, 32);
}

#[test]
fn an_early_return() {
    let source = kernel("setp.ge.u32 %p1, %t, 50; @%p1 exit; bar.sync 0; ret;");
    assert_eq!(kinds(&source, "synccheck", 2, 64), [FindingKind::BarrierAfterExit]);
    clean(&source, "synccheck", 2, 50);
    // A named barrier of those that are left says how many it is for.
    clean(&kernel("setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 1, 32; ret;"), "synccheck", 1, 64);
}

#[test]
fn two_sites() {
    let source = |condition: &str| {
        kernel(&format!(
            "{condition} @%p1 bra OTHER; bar.sync 0; bra END; OTHER: bar.sync 0; END: st.global.b32 [%a], %t; ret;"
        ))
    };
    let lanes = source("and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0;");
    assert_eq!(kinds(&lanes, "synccheck", 1, 64), [FindingKind::DivergentWarpBarrier]);
    let warps = source("setp.lt.u32 %p1, %t, 32;");
    assert_eq!(kinds(&warps, "synccheck", 1, 64), [FindingKind::DivergentBlockBarrier]);
    let found = findings_of(&warps, "synccheck", 1, 64, None);
    assert_eq!(found[0].severity(), Severity::Warning);
    // A condition that is the same for all threads.
    clean(&source("setp.lt.u32 %p1, %n, 32;"), "synccheck", 1, 64);
    // Lanes may come to a barrier that is not .aligned from where they like.
    clean(&lanes.replace("bar.sync", "barrier.sync"), "synccheck", 1, 32);
}

#[test]
fn barriers_in_loops() {
    // As many rounds as the thread's number says; and the same number for all.
    let source = |rounds: &str| {
        kernel(&format!(
            "mov.b32 %r1, {rounds}; ROUND: bar.sync 0; add.u32 %r1, %r1, -1; setp.gt.s32 %p1, %r1, 0; @%p1 bra ROUND; ret;"
        ))
    };
    assert_eq!(kinds(&source("%t"), "synccheck", 1, 64), [FindingKind::BarrierAfterExit]);
    clean(&source("5"), "synccheck", 1, 64);
}

#[test]
fn numbers_and_masks() {
    assert_eq!(
        kinds(&kernel("bar.sync 17; ret;"), "synccheck", 1, 64),
        [FindingKind::BarrierNumber]
    );
    clean(&kernel("bar.sync 15; ret;"), "synccheck", 1, 64);
    clean(&kernel("barrier.cluster.arrive; barrier.cluster.wait; ret;"), "synccheck", 2, 64);
    // Lanes 0 to 15 name themselves only, the others all lanes, and get by because the first ones exit.
    let overlap = kernel(
        "setp.lt.u32 %p1, %t, 16; selp.b32 %r1, 0xffff, 0xffffffff, %p1; bar.warp.sync %r1; ret;",
    );
    assert_eq!(kinds(&overlap, "synccheck", 1, 32), [FindingKind::MasksDiffer]);
    clean(
        &kernel(
            "setp.lt.u32 %p1, %t, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1; bar.warp.sync %r1; ret;",
        ),
        "synccheck",
        1,
        32,
    );
}

#[test]
fn shuffles_from_lanes_that_are_not_there() {
    let source =
        kernel("shfl.sync.down.b32 %r1, %t, 16, 31, 0xffffffff; st.global.b32 [%a], %r1; ret;");
    clean(&source, "synccheck", 1, 32);
    assert_eq!(kinds(&source, "synccheck", 1, 20), [FindingKind::ShuffleFromAbsentLane]);
    // Past the end of the segment a lane keeps its own value.
    clean(&source.replace("16, 31", "16, 15"), "synccheck", 1, 16);
    let exited = kernel(
        "setp.ge.u32 %p1, %t, 24; @%p1 exit; shfl.sync.bfly.b32 %r1, %t, 8, 31, 0xffffffff; st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(kinds(&exited, "synccheck", 1, 32), [FindingKind::ShuffleFromAbsentLane]);
    let subset = |mask: &str, from: u32| {
        kernel(&format!(
            "setp.lt.u32 %p1, %t, 8; @%p1 shfl.sync.idx.b32 %r1, %t, {from}, 31, {mask}; ret;"
        ))
    };
    assert_eq!(kinds(&subset("0xff", 9), "synccheck", 1, 32), [FindingKind::ShuffleFromAbsentLane]);
    clean(&subset("0xff", 7), "synccheck", 1, 32);
}

#[test]
fn the_text_of_an_early_return() {
    let found =
        texts(&kernel("setp.ge.u32 %p1, %t, 50; @%p1 exit; bar.sync 0; ret;"), "synccheck", 1, 64);
    let expected = "synccheck error: barrier of the block without 14 threads that had exited
  kernel:  k, grid (1, 1, 1), block (64, 1, 1)
  wait:    block (0, 0, 0), warp 0, lanes 0-31 (first thread (0, 0, 0))
    ptx:     line 18: bar.sync 0;
  exited:  block (0, 0, 0), warp 1, lanes 18-31 (first thread (50, 0, 0))
help: every thread of the block must reach the barrier: use a condition around the work instead of an early return, and no barrier inside a condition that only some threads meet";
    assert_eq!(found, [expected]);
}
