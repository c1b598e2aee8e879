//! Hazards between blocks, and the ways in which blocks may hand data over.

use ptx_emulator::{FindingKind, Severity};

use crate::common::{kernel, kernel_with};
use crate::support::{clean, findings_of, kinds, races};

#[test]
fn a_counter_without_an_atomic() {
    let plain = "ld.global.b32 %r1, [%o]; add.u32 %r1, %r1, 1; st.global.b32 [%o], %r1; ret;";
    races(&kernel(plain), 4, 1);
    races(&kernel(plain), 1, 2);
    races(&kernel(plain), 1, 64);
    clean(&kernel(plain), "racecheck", 1, 1);
    clean(&kernel("red.global.add.u32 [%o], 1; ret;"), "racecheck", 4, 64);
    clean(
        &kernel("atom.global.inc.u32 %r1, [%o], 100; st.global.b32 [%a+64], %r1; ret;"),
        "racecheck",
        4,
        16,
    );
    // An atomic of the block's scope is none for other blocks.
    races(&kernel("setp.eq.u32 %p1, %t, 0; @%p1 red.cta.global.add.u32 [%o], 1; ret;"), 4, 32);
    clean(&kernel("red.cta.global.add.u32 [%o], 1; ret;"), "racecheck", 1, 64);
}

#[test]
fn each_thread_its_own_word() {
    clean(&kernel("ld.global.b32 %r1, [%a]; st.global.b32 [%a], %t; ret;"), "racecheck", 4, 64);
    // The neighbour's word: in the warp, in the block, in the next block.
    races(&kernel("st.global.b32 [%a], %t; ld.global.b32 %r1, [%a+4]; ret;"), 2, 64);
    races(&kernel("st.global.b32 [%a], %t; bar.sync 0; ld.global.b32 %r1, [%a+4]; ret;"), 2, 64);
    clean(
        &kernel("st.global.b32 [%a], %t; bar.sync 0; ld.global.b32 %r1, [%a+4]; ret;"),
        "racecheck",
        1,
        64,
    );
}

#[test]
fn launches_order_everything() {
    for seed in crate::common::SEEDS {
        let source = kernel("st.global.b32 [%a], %t; ld.global.b32 %r1, [%a]; ret;");
        let mut rig = crate::support::rig(&source, "racecheck", seed);
        let out = rig.words("out", &[0; 256]);
        for shift in [0, 4, 8] {
            let params = crate::common::params(out + shift, 0);
            rig.launch("k", 2, 64, &params).unwrap_or_else(|fault| panic!("{fault}"));
        }
        assert_eq!(rig.machine.take_findings(), []);
    }
}

/// Each block stores a word, publishes it, and the last block to come reads them all.
fn last_block(before: &str, after: &str) -> String {
    kernel_with(
        ".global .u32 done; .shared .u32 last;",
        &format!(
            "setp.eq.u32 %p1, %t, 0;
             mul.wide.u32 %rd1, %b, 4;
             add.u64 %rd1, %rd1, %o;
             mov.u64 %rd2, done;
             mov.u64 %rd3, last;
             @%p1 st.global.b32 [%rd1], %b;
             {before}
             @%p1 atom.global.inc.u32 %r1, [%rd2], 1000;
             {after}
             mov.u32 %r2, %nctaid.x;
             sub.u32 %r2, %r2, 1;
             setp.eq.u32 %p2, %r1, %r2;
             selp.b32 %r3, 1, 0, %p2;
             @%p1 st.shared.b32 [%rd3], %r3;
             bar.sync 0;
             ld.shared.b32 %r3, [%rd3];
             setp.eq.u32 %p3, %r3, 0;
             @%p3 bra END;
             setp.ge.u32 %p4, %t, %r2;
             @%p4 bra RESET;
             mul.wide.u32 %rd4, %t, 4;
             add.u64 %rd4, %rd4, %o;
             ld.global.b32 %r4, [%rd4];
         RESET:
             bar.sync 0;
             @%p1 st.global.b32 [%rd2], 0;
             @%p1 st.global.b32 [%o], 7;
         END:
             ret;"
        ),
    )
}

