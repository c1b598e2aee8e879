//! Clusters: blocks on neighbouring multiprocessors that reach each other's shared memory.

use glam::UVec3;

use super::ThreadGroup;
use crate::block;
use crate::gpu_only;
use crate::thread::{block_dim, thread_idx};

/// All threads of the cluster: [`this_cluster`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster(());

/// The cluster that this thread's block is in; the block alone, where the launch has no clusters.
///
/// The kernel says of how many blocks its clusters are (`#[kernel(cluster(2))]`), or the launch does
/// (`launch!(kernel[grid, block; cluster = 2](…))`). At most 8 are possible. Needs sm_90 (PTX ISA 7.8): the builder's architecture has
/// to be [`sm_90`] or more, or the driver refuses the PTX.
///
/// ```
/// use cuda_std::cooperative_groups::this_cluster;
/// use cuda_std::prelude::*;
///
/// /// Both blocks of a pair write the sum of both blocks' first elements.
/// ///
/// /// # Safety
/// /// `x` and `sums` have an element for each block.
/// #[kernel(cluster(2))]
/// pub unsafe fn pair_sums(x: *const f32, sums: *mut f32) {
///     let own = shared_array![f32; 1];
///     let cluster = this_cluster();
///     let i = thread::block_idx_x() as usize;
///     if thread::thread_idx_x() == 0 {
///         unsafe { *own = *x.add(i) };
///     }
///     cluster.sync();
///     if thread::thread_idx_x() == 0 {
///         let other = unsafe { cluster.map_shared_rank(own, 1 - cluster.block_rank()) };
///         unsafe { *sums.add(i) = *own + *other };
///     }
///     // A block stays until nobody looks into its shared memory any more.
///     cluster.sync();
/// }
/// ```
///
/// [`sm_90`]: https://docs.rs/cuda_builder/latest/cuda_builder/struct.CudaBuilder.html#method.arch
#[inline(always)]
#[must_use]
pub fn this_cluster() -> Cluster {
    Cluster(())
}

/// That a thread has arrived at the barrier of its cluster, and has not waited yet.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a thread that arrives at the barrier of its cluster has to wait for it before it arrives again"]
pub struct ClusterArrival(());

macro_rules! registers {
    ($($name:ident, $x:literal, $y:literal, $z:literal;)+) => {$(
        #[inline]
        #[gpu_only]
        fn $name() -> UVec3 {
            let (x, y, z): (u32, u32, u32);
            // SAFETY: reads registers that are the same for the whole block.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, ", $x, ";"), concat!("mov.u32 {}, ", $y, ";"), concat!("mov.u32 {}, ", $z, ";"),
                    out(reg32) x, out(reg32) y, out(reg32) z, options(pure, nomem, nostack, preserves_flags)
                );
            }
            UVec3::new(x, y, z)
        }
    )+};
}

registers! {
    cluster_id, "%clusterid.x", "%clusterid.y", "%clusterid.z";
    cluster_count, "%nclusterid.x", "%nclusterid.y", "%nclusterid.z";
    index_in_cluster, "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z";
    cluster_dim, "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z";
}

#[inline]
#[gpu_only]
fn rank_and_size() -> (u32, u32) {
    let (rank, size): (u32, u32);
    // SAFETY: reads registers that are the same for the whole block.
    unsafe {
        core::arch::asm!(
            "mov.u32 {}, %cluster_ctarank;", "mov.u32 {}, %cluster_nctarank;",
            out(reg32) rank, out(reg32) size, options(pure, nomem, nostack, preserves_flags)
        );
    }
    (rank, size)
}

impl Cluster {
    /// Blocks of the cluster. PTX: `%cluster_nctarank`.
    #[inline]
    #[must_use]
    pub fn num_blocks(self) -> u32 {
        rank_and_size().1
    }

    /// The block's number in the cluster, 0 to `num_blocks() - 1`; x fastest and z slowest. PTX: `%cluster_ctarank`.
    #[inline]
    #[must_use]
    pub fn block_rank(self) -> u32 {
        rank_and_size().0
    }

    /// The block's index in the cluster. PTX: `%cluster_ctaid`.
    #[inline]
    #[must_use]
    pub fn block_index(self) -> UVec3 {
        index_in_cluster()
    }

    /// Blocks of the cluster along x, y and z. PTX: `%cluster_nctaid`.
    #[inline]
    #[must_use]
    pub fn dim_blocks(self) -> UVec3 {
        cluster_dim()
    }

