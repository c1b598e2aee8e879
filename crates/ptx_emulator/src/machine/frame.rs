//! Making frames: register rows with their constants, special registers, local memory.

use crate::fault::FaultKind;
use crate::memory::window;
use crate::op::NONE;
use crate::program::{Function, KernelInfo, Program, Special, Value, VariableSpace};
use crate::row::{Class, LANES, Row64, write_mask};

use super::block::BlockState;
use super::launch::Engine;
use super::stack;
use super::warp::{Frame, Warp};
use crate::registers::Affine;

const POISON32: u32 = 0xCBCB_CBCB;
const POISON64: u64 = 0xCBCB_CBCB_CBCB_CBCB;

/// What a new frame of a function looks like, for all that a launch knows beforehand.
pub(super) struct Template {
    r32: Vec<Affine>,
    r64: Vec<Affine>,
    predicates: Vec<u32>,
    /// Rows that depend on thread, block or frame.
    late: Vec<(Class, u32, Value)>,
}

impl Template {
    pub(super) fn new(
        function: &Function,
        program: &Program,
        kernel: &KernelInfo,
        addresses: &[u64],
        in_clusters: bool,
    ) -> Template {
        let mut template = Template {
            r32: vec![Affine::uniform(u64::from(POISON32)); function.rows32 as usize],
            r64: vec![Affine::uniform(POISON64); function.rows64 as usize],
            predicates: vec![POISON32; function.predicates as usize],
            late: Vec::new(),
        };
        for (class, row, value) in &function.constants {
            let bits = match value {
                Value::Bits(bits) => *bits,
                Value::Param(offset) => *offset,
                Value::Function(index) => super::function_address(*index),
                Value::Variable { index, offset } => {
                    if in_clusters && is_shared(program, *index) {
                        // The block's rank comes on top.
                        template.late.push((*class, *row, *value));
                    }
                    variable_address(*index, program, kernel, addresses).wrapping_add(*offset)
                }
                Value::Frame(_) | Value::Special(_) => {
                    template.late.push((*class, *row, *value));
                    continue;
                }
            };
            match class {
                Class::R => template.r32[*row as usize] = Affine::uniform(bits),
                Class::D => template.r64[*row as usize] = Affine::uniform(bits),
                Class::Predicate => template.predicates[*row as usize] = bits as u32,
            }
        }
        template
    }
}

fn is_shared(program: &Program, variable: u32) -> bool {
    let space = program.variables.get(variable as usize).map(|variable| variable.space);
    matches!(space, Some(VariableSpace::Shared | VariableSpace::DynamicShared))
}

/// The address of a variable in its own space.
fn variable_address(index: u32, program: &Program, kernel: &KernelInfo, addresses: &[u64]) -> u64 {
    let shared = |offset: u32| window::SHARED_RESERVED + u64::from(offset);
    match program.variables.get(index as usize).map(|variable| variable.space) {
        Some(VariableSpace::DynamicShared) => shared(kernel.dynamic_shared_offset),
        Some(VariableSpace::Shared) => {
            let found = kernel.shared_layout.iter().find(|(variable, _)| *variable == index);
            shared(found.map_or(0, |(_, offset)| *offset))
        }
        _ => addresses.get(index as usize).copied().unwrap_or(0),
    }
}

fn grow<T: Clone>(rows: &mut Vec<T>, length: usize, fill: T) {
    if rows.len() < length {
        rows.resize(length, fill);
    }
}

/// Makes a frame for the lanes of `mask` and fills its rows; the kind of fault when there is no room.
pub(super) fn enter(
    engine: &Engine<'_>,
    block: &mut BlockState,
    warp: &mut Warp,
    function: u32,
    caller: Option<(u32, u32)>,
    mask: u32,
) -> Result<u32, FaultKind> {
    let (Some(code), Some(template)) = (
        engine.program.functions.get(function as usize),
        engine.templates.get(function as usize).and_then(Option::as_ref),
    ) else {
        return Err(FaultKind::InvalidPc);
    };
    let mut frame = Frame { function, parent: NONE, call_pc: NONE, ..Frame::default() };
    frame.stack_bytes = code.depot_bytes;
    let mut local_end = (window::LOCAL_RESERVED / 4) as u32;
    if let Some((parent, call_pc)) = caller {
        let above = warp.frames[parent as usize];
        let calling = &engine.program.functions[above.function as usize];
        frame.parent = parent;
        frame.call_pc = call_pc;
        frame.base32 = above.base32 + calling.rows32;
        frame.base64 = above.base64 + calling.rows64;
        frame.base_predicate = above.base_predicate + calling.predicates;
        frame.depth = above.depth + 1;
        frame.stack_bytes = stack::bytes_with(&above, code);
        if frame.stack_bytes > engine.stack_limit {
            return Err(FaultKind::StackOverflow);
        }
        if frame.depth > engine.config.call_depth {
            return Err(FaultKind::CallDepth);
        }
        local_end = above.top_local;
    }
    let align = (code.frame_align / 4).max(1);
    // Frames are at most 512 KiB and start within the stack, which is checked here.
    frame.base_local = local_end.checked_next_multiple_of(align).unwrap_or(u32::MAX / 2);
    frame.top_local = frame.base_local.saturating_add(code.frame_bytes.div_ceil(4));
    let most = engine.config.local_bytes / 4 + (window::LOCAL_RESERVED / 4) as u32;
    if frame.top_local > most {
        return Err(FaultKind::StackOverflow);
    }

    let (base32, base64) = (frame.base32 as usize, frame.base64 as usize);
    let base_predicate = frame.base_predicate as usize;
    let ends = [
        base32 + template.r32.len(),
        base64 + template.r64.len(),
        base_predicate + template.predicates.len(),
        frame.top_local as usize,
    ];
    warp.reserve(ends, &mut block.share).map_err(|_| FaultKind::OutOfHostMemory)?;
    warp.r32.enter(base32, &template.r32, mask);
    warp.r64.enter(base64, &template.r64, mask);
    grow(&mut warp.predicates, base_predicate + template.predicates.len(), POISON32);
    for (target, value) in warp.predicates[base_predicate..].iter_mut().zip(&template.predicates) {
        write_mask(target, *value, mask);
    }
    grow(&mut warp.local, frame.top_local as usize, [POISON32; LANES]);
    for (class, row, value) in &template.late {
        let value = match value {
            Value::Frame(offset) => {
                Values::Even(Affine::uniform(u64::from(frame.base_local) * 4 + u64::from(*offset)))
            }
            Value::Variable { .. } => {
                let base = match class {
                    Class::R => template.r32.get(*row as usize),
                    _ => template.r64.get(*row as usize),
                };
                let above = block.rank.shared_base - window::SHARED_RESERVED;
                Values::Even(base.map_or(Affine::uniform(above), |base| base.plus(above)))
            }
            Value::Special(special) => special_value(engine, block, warp.index, *special),
            _ => continue,
        };
        match (class, value) {
            (Class::R, Values::Even(value)) => warp.r32.set_affine(frame.base32 + row, value, mask),
            (Class::D, Values::Even(value)) => warp.r64.set_affine(frame.base64 + row, value, mask),
            (Class::R, Values::Each(lanes)) => {
                warp.r32.write(frame.base32 + row, &lanes.map(|lane| lane as u32), mask);
            }
            (Class::D, Values::Each(lanes)) => warp.r64.write(frame.base64 + row, &lanes, mask),
            (Class::Predicate, Values::Even(value)) => {
                let all = if value.base == 0 { 0 } else { u32::MAX };
                let row = (frame.base_predicate + row) as usize;
                warp.predicates.get_mut(row).into_iter().for_each(|it| write_mask(it, all, mask));
            }
            (Class::Predicate, Values::Each(_)) => {}
        }
    }
    Ok(warp.new_frame(frame))
}

