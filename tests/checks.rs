//! The kernels of this repository under all checks of the emulator, under several schedules.

use std::sync::Arc;

use ferrowarp::KERNELS_PTX;
use ptx_emulator::{CheckSet, Launch, Machine, MachineConfig, ModuleId, Program};

/// Elements of a vector of four.
const POINT: u64 = 16;

struct Rig {
    machine: Machine,
    module: ModuleId,
    what: String,
}

/// Runs `launches` on a machine with all checks, under several schedules.
fn under_all_checks(launches: impl Fn(&mut Rig)) {
    let program = Arc::new(Program::compile(KERNELS_PTX).unwrap());
    for seed in [None, Some(1), Some(2), Some(3), Some(4), Some(5)] {
        let mut config = MachineConfig::default();
        config.checks = CheckSet::ALL;
        config.schedule_seed = seed;
        let mut machine = Machine::new(config);
        let module = machine.load(Arc::clone(&program)).unwrap();
        launches(&mut Rig { machine, module, what: format!("seed {seed:?}") });
    }
}

impl Rig {
    /// Device memory with `count` ones in it.
    fn ones(&mut self, label: &str, count: u64) -> u64 {
        let address = self.machine.memory_mut().alloc(4 * count, label).unwrap();
        self.machine.memory_mut().fill(address, &1f32.to_le_bytes(), count).unwrap();
        address
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        params: &[u8],
    ) {
        let launch = Launch { kernel, grid, block, dynamic_shared_bytes: shared, params };
        let result = self.machine.launch(self.module, &launch, &mut Vec::new());
        result.unwrap_or_else(|fault| panic!("{}: {fault}", self.what));
        if let Some(finding) = self.machine.take_findings().first() {
            panic!("{}: {finding}", self.what);
        }
    }
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn hello_is_clean() {
    under_all_checks(|rig| rig.launch("hello", [2, 1, 1], [40, 1, 1], 0, &[]));
}

#[test]
fn matrix_products_are_clean() {
    // Sizes that no tile divides.
    let (m, k, n) = (37, 35, 33);
    under_all_checks(|rig| {
        for (kernel, block, dynamic) in [
            ("mat_mul_naive_kernel", 16, false),
            ("mat_mul_shared_kernel_8", 8, false),
            ("mat_mul_shared_kernel_16", 16, false),
            ("mat_mul_shared_kernel_32", 32, false),
            ("mat_mul_shared_kernel", 12, true),
        ] {
            let (a, b) = (rig.ones("a", m * k), rig.ones("b", k * n));
            let c = rig.machine.memory_mut().alloc(4 * m * n, "c").unwrap();
            let params = words(&[a, m * k, b, k * n, c, m, k, n]);
            let blocks = |size: u64| (size as u32).div_ceil(block);
            let shared = if dynamic { 2 * block * block * 4 } else { 0 };
            rig.launch(kernel, [blocks(n), blocks(m), 1], [block, block, 1], shared, &params);
            let mut last = [0; 4];
            rig.machine.memory().read(c + 4 * (m * n - 1), &mut last).unwrap();
            assert_eq!(f32::from_le_bytes(last), k as f32, "{kernel}");
        }
    });
}

#[test]
fn the_transformation_of_points_is_clean() {
    let count = 100;
    under_all_checks(|rig| {
        let points = rig.ones("points", count * POINT / 4);
        let out = rig.machine.memory_mut().alloc(count * POINT, "out").unwrap();
        let mut params = words(&[points, count, out, count]);
        for _ in 0..32 {
            params.extend_from_slice(&0.5f32.to_le_bytes());
        }
        rig.launch("transform_points", [4, 1, 1], [32, 1, 1], 0, &params);
    });
}
