//! Running a grid: checks of the launch, the order of blocks and warps, limits.

use std::sync::Arc;

use super::block::{Block, BlockState};
use super::counting::Counting;
use super::execute::Stop;
use super::frame::{self, Template};
use super::pattern::Pattern;
use super::short::ShortOp;
use super::warp::{State, Warp};
use super::{Counted, Launch, LaunchReport, Machine, MachineConfig, ModuleId, Output};
use crate::budget::Budget;
use crate::checks::Checks;
use crate::error::LaunchProblem;
use crate::fault::{Fault, FaultKind};
use crate::memory::{Memory, Storage};
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

/// A launch in progress.
pub(super) struct Engine<'a> {
    pub(super) config: &'a MachineConfig,
    pub(super) program: &'a Program,
    /// The short forms of the program's operations.
    pub(super) short: &'a [ShortOp],
    pub(super) kernel: &'a KernelInfo,
    pub(super) memory: &'a mut Memory,
    pub(super) output: &'a mut dyn Output,
    pub(super) heap_used: &'a mut u64,
    /// By function number; those that the kernel cannot reach have none.
    pub(super) templates: Vec<Option<Template>>,
    pub(super) params: Storage,
    /// The host memory that the blocks in progress may take.
    budget: Arc<Budget>,
    /// For each operation, the slot of the allocation that it used last.
    pub(super) caches: Vec<u32>,
    /// For each operation, how the lanes' addresses lay to each other last.
    pub(super) patterns: Vec<Pattern>,
    pub(super) grid: [u32; 3],
    pub(super) block_dim: [u32; 3],
    pub(super) dynamic_shared_bytes: u32,
    pub(super) grid_id: u64,
    pub(super) report: LaunchReport,
    /// What is counted, if anything is.
    pub(super) counting: Option<Box<Counting>>,
    /// What looks at the launch, if anything does.
    pub(super) checks: Option<Box<Checks>>,
    /// Whether the running block did something in its turn by which it could see another block's writes. Only such a
    /// block can be waiting for another.
    pub(super) may_wait: bool,
    /// Whether several blocks are in progress.
    crowded: bool,
    fuel: u64,
    random: Option<Random>,
}

/// A small generator for schedules (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// How far a block came.
enum Progress {
    Finished,
    /// Others may run now.
    Turn,
}

fn refuse(launch: &Launch<'_>, problem: LaunchProblem) -> Box<Fault> {
    Box::new(Fault {
        kind: FaultKind::BadLaunch(problem),
        kernel: ptx::demangle(launch.kernel),
        grid: launch.grid,
        block_dim: launch.block,
        threads: None,
        access: None,
        code: None,
        stack: Vec::new(),
        notes: Vec::new(),
        help: "correct the launch; the kernel did not run".to_owned(),
        panic: None,
    })
}

/// The limits of every compute capability (CUDA C++ Programming Guide, compute capabilities).
fn check(
    launch: &Launch<'_>,
    kernel: &KernelInfo,
    config: &MachineConfig,
) -> Result<(), LaunchProblem> {
    let Launch { grid, block, .. } = *launch;
    if grid.contains(&0) {
        return Err(LaunchProblem::EmptyGrid(grid));
    }
    if grid[0] > i32::MAX as u32 || grid[1] > 65_535 || grid[2] > 65_535 {
        return Err(LaunchProblem::GridTooLarge(grid));
    }
    if block.contains(&0) {
        return Err(LaunchProblem::EmptyBlock(block));
    }
    let threads: u64 = block.iter().map(|axis| u64::from(*axis).min(1 << 20)).product();
    if threads > 1024 || block[2] > 64 {
        return Err(LaunchProblem::BlockTooLarge(block));
    }
    if let Some(required) = kernel.required_threads
        && required != block
    {
        return Err(LaunchProblem::WrongThreads { block, required });
    }
    // `.maxntid` bounds the number of threads, not each direction (PTX ISA).
    if let Some(limit) = kernel.max_threads
        && threads > limit.iter().map(|axis| u64::from(*axis).min(1 << 20)).product()
    {
        return Err(LaunchProblem::OverMaxThreads { block, limit });
    }
    let (fixed, dynamic) = (kernel.static_shared_bytes, launch.dynamic_shared_bytes);
    let limit = config.shared_bytes_per_block;
    if u64::from(fixed) + u64::from(dynamic) > u64::from(limit) {
        return Err(LaunchProblem::SharedTooLarge { fixed, dynamic, limit });
    }
    if launch.params.len() < kernel.param_bytes as usize {
        let (given, expected) = (launch.params.len(), kernel.param_bytes);
        return Err(LaunchProblem::WrongParams { given, expected });
    }
    Ok(())
}

