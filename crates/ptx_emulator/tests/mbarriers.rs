//! mbarrier objects between threads, and their misuse. Sequences of one thread are checked against recorded hardware in
//! `golden_matrix.rs`.

mod common;

use common::{Rig, SEEDS, fault_text, kernel_with, outputs, params};
use ptx_emulator::FaultKind;

/// A kernel with two mbarrier objects, at `%r10` and `%r11`, and a shared array of 256 words at `%r12`.
fn with_objects(body: &str) -> String {
    kernel_with(
        ".shared .align 8 .b64 first;\n.shared .align 8 .b64 second;\n.shared .align 16 .b32 s[256];",
        &format!(
            "mov.u32 %r10, first;
             mov.u32 %r11, second;
             mov.u32 %r12, s;
             setp.eq.u32 %p7, %t, 0;
             {body}
             st.global.b32 [%a], %r1;
             ret;"
        ),
    )
}

/// Thread 0 sets the first object up for all threads.
const SET_UP: &str = "mov.u32 %r2, %ntid.x;
     @%p7 mbarrier.init.shared.b64 [%r10], %r2;
     @%p7 fence.mbarrier_init.release.cluster;
     bar.sync 0;";

#[test]
fn threads_of_several_warps_meet() {
    for wait in ["test_wait", "try_wait"] {
        // Each thread writes, arrives, waits, and reads what another one wrote; three phases.
        let body = format!(
            "{SET_UP}
             mov.b32 %r1, 0;
             mov.b32 %r3, 0;
         AGAIN:
             mad.lo.u32 %r4, %t, 4, %r12;
             mad.lo.u32 %r5, %r3, 1000, %t;
             st.shared.b32 [%r4], %r5;
             mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [%r10];
         WAIT:
             mbarrier.{wait}.acquire.cta.shared::cta.b64 %p1, [%r10], %rd1;
             @!%p1 bra WAIT;
             add.u32 %r6, %t, 37;
             rem.u32 %r6, %r6, %r2;
             mad.lo.u32 %r4, %r6, 4, %r12;
             ld.shared.b32 %r5, [%r4];
             add.u32 %r1, %r1, %r5;
             bar.sync 0;
             add.u32 %r3, %r3, 1;
             setp.lt.u32 %p2, %r3, 3;
             @%p2 bra AGAIN;"
        );
        let expected: Vec<u32> = (0..96).map(|t| 3 * ((t + 37) % 96) + 3000).collect();
        assert_eq!(outputs(&with_objects(&body), 1, 96, 0), expected, "{wait}");
    }
}

#[test]
fn lanes_of_one_warp_wait_for_each_other() {
    // The odd lanes wait for the even ones, which come from the other side of a branch.
    let body = "@%p7 mbarrier.init.shared.b64 [%r10], 16;
         bar.sync 0;
         and.b32 %r2, %t, 1;
         setp.eq.u32 %p1, %r2, 0;
         @%p1 bra EVEN;
     WAIT:
         mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;
         @!%p2 bra WAIT;
         ld.shared.b32 %r1, [%r12];
         bra.uni DONE;
     EVEN:
         st.shared.b32 [%r12], 5;
         mbarrier.arrive.shared.b64 _, [%r10];
         mov.b32 %r1, 1;
     DONE:";
    let expected: Vec<u32> = (0..32).map(|t| if t % 2 == 1 { 5 } else { 1 }).collect();
    assert_eq!(outputs(&with_objects(body), 1, 32, 0), expected);
}

