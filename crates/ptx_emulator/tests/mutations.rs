//! The promise: whatever the text, `compile` refuses it or every launch ends properly; nothing panics.

mod common;

use std::sync::Arc;

use proptest::prelude::*;
use ptx_emulator::{CheckSet, Launch, Machine, MachineConfig, Program};

/// Modules with most kinds of instructions, to be damaged.
fn specimens() -> Vec<String> {
    let shared = ".shared .align 16 .b8 tile[256]; .extern .shared .align 16 .b8 dynamic[]; .global .align 8 .u64 table[2] = {generic(g), f};
        .global .u32 g = 5; .const .u32 c[4] = {1, 2, 3};
        .extern .func (.param .b32 v) vprintf(.param .b64 f, .param .b64 a);
        .func (.param .b32 v) f(.param .b32 x) { .reg .b32 %r<3>; .reg .pred %p; .local .align 8 .b8 depot[16]; ld.param.b32 %r1, [x];
          setp.eq.u32 %p, %r1, 0; @%p bra DONE; sub.u32 %r1, %r1, 1;
          { .param .b32 a; .param .b32 w; st.param.b32 [a], %r1; call (w), f, (a); ld.param.b32 %r1, [w]; } DONE: st.param.b32 [v], %r1; ret; }";
    vec![
        common::kernel_with(
            shared,
            "mov.u64 %rd1, tile; mul.wide.u32 %rd2, %t, 4; add.u64 %rd3, %rd1, %rd2;
             st.shared.b32 [%rd3], %t; bar.sync 0; ld.shared.v2.b32 {%r1, %r2}, [%rd1+8];
             shfl.sync.bfly.b32 %r3|%p1, %r1, 1, 31, -1; vote.sync.ballot.b32 %r4, %p1, -1;
             atom.shared.add.u32 %r5, [%rd1], 3; cvta.shared.u64 %rd4, %rd1; ld.b32 %r6, [%rd4+16];
             fma.rn.f32 %r7, %r1, %r2, %r3; cvt.rzi.s32.f32 %r8, %r7; cvt.f64.f32 %rd5, %r7; div.rn.f64 %rd5, %rd5, %rd5;
             setp.lt.and.f32 %p2|%p3, %r7, %r1, !%p1; selp.b32 %r9, %r8, %r7, %p2; prmt.b32 %r9, %r9, %r8, 0x3210;
             add.cc.u32 %r10, %r9, %r8; addc.u32 %r11, %r10, 0; bfe.u32 %r12, %r11, 3, 5; st.global.b32 [%a], %r12; ret;",
        ),
        common::kernel_with(
            shared,
            "mov.b32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; rem.u32 %r2, %r1, 3; T: .branchtargets A, B, A;
             brx.idx %r2, T; A: add.u32 %r3, %r3, 1; B: setp.lt.u32 %p1, %r1, 20; @%p1 bra LOOP;
             { .param .b32 x; .param .b32 v; st.param.b32 [x], %t; call (v), f, (x); ld.param.b32 %r4, [v]; }
             mov.u64 %rd1, f; { .param .b32 x; .param .b32 v; st.param.b32 [x], 2; P: .callprototype (.param .b32 _) _ (.param .b32 _);
             call (v), %rd1, (x), P; }
             .local .align 8 .b8 depot[32]; mov.u64 %rd2, depot; st.local.b32 [%rd2+4], %r4; cvta.local.u64 %rd2, %rd2; ld.b64 %rd3, [%rd2];
             alloca.u64 %rd4, 64, 16; stacksave.u64 %rd5; stackrestore.u64 %rd5;
             mov.b64 {%r5, %r6}, %rd3; match.any.sync.b32 %r7, %r5, -1; redux.sync.add.u32 %r8, %r7, -1; elect.sync %r9|%p2, -1;
             bar.red.popc.u32 %r10, 1, %p2; bar.arrive 2, 64; activemask.b32 %r11; ld.const.b32 %r12, [c+4]; red.global.max.s32 [g], %r12;
             cvt.rn.f16x2.f32 %r13, %r12, %r11; add.f16x2 %r13, %r13, %r13; ex2.approx.f32 %r14, %r13; nanosleep.u32 5;
             mov.u64 %rd6, %clock64; isspacep.shared %p3, %rd6; @!%p3 exit; trap;",
        ),
        common::kernel_with(
            shared,
            "setp.ge.u32 %p1, %t, 32; @%p1 exit; mov.u32 %r1, tile; setp.eq.u32 %p2, %t, 0; and.b32 %r2, %t, 3;
             mad.lo.u32 %r2, %r2, 16, %r1; mov.u64 %rd1, table; cp.async.ca.shared.global.L2::128B [%r2], [%rd1], 8, 4;
             cp.async.cg.shared.global [%r2+64], [%rd1], 16, !%p2; cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
             @%p2 mbarrier.init.shared.b64 [%r1+128], 64; bar.warp.sync -1; cp.async.mbarrier.arrive.noinc.shared.b64 [%r1+128];
             mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1+128], 4; mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1+128], 4;
             W: mbarrier.try_wait.parity.shared.b64 %p3, [%r1+128], 0, 100; @!%p3 bra W; mbarrier.pending_count.b64 %r3, %rd2;
             ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r3, %r4, %r5, %r6}, [%r2]; movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r3;
             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11}, {%r3, %r4, %r5, %r6}, {%r7, %r4}, {%r8, %r9, %r10, 0};
             mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 {%r8, %r9, %r10, %r11}, {%r3, %r4}, {%r7}, {%r8, %r9, %r10, 0};
             mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%rd3, %rd4}, {%rd1}, {%rd2}, {%rd3, %rd4};
             mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r8, %r9}, {%r3}, {%r7}, {%r8, %r9};
             stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2+64], {%r8, %r9}; mapa.shared::cluster.u32 %r12, %r1, 0;
             bar.warp.sync -1; @%p2 mbarrier.inval.shared.b64 [%r1+128]; griddepcontrol.wait; st.global.b32 [%a], %r10; ret;",
        ),
    ]
}

