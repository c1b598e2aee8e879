//! Warp-synchronous operations from diverged lanes; plain forms are checked against recorded hardware in `golden.rs`.

mod common;

use common::{fault_text, kernel, outputs};
use ptx_emulator::FaultKind;

#[test]
fn a_butterfly_sum() {
    let mut body = String::from("mad.lo.u32 %r1, %t, %t, 3;\n");
    for distance in [16, 8, 4, 2, 1] {
        body += &format!(
            "shfl.sync.bfly.b32 %r2, %r1, {distance}, 31, 0xffffffff;\nadd.u32 %r1, %r1, %r2;\n"
        );
    }
    body += "st.global.b32 [%a], %r1;\nret;";
    let sum = |warp: u32| (warp * 32..warp * 32 + 32).map(|t| t * t + 3).sum();
    let expected: Vec<u32> = (0..96).map(|t| sum(t / 32)).collect();
    assert_eq!(outputs(&kernel(&body), 1, 96, 0), expected);
}

#[test]
fn lanes_meet_from_different_places() {
    // The two sides of a branch execute different `shfl` instructions with different registers, and exchange values.
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra EVEN;
         add.u32 %r2, %t, 1000;
         shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
         mul.lo.u32 %r3, %r3, 2;
         bra.uni DONE;
     EVEN:
         add.u32 %r5, %t, 500;
         shfl.sync.bfly.b32 %r3, %r5, 1, 31, -1;
     DONE:
         st.global.b32 [%a], %r3;
         ret;",
    );
    let expected: Vec<u32> =
        (0..32).map(|t| if t % 2 == 0 { t + 1 + 1000 } else { 2 * (t - 1 + 500) }).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn each_side_on_its_own() {
    let source = kernel(
        "setp.lt.u32 %p1, %t, 10;
         @%p1 bra LOW;
         vote.sync.ballot.b32 %r1, %p1, 0xfffffc00;
         match.any.sync.b32 %r2, %r1, 0xfffffc00;
         redux.sync.add.u32 %r3, %t, 0xfffffc00;
         bra.uni DONE;
     LOW:
         vote.sync.ballot.b32 %r1, %p1, 0x3ff;
         redux.sync.max.u32 %r3, %t, 0x3ff;
         elect.sync %r2|%p2, 0x3ff;
     DONE:
         add.u32 %r1, %r1, %r2;
         add.u32 %r1, %r1, %r3;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let high: u32 = (10..32).sum();
    let expected: Vec<u32> =
        (0..32).map(|t| if t < 10 { 0x3FF + 9 } else { 0xFFFF_FC00 + high }).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn lanes_that_exit_complete_the_rest() {
    // The odd lanes wait for everyone; the even ones end without coming.
    let source = kernel(
        "and.b32 %r1, %t, 1;
         setp.eq.u32 %p1, %r1, 0;
         @%p1 bra LEAVE;
         vote.sync.ballot.b32 %r2, 1, -1;
         bar.warp.sync -1;
         st.global.b32 [%a], %r2;
     LEAVE:
         ret;",
    );
    let expected: Vec<u32> =
        (0..32).map(|t| if t % 2 == 0 { u32::MAX } else { 0xAAAA_AAAA }).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn a_guard_leaves_lanes_out() {
    let source = kernel(
        "setp.lt.u32 %p1, %t, 8;
         mov.b32 %r1, 7;
         @%p1 vote.sync.ballot.b32 %r1, 1, 0xff;
         bar.warp.sync 0xffffffff;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let expected: Vec<u32> = (0..32).map(|t| if t < 8 { 0xFF } else { 7 }).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

#[test]
fn a_lane_outside_its_own_mask() {
    let (kind, text) =
        fault_text(&kernel("shfl.sync.idx.b32 %r1, %t, 0, 31, 0x0000fffe; ret;"), 1, 32, 0);
    assert_eq!(kind, FaultKind::InvalidWarpMask);
    assert!(text.contains("lanes 0, 16-31 (first thread (0, 0, 0))"), "{text}");
    assert!(text.contains("note:    the mask is 0x0000fffe, lanes 1-15"), "{text}");
}

#[test]
fn lanes_that_never_come() {
    let source = kernel(
        "setp.lt.u32 %p1, %t, 16;
         @%p1 bra LOW;
         shfl.sync.idx.b32 %r1, %t, 0, 31, -1;
         ret;
     LOW:
         bar.sync 0;
         ret;",
    );
    let (kind, text) = fault_text(&source, 1, 32, 0);
    assert_eq!(kind, FaultKind::Deadlock);
    assert!(
        text.contains(
            "warp 0 lanes 16-31 wait for lanes 0-15 in `shfl.sync.idx.b32 %r1, %t, 0, 31, -1;`"
        ),
        "{text}"
    );
    assert!(text.contains("warp 0 lanes 0-15 wait at barrier 0"), "{text}");
}

#[test]
fn a_partial_warp_is_whole() {
    let source = kernel(
        "vote.sync.ballot.b32 %r1, 1, 0xffffffff;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let mut expected = vec![u32::MAX; 32];
    expected.extend([0x1F; 5]);
    assert_eq!(outputs(&source, 1, 37, 0), expected);
}
