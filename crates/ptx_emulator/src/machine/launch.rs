//! Running a grid: checks of the launch, the order of blocks and warps, limits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::block::{Block, BlockState};
use super::block_order::BlockOrder;
use super::cluster::{Cluster, Rank};
use super::counting::Counting;
use super::device::Device;
use super::execute::Stop;
use super::frame::{self, Template};
use super::launch_check::{check, check_cluster, refuse};
use super::loops::Loops;
use super::parallel;
use super::pattern::Pattern;
use super::short::ShortOp;
use super::stack;
use super::warp::{State, Warp};
use super::work::{Failure, Random, Work};
use super::{Counted, Launch, LaunchReport, Machine, MachineConfig, ModuleId, Output};
use crate::budget::Budget;
use crate::checks::Checks;
use crate::counters::PerOp;
use crate::error::LaunchProblem;
use crate::fault::{Fault, FaultKind};
use crate::memory::Storage;
use crate::op::NONE;
use crate::program::{KernelInfo, Program};

/// Backward jumps after which a warp lets the next one run: in a block that is alone, and while blocks wait for each other.
const WARP_TURN: u32 = 4096;
const WARP_TURN_AMONG_BLOCKS: u32 = 128;
/// Warp instructions after which a block that may be waiting for another lets the next one run.
const BLOCK_TURN: u64 = 1 << 14;
/// The same once several blocks are in progress.
const BLOCK_TURN_AMONG_BLOCKS: u64 = 1 << 10;
/// Rounds in which all warps of a block did nothing but ask mbarrier objects in vain, after which nothing will change.
const VAIN_ROUNDS: u32 = 1 << 18;
/// Warp instructions that a job executes without telling the others; a launch may execute as many more than its fuel for each job.
const TOLD_AT_ONCE: u64 = 1 << 12;

/// A launch in progress.
pub(super) struct Engine<'a> {
    pub(super) config: &'a MachineConfig,
    pub(super) program: &'a Program,
    /// The short forms of the program's operations.
    pub(super) short: &'a [ShortOp],
    pub(super) loops: &'a Loops,
    pub(super) kernel: &'a KernelInfo,
    /// Bytes of stack that a thread may take by [`super::stack`]'s count.
    pub(super) stack_limit: u32,
    pub(super) memory: Device<'a>,
    pub(super) output: &'a mut dyn Output,
    pub(super) heap_used: &'a mut u64,
    /// By function number; those that the kernel cannot reach have none.
    pub(super) templates: &'a [Option<Template>],
    pub(super) params: &'a Storage,
    /// The host memory that this job's blocks in progress may take.
    pub(super) budget: Arc<Budget>,
    /// For each operation, the slot of the allocation that it used last.
    pub(super) caches: Vec<u32>,
    /// For each operation, how the lanes' addresses lay to each other last.
    pub(super) patterns: Vec<Pattern>,
    pub(super) grid: [u32; 3],
    pub(super) block_dim: [u32; 3],
    pub(super) dynamic_shared_bytes: u32,
    pub(super) grid_id: u64,
    /// See [`Machine::launch_cooperative`].
    pub(super) grid_workspace: u64,
    /// Blocks of a cluster in x, y, z, if the launch has clusters.
    pub(super) cluster_shape: Option<[u32; 3]>,
    /// The running block's cluster, if it has more than this block.
    pub(super) cluster: Option<Box<Cluster>>,
    pub(super) report: LaunchReport,
    /// What is counted, if anything is.
    pub(super) counting: Option<Box<Counting>>,
    /// What looks at the launch, if anything does.
    pub(super) checks: Option<Box<Checks>>,
    /// The operation whose next access racecheck has been told of already, and wants to look at more closely.
    pub(super) suspicious: Option<u32>,
    /// Whether the running block did something in its turn by which it could see another block's writes. Only such a
    /// block can be waiting for another.
    pub(super) may_wait: bool,
    /// Whether several blocks are in progress.
    crowded: bool,
    /// Whether a cluster runs to its end before the next begins. Its blocks take turns, and how long these are must not depend on
    /// what else is in progress: waiting for an mbarrier object counts instructions.
    one_cluster: bool,
    work: &'a Work,
    /// Warp instructions that this job may execute, as far as it knows what the others have executed.
    fuel: u64,
    /// Warp instructions that the others have been told of.
    told: u64,
    /// The running block's choices.
    random: Option<Random>,
}

