//! A by-value parameter cannot hold a borrow of host memory.

use cuda_std::kernel;

#[derive(Clone, Copy)]
pub struct View<'a> {
    data: &'a [f32],
}

#[kernel]
pub unsafe fn sum<'a>(view: View<'a>, out: *mut f32) {
    let _ = (view.data, out);
}

fn main() {}
