//! The text of each kind of finding, in one file: `findings.txt`. `BLESS=1 cargo test` writes it anew.

use std::fmt::Write;

use crate::common::{kernel, kernel_with};
use crate::support::texts;

/// Name, kernel, blocks, threads.
fn cases() -> Vec<(&'static str, String, u32, u32)> {
    let tile = ".shared .align 4 .b8 tile[256];";
    let with_tile = |body: &str| {
        kernel_with(
            tile,
            &format!("mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1;\n{body}\nret;"),
        )
    };
    let pair = |body: &str| {
        let body = format!(
            "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r4, tile;\nmad.lo.u32 %r4, %t, 4, %r4;
             mapa.shared::cluster.u32 %r5, %r4, 1;\n{body}\nret;"
        );
        kernel_with(tile, &body).replace("\n{\n.reg", " .reqnctapercluster 2\n{\n.reg")
    };
    vec![
        (
            "a write to another block's shared memory",
            pair("@%p1 st.shared::cluster.b32 [%r5], %t;\n@!%p1 st.shared.b32 [%r4], 7;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"),
            2,
            32,
        ),
        (
            "a block that ends before others are done with it",
            pair("@%p1 st.shared::cluster.b32 [%r5], %t;\n@%p1 bra END;\nmov.u32 %r6, 4000;\nMORE:\nsub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 bra MORE;\nEND:"),
            2,
            32,
        ),
        (
            "a read of what nobody wrote in another block",
            pair("@%p1 ld.shared::cluster.b32 %r6, [%r5];\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"),
            2,
            32,
        ),
        (
            "a read of what another block wrote",
            kernel("st.global.b32 [%a], %g;\nld.global.b32 %r1, [%a+-128];\nret;").replace(
                "mad.wide.u32 %a, %g, 4, %o;",
                "add.u64 %o, %o, 128; mad.wide.u32 %a, %g, 4, %o;",
            ),
            2,
            32,
        ),
        (
            "a write over what a neighbour reads",
            with_tile("st.shared.b32 [%rd2], 1;\nbar.warp.sync 0xffffffff;\nld.shared.b32 %r1, [%rd2+4];\nst.shared.b32 [%rd2], %r1;").replace("tile[256]", "tile[260]"),
            1,
            32,
        ),
        (
            "two warps write the same value",
            with_tile("and.b32 %r1, %t, 31;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.b32 [%rd1], 7;"),
            1,
            64,
        ),
        ("lanes write one place", with_tile("st.shared.b32 [%rd1+8], %t;"), 1, 32),
        (
            "volatile accesses of a warp",
            with_tile("st.volatile.shared.b32 [%rd2], %t;\nld.volatile.shared.b32 %r1, [%rd2+4];"),
            1,
            8,
        ),
        (
            "constant data that is written",
            kernel("ld.global.nc.b32 %r1, [%a];\nst.global.b32 [%a], 9;\nret;"),
            1,
            32,
        ),
        (
            "an atomic and a plain read, in a function",
            kernel_with(
                ".func count(.param .b64 at) {
                    .reg .b64 %rd<2>; .reg .b32 %r<2>;
                    ld.param.b64 %rd1, [at];
                    red.global.add.u32 [%rd1], 1;
                    ld.global.b32 %r1, [%rd1];
                    ret; }",
                "{ .param .b64 p0;\nst.param.b64 [p0], %o;\ncall count, (p0); }\nret;",
            ),
            2,
            1,
        ),
        (
            "a copy that nobody waited for",
            with_tile("st.shared.b32 [%rd2], 0;\nst.global.b32 [%a], 1;\ncp.async.ca.shared.global [%rd2], [%a], 4;\nbar.sync 0;\nld.shared.b32 %r1, [%rd2];"),
            1,
            32,
        ),
        ("two sites within a warp", kernel("setp.lt.u32 %p1, %t, 5;\n@%p1 bra LOW;\nbar.sync 0;\nbra END;\nLOW: bar.sync 0;\nEND: ret;"), 1, 32),
        ("two sites within a block", kernel("setp.lt.u32 %p1, %t, 32;\n@%p1 bra LOW;\nbar.sync 0;\nbra END;\nLOW: bar.sync 0;\nEND: ret;"), 1, 64),
        ("a shuffle from lanes that are not there", kernel("shfl.sync.down.b32 %r1, %t, 8, 31, 0xffffffff;\nret;"), 1, 20),
        ("masks that differ", kernel("setp.lt.u32 %p1, %t, 16;\nselp.b32 %r1, 0xffff, 0xffffffff, %p1;\nbar.warp.sync %r1;\nret;"), 1, 32),
        ("a barrier number", kernel("bar.sync 20;\nret;"), 1, 32),
        ("an undefined condition", kernel("setp.eq.u32 %p1, %r1, 7;\n@%p1 bra END;\nEND: ret;"), 1, 3),
    ]
}

#[test]
fn all_texts() {
    let mut all = String::new();
    for (name, source, grid, block) in cases() {
        let found = texts(&source, "all", grid, block);
        assert!(!found.is_empty(), "{name}");
        for text in found {
            writeln!(all, "# {name}\n{text}\n").expect("strings take what they are given");
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/checks/findings.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &all).expect("the source tree can be written");
    }
    let expected = std::fs::read_to_string(file).expect("findings.txt is there");
    assert_eq!(all, expected);
}
