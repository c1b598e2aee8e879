//! Kernels that the test `on_device` runs, with instructions that need sm_80 or sm_90.
#![no_std]

mod barriers;
mod clusters;
mod pairs;

use core::mem::MaybeUninit;

use cuda_std::async_copy::*;
use cuda_std::block;
use cuda_std::prelude::*;

/// Elements of a tile.
const TILE: usize = 256;

#[repr(C, align(16))]
struct Tiles([[u32; TILE]; 2]);

#[address_space(shared)]
static mut TILES: MaybeUninit<Tiles> = MaybeUninit::uninit();

fn tiles() -> [*mut u32; 2] {
    let first = (&raw mut TILES).cast::<u32>();
    [first, first.wrapping_add(TILE)]
}

/// Each thread's words of all tiles, mixed with those of its mirror image; the next tile is on its way meanwhile. `BYTES` are copied
/// at a time.
unsafe fn pipeline<const BYTES: usize>(x: *const u32, n: usize, out: *mut u32) {
    let words = BYTES / 4;
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    let place = i * words;
    let tiles = tiles();
    let fetch = |tile: usize| {
        if tile < n {
            let (to, from) =
                unsafe { (tiles[tile % 2].add(place), x.add(tile * threads * words + place)) };
            unsafe {
                match BYTES {
                    4 => cp_async_4(to, from),
                    8 => cp_async_8(to, from),
                    _ => cp_async_16(to, from),
                }
            }
        }
        commit_group();
    };
    let mut sum = 0_u32;
    fetch(0);
    for tile in 0..n {
        fetch(tile + 1);
        wait_group::<1>();
        thread::sync_threads();
        let mirrored = (threads - 1 - i) * words;
        for word in 0..words {
            sum =
                sum.wrapping_mul(31).wrapping_add(unsafe { *tiles[tile % 2].add(mirrored + word) });
        }
        thread::sync_threads();
    }
    wait_all();
    unsafe { *out.add(i) = sum };
}

#[kernel]
pub unsafe fn pipelines(bytes: u32, x: *const u32, n: usize, out: *mut u32) {
    unsafe {
        match bytes {
            4 => pipeline::<4>(x, n, out),
            8 => pipeline::<8>(x, n, out),
            _ => pipeline::<16>(x, n, out),
        }
    }
}

#[address_space(shared)]
static mut FULL: Barrier = Barrier::uninit();
#[address_space(shared)]
static mut EMPTY: Barrier = Barrier::uninit();

/// Passes numbers on from thread to thread, around the block: one barrier says that they are there, another that they have been
/// read. `how` chooses among the ways to wait.
#[kernel]
pub unsafe fn around(how: u32, rounds: u32, values: &[u32], out: *mut u32) {
    let (full, empty) = unsafe { (&*(&raw const FULL), &*(&raw const EMPTY)) };
    let [cells, _] = tiles();
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    if i == 0 {
        unsafe {
            full.init(threads as u32);
            empty.init(threads as u32);
        }
    }
    thread::sync_threads();
    let mut value = values[i];
    for round in 0..rounds {
        unsafe {
            *cells.add(i) = value;
            match how {
                0 => full.arrive_and_wait(),
                1 => {
                    let token = full.arrive();
                    while !full.try_wait(token) {}
                }
                2 => {
                    let _ = full.arrive();
                    full.wait_parity(round % 2);
                }
                _ => {
                    let _ = full.arrive_expect_tx(8);
                    full.complete_tx(8);
                    while !full.try_wait_parity(round % 2) {}
                }
            }
            value = value.wrapping_mul(3).wrapping_add(*cells.add((i + 1) % threads));
            empty.arrive_and_wait();
        }
    }
    unsafe { *out.add(i) = value };
    thread::sync_threads();
    if i == 0 {
        unsafe {
            full.invalidate();
            empty.invalidate();
        }
    }
}

/// Copies that arrive at a barrier by themselves.
#[kernel]
pub unsafe fn arriving_copies(x: *const u32, out: *mut u32) {
    let full = unsafe { &*(&raw const FULL) };
    let [cells, _] = tiles();
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    if i == 0 {
        unsafe { full.init(threads as u32) };
    }
    thread::sync_threads();
    unsafe {
        cp_async_4(cells.add(i), x.add(i));
        full.arrive_after_copies();
        full.wait_parity(0);
        *out.add(i) = *cells.add(threads - 1 - i);
    }
}

/// What one thread sees of a barrier for two arrivals and some bytes.
#[kernel]
pub unsafe fn phases(out: *mut [u32; 8]) {
    let full = unsafe { &*(&raw const FULL) };
    unsafe {
        full.init(2);
        let first = full.arrive();
        let one_of_two = full.test_wait(first);
        full.expect_tx(48);
        let _ = full.arrive();
        let bytes_missing = full.test_wait_parity(0);
        full.complete_tx(32);
        let some_missing = full.test_wait(first);
        full.complete_tx(16);
        let all = full.test_wait(first);
        // The second phase: the last one with two arrivals.
        let second = full.arrive_and_drop();
        let still = full.test_wait_parity(1);
        let _ = full.arrive();
        let over = full.test_wait(second);
        // The third phase: one arrival is enough.
        let third = full.arrive();
        *out = [
            one_of_two.into(),
            bytes_missing.into(),
            some_missing.into(),
            all.into(),
            still.into(),
            over.into(),
            full.test_wait(third).into(),
            full.test_wait_parity(0).into(),
        ];
    }
}

/// Each thread's element of the tile, or zero past the end, mixed with that of its mirror image; `BYTES` at a time.
unsafe fn at_the_edge<T: bytemuck::Zeroable + Copy, const WORDS: usize>(
    x: &[T],
    words: impl Fn(T) -> [u32; WORDS],
    out: *mut [u32; 4],
) {
    let cells = tiles()[0].cast::<T>();
    let (i, threads) = (block::thread_rank() as usize, block::num_threads() as usize);
    let mut found = [0; 4];
    unsafe {
        cp_async_or_zero(cells.add(i), x, thread::index_usize());
        wait_all();
        thread::sync_threads();
        found[..WORDS].copy_from_slice(&words(*cells.add(threads - 1 - i)));
        *out.add(thread::index_usize()) = found;
    }
}

/// Four words that are copied at once.
#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct Four([u32; 4]);

#[kernel]
pub unsafe fn edges_4(x: &[u32], out: *mut [u32; 4]) {
    unsafe { at_the_edge(x, |x| [x], out) };
}

#[kernel]
pub unsafe fn edges_8(x: &[u64], out: *mut [u32; 4]) {
    unsafe { at_the_edge(x, |x| [x as u32, (x >> 32) as u32], out) };
}

#[kernel]
pub unsafe fn edges_16(x: &[Four], out: *mut [u32; 4]) {
    unsafe { at_the_edge(x, |x| x.0, out) };
}

/// Sixteen bytes, of which the last `zeros` are zero, for each `zeros` up to 16.
#[kernel]
pub unsafe fn partly_zero(x: *const Four, out: *mut Four) {
    let cells = tiles()[0].cast::<Four>();
    let i = block::thread_rank() as usize;
    unsafe {
        cp_async_16_zero_filled(cells.add(i), x, i as u32);
        wait_all();
        *out.add(i) = *cells.add(i);
    }
}
