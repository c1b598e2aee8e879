//! Fuel, memory, refused launches: the endings that are no kernel bug.

mod common;

use common::{Rig, SEEDS, kernel, kernel_with, module, params};
use ptx_emulator::{Ending, FaultKind, Launch, LaunchProblem, MachineConfig, MemoryError};

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    for seed in SEEDS {
        let mut config = MachineConfig::default();
        config.fuel = Some(10_000);
        config.schedule_seed = seed;
        let mut rig = Rig::with(&kernel("LOOP: add.u32 %r1, %r1, 1; bra.uni LOOP;"), config);
        let fault = rig.launch("k", 3, 64, &params(0, 0)).expect_err("never ends");
        assert_eq!(
            (fault.kind(), fault.ending()),
            (&FaultKind::FuelExhausted, Ending::LimitReached)
        );
        let text = fault.to_string();
        assert!(
            text.starts_with("limit reached: the launch executed as many instructions"),
            "{text}"
        );
        assert!(text.contains("raise the limit of 10000 warp instructions"), "{text}");
    }
}

#[test]
fn recursion_uses_fuel() {
    let mut config = MachineConfig::default();
    config.fuel = Some(50);
    let source = kernel_with(".func f() { call f, (); ret; }", "call f, (); ret;");
    let fault = Rig::with(&source, config).launch("k", 1, 1, &params(0, 0)).expect_err("no fuel");
    assert_eq!(fault.kind(), &FaultKind::FuelExhausted);
}

#[test]
fn enough_fuel_is_enough() {
    let source = kernel("LOOP: add.u32 %n, %n, -1; setp.ne.u32 %p1, %n, 0; @%p1 bra LOOP; ret;");
    let mut config = MachineConfig::default();
    // 7 instructions before the loop and 1 after it.
    config.fuel = Some(2 * (7 + 3 * 50 + 1));
    let mut rig = Rig::with(&source, config);
    let report = rig.launch("k", 1, 40, &params(0, 50)).expect("two warps, 50 rounds each");
    assert_eq!(report.warp_instructions, 2 * (7 + 3 * 50 + 1));
    assert_eq!(report.thread_instructions, 40 * (7 + 3 * 50 + 1));
    assert_eq!(report.divergent_branches, 0);
    assert!(rig.launch("k", 1, 40, &params(0, 60)).is_err());
}

#[test]
fn launches_that_no_device_starts() {
    let source = module(
        ".visible .entry k(.param .u32 n) { .shared .b8 s[40000]; .reg .b64 %rd; mov.u64 %rd, s; ret; }
         .visible .entry limited(.param .u32 n) .maxntid 64, 1, 1 { ret; }
         .visible .entry exact(.param .u32 n) .reqntid 8, 4 { ret; }",
    );
    let mut rig = Rig::new(&source, None);
    let four = [0; 4];
    let base =
        Launch { kernel: "k", grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0, params: &four };
    let mut launch = |launch: Launch<'_>| {
        let result = rig.machine.launch(rig.module, &launch, &mut Vec::new());
        result.map_err(|fault| match fault.kind() {
            FaultKind::BadLaunch(problem) => {
                assert_eq!(fault.ending(), Ending::HostMisuse);
                assert!(fault.to_string().starts_with("launch refused: "));
                problem.clone()
            }
            other => panic!("{other:?}"),
        })
    };
    assert!(launch(base).is_ok());
    use LaunchProblem as P;
    let cases = [
        (Launch { grid: [1, 0, 1], ..base }, P::EmptyGrid([1, 0, 1])),
        (Launch { grid: [1, 65_536, 1], ..base }, P::GridTooLarge([1, 65_536, 1])),
        (Launch { grid: [1 << 31, 1, 1], ..base }, P::GridTooLarge([1 << 31, 1, 1])),
        (Launch { block: [0, 1, 1], ..base }, P::EmptyBlock([0, 1, 1])),
        (Launch { block: [1025, 1, 1], ..base }, P::BlockTooLarge([1025, 1, 1])),
        (Launch { block: [1, 1, 65], ..base }, P::BlockTooLarge([1, 1, 65])),
        (Launch { block: [u32::MAX; 3], ..base }, P::BlockTooLarge([u32::MAX; 3])),
        (
            Launch { kernel: "limited", block: [65, 1, 1], ..base },
            P::OverMaxThreads { block: [65, 1, 1], limit: [64, 1, 1] },
        ),
        (
            Launch { kernel: "exact", block: [4, 8, 1], ..base },
            P::WrongThreads { block: [4, 8, 1], required: [8, 4, 1] },
        ),
        (
            Launch { dynamic_shared_bytes: 192_449, ..base },
            P::SharedTooLarge { fixed: 40_000, dynamic: 192_449, limit: 232_448 },
        ),
        (Launch { params: &[0; 3], ..base }, P::WrongParams { given: 3, expected: 4 }),
        (
            Launch { kernel: "x", ..base },
            P::UnknownKernel { name: "x".into(), available: "k, limited, exact".into() },
        ),
    ];
    for (bad, problem) in cases {
        assert_eq!(launch(bad), Err(problem));
    }
    assert!(launch(Launch { kernel: "exact", block: [8, 4, 1], ..base }).is_ok());
    assert!(launch(Launch { dynamic_shared_bytes: 192_448, ..base }).is_ok());
    assert!(rig.machine.unload(rig.module));
    assert!(!rig.machine.unload(rig.module));
    let fault = rig.machine.launch(rig.module, &base, &mut Vec::new()).expect_err("unloaded");
    assert_eq!(fault.kind(), &FaultKind::BadLaunch(P::UnknownModule));
}

