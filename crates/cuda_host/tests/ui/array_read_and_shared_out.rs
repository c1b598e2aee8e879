#![allow(unused)]

use cuda_host::{Device, DeviceArray, Result, launch};
use cuda_std::{DisjointSlice, kernel};

#[kernel]
fn add(a: &[f32], c: DisjointSlice<f32>) {}

fn run(gpu: &Device, a: DeviceArray<f32>, mut c: DeviceArray<f32>, mut d: DeviceArray<f64>) -> Result<()> {
    launch!(add[1, 32](&c, &mut c))?;
    gpu.synchronize()
}

fn main() {}
