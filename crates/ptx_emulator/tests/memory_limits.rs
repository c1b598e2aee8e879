//! What PTX may take of the host's memory, measured: every byte that is allocated is counted. Beside each module that asks for too
//! much stands one that asks for a little less and runs.

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{Rig, kernel_with, module, params};
use peak_alloc::PeakAlloc;
use ptx_emulator::{
    CompileErrorKind, Ending, Fault, FaultKind, Launch, LaunchProblem, Machine, MachineConfig,
    MemoryError, Program,
};

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

const MIB: u64 = 1 << 20;
/// What may be taken beside what the limit is about: texts, decoded programs, lists.
const REST: u64 = 16 * MIB;

/// The counter counts for all threads, so tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `run` gives, and the bytes that were allocated during it at the same time, at most.
fn measured<T>(run: impl FnOnce() -> T) -> (T, u64) {
    COUNTED.reset_peak_usage();
    let before = COUNTED.current_usage();
    let result = run();
    (result, COUNTED.peak_usage().saturating_sub(before) as u64)
}

/// The machines under which a launch must end the same way.
fn configs(launch_bytes: u64) -> Vec<MachineConfig> {
    let variants = [(None, true), (Some(1), true), (Some(42), false)];
    let config = |(seed, affine)| {
        let mut config = MachineConfig::default();
        config.launch_bytes = launch_bytes;
        // The largest that a host can set.
        config.stack_limit = 512 << 10;
        config.schedule_seed = seed;
        config.affine_registers = affine;
        config
    };
    variants.map(config).into()
}

/// Launches kernel `k` of a module with `launch_bytes` to take. It takes no more than that, and storage that is moved as it grows.
fn launch(
    source: &str,
    launch_bytes: u64,
    grid: u32,
    block: u32,
    n: u32,
) -> Result<(), Box<Fault>> {
    let mut results = configs(launch_bytes).into_iter().map(|config| {
        let mut rig = Rig::with(source, config);
        let out = rig.words("out", &[0]);
        let (result, peak) = measured(|| rig.launch("k", grid, block, &params(out, n)));
        assert!(peak < 2 * launch_bytes + REST, "{peak} bytes were taken");
        result.map(|_| ())
    });
    let first = results.next().expect("there are configurations");
    for result in results {
        let kind =
            |result: &Result<(), Box<Fault>>| result.as_ref().err().map(|f| f.kind().clone());
        assert_eq!(kind(&result), kind(&first));
    }
    first
}

/// The launch ends at the limit of memory, and says so.
#[track_caller]
fn reaches_limit(result: Result<(), Box<Fault>>, launch_bytes: u64) {
    let fault = result.expect_err("needs more than there is");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::OutOfHostMemory, Ending::LimitReached));
    let text = fault.to_string();
    assert!(
        text.starts_with("limit reached: the launch needs more of the host's memory"),
        "{text}"
    );
    assert!(text.contains(&format!("may take {launch_bytes} bytes")), "{text}");
    assert!(text.contains("or raise the limit"), "{text}");
}

/// Why a module is refused; finding out takes little memory.
fn refused(source: &str) -> (CompileErrorKind, String) {
    let (result, peak) = measured(|| Program::compile(source));
    assert!(peak < REST, "{peak} bytes were taken");
    let error = result.expect_err("too large");
    (error.kind(), error.to_string())
}

#[test]
fn registers_of_all_warps_count_together() {
    let _turn = alone();
    // 4,000 registers of 8 bytes, and as many numbers, take 2.3 MB a warp.
    let moves: String = (0..4000).map(|at| format!("mov.b64 %q{at}, {at};\n")).collect();
    let source = kernel_with("", &format!(".reg .b64 %q<4000>; {moves} ret;"));
    reaches_limit(launch(&source, 64 * MIB, 1, 1024, 0), 64 * MIB);
    launch(&source, 64 * MIB, 3, 768, 0).expect("24 warps fit");
}