/// What all jobs of a launch have in common.
pub(super) struct Setup<'a> {
    config: &'a MachineConfig,
    program: &'a Program,
    short: &'a [ShortOp],
    loops: &'a Loops,
    kernel: &'a KernelInfo,
    templates: &'a [Option<Template>],
    params: &'a Storage,
    launch: &'a Launch<'a>,
    grid_id: u64,
    together: Together,
    one_cluster: bool,
    work: &'a Work,
}

impl<'a> Setup<'a> {
    pub(super) fn engine(
        &self,
        memory: Device<'a>,
        output: &'a mut dyn Output,
        heap_used: &'a mut u64,
    ) -> Engine<'a> {
        let operations = self.program.ops.len();
        Engine {
            config: self.config,
            program: self.program,
            short: self.short,
            loops: self.loops,
            kernel: self.kernel,
            stack_limit: stack::limit(self.kernel, self.config),
            memory,
            output,
            heap_used,
            templates: self.templates,
            params: self.params,
            budget: Budget::new(self.config.launch_bytes),
            caches: vec![NONE; operations],
            patterns: vec![Pattern::default(); operations],
            grid: self.launch.grid,
            block_dim: self.launch.block,
            dynamic_shared_bytes: self.launch.dynamic_shared_bytes,
            grid_id: self.grid_id,
            grid_workspace: self.together.grid_workspace,
            cluster_shape: self.together.cluster,
            cluster: None,
            report: LaunchReport::default(),
            counting: self.config.counters.then(|| Box::new(Counting::new(operations))),
            checks: None,
            suspicious: None,
            may_wait: false,
            crowded: false,
            one_cluster: self.one_cluster,
            work: self.work,
            fuel: self.work.fuel,
            told: 0,
            random: None,
        }
    }
}

/// What the blocks of a launch do together.
#[derive(Clone, Copy, Default)]
pub(super) struct Together {
    /// See [`Machine::launch_cooperative`]; 0: nothing.
    pub(super) grid_workspace: u64,
    /// Blocks of a cluster in x, y, z.
    pub(super) cluster: Option<[u32; 3]>,
}

/// How far a block came.
enum Progress {
    Finished,
    /// Others may run now.
    Turn,
    /// It need not run any more.
    Over,
}

pub(super) fn run(
    machine: &mut Machine,
    module: ModuleId,
    launch: &Launch<'_>,
    together: Together,
    output: &mut dyn Output,
) -> Result<LaunchReport, Box<Fault>> {
    let Some(loaded) = machine.modules.get(module.0 as usize).and_then(Option::as_ref) else {
        return Err(refuse(launch, LaunchProblem::UnknownModule));
    };
    let program = &loaded.program;
    let Some(kernel) = program.kernel(launch.kernel) else {
        let names: Vec<&str> = program.kernels().map(|kernel| kernel.name.as_str()).collect();
        let available = if names.is_empty() { "no kernels".to_owned() } else { names.join(", ") };
        let name = launch.kernel.to_owned();
        return Err(refuse(launch, LaunchProblem::UnknownKernel { name, available }));
    };
    let together = Together { cluster: together.cluster.or(kernel.required_cluster), ..together };
    check(launch, kernel, &machine.config)
        .and_then(|()| check_cluster(launch, kernel, together.cluster))
        .map_err(|problem| refuse(launch, problem))?;

    let cluster_blocks = together.cluster.map_or(1, |shape| shape.iter().product::<u32>());
    let mut templates: Vec<Option<Template>> = Vec::new();
    templates.resize_with(program.functions.len(), || None);
    for index in &kernel.reachable {
        let function = &program.functions[*index as usize];
        templates[*index as usize] =
            Some(Template::new(function, program, kernel, &loaded.addresses, cluster_blocks > 1));
    }
    machine.launches += 1;
    machine.memory.note_launch(machine.launches, &ptx::demangle(&kernel.name));
    let blocks: u64 = launch.grid.iter().map(|axis| u64::from(*axis)).product();
    let clusters = blocks / u64::from(cluster_blocks);
    let (jobs, one_cluster) = jobs(machine, program, kernel, (clusters, cluster_blocks));
    let fuel = machine.config.fuel.unwrap_or(u64::MAX);
    let work = Work::new(clusters, machine.config.schedule_seed, fuel, jobs);
    let setup = Setup {
        config: &machine.config,
        program,
        short: &loaded.short,
        loops: &loaded.loops,
        kernel,
        templates: &templates,
        params: &Storage::of(&launch.params[..kernel.param_bytes as usize]),
        launch,
        grid_id: machine.launches,
        together,
        one_cluster,
        work: &work,
    };
    let done = if work.jobs > 1 {
        parallel::run(&setup, &machine.memory, work.jobs)
    } else {
        let memory = Device::Own(&mut machine.memory);
        let mut engine = setup.engine(memory, output, &mut machine.heap_used);
        engine.checks = machine.checks.take();
        engine.launch_begins();
        let result = engine.run_grid();
        engine.launch_ends();
        machine.checks = engine.checks.take();
        engine.done(result)
    };
    machine.counted = done.sums.map(|sums| Counted {
        program: Arc::clone(program),
        kernel: launch.kernel.to_owned(),
        grid: launch.grid,
        block: launch.block,
        sums,
    });
    match done.failure {
        Some(failure) => Err(failure.fault),
        None => Ok(done.report),
    }
}

