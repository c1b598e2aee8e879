//! Hazards within a block and within a warp.

use ptx_emulator::{FindingKind, Severity};

use crate::common::kernel_with;
use crate::support::{clean, findings_of, kinds, races, texts};

const TILE: &str = ".shared .align 16 .b8 tile[4096];";

/// `%rd1` is the address of the thread's own word, `%rd2` that of its neighbour's (the next thread, the last one's is the first).
const OWN: &str = "mov.u64 %rd1, tile;
         mov.u64 %rd2, tile;
         mov.u32 %r1, %ntid.x;
         mad.wide.u32 %rd1, %t, 4, %rd1;
         add.u32 %r2, %t, 1;
         rem.u32 %r2, %r2, %r1;
         mad.wide.u32 %rd2, %r2, 4, %rd2;";

fn tile(body: &str) -> String {
    kernel_with(TILE, &format!("{OWN}\n{body}\nret;"))
}

/// Writes the own word, then reads the neighbour's, with `between` in between.
fn exchange(between: &str) -> String {
    tile(&format!(
        "st.shared.b32 [%rd1], %t; {between} ld.shared.b32 %r3, [%rd2]; st.global.b32 [%a], %r3;"
    ))
}

#[test]
fn a_missing_barrier_between_warps() {
    races(&exchange(""), 2, 64);
    // A warp barrier orders the lanes, not the warps.
    races(&exchange("bar.warp.sync 0xffffffff;"), 2, 64);
    clean(&exchange("bar.sync 0;"), "racecheck", 2, 64);
    clean(&exchange("barrier.sync 3;"), "racecheck", 2, 64);
    clean(&exchange("bar.sync 1, 64;"), "racecheck", 2, 64);
    clean(&exchange("barrier.cluster.arrive; barrier.cluster.wait;"), "racecheck", 2, 64);
}

#[test]
fn a_missing_barrier_within_a_warp() {
    races(&exchange(""), 1, 32);
    clean(&exchange("bar.warp.sync 0xffffffff;"), "racecheck", 1, 32);
    clean(&exchange("bar.sync 0;"), "racecheck", 1, 32);
    // Other warp operations order the lanes too.
    clean(&exchange("shfl.sync.idx.b32 %r5, %t, 0, 31, 0xffffffff;"), "racecheck", 1, 32);
    clean(&exchange("vote.sync.any.pred %p1, 1, 0xffffffff;"), "racecheck", 1, 32);
    // A warp of 20 threads meets with the full mask, which names lanes that do not exist.
    clean(&exchange("bar.warp.sync 0xffffffff;"), "racecheck", 1, 20);
    races(&exchange("membar.cta;"), 1, 32);
}

#[test]
fn parts_of_a_warp() {
    // The lower and the upper half exchange values among themselves only.
    let halves = |between: &str| {
        tile(&format!(
            "and.b32 %r6, %t, 16;
             mov.b32 %r7, 0xffff;
             shl.b32 %r7, %r7, %r6;
             st.shared.b32 [%rd1], %t;
             {between}
             xor.b32 %r8, %t, 1;
             mov.u64 %rd3, tile;
             mad.wide.u32 %rd3, %r8, 4, %rd3;
             ld.shared.b32 %r3, [%rd3];
             st.global.b32 [%a], %r3;"
        ))
    };
    races(&halves(""), 1, 32);
    clean(&halves("bar.warp.sync %r7;"), "racecheck", 1, 32);
    // The neighbour of lane 15 is in the other half.
    races(
        &exchange(
            "setp.lt.u32 %p1, %t, 16; selp.b32 %r7, 0xffff, 0xffff0000, %p1; bar.warp.sync %r7;",
        ),
        1,
        32,
    );
}

#[test]
fn a_write_over_what_others_may_still_read() {
    let source = |second: &str| {
        tile(&format!(
            "st.shared.b32 [%rd1], %t; bar.sync 0; ld.shared.b32 %r3, [%rd2]; {second} st.shared.b32 [%rd1], %r3;"
        ))
    };
    races(&source(""), 1, 128);
    clean(&source("bar.sync 0;"), "racecheck", 1, 128);
}

