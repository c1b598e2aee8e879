//! The kernels of `tests/ptx/kernels.ptx` as their Rust source would declare them.
#![allow(dead_code, unused_variables)]

use cuda_std::{DisjointMatrix, DisjointSlice, kernel};
use nalgebra::Matrix4;

pub const PTX: &str = include_str!("../ptx/kernels.ptx");

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair(pub u32, pub u64);

/// `x[i] *= by`, for `i < n`.
///
/// # Safety
/// `x` has at least `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, by: f32, n: usize) {}

/// `c[i] = a[i] + b[i]`.
///
/// # Safety
/// `c` has as many elements as the shorter of `a` and `b`.
#[kernel]
pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {}

/// `c[i] = a[i] + b[i]`, for as many elements as the shortest has.
#[kernel]
pub fn add_safely(a: &[f32], b: &[f32], c: DisjointSlice<f32>) {}

/// `c[y][x] = 100 * rows + columns`
#[kernel]
pub fn rows_and_columns(c: DisjointMatrix<f32>) {}

/// Writes its parameters to `out`, five elements.
///
/// # Safety
/// `out` has five elements.
#[kernel]
pub unsafe fn echo(small: u8, nothing: (), pair: Pair, tail: u16, out: *mut u32) {}

/// `out[0]` = the trace.
///
/// # Safety
/// `out` has an element.
#[kernel]
pub unsafe fn trace(matrix: Matrix4<f32>, out: *mut f32) {}

/// Address and length of `x`, address of `y`.
///
/// # Safety
/// `out` has three elements.
#[kernel]
pub unsafe fn describe(x: &[f64], y: *const f64, out: *mut u64) {}

/// `out[0] = value + 1`
///
/// # Safety
/// `out` has an element.
#[kernel]
pub unsafe fn increment(value: &u32, out: *mut u32) {}

/// Reverses a block of elements.
///
/// # Safety
/// `x` has as many elements as the block has threads, and the launch four bytes of shared memory for each.
#[kernel]
pub unsafe fn reverse(x: *mut u32) {}

/// Grid and block.
///
/// # Safety
/// `out` has six elements.
#[kernel]
pub unsafe fn shape(out: *mut u32) {}

/// `x[i] *= FACTORS[1]`
///
/// # Safety
/// `x` has as many elements as the block has threads.
#[kernel]
pub unsafe fn constant_factor(x: *mut f32) {}

/// Writes out of bounds.
///
/// # Safety
/// None can be: that is its purpose.
#[kernel]
pub unsafe fn out_of_bounds(x: *mut u32) {}

/// Traps. Safe to launch: a trap ends the kernel and nothing else.
#[kernel]
pub fn traps() {}

/// Calls a function that calls itself `depth` times, with 256 bytes on the stack each time.
#[kernel]
pub fn recurse(depth: u32) {}

/// In no module.
#[kernel]
pub fn missing() {}
