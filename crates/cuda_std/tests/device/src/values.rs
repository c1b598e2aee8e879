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