#[test]
fn the_last_block_sums_up() {
    clean(&last_block("membar.gl;", ""), "racecheck", 8, 64);
    clean(&last_block("membar.gl;", "membar.gl;"), "racecheck", 8, 64);
    clean(&last_block("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"), "racecheck", 8, 64);
    clean(&last_block("membar.gl; bar.sync 0;", ""), "racecheck", 8, 64);
    // Without a fence, or with one that other blocks do not count on.
    races(&last_block("", ""), 8, 64);
    races(&last_block("membar.cta;", "membar.cta;"), 8, 64);
    races(&last_block("bar.sync 0;", "membar.gl;"), 8, 64);
}

#[test]
fn all_threads_of_the_last_block_count() {
    // Every thread stores, then its block's first thread publishes for all of them.
    let source = |publish: &str| {
        kernel_with(
            ".global .u32 done; .shared .u32 last;",
            &format!(
                "st.global.b32 [%a], %t;
                 mov.u64 %rd2, done;
                 mov.u64 %rd3, last;
                 setp.eq.u32 %p1, %t, 0;
                 {publish}
                 @%p1 atom.global.add.u32 %r1, [%rd2], 1;
                 @%p1 st.shared.b32 [%rd3], %r1;
                 bar.sync 0;
                 ld.shared.b32 %r1, [%rd3];
                 mov.u32 %r2, %nctaid.x;
                 sub.u32 %r2, %r2, 1;
                 setp.ne.u32 %p2, %r1, %r2;
                 @%p2 bra END;
                 add.u32 %r4, %g, 64;
                 and.b32 %r4, %r4, 255;
                 mad.wide.u32 %rd4, %r4, 4, %o;
                 ld.global.b32 %r4, [%rd4];
             END:
                 ret;"
            ),
        )
    };
    clean(&source("bar.sync 0; @%p1 membar.gl;"), "racecheck", 4, 64);
    clean(&source("membar.gl; bar.sync 0;"), "racecheck", 4, 64);
    // The others go on to their next fence before the first thread has told of the last one.
    let ahead = "membar.gl; bar.sync 0; @!%p1 membar.gl;";
    clean(&source(ahead), "racecheck", 4, 64);
    races(&source("membar.gl;"), 4, 64);
    races(&source("@%p1 membar.gl; bar.sync 0;"), 4, 64);
}

/// Blocks take turns with a lock in global memory.
fn locked(lock: &str, unlock: &str) -> String {
    kernel_with(
        ".global .u32 lock; .global .u32 sum;",
        &format!(
            "setp.ne.u32 %p1, %t, 0;
             @%p1 bra END;
             mov.u64 %rd1, lock;
             mov.u64 %rd2, sum;
         SPIN:
             {lock}
             @%p2 bra SPIN;
             ld.global.b32 %r2, [%rd2];
             add.u32 %r2, %r2, 1;
             st.global.b32 [%rd2], %r2;
             {unlock}
         END:
             ret;"
        ),
    )
}

#[test]
fn spin_locks() {
    let cas = "atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p2, %r1, 0;";
    let acquire = "atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p2, %r1, 0;";
    clean(&locked(cas, "membar.gl; atom.global.exch.b32 %r3, [%rd1], 0;"), "racecheck", 5, 32);
    clean(&locked(acquire, "st.release.gpu.global.b32 [%rd1], 0;"), "racecheck", 5, 32);
    clean(&locked(acquire, "atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;"), "racecheck", 5, 32);
    clean(&locked(cas, "membar.gl; st.volatile.global.b32 [%rd1], 0;"), "racecheck", 5, 32);
    // Nothing says that the sum comes before the unlocking.
    races(&locked(cas, "atom.global.exch.b32 %r3, [%rd1], 0;"), 5, 32);
    races(&locked(cas, "membar.cta; atom.global.exch.b32 %r3, [%rd1], 0;"), 5, 32);
    races(&locked(acquire, "st.release.cta.global.b32 [%rd1], 0;"), 5, 32);
    // A plain store to the lock.
    races(&locked(cas, "membar.gl; st.global.b32 [%rd1], 0;"), 5, 32);
}

