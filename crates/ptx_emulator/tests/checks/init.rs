//! Use of memory and registers that nobody has written.

use ptx_emulator::{FindingKind, Severity};

use crate::common::{SEEDS, kernel, kernel_with, params};
use crate::support::{clean, findings_of, kinds, rig, texts};

const MEMORY: FindingKind = FindingKind::UninitializedMemory;
const VALUE: FindingKind = FindingKind::UninitializedValue;

/// What is found when a kernel gets 256 bytes of which `prepare` may write some.
fn with_buffer(source: &str, prepare: impl Fn(&mut ptx_emulator::Memory, u64)) -> Vec<FindingKind> {
    let mut first = None;
    for seed in SEEDS {
        let mut rig = rig(source, "initcheck", seed);
        let buffer = rig.machine.memory_mut().alloc(256, "buffer").expect("memory");
        prepare(rig.machine.memory_mut(), buffer);
        rig.launch("k", 1, 32, &params(buffer, 0)).unwrap_or_else(|fault| panic!("{fault}"));
        let found: Vec<FindingKind> =
            rig.machine.take_findings().iter().map(|found| found.kind()).collect();
        assert_eq!(*first.get_or_insert(found.clone()), found, "seed {seed:?}");
    }
    first.expect("there are seeds")
}

#[test]
fn device_memory() {
    let read = kernel("ld.global.b32 %r1, [%a]; st.global.b32 [%a+128], %r1; ret;");
    assert_eq!(with_buffer(&read, |_, _| ()), [MEMORY]);
    // Copied to, filled, copied from another place that was written.
    assert_eq!(with_buffer(&read, |memory, at| memory.write(at, &[1; 128]).unwrap()), []);
    assert_eq!(with_buffer(&read, |memory, at| memory.fill(at, &[1, 2, 3, 4], 32).unwrap()), []);
    assert_eq!(with_buffer(&read, |memory, at| memory.write(at, &[1; 127]).unwrap()), []);
    assert_eq!(with_buffer(&read, |memory, at| memory.write(at, &[1; 124]).unwrap()), [MEMORY]);
    let copied = |memory: &mut ptx_emulator::Memory, at: u64, written: u64| {
        let other = memory.alloc(128, "other").unwrap();
        memory.fill(other, &[7], written).unwrap();
        memory.copy(at, other, 128).unwrap();
    };
    assert_eq!(with_buffer(&read, |memory, at| copied(memory, at, 128)), []);
    assert_eq!(with_buffer(&read, |memory, at| copied(memory, at, 100)), [MEMORY]);
    // The kernel's own writes.
    let own = kernel("st.global.b32 [%a], %t; ld.global.b32 %r1, [%a]; ret;");
    assert_eq!(with_buffer(&own, |_, _| ()), []);
    let half = kernel("st.global.b16 [%a], %t; ld.global.b16 %h1, [%a+2]; ret;");
    assert_eq!(with_buffer(&half, |_, _| ()), [MEMORY]);
    // Atomics read too.
    let atomic = kernel("red.global.add.u32 [%a], 1; ret;");
    assert_eq!(with_buffer(&atomic, |_, _| ()), [MEMORY]);
    assert_eq!(with_buffer(&atomic, |memory, at| memory.fill(at, &[0], 256).unwrap()), []);
}

#[test]
fn writes_of_earlier_launches_count() {
    let source = kernel(
        "setp.ne.u32 %p1, %n, 0; @%p1 bra READ; st.global.b32 [%a], %t; ret; READ: ld.global.b32 %r1, [%a]; ret;",
    );
    let mut rig = rig(&source, "initcheck", None);
    let buffer = rig.machine.memory_mut().alloc(256, "buffer").unwrap();
    rig.launch("k", 1, 32, &params(buffer, 0)).unwrap();
    rig.launch("k", 1, 32, &params(buffer, 1)).unwrap();
    assert_eq!(rig.machine.take_findings(), []);
    rig.launch("k", 1, 33, &params(buffer, 1)).unwrap();
    let found = rig.machine.take_findings();
    assert_eq!(found.len(), 1);
    let party = found[0].party().unwrap();
    assert_eq!((party.warp(), party.lanes()), (1, 1));
}

