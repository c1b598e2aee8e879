//! Clusters of blocks.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::block;
use cuda_std::cooperative_groups::{Cluster, ClusterArrival, ThreadGroup, this_cluster};
use cuda_std::prelude::*;

unsafe fn describe(out: *mut [u32; 24]) {
    let cluster = this_cluster();
    let at = thread::index_usize();
    let places = [
        cluster.block_index(),
        cluster.dim_blocks(),
        cluster.group_index(),
        cluster.dim_clusters(),
        cluster.thread_index(),
        cluster.dim_threads(),
    ];
    let mut found = [0; 24];
    found[..4].copy_from_slice(&[
        cluster.block_rank(),
        cluster.num_blocks(),
        cluster.thread_rank(),
        cluster.num_threads(),
    ]);
    for (axes, place) in found[4..].chunks_exact_mut(3).zip(places) {
        axes.copy_from_slice(&place.to_array());
    }
    unsafe { *out.add(at) = found };
}

#[kernel(cluster(2, 3))]
pub unsafe fn clusters_of_2_by_3(out: *mut [u32; 24]) {
    unsafe { describe(out) };
}

#[kernel(cluster(1, 2, 4), launch_bounds(64))]
pub unsafe fn clusters_of_1_by_2_by_4(out: *mut [u32; 24]) {
    unsafe { describe(out) };
}

#[kernel]
pub unsafe fn clusters_of_one(out: *mut [u32; 24]) {
    unsafe { describe(out) };
}

/// Each block keeps its elements in shared memory; the cluster's elements are written backwards. Blocks of at most 64 threads.
#[kernel(cluster(4))]
pub unsafe fn reversed_clusters(x: &[u32], out: *mut u32, ranks: *mut u32) {
    let tile = shared_array![u32; 64];
    let cluster = this_cluster();
    let (i, threads) = (block::thread_rank(), block::num_threads());
    let at = thread::index_usize();
    unsafe { *tile.add(i as usize) = x[at] };
    cluster.sync();
    let other = cluster.num_blocks() - 1 - cluster.block_rank();
    unsafe {
        let theirs = cluster.map_shared_rank(tile, other);
        *out.add(at) = *theirs.add((threads - 1 - i) as usize);
        *ranks.add(at) = cluster.query_shared_rank(theirs) * 10 + cluster.query_shared_rank(tile);
    }
    cluster.sync();
}

/// The address of the bin of a histogram that the cluster's blocks keep between them.
unsafe fn bin<'a>(cluster: Cluster, own: *mut u32, value: u32) -> &'a AtomicU32 {
    let (rank, at) = (value / 32 % 8, value % 32);
    unsafe { AtomicU32::from_ptr(cluster.map_shared_rank(own, rank).add(at as usize)) }
}

/// How often each of 256 values is among a cluster's elements; the cluster's eight blocks have 32 bins each.
#[kernel(cluster(8))]
pub unsafe fn cluster_histograms(x: &[u8], counts: *mut u32) {
    let bins = shared_array![u32; 32];
    let cluster = this_cluster();
    let i = block::thread_rank();
    if i < 32 {
        unsafe { *bins.add(i as usize) = 0 };
    }
    cluster.sync();
    let (threads, clusters) = (cluster.num_threads() as usize, cluster.dim_clusters().x as usize);
    let each = x.len().div_ceil(clusters);
    let start = cluster.group_index().x as usize * each;
    let mut at = start + cluster.thread_rank() as usize;
    while at < x.len().min(start + each) {
        unsafe { bin(cluster, bins, x[at].into()) }.fetch_add(1, Ordering::Relaxed);
        at += threads;
    }
    cluster.sync();
    if i < 32 {
        let place = thread::block_idx_x() as usize * 32 + i as usize;
        unsafe { *counts.add(place) = *bins.add(i as usize) };
    }
}

/// Each thread gives its neighbour block a number, works on something else, and takes the one that it was given; several times.
#[kernel(cluster(2))]
pub unsafe fn passed_on(rounds: u32, out: *mut u32) {
    let cells = shared_array![u32; 64];
    let cluster = this_cluster();
    let i = block::thread_rank() as usize;
    let mut value = thread::index_1d() as u32;
    let mut work = 0_u32;
    cluster.sync();
    for round in 0..rounds {
        unsafe {
            let theirs = cluster.map_shared_rank(cells, 1 - cluster.block_rank());
            *theirs.add(i) = value.wrapping_mul(3).wrapping_add(round);
            let given: ClusterArrival = cluster.barrier_arrive();
            work = work.wrapping_add(value);
            cluster.barrier_wait(given);
            value = *cells.add(i);
            let taken = cluster.barrier_arrive();
            work = work.rotate_left(1);
            cluster.barrier_wait(taken);
        }
    }
    unsafe { *out.add(thread::index_usize()) = value ^ work };
}
