//! Clusters: hazards in each other's shared memory, what was not written there, and blocks that end too soon.

use ptx_emulator::{Finding, FindingKind};

use crate::common::{Rig, SEEDS, fault_text, kernel_with, params};
use crate::support::{clean, findings_of, kinds, races, rig};

const SYNC: &str = "barrier.cluster.arrive; barrier.cluster.wait;";

/// For clusters of so many blocks. `%r1`: the own rank, `%r2`: that of the next block. The thread's own word of `tile`: at `%r4`
/// (`%rd1` as a generic address) in the own block, at `%r5` (`%rd2`) in the next one. `%r6`: `flag` of the own block, `%r8`: of
/// the next. `%p7`: rank 0, `%p6`: thread 0.
fn cluster(blocks: u32, body: &str) -> String {
    let items = ".shared .align 8 .b8 flag[16]; .shared .align 8 .b8 tile[256];";
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; add.u32 %r2, %r1, 1; rem.u32 %r2, %r2, {blocks};
         mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 4, %r4; mapa.shared::cluster.u32 %r5, %r4, %r2;
         cvta.shared.u64 %rd1, tile; mad.wide.u32 %rd1, %t, 4, %rd1; mapa.u64 %rd2, %rd1, %r2;
         mov.u32 %r6, flag; mapa.shared::cluster.u32 %r8, %r6, %r2;
         setp.eq.u32 %p7, %r1, 0; setp.eq.u32 %p6, %t, 0;
         {body}\nret;"
    );
    kernel_with(items, &body)
        .replace("\n{\n.reg", &format!(" .reqnctapercluster {blocks}\n{{\n.reg"))
}

/// Two accesses, with nothing between them and with a barrier; nobody leaves before the others are done.
#[track_caller]
fn only_with_a_barrier(first: &str, second: &str) {
    let source = |between: &str| cluster(2, &format!("{first} {between} {second} {SYNC}"));
    races(&source(""), 4, 40);
    // A barrier of the block is not one of the cluster.
    races(&source("bar.sync 0;"), 4, 40);
    clean(&source(SYNC), "racecheck", 4, 40);
}

#[test]
fn accesses_to_another_blocks_shared_memory() {
    for write in ["st.shared::cluster.u32 [%r5], %t;", "st.u32 [%rd2], %t;"] {
        only_with_a_barrier(write, "ld.shared.u32 %r7, [%r4];");
        only_with_a_barrier(write, "st.shared.u32 [%r4], 7;");
        only_with_a_barrier("ld.shared.u32 %r7, [%r4];", write);
    }
    for read in ["ld.shared::cluster.u32 %r7, [%r5];", "ld.u32 %r7, [%rd2];"] {
        only_with_a_barrier("st.shared.u32 [%r4], %t;", read);
        only_with_a_barrier(read, "st.shared.u32 [%r4], %t;");
        only_with_a_barrier(read, "st.u32 [%rd1], %t;");
        clean(&cluster(2, &format!("{read} ld.shared.u32 %r7, [%r4]; {SYNC}")), "racecheck", 4, 40);
    }
    // Of another word.
    let apart = "st.shared::cluster.u32 [%r5], 1; ld.shared.u32 %r7, [%r4+4];";
    let one = |body: &str| cluster(2, &format!("@%p6 bra ON; bra END; ON: {body} END: {SYNC}"));
    clean(&one(apart), "racecheck", 4, 40);
    races(&one(&apart.replace("+4", "+0")), 4, 40);
    // Neighbouring bytes of a word.
    let bytes = "st.shared::cluster.u8 [%r5], 1; ld.shared.u8 %r7, [%r4+1];";
    clean(&one(bytes), "racecheck", 4, 40);
    races(&one(&bytes.replace("+1", "+0")), 4, 40);
}