#[test]
fn module_variables_are_zero_or_have_values() {
    let source = kernel_with(
        ".global .u32 zero; .global .align 4 .b8 part[16] = {1, 2}; .const .u32 c = 4;",
        "mov.u64 %rd1, zero; ld.global.b32 %r1, [%rd1];
         mov.u64 %rd1, part; ld.global.b32 %r2, [%rd1+12];
         mov.u64 %rd1, c; ld.const.b32 %r3, [%rd1];
         add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.b32 [%a], %r1; ret;",
    );
    clean(&source, "initcheck", 1, 32);
}

#[test]
fn shared_memory() {
    let source = |first: &str| {
        kernel_with(
            ".shared .align 4 .b8 tile[256];",
            &format!(
                "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1;
                 {first}
                 bar.sync 0;
                 xor.b32 %r1, %t, 1; mad.wide.u32 %rd3, %r1, 4, %rd1;
                 ld.shared.b32 %r2, [%rd3]; st.global.b32 [%a], %r2; ret;"
            ),
        )
    };
    clean(&source("st.shared.b32 [%rd2], %t;"), "initcheck", 2, 64);
    assert_eq!(kinds(&source(""), "initcheck", 2, 64), [MEMORY]);
    // One thread does not write.
    let one = source("setp.ne.u32 %p1, %t, 40; @%p1 st.shared.b32 [%rd2], %t;");
    assert_eq!(kinds(&one, "initcheck", 2, 64), [MEMORY]);
    let found = findings_of(&one, "initcheck", 2, 64, None);
    let party = found[0].party().unwrap();
    assert_eq!((party.warp(), party.lanes(), found[0].count()), (1, 1 << 9, 2));
    // A block does not see what another wrote.
    assert_eq!(
        kinds(
            &source("setp.eq.u32 %p1, %b, 0; @%p1 st.shared.b32 [%rd2], %t;"),
            "initcheck",
            2,
            64
        ),
        [MEMORY]
    );
}

#[test]
fn local_memory_and_calls() {
    let source = |store: &str| {
        kernel(&format!(
            ".local .align 8 .b8 depot[16]; mov.u64 %rd1, depot; {store}
             ld.local.b64 %rd2, [%rd1+8]; st.global.b64 [%o], %rd2; ret;"
        ))
    };
    assert_eq!(kinds(&source(""), "initcheck", 1, 32), [VALUE]);
    assert_eq!(kinds(&source("st.local.b64 [%rd1], %rd1;"), "initcheck", 1, 32), [VALUE]);
    clean(&source("st.local.b64 [%rd1+8], %rd1;"), "initcheck", 1, 32);
    clean(&source("st.local.v2.b32 [%rd1+8], {%t, %t};"), "initcheck", 1, 32);
    let call = |argument: &str, result: &str| {
        kernel_with(
            &format!(
                ".func (.param .b32 back) twice(.param .b32 in) {{
                    .reg .b32 %r<4>;
                    ld.param.b32 %r1, [in]; add.u32 %r2, %r1, %r1; {result} ret; }}"
            ),
            &format!(
                "{{ .param .b32 p0; .param .b32 back0; {argument}
                    call (back0), twice, (p0); ld.param.b32 %r3, [back0]; }}
                 st.global.b32 [%a], %r3; ret;"
            ),
        )
    };
    let give = "st.param.b32 [back], %r2;";
    clean(&call("st.param.b32 [p0], %t;", give), "initcheck", 1, 40);
    assert_eq!(kinds(&call("", give), "initcheck", 1, 40), [VALUE]);
    assert_eq!(kinds(&call("st.param.b32 [p0], %t;", ""), "initcheck", 1, 40), [VALUE]);
}

