//! Whether a grid, block and amount of shared memory can run, before the driver is asked: it only answers
//! "invalid argument".

use crate::device::{Attributes, DeviceState};
use crate::error::{Problem, Result, Shape};
use crate::module::{Function, KernelAttributes};
use crate::sys;

/// A launch within the device's limits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub(super) shared: u32,
}

pub(super) const AXES: [char; 3] = ['x', 'y', 'z'];

impl Plan {
    /// Checks against what the device allows any kernel.
    pub(super) fn check(
        kernel: &str,
        grid: [i128; 3],
        block: [i128; 3],
        shared: i128,
        device: &Attributes,
    ) -> Result<Self> {
        let refused = |problem| Problem::Shape { kernel: kernel.into(), problem };
        let grid = axes("grid", grid, device.max_grid).map_err(refused)?;
        // The number of threads first: it is the limit that people meet.
        let threads = positive("block", block).map_err(refused)?;
        if threads > u64::from(device.max_threads_per_block) {
            let limit = device.max_threads_per_block;
            return Err(
                refused(Shape::BlockThreads { asked: written(block), threads, limit }).into()
            );
        }
        let block = axes("block", block, device.max_block).map_err(refused)?;
        if shared < 0 {
            return Err(refused(Shape::NegativeShared { asked: shared }).into());
        }
        let limit = device.max_shared_bytes_per_block;
        let Some(shared_bytes) = u32::try_from(shared).ok().filter(|bytes| *bytes <= limit) else {
            return Err(refused(Shape::Shared { asked: shared, fixed: 0, limit }).into());
        };
        Ok(Self { grid, block, shared: shared_bytes })
    }

    /// Checks against what this kernel needs.
    pub(super) fn for_kernel(
        self,
        kernel: &str,
        attributes: &KernelAttributes,
        device: &Attributes,
    ) -> Result<Self> {
        let refused = |problem| Problem::Shape { kernel: kernel.into(), problem };
        let threads = self.block.iter().map(|axis| u64::from(*axis)).product::<u64>();
        let limit = attributes.max_threads_per_block;
        if threads > u64::from(limit) {
            let asked = written(self.block.map(i128::from));
            let registers = attributes.registers;
            return Err(refused(Shape::KernelThreads { asked, threads, limit, registers }).into());
        }
        let (fixed, limit) = (attributes.shared_bytes, device.max_shared_bytes_per_block);
        if u64::from(self.shared) + u64::from(fixed) > u64::from(limit) {
            let asked = self.shared.into();
            return Err(refused(Shape::Shared { asked, fixed, limit }).into());
        }
        Ok(self)
    }

