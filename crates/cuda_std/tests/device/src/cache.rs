//! Loads and stores with a word about the caches.

use cuda_std::cache::*;
use cuda_std::prelude::*;

/// A value of 4 bytes that is no number.
#[derive(Clone, Copy)]
#[repr(C, align(4))]
pub struct Pixel {
    red: u8,
    green: u8,
    blue: u16,
}

macro_rules! copies {
    ($($kernel:ident: $T:ty, $from:expr, $to:expr;)+) => {$(
        /// Copies eight elements a thread, each with another way to load and to store.
        #[kernel]
        pub unsafe fn $kernel(x: *const $T, y: *mut $T) {
            let i = 8 * thread::index_1d() as usize;
            let (from, to): (fn($T) -> _, fn(_) -> $T) = ($from, $to);
            let (x, y) = unsafe { (x.add(i), y.add(i)) };
            unsafe {
                prefetch_l1(x);
                prefetch_l2(x);
                store_wb(y, to(from(load_nc(x))));
                store_cg(y.add(1), load_ca(x.add(1)));
                store_cs(y.add(2), load_cg(x.add(2)));
                store_wt(y.add(3), load_cs(x.add(3)));
                store_wb(y.add(4), load_lu(x.add(4)));
                store_wb(y.add(5), load_cv(x.add(5)));
                // What was just stored, read again.
                store_cg(y.add(6), load_cg(x.add(6)));
                store_cs(y.add(7), load_cv(y.add(6)));
            }
        }
    )+};
}

copies! {
    copies_1: i8, |x| x, |x: i8| x;
    copies_2: u16, |x| x, |x: u16| x;
    copies_4: Pixel, |x| (x.red, x.green, x.blue), |(red, green, blue)| Pixel { red, green, blue };
    copies_8: F32x2, |x| x.0, |x: [f32; 2]| x.into();
    copies_16: F32x4, |x| [x[0], x[1], x[2], x[3]], |x: [f32; 4]| x.into();
}

/// Vectors that ordinary accesses move at once.
#[kernel]
pub unsafe fn doubles_vectors(x: *const F64x2, y: *mut F64x2) {
    let i = thread::index_1d() as usize;
    unsafe { *y.add(i) = (*x.add(i)).map(|x| 2.0 * x).into() };
}

macro_rules! vectors {
    ($($kernel:ident: $Vector:ty, [$T:ty; $N:literal];)+) => {$(
        /// Vectors of one type, read at once and written at once, with each element one more than before and the last two swapped.
        #[kernel]
        pub unsafe fn $kernel(x: *const $Vector, y: *mut $Vector) {
            let i = thread::index_1d() as usize;
            let mut vector: $Vector = unsafe { load_nc(x.add(i)) };
            for element in vector.iter_mut() {
                *element = element.wrapping_add(1);
            }
            let mut elements: [$T; $N] = *vector;
            elements.swap($N - 2, $N - 1);
            unsafe { store_cs(y.add(i), elements.into()) };
        }
    )+};
}

vectors! {
    vectors_i32x2: I32x2, [i32; 2];
    vectors_i32x4: I32x4, [i32; 4];
    vectors_i64x2: I64x2, [i64; 2];
    vectors_u32x2: U32x2, [u32; 2];
    vectors_u32x4: U32x4, [u32; 4];
    vectors_u64x2: U64x2, [u64; 2];
    vectors_u16x4: U16x4, [u16; 4];
    vectors_u16x8: U16x8, [u16; 8];
    vectors_u8x8: U8x8, [u8; 8];
    vectors_u8x16: U8x16, [u8; 16];
}
