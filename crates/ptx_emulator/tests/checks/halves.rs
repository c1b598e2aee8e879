//! Blocks that are 16 threads wide: each half of a warp has a row of its own. With and without what the machine knows of
//! addresses beforehand.

use ptx_emulator::{FindingKind, Launch, MachineConfig};

use crate::common::{Rig, SEEDS, kernel_with, params};

/// What is found in blocks of 16 x `rows` threads, under each schedule, with addresses known beforehand and not.
fn findings(source: &str, checks: &str, grid: u32, rows: u32) -> Vec<Vec<FindingKind>> {
    let mut all = Vec::new();
    for affine_registers in [true, false] {
        for seed in SEEDS {
            let mut config = MachineConfig::default();
            config.checks = checks.parse().expect("known checks");
            config.schedule_seed = seed;
            config.affine_registers = affine_registers;
            let mut rig = Rig::with(source, config);
            let out = rig.words("out", &[0; 1024]);
            let launch = Launch {
                kernel: "k",
                grid: [grid, 1, 1],
                block: [16, rows, 1],
                dynamic_shared_bytes: 0,
                params: &params(out, 0),
            };
            rig.machine
                .launch(rig.module, &launch, &mut rig.printed)
                .unwrap_or_else(|fault| panic!("seed {seed:?}: {fault}"));
            let mut kinds: Vec<FindingKind> =
                rig.machine.take_findings().iter().map(|found| found.kind()).collect();
            kinds.sort_by_key(|kind| format!("{kind:?}"));
            kinds.dedup();
            all.push(kinds);
        }
    }
    all
}

#[track_caller]
fn clean(source: &str, grid: u32, rows: u32) {
    for found in findings(source, "all", grid, rows) {
        assert_eq!(found, []);
    }
}

/// Something is found, and nothing but hazards: which of two accesses comes first depends on the schedule.
#[track_caller]
fn races(source: &str, grid: u32, rows: u32) {
    let hazards =
        [FindingKind::ReadAfterWrite, FindingKind::WriteAfterRead, FindingKind::WriteAfterWrite];
    for found in findings(source, "racecheck", grid, rows) {
        assert!(!found.is_empty());
        assert!(found.iter().all(|kind| hazards.contains(kind)), "{found:?}");
    }
}

#[track_caller]
fn finds(source: &str, rows: u32, kind: FindingKind) {
    for found in findings(source, "all", 1, rows) {
        assert_eq!(found, [kind]);
    }
}

/// `%r1` is the thread's row, `%r2` its number; `%rd1` the tile, `%rd2` the own word in it, `%rd3` the first one of the
/// row, `%rd4` that of the column; `%rd9` the own word of the output.
fn tile(body: &str) -> String {
    kernel_with(
        ".shared .align 16 .b8 tile[4096];",
        &format!(
            "mov.u32 %r1, %tid.y;
             mad.lo.u32 %r2, %r1, 16, %t;
             mov.u64 %rd1, tile;
             mad.wide.u32 %rd2, %r2, 4, %rd1;
             mad.wide.u32 %rd3, %r1, 64, %rd1;
             mad.wide.u32 %rd4, %t, 4, %rd1;
             mad.wide.u32 %rd9, %r2, 4, %o;
             {body}
             ret;"
        ),
    )
}

#[test]
fn a_tile_that_is_read_by_rows_and_columns() {
    for read in ["[%rd3+20]", "[%rd4+128]", "[%rd4+960]"] {
        let source = |between: &str| {
            tile(&format!(
                "st.shared.b32 [%rd2], %r2; {between} ld.shared.b32 %r3, {read}; setp.eq.u32 %p1, %b, 0;
                 @%p1 st.global.b32 [%rd9], %r3;"
            ))
        };
        races(&source(""), 2, 16);
        clean(&source("bar.sync 0;"), 2, 16);
    }
}

#[test]
fn a_tile_that_is_written_again() {
    let source = |between: &str, write: &str| {
        tile(&format!(
            "mov.b32 %r9, 0;
             mov.b32 %r8, 0;
         TILE:
             st.shared.b32 {write}, %r2;
             bar.sync 0;
             ld.shared.b32 %r3, [%rd4];
             ld.shared.b32 %r4, [%rd3+60];
             add.u32 %r9, %r9, %r3;
             add.u32 %r9, %r9, %r4;
             {between}
             add.u32 %r8, %r8, 1;
             setp.lt.u32 %p1, %r8, 3;
             @%p1 bra TILE;
             st.global.b32 [%rd9], %r9;"
        ))
    };
    races(&source("", "[%rd2]"), 1, 16);
    clean(&source("bar.sync 0;", "[%rd2]"), 1, 16);
    // A warp alone: its lanes need a barrier too.
    races(&source("", "[%rd2]"), 1, 2);
    clean(&source("bar.warp.sync 0xffffffff;", "[%rd2]"), 1, 2);
}

#[test]
fn more_readers_than_are_remembered() {
    // All warps read the first row, and the last warp writes it.
    let source = |between: &str| {
        tile(&format!(
            "st.shared.b32 [%rd2], %r2;
             bar.sync 0;
             ld.shared.b32 %r3, [%rd4];
             st.global.b32 [%rd9], %r3;
             {between}
             setp.ne.u32 %p1, %r1, 15;
             @%p1 bra END;
             st.shared.b32 [%rd4], %r2;
         END:"
        ))
    };
    races(&source(""), 1, 16);
    clean(&source("bar.sync 0;"), 1, 16);
}

