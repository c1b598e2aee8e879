//! Parameters of every kind.

use cuda_std::prelude::*;

/// 12 bytes, aligned to 4.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
    tag: u32,
}

/// 16 bytes, aligned to 16.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Aligned([f32; 4]);

/// Nothing at all.
#[derive(Clone, Copy)]
pub struct Nothing;

#[kernel]
pub unsafe fn every_kind(
    slice: &[u16],
    reference: &f64,
    pointer: *const u8,
    point: Point,
    _: Nothing,
    aligned: Aligned,
    array: [u8; 3],
    flag: bool,
    letter: char,
    mut big: u64,
    small: i8,
    out: *mut f64,
) {
    big += 1;
    unsafe {
        *out.add(0) = slice.len() as f64;
        *out.add(1) = f64::from(slice[slice.len() - 1]);
        *out.add(2) = *reference;
        *out.add(3) = f64::from(*pointer);
        *out.add(4) = f64::from(point.x + point.y) + f64::from(point.tag);
        *out.add(5) = f64::from(aligned.0[3]);
        *out.add(6) = f64::from(array[2]);
        *out.add(7) = f64::from(u8::from(flag));
        *out.add(8) = f64::from(u32::from(letter));
        *out.add(9) = big as f64;
        *out.add(10) = f64::from(small);
    }
}

/// Each thread its own pair of pieces of `len` bytes: how they compare, whether they are equal, where `needle` is first, and the
/// length of the text that ends in a NUL.
#[kernel]
pub unsafe fn bytes_and_texts(a: &[u8], b: &[u8], len: usize, needle: u8, out: *mut [i32; 4]) {
    let i = thread::index_1d() as usize;
    let piece = i * len..(i + 1) * len;
    let (a, b) = (&a[piece.clone()], &b[piece]);
    let found = core::str::from_utf8(a).ok().and_then(|text| text.find(char::from(needle)));
    let text = unsafe { core::ffi::CStr::from_ptr(a.as_ptr().cast()) };
    let found = found.map_or(-1, |at| at as i32);
    let result = [a.cmp(b) as i32, i32::from(a == b), found, text.count_bytes() as i32];
    unsafe { *out.add(i) = result };
}
