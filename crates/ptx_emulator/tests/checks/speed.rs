//! What checks cost. Ignored: a measurement, not a test.

use ptx_emulator::CheckSet;

#[test]
#[ignore = "a measurement"]
fn cost() {
    let source = include_str!("../../benches/matmul.rs");
    let start = source.find(".version").expect("the kernel");
    let end = source[start..].find("\";").expect("its end") + start;
    let kernel = &source[start..end];
    for block in [32u32, 16] {
        for checks in ["none", "memcheck", "racecheck", "initcheck", "synccheck", "all"] {
            let n = 128u64;
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
            let mut best = f64::MAX;
            let mut instructions = 0;
            for _ in 0..8 {
                let begin = std::time::Instant::now();
                let report = rig.machine.launch(module, &launch, &mut Vec::new()).expect("runs");
                best = best.min(begin.elapsed().as_secs_f64());
                instructions = report.warp_instructions;
            }
            let found = rig.machine.take_findings();
            println!(
                "{block} {checks}: {:.2} ms, {:.1} ns an instruction, {} findings",
                best * 1e3,
                best * 1e9 / instructions as f64,
                found.len()
            );
            assert_eq!(checks.parse::<CheckSet>().is_ok(), found.is_empty());
        }
    }
}
