//! Blocks that run on several threads of the host give what they give one after the other.

mod common;

use common::{kernel, kernel_with};
use ptx_emulator::{FaultKind, Jobs, Launch, Machine, MachineConfig, Program};

const BLOCKS: u32 = 23;
const THREADS: u32 = 48;
/// Words of the array that kernels get as `out`.
const WORDS: usize = (BLOCKS * THREADS) as usize;

/// Each block adds up what its threads have in shared memory, and all of them into the words at the start of `sums`.
const TREE: &str = "
    shl.b32 %r1, %t, 2; mov.u32 %r2, tile; add.s32 %r2, %r2, %r1;
    ld.global.b32 %r3, [%a]; st.shared.b32 [%r2], %r3; bar.sync 0;
    xor.b32 %r4, %t, 1; shl.b32 %r4, %r4, 2; mov.u32 %r5, tile; add.s32 %r4, %r5, %r4;
    ld.shared.b32 %r6, [%r4]; add.u32 %r3, %r3, %r6;
    and.b32 %r7, %t, 3; setp.eq.u32 %p1, %r7, 2; @%p1 bra SKIP;
    mul.lo.u32 %r3, %r3, 3; mad.lo.u32 %r3, %r3, %r3, %b;
SKIP:
    st.global.b32 [%a], %r3;
    mul.wide.u32 %rd1, %r7, 4; mov.u64 %rd2, sums; add.s64 %rd1, %rd1, %rd2;
    red.global.add.u32 [%rd1], %r3;
    ret;";

struct Outcome {
    result: Result<String, String>,
    memory: Vec<u8>,
    sums: Vec<u8>,
    counters: String,
}

fn config(jobs: Jobs, seed: Option<u64>, tags: bool) -> MachineConfig {
    let mut config = MachineConfig::default();
    config.jobs = jobs;
    config.schedule_seed = seed;
    config.affine_registers = tags;
    config.counters = true;
    config
}

fn run(body: &str, config: MachineConfig) -> Outcome {
    run_clusters(body, config, 1)
}

/// The same in clusters of so many blocks, of which there are as many as fit.
fn run_clusters(body: &str, config: MachineConfig, cluster: u32) -> Outcome {
    let items = ".global .align 16 .b8 sums[64];";
    let body = format!(".shared .align 8 .b8 tile[256];\n{body}");
    let mut source = kernel_with(items, &body);
    if cluster > 1 {
        source = source.replace("\n{\n.reg", &format!(" .reqnctapercluster {cluster}\n{{\n.reg"));
    }
    let program = Program::compile(&source).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = Machine::new(config);
    let module = machine.load(program.into()).expect("room");
    let out = machine.memory_mut().alloc(4 * WORDS as u64, "out").expect("room");
    for word in 0..WORDS as u64 {
        let value = (word as u32).wrapping_mul(0x9E37_79B9);
        machine.memory_mut().write(out + 4 * word, &value.to_le_bytes()).expect("allocated");
    }
    let mut params = out.to_le_bytes().to_vec();
    params.extend_from_slice(&(WORDS as u32).to_le_bytes());
    let (grid, block) = ([BLOCKS / cluster * cluster, 1, 1], [THREADS, 1, 1]);
    let launch = Launch { kernel: "k", grid, block, dynamic_shared_bytes: 0, params: &params };
    let result = machine.launch(module, &launch, &mut Vec::new());
    let mut memory = vec![0; 4 * WORDS];
    machine.memory().read(out, &mut memory).expect("allocated");
    let mut sums = vec![0; 64];
    let (address, _) = machine.global(module, "sums").expect("a variable");
    machine.memory().read(address, &mut sums).expect("allocated");
    Outcome {
        result: result.map(|r| format!("{r:?}")).map_err(|fault| fault.to_string()),
        memory,
        sums,
        counters: format!("{:?}", machine.take_counters()),
    }
}

fn word(bytes: &[u8], index: usize) -> u32 {
    let (words, _) = bytes.as_chunks();
    u32::from_le_bytes(words[index])
}

#[test]
fn any_number_of_jobs_gives_the_same() {
    for body in [
        TREE,
        // The order in which blocks come shows: such kernels run as one job.
        "mov.u64 %rd1, sums; atom.global.add.u32 %r1, [%rd1], 1; st.global.b32 [%a], %r1; ret;",
        "mov.u64 %rd1, sums; ld.global.b32 %r1, [%a]; and.b32 %r1, %r1, 0x3FFFFFFF; red.global.add.f32 [%rd1], %r1; ret;",
        "mov.u64 %rd1, sums; st.volatile.global.b32 [%rd1], %b; ret;",
    ] {
        for seed in [None, Some(1), Some(0xDEAD_BEEF)] {
            let one = run(body, config(Jobs::ONE, seed, true));
            assert!(one.result.is_ok(), "{:?}", one.result);
            for jobs in [1, 2, 3, 7] {
                for tags in [true, false] {
                    let found = run(body, config(Jobs::new(jobs), seed, tags));
                    let what = format!("{jobs} jobs, seed {seed:?}, tags {tags}: {body}");
                    assert_eq!(found.result, one.result, "{what}");
                    assert!(found.memory == one.memory && found.sums == one.sums, "{what}");
                    assert_eq!(found.counters, one.counters, "{what}");
                }
            }
        }
    }
}