    /// Asks the driver for more shared memory than a block gets without asking, if the launch needs it (CUDA C++
    /// Programming Guide, "dynamic shared memory above 48 KB").
    pub(super) fn reserve_shared(&self, state: &DeviceState, function: &Function) -> Result<()> {
        let granted = state.attributes.shared_bytes_per_block;
        if self.shared == 0
            || self.shared.saturating_add(function.attributes.shared_bytes) <= granted
        {
            return Ok(());
        }
        let bytes = i32::try_from(self.shared).unwrap_or(i32::MAX);
        // SAFETY: the function's module is loaded.
        let code = unsafe {
            sys::cuFuncSetAttribute(function.raw, sys::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
        };
        state.after(code, || format!("give the kernel {bytes} bytes of dynamic shared memory"))
    }
}

/// The product of the axes, which must be positive; saturating.
pub(super) fn positive(what: &'static str, asked: [i128; 3]) -> Result<u64, Shape> {
    let mut product = 1_i128;
    for (size, axis) in asked.into_iter().zip(AXES) {
        match size {
            0 => return Err(Shape::Zero { what, asked: written(asked), axis }),
            ..0 => return Err(Shape::Negative { what, asked: written(asked), axis }),
            1.. => product = product.saturating_mul(size),
        }
    }
    Ok(u64::try_from(product).unwrap_or(u64::MAX))
}

/// Each axis within its limit.
fn axes(what: &'static str, asked: [i128; 3], limits: [u32; 3]) -> Result<[u32; 3], Shape> {
    positive(what, asked)?;
    let mut sizes = [1; 3];
    for (index, (size, limit)) in asked.into_iter().zip(limits).enumerate() {
        match u32::try_from(size) {
            Ok(size) if size <= limit => sizes[index] = size,
            _ => {
                let (unit, help) = match what {
                    "grid" => (
                        "blocks",
                        "let each thread do more, or use another axis: x allows the most",
                    ),
                    _ => ("threads", "use another axis: x allows the most"),
                };
                let (asked, axis) = (written(asked), AXES[index]);
                return Err(Shape::Axis { what, asked, axis, limit, unit, help });
            }
        }
    }
    Ok(sizes)
}

/// `16 x 16 x 1`.
pub(super) fn written(axes: [i128; 3]) -> String {
    let [x, y, z] = axes;
    format!("{x} x {y} x {z}")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An H200.
    pub(in super::super) const DEVICE: Attributes = Attributes {
        compute_capability: (9, 0),
        multiprocessors: 132,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [0x7fff_ffff, 65535, 65535],
        max_threads_per_multiprocessor: 2048,
        max_blocks_per_multiprocessor: 32,
        shared_bytes_per_block: 48 * 1024,
        max_shared_bytes_per_block: 227 * 1024,
        shared_bytes_per_multiprocessor: 228 * 1024,
        registers_per_block: 65536,
        registers_per_multiprocessor: 65536,
        constant_bytes: 65536,
        l2_bytes: 0,
        clock_khz: 0,
        memory_clock_khz: 0,
        memory_bus_bits: 0,
        cooperative_launch: true,
        cluster_launch: true,
    };

    #[track_caller]
    fn refused(grid: [i128; 3], block: [i128; 3], shared: i128, expected: &str) {
        let error = Plan::check("k", grid, block, shared, &DEVICE).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn largest_launches() {
        let plan = Plan::check("k", [0x7fff_ffff, 65535, 65535], [16, 1, 64], 227 * 1024, &DEVICE);
        assert_eq!(
            plan.unwrap(),
            Plan { grid: [0x7fff_ffff, 65535, 65535], block: [16, 1, 64], shared: 227 * 1024 }
        );
        assert!(Plan::check("k", [1; 3], [1024, 1, 1], 0, &DEVICE).is_ok());
        assert!(Plan::check("k", [1; 3], [1, 1024, 1], 0, &DEVICE).is_ok());
    }

    #[test]
    fn blocks() {
        refused(
            [1; 3],
            [64, 64, 1],
            0,
            "kernel `k`: a block of 64 x 64 x 1 = 4096 threads is more than the 1024 threads that a block may have on \
             this device\nhelp: make the block smaller and the grid larger",
        );
        refused(
            [1; 3],
            [2, 2, 65],
            0,
            "kernel `k`: the block is 2 x 2 x 65: z is more than the 64 threads that this device allows there\n\
             help: use another axis: x allows the most",
        );
        refused(
            [1; 3],
            [0, 4, 1],
            0,
            "kernel `k`: the block is 0 x 4 x 1, and x may not be 0\n\
             help: a block needs at least one thread",
        );
        refused([1; 3], [-8, 1, 1], 0, "kernel `k`: the block is -8 x 1 x 1: x is negative");
        let huge = i128::from(u64::MAX);
        refused(
            [1; 3],
            [huge, huge, huge],
            0,
            "kernel `k`: a block of 18446744073709551615 x 18446744073709551615 x 18446744073709551615 = \
             18446744073709551615 threads is more than the 1024 threads that a block may have on this device\n\
             help: make the block smaller and the grid larger",
        );
    }

    #[test]
    fn grids() {
        refused(
            [1, 0, 1],
            [1; 3],
            0,
            "kernel `k`: the grid is 1 x 0 x 1, and y may not be 0\n\
             help: nothing to compute needs no launch: skip it",
        );
        refused(
            [1, 65536, 1],
            [1; 3],
            0,
            "kernel `k`: the grid is 1 x 65536 x 1: y is more than the 65535 blocks that this device allows there\n\
             help: let each thread do more, or use another axis: x allows the most",
        );
        refused(
            [0x8000_0000, 1, 1],
            [1; 3],
            0,
            "kernel `k`: the grid is 2147483648 x 1 x 1: x is more than the 2147483647 blocks that this device allows \
             there\nhelp: let each thread do more, or use another axis: x allows the most",
        );
    }

    #[test]
    fn shared_memory() {
        refused(
            [1; 3],
            [1; 3],
            300_000,
            "kernel `k`: 300000 bytes of dynamic shared memory are more than the 232448 bytes that a block may have on \
             this device\nhelp: use smaller tiles",
        );
        refused(
            [1; 3],
            [1; 3],
            -1,
            "kernel `k`: -1 bytes of dynamic shared memory: the number is negative",
        );
        let attributes =
            KernelAttributes { max_threads_per_block: 1024, shared_bytes: 1, ..ATTRIBUTES };
        let plan = Plan::check("k", [1; 3], [1; 3], 227 * 1024, &DEVICE).unwrap();
        assert_eq!(
            plan.for_kernel("k", &attributes, &DEVICE).unwrap_err().to_string(),
            "kernel `k`: 232448 bytes of dynamic shared memory and the 1 byte that the kernel declares itself are more \
             than the 232448 bytes that a block may have on this device\nhelp: use smaller tiles"
        );
    }

    pub(in super::super) const ATTRIBUTES: KernelAttributes = KernelAttributes {
        max_threads_per_block: 1024,
        shared_bytes: 0,
        constant_bytes: 0,
        local_bytes: 0,
        registers: 16,
        ptx_version: 70,
        binary_version: 90,
        cluster: None,
    };

    #[test]
    fn registers() {
        let attributes =
            KernelAttributes { max_threads_per_block: 512, registers: 120, ..ATTRIBUTES };
        let plan = Plan::check("k", [1; 3], [32, 32, 1], 0, &DEVICE).unwrap();
        assert_eq!(
            plan.for_kernel("k", &attributes, &DEVICE).unwrap_err().to_string(),
            "kernel `k`: a block of 32 x 32 x 1 = 1024 threads is more than the 512 threads that a block of this kernel \
             may have, with 120 registers a thread\n\
             help: make the block smaller, or build the kernel with fewer registers a thread"
        );
    }
}