#[test]
fn two_blocks_in_the_memory_of_a_third() {
    // All but the block of rank 2 write there.
    let source = |offset: &str| {
        cluster(
            3,
            &format!(
                "setp.eq.u32 %p1, %r1, 2; mapa.shared::cluster.u32 %r5, %r4, 2; mul.lo.u32 %r9, %r1, {offset};
                 add.u32 %r5, %r5, %r9; add.u32 %r9, %t, %r1; @!%p1 st.shared::cluster.u32 [%r5], %r9; {SYNC}"
            ),
        )
    };
    races(&source("0"), 3, 32);
    clean(&source("128"), "racecheck", 3, 32);
    let found = findings_of(&source("0"), "racecheck", 3, 32, None);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.kind(), FindingKind::WriteAfterWrite);
    let (this, other) = (finding.party().expect("this"), &finding.others()[0]);
    let mut blocks = [this.block(), other.block()];
    blocks.sort_unstable();
    assert_eq!(blocks, [[0, 0, 0], [1, 0, 0]]);
    assert_eq!((this.warp(), this.lanes(), other.warp(), other.lanes()), (0, !0, 0, !0));
    assert_eq!(this.ptx_line(), other.ptx_line());
    let place = &finding.address().expect("shared memory").place;
    assert_eq!(
        place,
        "at offset 0 of `tile` (256 bytes), of block (2, 0, 0), rank 2 of its cluster"
    );
    assert!(finding.help().contains("barrier of the cluster"), "{finding}");
}

#[test]
fn atomics_on_another_blocks_memory() {
    let zero = format!("st.shared.u32 [%r4], 0; {SYNC}");
    let source = |body: &str| cluster(2, &format!("{zero} {body} {SYNC}"));
    let both = "red.shared::cluster.add.u32 [%r5], 1; atom.shared.add.u32 %r7, [%r4], 1;";
    clean(&source(both), "racecheck", 4, 40);
    clean(&source("atom.add.u32 %r7, [%rd2], 1; atom.add.u32 %r7, [%rd1], 1;"), "racecheck", 4, 40);
    // The block's own must be meant for the others too.
    races(&source(&both.replace("atom.shared", "atom.relaxed.cta.shared")), 4, 40);
    races(&source(&both.replace("red.shared", "red.relaxed.cta.shared")), 4, 40);
    clean(&source(&both.replace("red.shared", "red.relaxed.cluster.shared")), "racecheck", 4, 40);
    only_with_a_barrier("red.shared::cluster.add.u32 [%r5], 1;", "ld.shared.u32 %r7, [%r4];");
}

#[test]
fn the_halves_of_the_barrier() {
    let source = |first: &str, between: &str| {
        cluster(
            2,
            &format!(
                "{first} barrier.cluster.arrive; {between} barrier.cluster.wait; ld.shared.u32 %r7, [%r4]; {SYNC}"
            ),
        )
    };
    let write = "st.shared::cluster.u32 [%r5], %t;";
    clean(&source(write, ""), "racecheck", 4, 64);
    races(&source("", write), 4, 64);
    // A relaxed arrival orders what was fenced.
    let relaxed = |fence: &str| {
        source(&format!("{write} {fence}"), "").replacen(
            "barrier.cluster.arrive;",
            "barrier.cluster.arrive.relaxed;",
            1,
        )
    };
    races(&relaxed(""), 4, 64);
    races(&relaxed("fence.acq_rel.cta;"), 4, 64);
    clean(&relaxed("fence.acq_rel.cluster;"), "racecheck", 4, 64);
    // Who exits has arrived.
    let leaves = |exit: &str| {
        cluster(
            2,
            &format!(
                "@%p7 bra WRITE; {SYNC} ld.shared.u32 %r7, [%r4]; {SYNC} ret; WRITE: {write} {exit} {SYNC} {SYNC}"
            ),
        )
    };
    clean(&leaves(""), "racecheck", 2, 64);
    clean(&leaves("ret;"), "racecheck", 2, 64);
    // It orders accesses to global memory too, and lanes that come apart.
    let global = |sync: &str| {
        cluster(
            2,
            &format!(
                "st.global.u32 [%a], 1; xor.b32 %r9, %g, 64; mad.wide.u32 %rd5, %r9, 4, %o; {sync} ld.global.u32 %r7, [%rd5]; {SYNC}"
            ),
        )
    };
    races(&global(""), 4, 64);
    clean(&global(SYNC), "racecheck", 4, 64);
    clean(
        &global(&format!(
            "and.b32 %r9, %t, 1; setp.eq.u32 %p1, %r9, 0; @%p1 bra EVEN; {SYNC} bra ON; EVEN: {SYNC} ON:"
        )),
        "racecheck",
        4,
        64,
    );
}

