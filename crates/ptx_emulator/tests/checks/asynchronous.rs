//! Asynchronous copies, mbarrier objects and matrices under checks.

use crate::common::{kernel_with, params};
use crate::support::{clean, kinds, races, rig, texts};
use ptx_emulator::FindingKind;

/// A kernel with an mbarrier object at `%r10` for all threads, and a shared array whose own word is at `%r11` and whose
/// word of the thread half a block further is at `%r12`.
fn with_object(body: &str) -> String {
    kernel_with(
        ".shared .align 8 .b64 object;\n.shared .align 16 .b32 s[256];",
        &format!(
            "mov.u32 %r10, object;
             mov.u32 %r1, s;
             mov.u32 %r2, %ntid.x;
             mad.lo.u32 %r11, %t, 4, %r1;
             shr.u32 %r3, %r2, 1;
             add.u32 %r3, %r3, %t;
             rem.u32 %r3, %r3, %r2;
             mad.lo.u32 %r12, %r3, 4, %r1;
             setp.eq.u32 %p7, %t, 0;
             @%p7 mbarrier.init.shared.b64 [%r10], %r2;
             bar.sync 0;
             {body}
             ld.shared.b32 %r4, [%r12];
             st.global.b32 [%a], %r4;
             ret;"
        ),
    )
}

const WAIT: &str = "WAIT: mbarrier.try_wait.shared.b64 %p1, [%r10], %rd1; @!%p1 bra WAIT;";

#[test]
fn an_object_orders_accesses() {
    let arrive = "st.shared.b32 [%r11], %t; mbarrier.arrive.shared.b64 %rd1, [%r10];";
    clean(&with_object(&format!("{arrive} {WAIT}")), "racecheck,initcheck,synccheck", 2, 64);
    // Nobody waits.
    races(&with_object(arrive), 1, 64);
    // What comes after the arrival is not ordered by it.
    let late = "mbarrier.arrive.shared.b64 %rd1, [%r10]; st.shared.b32 [%r11], %t;";
    races(&with_object(&format!("{late} {WAIT}")), 1, 64);
}

#[test]
fn copies_are_accesses() {
    let copy = |after: &str| {
        with_object(&format!(
            "st.global.b32 [%a], %t; cp.async.ca.shared.global [%r11], [%a], 4; {after}"
        ))
    };
    clean(&copy("cp.async.wait_all; bar.sync 0;"), "racecheck,initcheck", 2, 64);
    let arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r10];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%r10], 0; @!%p1 bra WAIT;";
    clean(&copy(arrive), "racecheck,initcheck", 2, 64);
    races(&copy("cp.async.wait_all;"), 1, 64);
    // Without a wait, nothing is there yet.
    assert_eq!(kinds(&copy("bar.sync 0;"), "initcheck", 1, 64), [FindingKind::UninitializedMemory]);
    // Two copies to one place.
    let twice = "cp.async.ca.shared.global [%r12], [%a], 4; cp.async.wait_all; bar.sync 0;";
    races(&copy(twice), 1, 64);
}

#[test]
fn matrices_are_accesses() {
    let load = |before: &str| {
        with_object(&format!(
            "st.shared.b32 [%r11], %t; {before}
             and.b32 %r5, %t, 7;
             mad.lo.u32 %r5, %r5, 16, %r1;
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r6}}, [%r5];
             st.global.b32 [%a], %r6; bar.sync 0;"
        ))
    };
    clean(&load("bar.sync 0;"), "racecheck,initcheck", 1, 64);
    races(&load(""), 1, 64);
    let stored = "shl.b32 %r5, %t, 4;
         and.b32 %r5, %r5, 0x1ff;
         add.u32 %r5, %r5, %r1;
         stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%t, %t, %t, %t};";
    clean(&with_object(&format!("{stored} bar.sync 0;")), "racecheck,initcheck", 1, 32);
    races(&with_object(stored), 1, 32);
}

#[test]
fn results_of_matrices_count_as_written() {
    let multiply = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r5, %r6, %r7, %r8}, {%t, %t, %t, %t}, {%t, %t}, {%t, %t, %t, %t};
         movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r8;
         st.shared.b32 [%r11], %r9; bar.sync 0;";
    clean(&with_object(multiply), "initcheck", 1, 64);
}

#[test]
fn what_is_said_about_a_copy() {
    let text = texts(
        &with_object("st.global.b32 [%a], %t; cp.async.ca.shared.global [%r11], [%a], 4;"),
        "racecheck",
        1,
        64,
    );
    assert!(text.iter().any(|text| text.contains("cp.async.ca.shared.global")), "{text:?}");
}

