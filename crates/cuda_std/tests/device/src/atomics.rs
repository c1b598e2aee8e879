//! Atomics that many threads contend for.

use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use cuda_std::atomic::*;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};

/// How many numbers the threads contend for.
const TARGETS: usize = 3;

/// A kernel for each type and scope: each thread does operation number `op` once, on target `i % 3`, and writes down what it
/// gave. With `shared`, the targets are copied to shared memory and back; with `per_block`, each block has its own.
macro_rules! contention {
    ($($name:ident: $T:ident, $S:ident, $more:ident;)+) => {$(
        #[kernel]
        pub unsafe fn $name(
            targets: *mut $T,
            per_block: u32,
            shared: u32,
            op: u32,
            values: &[$T],
            comparands: &[$T],
            out: *mut $T,
        ) {
            let copies = shared_array![u64; 3].cast::<$T>();
            let thread = thread::thread_idx_x() as usize;
            let own = if per_block != 0 { thread::block_idx_x() as usize * TARGETS } else { 0 };
            let targets = unsafe { targets.add(own) };
            if shared != 0 && thread < TARGETS {
                unsafe { *copies.add(thread) = *targets.add(thread) };
            }
            thread::sync_threads();
            let i = thread::index_1d() as usize;
            let base = if shared != 0 { copies } else { targets };
            let target: &Atomic<$T, $S> = unsafe { Atomic::from_ptr(base.add(i % TARGETS)) };
            let value = values[i];
            let old = match op {
                0 => target.load(Acquire),
                1 => target.exchange(value, AcqRel),
                2 => match target.compare_exchange(comparands[i], value, SeqCst, Relaxed) {
                    Ok(old) | Err(old) => old,
                },
                3 => target.fetch_add(value, Relaxed),
                4 => target.fetch_sub(value, AcqRel),
                5 => target.fetch_min(value, Acquire),
                6 => target.fetch_max(value, Release),
                7 => match target.fetch_update(Release, Relaxed, |old| {
                    (old != comparands[i]).then_some(value)
                }) {
                    Ok(old) | Err(old) => old,
                },
                _ => $more!(target, op, value),
            };
            unsafe { *out.add(i) = old };
            thread::sync_threads();
            if shared != 0 && thread < TARGETS {
                unsafe { *targets.add(thread) = *copies.add(thread) };
            }
        }
    )+};
}

macro_rules! none {
    ($target:ident, $op:ident, $value:ident) => {
        $value
    };
}

macro_rules! bits {
    ($target:ident, $op:ident, $value:ident) => {
        match $op {
            8 => $target.fetch_and($value, SeqCst),
            9 => $target.fetch_or($value, Relaxed),
            10 => $target.fetch_xor($value, AcqRel),
            _ => $value,
        }
    };
}

macro_rules! bits_and_counts {
    ($target:ident, $op:ident, $value:ident) => {
        match $op {
            11 => $target.fetch_inc($value, Release),
            12 => $target.fetch_dec($value, SeqCst),
            _ => bits!($target, $op, $value),
        }
    };
}

contention! {
    contend_u32_block: u32, Block, bits_and_counts;
    contend_u32_device: u32, Device, bits_and_counts;
    contend_u32_system: u32, System, bits_and_counts;
    contend_u64_block: u64, Block, bits_and_counts;
    contend_u64_device: u64, Device, bits_and_counts;
    contend_u64_system: u64, System, bits_and_counts;
    contend_i32_block: i32, Block, bits;
    contend_i32_device: i32, Device, bits;
    contend_i32_system: i32, System, bits;
    contend_i64_block: i64, Block, bits;
    contend_i64_device: i64, Device, bits;
    contend_i64_system: i64, System, bits;
    contend_f32_block: f32, Block, none;
    contend_f32_device: f32, Device, none;
    contend_f32_system: f32, System, none;
    contend_f64_block: f64, Block, none;
    contend_f64_device: f64, Device, none;
    contend_f64_system: f64, System, none;
    contend_f16_block: f16, Block, none;
    contend_f16_device: f16, Device, none;
    contend_f16_system: f16, System, none;
    contend_bf16_block: bf16, Block, none;
    contend_bf16_device: bf16, Device, none;
    contend_bf16_system: bf16, System, none;
}

