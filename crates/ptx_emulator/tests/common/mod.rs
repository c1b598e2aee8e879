//! What the tests of this folder share: modules from bodies, launches under several schedules.
#![allow(dead_code)] // each test file uses a part

use std::sync::Arc;

use ptx_emulator::{
    Fault, FaultKind, Launch, LaunchReport, Machine, MachineConfig, ModuleId, Program,
};

/// Schedules that every test runs under: the fixed order, then permuted ones.
pub const SEEDS: [Option<u64>; 5] = [None, Some(1), Some(2), Some(42), Some(0xDEAD_BEEF)];

/// A module around `items`, which are written as at module scope.
pub fn module(items: &str) -> String {
    format!(".version 8.6\n.target sm_90\n.address_size 64\n{items}\n")
}

/// A module with one kernel `k(out: *mut u32, n: u32)` and plenty of registers: `%r<20> %rd<20> %p<8> %h<8>`, `%o` is `out`, `%n` is `n`,
/// `%t` the thread's number in its block, `%a` the address of `out[global thread number]`.
pub fn kernel(body: &str) -> String {
    kernel_with("", body)
}

/// As [`kernel`], with `items` at module scope before it.
pub fn kernel_with(items: &str, body: &str) -> String {
    module(&format!(
        "{items}
.visible .entry k(.param .u64 p_out, .param .u32 p_n)
{{
.reg .b32 %r<20>, %t, %n, %b, %g;
.reg .b64 %rd<20>, %o, %a;
.reg .b16 %h<8>;
.reg .pred %p<8>;
ld.param.b64 %o, [p_out];
ld.param.b32 %n, [p_n];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mov.u32 %g, %ntid.x;
mad.lo.u32 %g, %b, %g, %t;
mad.wide.u32 %a, %g, 4, %o;
{body}
}}"
    ))
}

/// A machine with one module loaded.
pub struct Rig {
    pub machine: Machine,
    pub module: ModuleId,
    pub printed: Vec<u8>,
}

/// Compiles; a refusal fails the test with its text.
pub fn compile(source: &str) -> Arc<Program> {
    Arc::new(Program::compile(source).unwrap_or_else(|error| panic!("{error}")))
}

impl Rig {
    pub fn new(source: &str, seed: Option<u64>) -> Rig {
        let mut config = MachineConfig::default();
        config.schedule_seed = seed;
        Rig::with(source, config)
    }

    pub fn with(source: &str, config: MachineConfig) -> Rig {
        let mut machine = Machine::new(config);
        let module = machine.load(compile(source)).expect("the module's variables fit");
        Rig { machine, module, printed: Vec::new() }
    }

    /// Device memory that holds `words`.
    pub fn words(&mut self, label: &str, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = self.machine.memory_mut().alloc(bytes.len() as u64, label).expect("memory");
        self.machine.memory_mut().write(address, &bytes).expect("just allocated");
        address
    }

    pub fn read(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.machine.memory().read(address, &mut bytes).expect("allocated");
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        bytes.chunks_exact(4).map(word).collect()
    }

    pub fn launch(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[u8],
    ) -> Result<LaunchReport, Box<Fault>> {
        let launch = Launch {
            kernel,
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared_bytes: 0,
            params,
        };
        self.machine.launch(self.module, &launch, &mut self.printed)
    }
}

/// Parameters of the kernel that [`kernel`] makes.
pub fn params(out: u64, n: u32) -> Vec<u8> {
    let mut bytes = out.to_le_bytes().to_vec();
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes
}

/// Runs [`kernel`]'s kernel under every schedule; `out` has one word a thread, at first all ones, and must come out the same
/// every time.
pub fn outputs(source: &str, grid: u32, block: u32, n: u32) -> Vec<u32> {
    let mut results = SEEDS.iter().map(|seed| {
        let mut rig = Rig::new(source, *seed);
        let count = (grid * block) as usize;
        let out = rig.words("out", &vec![u32::MAX; count]);
        rig.launch("k", grid, block, &params(out, n))
            .unwrap_or_else(|fault| panic!("seed {seed:?}: {fault}"));
        rig.read(out, count)
    });
    let first = results.next().expect("there are seeds");
    for (result, seed) in results.zip(&SEEDS[1..]) {
        assert_eq!(result, first, "seed {seed:?} gives other results");
    }
    first
}

/// Runs [`kernel`]'s kernel under every schedule; it must end with a fault of the same kind each time. Gives the one of the
/// fixed order.
pub fn fault(source: &str, grid: u32, block: u32, n: u32) -> Box<Fault> {
    let mut first: Option<Box<Fault>> = None;
    for seed in SEEDS {
        let mut rig = Rig::new(source, seed);
        let out = rig.words("out", &vec![u32::MAX; (grid * block) as usize]);
        let fault = match rig.launch("k", grid, block, &params(out, n)) {
            Ok(report) => panic!("seed {seed:?}: no fault, {report:?}"),
            Err(fault) => fault,
        };
        match &first {
            None => first = Some(fault),
            Some(first) => assert_eq!(first.kind(), fault.kind(), "seed {seed:?}"),
        }
    }
    first.expect("there are seeds")
}

/// The kind of [`fault`]'s fault, and its text.
pub fn fault_text(source: &str, grid: u32, block: u32, n: u32) -> (FaultKind, String) {
    let fault = fault(source, grid, block, n);
    (fault.kind().clone(), fault.to_string())
}
