//! Control-flow graph of a function's body: basic blocks, dominators, post-dominators and the points
//! at which diverged lanes of a warp meet again.
//!
//! Instructions are numbered as [`crate::walk::instructions`] yields them: in source order, nested
//! scopes included. Labels follow PTX scoping: a label inside `{ }` is unknown outside.

mod convergence;
mod dominators;
mod flow;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use self::convergence::Convergence;
use self::flow::{Flat, Flow, FlowKind};
use crate::ast::{Function, Item, Module, Statement};
use crate::error::{CfgError, ErrorKind};

/// Number of a basic block, in source order. [`Cfg::exit`] is the virtual exit, one past the last.
pub type BlockId = usize;

/// Most edges of one graph: a few instructions could otherwise share one enormous jump table.
const MAX_EDGES: usize = 1 << 22;

/// Instructions that are entered only at the first and left only after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// Numbers of its instructions; never empty.
    pub instructions: Range<usize>,
    /// How control leaves its last instruction.
    pub end: BlockEnd,
}

/// How control leaves a block. A guarded instruction falls through where its guard is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// Into the next block: the next instruction is the target of a branch.
    FallThrough,
    /// Past the last instruction of the body, which is a fault when it happens: no return was given.
    FallOff,
    /// `bra` or `brx.idx`.
    Branch {
        /// Whether it has a guard, so that the next block is a successor too.
        guarded: bool,
    },
    /// `ret`.
    Return {
        /// Whether it has a guard, so that the next block is a successor too.
        guarded: bool,
    },
    /// `exit`, `trap` or a call that does not return: the thread ends here.
    Terminate {
        /// Whether it has a guard, so that the next block is a successor too.
        guarded: bool,
    },
}

/// The control-flow graph of one body.
///
/// ```
/// let module = ptx::parse(
///     ".version 8.8\n.target sm_90\n.visible .entry k() {
///         .reg .pred %p; .reg .b32 %r;
///         @%p bra ELSE;
///         mov.b32 %r, 1;
///         bra.uni JOIN;
///     ELSE:
///         mov.b32 %r, 2;
///     JOIN:
///         ret;
///     }",
/// )?;
/// let ptx::ast::Item::Function(function) = &module.items[0] else { unreachable!() };
/// let cfg = ptx::cfg::Cfg::of_function(&module, function).expect("labels exist");
/// assert_eq!(cfg.blocks().len(), 4);
/// assert_eq!(cfg.successors(0), [2, 1]);
/// assert_eq!(cfg.immediate_post_dominator(0), Some(3));
/// assert_eq!(cfg.branch_targets(0), [3], "ELSE is instruction 3");
/// # Ok::<(), ptx::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cfg {
    blocks: Vec<BasicBlock>,
    /// Block of each instruction.
    block_of: Vec<u32>,
    /// Instruction numbers that each branch may go to, by the branch's number.
    targets: HashMap<usize, Vec<usize>>,
    /// Successors of each block; the node after the last block is the virtual exit.
    successors: Vec<Vec<BlockId>>,
    predecessors: Vec<Vec<BlockId>>,
    reachable: Vec<bool>,
    dominator: Vec<Option<u32>>,
    post_dominator: Vec<Option<u32>>,
    reconvergence: Vec<Option<u32>>,
}

impl Cfg {
    /// The graph of a body in which every called function returns. See [`Cfg::of_function`].
    ///
    /// # Errors
    /// When a branch has no target, or one that is not a label in reach, or when there are more
    /// edges than any real function has.
    pub fn build(body: &[Statement]) -> Result<Self, CfgError> {
        Self::build_with(body, |_| false)
    }

    /// The graph of a function of a module, in which calls to `.noreturn` functions end a block.
    ///
    /// A function without a body has an empty graph. This looks through the whole module: for all
    /// functions of a large one, call [`noreturn_functions`] once and [`Cfg::build_with`] for each.
    ///
    /// # Errors
    /// As [`Cfg::build`].
    pub fn of_function(module: &Module, function: &Function) -> Result<Self, CfgError> {
        let noreturn = noreturn_functions(module);
        Self::build_with(function.body.as_deref().unwrap_or_default(), |name| {
            noreturn.contains(name)
        })
    }

    /// The graph of a body; `noreturn` tells of a called function whether it never returns. Calls
    /// through a `.callprototype` say so themselves.
    ///
    /// # Errors
    /// As [`Cfg::build`].
    pub fn build_with(
        body: &[Statement],
        noreturn: impl Fn(&str) -> bool,
    ) -> Result<Self, CfgError> {
        let flat = Flat::new(body);
        let flows = flat.flows(noreturn)?;
        Self::from_flows(flows)
    }

