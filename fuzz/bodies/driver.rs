//! What the driver library promises of any sequence of calls, as one function: handles, sizes and addresses of the
//! device may be anything; host pointers are null or valid, as C asks of a caller. The fuzz target and the tests
//! share it.

#[path = "../../crates/cuda_driver/tests/common/mod.rs"]
mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::*;

/// Calls of one sequence, at most; more teach nothing new.
const MAX_CALLS: usize = 80;

/// What a sequence of calls has seen.
struct Seen {
    numbers: Vec<u64>,
    /// Host memory for whatever a call writes.
    buffer: Vec<u64>,
}

/// Reads calls from bytes; what is missing at the end is zero.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let count = N.min(self.0.len());
        let (taken, rest) = self.0.split_at(count);
        bytes[..count].copy_from_slice(taken);
        self.0 = rest;
        bytes
    }

    /// A handle, address or size: one that an earlier call returned, the same moved a little, something small,
    /// or anything.
    fn number(&mut self, seen: &Seen) -> u64 {
        let [kind, index] = self.bytes();
        let earlier = seen.numbers[usize::from(index) % seen.numbers.len()];
        match kind % 8 {
            0..4 => earlier,
            4 => earlier.wrapping_add(u64::from(self.bytes::<1>()[0] % 64)),
            5 | 6 => u64::from(u16::from_le_bytes(self.bytes())),
            _ => u64::from_le_bytes(self.bytes()),
        }
    }
}

/// Makes the calls that the bytes say. No call panics, and every failure is explained.
pub fn body(data: &[u8]) {
    let context = Context::new();
    let module = load(&format!("{ADD_ONE}.visible .entry fail() {{ trap; }}\n"));
    let mut seen = Seen {
        numbers: vec![
            context.0 as u64,
            module as u64,
            function(module, "add_one") as u64,
            function(module, "fail") as u64,
            alloc(4096),
            0,
        ],
        buffer: vec![0; 1024],
    };
    // The sequence before may have destroyed its context itself, and left a word about the second time.
    let _ = cuda_driver::take_diagnostic();
    let mut reader = Reader(data);
    for _ in 0..MAX_CALLS {
        if reader.0.is_empty() {
            break;
        }
        let [which] = reader.bytes();
        let numbers = [(); 4].map(|()| reader.number(&seen));
        let result = call(&mut seen, which % 50, numbers);
        let found = cuda_driver::take_diagnostic();
        assert_ne!(result, 999, "call {which} with {numbers:x?}: {found:?}");
        assert_eq!(
            result != 0,
            found.is_some(),
            "call {which} with {numbers:x?} gave {result}: {found:?}"
        );
    }
    // Whatever the calls made current goes.
    // SAFETY: null is allowed.
    while unsafe { cuCtxPopCurrent_v2(null_mut()) } == 0 {}
}

/// Makes one call; gives its result.
fn call(seen: &mut Seen, which: u8, [a, b, c, d]: [u64; 4]) -> u32 {
    let [ha, hb] = [a as usize, b as usize];
    let host: *mut c_void = seen.buffer.as_mut_ptr().cast();
    // What the buffer holds, in bytes; larger host ranges would break the caller's promise.
    let bytes = (c as usize) % 4096;
    let mut new = 0_usize;
    let mut address = 0_u64;
    let mut size = 0_usize;
    let mut int = 0_i32;
    let name = if d.is_multiple_of(2) { c"add_one".as_ptr() } else { c"fail".as_ptr() };
    // SAFETY: pointers are null or to live memory of the sizes said.
    let result = unsafe {
        match which {
            0 => cuCtxCreate_v2(&mut new, a as u32, b as i32),
            1 => cuCtxDestroy_v2(ha),
            2 => cuCtxPushCurrent_v2(ha),
            3 => cuCtxPopCurrent_v2(&mut new),
            4 => cuCtxSetCurrent(ha),
            5 => cuCtxSynchronize(),
            6 => cuModuleUnload(ha),
            7 => cuModuleGetFunction(&mut new, ha, name),
            8 => cuModuleGetGlobal_v2(&mut address, &mut size, ha, name),
            9 => cuLaunchKernel(
                ha,
                // Allowed grids stay small, so that the test ends.
                if b.is_multiple_of(8) { u32::MAX } else { (b % 40) as u32 },
                (c as u32).clamp(1, 4),
                1,
                d as u32,
                1,
                1,
                (c >> 8) as u32,
                hb,
                [host, host].as_mut_ptr(),
                null_mut(),
            ),
            10 => cuMemAlloc_v2(&mut address, (a % (1 << 24)) as usize),
            11 => cuMemFree_v2(a),
            12 => cuMemcpyHtoD_v2(a, host, bytes),
            13 => cuMemcpyDtoH_v2(host, a, bytes),
            14 => cuMemcpyDtoD_v2(a, b, c as usize),
            15 => cuMemsetD8_v2(a, b as u8, c as usize),
            16 => cuMemsetD16_v2(a, b as u16, c as usize),
            17 => cuMemsetD32_v2(a, b as u32, c as usize),
            18 => cuMemsetD2D32_v2(a, b as usize, 1, c as usize, d as usize % 64),
            19 => cuStreamCreate(&mut new, a as u32),
            20 => cuStreamDestroy_v2(ha),
            21 => cuStreamSynchronize(ha),
            22 => cuEventCreate(&mut new, a as u32),
            23 => cuEventDestroy_v2(ha),
            24 => cuEventRecord(ha, hb),
            25 => cuEventElapsedTime(&mut 0.0, ha, hb),
            26 => cuFuncGetAttribute(&mut int, b as u32, ha),
            27 => cuFuncSetAttribute(ha, b as u32, c as i32),
            28 => cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut int, ha, b as i32, c as usize),
            29 => {
                cuOccupancyMaxPotentialBlockSize(&mut int, &mut 0, ha, None, b as usize, c as i32)
            }
            30 => cuOccupancyAvailableDynamicSMemPerBlock(&mut size, ha, b as i32, c as i32),
            31 => cuPointerGetAttribute(host, b as u32, a),
            32 => cuMemGetAddressRange_v2(&mut address, &mut size, a),
            33 => cuMemAllocManaged(&mut address, (a % (1 << 20)) as usize, b as u32),
            34 => cuMemAllocAsync(&mut address, (a % (1 << 20)) as usize, hb),
            35 => cuMemFreeAsync(a, hb),
            36 => cuCtxSetLimit(a as u32, b as usize),
            37 => cuCtxGetLimit(&mut size, a as u32),
            38 => cuDeviceGetAttribute(&mut int, a as u32, b as i32),
            39 => cuLinkDestroy(ha),
            40 => cuLibraryGetKernel(&mut new, ha, name),
            41 => cuKernelGetFunction(&mut new, ha),
            42 => cuLibraryUnload(ha),
            43 => cuMemFreeHost(null_mut()),
            44 => cuMemAlloc_v2(null_mut(), bytes),
            45 => cuModuleGetFunction(&mut new, ha, null()),
            46 => cuMemcpyHtoD_v2(a, null(), bytes),
            47 => cuStreamWaitEvent(ha, hb, c as u32),
            48 => cuMemAllocPitch_v2(
                &mut address,
                &mut size,
                a as usize % 70_000,
                b as usize % 64,
                d as u32,
            ),
            _ => cuGetErrorName(a as u32, &mut null()),
        }
    };
    for found in [new as u64, address] {
        if found != 0 {
            seen.numbers.push(found);
        }
    }
    result
}