pub(super) fn run(
    machine: &mut Machine,
    module: ModuleId,
    launch: &Launch<'_>,
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
    check(launch, kernel, &machine.config).map_err(|problem| refuse(launch, problem))?;

    let mut templates: Vec<Option<Template>> = Vec::new();
    templates.resize_with(program.functions.len(), || None);
    for index in &kernel.reachable {
        let function = &program.functions[*index as usize];
        templates[*index as usize] =
            Some(Template::new(function, program, kernel, &loaded.addresses));
    }
    machine.launches += 1;
    machine.memory.note_launch(machine.launches, &ptx::demangle(&kernel.name));
    let mut engine = Engine {
        config: &machine.config,
        program,
        short: &loaded.short,
        kernel,
        memory: &mut machine.memory,
        output,
        heap_used: &mut machine.heap_used,
        templates,
        params: Storage::of(&launch.params[..kernel.param_bytes as usize]),
        budget: Budget::new(machine.config.launch_bytes),
        caches: vec![NONE; program.ops.len()],
        patterns: vec![Pattern::default(); program.ops.len()],
        grid: launch.grid,
        block_dim: launch.block,
        dynamic_shared_bytes: launch.dynamic_shared_bytes,
        grid_id: machine.launches,
        report: LaunchReport::default(),
        counting: machine.config.counters.then(|| Box::new(Counting::new(program.ops.len()))),
        checks: machine.checks.take(),
        may_wait: false,
        crowded: false,
        fuel: machine.config.fuel.unwrap_or(u64::MAX),
        random: machine.config.schedule_seed.map(Random),
    };
    engine.launch_begins();
    let result = engine.run_grid();
    engine.launch_ends();
    engine.count_patterns();
    let (report, checks, counting) = (engine.report, engine.checks.take(), engine.counting.take());
    machine.checks = checks;
    machine.counted = counting.map(|counting| Counted {
        program: Arc::clone(program),
        kernel: launch.kernel.to_owned(),
        grid: launch.grid,
        block: launch.block,
        sums: counting.finish(),
    });
    result.map(|()| report)
}

impl Engine<'_> {
    pub(super) fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(32)
    }

    fn threads_per_block(&self) -> u32 {
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

    fn run_grid(&mut self) -> Result<(), Box<Fault>> {
        let total: u64 = self.grid.iter().map(|axis| u64::from(*axis)).product();
        let order = Order::new(total, self.random.as_mut());
        let mut next = 0;
        let mut resident: std::collections::VecDeque<Block> = std::collections::VecDeque::new();
        // The storage of a block that ended, for the next one.
        let mut spare = None;
        // One block after the other. When one waits for others, more are started: twice as many in each round in which
        // none comes to its end, so that a barrier of the whole grid is met soon.
        let mut wanted = 1;
        let mut turns = 0;
        while next < total || !resident.is_empty() {
            while next < total && (resident.len() as u64) < wanted {
                // Half of the memory is left for what blocks in progress take as they go.
                if !resident.is_empty() && self.budget.is_half_taken() {
                    wanted = resident.len() as u64;
                    break;
                }
                let mut block = spare.take().unwrap_or_else(|| Block::new(&self.budget));
                if let Err(fault) = self.start(&mut block, order.at(next)) {
                    if resident.is_empty() {
                        return Err(fault);
                    }
                    // There is no room until another block ends.
                    wanted = resident.len() as u64;
                    break;
                }
                next += 1;
                // New ones first: it is they that the others wait for.
                resident.push_front(block);
                turns = 0;
            }
            let Some(mut block) = resident.pop_front() else {
                break;
            };
            self.crowded = !resident.is_empty();
            match self.run_block(&mut block)? {
                Progress::Finished => {
                    self.block_ends(&mut block);
                    spare = resident.is_empty().then_some(block);
                    wanted = (resident.len() as u64).max(1);
                    turns = 0;
                }
                Progress::Turn => {
                    resident.push_back(block);
                    turns += 1;
                    if turns >= resident.len() {
                        wanted = wanted.saturating_mul(2);
                        turns = 0;
                    }
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, block: &mut Block, linear: u64) -> Result<(), Box<Fault>> {
        let [x, y, _] = self.grid.map(u64::from);
        let index = [linear % x, linear / x % y, linear / x / y].map(|axis| axis as u32);
        let room = block.reset(linear, index, self.shared_bytes(), self.threads_per_block());
        room.map_err(|_| self.bare_fault(FaultKind::OutOfHostMemory))?;
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
        self.block_begins(block);
        Ok(())
    }

    fn run_block(&mut self, block: &mut Block) -> Result<Progress, Box<Fault>> {
        let block_turn = if self.crowded { BLOCK_TURN_AMONG_BLOCKS } else { BLOCK_TURN };
        let mut begin = self.report.warp_instructions;
        self.may_wait = false;
        let mut vain_rounds = 0;
        loop {
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

/// The split made last runs first: diverged lanes come to their meeting point before others go on.
fn next_split(warp: &Warp) -> Option<usize> {
    warp.splits.iter().rposition(|split| split.state == State::Ready)
}

/// The order in which blocks start.
struct Order {
    total: u64,
    factor: u64,
    shift: u64,
}

impl Order {
    fn new(total: u64, random: Option<&mut Random>) -> Order {
        let Some(random) = random else {
            return Order { total, factor: 1, shift: 0 };
        };
        let shift = random.next() % total.max(1);
        // A factor without common divisors maps the numbers one to one.
        let mut factor = random.next() % total.max(1);
        while gcd(factor, total) != 1 {
            factor = (factor + 1) % total.max(1);
            if total == 1 {
                factor = 1;
                break;
            }
        }
        Order { total, factor, shift }
    }

    fn at(&self, number: u64) -> u64 {
        let product = u128::from(number) * u128::from(self.factor) + u128::from(self.shift);
        (product % u128::from(self.total.max(1))) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_every_block_once() {
        for seed in 0..50 {
            for total in [1, 2, 3, 12, 97, 100] {
                let order = Order::new(total, Some(&mut Random(seed)));
                let mut blocks: Vec<u64> = (0..total).map(|number| order.at(number)).collect();
                blocks.sort_unstable();
                assert_eq!(blocks, (0..total).collect::<Vec<u64>>(), "seed {seed}");
            }
        }
    }
}
