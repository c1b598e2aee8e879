use cuda_std::kernel;

#[kernel(bounds(256))]
pub unsafe fn with_option(x: f32) {}

#[kernel(fast, name = "other")]
pub unsafe fn with_options(x: f32) {}

#[kernel]
pub struct NotAFunction;

#[kernel]
pub static NOT_A_FUNCTION: u32 = 0;

fn main() {}
