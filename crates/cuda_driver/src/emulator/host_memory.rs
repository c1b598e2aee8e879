//! Host memory that the driver knows: pinned, registered and managed.
//!
//! Kernels reach pinned and registered memory through a device address of its own, which
//! `cuMemHostGetDevicePointer` gives; managed memory has one address (see `mapping` and `mirror`).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::ptr::NonNull;

use super::mapping::{self, Mapping};
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// Alignment of pinned memory: a page, bytes.
const PINNED_ALIGN: usize = 4096;

/// How host memory became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Pinned,
    Registered,
    Managed,
}

/// One stretch of host memory.
pub(crate) struct Block {
    pub bytes: usize,
    pub kind: BlockKind,
    pub context: CUcontext,
    flags: c_uint,
    /// Where the device's copy is, once one is wanted.
    pub device: Option<u64>,
    /// Pinned memory's storage, freed with the block.
    _storage: Option<Storage>,
}

/// Memory allocated for the program.
struct Storage {
    pointer: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the storage is only allocated and freed here; who reads and writes it is the program's affair.
unsafe impl Send for Storage {}

impl Storage {
    fn new(bytes: usize) -> Option<Storage> {
        let layout =
            Layout::from_size_align(bytes, PINNED_ALIGN).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout's size is not zero.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Storage { pointer, layout })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed once.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) };
    }
}

/// All of it, by first address.
#[derive(Default)]
pub(crate) struct HostMemory {
    blocks: BTreeMap<u64, Block>,
}

impl HostMemory {
    /// Every block with its address.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u64, &Block)> {
        self.blocks.iter().map(|(base, block)| (*base, block))
    }

    /// The block that holds an address.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, &Block)> {
        let (base, block) = self.blocks.range(..=address).next_back()?;
        (address - base < block.bytes as u64).then_some((*base, block))
    }

    fn overlaps(&self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        self.blocks
            .range(..end)
            .next_back()
            .is_some_and(|(base, block)| base + block.bytes as u64 > address)
    }

    /// Forgets the block that starts here.
    pub(crate) fn forget(&mut self, address: u64) {
        self.blocks.remove(&address);
    }

    /// Frees what a context has, but for managed memory; gives the device addresses of the copies.
    pub(crate) fn forget_context(&mut self, context: CUcontext) -> Vec<u64> {
        self.blocks
            .extract_if(.., |_, block| block.context == context && block.kind != BlockKind::Managed)
            .filter_map(|(_, block)| block.device)
            .collect()
    }
}

impl Emulator {
    /// The device's address of an address in pinned or registered memory; the copy is made when first asked for.
    pub(crate) fn device_address_of(&mut self, address: u64) -> Result<u64, ApiError> {
        let Some((base, block)) = self.host.block_at(address) else {
            return Err(ApiError::NotRegistered { address });
        };
        let offset = address - base;
        if let Some(device) = block.device {
            return Ok(device + offset);
        }
        let bytes = block.bytes as u64;
        let device =
            self.machine.memory_mut().alloc(bytes, "mapped host memory").map_err(|error| {
                ApiError::Memory { action: format!("mapping {bytes} bytes of host memory"), error }
            })?;
        if let Some(block) = self.host.blocks.get_mut(&base) {
            block.device = Some(device);
        }
        Ok(device + offset)
    }
}

fn allocate(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        pointer.check("pointer")?;
        if bytes == 0 {
            return Err(ApiError::argument("bytes", 0, "at least 1 byte"));
        }
        let storage =
            Storage::new(bytes).ok_or(ApiError::HostOutOfMemory { bytes: bytes as u64 })?;
        let address = storage.pointer.as_ptr();
        let base = address.expose_provenance() as u64;
        emulator.host.blocks.insert(
            base,
            Block {
                bytes,
                kind: BlockKind::Pinned,
                context,
                flags,
                device: None,
                _storage: Some(storage),
            },
        );
        pointer.set("pointer", address.cast())
    })
}

pub(crate) fn alloc_host(pointer: Out<*mut c_void>, bytes: usize) -> Outcome {
    // CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP, which unified addressing implies.
    allocate(pointer, bytes, 3)
}

pub(crate) fn host_alloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) -> Outcome {
    if flags > 7 {
        return Err(ApiError::argument(
            "flags",
            flags,
            "portable 1, device map 2, write combined 4",
        ));
    }
    allocate(pointer, bytes, flags)
}

pub(crate) fn free_host(pointer: HostPtr) -> Outcome {
    with(|emulator| {
        emulator.settle_current()?;
        if pointer.is_null() {
            return Err(ApiError::NullPointer { name: "pointer" });
        }
        remove(emulator, pointer, BlockKind::Pinned)
    })
}

