#![allow(unused)]

use cuda_host::{Device, DeviceArray, In, Out, Result, launch};
use cuda_std::kernel;

#[kernel]
unsafe fn add(a: &[f32], c: *mut f32) {}

fn run(gpu: &Device, a: DeviceArray<i32>, mut c: DeviceArray<f64>) -> Result<()> {
    unsafe { launch!(add[1, 32](&a, &mut c)) }?;
    let (x, mut y) = (vec![0_u8; 4], vec![0.0_f64; 4]);
    unsafe { launch!(add[1, 32](In(&x), Out(&mut y))) }?;
    gpu.synchronize()
}

fn main() {}
