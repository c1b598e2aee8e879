//! An emulated machine for each test.

use std::sync::Arc;

use ptx_emulator::{Launch, Machine, MachineConfig, ModuleId, Output, Program};

use super::{Failure, Params, Runs, Shape};

pub(super) struct Emulator {
    machine: Machine,
    program: Arc<Program>,
    module: ModuleId,
}

impl Emulator {
    pub(super) fn new(program: &Arc<Program>, config: MachineConfig) -> Self {
        let mut machine = Machine::new(config);
        machine.set_stack_limit(super::STACK_BYTES);
        let module = machine.load(Arc::clone(program)).expect("the statics fit");
        Self { machine, program: Arc::clone(program), module }
    }
}

impl Runs for Emulator {
    fn upload(&mut self, bytes: &[u8]) -> u64 {
        let memory = self.machine.memory_mut();
        let address = memory.alloc(bytes.len() as u64, "test").expect("there is memory");
        memory.write(address, bytes).expect("just allocated");
        address
    }

    fn read(&self, address: u64, bytes: &mut [u8]) {
        self.machine.memory().read(address, bytes).expect("an allocation");
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        self.machine.memory_mut().write(address, bytes).expect("an allocation");
    }

    fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.machine.global(self.module, name)
    }

    fn static_shared_bytes(&self, kernel: &str) -> u32 {
        self.program.kernel(kernel).expect("it is there").static_shared_bytes
    }

    fn take_findings(&mut self) -> Vec<String> {
        self.machine.take_findings().iter().map(ToString::to_string).collect()
    }

    fn heap_leaks(&self) -> Vec<String> {
        let leaks = self.machine.leaks().into_iter().filter(|leak| leak.device_heap);
        leaks.map(|leak| leak.to_string()).collect()
    }

    fn run(
        &mut self,
        kernel: &str,
        shape: Shape,
        params: &Params,
        cooperative: bool,
    ) -> Result<String, Failure> {
        let launch = Launch {
            kernel,
            grid: shape.grid,
            block: shape.block,
            dynamic_shared_bytes: shape.dynamic_shared_bytes,
            params: &params.packed(),
        };
        let mut printed = Printed::default();
        let launched = if cooperative {
            self.machine.launch_cooperative(self.module, &launch, &mut printed)
        } else {
            self.machine.launch(self.module, &launch, &mut printed)
        };
        launched.map_err(Failure::Emulator)?;
        Ok(String::from_utf8(printed.0).expect("kernels print UTF-8"))
    }
}

/// What a kernel printed.
#[derive(Default)]
struct Printed(Vec<u8>);

impl Output for Printed {
    fn print(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }
}
