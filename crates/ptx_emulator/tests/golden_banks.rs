//! The costs of memory accesses against what a profiler recorded on hardware: every pattern of `banks`, exactly.

mod golden_support;

use ptx_emulator::counters::{GlobalCost, SharedCost, SharedOp};
use serde_json::Value;

/// Addresses and mask of a pattern.
fn lanes(offsets: &Value) -> ([u64; 32], u32) {
    let offsets = offsets.as_array().expect("offsets");
    assert_eq!(offsets.len(), 32);
    let mut mask = 0;
    let addresses = std::array::from_fn(|lane| {
        let offset = offsets[lane].as_u64();
        mask |= u32::from(offset.is_some()) << lane;
        // Idle lanes have addresses too, and none may matter.
        offset.unwrap_or(0xDEAD_BEE0)
    });
    (addresses, mask)
}

fn number(line: &Value, field: &str) -> u32 {
    line[field].as_u64().unwrap_or_else(|| panic!("{field} in {line}")) as u32
}

/// `stride` if the active lanes are all 32, a stride apart.
fn stride(addresses: &[u64; 32], mask: u32) -> Option<i64> {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    let affine = addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
    (mask == u32::MAX && affine).then_some(stride as i64)
}

#[test]
fn every_recorded_pattern_costs_what_the_hardware_counted() {
    let (mut patterns, mut affine) = (0, 0);
    for line in golden_support::lines("banks").filter(|line| line["kind"] == "pattern") {
        patterns += 1;
        let access = line["access"].as_str().expect("access");
        let mut parts = access.split('_');
        let (space, op, ty) = (parts.next(), parts.next(), parts.next());
        let bytes = match ty {
            Some("b8") => 1,
            Some("b16") => 2,
            Some("b32") => 4,
            Some("b64" | "v2b32") => 8,
            Some("v4b32") => 16,
            other => panic!("type {other:?}"),
        };
        let (addresses, mask) = lanes(&line["offsets"]);
        let step = stride(&addresses, mask);
        affine += u32::from(step.is_some());
        if space == Some("global") {
            let cost = match op {
                Some("red") => GlobalCost::of_atomic(&addresses, mask, bytes),
                _ => GlobalCost::of(&addresses, mask, bytes),
            };
            assert_eq!(number(&line, "requests"), 1, "{line}");
            assert_eq!(cost.sectors, number(&line, "sectors"), "{line}");
            if let Some(step) = step.filter(|_| op != Some("red")) {
                assert_eq!(GlobalCost::affine(addresses[0], step, bytes), cost, "{line}");
            }
            continue;
        }
        let op = match op {
            Some("ld") => SharedOp::Load,
            Some("st") => SharedOp::Store,
            Some("red") => SharedOp::Atomic,
            other => panic!("operation {other:?}"),
        };
        let cost = SharedCost::of(op, &addresses, mask, bytes);
        // The counter over loads, stores and atomics counts one more a kernel.
        assert_eq!(cost.wavefronts, number(&line, "all_wavefronts") - 1, "{line}");
        let conflicts = cost.wavefronts - cost.ideal_wavefronts;
        assert_eq!(conflicts, number(&line, "bank_conflicts"), "{line}");
        if op != SharedOp::Atomic {
            assert_eq!(cost.wavefronts, number(&line, "wavefronts"), "{line}");
        }
        if let Some(step) = step {
            assert_eq!(SharedCost::affine(op, addresses[0], step, bytes), cost, "{line}");
        }
    }
    // As many as were recorded: a file that lost lines must not pass.
    assert_eq!(patterns, 934);
    assert!(affine > 100, "only {affine} patterns have a stride");
}