/// Compiles and, if that works, runs with little of everything; with checks and without, which must do the same.
fn survive(source: &str) {
    let Ok(program) = Program::compile(source) else {
        return;
    };
    let program = Arc::new(program);
    assert_eq!(
        run(&program, source.len(), CheckSet::NONE),
        run(&program, source.len(), CheckSet::ALL)
    );
}

/// How each kernel's launch ended, and what is in its output then.
fn run(program: &Arc<Program>, seed: usize, checks: CheckSet) -> Vec<(String, Vec<u8>)> {
    let mut config = MachineConfig::default();
    config.fuel = Some(20_000);
    config.memory_bytes = 1 << 20;
    config.schedule_seed = Some(seed as u64);
    config.checks = checks;
    let mut machine = Machine::new(config);
    let names: Vec<(String, u32)> =
        program.kernels().map(|kernel| (kernel.name.clone(), kernel.param_bytes)).collect();
    let Ok(module) = machine.load(Arc::clone(program)) else {
        return Vec::new();
    };
    let out = machine.memory_mut().alloc(4096, "out").expect("1 MiB is there");
    let mut ends = Vec::new();
    for (kernel, bytes) in names {
        let mut params = vec![0; (bytes as usize).max(16)];
        params[..8].copy_from_slice(&out.to_le_bytes());
        let launch = Launch {
            kernel: &kernel,
            grid: [2, 1, 1],
            block: [40, 1, 1],
            dynamic_shared_bytes: 64,
            params: &params,
        };
        let end = match machine.launch(module, &launch, &mut Vec::new()) {
            Ok(report) => format!("{report:?}"),
            Err(fault) => {
                assert!(fault.to_string().contains("\nhelp: "));
                format!("{:?}", fault.kind())
            }
        };
        for finding in machine.take_findings() {
            assert!(finding.to_string().contains("\nhelp: "));
        }
        let mut content = vec![0; 4096];
        machine.memory().read(out, &mut content).expect("allocated");
        ends.push((end, content));
    }
    ends
}