/// Core's atomics of each size, the same way. The numbers of the operations are those above, and 13 is `nand`.
macro_rules! core_contention {
    ($($name:ident: $T:ident, $Atomic:ident;)+) => {$(
        #[kernel]
        pub unsafe fn $name(
            targets: *mut $T,
            op: u32,
            values: &[$T],
            comparands: &[$T],
            out: *mut $T,
        ) {
            let i = thread::index_1d() as usize;
            let target =
                unsafe { core::sync::atomic::$Atomic::from_ptr(targets.add(i % TARGETS)) };
            let value = values[i];
            let old = match op {
                0 => target.load(SeqCst),
                1 => target.swap(value, AcqRel),
                2 => match target.compare_exchange(comparands[i], value, AcqRel, Acquire) {
                    Ok(old) | Err(old) => old,
                },
                3 => target.fetch_add(value, SeqCst),
                4 => target.fetch_sub(value, Relaxed),
                5 => target.fetch_min(value, Release),
                6 => target.fetch_max(value, Acquire),
                8 => target.fetch_and(value, AcqRel),
                9 => target.fetch_or(value, SeqCst),
                10 => target.fetch_xor(value, Relaxed),
                13 => target.fetch_nand(value, AcqRel),
                _ => value,
            };
            unsafe { *out.add(i) = old };
        }
    )+};
}

core_contention! {
    core_u8: u8, AtomicU8;
    core_i8: i8, AtomicI8;
    core_u16: u16, AtomicU16;
    core_i16: i16, AtomicI16;
    core_u32: u32, AtomicU32;
    core_i32: i32, AtomicI32;
    core_u64: u64, AtomicU64;
    core_i64: i64, AtomicI64;
}

/// The ordering with a number.
fn ordering(number: u32) -> Ordering {
    match number {
        0 => Relaxed,
        1 => Acquire,
        2 => Release,
        3 => AcqRel,
        _ => SeqCst,
    }
}

/// Orderings that are known only when the kernel runs.
#[kernel]
pub unsafe fn any_ordering(sum: *mut u32, order: u32) {
    let sum: &Atomic<u32> = unsafe { Atomic::from_ptr(sum) };
    sum.fetch_add(1, ordering(order));
    if order == 4 {
        fence::<System>(ordering(order));
        sum.store(sum.load(ordering(order)) | 1 << 31, ordering(order));
    }
}

/// Loads and stores of every type, each thread its own number.
#[kernel]
pub unsafe fn loads_and_stores(
    words: *mut u32,
    wide: *mut f64,
    half: *mut f16,
    out: *mut [f64; 3],
) {
    let i = thread::index_1d() as usize;
    unsafe {
        let (words, wide) = (words.add(i), wide.add(i));
        let half: &Atomic<f16, Block> = Atomic::from_ptr(half.add(i));
        mid::atomic_store_32_block(words, Release, mid::atomic_load_32_system(words, Acquire) + 1);
        let sum = mid::atomic_fetch_add_f64_device(wide, SeqCst, 0.5);
        half.store(f16::from_bits(half.load(Relaxed).to_bits() + 1), SeqCst);
        let place = intrinsics::atomic_load_volatile_32_device(words);
        *out.add(i) = [f64::from(place), sum, f64::from(half.load(SeqCst).to_bits())];
    }
}

/// Counts bytes, first in shared memory.
#[kernel]
pub unsafe fn histogram(bytes: &[u8], counts: *mut u32) {
    let own = shared_array![u32; 256];
    let thread = thread::thread_idx_x() as usize;
    unsafe {
        for bin in (thread..256).step_by(thread::block_dim_x() as usize) {
            *own.add(bin) = 0;
        }
        thread::sync_threads();
        for i in thread::grid_stride(bytes.len()) {
            Atomic::<u32, Block>::from_ptr(own.add(bytes[i] as usize)).fetch_add(1, Relaxed);
        }
        thread::sync_threads();
        for bin in (thread..256).step_by(thread::block_dim_x() as usize) {
            mid::atomic_fetch_add_u32_device(counts.add(bin), Relaxed, *own.add(bin));
        }
    }
}

#[address_space(global)]
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
static TALLY: Atomic<u64> = Atomic::new(100);

/// A static that all threads count in, and rust-cuda's types in global and shared memory.
#[kernel]
pub unsafe fn statics_of_atomics(sums: *mut f32, blocks: *mut f64) {
    TALLY.fetch_add(1, Relaxed);
    let sums = unsafe { &*sums.cast::<AtomicF32>() };
    sums.fetch_add(0.25, Relaxed);
    let own = shared_array![f64; 1];
    unsafe {
        if thread::thread_idx_x() == 0 {
            *own = 1.0;
        }
        thread::sync_threads();
        (*own.cast::<BlockAtomicF64>()).fetch_add(2.0, AcqRel);
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            *blocks.add(thread::block_idx_x() as usize) = *own;
        }
    }
}