#[test]
fn local_memory_of_all_threads_counts() {
    let _turn = alone();
    let source = |bytes: u32| {
        let body = format!(
            ".local .align 8 .b8 big[{bytes}]; mov.u64 %rd1, big; st.local.b32 [%rd1], 1; ret;"
        );
        kernel_with("", &body)
    };
    let (kind, text) = refused(&source(600_000));
    assert_eq!(kind, CompileErrorKind::Invalid);
    assert!(
        text.contains("needs 600000 bytes of local memory a thread; at most 524288 are possible"),
        "{text}"
    );
    assert!(refused(&source(u32::MAX)).1.contains("bytes of local memory a thread"));
    // 1024 threads with 400 KB each take 400 MB.
    reaches_limit(launch(&source(400_000), 64 * MIB, 1, 1024, 0), 64 * MIB);
    launch(&source(400_000), 64 * MIB, 1, 128, 0).expect("128 threads take 50 MB");
}

#[test]
fn recursion_of_all_threads_counts() {
    let _turn = alone();
    let items = ".func f(.param .u32 left) {
        .local .align 8 .b8 frame[1000]; .reg .b64 %rd; .reg .b32 %r; .reg .pred %p;
        ld.param.u32 %r, [left];
        mov.u64 %rd, frame;
        st.local.b32 [%rd], %r;
        setp.eq.u32 %p, %r, 0;
        @%p ret;
        sub.u32 %r, %r, 1;
        { .param .u32 x; st.param.b32 [x], %r; call f, (x); }
        ret; }";
    let body = "{ .param .u32 x; st.param.b32 [x], %n; call f, (x); } ret;";
    let source = kernel_with(items, body);
    reaches_limit(launch(&source, 64 * MIB, 1, 1024, 250), 64 * MIB);
    launch(&source, 64 * MIB, 1, 1024, 25).expect("26 frames of 1024 threads take 27 MB");
}

#[test]
fn stacks_that_grow_step_by_step_count() {
    let _turn = alone();
    let body = "LOOP: alloca.u64 %rd1, 4096, 8;
         st.local.b32 [%rd1], %n;
         sub.u32 %n, %n, 1;
         setp.ne.u32 %p1, %n, 0;
         @%p1 bra LOOP;
         ret;";
    let source = kernel_with("", body);
    reaches_limit(launch(&source, 64 * MIB, 1, 1024, 100), 64 * MIB);
    launch(&source, 64 * MIB, 1, 1024, 6).expect("6 steps of 4 MB");
    let fault = launch(&source, 64 * MIB, 1, 32, 1000).expect_err("4 MB of stack");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::StackOverflow, Ending::KernelBug));
}

#[test]
fn shared_memory_is_bounded_before_it_is_taken() {
    let _turn = alone();
    let source = |bytes: u64| {
        kernel_with(
            "",
            &format!(
                ".shared .align 8 .b8 big[{bytes}]; mov.u64 %rd1, big; st.shared.b32 [%rd1], 1; ret;"
            ),
        )
    };
    let fault = launch(&source(300_000), 64 * MIB, 1, 1, 0).expect_err("more than a block has");
    assert!(matches!(fault.kind(), FaultKind::BadLaunch(LaunchProblem::SharedTooLarge { .. })));
    let (kind, text) = refused(&source(1 << 40));
    assert_eq!(kind, CompileErrorKind::Invalid);
    assert!(text.contains("bytes of shared memory"), "{text}");
    launch(&source(232_448), 64 * MIB, 5, 1, 0).expect("what a block has");
}

