#![allow(unused)]

use cuda_host::{Device, Result};
use cuda_std::kernel;

#[kernel]
pub unsafe fn fill(x: *mut f32) {}

fn run(gpu: &Device) -> Result<()> {
    let arguments = {
        let mut x = gpu.zeros::<f32>(4)?;
        unsafe { fill(&mut x) }
    };
    cuda_host::submit(arguments, 1, 1, 0, None)
}

fn main() {}