/// Decoupled look-back: each block waits for the sum of the one before, adds its own, publishes.
fn look_back(publish: &str, look: &str) -> String {
    kernel_with(
        ".global .align 8 .b8 state[512]; .global .u32 next; .shared .u32 ticket;",
        &format!(
            "setp.ne.u32 %p1, %t, 0;
             @%p1 bra END;
             mov.u64 %rd1, next;
             atom.global.add.u32 %r1, [%rd1], 1;
             mov.u64 %rd2, state;
             mad.wide.u32 %rd2, %r1, 8, %rd2;
             mov.b32 %r2, 0;
             setp.eq.u32 %p2, %r1, 0;
             @%p2 bra FIRST;
         WAIT:
             {look}
             setp.eq.u32 %p3, %r3, 0;
             @%p3 bra WAIT;
             ld.global.b32 %r2, [%rd2+-4];
         FIRST:
             add.u32 %r2, %r2, %r1;
             st.global.b32 [%rd2+4], %r2;
             {publish}
             mul.wide.u32 %rd3, %r1, 4;
             add.u64 %rd3, %rd3, %o;
             st.global.b32 [%rd3], %r2;
         END:
             ret;"
        ),
    )
}

#[test]
fn decoupled_look_back() {
    let acquire = "ld.acquire.gpu.global.b32 %r3, [%rd2+-8];";
    let volatile = "ld.volatile.global.b32 %r3, [%rd2+-8];";
    let release = "st.release.gpu.global.b32 [%rd2], 1;";
    clean(&look_back(release, acquire), "racecheck", 40, 32);
    clean(
        &look_back("membar.gl; st.volatile.global.b32 [%rd2], 1;", volatile),
        "racecheck",
        40,
        32,
    );
    clean(
        &look_back(
            "fence.acq_rel.gpu; st.relaxed.gpu.global.b32 [%rd2], 1;",
            "ld.relaxed.gpu.global.b32 %r3, [%rd2+-8]; fence.acq_rel.gpu;",
        ),
        "racecheck",
        40,
        32,
    );
    clean(
        &look_back(
            "membar.gl; atom.global.exch.b32 %r9, [%rd2], 1;",
            "atom.global.or.b32 %r3, [%rd2+-8], 0;",
        ),
        "racecheck",
        40,
        32,
    );
    races(&look_back("st.volatile.global.b32 [%rd2], 1;", volatile), 40, 32);
    races(&look_back("st.release.cta.global.b32 [%rd2], 1;", acquire), 40, 32);
}

/// A barrier of the whole grid: every block reads what another wrote before it.
fn grid_barrier(arrive: &str, spin: &str) -> String {
    kernel_with(
        ".global .u32 arrived;",
        &format!(
            "st.global.b32 [%a], %t;
             ld.global.b32 %r9, [%o+1020];
             bar.sync 0;
             setp.ne.u32 %p1, %t, 0;
             mov.u64 %rd1, arrived;
             mov.u32 %r1, %nctaid.x;
             @%p1 bra MET;
             {arrive}
         SPIN:
             {spin}
             setp.lt.u32 %p2, %r2, %r1;
             @%p2 bra SPIN;
             membar.gl;
         MET:
             bar.sync 0;
             mov.u32 %r3, %ntid.x;
             mul.lo.u32 %r4, %r3, %r1;
             sub.u32 %r4, %r4, 1;
             sub.u32 %r4, %r4, %g;
             mul.wide.u32 %rd2, %r4, 4;
             add.u64 %rd2, %rd2, %o;
             ld.global.b32 %r5, [%rd2];
             setp.eq.u32 %p3, %g, 0;
             @%p3 st.global.b32 [%o+1020], %r5;
             ret;"
        ),
    )
}

