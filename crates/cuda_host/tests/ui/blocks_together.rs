#![allow(unused)]

use cuda_host::{Device, DeviceArray, Result, launch};
use cuda_std::kernel;

#[kernel]
unsafe fn fill(c: *mut f32, n: usize) {}

fn run(gpu: &Device, mut c: DeviceArray<f32>) -> Result<()> {
    unsafe { launch!(fill[1, 32; cooperativ](&mut c, 1)) }?;
    unsafe { launch!(fill[1, 32; cluster(2)](&mut c, 1)) }?;
    unsafe { launch!(fill[1, 32; cluster = 2.0](&mut c, 1)) }?;
    unsafe { launch!(fill[1, 32; cooperative cluster = 2](&mut c, 1)) }?;
    gpu.synchronize()
}

fn main() {}
