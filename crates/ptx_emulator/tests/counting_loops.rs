//! Loops whose registers move on by the same numbers each time round are executed in a way of their own. It gives the same results,
//! counters and faults as executing operation after operation, which is what happens without affine registers.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use ptx_emulator::{Launch, Machine, MachineConfig, Program};

/// Bytes of the table in global memory. Addresses that start in it may leave it.
const TABLE: usize = 16384;
/// Bytes of shared memory.
const SHARED: usize = 8192;

/// One operation of a loop's body: a sum onto an address or counter, an access, a computation.
fn operation() -> impl Strategy<Value = String> {
    let data = || (0..4u32).prop_map(|n| format!("%r{n}"));
    let step = || prop::sample::select(vec![-128i64, -4, 1, 4, 4, 8, 32, 64, 128, 128, 512, 6]);
    let offset = || prop::sample::select(vec![0, 4, -4, 128, 256]);
    prop_oneof![
        4 => step().prop_map(|by| format!("add.s64 %a, %a, {by};")),
        3 => step().prop_map(|by| format!("add.s64 %b, {by}, %b;")),
        2 => step().prop_map(|by| format!("add.s32 %s, %s, {by};")),
        2 => Just("add.s64 %a, %a, %by;".to_owned()),
        1 => Just("add.s64 %b, %by, %b;".to_owned()),
        1 => Just("add.s64 %by, %by, 4;".to_owned()),
        1 => Just("add.s32 %s, %s, %lane;".to_owned()),
        1 => Just("add.s64 %b, %a, 4;".to_owned()),
        4 => (data(), offset()).prop_map(|(to, at)| format!("ld.global.b32 {to}, [%a+{at}];")),
        3 => (data(), offset()).prop_map(|(to, at)| format!("ld.global.b32 {to}, [%b+{at}];")),
        3 => (data(), offset()).prop_map(|(to, at)| format!("ld.shared.b32 {to}, [%s+{at}];")),
        1 => offset().prop_map(|at| format!("ld.global.b64 %d, [%a+{at}];")),
        2 => (data(), offset()).prop_map(|(from, at)| format!("st.global.b32 [%b+{at}], {from};")),
        1 => (data(), offset()).prop_map(|(from, at)| format!("st.shared.b32 [%s+{at}], {from};")),
        1 => offset().prop_map(|at| format!("st.global.b64 [%b+{at}], %d;")),
        4 => (data(), data(), data()).prop_map(|(to, a, b)| format!("fma.rn.f32 {to}, {a}, {b}, {to};")),
        3 => (data(), data(), data()).prop_map(|(to, a, b)| format!("xor.b32 {to}, {a}, {b};")),
        3 => (data(), data()).prop_map(|(to, a)| format!("mad.lo.s32 {to}, {a}, 5, {to};")),
        2 => (data(), data()).prop_map(|(to, a)| format!("mov.b32 {to}, {a};")),
        1 => (data(), data()).prop_map(|(to, a)| format!("add.s32 {to}, {a}, 3;")),
        1 => data().prop_map(|to| format!("add.s32 {to}, %i, {to};")),
        1 => data().prop_map(|to| format!("cvt.u32.u64 {to}, %a;")),
        1 => Just("mov.b64 %d, %by;".to_owned()),
        1 => data().prop_map(|a| format!("setp.lt.s32 %p1, {a}, 1000;")),
        1 => data().prop_map(|to| format!("@%p1 add.s32 {to}, {to}, 1;")),
    ]
}

