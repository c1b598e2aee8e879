//! Clusters of several blocks: registers, each other's shared memory, the barrier, and what goes wrong with them.

mod common;

use std::collections::BTreeSet;

use common::{SEEDS, compile, kernel_with, params};
use ptx_emulator::{CheckSet, Coordination, Fault, FaultKind, Launch, Machine, MachineConfig};

/// Runs `k(out, n)` on clusters; gives `words` words of `out`, or the fault.
fn run(
    source: &str,
    (grid, cluster): ([u32; 3], [u32; 3]),
    block: u32,
    words: usize,
    config: MachineConfig,
) -> (Result<Vec<u32>, Box<Fault>>, Machine) {
    let mut machine = Machine::new(config);
    let module = machine.load(compile(source)).expect("the module's variables fit");
    let out = machine.memory_mut().alloc(4 * words as u64, "out").expect("there is memory");
    machine.memory_mut().fill(out, &[0xFF], 4 * words as u64).expect("just allocated");
    let params = params(out, 0);
    let launch = Launch {
        kernel: "k",
        grid,
        block: [block, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
    };
    let coordination = Coordination { cluster: Some(cluster), ..Coordination::default() };
    let result = machine.launch_together(module, &launch, coordination, &mut Vec::new());
    let mut bytes = vec![0; 4 * words];
    machine.memory().read(out, &mut bytes).expect("allocated");
    let found = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    (result.map(|_| found), machine)
}

fn seeded(seed: Option<u64>) -> MachineConfig {
    let mut config = MachineConfig::default();
    config.schedule_seed = seed;
    config
}

/// The same under every schedule.
#[track_caller]
fn outputs(source: &str, shape: ([u32; 3], [u32; 3]), block: u32, words: usize) -> Vec<u32> {
    let results: BTreeSet<Vec<u32>> = SEEDS
        .iter()
        .map(|seed| match run(source, shape, block, words, seeded(*seed)).0 {
            Ok(found) => found,
            Err(fault) => panic!("seed {seed:?}: {fault}"),
        })
        .collect();
    assert_eq!(results.len(), 1, "the schedule shows");
    results.into_iter().next().expect("one")
}

#[track_caller]
fn fault(source: &str, shape: ([u32; 3], [u32; 3])) -> (FaultKind, String) {
    let (result, _) = run(source, shape, 32, 1024, MachineConfig::default());
    let fault = result.expect_err("the kernel is wrong");
    (fault.kind().clone(), fault.to_string())
}

const TILE: &str = ".shared .align 8 .b8 first[16]; .shared .align 8 .b8 tile[256];";
const SYNC: &str = "barrier.cluster.arrive; barrier.cluster.wait;";

#[test]
fn registers_say_where_a_block_is() {
    let names = ["%ctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];
    let mut body = "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
         mov.u32 %r5, %ctaid.z; mad.lo.u32 %r4, %r5, %r2, %r4; mad.lo.u32 %r4, %r4, %r1, %r3;
         mad.wide.u32 %rd1, %r4, 72, %o;\n"
        .to_owned();
    let mut at = 0;
    for name in names {
        for axis in ["x", "y", "z"] {
            body += &format!("mov.u32 %r6, {name}.{axis}; st.global.u32 [%rd1+{at}], %r6;\n");
            at += 4;
        }
    }
    body += "mov.u32 %r6, %cluster_ctarank; st.global.u32 [%rd1+60], %r6;
         mov.u32 %r6, %cluster_nctarank; st.global.u32 [%rd1+64], %r6;
         mov.pred %p1, %is_explicit_cluster; selp.u32 %r6, 1, 0, %p1; st.global.u32 [%rd1+68], %r6; ret;";
    let (grid, cluster) = ([4, 6, 2], [2, 3, 1]);
    let found = outputs(&kernel_with("", &body), (grid, cluster), 1, 48 * 18);
    for (linear, row) in found.chunks_exact(18).enumerate() {
        let linear = linear as u32;
        let block = [linear % 4, linear / 4 % 6, linear / 24];
        let mut expected = Vec::from(block);
        expected.extend([0, 1, 2].map(|axis| block[axis] / cluster[axis]));
        expected.extend([0, 1, 2].map(|axis| grid[axis] / cluster[axis]));
        let inner = [0, 1, 2].map(|axis| block[axis] % cluster[axis]);
        expected.extend(inner);
        expected.extend(cluster);
        expected.extend([inner[0] + 2 * inner[1], 6, 1]);
        assert_eq!(row, expected, "block {linear}");
    }
}

/// Each block writes to the next one's tile, and reads its own and the one before's, by either kind of address.
fn ring(store: &str, load: &str) -> String {
    kernel_with(
        TILE,
        &format!(
            "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
             add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
             mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4;
             mapa.shared::cluster.u32 %r5, %r4, %r3;
             cvta.shared.u64 %rd1, tile; mad.wide.u32 %rd1, %t, 4, %rd1; mapa.u64 %rd2, %rd1, %r3;
             mad.lo.u32 %r6, %b, 1000, %t;
             {store}
             {SYNC}
             {load}
             {SYNC}
             st.global.u32 [%a], %r7; ret;"
        ),
    )
}

#[test]
fn blocks_reach_each_others_shared_memory() {
    let own = "ld.shared.u32 %r7, [%r4];";
    // What this block wrote to the next, read there.
    let remote = "ld.shared::cluster.u32 %r7, [%r5];";
    for (store, load, is_remote) in [
        ("st.shared::cluster.u32 [%r5], %r6;", own, false),
        ("st.u32 [%rd2], %r6;", own, false),
        ("st.shared::cluster.u32 [%r5], %r6;", remote, true),
        ("st.shared::cluster.u32 [%r5], %r6;", "ld.u32 %r7, [%rd2];", true),
        ("st.u32 [%rd2], %r6;", "mapa.u64 %rd1, %rd2, %r1; ld.u32 %r7, [%rd1];", false),
    ] {
        for blocks in [2, 3, 8] {
            let found = outputs(&ring(store, load), ([24, 1, 1], [blocks, 1, 1]), 40, 24 * 40);
            for (at, value) in (0..).zip(found) {
                let (block, thread) = (at / 40, at % 40);
                let before = block / blocks * blocks + (block % blocks + blocks - 1) % blocks;
                let writer = if is_remote { block } else { before };
                assert_eq!(value, 1000 * writer + thread, "{store} {load} {blocks}");
            }
        }
    }
}

#[test]
fn own_addresses_have_the_rank() {
    let body = "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r2, %r1, %cluster_ctarank;
         getctarank.shared::cluster.u32 %r3, %r1; cvta.shared.u64 %rd1, tile; getctarank.u64 %r4, %rd1;
         setp.eq.u32 %p1, %r1, %r2; selp.u32 %r5, 100, 0, %p1;
         mad.lo.u32 %r5, %r3, 10, %r5; add.u32 %r5, %r5, %r4; st.global.u32 [%a], %r5; ret;";
    let found = outputs(&kernel_with(TILE, body), ([4, 1, 1], [4, 1, 1]), 1, 4);
    assert_eq!(found, [100, 111, 122, 133]);
}

#[test]
fn generic_addresses_tell_whose_they_are() {
    let body = "cvta.shared.u64 %rd1, tile; mapa.u64 %rd2, %rd1, 1; mov.u32 %r1, 0;
         isspacep.shared %p1, %rd1; selp.u32 %r2, 1, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.shared::cta %p1, %rd2; selp.u32 %r2, 2, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.shared::cluster %p1, %rd2; selp.u32 %r2, 4, 0, %p1; or.b32 %r1, %r1, %r2;
         isspacep.shared::cluster %p1, %o; selp.u32 %r2, 8, 0, %p1; or.b32 %r1, %r1, %r2;
         st.global.u32 [%a], %r1; ret;";
    let found = outputs(&kernel_with(TILE, body), ([4, 1, 1], [2, 1, 1]), 1, 4);
    assert_eq!(found, [5, 7, 5, 7]);
}

#[test]
fn lanes_of_one_warp_reach_different_blocks() {
    // Lane t reads word t of block t % 4, and adds 1 to word 32 + t % 4 of that block.
    let body = format!(
        "mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 4, %r1; mad.lo.u32 %r3, %b, 100, %t;
         st.shared.u32 [%r2], %r3; mov.u32 %r9, 0; st.shared.u32 [%r2+128], %r9;
         {SYNC}
         and.b32 %r4, %t, 3; mapa.shared::cluster.u32 %r5, %r2, %r4; ld.shared::cluster.u32 %r6, [%r5];
         mad.lo.u32 %r7, %r4, 4, %r1; mapa.shared::cluster.u32 %r7, %r7, %r4;
         atom.shared::cluster.add.u32 %r8, [%r7+128], 1;
         {SYNC}
         ld.shared.u32 %r8, [%r2+128]; mad.lo.u32 %r6, %r8, 10000, %r6;
         st.global.u32 [%a], %r6; ret;"
    );
    let found = outputs(&kernel_with(TILE, &body), ([8, 1, 1], [4, 1, 1]), 32, 256);
    for (at, value) in (0..).zip(found) {
        let (block, lane) = (at / 32, at % 32);
        let read = 100 * (block / 4 * 4 + lane % 4) + lane;
        // 8 lanes of each of 4 blocks.
        let count = if lane == block % 4 { 32 } else { 0 };
        assert_eq!(value, 10_000 * count + read, "block {block} lane {lane}");
    }
}

#[test]
fn an_arrival_does_not_wait() {
    // Rank 0 arrives, and waits for the barrier only once rank 1, which is past its arrival, has told it to in global memory.
    let body = "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; mov.u32 %r3, 1;
         barrier.cluster.arrive;
         @%p1 bra SPIN;
         st.release.gpu.global.u32 [%o+8], %r3;
         bra WAIT;
         SPIN: ld.acquire.gpu.global.u32 %r2, [%o+8]; setp.ne.u32 %p2, %r2, 1; @%p2 bra SPIN;
         WAIT: barrier.cluster.wait;
         st.global.u32 [%a], %r3; ret;";
    assert_eq!(outputs(&kernel_with("", body), ([2, 1, 1], [2, 1, 1]), 1, 3), [1, 1, 1]);
    // And who exits is not waited for.
    let body = format!("setp.eq.u32 %p1, %b, 1; @%p1 ret; {SYNC} st.global.u32 [%a], 7; ret;");
    assert_eq!(outputs(&kernel_with("", &body), ([2, 1, 1], [2, 1, 1]), 1, 2), [7, u32::MAX]);
}

#[test]
fn phases_follow_each_other() {
    // In each of 20 rounds every block gives its number to the next; blocks get on at different speeds.
    let body = "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
         mov.u32 %r4, tile; mapa.shared::cluster.u32 %r5, %r4, %r3; mov.u32 %r6, %b; mov.u32 %r7, 0;
         barrier.cluster.arrive; barrier.cluster.wait;
         AGAIN: st.shared::cluster.u32 [%r5], %r6;
         barrier.cluster.arrive; barrier.cluster.wait;
         ld.shared.u32 %r6, [%r4]; add.u32 %r6, %r6, 100;
         mul.lo.u32 %r8, %r1, 10;
         SLOW: setp.eq.u32 %p1, %r8, 0; @%p1 bra DONE; sub.u32 %r8, %r8, 1; bra SLOW;
         DONE: barrier.cluster.arrive; barrier.cluster.wait;
         add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 20; @%p1 bra AGAIN;
         st.global.u32 [%a], %r6; ret;";
    for blocks in [2, 4, 8] {
        let found = outputs(&kernel_with(TILE, body), ([16, 1, 1], [blocks, 1, 1]), 1, 16);
        let first = |at: u32| at / blocks * blocks;
        let came = |at: u32| first(at) + (at % blocks + 20 * blocks - 20) % blocks;
        let expected: Vec<u32> = (0..16).map(|at| 2000 + came(at)).collect();
        assert_eq!(found, expected, "{blocks}");
    }
}

#[test]
fn a_block_arrives_at_anothers_mbarrier() {
    // Rank 0 waits for 32 arrivals of rank 1 at its object, and then reads what rank 1 has written.
    let body = format!(
        "mov.u32 %r1, first; mov.u32 %r2, %cluster_ctarank; mov.u32 %r9, 32;
         setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%r1], %r9;
         {SYNC}
         mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4;
         mapa.shared::cluster.u32 %r5, %r1, 0; mapa.shared::cluster.u32 %r6, %r4, 0; mov.u32 %r7, 5;
         setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;
         add.u32 %r7, %t, 500; st.shared::cluster.u32 [%r6], %r7;
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
         bra END;
         WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra WAIT;
         ld.shared.u32 %r7, [%r4];
         END: st.global.u32 [%a], %r7;
         {SYNC} ret;"
    );
    let found = outputs(&kernel_with(TILE, &body), ([4, 1, 1], [2, 1, 1]), 32, 128);
    let expected: Vec<u32> = (0..128).map(|at| 500 + at % 32).collect();
    assert_eq!(found, expected);
}

#[test]
fn misuse_is_named() {
    let pair = ([2, 1, 1], [2, 1, 1]);
    let wait = kernel_with("", "barrier.cluster.wait; ret;");
    let (kind, text) = fault(&wait, pair);
    assert_eq!(kind, FaultKind::InvalidBarrier);
    assert!(
        text.contains("waits at the barrier of the cluster at which it did not arrive"),
        "{text}"
    );
    let (kind, text) =
        fault(&kernel_with("", "barrier.cluster.arrive; barrier.cluster.arrive; ret;"), pair);
    assert_eq!(kind, FaultKind::InvalidBarrier);
    assert!(text.contains("arrives at the barrier of the cluster twice"), "{text}");
    let beyond = "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r1, %r1, 2; ld.shared::cluster.u32 %r2, [%r1]; ret;";
    let (kind, text) = fault(&kernel_with(TILE, beyond), pair);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("the cluster has no block of rank 2"), "{text}");
    let behind = "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r1, %r1, 1; ld.shared::cluster.u32 %r2, [%r1+256]; ret;";
    let (kind, text) = fault(&kernel_with(TILE, behind), pair);
    assert_eq!(kind, FaultKind::IllegalAddress);
    let past = "0 bytes past the end of `tile` (256 bytes)";
    let whose = "in the shared memory of the cluster's block of rank 1, block (1, 0, 0)";
    assert!(text.contains(past) && text.contains(whose), "{text}");
    // Blocks have to stay until nobody reaches into them any more.
    let late =
        "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r1, %r1, 1; setp.eq.u32 %p1, %b, 1; @%p1 ret;
         barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r2, [%r1]; ret;";
    let (kind, text) = fault(&kernel_with(TILE, late), pair);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("the cluster's block of rank 1, block (1, 0, 0), has ended"), "{text}");
    assert!(text.contains("end the kernel with a barrier of the cluster"), "{text}");
    // A barrier of the block that a block of the cluster never completes is a deadlock as ever.
    let stuck = "setp.eq.u32 %p1, %b, 1; @!%p1 bra C; bar.sync 1, 64; C: barrier.cluster.arrive; barrier.cluster.wait; ret;";
    assert_eq!(fault(&kernel_with("", stuck), pair).0, FaultKind::Deadlock);
}

