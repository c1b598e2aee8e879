//! Cases that other tools show or miss: those a simulator of threads without warps stays silent about, and those of
//! compute-sanitizer's own samples.

use ptx_emulator::{FaultKind, FindingKind, LaunchProblem};

use crate::common::{Rig, SEEDS, kernel, kernel_with, outputs, params};
use crate::support::{clean, kinds, races, rig};

/// The fault of [`kernel`]'s kernel under a schedule.
fn fault_of(source: &str, block: u32, seed: Option<u64>) -> FaultKind {
    let mut rig = rig(source, "all", seed);
    let out = rig.words("out", &[0; 64]);
    rig.launch("k", 1, block, &params(out, 0)).expect_err("must fail").kind().clone()
}

#[test]
fn a_negative_index() {
    let source = kernel(
        "add.s32 %r1, %t, -1; mad.wide.s32 %rd1, %r1, 4, %o; ld.global.b32 %r2, [%rd1]; ret;",
    );
    for seed in SEEDS {
        assert_eq!(fault_of(&source, 32, seed), FaultKind::IllegalAddress);
    }
}

#[test]
fn a_counter_that_all_threads_increment() {
    races(
        &kernel("ld.global.b32 %r1, [%o]; add.u32 %r1, %r1, 1; st.global.b32 [%o], %r1; ret;"),
        4,
        32,
    );
    clean(&kernel("red.global.add.u32 [%o], 1; ret;"), "all", 4, 32);
}

#[test]
fn a_block_of_4096_threads() {
    let source = kernel("ret;");
    let mut rig = Rig::new(&source, None);
    let fault = rig.launch("k", 1, 4096, &params(0, 0)).expect_err("too many threads");
    assert_eq!(fault.kind(), &FaultKind::BadLaunch(LaunchProblem::BlockTooLarge([4096, 1, 1])));
}

#[test]
fn shuffles_and_ballots() {
    let source = kernel(
        "shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xffffffff;
         setp.lt.u32 %p1, %t, 5;
         vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
         mad.lo.u32 %r1, %r2, 100, %r1;
         st.global.b32 [%a], %r1; ret;",
    );
    clean(&source, "all", 1, 32);
    let expected: Vec<u32> = (0..32).map(|t| 3100 + (t ^ 1)).collect();
    assert_eq!(outputs(&source, 1, 32, 0), expected);
}

const SUM: &str = ".shared .align 4 .b8 tile[512]; .shared .align 4 .b8 sums[16];";

#[test]
fn the_first_thread_sums_up_without_a_barrier() {
    let source = |between: &str| {
        kernel_with(
            SUM,
            &format!(
                "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1; st.shared.b32 [%rd2], %t;
                 {between}
                 setp.ne.u32 %p1, %t, 0; @%p1 bra END;
                 mov.b32 %r1, 0; mov.b32 %r2, 0;
             NEXT:
                 ld.shared.b32 %r3, [%rd1]; add.u32 %r2, %r2, %r3; add.u64 %rd1, %rd1, 4;
                 add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 128; @%p2 bra NEXT;
                 st.global.b32 [%o], %r2;
             END: ret;"
            ),
        )
    };
    races(&source(""), 1, 128);
    clean(&source("bar.sync 0;"), "all", 1, 128);
}

#[test]
fn the_first_lane_sums_up_without_a_warp_barrier() {
    let source = |between: &str| {
        kernel_with(
            SUM,
            &format!(
                "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1; st.shared.b32 [%rd2], %t;
                 {between}
                 and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 0; @%p1 bra MEET;
                 mov.b32 %r1, 0; mov.b32 %r2, 0;
             NEXT:
                 ld.shared.b32 %r3, [%rd2]; add.u32 %r2, %r2, %r3; add.u64 %rd2, %rd2, 4;
                 add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 32; @%p2 bra NEXT;
                 mov.u64 %rd3, sums; shr.u32 %r4, %t, 5; mad.wide.u32 %rd3, %r4, 4, %rd3;
                 st.shared.b32 [%rd3], %r2;
             MEET:
                 bar.sync 0;
                 mov.u64 %rd3, sums; ld.shared.b32 %r5, [%rd3+4]; st.global.b32 [%a], %r5; ret;"
            ),
        )
    };
    races(&source(""), 1, 128);
    clean(&source("bar.warp.sync 0xffffffff;"), "all", 1, 128);
}

#[test]
fn a_barrier_for_a_part_of_the_block() {
    let source = |threads: u32| {
        kernel(&format!(
            "setp.ge.u32 %p1, %t, {threads}; @%p1 bra END; bar.sync 0; st.global.b32 [%a], %t; END: ret;"
        ))
    };
    assert_eq!(kinds(&source(40), "all", 1, 64), [FindingKind::BarrierAfterExit]);
    clean(&source(64), "all", 1, 64);
}

#[test]
fn a_warp_barrier_that_leaves_the_caller_out() {
    let source = |mask: &str| kernel(&format!("bar.warp.sync {mask}; ret;"));
    for seed in SEEDS {
        assert_eq!(fault_of(&source("0xffff"), 32, seed), FaultKind::InvalidWarpMask);
    }
    clean(&source("0xffffffff"), "all", 1, 32);
}

#[test]
fn a_fill_that_counts_elements_instead_of_bytes() {
    for (bytes, expected) in [(64, vec![FindingKind::UninitializedMemory]), (256, vec![])] {
        for seed in SEEDS {
            let source = kernel(
                "ld.global.b32 %r1, [%a]; add.u32 %r1, %r1, 1; st.global.b32 [%a], %r1; ret;",
            );
            let mut rig = rig(&source, "all", seed);
            let data = rig.machine.memory_mut().alloc(256, "data").unwrap();
            rig.machine.memory_mut().fill(data, &[0], bytes).unwrap();
            rig.launch("k", 1, 64, &params(data, 0)).unwrap_or_else(|fault| panic!("{fault}"));
            let found: Vec<FindingKind> =
                rig.machine.take_findings().iter().map(|found| found.kind()).collect();
            assert_eq!(found, expected, "seed {seed:?}");
        }
    }
}

#[test]
fn wrong_addresses_under_checks() {
    // Checks leave what is wrong with an address to the machine.
    for seed in SEEDS {
        let misaligned = kernel("add.u64 %rd1, %a, 1; st.global.b32 [%rd1], %t; ret;");
        assert_eq!(fault_of(&misaligned, 32, seed), FaultKind::MisalignedAddress);
        let outside = kernel("mov.u64 %rd1, 0x87654320; st.global.b32 [%rd1], %t; ret;");
        assert_eq!(fault_of(&outside, 32, seed), FaultKind::IllegalAddress);
    }
    let source = kernel("st.global.b32 [%a], %t; ld.global.b32 %r1, [%a+4]; trap;");
    let mut rig = rig(&source, "racecheck", None);
    let out = rig.words("out", &[0; 64]);
    rig.launch("k", 1, 32, &params(out, 0)).expect_err("trap");
    assert!(!rig.machine.take_findings().is_empty(), "findings outlive a fault");
    assert!(rig.machine.take_findings().is_empty(), "and are given once");
}
