//! The machine: device memory, loaded modules, launches.

mod access;
mod affine;
mod async_copy;
mod async_watch;
mod atomics;
mod barrier;
mod block;
mod block_order;
mod call;
mod cluster;
mod cluster_watch;
mod counting;
mod device;
mod divergence;
mod execute;
mod findings;
mod frame;
mod hot;
mod init_memory;
mod init_watch;
mod intrinsics;
mod jobs;
mod launch;
mod launch_check;
mod local;
mod loops;
mod matrix;
mod mbarrier;
mod operands;
mod panics;
mod parallel;
mod pattern;
mod places;
mod printf;
mod quick;
mod race_watch;
mod report;
mod shared_address;
mod short;
mod stack;
mod sync_findings;
mod transfer;
mod warp;
mod warp_ops;
mod watch;
mod work;

pub(crate) use panics::panic_begin;

use std::sync::Arc;

pub use jobs::{Jobs, UnknownJobs};
use launch::Together;
use loops::Loops;
use short::ShortOp;

use crate::checks::{CheckSet, Checks, Finding};
use crate::counters::{Counters, PerOp};
use crate::error::{LaunchProblem, MemoryError};
use crate::fault::Fault;
use crate::memory::{Leak, Memory, Owner, window};
use crate::program::{MAX_LOCAL_BYTES, Program, Relocation, Value, VariableSpace};

/// The barrier number that stands for the cluster's barrier; 0 to 15 are the block's.
pub(crate) const CLUSTER_BARRIER: u32 = 16;

pub(crate) use cluster::RANK_SHIFT;

/// What the emulated device can do. Made with [`Default`], then changed where needed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MachineConfig {
    /// Bytes of device memory. Storage on the host is taken as allocations are made.
    pub memory_bytes: u64,
    /// Warp instructions a launch may execute before it ends with
    /// [`FaultKind::FuelExhausted`](crate::FaultKind::FuelExhausted); `None`: no limit.
    pub fuel: Option<u64>,
    /// `None`: blocks and warps run in order of their numbers. A seed permutes both, and the choice between
    /// sides of a divergent branch; kernels without races give the same results for every seed.
    pub schedule_seed: Option<u64>,
    /// Bytes of local memory that a thread can have, calls included.
    pub local_bytes: u32,
    /// Bytes of stack for each thread of kernels whose need nobody can tell before the launch, because their calls may come back to a function
    /// that is active: recursion, also through pointers to functions. Others get what they need. The driver's `CU_LIMIT_STACK_SIZE`.
    pub stack_limit: u32,
    /// Calls that may be nested; more end a launch with [`FaultKind::CallDepth`](crate::FaultKind::CallDepth).
    pub call_depth: u32,
    /// Bytes of host memory that the blocks in progress of a launch may take together: for registers, local and shared memory,
    /// calls and copies in flight; each of several [`jobs`](MachineConfig::jobs) may take as much. A launch that needs more ends with
    /// [`FaultKind::OutOfHostMemory`](crate::FaultKind::OutOfHostMemory). What checks remember of this memory comes on top.
    pub launch_bytes: u64,
    /// Bytes of shared memory a block may have, static and dynamic together.
    pub shared_bytes_per_block: u32,
    /// Bytes that all `malloc`s of kernels together may hold.
    pub heap_bytes: u64,
    /// Whether launches count what they do. See [`Machine::take_counters`].
    pub counters: bool,
    /// Whether registers that are the same in all lanes, or rise evenly, are computed as such. Results and counters are the same
    /// without, only slower: for tests.
    pub affine_registers: bool,
    /// Multiprocessors the device claims to have (`%nsmid`).
    pub multiprocessors: u32,
    /// Threads of the host that run the blocks of a launch.
    pub jobs: Jobs,
    /// Checks beyond those that always run; they cost time. See [`Machine::take_findings`].
    pub checks: CheckSet,
}

impl Default for MachineConfig {
    fn default() -> MachineConfig {
        MachineConfig {
            memory_bytes: 4 << 30,
            fuel: Some(1 << 40),
            schedule_seed: None,
            local_bytes: MAX_LOCAL_BYTES,
            // What a new context has (recorded on an H200).
            stack_limit: 1024,
            call_depth: 256,
            // A block of 1024 threads with the largest stacks, and 255 registers each, takes 0.6 GB.
            launch_bytes: 2 << 30,
            // 227 KiB: compute capability 9.0 (CUDA C++ Programming Guide).
            shared_bytes_per_block: 232_448,
            heap_bytes: 8 << 20,
            counters: false,
            affine_registers: true,
            multiprocessors: 132,
            jobs: Jobs::ONE,
            checks: CheckSet::NONE,
        }
    }
}

/// A module loaded into a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(u32);

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory behind the statically declared.
    pub dynamic_shared_bytes: u32,
    /// The parameters, laid out by [`ParamInfo::offset`](crate::ParamInfo::offset), little-endian.
    pub params: &'a [u8],
}

