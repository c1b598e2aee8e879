//! Barriers of a block: order, counts, reductions, exits, and deadlocks with who waits where.

mod common;

use common::{fault_text, kernel, kernel_with, outputs};
use ptx_emulator::FaultKind;

#[test]
fn a_barrier_orders_shared_memory() {
    // Reverses a block through shared memory; without the barrier some seed would read too early.
    let source = kernel_with(
        ".shared .align 4 .b8 tile[1024];",
        "mov.u64 %rd1, tile;
         mul.wide.u32 %rd2, %t, 4;
         add.u64 %rd3, %rd1, %rd2;
         mul.lo.u32 %r1, %t, 7;
         st.shared.b32 [%rd3], %r1;
         bar.sync 0;
         mov.u32 %r2, %ntid.x;
         sub.u32 %r3, %r2, 1;
         sub.u32 %r3, %r3, %t;
         mul.wide.u32 %rd2, %r3, 4;
         add.u64 %rd3, %rd1, %rd2;
         ld.shared.b32 %r4, [%rd3];
         st.global.b32 [%a], %r4;
         ret;",
    );
    for block in [1, 31, 32, 33, 200, 256] {
        let expected: Vec<u32> = (0..2 * block).map(|g| (block - 1 - g % block) * 7).collect();
        assert_eq!(outputs(&source, 2, block, 0), expected);
    }
}

#[test]
fn a_tree_reduction() {
    let source = kernel_with(
        ".extern .shared .align 16 .b8 dynamic[]; .shared .align 4 .b8 sums[1024];",
        "mov.u64 %rd1, sums;
         mul.wide.u32 %rd2, %t, 4;
         add.u64 %rd3, %rd1, %rd2;
         mul.lo.u32 %r1, %t, %t;
         st.shared.b32 [%rd3], %r1;
         mov.b32 %r2, 128;
     ROUND:
         barrier.sync 3;
         setp.ge.u32 %p1, %t, %r2;
         @%p1 bra SKIP;
         mul.wide.u32 %rd4, %r2, 4;
         add.u64 %rd4, %rd4, %rd3;
         ld.shared.b32 %r3, [%rd4];
         ld.shared.b32 %r4, [%rd3];
         add.u32 %r4, %r4, %r3;
         st.shared.b32 [%rd3], %r4;
     SKIP:
         shr.u32 %r2, %r2, 1;
         setp.ne.u32 %p2, %r2, 0;
         @%p2 bra ROUND;
         bar.sync 0;
         ld.shared.b32 %r5, [%rd1];
         st.global.b32 [%a], %r5;
         ret;",
    );
    let sum: u32 = (0..256).map(|t| t * t).sum();
    assert_eq!(outputs(&source, 1, 256, 0), [sum; 256]);
}

#[test]
fn reductions_over_the_block() {
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.ne.u32 %p1, %r1, 0;
         bar.red.popc.u32 %r2, 0, %p1;
         barrier.red.popc.u32 %r3, 0, !%p1;
         bar.red.and.pred %p2, 1, %p1;
         bar.red.or.pred %p3, 1, %p1;
         selp.b32 %r4, 1, 0, %p2;
         selp.b32 %r5, 1, 0, %p3;
         mad.lo.u32 %r2, %r2, 1000, %r3;
         mad.lo.u32 %r2, %r2, 10, %r4;
         mad.lo.u32 %r2, %r2, 10, %r5;
         st.global.b32 [%a], %r2;
         ret;",
    );
    // 35 odd and 36 even numbers below 71.
    assert_eq!(outputs(&source, 1, 71, 0), [(35 * 1000 + 36) * 100 + 1; 71]);
}