/// Each thread sends a number to the next block of its cluster, and works on what it gets. Rank 0 waits in vain for arrivals from the
/// others again and again, for as many instructions as it takes; when they are gone, its second warp does so for the first one.
const RING: &str = "
    mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
    mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4; mapa.shared::cluster.u32 %r5, %r4, %r3;
    setp.eq.u32 %p1, %t, 0; mul.lo.u32 %r9, %r2, 48; @%p1 mbarrier.init.shared.b64 [tile+248], %r9;
    mov.u32 %r9, 32; @%p1 mbarrier.init.shared.b64 [tile+240], %r9;
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.global.b32 %r6, [%a]; st.shared::cluster.b32 [%r5], %r6; mov.u32 %r7, 0;
SLOW:
    add.u32 %r7, %r7, 1; mad.lo.u32 %r8, %r1, 37, %t; setp.lt.u32 %p2, %r7, %r8; @%p2 bra SLOW;
    mov.u32 %r10, tile; mapa.shared::cluster.u32 %r10, %r10, 0;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10+248];
    setp.ne.u32 %p3, %r1, 0; @%p3 bra MEET;
AGAIN:
    mbarrier.test_wait.parity.acquire.cluster.shared.b64 %p4, [tile+248], 0; @!%p4 bra AGAIN;
MEET:
    fence.acq_rel.cluster; barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.b32 %r6, [%r4]; mad.lo.u32 %r6, %r6, 5, %r1; st.global.b32 [%a], %r6;
    and.b32 %r7, %t, 3; mul.wide.u32 %rd1, %r7, 4; mov.u64 %rd2, sums; add.s64 %rd1, %rd1, %rd2;
    red.global.add.u32 [%rd1], %r6;
    @%p3 ret;
    setp.ge.u32 %p5, %t, 32; @%p5 bra LOOK; mov.u32 %r7, 0;
WORK:
    add.u32 %r7, %r7, 1; setp.lt.u32 %p6, %r7, 20000; @%p6 bra WORK;
    mbarrier.arrive.shared.b64 %rd5, [tile+240];
    ret;
LOOK:
    mbarrier.test_wait.parity.shared.b64 %p4, [tile+240], 0; @!%p4 bra LOOK;
    ret;";

#[test]
fn clusters_stay_together_whoever_runs_them() {
    for body in [
        RING.to_owned(),
        // The order in which clusters come shows: they run as one job.
        RING.replace(
            "red.global.add.u32 [%rd1], %r6;",
            "atom.global.add.u32 %r6, [%rd1], 1; st.global.b32 [%a], %r6;",
        ),
        // The clusters from the third on fail, in different blocks.
        RING.replace("MEET:", "MEET: setp.gt.u32 %p5, %b, 8; selp.b64 %a, 64, %a, %p5;"),
    ] {
        for cluster in [2, 3, 8] {
            for seed in [None, Some(1), Some(0xDEAD_BEEF)] {
                let one = run_clusters(&body, config(Jobs::ONE, seed, true), cluster);
                assert_eq!(one.result.is_ok(), !body.contains("selp"), "{:?}", one.result);
                for jobs in [2, 3, 7] {
                    for tags in [true, false] {
                        let found =
                            run_clusters(&body, config(Jobs::new(jobs), seed, tags), cluster);
                        let what = format!(
                            "{jobs} jobs, clusters of {cluster}, seed {seed:?}, tags {tags}: {body}"
                        );
                        assert_eq!(found.result, one.result, "{what}");
                        if one.result.is_ok() {
                            assert!(found.memory == one.memory && found.sums == one.sums, "{what}");
                            assert_eq!(found.counters, one.counters, "{what}");
                        }
                    }
                }
            }
        }
    }
    // What the blocks of the first cluster of two sent each other.
    let found = run_clusters(RING, config(Jobs::new(2), None, true), 2);
    let input = |word: u32| word.wrapping_mul(0x9E37_79B9);
    for word in 0..2 * THREADS {
        let (block, thread) = (word / THREADS, word % THREADS);
        let expected = input((1 - block) * THREADS + thread).wrapping_mul(5).wrapping_add(block);
        assert_eq!(self::word(&found.memory, word as usize), expected, "{word}");
    }
}

#[test]
fn clusters_in_any_order_each_get_their_turn() {
    let tickets = "barrier.cluster.arrive; barrier.cluster.wait;
        mov.u64 %rd1, sums; atom.global.add.u32 %r1, [%rd1], 1; st.global.b32 [%a], %r1; ret;";
    for jobs in [2, 3] {
        let found = run_clusters(tickets, config(Jobs::new(jobs).in_any_order(), None, true), 2);
        assert!(found.result.is_ok(), "{:?}", found.result);
        let threads = (BLOCKS / 2 * 2 * THREADS) as usize;
        let mut numbers: Vec<u32> = (0..threads).map(|index| word(&found.memory, index)).collect();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..threads as u32));
    }
}

