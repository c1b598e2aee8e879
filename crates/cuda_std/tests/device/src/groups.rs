//! Groups of threads.

use cuda_std::cooperative_groups::*;
use cuda_std::prelude::*;
use cuda_std::warp::{WarpShuffleValue, lane_id};

/// Digits of a number in base 3, and 3 to the power of their count: appending is associative, and its order shows.
fn append((a, p): (u32, u32), (b, q): (u32, u32)) -> (u32, u32) {
    (a.wrapping_mul(q).wrapping_add(b), p.wrapping_mul(q))
}

/// Every operation that all groups of lanes have.
unsafe fn operations(group: &impl LaneGroup, value: u32) -> [u32; 16] {
    let last = group.num_threads() - 1;
    let one = (value % 3, 3);
    unsafe {
        group.sync();
        [
            group.num_threads(),
            group.thread_rank(),
            group.meta_group_size(),
            group.meta_group_rank(),
            group.shfl(value, last - group.thread_rank()),
            group.broadcast(value, last / 2),
            group.shfl_up(value, 3),
            group.shfl_down(value, 2),
            u32::from(group.any(value % 16 == 0)),
            u32::from(group.all(value % 16 != 0)),
            group.ballot(value % 2 == 1),
            group.match_any(value % 5),
            u32::from(group.match_all(value % 2)),
            group.reduce(one, append).0,
            group.inclusive_scan(one, append).0,
            group.exclusive_scan(one, (0, 1), append).0,
        ]
    }
}

unsafe fn tile<const N: u32>(value: u32) -> ([u32; 16], u32) {
    let tile = this_thread_block().tiled_partition::<N>();
    unsafe { (operations(&tile, value), tile.shfl_xor(value, 5)) }
}

/// The operations of tiles of `n` threads, `shfl_xor` of 5, and the mask.
#[kernel]
pub unsafe fn tile_operations(n: u32, values: &[u32], out: *mut [u32; 17]) {
    let i = thread::index_usize();
    let value = values[i];
    let (all, crossed) = unsafe {
        match n {
            1 => tile::<1>(value),
            2 => tile::<2>(value),
            4 => tile::<4>(value),
            8 => tile::<8>(value),
            16 => tile::<16>(value),
            _ => tile::<32>(value),
        }
    };
    let mut found = [crossed; 17];
    found[..16].copy_from_slice(&all);
    unsafe { *out.add(i) = found };
}

/// The operations of the lanes with a value that is no multiple of 3, or of as many of them as came together, and the mask.
#[kernel]
pub unsafe fn coalesced_operations(values: &[u32], out: *mut [u32; 17]) {
    let i = thread::index_usize();
    let value = values[i];
    if value % 3 != 0 {
        let group = coalesced_threads();
        let mut found = [group.mask(); 17];
        found[..16].copy_from_slice(&unsafe { operations(&group, value) });
        unsafe { *out.add(i) = found };
    }
}

/// The operations of the parts that a tile of 32 is divided into: by a label, by a condition, in fives; and by a label and a
/// condition.
#[kernel]
pub unsafe fn partition_operations(values: &[u32], out: *mut [[u32; 17]; 4]) {
    let i = thread::index_usize();
    let value = values[i];
    let warp = tiled_partition::<32>();
    let mut found = [[0; 17]; 4];
    unsafe {
        let labeled = warp.labeled_partition(value % 7);
        let parts = [
            labeled,
            warp.binary_partition(value % 4 == 1),
            warp.partition(5),
            labeled.binary_partition(value % 2 == 0),
        ];
        for (found, part) in found.iter_mut().zip(parts) {
            // Lanes may be ahead in one part while those that they wait for are still in another.
            warp.sync();
            found[16] = part.mask();
            found[..16].copy_from_slice(&operations(&part, value));
        }
        *out.add(i) = found;
    }
}

/// What the block and the grid say of themselves, and the block's operations.
#[kernel]
pub unsafe fn block_and_grid(values: &[u32], out: *mut [u64; 12]) {
    let (block, grid) = (this_thread_block(), this_grid());
    let i = grid.thread_rank() as usize;
    let one = (values[i] % 3, 3);
    let index = block.thread_index() + block.group_index() * block.dim_threads();
    let (size, place) = (grid.dim_blocks() * block.dim_threads(), index);
    block.sync();
    unsafe {
        *out.add(i) = [
            block.num_threads().into(),
            block.thread_rank().into(),
            grid.num_blocks(),
            grid.block_rank(),
            grid.num_threads(),
            grid.thread_rank(),
            grid.is_valid().into(),
            ((place.z * size.y + place.y) * size.x + place.x).into(),
            block.reduce(one, append).0.into(),
            block.inclusive_scan(one, append).0.into(),
            block.exclusive_scan(one, (0, 1), append).0.into(),
            block.broadcast(values[i], block.size() / 2).into(),
        ];
    }
}

/// Each round adds to each element of one array the one of the next block in the other, and changes sides. All need all of the round
/// before.
#[kernel]
pub unsafe fn grid_rounds(a: *mut u32, b: *mut u32, rounds: u32) {
    let grid = this_grid();
    let (i, n) = (grid.thread_rank() as usize, grid.num_threads() as usize);
    let next = (i + this_thread_block().num_threads() as usize) % n;
    let (mut from, mut to) = (a, b);
    for round in 0..rounds {
        unsafe { *to.add(i) = (*from.add(i)).wrapping_mul(3).wrapping_add(*from.add(next) ^ round) };
        grid.sync();
        (from, to) = (to, from);
    }
}

/// Values of 8 bytes and structs go through groups, too: the lane with the largest value.
#[kernel]
pub unsafe fn largest_lane(values: &[f64], out: *mut u32) {
    #[derive(Clone, Copy)]
    struct Best(f64, u32);
    impl WarpShuffleValue for Best {
        fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
            Self(self.0.map_words(&mut f), self.1.map_words(&mut f))
        }
    }
    let i = thread::index_usize();
    let tile = tiled_partition::<16>();
    let own = Best(values[i], lane_id());
    let best = unsafe { tile.reduce(own, |a, b| if b.0 > a.0 { b } else { a }) };
    unsafe { *out.add(i) = best.1 };
}
