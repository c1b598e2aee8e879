//! Forward progress: lanes that wait for each other must not starve.

mod common;

use common::{kernel, kernel_with, outputs};

#[test]
fn a_spin_lock_within_a_warp_finishes() {
    // Every lane takes the lock in turn, adds to a counter without atomics, and lets go. The holder leaves the spinning loop
    // before it can release the lock, so it must not wait for the others there.
    let source = kernel_with(
        ".global .u32 lock; .global .u32 counter;",
        "mov.u64 %rd1, lock;
     SPIN:
         atom.global.cas.b32 %r1, [%rd1], 0, 1;
         setp.ne.u32 %p1, %r1, 0;
         @%p1 bra SPIN;
         ld.volatile.global.u32 %r2, [counter];
         add.u32 %r2, %r2, 1;
         st.volatile.global.u32 [counter], %r2;
         membar.gl;
         atom.global.exch.b32 %r3, [%rd1], 0;
         bar.sync 0;
         ld.volatile.global.u32 %r4, [counter];
         st.global.b32 [%a], %r4;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 64, 0), [64; 64]);
}

#[test]
fn lanes_of_one_warp_pass_a_token() {
    // Lane i waits for lane i-1; the side of the branch that runs first would starve without rotation.
    let source = kernel_with(
        ".global .u32 token;",
        "setp.eq.u32 %p1, %t, 0;
         @%p1 bra PASS;
     WAIT:
         ld.volatile.global.u32 %r1, [token];
         setp.ne.u32 %p2, %r1, %t;
         @%p2 bra WAIT;
     PASS:
         add.u32 %r2, %t, 1;
         st.volatile.global.u32 [token], %r2;
         st.global.b32 [%a], %r2;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 32, 0), (1..=32).collect::<Vec<u32>>());
}

#[test]
fn blocks_wait_for_each_other() {
    // A grid-wide barrier made of an atomic counter, three times: every block must be in progress at once.
    let source = kernel_with(
        ".global .u32 arrived;",
        "mov.u32 %r1, %nctaid.x;
         mov.b32 %r4, 0;
     AGAIN:
         add.u32 %r4, %r4, %r1;
         setp.ne.u32 %p1, %t, 0;
         @%p1 bra MEET;
         red.global.add.u32 [arrived], 1;
     WAIT:
         ld.acquire.gpu.global.u32 %r2, [arrived];
         setp.lt.u32 %p2, %r2, %r4;
         @%p2 bra WAIT;
     MEET:
         bar.sync 0;
         mul.lo.u32 %r5, %r1, 3;
         setp.lt.u32 %p3, %r4, %r5;
         @%p3 bra AGAIN;
         ld.relaxed.gpu.global.u32 %r3, [arrived];
         st.global.b32 [%a], %r3;
         ret;",
    );
    for blocks in [1, 2, 8, 100] {
        assert_eq!(outputs(&source, blocks, 33, 0), vec![3 * blocks; 33 * blocks as usize]);
    }
}

#[test]
fn blocks_in_a_chain() {
    // Each block waits for the one before it (decoupled look-back), whatever the order in which they start.
    let source = kernel_with(
        ".global .u32 sum;",
        "setp.ne.u32 %p1, %t, 0;
         @%p1 ret;
     WAIT:
         ld.volatile.global.u32 %r1, [sum];
         setp.ne.u32 %p2, %r1, %b;
         @%p2 bra WAIT;
         st.global.b32 [%a], %r1;
         add.u32 %r1, %r1, 1;
         st.volatile.global.u32 [sum], %r1;
         ret;",
    );
    let result = outputs(&source, 200, 2, 0);
    assert_eq!(
        result.iter().copied().step_by(2).collect::<Vec<u32>>(),
        (0..200).collect::<Vec<u32>>()
    );
}

#[test]
fn nanosleep_lets_others_run() {
    let source = kernel_with(
        ".global .u32 flag;",
        "setp.eq.u32 %p1, %t, 63;
         @%p1 st.volatile.global.u32 [flag], 1;
     WAIT:
         nanosleep.u32 100;
         ld.volatile.global.u32 %r1, [flag];
         setp.eq.u32 %p2, %r1, 0;
         @%p2 bra WAIT;
         st.global.b32 [%a], %r1;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 64, 0), [1; 64]);
}

#[test]
fn lanes_meet_again_after_a_branch() {
    // With the lanes together again, the active mask is whole; inside, each side sees its own.
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra EVEN;
         activemask.b32 %r2;
         bra.uni DONE;
     EVEN:
         activemask.b32 %r2;
     DONE:
         activemask.b32 %r3;
         shr.u32 %r3, %r3, 16;
         xor.b32 %r2, %r2, %r3;
         st.global.b32 [%a], %r2;
         ret;",
    );
    let side = |t: u32| if t & 1 == 0 { 0x5555_5555 } else { 0xAAAA_AAAA };
    assert_eq!(outputs(&source, 1, 32, 0), (0..32).map(|t| side(t) ^ 0xFFFF).collect::<Vec<u32>>());
}

#[test]
fn a_failing_check_does_not_keep_the_others_apart() {
    // The lane that would trap never does; the others must meet right after the check, not at the end.
    let source = kernel(
        "setp.gt.u32 %p1, %t, %n;
         @%p1 bra FAIL;
         and.b32 %r1, %t, 1;
         setp.eq.u32 %p2, %r1, 0;
         @%p2 bra MEET;
         add.u32 %r1, %r1, 5;
     MEET:
         activemask.b32 %r2;
         st.global.b32 [%a], %r2;
         ret;
     FAIL:
         exit;",
    );
    let result = outputs(&source, 1, 32, 20);
    let expected: Vec<u32> = (0..32).map(|t| if t <= 20 { 0x1F_FFFF } else { u32::MAX }).collect();
    assert_eq!(result, expected);
}