#[test]
fn copies_bring_their_arrivals() {
    // Warp 0 copies for warp 1, which waits on the object only; both forms of the arrival.
    for (arrive, own) in [
        ("noinc.shared.b64", ""),
        // This form adds the arrival that it makes; the thread's own one is still to come.
        ("shared.b64", "mbarrier.arrive.shared.b64 _, [%r10];"),
    ] {
        let body = format!(
            "@%p7 mbarrier.init.shared.b64 [%r10], 32;
             mov.b32 %r1, 0;
             mad.lo.u32 %r3, %t, 4, %r12;
             st.shared.b32 [%r3], 0;
             st.global.b32 [%a], %t;
             bar.sync 0;
             setp.ge.u32 %p1, %t, 32;
             @%p1 bra CONSUMER;
             cp.async.ca.shared.global [%r3], [%a], 4;
             cp.async.mbarrier.arrive.{arrive} [%r10];
             {own}
             bra.uni DONE;
         CONSUMER:
             mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0, 1000;
             @!%p2 bra CONSUMER;
             ld.shared.b32 %r1, [%r3+-128];
             add.u32 %r1, %r1, 10;
         DONE:"
        );
        let expected: Vec<u32> = (0..64).map(|t| if t < 32 { 0 } else { t - 32 + 10 }).collect();
        assert_eq!(outputs(&with_objects(&body), 1, 64, 0), expected, "{arrive}");
    }
}

#[test]
fn transactions_by_hand() {
    let body = "@%p7 mbarrier.init.shared.b64 [%r10], 1;
         bar.sync 0;
         mov.b32 %r1, 0;
         mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd1, [%r10], 64;
         mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r10], 16;
         mbarrier.test_wait.shared.b64 %p1, [%r10], %rd1;
         @%p1 add.u32 %r1, %r1, 1;
         mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r10], 48;
         mbarrier.test_wait.shared.b64 %p1, [%r10], %rd1;
         @%p1 add.u32 %r1, %r1, 10;
         mbarrier.pending_count.b64 %r2, %rd1;
         mad.lo.u32 %r1, %r2, 100, %r1;";
    assert_eq!(outputs(&with_objects(body), 1, 1, 0), [110]);
}

#[test]
fn through_generic_addresses() {
    let body = "mov.u64 %rd2, first;
         cvta.shared.u64 %rd2, %rd2;
         mbarrier.init.b64 [%rd2], 1;
         mbarrier.arrive.b64 %rd1, [%rd2];
         mbarrier.test_wait.b64 %p1, [%rd2], %rd1;
         selp.u32 %r1, 1, 0, %p1;
         mbarrier.inval.b64 [%rd2];";
    assert_eq!(outputs(&with_objects(body), 1, 1, 0), [1]);
    let (kind, text) = fault_text(&with_objects("mbarrier.init.b64 [%a], 1;"), 1, 1, 0);
    assert_eq!(kind, FaultKind::NotSharedMemory);
    assert!(text.contains("not an address of shared memory"), "{text}");
}

#[test]
fn misuse() {
    let fault = |body: &str| fault_text(&with_objects(body), 1, 1, 0);
    let init = "mbarrier.init.shared.b64 [%r10], 2;";
    for (body, note) in [
        ("mbarrier.arrive.shared.b64 %rd1, [%r10];".to_owned(), "there is no mbarrier object"),
        (
            "mbarrier.test_wait.parity.shared.b64 %p1, [%r10], 0;".to_owned(),
            "there is no mbarrier object",
        ),
        (format!("{init} mbarrier.arrive.shared.b64 %rd1, [%r11];"), "there is no mbarrier object"),
        (
            format!(
                "{init} mbarrier.inval.shared.b64 [%r10]; mbarrier.arrive.shared.b64 _, [%r10];"
            ),
            "was invalidated",
        ),
        ("mbarrier.inval.shared.b64 [%r10];".to_owned(), "there is no mbarrier object"),
        ("mbarrier.init.shared.b64 [%r10], 0;".to_owned(), "the count is 0; it must be from 1"),
        (
            "mbarrier.init.shared.b64 [%r10], 1048576;".to_owned(),
            "the count is 1048576; it must be from 1 to 1048575",
        ),
        (
            format!("{init} mbarrier.arrive.shared.b64 _, [%r10], 3;"),
            "3 threads arrive, and only 2 arrivals are pending",
        ),
        (
            format!("{init} mbarrier.arrive.noComplete.shared.b64 %rd1, [%r10], 2;"),
            "with .noComplete, and only 2",
        ),
        (
            format!("{init} mbarrier.expect_tx.relaxed.cta.shared.b64 [%r10], 1048576;"),
            "the transaction count becomes 1048576",
        ),
        (
            format!("{init} cp.async.mbarrier.arrive.noinc.shared.b64 [%r11];"),
            "there is no mbarrier object",
        ),
    ] {
        let (kind, text) = fault(&body);
        assert_eq!(kind, FaultKind::InvalidMbarrier, "{body}\n{text}");
        assert!(text.contains(note), "{body}\n{text}");
    }
    let (kind, _) = fault("mbarrier.init.shared.b64 [%r10+4], 1;");
    assert_eq!(kind, FaultKind::MisalignedAddress);
    let (kind, _) = fault("mbarrier.init.shared.b64 [%r10+65536], 1;");
    assert_eq!(kind, FaultKind::IllegalAddress);
    // Near misses.
    let body = format!(
        "{init} mbarrier.arrive.noComplete.shared.b64 %rd1, [%r10], 1;
        mbarrier.arrive.shared.b64 %rd1, [%r10], 1; mbarrier.inval.shared.b64 [%r10];
        mbarrier.init.shared.b64 [%r10], 1048575; mov.b32 %r1, 3;"
    );
    assert_eq!(outputs(&with_objects(&body), 1, 1, 0), [3]);
}

