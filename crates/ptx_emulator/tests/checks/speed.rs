//! What checks cost. Ignored: a measurement, not a test.

use ptx_emulator::CheckSet;

/// Seconds this thread has run; a busy machine does not count (Linux).
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = text.split(' ').next().expect("three numbers");
    first.parse::<f64>().expect("nanoseconds") / 1e9
}

#[test]
#[ignore = "a measurement"]
fn cost() {
    let source = include_str!("../../benches/matmul.rs");
    let start = source.find(".version").expect("the kernel");
    let end = source[start..].find("\";").expect("its end") + start;
    let kernel = &source[start..end];
    for block in [32u32, 16] {
        if std::env::var("BLOCK").is_ok_and(|only| only != block.to_string()) {
            continue;
        }
        let only = std::env::var("ONLY").unwrap_or_default();
        for checks in ["none", "memcheck", "racecheck", "initcheck", "synccheck", "all"]
            .into_iter()
            .filter(|checks| only.is_empty() || only == *checks)
        {
            let n = 64u64;
            let mut rig = crate::support::rig(kernel, checks, None);
            let mut params = Vec::new();
            for label in ["a", "b", "c"] {
                let address = rig.words(label, &vec![1; (n * n) as usize]);
                params.extend_from_slice(&address.to_le_bytes());
            }
            params.extend_from_slice(&n.to_le_bytes());
            let launch = ptx_emulator::Launch {
                kernel: "mat_mul",
                grid: [n as u32 / block, n as u32 / block, 1],
                block: [block, block, 1],
                dynamic_shared_bytes: 0,
                params: &params,
            };
            let module = rig.module;
            let mut instructions = 0;
            let launches = 60;
            let begin = cpu_seconds();
            for _ in 0..launches {
                let report = rig.machine.launch(module, &launch, &mut Vec::new()).expect("runs");
                instructions = report.warp_instructions;
            }
            let each = (cpu_seconds() - begin) / f64::from(launches);
            let found = rig.machine.take_findings();
            println!(
                "{block} {checks}: {:.2} ms, {:.1} ns an instruction, {} findings",
                each * 1e3,
                each * 1e9 / instructions as f64,
                found.len()
            );
            assert_eq!(checks.parse::<CheckSet>().is_ok(), found.is_empty());
        }
    }
}