/// Forgets a block and its copy on the device.
fn remove(emulator: &mut Emulator, pointer: HostPtr, kind: BlockKind) -> Outcome {
    let address = pointer.address();
    match emulator.host.blocks.get(&address) {
        Some(block) if block.kind == kind => {}
        _ if kind == BlockKind::Registered => return Err(ApiError::NotRegistered { address }),
        _ => {
            let hint = match emulator.host.block_at(address) {
                Some((base, _)) if base != address => format!("; the memory starts at {base:#x}"),
                _ => String::new(),
            };
            return Err(ApiError::NotAllocated { address, hint });
        }
    }
    if let Some(device) = emulator.host.blocks.remove(&address).and_then(|block| block.device) {
        // The copy was allocated here, so there is nothing to report.
        let _ = emulator.machine.memory_mut().free(device);
    }
    Ok(())
}

pub(crate) fn device_pointer(
    address: Out<CUdeviceptr>,
    pointer: HostPtr,
    flags: c_uint,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        address.check("address")?;
        if flags != 0 {
            return Err(ApiError::argument("flags", flags, 0));
        }
        let host = pointer.address();
        if emulator.host.block_at(host).is_none() {
            return Err(ApiError::argument(
                "pointer",
                format_args!("{host:#x}"),
                "host memory that was allocated by, or registered with, the driver",
            ));
        }
        let device = emulator.device_address_of(host)?;
        address.set("address", device)
    })
}

pub(crate) fn flags(flags: Out<c_uint>, pointer: HostPtr) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        flags.check("flags")?;
        match emulator.host.block_at(pointer.address()) {
            Some((_, block)) if block.kind == BlockKind::Pinned => flags.set("flags", block.flags),
            _ => Err(ApiError::argument(
                "pointer",
                format_args!("{:#x}", pointer.address()),
                "memory from cuMemHostAlloc",
            )),
        }
    })
}

pub(crate) fn register(pointer: HostPtr, bytes: usize, flags: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        if pointer.is_null() {
            return Err(ApiError::NullPointer { name: "pointer" });
        }
        if flags > 0xF {
            return Err(ApiError::argument(
                "flags",
                flags,
                "portable 1, device map 2, I/O memory 4, read-only 8",
            ));
        }
        let address = pointer.address();
        if bytes == 0 || address.checked_add(bytes as u64).is_none() {
            return Err(ApiError::argument(
                "bytes",
                bytes,
                "1 byte to the end of the address space",
            ));
        }
        if emulator.host.overlaps(address, bytes as u64) {
            return Err(ApiError::AlreadyRegistered { address, bytes: bytes as u64 });
        }
        // Later uses of the address are derived from this pointer.
        let _ = pointer.raw().expose_provenance();
        emulator.host.blocks.insert(
            address,
            Block {
                bytes,
                kind: BlockKind::Registered,
                context,
                flags,
                device: None,
                _storage: None,
            },
        );
        Ok(())
    })
}

pub(crate) fn unregister(pointer: HostPtr) -> Outcome {
    with(|emulator| {
        emulator.settle_current()?;
        remove(emulator, pointer, BlockKind::Registered)
    })
}

pub(crate) fn alloc_managed(address: Out<CUdeviceptr>, bytes: usize, flags: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        address.check("address")?;
        if !matches!(flags, 1 | 2) {
            return Err(ApiError::argument("flags", flags, "1 (global) or 2 (host)"));
        }
        if !mapping::SUPPORTED {
            return Err(ApiError::FeatureNotSupported {
                what: "managed memory on this operating system is".to_owned(),
                help: "use device memory and copies, which work everywhere",
            });
        }
        let found = allocate_at_page(emulator, context, bytes as u64)?;
        let Some(pages) = Mapping::at(found, bytes) else {
            emulator.release(found)?;
            return Err(ApiError::HostOutOfMemory { bytes: bytes as u64 });
        };
        let block = Block {
            bytes: pages.bytes(),
            kind: BlockKind::Managed,
            context,
            flags,
            device: Some(found),
            _storage: None,
        };
        emulator.host.blocks.insert(pages.address(), block);
        if let Some(allocation) = emulator.allocations.get_mut(&found) {
            allocation.managed = Some(pages);
        }
        address.set("address", found)
    })
}

/// Allocates device memory that starts at a page of the host.
///
/// The machine places allocations one behind the other in steps of 256 bytes, so a short-lived one that
/// fills the rest of a page makes the next one start at a page; whether it did is checked.
fn allocate_at_page(
    emulator: &mut Emulator,
    context: CUcontext,
    bytes: u64,
) -> Result<u64, ApiError> {
    const STEP: u64 = 256;
    let page = Mapping::page_bytes();
    let first = probe(emulator, context, STEP)?;
    let second = probe(emulator, context, STEP)?;
    let distance = second - first;
    let filler = STEP + (page - (second + 2 * distance) % page) % page;
    probe(emulator, context, filler)?;
    let address = emulator.allocate(context, bytes, None)?;
    if address.is_multiple_of(page) {
        return Ok(address);
    }
    emulator.release(address)?;
    Err(ApiError::FeatureNotSupported {
        what: "managed memory with this layout of device memory is".to_owned(),
        help: "use device memory and copies",
    })
}

/// Where an allocation of this size lands; it is given back.
fn probe(emulator: &mut Emulator, context: CUcontext, bytes: u64) -> Result<u64, ApiError> {
    let address = emulator.allocate(context, bytes, None)?;
    emulator.release(address)?;
    Ok(address)
}
