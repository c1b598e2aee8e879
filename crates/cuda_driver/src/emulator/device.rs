//! The one device: an H200's limits and attributes, less what the emulator cannot do.
//!
//! Values come from an NVIDIA H200 with driver 580 (CUDA 13.0); attributes of things that the emulator
//! lacks (textures keep their sizes; virtual memory management, interprocess sharing, stream
//! memory operations) say "no", so that a program that asks first takes another way.

use std::ffi::{c_int, c_uint};

use super::with;
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// The name that `cuDeviceGetName` answers.
const NAME: &str = "Ferrowarp emulator";
/// The identity that `cuDeviceGetUuid` answers.
const UUID: CUuuid = CUuuid { bytes: *b"Ferrowarp-emul-0" };
/// Its place on a bus it does not have.
const PCI_BUS_ID: &str = "0000:00:00.0";
/// Compute capability, major and minor.
pub(crate) const COMPUTE_CAPABILITY: (c_int, c_int) = (9, 0);

/// Limits of a launch (recorded).
pub(crate) mod limits {
    /// Threads of a block.
    pub(crate) const THREADS: u32 = 1024;
    /// Threads of a block, by dimension.
    pub(crate) const BLOCK: [u32; 3] = [1024, 1024, 64];
    /// Blocks of a grid, by dimension.
    pub(crate) const GRID: [u32; 3] = [2_147_483_647, 65_535, 65_535];
    /// Shared memory of a block, static and dynamic, bytes, unless the kernel opts in to more.
    pub(crate) const SHARED: u32 = 49_152;
    /// Shared memory of a block for a kernel that opts in, bytes.
    pub(crate) const SHARED_OPT_IN: u32 = 232_448;
    /// Shared memory that the system takes of each block, bytes.
    pub(crate) const SHARED_RESERVED: u32 = 1024;
    /// Shared memory of a multiprocessor, bytes.
    pub(crate) const SHARED_PER_MULTIPROCESSOR: u32 = 233_472;
    /// 32-bit registers of a multiprocessor.
    pub(crate) const REGISTERS: u32 = 65_536;
    /// Threads of a multiprocessor.
    pub(crate) const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
    /// Blocks of a multiprocessor.
    pub(crate) const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
    /// Multiprocessors.
    pub(crate) const MULTIPROCESSORS: u32 = 132;
    /// Lanes of a warp.
    /// Blocks of a cluster, on every device that has clusters.
    pub(crate) const CLUSTER: u32 = 8;
    pub(crate) const WARP: u32 = 32;
    /// Constant memory, bytes.
    pub(crate) const CONSTANT: u32 = 65_536;
}

/// Refuses an ordinal that is no device.
pub(crate) fn check_device(device: CUdevice) -> Outcome {
    if device == 0 { Ok(()) } else { Err(ApiError::InvalidDevice(device)) }
}