#[test]
fn seeds_do_not_show_in_what_blocks_compute() {
    let fixed = run(TREE, config(Jobs::ONE, None, true));
    for seed in [1, 2, 42] {
        let found = run(TREE, config(Jobs::new(3), Some(seed), true));
        assert!(found.memory == fixed.memory && found.sums == fixed.sums, "seed {seed}");
        assert_eq!((found.result, found.counters), (fixed.result.clone(), fixed.counters.clone()));
    }
}

#[test]
fn the_first_block_that_fails_counts() {
    // Blocks 5 and up fail, the higher ones sooner; those from 20 on would never end.
    let body = "
        setp.ge.u32 %p1, %b, 20;
    FOREVER:
        @%p1 bra FOREVER;
        sub.s32 %r1, 20, %b; mul.lo.u32 %r1, %r1, 300;
    WAIT:
        sub.s32 %r1, %r1, 1; setp.gt.s32 %p2, %r1, 0; @%p2 bra WAIT;
        setp.lt.u32 %p3, %b, 5; @%p3 bra GOOD;
        mov.b64 %rd1, 64; ld.global.b32 %r2, [%rd1];
    GOOD:
        st.global.b32 [%a], %b; ret;";
    for seed in [None, Some(3)] {
        // With a seed an endless block may come before all that fail: then it is the fuel that ends the launch.
        let config = |jobs| {
            let mut config = config(Jobs::new(jobs), seed, true);
            config.fuel = Some(1 << 20);
            config
        };
        let one = run(body, config(1)).result.expect_err("a fault");
        let endless = one.contains("fuel") || one.contains("limit");
        assert!(seed.is_some() || one.contains("block (5, 0, 0)"), "{one}");
        for jobs in [2, 3, 7] {
            let found = run(body, config(jobs)).result.expect_err("a fault");
            if !endless {
                assert_eq!(found, one, "{jobs} jobs, seed {seed:?}");
            }
        }
    }
}

#[test]
fn all_jobs_share_the_fuel() {
    let endless = kernel("AGAIN: bra AGAIN;");
    for jobs in [1, 2, 5] {
        let mut config = config(Jobs::new(jobs), None, true);
        config.fuel = Some(200_000);
        let mut machine = Machine::new(config);
        let module = machine.load(common::compile(&endless)).expect("room");
        let launch = Launch {
            kernel: "k",
            grid: [9, 1, 1],
            block: [32, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[0; 12],
        };
        let fault = machine.launch(module, &launch, &mut Vec::new()).expect_err("no end");
        assert!(matches!(fault.kind(), FaultKind::FuelExhausted), "{fault}");
    }
}

#[test]
fn blocks_in_any_order_each_get_their_turn() {
    let tickets =
        "mov.u64 %rd1, sums; atom.global.add.u32 %r1, [%rd1], 1; st.global.b32 [%a], %r1; ret;";
    for jobs in [2, 3] {
        let found = run(tickets, config(Jobs::new(jobs).in_any_order(), None, true));
        assert!(found.result.is_ok(), "{:?}", found.result);
        let mut numbers: Vec<u32> = (0..WORDS).map(|index| word(&found.memory, index)).collect();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..WORDS as u32));
    }
}

#[test]
fn blocks_in_any_order_can_wait_for_each_other() {
    // One thread of each block arrives, then waits until all have.
    let barrier = "
        mov.u64 %rd1, sums; setp.ne.u32 %p1, %t, 0; @%p1 bra MET;
        membar.gl; atom.global.add.u32 %r1, [%rd1], 1;
    WAIT:
        ld.volatile.global.b32 %r2, [%rd1]; setp.lt.u32 %p2, %r2, 23; @%p2 bra WAIT;
    MET:
        bar.sync 0; st.global.b32 [%a], 1; ret;";
    // A lock around an addition that is not atomic.
    let lock = "
        mov.u64 %rd1, sums; setp.ne.u32 %p1, %t, 0; @%p1 bra DONE;
    TAKE:
        atom.global.cas.b64 %rd2, [%rd1+8], 0, 1; setp.ne.u64 %p2, %rd2, 0; @%p2 bra TAKE;
        membar.gl; ld.volatile.global.b32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.volatile.global.b32 [%rd1], %r2; membar.gl;
        atom.global.exch.b64 %rd3, [%rd1+8], 0;
    DONE:
        ret;";
    for body in [barrier, lock] {
        for jobs in [Jobs::ONE, Jobs::new(2).in_any_order(), Jobs::new(5).in_any_order()] {
            let found = run(body, config(jobs, None, true));
            assert!(found.result.is_ok(), "{:?}", found.result);
            assert_eq!(word(&found.sums, 0), BLOCKS, "{jobs}");
        }
    }
}