#[test]
fn double_buffering_needs_one_barrier_a_round() {
    // Two halves of the tile: written in one round, read in the next.
    let source = |buffers: u32| {
        tile(&format!(
            "mov.b32 %r4, 0;
             mov.b32 %r9, 0;
         ROUND:
             rem.u32 %r5, %r4, {buffers};
             mul.lo.u32 %r5, %r5, 2048;
             cvt.u64.u32 %rd5, %r5;
             add.u64 %rd6, %rd1, %rd5;
             add.u64 %rd7, %rd2, %rd5;
             st.shared.b32 [%rd6], %r4;
             bar.sync 0;
             ld.shared.b32 %r6, [%rd7];
             add.u32 %r9, %r9, %r6;
             add.u32 %r4, %r4, 1;
             setp.lt.u32 %p1, %r4, 6;
             @%p1 bra ROUND;
             st.global.b32 [%a], %r9;"
        ))
    };
    races(&source(1), 1, 96);
    clean(&source(2), "racecheck", 1, 96);
}

#[test]
fn reductions_within_a_warp() {
    let source = |between: &str, kind: &str| {
        tile(&format!(
            "st.shared.b32 [%rd1], %t;
             mov.b32 %r4, 16;
             bar.sync 0;
         ROUND:
             mul.wide.u32 %rd3, %r4, 4;
             add.u64 %rd3, %rd3, %rd1;
             setp.ge.u32 %p1, %t, %r4;
             @%p1 bra SKIP;
             ld{kind}.shared.b32 %r5, [%rd3];
             ld{kind}.shared.b32 %r6, [%rd1];
             add.u32 %r6, %r6, %r5;
             st{kind}.shared.b32 [%rd1], %r6;
         SKIP:
             {between}
             shr.u32 %r4, %r4, 1;
             setp.ne.u32 %p2, %r4, 0;
             @%p2 bra ROUND;"
        ))
    };
    races(&source("", ""), 1, 32);
    clean(&source("bar.warp.sync 0xffffffff;", ""), "racecheck", 1, 32);
    // `volatile` was enough before lanes could run apart.
    let found = findings_of(&source("", ".volatile"), "racecheck", 1, 32, None);
    assert!(!found.is_empty() && found.iter().all(|found| found.severity() == Severity::Warning));
    clean(&source("bar.warp.sync 0xffffffff;", ".volatile"), "racecheck", 1, 32);
}

#[test]
fn many_lanes_write_one_place() {
    let source =
        |value: &str| tile(&format!("mov.u64 %rd3, tile; st.shared.b32 [%rd3+8], {value};"));
    let found = findings_of(&source("%t"), "racecheck", 1, 32, None);
    assert_eq!((found.len(), found[0].kind()), (1, FindingKind::WriteByManyLanes));
    assert_eq!(found[0].severity(), Severity::Error);
    let found = findings_of(&source("7"), "racecheck", 1, 32, None);
    assert_eq!((found.len(), found[0].kind()), (1, FindingKind::WriteByManyLanes));
    assert_eq!(found[0].severity(), Severity::Warning);
    // One lane alone.
    clean(
        &tile("mov.u64 %rd3, tile; setp.eq.u32 %p1, %t, 3; @%p1 st.shared.b32 [%rd3+8], %t;"),
        "racecheck",
        1,
        32,
    );
    // Pairs of lanes that are not neighbours.
    let pairs = "and.b32 %r3, %t, 15; mov.u64 %rd3, tile; mad.wide.u32 %rd3, %r3, 4, %rd3;
         st.shared.b32 [%rd3], %t;";
    assert_eq!(kinds(&tile(pairs), "racecheck", 1, 32), [FindingKind::WriteByManyLanes]);
    clean(&tile(pairs), "racecheck", 1, 16);
}

#[test]
fn warps_that_write_the_same_value() {
    let source = |value: &str| {
        tile(&format!(
            "setp.eq.u32 %p1, %r9, 0; and.b32 %r3, %t, 31; setp.eq.u32 %p1, %r3, 0;
            mov.u64 %rd3, tile; @%p1 st.shared.b32 [%rd3], {value};"
        ))
    };
    let found = findings_of(&source("1"), "racecheck", 1, 64, None);
    assert_eq!((found.len(), found[0].kind()), (1, FindingKind::WriteAfterWrite));
    assert_eq!(found[0].severity(), Severity::Warning);
    let found = findings_of(&source("%t"), "racecheck", 1, 64, None);
    assert_eq!(
        (found[0].kind(), found[0].severity()),
        (FindingKind::WriteAfterWrite, Severity::Error)
    );
}