/// `CU_DEVICE_ATTRIBUTE_*` by number.
fn attribute_value(attribute: c_uint) -> Option<c_int> {
    use limits::*;
    // The limits are all below 2^31.
    let value = |limit: u32| limit as c_int;
    Some(match attribute {
        1 => value(THREADS),
        2..=4 => value(BLOCK[attribute as usize - 2]),
        5..=7 => value(GRID[attribute as usize - 5]),
        8 => value(SHARED),
        9 => value(CONSTANT),
        10 => value(WARP),
        11 => c_int::MAX,       // row of a 2-D copy, bytes
        12 => value(REGISTERS), // registers of a block
        13 => 1_980_000,        // clock, kHz
        14 => 512,              // alignment of textures, bytes
        15 => 1,                // copies overlap kernels
        16 => value(MULTIPROCESSORS),
        17 => 0,       // run-time limit on kernels
        18 => 0,       // integrated
        19 => 1,       // maps host memory
        20 => 0,       // compute mode: default
        21 => 131_072, // textures and surfaces, 21 to 74
        22 => 131_072,
        23 => 65_536,
        24..=26 => 16_384,
        27 | 28 => 32_768,
        29 => 2048,
        30 => 512,
        31 => 1,          // concurrent kernels
        32 => 1,          // ECC
        33 | 34 => 0,     // PCI bus and device
        35 => 0,          // TCC driver
        36 => 3_201_000,  // memory clock, kHz
        37 => 6144,       // memory bus, bits
        38 => 62_914_560, // L2 cache, bytes
        39 => value(THREADS_PER_MULTIPROCESSOR),
        40 => 3, // copy engines
        41 => 1, // unified addressing
        42 => 32_768,
        43 => 2048,
        44 => 1,
        45 | 46 => 32_768,
        47 | 48 => 8192,
        49 => 32_768,
        50 => 0, // PCI domain
        51 => 32,
        52 | 53 => 32_768,
        54 => 2046,
        55 => 32_768,
        56 => 131_072,
        57 => 65_536,
        58..=60 => 16_384,
        61 => 32_768,
        62 => 2048,
        63 | 64 => 32_768,
        65 => 2048,
        66 | 67 => 32_768,
        68 => 2046,
        69 => 268_435_456,
        70 => 131_072,
        71 => 65_000,
        72 => 2_097_120,
        73 | 74 => 32_768,
        75 => COMPUTE_CAPABILITY.0,
        76 => COMPUTE_CAPABILITY.1,
        77 => 32_768,
        78 => 1,      // stream priorities
        79 | 80 => 1, // L1 cache for global and local memory
        81 => value(SHARED_PER_MULTIPROCESSOR),
        82 => value(REGISTERS), // registers of a multiprocessor
        83 => c_int::from(super::mapping::SUPPORTED), // managed memory
        84 | 85 => 0,           // multi-GPU board and its group
        86 => 0,                // native atomics between host and device
        87 => 2,                // single to double precision performance
        88 => 0,                // pageable memory access
        89 => c_int::from(super::mapping::SUPPORTED), // concurrent managed access
        90 => 1,                // compute preemption
        91 => 0,                // host pointer of registered memory: has its own address here
        92..=94 => 0,           // stream memory operations
        95 => 1,                // cooperative launch
        96 => 0,                // the same on several devices
        97 => value(SHARED_OPT_IN),
        98 => 0,        // flush of remote writes
        99 => 1,        // host memory registration
        100 | 101 => 0, // page tables of the host, managed access from the host
        102..=105 => 0, // virtual memory management and its handles
        106 => value(BLOCKS_PER_MULTIPROCESSOR),
        107..=110 => 0, // compression, persisting L2, access policy, RDMA
        111 => value(SHARED_RESERVED),
        112..=114 => 0, // sparse arrays, read-only registration, semaphores
        115 => 1,       // memory pools
        116..=119 => 0, // RDMA, handles of pools
        120 => 1,       // clusters
        121..=125 => 0, // deferred mapping, stream memory operations, events by IPC
        126 => 1,       // memory synchronisation domains
        127..=130 => 0, // tensor maps, fabric handles, function pointers, NUMA
        131 => -1,      // NUMA node
        132 | 133 => 0, // multicast, MPS
        134 => -1,      // NUMA node of the host
        135..=143 => 0, // graphics, later features
        _ => return None,
    })
}

pub(crate) fn get(device: Out<CUdevice>, ordinal: c_int) -> Outcome {
    with(|_| {
        device.check("device")?;
        check_device(ordinal)?;
        device.set("device", ordinal)
    })
}

pub(crate) fn count(count: Out<c_int>) -> Outcome {
    with(|_| count.set("count", 1))
}

/// Writes `text` and a NUL into `len` bytes, cut to fit.
fn set_text(target: HostPtr, name: &'static str, len: c_int, text: &str) -> Outcome {
    let len = usize::try_from(len).ok().filter(|len| *len > 0);
    let Some(len) = len else {
        return Err(ApiError::argument("len", "not positive", "at least 1 byte"));
    };
    let fitting = text.len().min(len - 1);
    let target = target.write(name, fitting + 1)?;
    target[..fitting].copy_from_slice(&text.as_bytes()[..fitting]);
    target[fitting] = 0;
    Ok(())
}

pub(crate) fn name(name: HostPtr, len: c_int, device: CUdevice) -> Outcome {
    with(|_| {
        check_device(device)?;
        set_text(name, "name", len, NAME)
    })
}

pub(crate) fn uuid(uuid: Out<CUuuid>, device: CUdevice) -> Outcome {
    with(|_| {
        check_device(device)?;
        uuid.set("uuid", UUID)
    })
}