#[test]
fn registers() {
    // Copying and computing is no use; storing, branching and addressing is.
    clean(
        &kernel("mov.b32 %r1, %r2; add.u32 %r3, %r1, %t; mul.lo.u32 %r3, %r3, 5; ret;"),
        "initcheck",
        1,
        32,
    );
    for bad in [
        "mov.b32 %r1, %r2; add.u32 %r3, %r1, %t; st.global.b32 [%a], %r3;",
        "st.global.b32 [%a], %r1;",
        "setp.eq.u32 %p1, %r1, 7; @%p1 bra END; st.global.b32 [%a], %t; END:",
        "mad.wide.u32 %rd1, %r1, 0, %a; ld.global.b32 %r2, [%rd1];",
        "setp.lt.u32 %p1, %r1, 7; selp.b32 %r2, 1, 2, %p1; st.global.b32 [%a], %r2;",
        "red.global.add.u32 [%o], %r1;",
        "cvt.u64.u32 %rd1, %r1; st.global.b64 [%o], %rd1;",
        "shl.b32 %r1, %r2, 3; st.global.b32 [%a], %r1;",
        "mov.b32 %r1, {%h1, %h2}; prmt.b32 %r3, %r1, %r1, 0x3210; st.global.b32 [%a], %r3;",
        "shl.b32 %r1, %t, %r2; st.global.b32 [%a], %r1;",
        "vote.sync.any.pred %p2, %p1, 0xffffffff;",
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff; st.global.b32 [%a], %r1;",
    ] {
        assert_eq!(kinds(&kernel(&format!("{bad} ret;")), "initcheck", 1, 32), [VALUE], "{bad}");
    }
    for good in [
        "mov.b32 %r2, 5; mov.b32 %r1, %r2; st.global.b32 [%a], %r1;",
        // Either way has its own value; the other side's register is not looked at.
        "setp.lt.u32 %p1, %t, 7; @%p1 mov.b32 %r1, 1; selp.b32 %r2, %r1, 2, %p1; st.global.b32 [%a], %r2;",
        // Parts of a register.
        "mov.b32 %r1, 9; mov.b64 %rd1, {%r1, %r2}; cvt.u32.u64 %r3, %rd1; st.global.b32 [%a], %r3;",
        "and.b32 %r1, %r2, 0; st.global.b32 [%a], %r1;",
        "or.b32 %r1, %r2, 0xffffffff; st.global.b32 [%a], %r1;",
        "mov.b32 %r1, 9; mov.b64 %rd1, {%r2, %r1}; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r3, %rd1; st.global.b32 [%a], %r3;",
        "mov.b32 %r1, 9; mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd1; st.global.b32 [%a], %r3;",
        "mov.b16 %h1, 9; mov.b32 %r1, {%h1, %h2}; cvt.u16.u32 %h3, %r1; add.u16 %h3, %h3, 1; st.global.b16 [%a], %h3;",
        "mov.b32 %r1, 9; prmt.b32 %r3, %r1, %r2, 0x3210; st.global.b32 [%a], %r3;",
        // A false condition decides alone.
        "setp.gt.u32 %p1, %t, 999; and.pred %p3, %p1, %p2; @%p3 bra END; st.global.b32 [%a], %t; END:",
        "setp.lt.u32 %p1, %t, 999; or.pred %p3, %p1, %p2; @%p3 st.global.b32 [%a], %t;",
        "mov.b32 %r2, %t; shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff; st.global.b32 [%a], %r1;",
        "bar.red.popc.u32 %r1, 0, 1; st.global.b32 [%a], %r1;",
        "activemask.b32 %r1; mov.u32 %r2, %clock; mov.u64 %rd1, %globaltimer; add.u32 %r1, %r1, %r2; st.global.b32 [%a], %r1;",
        "add.cc.u32 %r1, %t, %t; addc.u32 %r2, %t, 0; st.global.b32 [%a], %r2;",
    ] {
        clean(&kernel(&format!("{good} ret;")), "initcheck", 1, 32);
    }
}

