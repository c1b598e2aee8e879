//! Launches that cannot be: a grid, block or parameters that no device takes.

use super::{Launch, MachineConfig};
use crate::error::LaunchProblem;
use crate::fault::{Fault, FaultKind};
use crate::program::KernelInfo;

/// The fault of a launch that does not begin.
pub(super) fn refuse(launch: &Launch<'_>, problem: LaunchProblem) -> Box<Fault> {
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

/// Blocks that every device's clusters may have (CUDA C++ Programming Guide, Thread Block Clusters).
const MOST_CLUSTER_BLOCKS: u64 = 8;

/// A grid is made of whole clusters.
pub(super) fn check_cluster(
    launch: &Launch<'_>,
    kernel: &KernelInfo,
    cluster: Option<[u32; 3]>,
) -> Result<(), LaunchProblem> {
    let Some(cluster) = cluster else {
        return Ok(());
    };
    if let Some(required) = kernel.required_cluster
        && required != cluster
    {
        return Err(LaunchProblem::WrongCluster { cluster, required });
    }
    let blocks = cluster.iter().fold(1_u64, |all, size| all.saturating_mul(u64::from(*size)));
    if !(1..=MOST_CLUSTER_BLOCKS).contains(&blocks) {
        return Err(LaunchProblem::ClusterSize { cluster, limit: MOST_CLUSTER_BLOCKS });
    }
    let whole = launch.grid.iter().zip(cluster).all(|(blocks, size)| blocks.is_multiple_of(size));
    if whole { Ok(()) } else { Err(LaunchProblem::PartsOfClusters { grid: launch.grid, cluster }) }
}

/// The limits of every compute capability (CUDA C++ Programming Guide, compute capabilities).
pub(super) fn check(
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