#[test]
fn a_copy_that_nobody_waited_for() {
    // The buffer was written before, so that initcheck has nothing to say.
    let copy = |after: &str| {
        with_object(&format!(
            "st.global.b32 [%a], %t; st.shared.b32 [%r11], 0; bar.sync 0;
             cp.async.ca.shared.global [%r11], [%a], 4; {after}"
        ))
    };
    let all = "racecheck,initcheck";
    assert_eq!(kinds(&copy("bar.sync 0;"), all, 1, 64), [FindingKind::PendingCopy]);
    // One thread's wait says nothing about the copies of others, and a wait for older groups nothing about new ones.
    let first = "setp.eq.u32 %p2, %t, 0; @%p2 cp.async.wait_all; bar.sync 0;";
    assert_eq!(kinds(&copy(first), all, 1, 64), [FindingKind::PendingCopy]);
    let older = "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;";
    assert_eq!(kinds(&copy(older), all, 1, 64), [FindingKind::PendingCopy]);
    clean(&copy("cp.async.wait_all; bar.sync 0;"), all, 1, 64);
    clean(&copy("cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"), all, 1, 64);
}

#[test]
fn a_barrier_before_the_wait() {
    // The first warp copies, the other one reads.
    let source = |after: &str| {
        with_object(&format!(
            "setp.lt.u32 %p2, %t, 32;
             st.global.b32 [%a], %t; st.shared.b32 [%r11], 0; bar.sync 0;
             @%p2 cp.async.ca.shared.global [%r11], [%a], 4;
             {after}"
        ))
    };
    races(&source("bar.sync 0; @%p2 cp.async.wait_all;"), 1, 64);
    races(&source("@%p2 cp.async.commit_group; bar.sync 0; @%p2 cp.async.wait_group 0;"), 1, 64);
    clean(&source("@%p2 cp.async.wait_all; bar.sync 0;"), "racecheck,initcheck", 1, 64);
    let both = "bar.sync 0; @%p2 cp.async.wait_all; bar.sync 0;";
    clean(&source(both), "racecheck,initcheck", 1, 64);
}

#[test]
fn matrices_are_read() {
    // Rows of 16 bytes; `%h1` goes to one half of each word, or to both.
    let source = |store: &str, count: u32, results: &str| {
        kernel_with(
            ".shared .align 16 .b8 rows[512];",
            &format!(
                "mov.u32 %r1, rows; mad.lo.u32 %r2, %t, 16, %r1; mad.lo.u32 %r3, %t, 4, %r1;
                 cvt.u16.u32 %h1, %t;
                 {store}
                 bar.sync 0;
                 ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{results}}}, [%r2];
                 st.global.b32 [%a], %r4; ret;"
            ),
        )
    };
    let checks = "racecheck,initcheck";
    clean(&source("st.shared.b32 [%r3], %t;", 1, "%r4"), checks, 1, 32);
    let both = "st.shared.b16 [%r3], %h1; st.shared.b16 [%r3+2], %h1;";
    clean(&source(both, 1, "%r4"), checks, 1, 32);
    let kind = FindingKind::UninitializedMemory;
    assert_eq!(kinds(&source("st.shared.b16 [%r3], %h1;", 1, "%r4"), checks, 1, 32), [kind]);
    assert_eq!(kinds(&source("st.shared.b32 [%r3], %t;", 2, "%r4, %r5"), checks, 1, 32), [kind]);
}

#[test]
fn copies_read_their_source() {
    let source = kernel_with(
        ".shared .align 16 .b32 s[32];",
        "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;
         cp.async.ca.shared.global [%r1], [%a], 4; cp.async.wait_all; ret;",
    );
    for (bytes, expected) in [(0, 1), (124, 1), (128, 0)] {
        let mut rig = rig(&source, "initcheck", None);
        let data = rig.machine.memory_mut().alloc(128, "data").expect("memory");
        rig.machine.memory_mut().fill(data, &[7], bytes).expect("allocated");
        rig.launch("k", 1, 32, &params(data, 0)).unwrap_or_else(|fault| panic!("{fault}"));
        let found = rig.machine.take_findings();
        assert_eq!(found.len(), expected, "{bytes} bytes were written");
        assert!(found.iter().all(|found| found.kind() == FindingKind::UninitializedMemory));
    }
}
