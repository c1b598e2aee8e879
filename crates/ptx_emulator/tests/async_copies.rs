//! `cp.async`: when copies take effect, and what must not be copied. Plain forms are checked against recorded hardware in
//! `golden_matrix.rs`.

mod common;

use common::{fault_text, kernel_with, outputs};
use ptx_emulator::FaultKind;

/// A kernel with a table of 256 words `w[i] = 100 + i`, a shared array `s` of zeros, and `%r10`, `%rd10` the places of the thread's
/// own 16 bytes (4 words) in both; `%r11` is the start of `s`.
fn copying(body: &str) -> String {
    let table: Vec<String> = (0..256).map(|i| (100 + i).to_string()).collect();
    kernel_with(
        &format!(
            ".global .align 16 .b32 w[256] = {{{}}};\n.shared .align 16 .b32 s[256];",
            table.join(", ")
        ),
        &format!(
            "mov.u32 %r11, s;
             mad.lo.u32 %r10, %t, 16, %r11;
             mov.u64 %rd10, w;
             mad.wide.u32 %rd10, %t, 16, %rd10;
             st.shared.v4.b32 [%r10], {{0, 0, 0, 0}};
             {body}
             st.global.b32 [%a], %r1;
             ret;"
        ),
    )
}

#[test]
fn a_copy_takes_effect_at_the_wait() {
    let body = "cp.async.ca.shared.global [%r10], [%rd10], 16;
         cp.async.wait_all;
         ld.shared.b32 %r1, [%r10+4];";
    assert_eq!(outputs(&copying(body), 1, 32, 0), (0..32).map(|t| 101 + 4 * t).collect::<Vec<_>>());
}

#[test]
fn a_missing_wait_shows() {
    for without in [
        "",
        "cp.async.commit_group;",
        "bar.sync 0;",
        "cp.async.commit_group; cp.async.wait_group 1;",
        // A group ends where it is committed: the copy is in none.
        "cp.async.wait_group 0;",
    ] {
        let body = format!(
            "cp.async.ca.shared.global [%r10], [%rd10], 4;
             {without}
             ld.shared.b32 %r1, [%r10];"
        );
        assert_eq!(outputs(&copying(&body), 1, 32, 0), [0; 32], "{without}");
    }
}

#[test]
fn groups_complete_in_order() {
    let pipeline = |pending: u32| {
        let body = format!(
            "cp.async.cg.shared.global.L2::128B [%r10], [%rd10], 16;
             cp.async.commit_group;
             cp.async.ca.shared.global [%r10+4], [%rd10], 4;
             cp.async.commit_group;
             cp.async.commit_group;
             cp.async.ca.shared.global [%r10+8], [%rd10], 4;
             cp.async.commit_group;
             cp.async.wait_group {pending};
             ld.shared.v4.b32 {{%r2, %r3, %r4, %r5}}, [%r10];
             mul.lo.u32 %r1, %r3, 1000;
             add.u32 %r1, %r1, %r4;"
        );
        outputs(&copying(&body), 1, 1, 0)[0]
    };
    assert_eq!(pipeline(4), 0);
    assert_eq!(pipeline(3), 101_102);
    assert_eq!(pipeline(2), 100_102);
    assert_eq!(pipeline(1), 100_102);
    assert_eq!(pipeline(0), 100_100);
}

#[test]
fn another_threads_wait_is_not_enough() {
    // Each thread reads its neighbour's data; odd threads never wait for their copies.
    let body = "and.b32 %r2, %t, 1;
         setp.eq.u32 %p1, %r2, 0;
         cp.async.ca.shared.global [%r10], [%rd10], 4;
         @%p1 cp.async.wait_all;
         bar.sync 0;
         xor.b32 %r3, %t, 1;
         mad.lo.u32 %r3, %r3, 16, %r11;
         ld.shared.b32 %r1, [%r3];";
    let expected: Vec<u32> =
        (0..64).map(|t| if t % 2 == 1 { 100 + 4 * (t - 1) } else { 0 }).collect();
    assert_eq!(outputs(&copying(body), 1, 64, 0), expected);
}

