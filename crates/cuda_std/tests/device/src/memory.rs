//! Shared, dynamic, constant and global memory, with the barriers between threads.

use core::mem::MaybeUninit;

use cuda_std::prelude::*;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{mem, ptr, warp};

/// Thread 0 of each block writes, all read. (LLVM must not move the load above the barrier.)
#[kernel]
pub unsafe fn broadcast(input: &[u32], out: *mut u32) {
    #[address_space(shared)]
    static mut CELL: MaybeUninit<u32> = MaybeUninit::uninit();
    let cell = (&raw mut CELL).cast::<u32>();
    unsafe {
        if thread::thread_idx_x() == 0 {
            *cell = input[thread::block_idx_x() as usize];
        }
        thread::sync_threads();
        *out.add(thread::index_1d() as usize) = *cell;
    }
}

/// Reverses each block's elements, through static shared memory.
#[kernel]
pub unsafe fn reverse(x: *mut f32) {
    let tile = shared_array![f32; 64];
    unsafe { reverse_through(tile, x) };
}

/// Reverses each block's elements, through dynamic shared memory.
#[kernel]
pub unsafe fn reverse_dynamic(x: *mut f32) {
    unsafe { reverse_through(dynamic_shared_mem(), x) };
}

unsafe fn reverse_through(tile: *mut f32, x: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    let last = thread::block_dim_x() as usize - 1;
    unsafe {
        let element = x.add(thread::index_1d() as usize);
        *tile.add(i) = *element;
        thread::sync_threads();
        *element = *tile.add(last - i);
    }
}

/// Two arrays, so that their addresses must differ; an array of arrays, as tiles are written.
#[address_space(shared)]
static mut ROWS: MaybeUninit<[[u32; 4]; 8]> = MaybeUninit::uninit();
#[address_space(shared)]
static mut COLUMNS: [MaybeUninit<u32>; 32] = [const { MaybeUninit::uninit() }; 32];

#[kernel]
pub unsafe fn two_tiles(out: *mut u32) {
    let i = thread::thread_idx_x() as usize;
    let rows = (&raw mut ROWS).cast::<[[u32; 4]; 8]>();
    let columns = (&raw mut COLUMNS).cast::<u32>();
    unsafe {
        (*rows)[i / 4][i % 4] = i as u32;
        *columns.add(i) = 100 + i as u32;
        thread::sync_threads();
        *out.add(i) = (*rows)[7 - i / 4][3 - i % 4] + *columns.add(31 - i);
    }
}

#[address_space(constant)]
static POWERS: [u32; 8] = [1, 3, 9, 27, 81, 243, 729, 2187];
#[address_space(constant)]
static mut SCALE: u32 = 10;
#[address_space(global)]
static mut TOTAL: u32 = 5;

/// A constant table, a constant that the host may change, a variable in global memory.
#[kernel]
pub unsafe fn statics(out: *mut u32, n: usize) {
    for i in 0..n {
        unsafe { *out.add(i) = POWERS[i] * SCALE + TOTAL };
    }
    unsafe { TOTAL += 1 };
}

/// `sync_threads_count`, `_and`, `_or` of "is a multiple of 3" and of "is below `limit`".
#[kernel]
pub unsafe fn reductions(limit: u32, out: *mut [u32; 6]) {
    let i = thread::thread_idx_x();
    let (third, below) = (u32::from(i.is_multiple_of(3)), u32::from(i < limit) * 4);
    let values = [
        thread::sync_threads_count(third),
        thread::sync_threads_and(third),
        thread::sync_threads_or(third),
        thread::sync_threads_count(below),
        thread::sync_threads_and(below),
        thread::sync_threads_or(below),
    ];
    unsafe { *out.add(i as usize) = values };
}

/// Sizes of shared memory, address spaces, fences, lanes, votes: what a thread can ask for.
#[kernel]
pub unsafe fn questions(input: &u32, out: *mut u32) {
    let shared = dynamic_shared_mem::<u8>();
    let local = MaybeUninit::<u32>::uninit();
    let local = core::hint::black_box(&local).as_ptr();
    thread::block_fence();
    thread::grid_fence();
    thread::device_fence();
    thread::system_fence();
    thread::nanosleep(1);
    cuda_std::misc::profiler_counter(3);
    let start = cuda_std::misc::clock();
    let lane = warp::lane_id();
    let values = unsafe {
        [
            mem::dynamic_smem_size(),
            u32::from(mem::total_smem_size() >= mem::dynamic_smem_size()),
            thread::warp_size(),
            u32::from(ptr::is_in_address_space(input, ptr::AddressSpace::Global)),
            u32::from(ptr::is_in_address_space(input, ptr::AddressSpace::Shared)),
            u32::from(ptr::is_in_address_space(shared, ptr::AddressSpace::Shared)),
            u32::from(ptr::is_in_address_space(local, ptr::AddressSpace::Local)),
            *input,
            lane,
            warp::activemask(),
            u32::from(warp::warp_vote_all(warp::FULL_MASK, lane < 32)),
            u32::from(warp::warp_vote_any(warp::FULL_MASK, lane == 40)),
            warp::warp_vote_ballot(warp::FULL_MASK, lane % 2 == 1),
            u32::from(cuda_std::misc::clock() >= start),
        ]
    };
    unsafe { warp::sync_warp(warp::FULL_MASK) };
    if lane == 7 {
        for (i, value) in values.into_iter().enumerate() {
            unsafe { *out.add(i) = value };
        }
    }
}