/// How many jobs run a launch, and whether its clusters cannot wait for each other; and whether they run one after the other,
/// on as many jobs as there are. A block without a cluster is one of its own.
fn jobs(
    machine: &Machine,
    program: &Program,
    kernel: &KernelInfo,
    (clusters, blocks): (u64, u32),
) -> ((u64, bool), bool) {
    let wanted = machine.config.jobs;
    let count = wanted.count().min(clusters);
    let one = count < 2 || machine.checks.is_some();
    if one && blocks == 1 {
        return ((1, false), false);
    }
    let order = BlockOrder::of(program, kernel);
    let one_cluster = blocks > 1 && order == BlockOrder::Hidden;
    let jobs = match order {
        _ if one => (1, false),
        BlockOrder::Hidden => (count, true),
        BlockOrder::Shows if wanted.is_any_order() => (count, false),
        BlockOrder::Shows | BlockOrder::Matters => (1, false),
    };
    (jobs, one_cluster)
}

/// What a job did.
pub(super) struct Done {
    pub(super) failure: Option<Failure>,
    pub(super) report: LaunchReport,
    pub(super) sums: Option<PerOp>,
}

impl Engine<'_> {
    pub(super) fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(32)
    }

    pub(super) fn threads_per_block(&self) -> u32 {
        // At most 1024, checked before.
        self.block_dim.iter().product()
    }

    /// The lanes that a warp of a block starts with.
    pub(super) fn lanes_of(&self, warp: u32) -> u32 {
        match self.threads_per_block().saturating_sub(32 * warp) {
            rest @ 0..32 => (1 << rest) - 1,
            _ => u32::MAX,
        }
    }

    /// Bytes of shared memory of a block.
    pub(super) fn shared_bytes(&self) -> u32 {
        match self.dynamic_shared_bytes {
            0 => self.kernel.static_shared_bytes,
            bytes => self.kernel.dynamic_shared_offset + bytes,
        }
    }

    /// A random number below `limit`; 0 in the fixed order.
    pub(super) fn choose(&mut self, limit: usize) -> usize {
        match &mut self.random {
            Some(random) => (random.next() % limit.max(1) as u64) as usize,
            None => 0,
        }
    }

    /// True once the launch has executed what it may.
    #[inline]
    pub(super) fn out_of_fuel(&self, executed: u64) -> bool {
        self.report.warp_instructions.saturating_add(executed) > self.fuel
    }

    /// Warp instructions that may still be executed, of those that are not booked yet.
    #[inline]
    pub(super) fn fuel_left(&self) -> u64 {
        self.fuel.saturating_sub(self.report.warp_instructions)
    }

    /// What this job did.
    pub(super) fn done(mut self, result: Result<(), Failure>) -> Done {
        self.count_patterns();
        let sums = self.counting.map(|counting| counting.finish());
        Done { failure: result.err(), report: self.report, sums }
    }

    /// Runs blocks until none is left. Of several that fail, the first in the order counts.
    pub(super) fn run_grid(&mut self) -> Result<(), Failure> {
        let mut resident: VecDeque<Block> = VecDeque::new();
        // The storage of a block that ended, for the next one.
        let mut spare = None;
        // A block for which there was no room yet.
        let mut pending = None;
        let mut failure: Option<Failure> = None;
        // By their places in the order.
        let mut clusters: HashMap<u64, Box<Cluster>> = HashMap::new();
        // One block after the other. When one waits for others, more are started: twice as many in each round in which
        // none comes to its end, so that a barrier of the whole grid is met soon.
        let mut wanted = 1;
        let mut turns = 0;
        // Turns in which nothing was executed, and what had been before.
        let (mut idle, mut before) = (0, 0);
        loop {
            while (resident.len() as u64) < wanted {
                // Half of the memory is left for what blocks in progress take as they go.
                if !resident.is_empty() && self.budget.is_half_taken() {
                    wanted = resident.len() as u64;
                    break;
                }
                let Some((position, linear)) = pending.take().or_else(|| self.work.take()) else {
                    break;
                };
                let started = match self.cluster_blocks() {
                    1 => {
                        let block = spare.take().unwrap_or_else(|| Block::new(&self.budget));
                        self.start(block, position, linear).map(|block| vec![block])
                    }
                    blocks => self.start_cluster(position, linear, blocks, &mut clusters),
                };
                let started = match started {
                    Ok(started) => started,
                    Err(fault) => {
                        if !resident.is_empty() {
                            // There is no room until another block ends.
                            pending = Some((position, linear));
                            wanted = resident.len() as u64;
                            break;
                        }
                        self.work.fail(position);
                        failure = earlier(failure, Failure { position, fault });
                        continue;
                    }
                };
                // New ones first: it is they that the others wait for.
                started.into_iter().rev().for_each(|block| resident.push_front(block));
                turns = 0;
            }
            let Some(mut block) = resident.pop_front() else {
                break;
            };
            self.crowded = !resident.is_empty();
            self.cluster = clusters.remove(&block.state.position);
            self.enter_cluster(&mut block);
            let progress = self.run_block(&mut block);
            self.leave_cluster(&mut block);
            if let Some(cluster) = self.cluster.take().filter(|cluster| !cluster.is_over()) {
                clusters.insert(block.state.position, cluster);
            }
            match progress {
                Ok(Progress::Finished) => {
                    self.block_ends(&mut block);
                    spare = resident.is_empty().then_some(block);
                    wanted = (resident.len() as u64).max(1);
                    turns = 0;
                }
                Ok(Progress::Turn) => {
                    let executed = self.report.warp_instructions;
                    idle = if executed == before { idle + 1 } else { 0 };
                    before = executed;
                    // Blocks that wait for their cluster: all of it is in progress.
                    if idle > resident.len() {
                        let (position, fault) = (block.state.position, self.deadlock(&block));
                        self.work.fail(position);
                        failure = earlier(failure, Failure { position, fault });
                        continue;
                    }
                    resident.push_back(block);
                    turns += 1;
                    if turns >= resident.len() && !self.one_cluster {
                        wanted = wanted.saturating_mul(2);
                        turns = 0;
                    }
                }
                Ok(Progress::Over) => {}
                Err(fault) => {
                    let position = block.state.position;
                    self.work.fail(position);
                    failure = earlier(failure, Failure { position, fault });
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn start(&mut self, block: Block, position: u64, linear: u64) -> Result<Block, Box<Fault>> {
        self.start_as(block, position, linear, Rank::default())
    }

    pub(super) fn start_as(
        &mut self,
        mut block: Block,
        position: u64,
        linear: u64,
        rank: Rank,
    ) -> Result<Block, Box<Fault>> {
        let index = place(linear, self.grid);
        let room = block.reset(linear, index, self.shared_bytes(), self.threads_per_block());
        room.map_err(|_| self.bare_fault(FaultKind::OutOfHostMemory))?;
        block.state.position = position;
        block.state.rank = rank;
        let seed = self.config.schedule_seed;
        block.state.random = seed.map(|seed| Random::of_block(seed, linear));
        for warp in &mut block.warps {
            let alive = warp.alive;
            warp.r32.tagged = self.config.affine_registers;
            warp.r64.tagged = self.config.affine_registers;
            let function = self.kernel.function;
            // Lanes beyond the block's last thread get a frame too; they are never active.
            let frame = frame::enter(self, &mut block.state, warp, function, None, u32::MAX);
            let frame = frame.map_err(|kind| self.bare_fault(kind))?;
            let start = self.program.functions[function as usize].start;
            warp.add_split(start, alive, NONE, frame);
        }
        self.block_begins(&mut block);
        Ok(block)
    }

    /// Runs a block until its end, a fault or the end of its turn.
    fn run_block(&mut self, block: &mut Block) -> Result<Progress, Box<Fault>> {
        self.random = block.state.random;
        let result = self.run_rounds(block);
        block.state.random = self.random;
        result
    }

    /// Learns how much of the fuel the other jobs have used.
    fn share_fuel(&mut self) {
        let executed = self.report.warp_instructions;
        if self.memory.is_own() || executed - self.told < TOLD_AT_ONCE {
            return;
        }
        let others = self.work.tell(executed - self.told).saturating_sub(executed);
        self.told = executed;
        self.fuel = self.work.fuel.saturating_sub(others);
    }

    /// Lets the warps run, one after the other, again and again.
    fn run_rounds(&mut self, block: &mut Block) -> Result<Progress, Box<Fault>> {
        let block_turn = if self.crowded { BLOCK_TURN_AMONG_BLOCKS } else { BLOCK_TURN };
        let mut begin = self.report.warp_instructions;
        // Other blocks of the cluster may change what this one waits for.
        self.may_wait = self.cluster.is_some();
        let mut vain_rounds = 0;
        loop {
            self.share_fuel();
            if self.work.is_over(block.state.position) {
                return Ok(Progress::Over);
            }
            let (mut ran, mut in_vain) = (false, true);
            let warps = block.warps.len();
            let shift = self.choose(warps);
            for step in 0..warps {
                let warp = &mut block.warps[(step + shift) % warps];
                if !warp.has_ready() {
                    continue;
                }
                ran = true;
                self.run_warp(&mut block.state, warp)?;
                self.count_lists(&mut block.state, warp)?;
                in_vain &= block.state.mbarriers.waited_in_vain();
                if warp.barrier_changed {
                    self.release_barriers(block);
                }
            }
            if block.finished() {
                return Ok(Progress::Finished);
            }
            // Lanes that wait where ways meet may be what the others wait for.
            if !ran && !block.warps.iter_mut().any(Warp::release_any) {
                if self.waits_for_cluster(block) {
                    return Ok(Progress::Turn);
                }
                return Err(self.deadlock(block));
            }
            vain_rounds = if ran && in_vain { vain_rounds + 1 } else { 0 };
            // Only another block could change what these threads wait for.
            if vain_rounds > VAIN_ROUNDS && !self.may_wait {
                return Err(self.deadlock(block));
            }
            if self.report.warp_instructions - begin > block_turn {
                if self.may_wait {
                    return Ok(Progress::Turn);
                }
                begin = self.report.warp_instructions;
            }
        }
    }

    /// Counts what has grown a little at a time.
    #[inline]
    fn count_lists(&self, block: &mut BlockState, warp: &mut Warp) -> Result<(), Box<Fault>> {
        let counted = warp.count_lists(&mut block.share);
        let counted = counted.and_then(|()| block.copies.count_lists(&mut block.share));
        counted.map_err(|_| self.bare_fault(FaultKind::OutOfHostMemory))
    }

    /// Runs a warp until all its lanes wait or are gone, or its turn is over.
    fn run_warp(&mut self, block: &mut BlockState, warp: &mut Warp) -> Result<(), Box<Fault>> {
        let mut turn = if self.crowded { WARP_TURN_AMONG_BLOCKS } else { WARP_TURN };
        let watch = self.watches();
        while let Some(split) = next_split(warp) {
            let stop = if watch {
                self.run_split::<true>(block, warp, split, &mut turn)?
            } else {
                self.run_split::<false>(block, warp, split, &mut turn)?
            };
            match stop {
                Stop::Switch => {}
                Stop::Turn => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Where number `linear` is in a box, x fastest.
pub(super) fn place(linear: u64, size: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = size.map(|axis| u64::from(axis.max(1)));
    [linear % x, linear / x % y, linear / x / y].map(|axis| axis as u32)
}

/// The one of two failures that one job would have met.
pub(super) fn earlier(one: Option<Failure>, other: Failure) -> Option<Failure> {
    match one {
        Some(one) if one.position <= other.position => Some(one),
        _ => Some(other),
    }
}

/// The split made last runs first: diverged lanes come to their meeting point before others go on.
fn next_split(warp: &Warp) -> Option<usize> {
    warp.splits.iter().rposition(|split| split.state == State::Ready)
}