#[test]
fn messages_between_blocks() {
    // Rank 0 writes to rank 1's tile, then to its flag, for which rank 1 waits.
    let source = |store: &str, load: &str| {
        cluster(
            2,
            &format!(
                "@%p6 st.shared.u32 [%r6], 0; {SYNC} @%p7 bra WRITE;
                 WAIT: {load} setp.lt.u32 %p1, %r7, 32; @%p1 bra WAIT;
                 ld.shared.u32 %r7, [%r4]; bra END;
                 WRITE: st.shared::cluster.u32 [%r5], %t; {store}
                 END: {SYNC}"
            ),
        )
    };
    let acquire = "ld.acquire.cluster.shared.u32 %r7, [%r6];";
    let release = "red.release.cluster.shared::cluster.add.u32 [%r8], 1;";
    clean(&source(release, acquire), "racecheck", 4, 32);
    races(&source(&release.replace("release", "relaxed"), acquire), 4, 32);
    races(&source(&release.replace(".cluster.shared", ".cta.shared"), acquire), 4, 32);
    let fenced = "fence.acq_rel.cluster; red.relaxed.cluster.shared::cluster.add.u32 [%r8], 1;";
    clean(&source(fenced, acquire), "racecheck", 4, 32);
    races(&source(&fenced.replace("acq_rel.cluster", "acq_rel.cta"), acquire), 4, 32);
}

#[test]
fn arrivals_at_another_blocks_object() {
    let source = |wait: &str| {
        cluster(
            2,
            &format!(
                "mov.u32 %r9, 32; @%p6 mbarrier.init.shared.b64 [%r6], %r9; {SYNC} @%p7 bra WRITE;
                 WAIT: {wait} ld.shared.u32 %r7, [%r4]; bra END;
                 WRITE: st.shared::cluster.u32 [%r5], %t; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
                 END: {SYNC}"
            ),
        )
    };
    races(&source(""), 4, 32);
    clean(
        &source(
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r6], 0; @!%p3 bra WAIT;",
        ),
        "racecheck",
        4,
        32,
    );
}

/// Under every schedule: the access comes too late and is a fault, or racecheck says that it might.
#[track_caller]
fn ends_too_soon(source: &str, block: u32) {
    for seed in SEEDS {
        let mut rig = rig(source, "racecheck", seed);
        let out = rig.words("out", &vec![0; 4 * block as usize]);
        match rig.launch("k", 4, block, &params(out, 0)) {
            Err(fault) => assert!(fault.to_string().contains("has ended"), "{fault}"),
            Ok(_) => {
                let kinds: Vec<FindingKind> =
                    rig.machine.take_findings().iter().map(Finding::kind).collect();
                assert_eq!(kinds, [FindingKind::BlockEndsTooSoon], "seed {seed:?}");
            }
        }
    }
}