#[test]
fn rows_in_another_order() {
    let source = |between: &str| {
        tile(&format!(
            "st.shared.b32 [%rd2], %r2;
             {between}
             sub.u32 %r3, 15, %r1;
             mad.wide.u32 %rd5, %r3, 64, %rd4;
             st.shared.b32 [%rd5], %r1;"
        ))
    };
    races(&source(""), 1, 16);
    clean(&source("bar.sync 0;"), 1, 16);
}

#[test]
fn two_words_each() {
    let source = |between: &str| {
        tile(&format!(
            "mad.wide.u32 %rd5, %r2, 8, %rd1;
             st.shared.v2.b32 [%rd5], {{%r2, %r1}};
             {between}
             ld.shared.b32 %r3, [%rd4+196];
             ld.shared.v2.b32 {{%r4, %r5}}, [%rd5+0];
             add.u32 %r3, %r3, %r4;
             st.global.b32 [%rd9], %r3;"
        ))
    };
    races(&source(""), 1, 16);
    clean(&source("bar.sync 0;"), 1, 16);
}

#[test]
fn bytes_of_words() {
    let source = |between: &str| {
        tile(&format!(
            "st.shared.b32 [%rd2], %r2;
             bar.sync 0;
             st.shared.u8 [%rd2+1], %r1;
             {between}
             ld.shared.b32 %r3, [%rd4+64];
             st.global.b32 [%rd9], %r3;"
        ))
    };
    races(&source(""), 1, 16);
    clean(&source("bar.sync 0;"), 1, 16);
    // Other bytes of the same words.
    clean(&source("ld.shared.u8 %r7, [%rd4+66]; bar.sync 0;"), 1, 16);
}

#[test]
fn halves_that_write_the_same_words() {
    let kind = FindingKind::WriteByManyLanes;
    finds(&tile("st.shared.b32 [%rd4], %r2;"), 2, kind);
    clean(&tile("st.shared.b32 [%rd4], %r2;"), 1, 1);
    clean(&tile("setp.eq.u32 %p1, %r1, 1; @%p1 st.shared.b32 [%rd4], %r2;"), 1, 2);
    // The upper half begins inside of the lower one.
    let overlapping = |distance: u32| {
        format!("mad.wide.u32 %rd5, %r1, {distance}, %rd4; st.shared.b32 [%rd5], %r2;")
    };
    finds(&tile(&overlapping(32)), 2, kind);
    finds(&tile(&overlapping(60)), 2, kind);
    clean(&tile(&overlapping(64)), 1, 2);
    // One word for each half, and one for both.
    finds(&tile("st.shared.b32 [%rd3], %r2;"), 2, kind);
    finds(&tile("st.shared.b32 [%rd3], %r1;"), 2, kind);
    clean(&tile("setp.eq.u32 %p1, %t, 3; @%p1 st.shared.b32 [%rd3], %r2;"), 1, 2);
}

#[test]
fn blocks_and_rows_of_global_memory() {
    let source = |distance: u32| {
        tile(&format!(
            "mad.wide.u32 %rd5, %b, {distance}, %rd9;
             ld.global.b32 %r3, [%rd5];
             add.u32 %r3, %r3, 1;
             st.global.b32 [%rd5], %r3;
             ld.global.b32 %r3, [%rd5];"
        ))
    };
    races(&source(0), 2, 16);
    races(&source(1024 - 64), 2, 16);
    clean(&source(1024), 2, 16);
    // Read by all blocks, written by one.
    let source = |write: &str| {
        tile(&format!(
            "ld.global.b32 %r3, [%rd9];
             setp.ne.u32 %p1, %b, 9;
             @%p1 bra END;
             {write}
         END:"
        ))
    };
    races(&source("st.global.b32 [%rd9], %r3;"), 10, 2);
    clean(&source("st.global.b32 [%rd9+2048], %r3;"), 10, 2);
}

#[test]
fn words_that_nobody_wrote() {
    let kind = FindingKind::UninitializedMemory;
    // `%r8`: which rows are written.
    let source = |rows: &str, read: &str| {
        tile(&format!(
            "{rows}
             @%p1 st.shared.b32 [%rd2], %r2;
             bar.sync 0;
             ld.shared.b32 %r3, {read};
             st.global.b32 [%rd9], %r3;"
        ))
    };
    let upper = "setp.lt.u32 %p1, %r1, 8;";
    finds(&source(upper, "[%rd4+512]"), 16, kind);
    clean(&source(upper, "[%rd4+448]"), 1, 16);
    let even = "and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0;";
    finds(&source(even, "[%rd4+64]"), 16, kind);
    clean(&source(even, "[%rd4+128]"), 1, 16);
    finds(&source(even, "[%rd3+8]"), 16, kind);
    let columns = "setp.ne.u32 %p1, %t, 5;";
    finds(&source(columns, "[%rd3+20]"), 16, kind);
    clean(&source(columns, "[%rd3+24]"), 1, 16);
    finds(&source(columns, "[%rd4]"), 16, kind);
}
