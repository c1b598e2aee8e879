//! rust-cuda's atomic functions, every one of them. What they are made of is in `atomics.rs`; here it is the names that count.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};

use cuda_std::atomic::intrinsics::*;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;
use pastey::paste;

/// As in `atomics.rs`.
const TARGETS: usize = 3;

/// The functions for an operation: those with an ordering in their names, and the one that takes it (number 5).
macro_rules! orders {
    ($order:ident, $op:ident $T:ident $scope:ident($target:ident, $($argument:expr),+)) => { paste! {
        match $order {
            0 => [<atomic_fetch_ $op _relaxed_ $T _ $scope>]($target, $($argument),+),
            1 => [<atomic_fetch_ $op _acquire_ $T _ $scope>]($target, $($argument),+),
            2 => [<atomic_fetch_ $op _release_ $T _ $scope>]($target, $($argument),+),
            3 => [<atomic_fetch_ $op _acqrel_ $T _ $scope>]($target, $($argument),+),
            4 => [<atomic_fetch_ $op _volatile_ $T _ $scope>]($target, $($argument),+),
            _ => orders!(mid $op $T $scope($target, $($argument),+)),
        }
    }};
    // There is no function for these.
    (mid inc $T:ident $scope:ident($target:ident, $value:expr)) => { $value };
    (mid dec $T:ident $scope:ident($target:ident, $value:expr)) => { $value };
    (mid cas $T:ident $scope:ident($target:ident, $comparand:expr, $value:expr)) => { paste! {
        [<atomic_compare_and_swap_ $T _ $scope>]($target, $comparand, $value, AcqRel)
    }};
    (mid $op:ident $T:ident $scope:ident($target:ident, $value:expr)) => { paste! {
        [<atomic_fetch_ $op _ $T _ $scope>]($target, AcqRel, $value)
    }};
}

/// A kernel for each type and scope: each thread calls function `order` of operation `op` (numbered as in `atomics.rs`) once, on
/// target `i % 3`, and writes down what it gave. With `per_block`, each block has its own targets.
macro_rules! named {
    ($($T:ident: $($op:ident $number:literal),+;)+) => {$(
        named!(kernel $T device: $($op $number),+);
        named!(kernel $T block: $($op $number),+);
        named!(kernel $T system: $($op $number),+);
    )+};
    (kernel $T:ident $scope:ident: $($op:ident $number:literal),+) => { paste! {
        #[kernel]
        pub unsafe fn [<named_ $T _ $scope>](
            targets: *mut $T,
            per_block: u32,
            op: u32,
            order: u32,
            values: &[$T],
            comparands: &[$T],
            out: *mut $T,
        ) {
            let i = thread::index_1d() as usize;
            let own = if per_block != 0 { thread::block_idx_x() as usize * TARGETS } else { 0 };
            unsafe {
                let target = targets.add(own + i % TARGETS);
                let value = values[i];
                *out.add(i) = match op {
                    2 => orders!(order, cas $T $scope(target, comparands[i], value)),
                    $($number => orders!(order, $op $T $scope(target, value)),)+
                    _ => value,
                };
            }
        }
    }};
}

named! {
    u32: exch 1, add 3, sub 4, min 5, max 6, and 8, or 9, xor 10, inc 11, dec 12;
    u64: exch 1, add 3, sub 4, min 5, max 6, and 8, or 9, xor 10, inc 11, dec 12;
    i32: exch 1, add 3, sub 4, min 5, max 6, and 8, or 9, xor 10;
    i64: exch 1, add 3, sub 4, min 5, max 6, and 8, or 9, xor 10;
    f32: exch 1, add 3, sub 4, and 8, or 9, xor 10;
    f64: exch 1, add 3, sub 4, and 8, or 9, xor 10;
}

/// Loads and stores: each thread loads its own value with function `order`, and stores it there plus 1.
macro_rules! moves {
    ($($T:ident $bits:literal $scope:ident;)+) => {$( paste! {
        #[kernel]
        pub unsafe fn [<named_moves_ $bits _ $scope>](places: *mut $T, order: u32, out: *mut $T) {
            let i = thread::index_1d() as usize;
            unsafe {
                let place = places.add(i);
                let value = match order {
                    0 => [<atomic_load_relaxed_ $bits _ $scope>](place),
                    1 => [<atomic_load_acquire_ $bits _ $scope>](place),
                    2 => [<atomic_load_volatile_ $bits _ $scope>](place),
                    _ => [<atomic_load_ $bits _ $scope>](place, Acquire),
                };
                *out.add(i) = value;
                match order {
                    0 => [<atomic_store_relaxed_ $bits _ $scope>](place, value + 1),
                    1 => [<atomic_store_release_ $bits _ $scope>](place, value + 1),
                    2 => [<atomic_store_volatile_ $bits _ $scope>](place, value + 1),
                    _ => [<atomic_store_ $bits _ $scope>](place, Release, value + 1),
                }
            }
        }
    })+};
}

moves! {
    u32 32 device;
    u32 32 block;
    u32 32 system;
    u64 64 device;
    u64 64 block;
    u64 64 system;
}

/// The last warp of the block writes its numbers and then a flag; the first waits for the flag and copies the numbers. A fence of
/// kind `fence` is what orders the two, on both sides.
macro_rules! handing_over {
    ($($scope:ident),+) => {$( paste! {
        #[kernel]
        pub unsafe fn [<named_fences_ $scope>](
            fence: u32,
            numbers: *mut u32,
            flag: *mut u32,
            out: *mut u32,
        ) {
            let lane = thread::thread_idx_x() as usize % 32;
            let warp = thread::thread_idx_x() / 32;
            let order = || unsafe {
                match fence {
                    0 => [<membar_ $scope>](),
                    1 => [<fence_sc_ $scope>](),
                    2 => [<fence_acqrel_ $scope>](),
                    3 => [<$scope _thread_fence>](SeqCst),
                    _ => {}
                }
            };
            unsafe {
                if warp == thread::block_dim_x() / 32 - 1 {
                    *numbers.add(lane) = lane as u32 + 1;
                    order();
                    [<atomic_store_relaxed_32_ $scope>](flag.add(lane), 1);
                } else if warp == 0 {
                    while [<atomic_load_relaxed_32_ $scope>](flag.add(lane)) == 0 {}
                    order();
                    *out.add(lane) = *numbers.add(lane);
                }
            }
        }
    })+};
}

handing_over!(device, block, system);