#[test]
fn a_block_that_ends_while_others_read_it() {
    let source = |access: &str, end: &str| {
        cluster(
            2,
            &format!("st.shared.u32 [%r4], %t; st.shared.u32 [%r6], 0; {SYNC} {access} {end}"),
        )
        .replace("st.shared.u32 [%r6]", "@%p6 st.shared.u32 [%r6]")
    };
    for access in [
        "ld.shared::cluster.u32 %r7, [%r5];",
        "ld.u32 %r7, [%rd2];",
        "red.shared::cluster.add.u32 [%r5], 1;",
        "st.shared::cluster.u32 [%r5], 1;",
    ] {
        ends_too_soon(&source(access, ""), 40);
        ends_too_soon(&source(access, "bar.sync 0;"), 40);
        ends_too_soon(&source(access, "barrier.cluster.arrive;"), 40);
        clean(&source(access, SYNC), "racecheck", 4, 40);
    }
    // Only rank 0 accesses the other: that one must wait, rank 0 need not.
    let one_way = |end: &str, stay: &str| {
        source(
            &format!("@%p7 bra GO; {stay} ret; GO: ld.shared::cluster.u32 %r7, [%r5]; {end}"),
            "",
        )
    };
    clean(&one_way("barrier.cluster.arrive;", SYNC), "racecheck", 4, 40);
    clean(&one_way("ret;", SYNC), "racecheck", 4, 40);
    ends_too_soon(&one_way(SYNC, "barrier.cluster.arrive;"), 40);
    // A message is enough; and of an atomic, that its result is seen.
    let message =
        "ON: ld.relaxed.cluster.shared.u32 %r7, [%r6]; setp.lt.u32 %p1, %r7, 40; @%p1 bra ON;";
    let tell = "red.release.cluster.shared::cluster.add.u32 [%r8], 1;";
    clean(&one_way(tell, message), "racecheck", 4, 40);
    ends_too_soon(&one_way(&tell.replace("release", "relaxed"), message), 40);
    let alone = one_way(&tell.replace("release", "relaxed"), message)
        .replace("ld.shared::cluster.u32 %r7, [%r5];", "");
    clean(&alone, "racecheck", 4, 40);
}

#[test]
fn both_sides_of_an_end_are_named() {
    // Rank 1 takes longer, so that rank 0 gets to its access before.
    let body = format!(
        "st.shared.u32 [%r4], %t; {SYNC} mul.lo.u32 %r9, %r1, 4000;
         @%p7 ld.shared::cluster.u32 %r7, [%r5];
         barrier.cluster.arrive; @%p7 barrier.cluster.wait;
         SLOW: setp.eq.u32 %p1, %r9, 0; @%p1 bra END; sub.u32 %r9, %r9, 1; bra SLOW; END:"
    );
    let source = cluster(2, &body);
    assert_eq!(kinds(&source, "racecheck", 2, 40), [FindingKind::BlockEndsTooSoon]);
    clean(&source.replace("@%p7 barrier.cluster.wait", "barrier.cluster.wait"), "racecheck", 2, 40);
    let found = findings_of(&source, "racecheck", 2, 40, None);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    let (exit, access) = (finding.party().expect("the block"), &finding.others()[0]);
    assert_eq!((exit.block(), access.block()), ([1, 0, 0], [0, 0, 0]));
    assert_eq!((access.warp(), access.lanes()), (0, u32::MAX));
    assert_eq!(exit.ptx_text(), Some("ret;"));
    assert!(access.ptx_text().is_some_and(|text| text.contains("ld.shared::cluster")));
    assert_eq!(finding.count(), 2, "both warps");
}

#[test]
fn what_nobody_wrote_in_another_block() {
    let source = |first: &str, read: &str| cluster(2, &format!("{first} {SYNC} {read} {SYNC}"));
    let unwritten = [FindingKind::UninitializedMemory];
    for read in [
        "ld.shared::cluster.u32 %r7, [%r5];",
        "ld.u32 %r7, [%rd2];",
        "atom.add.u32 %r7, [%rd2], 1;",
    ] {
        assert_eq!(kinds(&source("", read), "initcheck", 4, 40), unwritten, "{read}");
        // By its block, and by the one that reads, from outside.
        clean(&source("st.shared.u32 [%r4], 1;", read), "initcheck", 4, 40);
        clean(&source("st.shared::cluster.u32 [%r5], 1;", read), "initcheck", 4, 40);
        clean(&source("st.u32 [%rd2], 1;", read), "initcheck", 4, 40);
        // One word is missing, and one block.
        assert_eq!(
            kinds(&source("@!%p6 st.shared.u32 [%r4], 1;", read), "initcheck", 4, 40),
            unwritten
        );
        assert_eq!(
            kinds(&source("@%p7 st.shared.u32 [%r4], 1;", read), "initcheck", 4, 40),
            unwritten
        );
    }
    // The block itself reads what another wrote, and what nobody did.
    let own = "ld.shared.u32 %r7, [%r4];";
    clean(&source("st.shared::cluster.u32 [%r5], 1;", own), "initcheck", 4, 40);
    assert_eq!(
        kinds(&source("@%p7 st.shared::cluster.u32 [%r5], 1;", own), "initcheck", 4, 40),
        unwritten
    );
    let text = findings_of(&source("", "@%p7 ld.u32 %r7, [%rd2];"), "initcheck", 2, 40, None)[0]
        .to_string();
    assert!(
        text.contains("at offset 0 of `tile` (256 bytes), of block (1, 0, 0), rank 1"),
        "{text}"
    );
}