#[test]
fn barriers_of_the_grid() {
    let volatile = "ld.volatile.global.b32 %r2, [%rd1];";
    // Six blocks of 32: the last word of the output, 1020 bytes in, is read by all before, and written by one after.
    clean(
        &grid_barrier("membar.gl; atom.global.add.u32 %r2, [%rd1], 1;", volatile),
        "racecheck",
        6,
        32,
    );
    clean(
        &grid_barrier(
            "atom.acq_rel.gpu.global.add.u32 %r2, [%rd1], 1;",
            "ld.acquire.gpu.global.b32 %r2, [%rd1];",
        ),
        "racecheck",
        6,
        32,
    );
    races(&grid_barrier("atom.global.add.u32 %r2, [%rd1], 1;", volatile), 6, 32);
}

#[test]
fn flags_in_shared_memory() {
    let source = |set: &str, test: &str| {
        kernel_with(
            ".shared .u32 flag; .shared .u32 data;",
            &format!(
                "mov.u64 %rd1, flag; mov.u64 %rd2, data;
                 setp.eq.u32 %p1, %t, 0;
                 @%p1 st.shared.b32 [%rd1], 0;
                 bar.sync 0;
                 setp.eq.u32 %p2, %t, 32;
                 @%p1 bra SET;
                 @%p2 bra TEST;
                 bra END;
             SET:
                 st.shared.b32 [%rd2], 9;
                 {set}
                 bra END;
             TEST:
                 {test}
                 setp.eq.u32 %p3, %r1, 0;
                 @%p3 bra TEST;
                 ld.shared.b32 %r2, [%rd2];
             END:
                 ret;"
            ),
        )
    };
    clean(
        &source("st.release.cta.shared.b32 [%rd1], 1;", "ld.acquire.cta.shared.b32 %r1, [%rd1];"),
        "racecheck",
        2,
        64,
    );
    clean(
        &source(
            "membar.cta; st.volatile.shared.b32 [%rd1], 1;",
            "ld.volatile.shared.b32 %r1, [%rd1];",
        ),
        "racecheck",
        2,
        64,
    );
    races(
        &source("st.volatile.shared.b32 [%rd1], 1;", "ld.volatile.shared.b32 %r1, [%rd1];"),
        2,
        64,
    );
}

#[test]
fn constant_data_that_is_not_constant() {
    let source =
        |at: &str| kernel(&format!("st.global.b32 [%a], %t; ld.global.nc.b32 %r1, [{at}]; ret;"));
    // The own word: ordered, and wrong nevertheless.
    assert_eq!(kinds(&source("%a"), "racecheck", 1, 32), [FindingKind::NonCoherentRead]);
    clean(
        &kernel("ld.global.nc.b32 %r1, [%o+1024]; st.global.b32 [%a], %r1; ret;")
            .replace("1024", "8"),
        "racecheck",
        1,
        1,
    );
    let found = findings_of(
        &kernel("ld.global.nc.b32 %r1, [%a]; st.global.b32 [%a], %r1; ret;"),
        "racecheck",
        1,
        32,
        None,
    );
    assert_eq!(
        (found[0].kind(), found[0].severity()),
        (FindingKind::NonCoherentRead, Severity::Error)
    );
    // Read only.
    clean(&kernel("ld.global.nc.b32 %r1, [%o]; ret;"), "racecheck", 4, 64);
}

#[test]
fn generic_addresses_are_the_same_memory() {
    let source = |between: &str| {
        kernel_with(
            ".shared .align 4 .b8 tile[512];",
            &format!(
                "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1; st.shared.b32 [%rd2], %t;
                 {between}
                 cvta.shared.u64 %rd3, %rd1; xor.b32 %r1, %t, 33; mad.wide.u32 %rd3, %r1, 4, %rd3;
                 ld.b32 %r2, [%rd3]; ret;"
            ),
        )
    };
    races(&source(""), 1, 64);
    clean(&source("bar.sync 0;"), "racecheck", 1, 64);
}
