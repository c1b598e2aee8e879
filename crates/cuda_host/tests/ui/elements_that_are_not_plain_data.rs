#![allow(unused)]

use cuda_host::{Device, Result};

#[derive(Clone, Copy)]
struct Particle {
    position: [f32; 3],
    alive: bool,
}

fn run(gpu: &Device, particles: &[Particle], names: Vec<String>) -> Result<()> {
    gpu.to_device(particles)?;
    gpu.to_device(&names)?;
    gpu.to_device(1.0_f32)?;
    gpu.zeros::<bool>(4)?;
    Ok(())
}

fn main() {}