#[test]
fn neighbours_smaller_than_a_word() {
    let bytes = |offset: u32, size: &str| {
        tile(&format!(
            "mov.u64 %rd3, tile; cvt.u64.u32 %rd4, %t; mad.lo.u64 %rd4, %rd4, {offset}, %rd3;
             st.shared.{size} [%rd4], %t;
             ld.shared.{size} %r3, [%rd4];"
        ))
    };
    clean(&bytes(1, "b8"), "racecheck", 1, 64);
    clean(&bytes(2, "b16"), "racecheck", 1, 64);
    clean(
        &bytes(8, "v2.b8").replace("[%rd4], %t", "[%rd4], {%t, %t}").replace("%r3,", "{%r3, %r4},"),
        "racecheck",
        1,
        64,
    );
    // The neighbour's byte.
    races(
        &tile(
            "mov.u64 %rd3, tile; cvt.u64.u32 %rd4, %t; add.u64 %rd4, %rd4, %rd3;
             st.shared.b8 [%rd4], %t; ld.shared.b8 %r3, [%rd4+1];",
        ),
        1,
        64,
    );
    // A word over bytes that others wrote.
    races(
        &tile(
            "mov.u64 %rd3, tile; cvt.u64.u32 %rd4, %t; add.u64 %rd4, %rd4, %rd3;
             st.shared.b8 [%rd4], %t; setp.eq.u32 %p1, %t, 0; @%p1 ld.shared.b32 %r3, [%rd3];",
        ),
        1,
        32,
    );
}

#[test]
fn atomics_and_plain_accesses() {
    let source = |before: &str, after: &str| {
        tile(&format!(
            "mov.u64 %rd3, tile; setp.eq.u32 %p1, %t, 0;
             @%p1 st.shared.b32 [%rd3], 0;
             {before}
             red.shared.add.u32 [%rd3], 1;
             atom.shared.max.u32 %r4, [%rd3], 2;
             {after}
             @%p1 ld.shared.b32 %r5, [%rd3];"
        ))
    };
    clean(&source("bar.sync 0;", "bar.sync 0;"), "racecheck", 1, 128);
    races(&source("", "bar.sync 0;"), 1, 128);
    races(&source("bar.sync 0;", ""), 1, 128);
}

#[test]
fn a_tiled_product_without_its_second_barrier() {
    let source = |second: &str| {
        tile(&format!(
            "mov.b32 %r4, 0;
             mov.b32 %r9, 0;
         TILE:
             st.shared.b32 [%rd1], %r4;
             bar.sync 0;
             mov.b32 %r5, 0;
             mov.u64 %rd3, tile;
         INNER:
             ld.shared.b32 %r6, [%rd3];
             add.u32 %r9, %r9, %r6;
             add.u64 %rd3, %rd3, 4;
             add.u32 %r5, %r5, 1;
             setp.lt.u32 %p1, %r5, %r1;
             @%p1 bra INNER;
             {second}
             add.u32 %r4, %r4, 1;
             setp.lt.u32 %p2, %r4, 4;
             @%p2 bra TILE;
             st.global.b32 [%a], %r9;"
        ))
    };
    races(&source(""), 2, 64);
    clean(&source("bar.sync 0;"), "racecheck", 2, 64);
}

#[test]
fn producers_and_consumers_at_named_barriers() {
    // Warp 0 writes and arrives, warp 1 waits and reads; then the other way round.
    let source = |arrive: &str| {
        tile(&format!(
            "and.b32 %r3, %t, 31;
             mov.u64 %rd3, tile;
             mad.wide.u32 %rd3, %r3, 4, %rd3;
             setp.ge.u32 %p1, %t, 32;
             @%p1 bra CONSUME;
             st.shared.b32 [%rd3], %t;
             {arrive}
             bar.sync 2, 64;
             st.shared.b32 [%rd3], 5;
             bra END;
         CONSUME:
             bar.sync 1, 64;
             ld.shared.b32 %r4, [%rd3];
             bar.arrive 2, 64;
             st.global.b32 [%a], %r4;
         END:"
        ))
    };
    clean(&source("bar.arrive 1, 64;"), "racecheck", 1, 64);
    // A third warp completes the barrier before the producer has written.
    let early = tile(
        "and.b32 %r3, %t, 31;
         mov.u64 %rd3, tile;
         mad.wide.u32 %rd3, %r3, 4, %rd3;
         setp.ge.u32 %p1, %t, 32;
         @%p1 bra CONSUME;
         bar.arrive 1, 64;
         st.shared.b32 [%rd3], %t;
         bra END;
     CONSUME:
         bar.sync 1, 64;
         ld.shared.b32 %r4, [%rd3];
     END:",
    );
    races(&early, 1, 64);
}

