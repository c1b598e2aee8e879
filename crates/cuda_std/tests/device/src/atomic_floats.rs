//! rust-cuda's types of floating-point atomics, and functions that are generic over atomics.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use cuda_std::atomic::*;
use cuda_std::prelude::*;
use pastey::paste;

/// As in `atomics.rs`, and the operations' numbers are those there.
const TARGETS: usize = 3;

macro_rules! types {
    ($($Type:ident: $T:ident, $kernel:ident;)+) => {$( paste! {
        #[kernel]
        #[allow(unused_unsafe, reason = "the methods of the types for blocks alone are unsafe")]
        pub unsafe fn [<contend_ $kernel>](
            targets: *mut $T,
            per_block: u32,
            op: u32,
            values: &[$T],
            comparands: &[$T],
            out: *mut $T,
        ) {
            let i = thread::index_1d() as usize;
            let own = if per_block != 0 { thread::block_idx_x() as usize * TARGETS } else { 0 };
            let target = unsafe { &*targets.add(own + i % TARGETS).cast::<$Type>() };
            let value = values[i];
            let old = unsafe {
                match op {
                    0 => target.load(Acquire),
                    3 => target.fetch_add(value, AcqRel),
                    4 => target.fetch_sub(value, Relaxed),
                    8 => target.fetch_and(value, Release),
                    9 => target.fetch_or(value, Acquire),
                    10 => target.fetch_xor(value, SeqCst),
                    _ => comparands[i],
                }
            };
            unsafe { *out.add(i) = old };
        }

        /// Each thread stores a value of its own.
        #[kernel]
        #[allow(unused_unsafe, reason = "the methods of the types for blocks alone are unsafe")]
        pub unsafe fn [<store_ $kernel>](places: *mut $T, values: &[$T]) {
            let i = thread::index_1d() as usize;
            let value = $Type::new(values[i]).into_inner();
            unsafe { (*places.add(i).cast::<$Type>()).store(value, Release) };
        }
    })+};
}

types! {
    AtomicF32: f32, atomic_f32;
    AtomicF64: f64, atomic_f64;
    BlockAtomicF32: f32, block_atomic_f32;
    BlockAtomicF64: f64, block_atomic_f64;
    SystemAtomicF32: f32, system_atomic_f32;
    SystemAtomicF64: f64, system_atomic_f64;
}

/// What every atomic number can do.
fn largest<T: AtomicNumber, S: Scope>(place: &Atomic<T, S>, value: T) {
    place.fetch_max(value, Relaxed);
}

/// What every atomic integer can do.
fn flip<T: AtomicInteger, S: Scope>(place: &Atomic<T, S>, value: T) {
    place.fetch_xor(value, Relaxed);
}

/// What unsigned integers can do.
fn turn<T: AtomicCounter, S: Scope>(place: &Atomic<T, S>, limit: T) {
    place.fetch_inc(limit, Relaxed);
}

/// A value that was never shared: there and back.
fn alone<T: AtomicValue>(value: T) -> T {
    let mut atomic = Atomic::<T>::new(value);
    let place = atomic.get_mut();
    *place = value;
    atomic.into_inner()
}

/// All threads on four numbers.
#[kernel]
pub unsafe fn generic_atomics(largest_of: *mut f32, flipped: *mut i64, counter: *mut u32, sum: *mut u32) {
    let i = thread::index_1d();
    unsafe {
        largest(Atomic::<f32, Device>::from_ptr(largest_of), alone(i as f32 * 0.5));
        flip(Atomic::<i64, System>::from_ptr(flipped), alone(1 << (i % 64)));
        turn(Atomic::<u32, Device>::from_ptr(counter), 9);
        Atomic::<u32, Device>::from_ptr(sum).fetch_add(alone(i), Relaxed);
    }
}