pub(crate) fn total_memory(bytes: Out<usize>, device: CUdevice) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        bytes.set("bytes", emulator.machine.memory().capacity_bytes() as usize)
    })
}

pub(crate) fn attribute(value: Out<c_int>, attribute: c_uint, device: CUdevice) -> Outcome {
    with(|_| {
        value.check("value")?;
        check_device(device)?;
        match attribute_value(attribute) {
            Some(found) => value.set("value", found),
            None => {
                Err(ApiError::argument("attribute", attribute, "a CUdevice_attribute, 1 to 143"))
            }
        }
    })
}

pub(crate) fn properties(properties: Out<CUdevprop>, device: CUdevice) -> Outcome {
    with(|_| {
        check_device(device)?;
        let get = |attribute| attribute_value(attribute).unwrap_or_default();
        properties.set(
            "properties",
            CUdevprop {
                max_threads_per_block: get(1),
                max_threads_dim: [get(2), get(3), get(4)],
                max_grid_size: [get(5), get(6), get(7)],
                shared_mem_per_block: get(8),
                total_constant_memory: get(9),
                simd_width: get(10),
                mem_pitch: get(11),
                regs_per_block: get(12),
                clock_rate: get(13),
                texture_align: get(14),
            },
        )
    })
}

pub(crate) fn compute_capability(
    major: Out<c_int>,
    minor: Out<c_int>,
    device: CUdevice,
) -> Outcome {
    with(|_| {
        check_device(device)?;
        major.check("major")?;
        minor.check("minor")?;
        major.set("major", COMPUTE_CAPABILITY.0)?;
        minor.set("minor", COMPUTE_CAPABILITY.1)
    })
}

pub(crate) fn by_pci_bus_id(device: Out<CUdevice>, pci_bus_id: Text) -> Outcome {
    with(|_| {
        device.check("device")?;
        let asked = pci_bus_id.string("pci_bus_id")?;
        if PCI_BUS_ID.contains(asked.as_str()) && asked.len() >= "00:00.0".len() {
            device.set("device", 0)
        } else {
            Err(ApiError::argument("pci_bus_id", format_args!("`{asked}`"), PCI_BUS_ID))
        }
    })
}

pub(crate) fn pci_bus_id(pci_bus_id: HostPtr, len: c_int, device: CUdevice) -> Outcome {
    with(|_| {
        check_device(device)?;
        set_text(pci_bus_id, "pci_bus_id", len, PCI_BUS_ID)
    })
}

pub(crate) fn can_access_peer(can: Out<c_int>, device: CUdevice, peer: CUdevice) -> Outcome {
    with(|_| {
        can.check("can_access_peer")?;
        check_device(device)?;
        check_device(peer)?;
        can.set("can_access_peer", 0)
    })
}

pub(crate) fn p2p_attribute(
    value: Out<c_int>,
    _attribute: c_uint,
    source: CUdevice,
    destination: CUdevice,
) -> Outcome {
    with(|_| {
        value.check("value")?;
        check_device(source)?;
        check_device(destination)?;
        // A device has no peer attributes with itself.
        Err(ApiError::InvalidDevice(destination))
    })
}

pub(crate) fn exec_affinity_support(value: Out<c_int>, _kind: c_uint, device: CUdevice) -> Outcome {
    with(|_| {
        check_device(device)?;
        value.set("value", 0)
    })
}

#[cfg(test)]
mod tests {
    use super::attribute_value;

    /// The attributes that were recorded on an H200, by number.
    #[test]
    fn attributes_are_the_recorded_ones() {
        let recorded = [
            (1, 1024),
            (2, 1024),
            (3, 1024),
            (4, 64),
            (5, 2_147_483_647),
            (6, 65_535),
            (7, 65_535),
            (8, 49_152),
            (9, 65_536),
            (10, 32),
            (12, 65_536),
            (13, 1_980_000),
            (16, 132),
            (38, 62_914_560),
            (39, 2048),
            (41, 1),
            (81, 233_472),
            (82, 65_536),
            (88, 0),
            (95, 1),
            (97, 232_448),
            (106, 32),
            (111, 1024),
        ];
        for (attribute, value) in recorded {
            assert_eq!(attribute_value(attribute), Some(value), "attribute {attribute}");
        }
        assert_eq!(attribute_value(0), None);
        assert_eq!(attribute_value(144), None);
    }
}