    /// The cluster's index in the grid. PTX: `%clusterid`.
    #[inline]
    #[must_use]
    pub fn group_index(self) -> UVec3 {
        cluster_id()
    }

    /// Clusters of the grid along x, y and z. PTX: `%nclusterid`.
    #[inline]
    #[must_use]
    pub fn dim_clusters(self) -> UVec3 {
        cluster_count()
    }

    /// The thread's index in the cluster: along each axis the blocks' threads lie side by side.
    #[inline]
    #[must_use]
    pub fn thread_index(self) -> UVec3 {
        self.block_index() * block_dim() + thread_idx()
    }

    /// Threads of the cluster along x, y and z.
    #[inline]
    #[must_use]
    pub fn dim_threads(self) -> UVec3 {
        self.dim_blocks() * block_dim()
    }

    /// Waits until all threads of the cluster are here; what they wrote to memory before is then visible to all of them.
    ///
    /// Every thread of the cluster must reach such a call, or end: as for [`sync_threads`](crate::thread::sync_threads) in a block. PTX:
    /// `barrier.cluster.arrive` and `.wait`, PTX ISA 7.8, sm_90.
    #[inline(always)]
    pub fn sync(self) {
        // SAFETY: the wait follows at once.
        let arrival = unsafe { self.barrier_arrive() };
        self.barrier_wait(arrival);
    }

    /// Arrives at the cluster's barrier, without waiting: others' [`barrier_wait`](Self::barrier_wait) sees what this thread wrote
    /// before. PTX: `barrier.cluster.arrive`, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// The thread makes no other operation of the cluster's barrier, [`sync`](Self::sync) for one, before it waits with what this gives:
    /// two arrivals without a wait between are undefined (PTX ISA, `barrier.cluster`).
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn barrier_arrive(self) -> ClusterArrival {
        // SAFETY: the caller's promise. Without `nomem`: it is an order of memory, of release semantics (PTX ISA 8.0 has a word for it).
        unsafe {
            core::arch::asm!("barrier.cluster.arrive;", options(nostack, preserves_flags));
        }
        ClusterArrival(())
    }

    /// Waits until all threads of the cluster have arrived. PTX: `barrier.cluster.wait`, PTX ISA 7.8, sm_90.
    #[inline(always)]
    #[gpu_only]
    pub fn barrier_wait(self, arrival: ClusterArrival) {
        let ClusterArrival(()) = arrival;
        // SAFETY: the thread has arrived, and did not wait since.
        unsafe {
            core::arch::asm!("barrier.cluster.wait;", options(nostack, preserves_flags));
        }
    }

    /// Where the block `rank` of the cluster has what is at `shared` in this block: its *distributed* shared memory.
    ///
    /// CUDA: `map_shared_rank`; PTX: `mapa`, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// `shared` points into this block's shared memory, and `rank` is less than [`num_blocks`](Self::num_blocks). The result can be
    /// followed from when the other block has begun, which a [`sync`](Self::sync) waits for, until it ends, before which it should wait for
    /// another.
    #[inline]
    #[must_use]
    #[gpu_only]
    pub unsafe fn map_shared_rank<T>(self, shared: *mut T, rank: u32) -> *mut T {
        let mapped: u64;
        // SAFETY: computes with an address, does not follow it.
        unsafe {
            core::arch::asm!(
                "mapa.u64 {}, {}, {};",
                out(reg64) mapped, in(reg64) shared, in(reg32) rank,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        mapped as *mut T
    }

    /// The rank of the block whose shared memory `shared` points into.
    ///
    /// CUDA: `query_shared_rank`; PTX: `getctarank`, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// `shared` points into the shared memory of a block of this cluster.
    #[inline]
    #[must_use]
    #[gpu_only]
    pub unsafe fn query_shared_rank<T>(self, shared: *const T) -> u32 {
        let rank: u32;
        // SAFETY: looks at an address, does not follow it.
        unsafe {
            core::arch::asm!(
                "getctarank.u64 {}, {};",
                out(reg32) rank, in(reg64) shared,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        rank
    }
}

impl ThreadGroup for Cluster {
    #[inline]
    fn num_threads(&self) -> u32 {
        self.num_blocks() * block::num_threads()
    }

    /// The threads of block 0 come first.
    #[inline]
    fn thread_rank(&self) -> u32 {
        self.block_rank() * block::num_threads() + block::thread_rank()
    }

    #[inline(always)]
    unsafe fn sync(&self) {
        Cluster::sync(*self);
    }
}