#[test]
fn named_barriers_for_producer_and_consumer() {
    // Warp 0 produces and does not wait, warp 1 waits for it.
    let source = kernel_with(
        ".shared .align 4 .b8 tile[128];",
        "mov.u64 %rd1, tile;
         and.b32 %r1, %t, 31;
         mul.wide.u32 %rd2, %r1, 4;
         add.u64 %rd1, %rd1, %rd2;
         setp.ge.u32 %p1, %t, 32;
         @%p1 bra CONSUME;
         add.u32 %r2, %t, 500;
         st.shared.b32 [%rd1], %r2;
         bar.arrive 5, 64;
         st.global.b32 [%a], %t;
         ret;
     CONSUME:
         bar.sync 5, 64;
         ld.shared.b32 %r3, [%rd1];
         st.global.b32 [%a], %r3;
         ret;",
    );
    let expected: Vec<u32> = (0..64).map(|t| if t < 32 { t } else { 468 + t }).collect();
    assert_eq!(outputs(&source, 1, 64, 0), expected);
}

#[test]
fn threads_that_exited_are_not_waited_for() {
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.eq.u32 %p1, %r1, 0;
         setp.ge.u32 %p2, %t, 64;
         or.pred %p1, %p1, %p2;
         @%p1 exit;
         bar.sync 0;
         st.global.b32 [%a], %t;
         ret;",
    );
    let expected: Vec<u32> =
        (0..96).map(|t| if t % 2 == 0 || t >= 64 { u32::MAX } else { t }).collect();
    assert_eq!(outputs(&source, 1, 96, 0), expected);
}

#[test]
fn half_the_block_at_another_barrier_is_a_deadlock() {
    let source = kernel(
        "setp.lt.u32 %p1, %t, 32;
         @%p1 bra FIRST;
         bar.sync 1;
         ret;
     FIRST:
         bar.sync 0;
         ret;",
    );
    let (kind, text) = fault_text(&source, 1, 64, 0);
    assert_eq!(kind, FaultKind::Deadlock);
    let expected = "error: deadlock: no thread of the block can go on
  kernel:  k, grid (1, 1, 1), block (64, 1, 1)
  where:   block (0, 0, 0), warp 0, lanes 0-31 (first thread (0, 0, 0))
  ptx:     line 23: bar.sync 0;
  note:    warp 0 lanes 0-31 wait at barrier 0, ptx line 23
  note:    warp 1 lanes 0-31 wait at barrier 1, ptx line 20
  note:    threads wait at 2 different barriers
help: every thread of a block must reach the same barriers; look for a barrier or warp operation inside a condition, or after an early return";
    assert_eq!(text, expected);
    // Its near miss: both go to the same barrier, from different places.
    let source = kernel(
        "setp.lt.u32 %p1, %t, 32;
         @%p1 bra FIRST;
         bar.sync 0;
         st.global.b32 [%a], 1;
         ret;
     FIRST:
         bar.sync 0;
         st.global.b32 [%a], 2;
         ret;",
    );
    let expected: Vec<u32> = (0..64).map(|t| if t < 32 { 2 } else { 1 }).collect();
    assert_eq!(outputs(&source, 1, 64, 0), expected);
}

#[test]
fn a_count_that_nobody_completes() {
    let (kind, text) = fault_text(&kernel("bar.sync 2, 96; ret;"), 1, 64, 0);
    assert_eq!(kind, FaultKind::Deadlock);
    assert!(text.contains("warp 1 lanes 0-31 wait at barrier 2 for 96 threads"), "{text}");
    let (kind, text) = fault_text(&kernel("bar.sync 2, 33; ret;"), 1, 64, 0);
    assert_eq!(kind, FaultKind::InvalidBarrier);
    assert!(text.contains("must be a multiple of the warp size"), "{text}");
}

#[test]
fn counts_that_disagree() {
    let source = kernel(
        "setp.lt.u32 %p1, %t, 32;
         selp.b32 %r1, 64, 96, %p1;
         bar.sync 2, %r1;
         ret;",
    );
    let (kind, text) = fault_text(&source, 1, 64, 0);
    assert_eq!(kind, FaultKind::InvalidBarrier);
    assert!(text.contains("barrier 2 is waited at for"), "{text}");
}