#[test]
fn variables_are_bounded_by_the_memory_of_the_device() {
    let _turn = alone();
    for space in [".global", ".const"] {
        let load = |bytes: u64, count: usize| {
            let variables: String = (0..count)
                .map(|at| format!("{space} .align 8 .b8 v{at}[{bytes}] = {{1, 2}};\n"))
                .collect();
            let program = common::compile(&module(&variables));
            let mut config = MachineConfig::default();
            config.memory_bytes = 8 * MIB;
            let mut machine = Machine::new(config);
            let (result, peak) = measured(|| machine.load(program));
            assert!(peak < 2 * 8 * MIB + MIB, "{peak} bytes were taken");
            result.map(|_| ())
        };
        for (bytes, count) in [(1 << 39, 1), (9 * MIB, 1), (MIB, 9)] {
            let refused = load(bytes, count).expect_err("more than the device has");
            assert!(matches!(refused, MemoryError::OutOfMemory { .. }), "{refused}");
        }
        assert_eq!(load(MIB, 8), Ok(()));
    }
}

#[test]
fn parameters_are_bounded() {
    let _turn = alone();
    let source = |bytes: u64| {
        module(&format!(".visible .entry k(.param .align 8 .b8 p[{bytes}]) {{ ret; }}"))
    };
    assert_eq!(refused(&source(40_000)).0, CompileErrorKind::Invalid);
    assert_eq!(refused(&source(1 << 39)).0, CompileErrorKind::Invalid);
    assert!(Program::compile(&source(32_000)).is_ok());
    let called = |bytes: u64| {
        kernel_with(
            &format!(".func f(.param .align 8 .b8 p[{bytes}]) {{ ret; }}"),
            &format!("{{ .param .align 8 .b8 x[{bytes}]; call f, (x); }} ret;"),
        )
    };
    for bytes in [600_000, 1 << 39] {
        let (kind, text) = refused(&called(bytes));
        assert_eq!(kind, CompileErrorKind::Invalid);
        assert!(text.contains("bytes of local memory a thread"), "{text}");
    }
    launch(&called(100_000), 64 * MIB, 1, 32, 0).expect("twice 3.2 MB");
}

#[test]
fn many_functions_take_memory_by_the_length_of_their_text() {
    let _turn = alone();
    const FUNCTIONS: usize = 20_000;
    let mut items = String::from(".func f0() { ret; }\n");
    for at in 1..FUNCTIONS {
        items += &format!(".func f{at}() {{ call f{}, (); ret; }}\n", at - 1);
    }
    let source = kernel_with(&items, "call f200, (); ret;");
    let (program, peak) = measured(|| Program::compile(&source));
    program.expect("a module as any other");
    assert!(peak < 60 * source.len() as u64, "{peak} bytes for a text of {}", source.len());
    launch(&source, 8 * MIB, 1, 64, 0).expect("200 calls deep");
    let source = kernel_with(&items, &format!("call f{}, (); ret;", FUNCTIONS - 1));
    let fault = launch(&source, 8 * MIB, 1, 64, 0).expect_err("20,000 calls deep");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::CallDepth, Ending::LimitReached));
}

#[test]
fn many_kernels_that_reach_many_functions_are_refused() {
    let _turn = alone();
    // Each kernel reaches each function: the product is what a list of both would take.
    let source = |count: usize| {
        let mut items = String::from(".func f0() { ret; }\n");
        for at in 1..count {
            items += &format!(".func f{at}() {{ call f{}, (); ret; }}\n", at - 1);
        }
        for at in 0..count {
            items += &format!(".visible .entry k{at}() {{ call f{}, (); ret; }}\n", count - 1);
        }
        module(&items)
    };
    let source_of_many = source(6000);
    let (result, peak) = measured(|| Program::compile(&source_of_many));
    let error = result.expect_err("36 million steps");
    assert_eq!(error.kind(), CompileErrorKind::Unsupported);
    assert!(error.to_string().contains("load fewer kernels in one module"), "{error}");
    assert!(peak < 160 * MIB, "{peak} bytes were taken");
    assert!(Program::compile(&source(1000)).is_ok());
}