#[test]
fn a_variable_that_one_path_leaves_out() {
    let source = |other: &str| {
        kernel(&format!(
            "setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; {other} bra END; LOW: mov.b32 %r1, 7;
             END: st.global.b32 [%a], %r1; ret;"
        ))
    };
    clean(&source("mov.b32 %r1, 8;"), "initcheck", 1, 32);
    assert_eq!(kinds(&source(""), "initcheck", 1, 32), [VALUE]);
    let found = findings_of(&source(""), "initcheck", 1, 32, None);
    assert_eq!(found[0].party().unwrap().lanes(), 0xFFFF_0000);
    assert_eq!(found[0].severity(), Severity::Error);
    clean(&source(""), "initcheck", 1, 16);
}

#[test]
fn structures_with_gaps_may_be_copied() {
    // A byte and a word of 8 bytes; the three bytes between them are never written.
    let source = kernel_with(
        ".shared .align 8 .b8 pairs[256];",
        ".local .align 8 .b8 depot[8]; mov.u64 %rd1, depot;
         st.local.b8 [%rd1], %t; st.local.b32 [%rd1+4], %t;
         ld.local.b64 %rd2, [%rd1];
         mov.u64 %rd3, pairs; mad.wide.u32 %rd3, %t, 8, %rd3;
         st.shared.b64 [%rd3], %rd2;
         ld.shared.b64 %rd4, [%rd3];
         shr.u64 %rd5, %rd4, 32; cvt.u32.u64 %r1, %rd5; st.global.b32 [%a], %r1;
         and.b64 %rd5, %rd4, 255; cvt.u32.u64 %r1, %rd5; st.global.b32 [%a], %r1;
         ret;",
    );
    clean(&source, "initcheck", 1, 32);
    let gap = source
        .replace("and.b64 %rd5, %rd4, 255;", "shr.u64 %rd5, %rd4, 8; and.b64 %rd5, %rd5, 255;");
    assert_eq!(kinds(&gap, "initcheck", 1, 32), []);
}

#[test]
fn the_texts() {
    let source = kernel_with(
        ".shared .align 4 .b8 tile[256];",
        "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1;
         ld.shared.b32 %r2, [%rd2+64]; st.global.b32 [%a], %r2; st.global.b32 [%a], %r3; ret;",
    );
    let expected = [
        "initcheck error: read of memory that nothing has written: 4 bytes at 0x440 in shared memory
  kernel:  k, grid (1, 1, 1), block (32, 1, 1)
  address: 0x440 in shared memory, at offset 64 of `tile` (256 bytes)
  read:    block (0, 0, 0), warp 0, lanes 0-31 (first thread (0, 0, 0))
    ptx:     line 19: ld.shared.b32 %r2, [%rd2+64];
help: shared memory holds anything at first: write it, pass a barrier, then read it",
        "initcheck error: the value of a store comes from a register or local variable that nothing has written
  kernel:  k, grid (1, 1, 1), block (32, 1, 1)
  use:     block (0, 0, 0), warp 0, lanes 0-31 (first thread (0, 0, 0))
    ptx:     line 19: st.global.b32 [%a], %r3;
help: give the variable a value on every path that leads here",
    ];
    assert_eq!(texts(&source, "initcheck", 1, 32), expected);
}

#[test]
fn a_word_of_which_a_half_was_written_decides_a_branch() {
    let source = |between: &str| {
        kernel_with(
            ".shared .align 4 .b8 tile[256];",
            &format!(
                "mov.u64 %rd1, tile; mad.wide.u32 %rd2, %t, 4, %rd1; cvt.u16.u32 %h1, %t;
                 st.shared.b16 [%rd2], %h1;
                 ld.shared.b32 %r1, [%rd2];
                 {between}
                 setp.eq.u32 %p1, %r1, 7;
                 @%p1 bra END;
                 st.global.b32 [%a], %t;
             END: ret;"
            ),
        )
    };
    assert_eq!(kinds(&source(""), "initcheck", 1, 32), [VALUE]);
    assert_eq!(kinds(&source("shr.u32 %r1, %r1, 15;"), "initcheck", 1, 32), [VALUE]);
    clean(&source("and.b32 %r1, %r1, 0xffff;"), "initcheck", 1, 32);
}