#[test]
fn modules_that_do_not_fit() {
    let program = common::compile(&module(".global .b8 small[100]; .global .b8 large[5000];"));
    let mut config = MachineConfig::default();
    config.memory_bytes = 5000;
    let mut machine = ptx_emulator::Machine::new(config);
    assert!(matches!(machine.load(program), Err(MemoryError::OutOfMemory { requested: 5000, .. })));
    assert_eq!(machine.memory().used_bytes(), 0, "nothing stays behind");
}

#[test]
fn the_device_heap() {
    let items =
        ".extern .func (.param .b64 v) malloc(.param .b64 n); .extern .func free(.param .b64 p);";
    let body = "cvt.u64.u32 %rd1, %n;
         { .param .b64 x; .param .b64 v; st.param.b64 [x], %rd1; call (v), malloc, (x); ld.param.b64 %rd2, [v]; }
         setp.eq.u64 %p1, %rd2, 0;
         @%p1 bra FULL;
         st.b32 [%rd2], %t;
         ld.b32 %r1, [%rd2];
         { .param .b64 x; st.param.b64 [x], %rd2; call free, (x); }
         st.global.b32 [%a], %r1;
         ret;
     FULL:
         st.global.b32 [%a], 77;
         ret;";
    let source = kernel_with(items, body);
    assert_eq!(common::outputs(&source, 1, 3, 64), [0, 1, 2]);
    assert_eq!(
        common::outputs(&source, 1, 3, 16 << 20),
        [77; 3],
        "malloc gives null when the heap is full"
    );
    let twice = body.replace("call free, (x); }", "call free, (x); call free, (x); }");
    let (kind, text) = common::fault_text(&kernel_with(items, &twice), 1, 1, 8);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("which was freed already"), "{text}");
    let uses = body.replace("st.global.b32 [%a], %r1;", "st.b32 [%rd2], 1;");
    let (_, text) = common::fault_text(&kernel_with(items, &uses), 1, 1, 8);
    assert!(text.contains("the freed `malloc in a kernel`"), "{text}");
}

#[test]
fn registers_of_deep_calls_are_bounded() {
    // 20,000 64-bit registers take 5 MB a warp; 256 calls of that would take 1.3 GB.
    let mut moves = String::new();
    for register in 0..20_000 {
        moves += &format!("mov.b64 %rd{register}, {register};\n");
    }
    let source = kernel_with(
        &format!(".func f() {{ .reg .b64 %rd<20000>; {moves} call f, (); ret; }}"),
        "call f, (); ret;",
    );
    let mut config = MachineConfig::default();
    config.launch_bytes = 256 << 20;
    let mut rig = Rig::with(&source, config);
    let fault = rig.launch("k", 1, 1, &params(0, 0)).expect_err("too much");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::OutOfHostMemory, Ending::LimitReached));
}