/// Blocks that wait until all have come.
fn grid_barrier(locals: u32) -> String {
    let body = format!(
        ".local .align 8 .b8 own[{locals}]; mov.u64 %rd1, own; st.local.b32 [%rd1], 1;
         atom.global.add.u32 %r1, [%o], 1;
         WAIT: ld.volatile.global.u32 %r2, [%o];
         setp.lt.u32 %p1, %r2, %n;
         @%p1 bra WAIT;
         ret;"
    );
    kernel_with("", &body)
}

#[test]
fn blocks_that_wait_for_each_other_share_the_memory() {
    let _turn = alone();
    // A block takes 0.7 MB; at most half of the memory is given to blocks before others end.
    let source = grid_barrier(20_000);
    launch(&source, 64 * MIB, 30, 1, 30).expect("30 blocks fit");
    for mut config in configs(8 * MIB) {
        config.fuel = Some(300_000);
        let mut rig = Rig::with(&source, config);
        let out = rig.words("out", &[0]);
        let (result, peak) = measured(|| rig.launch("k", 30, 1, &params(out, 30)));
        assert!(peak < 2 * 8 * MIB + REST, "{peak} bytes were taken");
        assert_eq!(result.expect_err("not all can wait").kind(), &FaultKind::FuelExhausted);
    }
    // Those that wait for nobody run one after the other.
    launch(&source, 2 * MIB, 30, 1, 0).expect("one at a time");
}

#[test]
fn copies_in_flight_count() {
    let _turn = alone();
    let body = ".shared .align 16 .b8 tile[16]; mov.u32 %r1, tile;
         LOOP: cp.async.ca.shared.global [%r1], [%o], 4;
         cp.async.commit_group;
         sub.u32 %n, %n, 1;
         setp.ne.u32 %p1, %n, 0;
         @%p1 bra LOOP;
         ret;";
    let source = kernel_with("", body);
    // 512 copies and groups of each of 1024 threads are kept, 40 MB.
    reaches_limit(launch(&source, 8 * MIB, 1, 1024, 2000), 8 * MIB);
    launch(&source, 64 * MIB, 1, 1024, 2000).expect("fits");
    launch(&source, 8 * MIB, 1, 1024, 10).expect("few copies");
}

#[test]
fn small_allocations_of_kernels_cost_the_heap_what_they_cost_the_host() {
    let _turn = alone();
    let items = ".extern .func (.param .b64 v) malloc(.param .b64 n);";
    let body = "LOOP: { .param .b64 x; .param .b64 v; st.param.b64 [x], 1; call (v), malloc, (x); ld.param.b64 %rd2, [v]; }
         setp.ne.u64 %p1, %rd2, 0;
         @%p1 bra LOOP;
         ret;";
    let mut config = MachineConfig::default();
    config.heap_bytes = MIB;
    let mut rig = Rig::with(&kernel_with(items, body), config);
    let (result, peak) = measured(|| rig.launch("k", 1, 1, &params(0, 0)));
    result.expect("ends when the heap is full");
    assert!(peak < 12 * MIB, "{peak} bytes were taken");
    let count = rig.machine.leaks().len();
    assert!((10_000..20_000).contains(&count), "{count} allocations");
}

#[test]
fn dynamic_shared_memory_and_many_blocks_are_reused() {
    let _turn = alone();
    let mut config = MachineConfig::default();
    config.launch_bytes = MIB;
    let mut rig = Rig::with(&kernel_with("", "ret;"), config);
    let launch = Launch {
        kernel: "k",
        grid: [10_000, 1, 1],
        block: [32, 1, 1],
        dynamic_shared_bytes: 200_000,
        params: &params(0, 0),
    };
    let (result, peak) = measured(|| rig.machine.launch(rig.module, &launch, &mut Vec::new()));
    result.expect("one after the other");
    assert!(peak < 2 * MIB, "{peak} bytes were taken");
}