#[test]
fn the_specimens_themselves_compile() {
    for source in specimens() {
        let program = Program::compile(&source).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(program.unsupported_instructions(), []);
        survive(&source);
        // Whole, they come to their end.
        let ends = run(&Arc::new(program), 0, CheckSet::NONE);
        assert!(ends[0].0.starts_with("LaunchReport"), "{}", ends[0].0);
    }
}

/// What a word can be exchanged with.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Register(String),
    Modifier,
    Number,
    Other,
}

fn kind(source: &str, (start, end): (usize, usize)) -> Kind {
    let word = &source[start..end];
    match word.as_bytes()[0] {
        b'%' => Kind::Register(word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()),
        b'0'..=b'9' | b'-' | b'+' => Kind::Number,
        _ if source[..start].ends_with('.') => Kind::Modifier,
        _ => Kind::Other,
    }
}

/// Words of the kernel's instructions.
fn words(source: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    let kernel = source.rfind("mad.wide.u32 %a").unwrap_or(0);
    for (at, c) in source.char_indices().chain([(source.len(), ' ')]) {
        let inside = c.is_ascii_alphanumeric() || "%_$+-".contains(c);
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    words.retain(|word| word.0 > kernel);
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Replaces words by others of their kind: instructions that are well-formed, with wrong registers, types and addresses.
    #[test]
    fn exchanged_words(which in 0usize..3, swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8)) {
        let mut source = specimens().swap_remove(which);
        for (to, from) in swaps {
            let all = words(&source);
            let to = all[to.index(all.len())];
            let same: Vec<(usize, usize)> = all.into_iter().filter(|word| kind(&source, *word) == kind(&source, to)).collect();
            let from = same[from.index(same.len())];
            let word = source[from.0..from.1].to_owned();
            source.replace_range(to.0..to.1, &word);
        }
        survive(&source);
    }

    /// Replaces numbers by those that sit at limits.
    #[test]
    fn extreme_numbers(which in 0usize..3, changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..14), 1..8)) {
        const EXTREMES: [&str; 14] = [
            "0", "-1", "4294967295", "4294967296", "18446744073709551615", "-9223372036854775808", "0x7fffffff", "1", "65536", "31", "32", "1024", "-2", "3",
        ];
        let mut source = specimens().swap_remove(which);
        for (at, extreme) in changes {
            let numbers: Vec<(usize, usize)> = words(&source).into_iter().filter(|word| kind(&source, *word) == Kind::Number).collect();
            let at = numbers[at.index(numbers.len())];
            source.replace_range(at.0..at.1, EXTREMES[extreme]);
        }
        survive(&source);
    }

    /// Replaces words by numbers and types that sit at limits.
    #[test]
    fn extreme_words(which in 0usize..3, changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..26), 1..5)) {
        const EXTREMES: [&str; 26] = [
            "0", "-1", "4294967295", "4294967296", "18446744073709551615", "-9223372036854775808", "0x7fffffff", "1", "65536", "0f7FC00000",
            "0dFFF0000000000000", "b128", "b8", "u64", "s16", "f64", "pred", "v8", "b32", "f16x2", "%r19", "%rd19", "%p7", "_", "16", "generic",
        ];
        let mut source = specimens().swap_remove(which);
        for (at, extreme) in changes {
            let words = words(&source);
            let at = words[at.index(words.len())];
            source.replace_range(at.0..at.1, EXTREMES[extreme]);
        }
        survive(&source);
    }

    /// Damages bytes.
    #[test]
    fn flipped_bytes(which in 0usize..3, changes in prop::collection::vec((any::<prop::sample::Index>(), 0x09u8..0x7f), 1..8)) {
        let mut bytes = specimens().swap_remove(which).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    /// Removes a piece.
    #[test]
    fn missing_pieces(which in 0usize..3, at in any::<prop::sample::Index>(), length in 1usize..60) {
        let mut source = specimens().swap_remove(which);
        let start = at.index(source.len());
        let end = (start + length).min(source.len());
        source.replace_range(start..end, "");
        survive(&source);
    }
}
