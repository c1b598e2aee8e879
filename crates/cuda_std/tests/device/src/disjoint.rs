//! Outputs that the threads share out among themselves. None of these kernels is unsafe.

use cuda_std::prelude::*;

/// Changes the thread's own element in a way that shows how often.
fn change(element: &mut u32, place: usize) {
    *element = element.wrapping_mul(3).wrapping_add(place as u32);
}

#[kernel]
pub fn own_elements(mut out: DisjointSlice<u32>) {
    let i = thread::unique_index();
    if let Some(element) = out.get_mut(i) {
        change(element, i.get());
    }
}

#[kernel]
pub fn own_elements_by_index(mut out: DisjointSlice<u32>) {
    let i = thread::unique_index();
    if i.get() < out.len() {
        let before = out[i];
        out[i] = before.wrapping_mul(3).wrapping_add(i.get() as u32);
    }
}

#[kernel]
pub fn dealt_out(mut out: DisjointSlice<u32>) {
    for (i, element) in out.grid_stride_mut() {
        change(element, i);
    }
}

#[kernel]
pub fn own_places(mut out: DisjointMatrix<u32>) {
    let at = thread::unique_index_2d();
    let columns = out.columns();
    if let Some(element) = out.get_mut(at) {
        change(element, at.row() * columns + at.column());
    }
}

#[kernel]
pub fn four_each(x: &[f32], mut out: DisjointSlice<[f32; 4]>, factor: f32) {
    let i = thread::unique_index();
    if let (Some(x), Some(four)) = (x.get(i.get()), out.get_mut(i)) {
        *four = [*x, x * factor, -x, factor];
    }
}

/// `y = a * x + y` with a pointer, to be compared with [`axpy_disjoint`] (`benches/peers/disjoint.py`).
#[kernel]
pub unsafe fn axpy_pointer(a: f32, x: &[f32], y: *mut f32, n: usize) {
    let i = thread::index_1d() as usize;
    if i < n {
        unsafe { *y.add(i) += a * *x.as_ptr().add(i) };
    }
}

/// The same without `unsafe`.
#[kernel]
pub fn axpy_disjoint(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y += a * x;
    }
}

/// `c[row][column] = a[row] * b[column]` with a pointer, to be compared with [`outer_disjoint`].
#[kernel]
pub unsafe fn outer_pointer(a: &[f32], b: &[f32], c: *mut f32, rows: usize, columns: usize) {
    let place = thread::index_2d();
    let (row, column) = (place.y as usize, place.x as usize);
    if row < rows && column < columns {
        unsafe { *c.add(row * columns + column) = *a.as_ptr().add(row) * *b.as_ptr().add(column) };
    }
}

/// The same without `unsafe`.
#[kernel]
pub fn outer_disjoint(a: &[f32], b: &[f32], mut c: DisjointMatrix<f32>) {
    let at = thread::unique_index_2d();
    if let (Some(a), Some(b), Some(c)) = (a.get(at.row()), b.get(at.column()), c.get_mut(at)) {
        *c = a * b;
    }
}
