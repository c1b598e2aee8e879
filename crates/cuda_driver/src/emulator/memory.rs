//! Device memory: allocation, what an address belongs to, pointer attributes.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};

use ptx_emulator::MemoryError;

use super::host_memory::BlockKind;
use super::mapping::Mapping;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// A page of the device's memory management unit, bytes: a GPU does not notice accesses outside all
/// allocations but in a page that holds some.
const DEVICE_PAGE: u64 = 2 << 20;

/// `cuMemAllocPitch` rounds rows up to this, bytes.
const PITCH: usize = 512;

/// Memory that a call allocated and `cuMemFree` gives back.
pub(crate) struct Allocation {
    pub context: CUcontext,
    pub bytes: u64,
    /// The pool it was taken from.
    pub pool: Option<CUmemoryPool>,
    /// For managed memory, the host's pages at the same address.
    pub managed: Option<Mapping>,
}

/// By first address.
pub(crate) type Allocations = BTreeMap<u64, Allocation>;

impl Emulator {
    /// Allocates device memory for a context.
    pub(crate) fn allocate(
        &mut self,
        context: CUcontext,
        bytes: u64,
        pool: Option<CUmemoryPool>,
    ) -> Result<u64, ApiError> {
        self.allocated += 1;
        let label = format!("allocation {}", self.allocated);
        let address = self.machine.memory_mut().alloc(bytes, &label).map_err(|error| {
            ApiError::Memory { action: format!("{bytes} bytes were asked for"), error }
        })?;
        let first =
            if self.device_span.is_empty() { address } else { self.device_span.start.min(address) };
        self.device_span = first..self.device_span.end.max(address + bytes);
        self.allocations.insert(address, Allocation { context, bytes, pool, managed: None });
        Ok(address)
    }

    /// Gives back what `allocate` returned; address 0 is nothing.
    pub(crate) fn release(&mut self, address: u64) -> Outcome {
        if address == 0 {
            return Ok(());
        }
        match self.allocations.remove(&address) {
            Some(allocation) => {
                if allocation.managed.is_some() {
                    self.host.forget(address);
                }
                self.machine
                    .memory_mut()
                    .free(address)
                    .map_err(|error| ApiError::Memory { action: "freeing".to_owned(), error })
            }
            None => Err(ApiError::NotAllocated { address, hint: self.belongs_to(address) }),
        }
    }

    /// What an address is instead of the start of an allocation, for a message.
    fn belongs_to(&self, address: u64) -> String {
        if let Some((base, allocation)) = self.allocation_at(address) {
            return format!(
                "; it is byte {} of the {} bytes at {base:#x}",
                address - base,
                allocation.bytes
            );
        }
        match self.machine.memory().read(address, &mut [0]) {
            Ok(()) => "; it belongs to a module's variable".to_owned(),
            Err(error @ MemoryError::AlreadyFreed { .. }) => format!("; {error}"),
            Err(_) if self.host.block_at(address).is_some() => {
                "; it is host memory: free it with cuMemFreeHost".to_owned()
            }
            Err(_) => String::new(),
        }
    }

    /// The allocation that holds an address.
    pub(crate) fn allocation_at(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (base, allocation) = self.allocations.range(..=address).next_back()?;
        (address - base < allocation.bytes).then_some((*base, allocation))
    }

    /// Whether a GPU would have a page for an address: one that holds a byte of a live allocation.
    pub(crate) fn is_mapped(&self, address: u64) -> bool {
        let first = address - address % DEVICE_PAGE;
        let last = first.saturating_add(DEVICE_PAGE - 1);
        self.allocations
            .range(..=last)
            .next_back()
            .is_some_and(|(base, found)| base.saturating_add(found.bytes) > first)
    }

    /// First address and size of the device memory that holds an address.
    pub(crate) fn device_range(&self, address: u64) -> Option<(u64, u64)> {
        self.machine.memory().allocation(address)
    }

    /// Gives back everything that a context allocated.
    pub(crate) fn free_of_context(&mut self, context: CUcontext) {
        let owned: Vec<u64> = self
            .allocations
            .iter()
            .filter(|(_, found)| found.context == context)
            .map(|(base, _)| *base)
            .collect();
        for address in owned {
            // The address comes from the table, so there is nothing to report.
            let _ = self.release(address);
        }
        for device in self.host.forget_context(context) {
            let _ = self.machine.memory_mut().free(device);
        }
    }
}