#[test]
fn plain_shared_is_the_own_blocks() {
    let source = |access: &str| {
        cluster(
            2,
            &format!(
                "st.shared.u32 [%r4], %t; @%p6 mbarrier.init.shared.b64 [%r6], 32; {SYNC} {access} {SYNC}"
            ),
        )
    };
    for (plain, right) in [
        ("ld.shared.u32 %r7, [%r5];", "ld.shared::cluster.u32 %r7, [%r5];"),
        ("ld.shared::cta.u32 %r7, [%r5];", "ld.u32 %r7, [%rd2];"),
        ("st.shared.u32 [%r5], %t;", "st.shared::cluster.u32 [%r5], %t;"),
        (
            "st.shared::cta.v2.u32 [%r8+8], {%t, %t};",
            "st.shared::cluster.v2.u32 [%r8+8], {%t, %t};",
        ),
        ("red.shared.add.u32 [%r5], 1;", "red.shared::cluster.add.u32 [%r5], 1;"),
        ("atom.shared::cta.add.u32 %r7, [%r5], 1;", "atom.shared::cluster.add.u32 %r7, [%r5], 1;"),
        (
            "mbarrier.arrive.shared.b64 %rd5, [%r8];",
            "mbarrier.arrive.shared::cluster.b64 _, [%r8];",
        ),
    ] {
        let (_, text) = fault_text(&source(plain), 2, 40, 0);
        assert!(text.contains("in the shared memory of the cluster's block of rank"), "{text}");
        assert!(text.contains("use .shared::cluster, or a generic address"), "{text}");
        clean(&source(right), "memcheck", 2, 40);
    }
    let (_, text) = fault_text(&source("@%p7 ld.shared.u32 %r7, [%r5+4];"), 2, 1, 0);
    assert!(text.contains("at offset 4 of `tile` (256 bytes), in the shared memory of the cluster's block of rank 1, block (1, 0, 0)"), "{text}");
    // The own block's address may have come from `mapa` too.
    let own = "mapa.shared::cluster.u32 %r9, %r4, %r1; ld.shared.u32 %r7, [%r9]; st.shared::cluster.u32 [%r9], 1;";
    clean(&source(own), "all", 2, 40);
    // Where no block is at all, whose memory it would be is not known.
    let beyond = "mapa.shared::cluster.u32 %r9, %r4, 5; ld.shared.u32 %r7, [%r9];";
    let (_, text) = fault_text(&source(beyond), 2, 40, 0);
    assert!(text.contains("the cluster has no block of rank 5"), "{text}");
}

#[test]
fn the_block_that_an_address_is_in_is_named() {
    let source = |access: &str| cluster(2, &format!("{access} {SYNC}"));
    let text = |access: &str| {
        let mut rig = Rig::new(&source(&format!("@%p7 {access}")), None);
        let out = rig.words("out", &[0; 128]);
        rig.launch("k", 4, 1, &params(out, 0)).expect_err("out of bounds").to_string()
    };
    for (access, whose) in [
        ("ld.shared.u32 %r7, [%r4+256];", "rank 0, block (0, 0, 0)"),
        ("ld.shared::cluster.u32 %r7, [%r5+256];", "rank 1, block (1, 0, 0)"),
        ("atom.add.u32 %r7, [%rd2+256], 1;", "rank 1, block (1, 0, 0)"),
    ] {
        let text = text(access);
        assert!(text.contains("0 bytes past the end of `tile` (256 bytes)"), "{text}");
        assert!(text.contains(&format!("of the cluster's block of {whose}")), "{text}");
    }
}