/// A lock taken by one thread of each block, around numbers that are no atomics.
#[kernel]
pub unsafe fn spin_lock(lock: *mut u32, total: *mut u64) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let lock: &Atomic<u32> = unsafe { Atomic::from_ptr(lock) };
    for _ in 0..4 {
        while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
        unsafe { *total += u64::from(thread::block_idx_x()) + 1 };
        lock.store(0, Release);
    }
}

/// Decoupled look-back: each block adds its number to the sum of the one before, which it waits for. `flags` are atomics of
/// `Type`, published with one ordering and read with the other.
macro_rules! look_back {
    ($($name:ident: $Type:ty, $publish:expr, $look:expr;)+) => {$(
        #[kernel]
        pub unsafe fn $name(next: *mut u32, flags: *mut u32, sums: *mut u32) {
            if thread::thread_idx_x() != 0 {
                return;
            }
            unsafe {
                // Blocks start in any order: the tickets say who is before whom.
                let ticket = mid::atomic_fetch_add_u32_device(next, Relaxed, 1) as usize;
                let mut sum = ticket as u32;
                if ticket > 0 {
                    let look = $look;
                    while look(<$Type>::from_ptr(flags.add(ticket - 1))) == 0 {}
                    sum += *sums.add(ticket - 1);
                }
                *sums.add(ticket) = sum;
                let publish = $publish;
                publish(<$Type>::from_ptr(flags.add(ticket)));
            }
        }
    )+};
}

type Flag = Atomic<u32>;
type WideFlag = Atomic<u32, System>;
type NarrowFlag = Atomic<u32, Block>;
type CoreFlag = core::sync::atomic::AtomicU32;
type ByteFlag = core::sync::atomic::AtomicU8;

look_back! {
    look_back_stores: Flag, |flag: &Flag| flag.store(1, Release), |flag: &Flag| flag.load(Acquire);
    look_back_sums: Flag, |flag: &Flag| _ = flag.fetch_add(1, Release), |flag: &Flag| flag.fetch_or(0, Acquire);
    look_back_system: WideFlag, |flag: &WideFlag| _ = flag.exchange(1, SeqCst), |flag: &WideFlag| flag.load(SeqCst);
    look_back_fences: Flag,
        |flag: &Flag| { fence::<Device>(Release); flag.store(1, Relaxed) },
        |flag: &Flag| { let found = flag.load(Relaxed); fence::<Device>(Acquire); found };
    look_back_core: CoreFlag, |flag: &CoreFlag| _ = flag.fetch_max(1, Release), |flag: &CoreFlag| flag.fetch_add(0, Acquire);
    look_back_core_swap: CoreFlag, |flag: &CoreFlag| _ = flag.swap(1, AcqRel), |flag: &CoreFlag| flag.load(Acquire);
    look_back_relaxed: Flag, |flag: &Flag| flag.store(1, Relaxed), |flag: &Flag| flag.load(Acquire);
    look_back_relaxed_sums: Flag, |flag: &Flag| _ = flag.fetch_add(1, Relaxed), |flag: &Flag| flag.load(Acquire);
    look_back_in_block: NarrowFlag, |flag: &NarrowFlag| flag.store(1, Release), |flag: &NarrowFlag| flag.load(Acquire);
    look_back_core_relaxed: CoreFlag, |flag: &CoreFlag| _ = flag.fetch_max(1, Relaxed), |flag: &CoreFlag| flag.load(Acquire);
}

/// Bytes of one word, as flags: the loop around the word's atomic must hand the message on too.
#[kernel]
pub unsafe fn byte_flags(next: *mut u32, flags: *mut u8, sums: *mut u32) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    unsafe {
        let ticket = mid::atomic_fetch_add_u32_device(next, Relaxed, 1) as usize;
        let mut sum = ticket as u32;
        if ticket > 0 {
            while ByteFlag::from_ptr(flags.add(ticket - 1)).fetch_add(0, Acquire) == 0 {}
            sum += *sums.add(ticket - 1);
        }
        *sums.add(ticket) = sum;
        core::sync::atomic::compiler_fence(SeqCst);
        ByteFlag::from_ptr(flags.add(ticket)).fetch_add(1, Release);
    }
}