pub(crate) fn info(free: Out<usize>, total: Out<usize>) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let memory = emulator.machine.memory();
        let capacity = memory.capacity_bytes();
        free.set_if_wanted("free", capacity.saturating_sub(memory.used_bytes()) as usize)?;
        total.set_if_wanted("total", capacity as usize)
    })
}

pub(crate) fn alloc(address: Out<CUdeviceptr>, bytes: usize) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        address.check("address")?;
        let found = emulator.allocate(context, bytes as u64, None)?;
        address.set("address", found)
    })
}

pub(crate) fn alloc_pitch(
    address: Out<CUdeviceptr>,
    pitch: Out<usize>,
    width_in_bytes: usize,
    height: usize,
    element_size: c_uint,
) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        address.check("address")?;
        pitch.check("pitch")?;
        if !matches!(element_size, 4 | 8 | 16) {
            return Err(ApiError::argument("element_size_bytes", element_size, "4, 8 or 16 bytes"));
        }
        let row = width_in_bytes.checked_next_multiple_of(PITCH);
        let Some((row, bytes)) = row.and_then(|row| Some((row, row.checked_mul(height)?))) else {
            return Err(ApiError::argument(
                "width_in_bytes",
                format_args!("{width_in_bytes} bytes in {height} rows"),
                "fewer than 2^64 bytes in all",
            ));
        };
        let found = emulator.allocate(context, bytes as u64, None)?;
        pitch.set("pitch", row)?;
        address.set("address", found)
    })
}

pub(crate) fn free(address: CUdeviceptr) -> Outcome {
    with(|emulator| {
        // cuMemFree waits for the kernels that may use the memory.
        emulator.settle_current()?;
        emulator.release(address)
    })
}

pub(crate) fn address_range(
    base: Out<CUdeviceptr>,
    size: Out<usize>,
    address: CUdeviceptr,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let Some((start, bytes)) = emulator.device_range(address) else {
            // CUDA answers CUDA_ERROR_NOT_FOUND here, and INVALID_VALUE nearly everywhere else.
            return Err(ApiError::NoAllocationAt { address, hint: emulator.belongs_to(address) });
        };
        base.set_if_wanted("base", start)?;
        size.set_if_wanted("size", bytes as usize)
    })
}

pub(crate) fn alloc_async(address: Out<CUdeviceptr>, bytes: usize, stream: CUstream) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.refuse_capture(stream, "allocating")?;
        emulator.may_queue(context)?;
        address.check("address")?;
        let pool = emulator.device_pool()?;
        let found = emulator.allocate(context, bytes as u64, Some(pool))?;
        address.set("address", found)
    })
}

pub(crate) fn free_async(address: CUdeviceptr, stream: CUstream) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.refuse_capture(stream, "freeing")?;
        emulator.may_queue(context)?;
        emulator.release(address)
    })
}

/// Refuses a range that is not managed memory.
fn check_managed(emulator: &Emulator, address: u64, count: usize) -> Outcome {
    let managed = emulator.allocation_at(address).is_some_and(|(base, allocation)| {
        allocation.managed.is_some()
            && (address - base).saturating_add(count as u64) <= allocation.bytes
    });
    if !managed {
        return Err(ApiError::argument(
            "address",
            format_args!("{count} bytes at {address:#x}"),
            "managed memory (cuMemAllocManaged)",
        ));
    }
    Ok(())
}

/// Refuses what is neither the device nor the host.
fn check_place(device: CUdevice) -> Outcome {
    // CU_DEVICE_CPU is -1.
    if matches!(device, 0 | -1) { Ok(()) } else { Err(ApiError::InvalidDevice(device)) }
}

pub(crate) fn prefetch(
    address: CUdeviceptr,
    count: usize,
    device: CUdevice,
    stream: CUstream,
) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        check_place(device)?;
        check_managed(emulator, address, count)
    })
}

pub(crate) fn prefetch_v2(
    address: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    _flags: c_uint,
    stream: CUstream,
) -> Outcome {
    let device = if location.kind == 1 { location.id } else { -1 };
    prefetch(address, count, device, stream)
}

pub(crate) fn advise(
    address: CUdeviceptr,
    count: usize,
    advice: c_uint,
    device: CUdevice,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        if !(1..=6).contains(&advice) {
            return Err(ApiError::argument("advice", advice, "1 to 6"));
        }
        check_place(device)?;
        check_managed(emulator, address, count)
    })
}