#[test]
fn the_rest_of_a_short_copy_is_zero() {
    let body = "st.shared.v4.b32 [%r10], {7, 7, 7, 7};
         mov.b32 %r2, 8;
         cp.async.ca.shared.global [%r10], [%rd10], 16, %r2;
         cp.async.wait_all;
         ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r10];
         mad.lo.u32 %r1, %r3, 1000, %r4;";
    assert_eq!(outputs(&copying(body), 1, 1, 0), [101_000]);
    // Nothing is read: the source may be anywhere.
    let body = "st.shared.v4.b32 [%r10], {7, 7, 7, 7};
         mov.u64 %rd1, 3;
         setp.eq.u32 %p1, %t, %t;
         cp.async.cg.shared.global [%r10], [%rd1], 16, 0;
         cp.async.ca.shared.global [%r10], [%rd1], 4, %p1;
         cp.async.wait_all;
         ld.shared.b32 %r1, [%r10];";
    assert_eq!(outputs(&copying(body), 1, 1, 0), [0]);
    // The other way round, the predicate lets it be read.
    let body = "setp.ne.u32 %p1, %t, %t;
         cp.async.ca.shared.global [%r10], [%rd10], 4, %p1;
         cp.async.wait_all;
         ld.shared.b32 %r1, [%r10];";
    assert_eq!(outputs(&copying(body), 1, 1, 0), [100]);
}

#[test]
fn addresses_are_checked_when_a_copy_is_issued() {
    let fault = |copy: &str| {
        // No wait follows: the fault comes from the copy itself.
        fault_text(&copying(&format!("mov.b32 %r2, 20; mov.u64 %rd1, 16; {copy}")), 1, 32, 0)
    };
    let (kind, text) = fault("cp.async.ca.shared.global [%r10], [%rd10+2], 4;");
    assert_eq!(kind, FaultKind::MisalignedAddress);
    assert!(text.contains("read of 4 bytes") && text.contains("in global memory"), "{text}");
    let (kind, text) = fault("cp.async.cg.shared.global [%r10+8], [%rd10], 16;");
    assert_eq!(kind, FaultKind::MisalignedAddress);
    assert!(text.contains("write of 16 bytes") && text.contains("in shared memory"), "{text}");
    let (kind, text) = fault("cp.async.ca.shared.global [%r10], [%rd1], 8;");
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("read of 8 bytes at 0x10"), "{text}");
    let (kind, text) = fault("cp.async.ca.shared.global [%r10+1024], [%rd10], 4;");
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("0 bytes past the end of `s`"), "{text}");
    let (kind, text) = fault("cp.async.cg.shared.global [%r10], [%rd10], 16, %r2;");
    assert_eq!(kind, FaultKind::MisalignedAddress);
    assert!(text.contains("the copy of 16 bytes is to read 20 bytes"), "{text}");
    let (kind, _) =
        fault("add.s64 %rd10, %rd10, 960; cp.async.ca.shared.global [%r10], [%rd10], 16;");
    assert_eq!(kind, FaultKind::IllegalAddress);
}

#[test]
fn very_many_copies_without_a_wait() {
    // They may happen at any time, and take no more host memory than a fixed amount.
    let body = "mov.b32 %r2, 0;
     LOOP:
         cp.async.ca.shared.global [%r10], [%rd10], 16;
         cp.async.commit_group;
         add.u32 %r2, %r2, 1;
         setp.lt.u32 %p1, %r2, 20000;
         @%p1 bra LOOP;
         ld.shared.b32 %r1, [%r10];";
    assert_eq!(outputs(&copying(body), 1, 32, 0), (0..32).map(|t| 100 + 4 * t).collect::<Vec<_>>());
}

#[test]
fn forms_that_do_not_exist() {
    for wrong in [
        "cp.async.cg.shared.global [%r10], [%rd10], 8;",
        "cp.async.ca.shared.global [%r10], [%rd10], 12;",
        "cp.async.ca.shared.global [%r10], [%rd10], %r2;",
        "cp.async.wait_group %r2;",
        "cp.async.wait_group -1;",
    ] {
        let error = ptx_emulator::Program::compile(&copying(wrong)).expect_err(wrong);
        assert_eq!(error.kind(), ptx_emulator::CompileErrorKind::Invalid, "{wrong}: {error}");
    }
    let bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd10], 16, [%r11];";
    let (kind, text) = fault_text(&copying(bulk), 1, 1, 0);
    assert!(matches!(kind, FaultKind::UnsupportedInstruction { .. }), "{text}");
    assert!(text.contains("cp.async.bulk"), "{text}");
}
