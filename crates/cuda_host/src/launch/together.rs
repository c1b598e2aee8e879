//! What the blocks of a launch do together: a barrier of the whole grid, clusters.

use super::extent::LaunchSize;
use super::shape::{AXES, Plan, positive, written};
use crate::device::{Attributes, DeviceState};
use crate::error::{Result, Shape};
use crate::module::{Function, KernelAttributes};
use crate::sys;

/// Blocks that a cluster may have on every device that has clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
const MOST_CLUSTER_BLOCKS: u64 = 8;

/// What [`launch!`](crate::launch!) has behind the `;` in its brackets.
///
/// ```
/// use cuda_host::Together;
///
/// // launch!(kernel[grid, block; cooperative, cluster = (2, 1)](…))
/// let together = Together::new().cooperative().cluster((2, 1));
/// assert_ne!(together, Together::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Together {
    pub(super) cooperative: bool,
    pub(super) cluster: Option<[i128; 3]>,
}

impl Together {
    /// Nothing: blocks that neither wait for each other nor form clusters, unless the kernel itself says so.
    pub fn new() -> Self {
        Self::default()
    }

    /// A cooperative launch: all blocks are on the device at the same time, so that the kernel can have a barrier of the whole grid.
    pub fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    /// Clusters of so many blocks along x, y and z, which are on neighbouring multiprocessors at the same time and reach each other's
    /// shared memory.
    pub fn cluster(self, blocks: impl LaunchSize) -> Self {
        Self { cluster: Some(blocks.axes()), ..self }
    }
}

impl Together {
    /// The blocks of a cluster, if the launch names any, where device, kernel and grid allow it.
    pub(super) fn check(
        &self,
        grid: [u32; 3],
        kernel: &KernelAttributes,
        device: &Attributes,
    ) -> Result<Option<[u32; 3]>, Shape> {
        if self.cooperative && !device.cooperative_launch {
            return Err(Shape::NoCooperative);
        }
        if let Some(asked) = self.cluster {
            let blocks = positive("cluster", asked)?;
            if !device.cluster_launch {
                return Err(Shape::NoClusters { capability: device.compute_capability });
            }
            if blocks > MOST_CLUSTER_BLOCKS {
                let (asked, limit) = (written(asked), MOST_CLUSTER_BLOCKS);
                return Err(Shape::ClusterBlocks { asked, blocks, limit });
            }
        }
        // Small, or refused above.
        let asked = self.cluster.map(|blocks| blocks.map(|axis| axis as u32));
        if let (Some(asked), Some(required)) = (asked, kernel.cluster)
            && asked != required
        {
            let [asked, required] = [asked, required].map(|blocks| written(blocks.map(i128::from)));
            return Err(Shape::RequiredCluster { asked, required });
        }
        if let Some(cluster) = asked.or(kernel.cluster) {
            let parts = (0..AXES.len()).find(|axis| !grid[*axis].is_multiple_of(cluster[*axis]));
            if let Some(axis) = parts {
                let [grid, cluster] = [grid, cluster].map(|blocks| written(blocks.map(i128::from)));
                return Err(Shape::PartsOfClusters { grid, cluster, axis: AXES[axis] });
            }
        }
        Ok(asked)
    }
}

impl Plan {
    /// Refuses a cooperative launch of more blocks than the device holds at the same time.
    pub(super) fn check_resident(
        &self,
        state: &DeviceState,
        function: &Function,
    ) -> Result<Result<(), Shape>> {
        let asked = self.grid.iter().fold(1_u64, |all, axis| all.saturating_mul((*axis).into()));
        let threads = self.block.iter().product();
        let each = resident_blocks(state, function, threads, self.shared)?;
        let multiprocessors = state.attributes.multiprocessors;
        let limit = u64::from(each) * u64::from(multiprocessors);
        Ok(if asked > limit {
            Err(Shape::CooperativeGrid { asked, limit, each, multiprocessors })
        } else {
            Ok(())
        })
    }
}

/// Blocks that a multiprocessor holds at the same time.
pub(super) fn resident_blocks(
    state: &DeviceState,
    function: &Function,
    threads: u32,
    shared: u32,
) -> Result<u32> {
    let mut blocks = 0;
    let threads = i32::try_from(threads).unwrap_or(i32::MAX);
    // SAFETY: the function's module is loaded, `blocks` outlives the call.
    let code = unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut blocks,
            function.raw,
            threads,
            shared as usize,
        )
    };
    state.after(code, || "ask how many blocks fit the device".into())?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::{ATTRIBUTES, DEVICE};
    use super::*;

    #[track_caller]
    fn refused(together: Together, grid: [u32; 3], expected: &str) {
        let error = together.check(grid, &ATTRIBUTES, &DEVICE).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn clusters_fit_grid_and_device() {
        let cluster = |blocks: [i128; 3]| Together { cluster: Some(blocks), cooperative: false };
        let found = cluster([4, 2, 1]).check([8, 2, 3], &ATTRIBUTES, &DEVICE);
        assert_eq!(found.expect("whole clusters"), Some([4, 2, 1]));
        refused(
            cluster([4, 2, 1]),
            [8, 3, 1],
            "a grid of 8 x 3 x 1 blocks cannot be divided into clusters of 4 x 2 x 1 along y\n\
             help: round the grid up to whole clusters, and let the blocks that are too many do nothing",
        );
        refused(
            cluster([3, 3, 1]),
            [9, 9, 1],
            "a cluster of 3 x 3 x 1 = 9 blocks is more than the 8 blocks that a cluster may have\n\
             help: make the cluster smaller",
        );
        refused(
            cluster([2, 0, 1]),
            [2, 2, 1],
            "the cluster is 2 x 0 x 1, and y may not be 0\nhelp: a cluster needs at least one block",
        );
        refused(cluster([2, -1, 1]), [2, 2, 1], "the cluster is 2 x -1 x 1: y is negative");
        let made_for_two = KernelAttributes { cluster: Some([2, 1, 1]), ..ATTRIBUTES };
        let check = |together: Together, grid| together.check(grid, &made_for_two, &DEVICE);
        assert_eq!(check(Together::new(), [4, 1, 1]).expect("two clusters"), None);
        assert!(check(Together::new(), [3, 1, 1]).is_err());
        assert_eq!(
            check(cluster([4, 1, 1]), [4, 1, 1]).expect_err("another").to_string(),
            "the launch asks for clusters of 4 x 1 x 1 blocks, and the kernel is made for clusters of 2 x 1 x 1\n\
             help: leave `cluster` out of the launch"
        );
        let old = Attributes { compute_capability: (8, 6), cluster_launch: false, ..DEVICE };
        assert_eq!(
            cluster([2, 1, 1])
                .check([2, 1, 1], &ATTRIBUTES, &old)
                .expect_err("too old")
                .to_string(),
            "this device has compute capability 8.6, and clusters need 9.0\n\
             help: launch without `cluster`, with a kernel that uses none"
        );
    }

    #[test]
    fn some_devices_launch_nothing_cooperatively() {
        let device = Attributes { cooperative_launch: false, ..DEVICE };
        let together = Together::new().cooperative();
        assert!(together.check([1; 3], &ATTRIBUTES, &DEVICE).is_ok());
        assert_eq!(
            together.check([1; 3], &ATTRIBUTES, &device).expect_err("it cannot").to_string(),
            "this device cannot launch kernels cooperatively\n\
             help: instead of waiting for the whole grid, end the kernel there and launch another"
        );
    }
}