pub(crate) fn advise_v2(
    address: CUdeviceptr,
    count: usize,
    advice: c_uint,
    location: CUmemLocation,
) -> Outcome {
    let device = if location.kind == 1 { location.id } else { -1 };
    advise(address, count, advice, device)
}

/// One of an address's attributes, in the size that CUDA gives it.
enum Attribute {
    Flag(bool),
    Int(c_int),
    Word(u64),
}

impl Attribute {
    fn store(&self, data: HostPtr) -> Outcome {
        match *self {
            Attribute::Flag(value) => data.out::<u8>().set("data", u8::from(value)),
            Attribute::Int(value) => data.out::<c_int>().set("data", value),
            Attribute::Word(value) => data.out::<u64>().set("data", value),
        }
    }
}

/// `CU_POINTER_ATTRIBUTE_*` of an address; none where it has no such attribute.
fn attribute_of(
    emulator: &mut Emulator,
    attribute: c_uint,
    address: u64,
) -> Result<Option<Attribute>, ApiError> {
    use Attribute::*;
    let block = emulator
        .host
        .block_at(address)
        .map(|(base, block)| (base, block.bytes as u64, block.kind, block.context));
    let device = emulator.device_range(address);
    let managed = matches!(block, Some((_, _, BlockKind::Managed, _)));
    let pinned = block.is_some() && !managed;
    let Some((start, bytes)) = block.map(|(base, bytes, ..)| (base, bytes)).or(device) else {
        return Ok(None);
    };
    let allocation = emulator.allocation_at(address).map(|(_, found)| (found.context, found.pool));
    Ok(Some(match attribute {
        1 => match block.map(|(.., context)| context).or(allocation.map(|(context, _)| context)) {
            Some(context) => Word(context.0 as u64),
            None => Word(emulator.current()?.0 as u64),
        },
        2 => Int(if pinned { 1 } else { 2 }),
        3 if pinned => Word(emulator.device_address_of(address)?),
        3 => Word(address),
        4 if block.is_some() => Word(address),
        6 => Flag(true),
        7 => Word(start),
        8 => Flag(managed),
        9 => Int(0),
        10 | 15 => Flag(false),
        11 => Word(start),
        12 => Word(bytes),
        13 => Flag(true),
        14 => Word(0),
        16 => Int(3),
        17 => Word(allocation.and_then(|(_, pool)| pool).unwrap_or_default().0 as u64),
        _ => return Ok(None),
    }))
}

pub(crate) fn pointer_attribute(data: HostPtr, attribute: c_uint, address: CUdeviceptr) -> Outcome {
    with(|emulator| {
        if data.is_null() {
            return Err(ApiError::NullPointer { name: "data" });
        }
        match attribute_of(emulator, attribute, address)? {
            Some(found) => found.store(data),
            None => Err(ApiError::argument(
                "address",
                format_args!("{address:#x} (attribute {attribute})"),
                "an address of device, managed or pinned memory that has the attribute",
            )),
        }
    })
}

pub(crate) fn pointer_attributes(
    count: c_uint,
    attributes: Out<c_uint>,
    data: Out<*mut c_void>,
    address: CUdeviceptr,
) -> Outcome {
    with(|emulator| {
        for index in 0..count as usize {
            let attribute = attributes.get("attributes", index)?;
            let place = data.host_pointer("data", index)?;
            // Unknown memory is not an error in this form of the call: its attributes read as zero.
            let found = match (attribute_of(emulator, attribute, address)?, attribute) {
                (Some(found), _) => found,
                (None, 6 | 8 | 10 | 13 | 15) => Attribute::Flag(false),
                (None, 2 | 16) => Attribute::Int(0),
                (None, 9) => Attribute::Int(-2),
                (None, 1..=17) => Attribute::Word(0),
                (None, _) => return Err(ApiError::argument("attributes", attribute, "1 to 17")),
            };
            found.store(place)?;
        }
        Ok(())
    })
}

pub(crate) fn pointer_set_attribute(
    value: HostPtr,
    attribute: c_uint,
    address: CUdeviceptr,
) -> Outcome {
    with(|emulator| {
        if value.is_null() {
            return Err(ApiError::NullPointer { name: "value" });
        }
        // Only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set.
        if attribute != 6 {
            return Err(ApiError::argument(
                "attribute",
                attribute,
                "6 (synchronous memory operations)",
            ));
        }
        match emulator.device_range(address) {
            Some(_) => Ok(()),
            None => Err(ApiError::NotDeviceMemory { action: "setting an attribute", address }),
        }
    })
}
