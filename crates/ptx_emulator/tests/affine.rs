//! Registers that are computed as two numbers give the same bits and the same counters as registers that are
//! computed lane by lane, whatever the program, the shape of the block, the order of warps and blocks, and the number of threads that run
//! blocks.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use ptx_emulator::{Jobs, Launch, LaunchReport, Machine, MachineConfig, Program};

/// Registers of each width that random programs use.
const REGISTERS: u32 = 6;
/// Bytes of the table that programs read, and of shared memory.
const TABLE: usize = 4096;

/// One random instruction: text with the registers filled in.
fn instruction() -> impl Strategy<Value = String> {
    let r = || (0..REGISTERS).prop_map(|n| format!("%r{n}"));
    let d = || (0..REGISTERS).prop_map(|n| format!("%d{n}"));
    let number = || {
        prop_oneof![
            3 => (-9i64..70).prop_map(|n| n.to_string()),
            1 => any::<i32>().prop_map(|n| n.to_string()),
        ]
    };
    let r_or_number = move || prop_oneof![2 => r(), 1 => number()];
    let d_or_number = move || prop_oneof![2 => d(), 1 => number()];
    let two32 = prop::sample::select(vec![
        "add.s32",
        "sub.s32",
        "mul.lo.s32",
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "or.b32",
        "and.b32",
        "xor.b32",
        "min.s32",
        "max.u32",
        "mul.hi.u32",
        "add.u32",
        "add.f32",
        "mul.rn.f32",
    ]);
    let two64 = prop::sample::select(vec![
        "add.s64",
        "sub.s64",
        "mul.lo.s64",
        "or.b64",
        "and.b64",
        "xor.b64",
        "min.u64",
        "max.s64",
        "add.f64",
    ]);
    let widen = prop::sample::select(vec!["cvt.u64.u32", "cvt.s64.s32"]);
    let wide = prop::sample::select(vec!["mul.wide.u32", "mul.wide.s32"]);
    let mad_wide = prop::sample::select(vec!["mad.wide.u32", "mad.wide.s32"]);
    let compare = prop::sample::select(vec!["lt.s32", "eq.s32", "ge.u32", "ne.s32", "gt.f32"]);
    prop_oneof![
        6 => (two32, r(), r(), r_or_number()).prop_map(|(op, d, a, b)| format!("{op} {d}, {a}, {b};")),
        4 => (two64, d(), d(), d_or_number()).prop_map(|(op, d, a, b)| format!("{op} {d}, {a}, {b};")),
        2 => (d(), d(), r_or_number()).prop_map(|(to, a, b)| format!("shl.b64 {to}, {a}, {b};")),
        2 => (r(), r(), r_or_number(), r()).prop_map(|(to, a, b, c)| format!("mad.lo.s32 {to}, {a}, {b}, {c};")),
        2 => (widen, d(), r()).prop_map(|(op, to, a)| format!("{op} {to}, {a};")),
        1 => (r(), d()).prop_map(|(to, a)| format!("cvt.u32.u64 {to}, {a};")),
        1 => (r(), r()).prop_map(|(to, a)| format!("neg.s32 {to}, {a};")),
        1 => (r(), r()).prop_map(|(to, a)| format!("cvt.s32.s8 {to}, {a};")),
        2 => (wide, d(), r(), r_or_number()).prop_map(|(op, to, a, b)| format!("{op} {to}, {a}, {b};")),
        2 => (mad_wide, d(), r(), r(), d()).prop_map(|(op, to, a, b, c)| format!("{op} {to}, {a}, {b}, {c};")),
        1 => (r(), r_or_number()).prop_map(|(to, a)| format!("mov.b32 {to}, {a};")),
        1 => (d(), d_or_number()).prop_map(|(to, a)| format!("mov.b64 {to}, {a};")),
        2 => (compare, 0..3u32, r(), r_or_number()).prop_map(|(op, p, a, b)| {
            let b = if op.ends_with("f32") { "0f3F800000".to_owned() } else { b };
            format!("setp.{op} %p{p}, {a}, {b};")
        }),
        1 => (r(), r(), r(), 0..3u32).prop_map(|(to, a, b, p)| format!("selp.b32 {to}, {a}, {b}, %p{p};")),
        1 => (d(), d(), d(), 0..3u32).prop_map(|(to, a, b, p)| format!("selp.b64 {to}, {a}, {b}, %p{p};")),
        // Reads from anywhere in the table, wherever the register points.
        3 => (r(), r()).prop_map(|(to, at)| format!(
            "and.b32 %t, {at}, {}; cvt.u64.u32 %u, %t; add.s64 %u, %u, %table; ld.global.b32 {to}, [%u];", TABLE - 4
        )),
        2 => (d(), r()).prop_map(|(to, at)| format!(
            "and.b32 %t, {at}, {}; cvt.u64.u32 %u, %t; add.s64 %u, %u, %table; ld.global.b64 {to}, [%u];", TABLE - 8
        )),
        // Evenly spaced reads, inside for every lane.
        3 => (r(), 0..64u32, 0..5u32).prop_map(|(to, first, shift)| format!(
            "shl.b32 %t, %lane, {shift}; add.s32 %t, %t, {first}; mul.wide.u32 %u, %t, 4; add.s64 %u, %u, %table; ld.global.b32 {to}, [%u];"
        )),
        2 => (r(), 0..64u32).prop_map(|(to, first)| format!(
            "shl.b32 %t, %lane, 2; add.s32 %t, %t, sh; ld.shared.b32 {to}, [%t+{}];", 4 * first
        )),
        1 => (r(), 0..64u32).prop_map(|(to, first)| format!("ld.shared.b32 {to}, [sh+{}];", 4 * first)),
        // Each thread has its own place to write.
        2 => r().prop_map(|from| format!("st.global.b32 [%own], {from};")),
        1 => d().prop_map(|from| format!("st.global.b64 [%own+8], {from};")),
        1 => (r(), r()).prop_map(|(to, from)| format!("st.local.b32 [mine+4], {from}; ld.local.b32 {to}, [mine+4];")),
        1 => (r(), 0..32u32).prop_map(|(to, lane)| format!("shfl.sync.idx.b32 {to}, {to}, {lane}, 31, -1;")),
    ]
}