#[derive(Clone, Debug)]
struct Shape {
    body: Vec<String>,
    /// Where the counter starts, by what it moves on, which comparison goes on with what bound, and whether the jump is taken where it
    /// does not hold.
    counter: (i32, i32, &'static str, i32, bool),
    /// Whether the counter starts elsewhere in each lane.
    uneven: bool,
    /// Bytes from lane to lane of each address.
    strides: [u32; 3],
    /// Bytes from the start of the table.
    starts: [u32; 2],
    /// What `%by` holds.
    by: i32,
    /// Which lanes take part.
    guard: &'static str,
    block: [u32; 3],
}

fn shape() -> impl Strategy<Value = Shape> {
    let counter = (
        -3..40i32,
        prop::sample::select(vec![1, 1, -1, 2, 3]),
        prop::sample::select(vec![
            "ne.s32", "lt.s32", "le.s32", "gt.s32", "ge.u32", "eq.s32", "lt.u32",
        ]),
        -3..120i32,
        any::<bool>(),
    );
    let stride = || prop::sample::select(vec![0u32, 4, 4, 8, 32, 64, 128, 132]);
    (
        prop::collection::vec(operation(), 1..12),
        (counter, prop::bool::weighted(0.15)),
        [stride(), stride(), stride()],
        [0..TABLE as u32 / 4, 0..TABLE as u32 / 4].prop_map(|starts| starts.map(|start| start * 4)),
        prop::sample::select(vec![0, 4, 128, -4, -256]),
        prop::sample::select(vec![
            "",
            "",
            "setp.lt.u32 %p2, %lane, 9; @%p2 bra END;",
            "and.b32 %t, %lane, 1; setp.eq.u32 %p2, %t, 0; @%p2 bra END;",
        ]),
        prop::sample::select(vec![[32, 1, 1], [16, 2, 1], [16, 4, 1], [33, 1, 1], [5, 3, 1]]),
    )
        .prop_map(|(body, (counter, uneven), strides, starts, by, guard, block)| Shape {
            body,
            counter,
            uneven,
            strides,
            starts,
            by,
            guard,
            block,
        })
}

/// Loops in which each lane reads along a row of its own, which are read ahead if nothing is stored meanwhile.
fn walk() -> impl Strategy<Value = Shape> {
    let load = |to: String, at: i64| format!("ld.global.b32 {to}, [%a+{at}];");
    let offset = || prop::sample::select(vec![0i64, 4, 64, -8]);
    let data = || (0..4u32).prop_map(|n| format!("%r{n}"));
    let operation = prop_oneof![
        6 => (data(), offset()).prop_map(move |(to, at)| load(to, at)),
        2 => offset().prop_map(|at| format!("ld.global.b64 %d, [%a+{}];", at / 8 * 8)),
        1 => (data(), offset()).prop_map(|(to, at)| format!("ld.volatile.global.b32 {to}, [%a+{at}];")),
        3 => (data(), data()).prop_map(|(to, a)| format!("mad.lo.s32 {to}, {to}, 5, {a};")),
        1 => data().prop_map(|to| format!("cvt.u32.u64 {to}, %d;")),
    ];
    // Half of the loops store, some of them to what is read next.
    let store = prop_oneof![
        3 => Just(None),
        1 => offset().prop_map(|at| Some(format!("st.global.b32 [%a+{at}], %r1;"))),
        1 => Just(Some("st.global.b32 [%b], %r2;".to_owned())),
        1 => Just(Some("st.shared.b32 [%s], %r2;".to_owned())),
    ];
    let step = prop::sample::select(vec![4, 4, 8, 8, 12]);
    let stride = prop::sample::select(vec![64u32, 128, 256, 256, 384]);
    let body = (prop::collection::vec(operation, 1..6), store, step);
    (shape(), body, stride, 0..100i32, 0..1000u32).prop_map(
        |(shape, (mut body, store, step), stride, rounds, start)| {
            body.extend(store);
            body.push(format!("add.s64 %a, %a, {step};"));
            Shape {
                body,
                counter: (0, 1, "lt.s32", rounds, false),
                uneven: false,
                strides: [stride, 4, 4],
                starts: [8 * start % TABLE as u32, 8 * start],
                ..shape
            }
        },
    )
}

fn kernel(shape: &Shape) -> String {
    let (from, by, compare, to, negated) = shape.counter;
    let not = if negated { "!" } else { "" };
    let mut save = String::new();
    for (at, register) in ["%r0", "%r1", "%r2", "%r3", "%i", "%s"].into_iter().enumerate() {
        writeln!(save, "st.global.b32 [%own+{}], {register};", 4 * at).expect("a string");
    }
    for (at, register) in ["%a", "%b", "%by", "%d"].into_iter().enumerate() {
        writeln!(save, "st.global.b64 [%own+{}], {register};", 24 + 8 * at).expect("a string");
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table)
{{
    .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b32 %t; .reg .b32 %lane; .reg .b32 %i; .reg .b32 %s;
    .reg .b64 %a; .reg .b64 %b; .reg .b64 %by; .reg .b64 %d; .reg .b64 %own; .reg .b64 %table; .reg .b64 %u;
    .shared .align 8 .b8 sh[{SHARED}];
    ld.param.b64 %own, [out]; ld.param.b64 %table, [table];
    mov.u32 %r0, %tid.y; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %lane, %r0, %r1, %r2;
    mul.wide.u32 %u, %lane, 64; add.s64 %own, %own, %u;
    mul.wide.u32 %a, %r2, {}; add.s64 %a, %a, %table; add.s64 %a, %a, {};
    mul.wide.u32 %b, %lane, {}; add.s64 %b, %b, %table; add.s64 %b, %b, {};
    mul.lo.s32 %s, %lane, {}; mov.u32 %t, sh; add.s32 %s, %s, %t;
    mov.b64 %by, {}; mov.b64 %d, 5; mov.b32 %r3, 0f3F800000; mov.b32 %i, {from};
    setp.eq.s32 %p1, %r0, 0;
    {}
    {}
LOOP:
    {}
    add.s32 %i, %i, {by};
    setp.{compare} %p3, %i, {to};
    @{not}%p3 bra LOOP;
END:
{save}
    ret;
}}",
        shape.strides[0],
        shape.starts[0],
        shape.strides[1],
        shape.starts[1],
        shape.strides[2],
        shape.by,
        shape.guard,
        if shape.uneven { "add.s32 %i, %i, %lane;" } else { "" },
        shape.body.join("\n    "),
    )
}

