//! What a device can do, as its driver reports it.

use crate::error::{Error, Result, check};
use crate::sys::{self, CUdevice};

/// A device's properties and limits. Sizes are in bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attributes {
    /// Compute capability, major and minor: (9, 0) for an H100 or H200.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Most threads in a block.
    pub max_threads_per_block: u32,
    /// Most threads of a block along x, y, z.
    pub max_block: [u32; 3],
    /// Most blocks of a grid along x, y, z.
    pub max_grid: [u32; 3],
    /// Most threads resident on one multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Most blocks resident on one multiprocessor; 0 where the driver does not say.
    pub max_blocks_per_multiprocessor: u32,
    /// Shared memory that a block may have without asking, bytes.
    pub shared_bytes_per_block: u32,
    /// Shared memory that a block may have at most, bytes; a launch that needs it asks for it by itself.
    pub max_shared_bytes_per_block: u32,
    /// Shared memory of one multiprocessor, bytes.
    pub shared_bytes_per_multiprocessor: u32,
    /// 32-bit registers that a block may have.
    pub registers_per_block: u32,
    /// 32-bit registers of one multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Constant memory, bytes.
    pub constant_bytes: u32,
    /// Second-level cache, bytes.
    pub l2_bytes: u32,
    /// Core clock, kHz; 0 where the driver does not say.
    pub clock_khz: u32,
    /// Memory clock, kHz; 0 where the driver does not say.
    pub memory_clock_khz: u32,
    /// Width of the memory bus, bits; 0 where the driver does not say.
    pub memory_bus_bits: u32,
    /// Whether a cooperative launch (a barrier over the whole grid) is possible.
    pub cooperative_launch: bool,
    /// Whether blocks can be launched in clusters.
    pub cluster_launch: bool,
}

impl Attributes {
    /// Asks the driver. Numbers: `CUdevice_attribute` in the CUDA Driver API reference.
    pub(crate) fn query(device: CUdevice) -> Result<Self> {
        let needed = |number| {
            attribute(device, number)
                .map_err(|failure| Error::driver("read the device's properties", failure))
        };
        // Newer or optional ones, which an older driver may refuse.
        let optional = |number| attribute(device, number).unwrap_or(0);
        let shared_bytes_per_block = needed(8)?;
        Ok(Self {
            compute_capability: (needed(75)?, needed(76)?),
            multiprocessors: needed(16)?,
            warp_size: needed(10)?,
            max_threads_per_block: needed(1)?,
            max_block: [needed(2)?, needed(3)?, needed(4)?],
            max_grid: [needed(5)?, needed(6)?, needed(7)?],
            max_threads_per_multiprocessor: optional(39),
            max_blocks_per_multiprocessor: optional(106),
            shared_bytes_per_block,
            max_shared_bytes_per_block: optional(97).max(shared_bytes_per_block),
            shared_bytes_per_multiprocessor: optional(81),
            registers_per_block: optional(12),
            registers_per_multiprocessor: optional(82),
            constant_bytes: optional(9),
            l2_bytes: optional(38),
            clock_khz: optional(13),
            memory_clock_khz: optional(36),
            memory_bus_bits: optional(37),
            cooperative_launch: optional(95) != 0,
            cluster_launch: optional(120) != 0,
        })
    }
}

fn attribute(device: CUdevice, number: i32) -> Result<u32, crate::error::Failure> {
    let mut value = 0;
    // SAFETY: `value` outlives the call; the driver checks the other two.
    check(unsafe { sys::cuDeviceGetAttribute(&mut value, number, device) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}