    fn from_flows(flows: Vec<Flow>) -> Result<Self, CfgError> {
        let count = flows.len();
        let mut starts_block = vec![false; count + 1];
        starts_block[0] = true;
        for (number, flow) in flows.iter().enumerate() {
            for target in flow.targets() {
                starts_block[*target] = true;
            }
            if !matches!(flow.kind, FlowKind::Next) {
                starts_block[number + 1] = true;
            }
        }
        let mut blocks = Vec::new();
        let mut block_of = Vec::with_capacity(count);
        for (number, flow) in flows.iter().enumerate() {
            if starts_block[number] {
                blocks
                    .push(BasicBlock { instructions: number..number, end: BlockEnd::FallThrough });
            }
            block_of.push(narrow(blocks.len() - 1));
            if let Some(block) = blocks.last_mut() {
                block.instructions.end = number + 1;
                let guarded = flow.guarded;
                block.end = match flow.kind {
                    FlowKind::Branch(_) => BlockEnd::Branch { guarded },
                    FlowKind::Return => BlockEnd::Return { guarded },
                    FlowKind::Terminate => BlockEnd::Terminate { guarded },
                    FlowKind::Next if number + 1 == count => BlockEnd::FallOff,
                    FlowKind::Next => BlockEnd::FallThrough,
                };
            }
        }

        let exit = blocks.len();
        // A label at the very end of a body stands for falling off it.
        let block_at = |number: usize| block_of.get(number).map_or(exit, |block| *block as usize);
        let mut successors: Vec<Vec<BlockId>> = Vec::with_capacity(exit + 1);
        let mut edges = 0;
        let mut seen_from = vec![usize::MAX; exit + 1];
        for (id, block) in blocks.iter().enumerate() {
            let last = block.instructions.end - 1;
            let flow = &flows[last];
            let next = block_at(last + 1);
            let mut found: Vec<BlockId> = Vec::new();
            let mut add = |to: BlockId| {
                if seen_from[to] != id {
                    seen_from[to] = id;
                    found.push(to);
                }
            };
            match &flow.kind {
                FlowKind::Next => add(next),
                FlowKind::Branch(targets) => {
                    targets.iter().for_each(|target| add(block_at(*target)))
                }
                FlowKind::Return | FlowKind::Terminate => add(exit),
            }
            if flow.guarded {
                add(next);
            }
            edges += found.len();
            if edges > MAX_EDGES {
                let kind = ErrorKind::TooManyBranches { limit: MAX_EDGES };
                return Err(CfgError::new(kind, flow.span));
            }
            successors.push(found);
        }
        successors.push(Vec::new());

        let mut predecessors = vec![Vec::new(); exit + 1];
        for (from, targets) in successors.iter().enumerate() {
            for to in targets {
                predecessors[*to].push(from);
            }
        }
        let analysis = Convergence::new(&blocks, &successors);
        let targets = flows
            .into_iter()
            .enumerate()
            .filter_map(|(number, flow)| match flow.kind {
                FlowKind::Branch(targets) => Some((number, targets)),
                _ => None,
            })
            .collect();
        Ok(Self {
            blocks,
            block_of,
            targets,
            successors,
            predecessors,
            reachable: analysis.reachable,
            dominator: analysis.dominator,
            post_dominator: analysis.post_dominator,
            reconvergence: analysis.reconvergence,
        })
    }

    /// The basic blocks in source order. The first is the entry; there is none if the body has no
    /// instruction.
    pub fn blocks(&self) -> &[BasicBlock] {
        &self.blocks
    }

    /// The virtual exit: the successor of every block that returns or ends the thread.
    pub fn exit(&self) -> BlockId {
        self.blocks.len()
    }

    /// The block of an instruction; `None` past the last instruction.
    pub fn block_of(&self, instruction: usize) -> Option<BlockId> {
        self.block_of.get(instruction).map(|block| *block as usize)
    }

    /// The instruction numbers that a `bra` (one) or `brx.idx` (by index) may go to; empty for other
    /// instructions. A target equal to the number of instructions is a label at the end of the
    /// body: going there falls off it.
    pub fn branch_targets(&self, instruction: usize) -> &[usize] {
        self.targets.get(&instruction).map_or(&[], Vec::as_slice)
    }

    /// Where control may go from a block, each once: branch targets first, then the next block where
    /// a guard can be false. Empty for the virtual exit.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        self.successors.get(block).map_or(&[], Vec::as_slice)
    }

    /// Where control may come from, each once. For the virtual exit, all blocks that leave the body.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.get(block).map_or(&[], Vec::as_slice)
    }

    /// Whether any path leads to a block from the first instruction.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.reachable.get(block).copied().unwrap_or(false)
    }

    /// The last block before `block` that every path from the entry passes. `None` for the entry and
    /// for blocks that no path reaches.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.dominator.get(block).copied().flatten().map(|block| block as usize)
    }

    /// The first block after `block` that every path to the end passes; [`Cfg::exit`] when only the end
    /// itself is. `None` for the virtual exit and for blocks that no path reaches.
    ///
    /// A loop that nothing leaves counts as if its last block in flow order could end.
    pub fn immediate_post_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.post_dominator.get(block).copied().flatten().map(|block| block as usize)
    }

    /// Where lanes that part at the end of `block` should wait for each other: the first block that
    /// all of them pass *unless their thread ends before*. [`Cfg::exit`] when they meet only at the
    /// end; `None` as for [`Cfg::immediate_post_dominator`].
    ///
    /// It is often earlier than the immediate post-dominator: a bounds check whose failing side traps
    /// does not keep the surviving lanes apart. Whoever waits here must no longer wait for lanes whose
    /// thread has ended.
    pub fn reconvergence(&self, block: BlockId) -> Option<BlockId> {
        self.reconvergence.get(block).copied().flatten().map(|block| block as usize)
    }
}

/// The functions of a module that are declared `.noreturn`.
pub fn noreturn_functions(module: &Module) -> HashSet<&str> {
    let names = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.noreturn => Some(function.name.as_str()),
        _ => None,
    });
    names.collect()
}

/// Blocks and nodes are at most as many as tokens, which fit.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