/// What the blocks of a launch do together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordination {
    /// Whether the kernel gets what a barrier of the whole grid needs: see [`Machine::launch_cooperative`].
    pub cooperative: bool,
    /// Blocks of a cluster in x, y, z. `None`: those that the kernel is compiled for, else every block is a cluster of its own.
    pub cluster: Option<[u32; 3]>,
}

/// Where a kernel's `vprintf` goes.
pub trait Output {
    /// Takes one call's text. Calls come in the order in which the kernel made them.
    fn print(&mut self, text: &[u8]);
}

/// Collects the output.
impl Output for Vec<u8> {
    fn print(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
    }
}

/// What a finished launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchReport {
    /// Instructions, each counted once for a warp however many of its lanes were active.
    pub warp_instructions: u64,
    /// Instructions, counted once for each lane that was active.
    pub thread_instructions: u64,
    /// Branches on which the lanes of a warp went both ways.
    pub divergent_branches: u64,
}

/// What the last launch counted.
struct Counted {
    program: Arc<Program>,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    sums: PerOp,
}

struct LoadedModule {
    program: Arc<Program>,
    /// The short form of each of the program's operations.
    short: Vec<ShortOp>,
    loops: Loops,
    /// Address of each variable; 0 for shared ones, whose place depends on the kernel.
    addresses: Vec<u64>,
}

