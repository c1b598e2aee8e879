#![allow(unused)]

use cuda_host::{Device, DeviceArray, Result, launch};
use cuda_std::kernel;

#[kernel]
unsafe fn add(a: &[f32], b: &[f32], c: *mut f32, n: usize) {}

fn run(gpu: &Device, a: DeviceArray<f32>, mut c: DeviceArray<f32>) -> Result<()> {
    let n = a.len();
    unsafe { launch!(subtract[1, 32](&a, &a, &mut c, n)) }?;
    gpu.synchronize()
}

fn main() {}