/// The values of a row.
#[expect(clippy::large_enum_variant, reason = "made and used at once, never kept")]
enum Values {
    Even(Affine),
    Each(Row64),
}

impl Values {
    fn of(lane: impl Fn(u32) -> u32) -> Values {
        let lanes: Row64 = std::array::from_fn(|at| u64::from(lane(at as u32)));
        match Affine::of(&lanes) {
            Some(value) => Values::Even(value),
            None => Values::Each(lanes),
        }
    }
}

fn special_value(engine: &Engine<'_>, block: &BlockState, warp: u32, special: Special) -> Values {
    let uniform = |value: u32| Values::Even(Affine::uniform(u64::from(value)));
    let lane = |f: &dyn Fn(u32) -> u32| Values::of(f);
    let shape = engine.cluster_shape.unwrap_or([1; 3]);
    let axis_of = |values: [u32; 3], axis: u8| values[usize::from(axis) % 3];
    let multiprocessors = engine.config.multiprocessors.max(1);
    match special {
        Special::ThreadId(axis) => {
            let [x, y, _] = engine.block_dim;
            lane(&|lane| {
                let linear = warp * 32 + lane;
                match axis {
                    0 => linear % x,
                    1 => linear / x % y,
                    _ => linear / x / y,
                }
            })
        }
        Special::BlockDim(axis) => uniform(engine.block_dim[usize::from(axis) % 3]),
        Special::BlockId(axis) => uniform(block.index[usize::from(axis) % 3]),
        Special::GridDim(axis) => uniform(engine.grid[usize::from(axis) % 3]),
        Special::ClusterId(axis) => {
            uniform(axis_of(block.index, axis) / axis_of(shape, axis).max(1))
        }
        Special::ClusterCount(axis) => {
            uniform(axis_of(engine.grid, axis) / axis_of(shape, axis).max(1))
        }
        Special::ClusterBlockId(axis) => {
            uniform(axis_of(block.index, axis) % axis_of(shape, axis).max(1))
        }
        Special::ClusterDim(axis) => uniform(axis_of(shape, axis)),
        Special::ClusterRank => uniform(block.rank.rank),
        Special::ClusterBlocks => uniform(shape.iter().product()),
        Special::IsExplicitCluster => uniform(engine.cluster_shape.is_some().into()),
        Special::LaneId => lane(&|lane| lane),
        Special::LaneMaskEqual => lane(&|lane| 1 << lane),
        Special::LaneMaskLess => lane(&|lane| (1 << lane) - 1),
        Special::LaneMaskLessEqual => lane(&|lane| ((2u64 << lane) - 1) as u32),
        Special::LaneMaskGreater => lane(&|lane| !((2u64 << lane) - 1) as u32),
        Special::LaneMaskGreaterEqual => lane(&|lane| !((1u32 << lane) - 1)),
        Special::WarpId => uniform(warp),
        Special::WarpCount => uniform(engine.warps_per_block()),
        Special::MultiprocessorId => uniform((block.linear % u64::from(multiprocessors)) as u32),
        Special::MultiprocessorCount => uniform(multiprocessors),
        Special::GridWorkspaceHigh => uniform((engine.grid_workspace >> 32) as u32),
        Special::GridWorkspaceLow => uniform(engine.grid_workspace as u32),
        Special::GridId => Values::Even(Affine::uniform(engine.grid_id)),
        Special::DynamicShared => uniform(engine.dynamic_shared_bytes),
        Special::TotalShared => uniform(engine.shared_bytes()),
    }
}