/// An emulated device.
///
/// ```
/// use std::sync::Arc;
/// use ptx_emulator::{Launch, Machine, MachineConfig, Program};
///
/// let program = Program::compile(
///     ".version 7.8 .target sm_90 .address_size 64
///      .visible .entry fill(.param .u64 out) {
///          .reg .b32 %r<2>; .reg .b64 %rd<4>;
///          ld.param.b64 %rd1, [out];
///          mov.u32 %r1, %tid.x;
///          mul.wide.u32 %rd2, %r1, 4;
///          add.s64 %rd3, %rd1, %rd2;
///          st.global.b32 [%rd3], %r1;
///          ret;
///      }",
/// )?;
/// let mut machine = Machine::new(MachineConfig::default());
/// let module = machine.load(Arc::new(program))?;
/// let out = machine.memory_mut().alloc(16, "out")?;
/// let launch = Launch {
///     kernel: "fill",
///     grid: [1, 1, 1],
///     block: [4, 1, 1],
///     dynamic_shared_bytes: 0,
///     params: &out.to_le_bytes(),
/// };
/// machine.launch(module, &launch, &mut Vec::new())?;
/// let mut bytes = [0; 16];
/// machine.memory().read(out, &mut bytes)?;
/// assert_eq!(bytes, [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Machine {
    config: MachineConfig,
    memory: Memory,
    modules: Vec<Option<LoadedModule>>,
    launches: u64,
    heap_used: u64,
    counted: Option<Counted>,
    checks: Option<Box<Checks>>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Machine {
    /// A device with empty memory.
    pub fn new(config: MachineConfig) -> Machine {
        let memory = Memory::new(config.memory_bytes, config.checks);
        let checks = Checks::new(config.checks);
        Machine {
            config,
            memory,
            modules: Vec::new(),
            launches: 0,
            heap_used: 0,
            counted: None,
            checks,
        }
    }

    /// The device's memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The device's memory, to change it.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// The device's limits.
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// Sets [`MachineConfig::stack_limit`] for the launches to come.
    ///
    /// ```
    /// # use ptx_emulator::{Machine, MachineConfig};
    /// let mut machine = Machine::new(MachineConfig::default());
    /// machine.set_stack_limit(16 << 10);
    /// assert_eq!(machine.config().stack_limit, 16_384);
    /// ```
    pub fn set_stack_limit(&mut self, bytes: u32) {
        self.config.stack_limit = bytes;
    }

    /// Places a program's variables in device memory, with their initial values.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] when they do not fit; nothing stays allocated then.
    pub fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, MemoryError> {
        let id = self.modules.len() as u32;
        match self.place(&program, id) {
            Ok(addresses) => {
                let short = ShortOp::all(&program);
                let loops = Loops::of(&program, &short);
                self.modules.push(Some(LoadedModule { program, short, loops, addresses }));
                Ok(ModuleId(id))
            }
            Err(error) => {
                self.memory.release_all(Owner::Module(id));
                self.memory.release_all(Owner::Constant(id));
                Err(error)
            }
        }
    }

    fn place(&mut self, program: &Program, id: u32) -> Result<Vec<u64>, MemoryError> {
        let mut addresses = Vec::with_capacity(program.variables.len());
        for variable in &program.variables {
            let owner = match variable.space {
                VariableSpace::Global => Owner::Module(id),
                VariableSpace::Constant => Owner::Constant(id),
                VariableSpace::Shared | VariableSpace::DynamicShared => {
                    addresses.push(0);
                    continue;
                }
            };
            let address = self.memory.insert(variable.bytes, &variable.name, owner)?;
            // Without a value of their own, variables are zero (PTX ISA, Initializers).
            self.memory.fill(address, &[0], variable.bytes)?;
            for (offset, bytes) in &variable.image {
                self.memory.write(address + offset, bytes)?;
            }
            addresses.push(address);
        }
        for (variable, address) in program.variables.iter().zip(&addresses) {
            for relocation in &variable.relocations {
                let bits = resolve(relocation, &addresses) >> relocation.shift.min(63);
                let bytes = bits.to_le_bytes();
                let count = (relocation.bytes as usize).min(bytes.len());
                self.memory.write(address + relocation.offset, &bytes[..count])?;
            }
        }
        Ok(addresses)
    }

    /// Frees a module's variables. False if it is not loaded.
    pub fn unload(&mut self, module: ModuleId) -> bool {
        match self.modules.get_mut(module.0 as usize).and_then(Option::take) {
            Some(_) => {
                self.memory.release_all(Owner::Module(module.0));
                self.memory.release_all(Owner::Constant(module.0));
                true
            }
            None => false,
        }
    }

    /// Address and bytes of a module's `.global` or `.const` variable.
    pub fn global(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        let loaded = self.modules.get(module.0 as usize)?.as_ref()?;
        let (variable, address) =
            loaded.program.variables.iter().zip(&loaded.addresses).find(|(variable, _)| {
                variable.name == name
                    && matches!(variable.space, VariableSpace::Global | VariableSpace::Constant)
            })?;
        Some((*address, variable.bytes))
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// A [`Fault`] says what went wrong and where; memory keeps what was written up to then.
    pub fn launch(
        &mut self,
        module: ModuleId,
        launch: &Launch<'_>,
        output: &mut dyn Output,
    ) -> Result<LaunchReport, Box<Fault>> {
        self.launch_together(module, launch, Coordination::default(), output)
    }

    /// [`launch`](Machine::launch), with what a barrier of the whole grid needs: the kernel finds 8 bytes of memory, of which
    /// the last 4 are the barrier and zero at first, at the address in `%envreg1` (upper half) and `%envreg2` (lower half), as after
    /// `cuLaunchCooperativeKernel`. In other launches these are 0.
    ///
    /// # Errors
    /// As for [`launch`](Machine::launch), or if there is no memory for the barrier.
    pub fn launch_cooperative(
        &mut self,
        module: ModuleId,
        launch: &Launch<'_>,
        output: &mut dyn Output,
    ) -> Result<LaunchReport, Box<Fault>> {
        let coordination = Coordination { cooperative: true, ..Coordination::default() };
        self.launch_together(module, launch, coordination, output)
    }

    /// [`launch`](Machine::launch), with what blocks have together: clusters, and what
    /// [`launch_cooperative`](Machine::launch_cooperative) gives.
    ///
    /// # Errors
    /// As for these, or if the grid is not made of whole clusters, or these have more than 8 blocks.
    pub fn launch_together(
        &mut self,
        module: ModuleId,
        launch: &Launch<'_>,
        coordination: Coordination,
        output: &mut dyn Output,
    ) -> Result<LaunchReport, Box<Fault>> {
        let together = Together { grid_workspace: 0, cluster: coordination.cluster };
        if !coordination.cooperative {
            return launch::run(self, module, launch, together, output);
        }
        const BYTES: u32 = 8;
        let mut workspace = [0; BYTES as usize];
        workspace[..4].copy_from_slice(&BYTES.to_le_bytes());
        let memory = &mut self.memory;
        let address = memory
            .alloc(BYTES.into(), "barrier of the grid")
            .and_then(|address| memory.write(address, &workspace).map(|()| address))
            .map_err(|error| launch_check::refuse(launch, LaunchProblem::GridBarrier(error)))?;
        let together = Together { grid_workspace: address, ..together };
        let result = launch::run(self, module, launch, together, output);
        // Just allocated, and kernels cannot free what the host allocated.
        let _ = self.memory.free(address);
        result
    }

    /// What the last launch counted, if [`MachineConfig::counters`] is on: also when it ended with a fault.
    pub fn take_counters(&mut self) -> Option<Counters> {
        let Counted { program, kernel, grid, block, sums } = self.counted.take()?;
        Some(Counters::summarise(&program, &kernel, grid, block, &sums))
    }

    /// What the checks of [`MachineConfig::checks`] found in the launches since the last call, whether these
    /// ended well or not.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.checks.as_mut().map_or_else(Vec::new, |checks| checks.take_findings())
    }

    /// What the host and kernels have allocated and not freed, in order of their addresses. At the end of a program these are
    /// leaks.
    pub fn leaks(&self) -> Vec<Leak> {
        self.memory.leaks()
    }

    /// How often something was found that is not among what [`take_findings`](Machine::take_findings) would give now,
    /// because a launch had 100 different findings already.
    pub fn findings_left_out(&self) -> u64 {
        self.checks.as_ref().map_or(0, |checks| checks.left_out())
    }
}

fn resolve(relocation: &Relocation, addresses: &[u64]) -> u64 {
    match relocation.value {
        // Global and constant addresses are generic addresses already.
        Value::Variable { index, offset } => {
            addresses.get(index as usize).copied().unwrap_or(0).wrapping_add(offset)
        }
        Value::Function(index) => function_address(index),
        _ => 0,
    }
}

/// What a pointer to a function holds.
pub(crate) fn function_address(index: u32) -> u64 {
    window::FUNCTION_BASE + u64::from(index) * window::FUNCTION_STRIDE
}
