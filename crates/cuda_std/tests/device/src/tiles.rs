//! Two-dimensional arrays in shared memory, and several in the dynamic part of it.

use cuda_std::prelude::*;
use cuda_std::shared::{DynamicShared, SharedLayout, SharedTile, SwizzledTile, dynamic_shared_mem};
use cuda_std::shared_tile;

#[address_space(shared)]
static mut PADDED: SharedTile<u32, 32, 32, 1> = SharedTile::uninit();

/// A transposed matrix of 32 rows and columns, by way of a padded, a swizzled and a plain tile; with the checks of row and column
/// and without.
#[kernel]
pub unsafe fn transposed_tiles(input: &[u32], out: *mut [u32; 3]) {
    let padded = unsafe { &*(&raw const PADDED) };
    let swizzled = shared_tile![u32; 32, 32; swizzled];
    let plain = shared_tile![u32; 32, 32];
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    for y in (y..32).step_by(thread::block_dim_y() as usize) {
        let value = input[32 * y + x];
        unsafe {
            padded.set(y, x, value);
            swizzled.set_unchecked(y, x, value);
            *plain.row(y).add(x) = value;
        }
    }
    thread::sync_threads();
    for y in (y..32).step_by(thread::block_dim_y() as usize) {
        let found = unsafe { [padded.get_unchecked(x, y), swizzled.get(x, y), *plain.at(x, y)] };
        unsafe { *out.add(32 * y + x) = found };
    }
}

/// Four elements at once from a swizzled tile: columns of groups, each of a thread.
#[kernel]
pub unsafe fn swizzled_groups(input: &[f32], out: *mut [f32; 4]) {
    #[address_space(shared)]
    static mut TILE: SwizzledTile<f32, 8, 16, 4> = SwizzledTile::uninit();
    let tile = unsafe { &*(&raw const TILE) };
    let i = thread::thread_idx_x() as usize;
    unsafe {
        for column in 0..4 {
            tile.set(i / 4, i % 4 * 4 + column, input[4 * i + column]);
        }
        thread::sync_threads();
        *out.add(i) = *tile.at(i % 8, i / 8 * 4).cast::<[f32; 4]>();
    }
}

/// A row past the end: a panic.
#[kernel]
pub unsafe fn past_the_tile(row: usize) {
    let tile = shared_tile![u32; 4, 8; pad 1];
    unsafe { tile.set(row, 0, 1) };
}

/// Three arrays of different types and a variable, in dynamic shared memory: each thread writes its elements and reads another's.
#[kernel]
pub unsafe fn dynamic_arrays(out: *mut [u64; 5]) {
    let (i, n) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let mut shared = DynamicShared::new();
    let bytes = shared.array::<u8>(n);
    let wide = shared.array::<u128>(n);
    let total = shared.value::<u32>();
    let pairs = shared.array::<[u16; 3]>(2 * n);
    let used = shared.used_bytes();
    let none = shared.try_array::<u64>(1 << 60).is_none() && shared.used_bytes() == used;
    unsafe {
        bytes.cast::<u8>().add(i).write(i as u8);
        wide.cast::<u128>().add(i).write((i as u128) << 64 | 1);
        pairs.cast::<[u16; 3]>().add(i).write([1, 2, i as u16]);
        pairs.cast::<[u16; 3]>().add(n + i).write([3, 4, i as u16]);
        if i == 0 {
            total.write(n as u32);
        }
        thread::sync_threads();
        let other = n - 1 - i;
        *out.add(i) = [
            u64::from(bytes.cast::<u8>().add(other).read()),
            (wide.cast::<u128>().add(other).read() >> 64) as u64,
            u64::from(pairs.cast::<[u16; 3]>().add(n + other).read()[2]) + u64::from(total.read()),
            (used + shared.remaining_bytes()) as u64,
            used as u64 * 2 + u64::from(none),
        ];
    }
}

/// One array more than the launch has memory for: a panic.
#[kernel]
pub unsafe fn too_many_dynamic_arrays() {
    let mut shared = DynamicShared::new();
    let all = shared.array::<u32>(16);
    let more = shared.array::<u32>(1);
    unsafe { more.cast::<u32>().write(all.len() as u32) };
}

/// A tile in a thread's own memory, with padding: what each way to write it leaves for each way to read it, and its sizes.
#[kernel]
pub unsafe fn tiles_of_one_thread(values: &[u32], out: *mut [u32; 21]) {
    type Padded = SharedTile<u32, 3, 5, 1>;
    type Swizzled = SwizzledTile<u32, 2, 4>;
    let i = thread::index_1d() as usize;
    let (padded, swizzled) = (Padded::uninit(), Swizzled::uninit());
    let mut found = [0; 21];
    unsafe {
        for row in 0..3 {
            for column in 0..5 {
                padded.set_unchecked(row, column, values[i] + (5 * row + column) as u32);
            }
        }
        for row in 0..2 {
            for column in 0..4 {
                swizzled.set(row, column, padded.get(row, column + 1));
            }
        }
        let sum = |row| (0..4).map(|column| swizzled.get_unchecked(row, column)).sum();
        for row in 0..3 {
            for column in 0..5 {
                found[5 * row + column] = *padded.row(row).add(column);
            }
        }
        found[15] = sum(0);
        found[16] = sum(1);
    }
    found[17] = padded.len() as u32;
    found[18] = swizzled.len() as u32;
    found[19] = Padded::STRIDE as u32;
    found[20] = (Padded::ROWS * Swizzled::COLUMNS) as u32;
    unsafe { *out.add(i) = found };
}

/// The start of dynamic shared memory as different types, and the bytes that arrays of `n` elements take.
#[kernel]
pub unsafe fn dynamic_bytes(n: usize, out: *mut [u32; 4]) {
    let layout = SharedLayout::new().array::<u8>(n).array::<f64>(n).array::<[u16; 3]>(1);
    let (bytes, pairs) = (dynamic_shared_mem::<u8>(), dynamic_shared_mem::<[u64; 2]>());
    unsafe {
        // Written as one type and read as another: they are the same memory.
        pairs.write([0x0807_0605_0403_0201, 0]);
        let third = bytes.add(2).read();
        *out = [layout.bytes(), u32::from(bytes.addr() == pairs.addr()), third.into(), (bytes.addr() % 16) as u32];
    }
}
