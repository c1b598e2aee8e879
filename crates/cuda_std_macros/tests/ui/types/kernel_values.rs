use cuda_std::kernel;

#[derive(Clone, Copy)]
#[repr(align(32))]
pub struct FarAligned([f32; 8]);

#[kernel]
pub unsafe fn over_aligned(x: FarAligned) {}

fn main() {}