/// Everything by which executions can differ: how it ended, memory, counters, findings.
fn run(source: &str, block: [u32; 3], checks: &str, affine: bool, fuel: u64) -> [String; 5] {
    let mut config = MachineConfig::default();
    config.affine_registers = affine;
    config.counters = true;
    config.fuel = Some(fuel);
    config.checks = checks.parse().expect("names of checks");
    let program = Arc::new(Program::compile(source).unwrap_or_else(|e| panic!("{e}\n{source}")));
    let mut machine = Machine::new(config);
    let module = machine.load(program).expect("room");
    let threads = block.iter().product::<u32>() as usize;
    let table = machine.memory_mut().alloc(TABLE as u64, "table").expect("room");
    let content: Vec<u8> = (0..TABLE).map(|at| (at * 37 + at / 251) as u8).collect();
    machine.memory_mut().write(table, &content).expect("allocated");
    let out = machine.memory_mut().alloc(64 * threads as u64, "out").expect("room");
    machine.memory_mut().fill(out, &[0xA5], 64 * threads as u64).expect("allocated");
    let params: Vec<u8> = [out, table].iter().flat_map(|value| value.to_le_bytes()).collect();
    let launch =
        Launch { kernel: "k", grid: [1, 1, 1], block, dynamic_shared_bytes: 0, params: &params };
    let end = match machine.launch(module, &launch, &mut Vec::new()) {
        Ok(report) => format!("{report:?}"),
        Err(fault) => fault.to_string(),
    };
    let mut bytes = vec![0; TABLE + 64 * threads];
    let (first, second) = bytes.split_at_mut(TABLE);
    machine.memory().read(table, first).expect("allocated");
    machine.memory().read(out, second).expect("allocated");
    // Which of several earlier accesses a hazard names may differ, so racecheck is looked at below.
    let findings = machine.take_findings();
    let (races, others): (Vec<_>, Vec<_>) = findings
        .iter()
        .map(|finding| format!("{finding}\n"))
        .partition(|text| text.starts_with("racecheck"));
    [
        end,
        format!("{bytes:?}"),
        format!("{:?}", machine.take_counters()),
        others.concat(),
        races.concat(),
    ]
}

/// Holds a loop against the same, operation after operation.
fn compare(shape: &Shape, checks: &str, fuel: u64) -> Result<(), TestCaseError> {
    let source = kernel(shape);
    let expected = run(&source, shape.block, checks, false, fuel);
    let found = run(&source, shape.block, checks, true, fuel);
    prop_assert_eq!(&expected[0], &found[0], "another end\n{}", source);
    prop_assert!(expected[1] == found[1], "other results\n{source}");
    prop_assert_eq!(&expected[2], &found[2], "other counters\n{}", source);
    prop_assert_eq!(&expected[3], &found[3], "other findings\n{}", source);
    if checks == "racecheck" {
        // With initcheck, loops are not executed in a way of their own.
        let plain = run(&source, shape.block, "racecheck,initcheck", true, fuel);
        prop_assert_eq!(&plain[4], &found[4], "other hazards\n{}", source);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    #[test]
    fn loops_that_count_end_as_others_do(
        shape in shape(),
        checks in prop::sample::select(vec!["none", "none", "memcheck", "racecheck", "racecheck", "all"]),
        fuel in prop::sample::select(vec![1200u64, 100, 517, 40_000]),
    ) {
        compare(&shape, checks, fuel)?;
    }

    #[test]
    fn walks_along_rows_end_as_other_loops_do(
        shape in walk(),
        checks in prop::sample::select(vec!["none", "none", "memcheck", "racecheck"]),
        fuel in prop::sample::select(vec![700u64, 40_000]),
    ) {
        compare(&shape, checks, fuel)?;
    }
}
