//! `devices`: the devices that kernels can run on, with their limits.

use cuda_host::Device;
use serde::Serialize;

use crate::console::{Console, HEADING};
use crate::error::Error;
use crate::format::bytes;

#[derive(Serialize)]
struct Output {
    command: &'static str,
    backend: String,
    driver_version: String,
    devices: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    ordinal: usize,
    name: String,
    compute_capability: String,
    memory_bytes: usize,
    free_memory_bytes: usize,
    multiprocessors: u32,
    warp_size: u32,
    max_threads_per_block: u32,
    max_block: [u32; 3],
    max_grid: [u32; 3],
    shared_bytes_per_block: u32,
    max_shared_bytes_per_block: u32,
    registers_per_block: u32,
    l2_bytes: u32,
    clock_mhz: u32,
}

/// Runs the command.
///
/// # Errors
///
/// Whatever the driver reports, and [`Error::Output`].
pub fn run(console: &mut Console) -> Result<(), Error> {
    let (major, minor) = Device::driver_version()?;
    let driver_version = format!("{major}.{minor}");
    let devices = Device::all()?;
    let backend = devices.first().map(|gpu| gpu.backend().to_string()).unwrap_or_default();
    let devices = devices.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    console.line(format_args!("backend: {backend}, CUDA {driver_version}"))?;
    for device in &devices {
        show(device, console)?;
    }
    console.json(&Output { command: "devices", backend, driver_version, devices })
}

fn entry(gpu: &Device) -> Result<Entry, Error> {
    let attributes = gpu.attributes();
    let memory = gpu.memory_info()?;
    let (major, minor) = attributes.compute_capability;
    Ok(Entry {
        ordinal: gpu.ordinal(),
        name: gpu.name()?,
        compute_capability: format!("{major}.{minor}"),
        memory_bytes: memory.total,
        free_memory_bytes: memory.free,
        multiprocessors: attributes.multiprocessors,
        warp_size: attributes.warp_size,
        max_threads_per_block: attributes.max_threads_per_block,
        max_block: attributes.max_block,
        max_grid: attributes.max_grid,
        shared_bytes_per_block: attributes.shared_bytes_per_block,
        max_shared_bytes_per_block: attributes.max_shared_bytes_per_block,
        registers_per_block: attributes.registers_per_block,
        l2_bytes: attributes.l2_bytes,
        clock_mhz: attributes.clock_khz / 1000,
    })
}

fn show(device: &Entry, console: &mut Console) -> Result<(), Error> {
    let Entry { ordinal, name, compute_capability, .. } = device;
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let size = |size: u32| bytes(u128::from(size));
    console.line(format_args!("\n{HEADING}device {ordinal}: {name}{HEADING:#}"))?;
    let facts = [
        ("compute capability", compute_capability.clone()),
        (
            "memory",
            format!(
                "{}, {} free",
                bytes(device.memory_bytes as u128),
                bytes(device.free_memory_bytes as u128)
            ),
        ),
        (
            "multiprocessors",
            format!("{}, warps of {} threads", device.multiprocessors, device.warp_size),
        ),
        (
            "block",
            format!(
                "at most {} threads, {}",
                device.max_threads_per_block,
                shape(device.max_block)
            ),
        ),
        ("grid", format!("at most {} blocks", shape(device.max_grid))),
        (
            "shared memory",
            format!(
                "{} per block, {} on request",
                size(device.shared_bytes_per_block),
                size(device.max_shared_bytes_per_block)
            ),
        ),
        ("registers", format!("{} per block", device.registers_per_block)),
    ];
    for (what, fact) in facts {
        console.line(format_args!("  {what:<19} {fact}"))?;
    }
    // The emulator has neither.
    if device.l2_bytes > 0 {
        console.line(format_args!("  {:<19} {}", "L2 cache", size(device.l2_bytes)))?;
    }
    if device.clock_mhz > 0 {
        console.line(format_args!("  {:<19} {} MHz", "clock", device.clock_mhz))?;
    }
    Ok(())
}
