//! Barriers of other blocks of the cluster.

use super::Barrier;
use crate::cooperative_groups::Cluster;
use crate::gpu_only;

/// For kernels with clusters, built for sm_90 or more. A thread arrives at the barrier that *another* block has in its shared memory,
/// and says so that what it wrote there is complete; that block waits at its own.
///
/// ```
/// use cuda_std::async_copy::Barrier;
/// use cuda_std::cooperative_groups::this_cluster;
/// use cuda_std::prelude::*;
///
/// #[address_space(shared)]
/// static mut FULL: Barrier = Barrier::uninit();
///
/// /// Each block's numbers go to the next block of the cluster, around.
/// ///
/// /// # Safety
/// /// Blocks of at most 64 threads; `values` and `out` have an element for each thread.
/// #[kernel(cluster(4))]
/// pub unsafe fn around(values: *const u32, out: *mut u32) {
///     let cells = shared_array![u32; 64];
///     let full = unsafe { &*(&raw const FULL) };
///     let (cluster, i, at) = (this_cluster(), thread::thread_idx_x() as usize, thread::index_usize());
///     let next = (cluster.block_rank() + 1) % cluster.num_blocks();
///     unsafe {
///         if i == 0 {
///             full.init(thread::block_dim_x());
///         }
///         cluster.sync();
///         *cluster.map_shared_rank(cells, next).add(i) = *values.add(at);
///         full.arrive_at_rank(cluster, next, 1);
///         full.wait_parity_in_cluster(0);
///         *out.add(at) = *cells.add(i);
///     }
///     // A block stays until nobody reaches into it any more.
///     cluster.sync();
/// }
/// ```
impl Barrier {
    /// Arrives `count` times at the barrier that block `rank` of the cluster has where this block has `self`.
    ///
    /// What this thread wrote before, to that block's shared memory too, is visible to those who wait there with
    /// [`wait_parity_in_cluster`](Self::wait_parity_in_cluster). There is no token: only threads of the barrier's own block can wait at it.
    ///
    /// PTX: `mapa` and `mbarrier.arrive.release.cluster.shared::cluster`, PTX ISA 8.0, sm_90.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says, of the other block's barrier: it has been initialised, with a
    /// [`cluster.sync()`](crate::cooperative_groups::ThreadGroup::sync) between that and this call, and its block has not ended. `rank` is
    /// less than the cluster's [`num_blocks`](Cluster::num_blocks); `count` is as for [`arrive_n`](Self::arrive_n).
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive_at_rank(&self, cluster: Cluster, rank: u32, count: u32) {
        // It is the proof that there are clusters; their ranks are known to `mapa`.
        let _ = cluster;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!(
                "{{ .reg .b32 %there; mapa.shared::cluster.u32 %there, {barrier}, {rank}; \
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there], {count}; }}",
                self,
                rank = in(reg32) rank,
                count = in(reg32) count
            );
        }
    }

    /// Whether the phase with this parity has ended, where threads of other blocks [arrive](Self::arrive_at_rank) too; it may sleep for a
    /// while before it answers `false`.
    ///
    /// What they wrote before they arrived is visible after `true`.
    /// PTX: `mbarrier.try_wait.parity.acquire.cluster`, PTX ISA 8.0, sm_90.
    ///
    /// # Safety
    ///
    /// As for [`test_wait_parity`](Self::test_wait_parity).
    #[inline(always)]
    #[must_use]
    #[gpu_only]
    pub unsafe fn try_wait_parity_in_cluster(&self, parity: u32) -> bool {
        asks!("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", self, in(reg32) parity)
    }

    /// Waits until the phase with this parity has ended, where threads of other blocks [arrive](Self::arrive_at_rank) too, by asking again
    /// and again ([`try_wait_parity_in_cluster`](Self::try_wait_parity_in_cluster), PTX ISA 8.0, sm_90).
    ///
    /// # Safety
    ///
    /// As for [`test_wait_parity`](Self::test_wait_parity).
    #[inline(always)]
    pub unsafe fn wait_parity_in_cluster(&self, parity: u32) {
        // SAFETY: the caller's promise.
        while !unsafe { self.try_wait_parity_in_cluster(parity) } {}
    }
}
