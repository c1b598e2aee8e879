//! What the emulator promises of any text, as one function. The fuzz target and the tests that replay its corpus
//! share it.

use std::sync::Arc;

use ptx_emulator::{CheckSet, Launch, Machine, MachineConfig, Program};

/// Compiles and, if that works, runs every kernel with little of everything: each launch ends, a fault says what to do,
/// and checks change nothing.
pub fn body(source: &str) {
    let Ok(program) = Program::compile(source) else {
        return;
    };
    let program = Arc::new(program);
    for seed in [None, Some(source.len() as u64)] {
        assert_eq!(
            run(&program, seed, CheckSet::NONE),
            run(&program, seed, CheckSet::ALL),
            "checks change what is computed"
        );
    }
}

/// How each kernel's launch ended, and what is in its output then.
pub fn run(program: &Arc<Program>, seed: Option<u64>, checks: CheckSet) -> Vec<(String, Vec<u8>)> {
    let mut config = MachineConfig::default();
    config.fuel = Some(20_000);
    config.memory_bytes = 1 << 22;
    config.heap_bytes = 1 << 16;
    config.schedule_seed = seed;
    config.checks = checks;
    let mut machine = Machine::new(config);
    let Ok(module) = machine.load(program.clone()) else {
        return Vec::new();
    };
    let Ok(out) = machine.memory_mut().alloc(4096, "out") else {
        return Vec::new();
    };
    let mut ends = Vec::new();
    for kernel in program.kernels().take(8) {
        let bytes = kernel.param_bytes as usize;
        let params: Vec<u8> = out.to_le_bytes().into_iter().cycle().take(bytes).collect();
        let launch = Launch {
            kernel: &kernel.name,
            grid: [2, 1, 1],
            block: [40, 1, 1],
            dynamic_shared_bytes: 64,
            params: &params,
        };
        let end = match machine.launch(module, &launch, &mut Vec::new()) {
            Ok(report) => format!("{report:?}"),
            Err(fault) => {
                let text = fault.to_string();
                assert!(text.contains("\nhelp: "), "{text}");
                format!("{:?}", fault.kind())
            }
        };
        for finding in machine.take_findings() {
            let text = finding.to_string();
            assert!(text.contains("\nhelp: "), "{text}");
        }
        let mut content = vec![0; 4096];
        let read = machine.memory().read(out, &mut content);
        ends.push((format!("{end} {read:?}"), content));
    }
    ends
}