#[test]
fn grids_are_made_of_whole_clusters_of_at_most_8() {
    let nothing = kernel_with("", "ret;");
    let (_, text) = fault(&nothing, ([3, 1, 1], [2, 1, 1]));
    assert!(
        text.contains(
            "the grid is (3, 1, 1); it cannot be divided into clusters of (2, 1, 1) blocks"
        ),
        "{text}"
    );
    for cluster in [[9, 1, 1], [3, 3, 1], [0, 1, 1], [u32::MAX; 3]] {
        let (kind, text) = fault(&nothing, ([9, 9, 9], cluster));
        assert!(matches!(kind, FaultKind::BadLaunch(_)));
        assert!(text.contains("clusters of 1 to 8 blocks are possible"), "{text}");
    }
    let for_pairs = nothing.replace("\n{\n.reg", " .reqnctapercluster 2\n{\n.reg");
    assert!(run(&for_pairs, ([2, 1, 1], [2, 1, 1]), 32, 1, MachineConfig::default()).0.is_ok());
    let (_, text) = fault(&for_pairs, ([4, 1, 1], [4, 1, 1]));
    assert!(text.contains("compiled for clusters of exactly (2, 1, 1) blocks"), "{text}");
    assert!(run(&nothing, ([4, 4, 2], [2, 2, 2]), 32, 1, MachineConfig::default()).0.is_ok());
}

