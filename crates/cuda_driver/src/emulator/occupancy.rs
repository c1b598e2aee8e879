//! Occupancy: how many blocks of a kernel a multiprocessor of compute capability 9.0 holds at once.
//!
//! The formula is that of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, Multiprocessor
//! Level): blocks are limited by threads, by the number of blocks, by shared memory (allocated in units
//! of 128 bytes, 1 KiB of it for the system) and by registers (allocated by warp in units of 256, in each
//! of the four partitions). The register count is an estimate, see `function::registers`.

use std::ffi::{c_int, c_uint};

use ptx_emulator::KernelInfo;

use super::device::limits::*;
use super::function::{Settings, info, max_dynamic_shared, max_threads, registers};
use super::with;
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// Shared memory is allocated in units of this, bytes.
const SHARED_UNIT: u64 = 128;
/// Registers of a warp are allocated in units of this.
const REGISTER_UNIT: u32 = 256;
/// Partitions of a multiprocessor, each with its share of registers and warps.
const PARTITIONS: u32 = 4;

/// Blocks of `block_size` threads with `dynamic_shared` bytes each that are resident at once.
pub(crate) fn blocks_per_multiprocessor(
    kernel: &KernelInfo,
    block_size: u32,
    dynamic_shared: u64,
) -> u32 {
    if block_size == 0 || block_size > max_threads(kernel) {
        return 0;
    }
    let warps = block_size.div_ceil(WARP);
    let by_threads = THREADS_PER_MULTIPROCESSOR / (warps * WARP);
    let shared = u64::from(kernel.static_shared_bytes).saturating_add(dynamic_shared);
    // The limit is a multiple of the unit.
    if shared > u64::from(SHARED_OPT_IN) {
        return 0;
    }
    let shared = shared.next_multiple_of(SHARED_UNIT);
    let by_shared = u64::from(SHARED_PER_MULTIPROCESSOR) / (shared + u64::from(SHARED_RESERVED));
    let registers_of_warp = (registers(kernel) * WARP).next_multiple_of(REGISTER_UNIT);
    let warps_of_partition = REGISTERS / PARTITIONS / registers_of_warp;
    let by_registers = warps_of_partition * PARTITIONS / warps;
    by_threads
        .min(by_registers)
        .min(BLOCKS_PER_MULTIPROCESSOR)
        .min(u32::try_from(by_shared).unwrap_or(u32::MAX))
}

/// Blocks of a kernel that the whole device holds at once.
pub(crate) fn resident_blocks(kernel: &KernelInfo, block_size: u32, dynamic_shared: u32) -> u64 {
    u64::from(blocks_per_multiprocessor(kernel, block_size, dynamic_shared.into()))
        * u64::from(MULTIPROCESSORS)
}

fn positive(name: &'static str, value: c_int) -> Result<u32, ApiError> {
    u32::try_from(value)
        .ok()
        .filter(|value| *value > 0)
        .ok_or_else(|| ApiError::argument(name, value, "at least 1"))
}

/// A kernel's description and settings.
fn kernel(function: CUfunction) -> Result<(KernelInfo, Settings), ApiError> {
    with(|emulator| {
        emulator.ready()?;
        let (program, name, settings) = emulator.kernel_of(function)?;
        Ok((info(&program, &name)?.clone(), settings))
    })
}

fn check_occupancy_flags(flags: c_uint) -> Outcome {
    if flags > 1 { Err(ApiError::argument("flags", flags, "0 or 1")) } else { Ok(()) }
}

pub(crate) fn max_active_blocks(
    blocks: Out<c_int>,
    function: CUfunction,
    block_size: c_int,
    dynamic_shared: usize,
) -> Outcome {
    let (kernel, _) = kernel(function)?;
    blocks.check("num_blocks")?;
    let block_size = positive("block_size", block_size)?;
    let found = blocks_per_multiprocessor(&kernel, block_size, dynamic_shared as u64);
    blocks.set("num_blocks", found as c_int)
}

pub(crate) fn max_active_blocks_with_flags(
    blocks: Out<c_int>,
    function: CUfunction,
    block_size: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> Outcome {
    check_occupancy_flags(flags)?;
    max_active_blocks(blocks, function, block_size, dynamic_shared)
}

pub(crate) fn max_potential_block_size(
    min_grid_size: Out<c_int>,
    block_size: Out<c_int>,
    function: CUfunction,
    shared_of_block_size: CUoccupancyB2DSize,
    dynamic_shared: usize,
    block_size_limit: c_int,
) -> Outcome {
    let (kernel, _) = kernel(function)?;
    min_grid_size.check("min_grid_size")?;
    block_size.check("block_size")?;
    let limit = match u32::try_from(block_size_limit) {
        Ok(0) => max_threads(&kernel),
        Ok(limit) => limit.min(max_threads(&kernel)),
        Err(_) => {
            return Err(ApiError::argument("block_size_limit", block_size_limit, "0 or more"));
        }
    };
    // The largest block first: of equal occupancies the one with the fewest blocks wins.
    let (mut best_threads, mut best) = (0, (0, 0));
    let mut size = limit.next_multiple_of(WARP);
    while size > 0 {
        let threads = size.min(limit);
        let shared = match shared_of_block_size {
            // SAFETY: the caller vouches for the function; the lock is not held, so it may call back.
            Some(function) => unsafe { function(threads as c_int) },
            None => dynamic_shared,
        };
        let blocks = blocks_per_multiprocessor(&kernel, threads, shared as u64);
        if threads * blocks > best_threads {
            best_threads = threads * blocks;
            best = (threads, blocks);
        }
        if best_threads == THREADS_PER_MULTIPROCESSOR {
            break;
        }
        size -= WARP;
    }
    min_grid_size.set("min_grid_size", (best.1 * MULTIPROCESSORS) as c_int)?;
    block_size.set("block_size", best.0 as c_int)
}

pub(crate) fn max_potential_block_size_with_flags(
    min_grid_size: Out<c_int>,
    block_size: Out<c_int>,
    function: CUfunction,
    shared_of_block_size: CUoccupancyB2DSize,
    dynamic_shared: usize,
    block_size_limit: c_int,
    flags: c_uint,
) -> Outcome {
    check_occupancy_flags(flags)?;
    max_potential_block_size(
        min_grid_size,
        block_size,
        function,
        shared_of_block_size,
        dynamic_shared,
        block_size_limit,
    )
}

pub(crate) fn available_dynamic_shared(
    bytes: Out<usize>,
    function: CUfunction,
    blocks: c_int,
    block_size: c_int,
) -> Outcome {
    let (kernel, settings) = kernel(function)?;
    bytes.check("dynamic_smem_size")?;
    let blocks = positive("num_blocks", blocks)?;
    let block_size = positive("block_size", block_size)?;
    let possible = blocks_per_multiprocessor(&kernel, block_size, 0);
    if blocks > possible {
        return Err(ApiError::argument(
            "num_blocks",
            format_args!("{blocks} blocks of {block_size} threads on a multiprocessor"),
            format_args!("at most {possible}"),
        ));
    }
    let share = u64::from(SHARED_PER_MULTIPROCESSOR / blocks) / SHARED_UNIT * SHARED_UNIT;
    let free = share
        .saturating_sub(u64::from(SHARED_RESERVED))
        .saturating_sub(u64::from(kernel.static_shared_bytes))
        .min(u64::from(max_dynamic_shared(&kernel, settings)));
    bytes.set("dynamic_smem_size", free as usize)
}