#[test]
fn the_text_of_a_hazard() {
    let source = exchange("bar.warp.sync 0xffffffff;");
    let found = texts(&source, "racecheck", 1, 64);
    let expected = "racecheck error: unordered write after read (WAR): 4 bytes at 0x480 in shared memory
  kernel:  k, grid (1, 1, 1), block (64, 1, 1)
  address: 0x480 in shared memory, at offset 128 of `tile` (4096 bytes)
  write:   block (0, 0, 0), warp 1, lane 0 (thread (32, 0, 0))
    ptx:     line 25: st.shared.b32 [%rd1], %t;
  earlier read: block (0, 0, 0), warp 0, lane 31 (thread (31, 0, 0))
    ptx:     line 25: ld.shared.b32 %r3, [%rd2];
  note:    lane 0 writes 0x00000020 over 0xcbcbcbcb
help: put a barrier of the block (sync_threads, __syncthreads) between the two, or make both atomic";
    assert_eq!(found[0], expected);
}

#[test]
fn source_lines_and_their_text() {
    let file = file!();
    let path = if std::path::Path::new(file).exists() {
        file.to_owned()
    } else {
        format!("{}/tests/checks/race_shared.rs", env!("CARGO_MANIFEST_DIR"))
    };
    let source = exchange(".loc 1 1 1").replace(".loc 1 1 1", "\n.loc 1 1 5\n")
        + &format!("\n.file 1 \"{path}\"");
    let found = texts(&source, "racecheck", 1, 32);
    let expected = format!(
        "    source:  {path}:1:5\n    code:    //! Hazards within a block and within a warp."
    );
    assert!(found[0].contains(&expected), "{}", found[0]);
}

#[test]
fn findings_are_counted_and_limited() {
    // 120 places, each twice.
    let stores: Vec<String> =
        (0..120).map(|place| format!("st.shared.b32 [%rd3+{}], %t;", 4 * place)).collect();
    let source = tile(&format!(
        "mov.u64 %rd3, tile; mov.b32 %r4, 0; AGAIN: {} bar.sync 0; add.u32 %r4, %r4, 1;
         setp.lt.u32 %p1, %r4, 2; @%p1 bra AGAIN;",
        stores.join(" ")
    ));
    let mut rig = crate::support::rig(&source, "racecheck", None);
    let out = rig.words("out", &[0; 32]);
    rig.launch("k", 1, 32, &crate::common::params(out, 0)).expect("no fault");
    assert_eq!(rig.machine.findings_left_out(), 40);
    let found = rig.machine.take_findings();
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|finding| finding.count() == 2));
    assert_eq!(rig.machine.findings_left_out(), 0);
}

/// One warp goes along the array in a loop of 20 rounds, a row of 32 words in each; the other one accesses a row once.
#[test]
fn a_late_round_of_a_loop() {
    for (looper, in_loop, other) in [
        (0, "st.shared.b32 [%r3], %t;", "ld.shared.b32 %r6"),
        (1, "st.shared.b32 [%r3], %t;", "ld.shared.b32 %r6"),
        (0, "ld.shared.b32 %r6, [%r3];", "st.shared.b32"),
        (1, "ld.shared.b32 %r6, [%r3];", "st.shared.b32"),
        // All lanes read the first word of the row.
        (1, "ld.shared.b32 %r6, [%r7];", "st.shared.b32"),
    ] {
        let source = |row: u32| {
            let place = format!("[%r3+{}]", 128 * row);
            let other = match other {
                "st.shared.b32" => format!("{other} {place}, %t;"),
                _ => format!("{other}, {place};"),
            };
            kernel_with(
                TILE,
                &format!(
                    "mov.u32 %r1, %laneid; shr.u32 %r2, %t, 5; shl.b32 %r3, %r1, 2; mov.u32 %r7, tile;
                     add.s32 %r3, %r3, %r7; mov.b32 %r5, 0; setp.ne.u32 %p1, %r2, {looper};
                     @%p1 bra OTHER;
                     LOOP: {in_loop} add.s32 %r3, %r3, 128; add.s32 %r7, %r7, 128; add.s32 %r5, %r5, 1;
                     setp.lt.u32 %p2, %r5, 20; @%p2 bra LOOP;
                     ret;
                     OTHER: {other} ret;"
                ),
            )
        };
        for row in [0, 7, 15, 19] {
            races(&source(row), 1, 64);
        }
        for row in [20, 25, 31] {
            clean(&source(row), "racecheck", 1, 64);
        }
    }
}