#[test]
fn every_block_has_its_own_objects() {
    let body = format!("{SET_UP} mbarrier.arrive.shared.b64 %rd1, [%r10]; mov.b32 %r1, 1;");
    assert_eq!(outputs(&with_objects(&body), 4, 32, 0), [1; 128]);
    // One block's object is not there in the next.
    let body = "setp.eq.u32 %p1, %b, 0;
        @%p1 mbarrier.init.shared.b64 [%r10], 1;
        mbarrier.arrive.shared.b64 %rd1, [%r10]; mov.b32 %r1, 1;";
    for seed in SEEDS {
        let mut rig = Rig::new(&with_objects(body), seed);
        let out = rig.words("out", &[0; 2]);
        let fault = rig.launch("k", 2, 1, &params(out, 0)).expect_err("block 1 has no object");
        assert_eq!((fault.kind(), fault.block()), (&FaultKind::InvalidMbarrier, Some([1, 0, 0])));
    }
}

#[test]
fn a_phase_that_never_completes() {
    // One arrival too few; half of the threads wait at a barrier.
    for wait in ["test_wait", "try_wait"] {
        let body = format!(
            "@%p7 mbarrier.init.shared.b64 [%r10], 33;
             bar.sync 0;
             mov.b32 %r1, 0;
             setp.ge.u32 %p1, %t, 32;
             @%p1 bra DONE;
             mbarrier.arrive.shared.b64 %rd1, [%r10];
         WAIT:
             mbarrier.{wait}.shared.b64 %p2, [%r10], %rd1;
             @!%p2 bra WAIT;
         DONE:
             bar.sync 0;"
        );
        let (kind, text) = fault_text(&with_objects(&body), 1, 64, 0);
        assert_eq!(kind, FaultKind::Deadlock);
        assert!(
            text.contains("warp 0 lanes 0-31 wait in vain for a phase of an mbarrier object"),
            "{text}"
        );
        assert!(text.contains("parity 0, which waits for 1 of 33 arrivals and 0 bytes"), "{text}");
        assert!(text.contains("warp 1 lanes 0-31 wait at barrier 0"), "{text}");
    }
}

#[test]
fn a_long_wait_is_no_deadlock() {
    // Warp 1 computes for long before it arrives.
    let body = "@%p7 mbarrier.init.shared.b64 [%r10], 1;
         bar.sync 0;
         mov.b32 %r1, 0;
         setp.ge.u32 %p1, %t, 32;
         @%p1 bra WORK;
     WAIT:
         mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;
         @!%p2 bra WAIT;
         ld.shared.b32 %r1, [%r12];
         bra.uni DONE;
     WORK:
         add.u32 %r1, %r1, 1;
         setp.lt.u32 %p2, %r1, 300000;
         @%p2 bra WORK;
         st.shared.b32 [%r12], %r1;
         setp.eq.u32 %p2, %t, 32;
         @%p2 mbarrier.arrive.shared.b64 %rd1, [%r10];
     DONE:";
    assert_eq!(outputs(&with_objects(body), 1, 64, 0), [300_000; 64]);
}