/// A kernel: a loop of random instructions, some of them guarded, some skipped by some lanes.
fn kernel(body: &[(u32, String)]) -> String {
    let mut text = String::new();
    for (index, (guard, instruction)) in body.iter().enumerate() {
        let collective = instruction.contains("shfl");
        let alone = instruction.matches(';').count() == 1;
        match guard {
            0..6 if !collective && alone => {
                let not = if guard % 2 == 0 { "" } else { "!" };
                writeln!(text, "@{not}%p{} {instruction}", guard / 2).expect("a string");
            }
            6..9 if !collective => {
                writeln!(text, "@%p{} bra SKIP{index};\n{instruction}\nSKIP{index}:", guard - 6)
                    .expect("a string")
            }
            _ => writeln!(text, "{instruction}").expect("a string"),
        }
    }
    let mut save = String::new();
    for n in 0..REGISTERS {
        writeln!(save, "st.global.b32 [%own+{}], %r{n};", 16 + 4 * n).expect("a string");
        writeln!(save, "st.global.b64 [%own+{}], %d{n};", 48 + 8 * n).expect("a string");
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table)
{{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b32 %t; .reg .b32 %lane; .reg .b32 %i;
    .reg .b64 %u; .reg .b64 %own; .reg .b64 %table;
    .shared .align 8 .b8 sh[{TABLE}]; .local .align 8 .b8 mine[16];
    ld.param.b64 %own, [out]; ld.param.b64 %table, [table];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x;
    mov.u32 %lane, %laneid; mov.u32 %r5, %laneid;
    mad.lo.s32 %r4, %r1, %r2, %r0; mov.u32 %t, %ntid.y; mul.lo.s32 %t, %t, %r2; mad.lo.s32 %r4, %r3, %t, %r4;
    mul.wide.u32 %u, %r4, 96; add.s64 %own, %own, %u;
    cvt.u64.u32 %d0, %r0; cvt.u64.u32 %d1, %r4; mov.b64 %d2, 5; mov.b64 %d3, %own; shl.b64 %d4, %d0, 3; mov.b64 %d5, -1;
    setp.lt.u32 %p0, %r0, 5; setp.eq.s32 %p1, %r1, 0; setp.gt.u32 %p2, %lane, 15;
    // Shared memory is filled by all, then only read.
    shl.b32 %t, %lane, 5; add.s32 %t, %t, sh;
    {}
    bar.sync 0;
    mov.b32 %i, 0;
LOOP:
{text}
    add.s32 %i, %i, 1; setp.lt.s32 %p3, %i, 3; @%p3 bra LOOP;
{save}
    ret;
}}",
        (0..32).map(|n| format!("st.shared.b32 [%t+{}], {};", 4 * n, 77 * n)).collect::<String>(),
    )
}