#[test]
fn checks_see_a_clusters_barrier_and_writes_from_outside() {
    let sets = ["racecheck", "initcheck", "synccheck"];
    let findings = |source: &str, check: &str| {
        let mut config = MachineConfig::default();
        config.checks = check.parse::<CheckSet>().expect("a check");
        let (result, mut machine) = run(source, ([4, 1, 1], [2, 1, 1]), 64, 256, config);
        result.expect("the kernel ends");
        machine.take_findings()
    };
    let right = ring("st.shared::cluster.u32 [%r5], %r6;", "ld.shared.u32 %r7, [%r4];");
    for check in sets {
        assert!(findings(&right, check).is_empty(), "{check}");
    }
    // Without the write to its own tile a block reads what nobody has written.
    let unwritten = ring("", "ld.shared.u32 %r7, [%r4];");
    assert_eq!(findings(&unwritten, "initcheck").len(), 1);
    // The barrier orders accesses inside of the block too; without it they race.
    let turned = |sync: &str| {
        kernel_with(
            TILE,
            &format!(
                "mov.u32 %r4, tile; mad.lo.u32 %r5, %t, 4, %r4; xor.b32 %r6, %t, 32;
                 mad.lo.u32 %r6, %r6, 4, %r4; st.shared.u32 [%r5], %t; {sync}
                 ld.shared.u32 %r7, [%r6]; st.global.u32 [%a], %r7; ret;"
            ),
        )
    };
    assert!(findings(&turned(SYNC), "racecheck").is_empty());
    assert!(!findings(&turned(""), "racecheck").is_empty());
}