struct Outcome {
    bytes: Vec<u8>,
    counters: String,
    report: LaunchReport,
}

fn run(source: &str, block: [u32; 3], config: MachineConfig) -> Outcome {
    let program = Arc::new(Program::compile(source).unwrap_or_else(|e| panic!("{e}\n{source}")));
    let mut machine = Machine::new(config);
    let module = machine.load(program).expect("room");
    let grid = [3, 1, 1];
    let bytes = 96 * 3 * block.iter().product::<u32>() as usize;
    let out = machine.memory_mut().alloc(bytes as u64, "out").expect("room");
    machine.memory_mut().fill(out, &[0xA5], bytes as u64).expect("allocated");
    let table = machine.memory_mut().alloc(TABLE as u64 * 2, "table").expect("room");
    let content: Vec<u8> = (0..TABLE * 2).map(|at| (at * 37 + at / 251) as u8).collect();
    machine.memory_mut().write(table, &content).expect("allocated");
    let params: Vec<u8> = [out, table].iter().flat_map(|value| value.to_le_bytes()).collect();
    let launch = Launch { kernel: "k", grid, block, dynamic_shared_bytes: 0, params: &params };
    let report = machine.launch(module, &launch, &mut Vec::new());
    let report = report.unwrap_or_else(|fault| panic!("{fault}\n{source}"));
    let mut content = vec![0; bytes];
    machine.memory().read(out, &mut content).expect("allocated");
    let counters = machine.take_counters().map(|counters| format!("{counters:?}"));
    Outcome { bytes: content, counters: counters.unwrap_or_default(), report }
}

fn config(affine_registers: bool, schedule_seed: Option<u64>) -> MachineConfig {
    let mut config = MachineConfig::default();
    config.affine_registers = affine_registers;
    config.counters = true;
    config.schedule_seed = schedule_seed;
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn tags_change_nothing(
        body in prop::collection::vec((0u32..24, instruction()), 1..25),
        block in prop::sample::select(vec![[32, 1, 1], [64, 2, 1], [16, 4, 1], [8, 8, 1], [33, 1, 1], [5, 3, 2], [48, 1, 1]]),
        seed in any::<u64>(),
    ) {
        let source = kernel(&body);
        let plain = run(&source, block, config(false, None));
        for (tags, seed, jobs) in [
            (true, None, 1), (true, Some(seed), 1), (false, Some(seed), 1),
            (true, None, 2), (true, Some(seed), 3), (false, Some(seed), 2),
        ] {
            let mut config = config(tags, seed);
            config.jobs = Jobs::new(jobs);
            let found = run(&source, block, config);
            prop_assert!(plain.bytes == found.bytes, "other results\n{source}");
            prop_assert_eq!(&plain.counters, &found.counters, "other counters\n{}", source);
            prop_assert_eq!(plain.report, found.report);
        }
    }
}
