//! Bytes on a device, and the copies in and out.

use std::sync::Arc;

use crate::device::DeviceState;
use crate::error::{Problem, Result, check};
use crate::sys;

/// `CUDA_ERROR_OUT_OF_MEMORY`
const OUT_OF_MEMORY: sys::Code = 2;

/// Memory that one value owns. No bytes take no memory: the driver knows no empty allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    address: u64,
    bytes: usize,
    state: Arc<DeviceState>,
}

impl Allocation {
    /// `bytes` of arbitrary contents.
    pub(crate) fn new(
        state: &Arc<DeviceState>,
        bytes: usize,
        what: impl FnOnce() -> String,
    ) -> Result<Self> {
        let mut address = 0;
        if bytes > 0 {
            state.bind()?;
            // SAFETY: `address` outlives the call.
            let code = unsafe { sys::cuMemAlloc_v2(&mut address, bytes) };
            if code == OUT_OF_MEMORY {
                // Said in bytes here; the driver's own words, if any, would otherwise wait for the next failure.
                let _ = check(code);
                let (free, total) = state.memory_info()?;
                let (bytes, free, total) = (bytes as u64, free as u64, total as u64);
                return Err(Problem::OutOfMemory { what: what(), bytes, free, total }.into());
            }
            state.after(code, || format!("allocate {}", crate::error::size(bytes as u64)))?;
        }
        Ok(Self { address, bytes, state: Arc::clone(state) })
    }

    /// Memory that something else allocated with `cuMemAlloc` and gives away.
    pub(crate) fn from_raw(state: &Arc<DeviceState>, address: u64, bytes: usize) -> Self {
        Self { address, bytes, state: Arc::clone(state) }
    }

    /// Gives the memory away: the address, 0 for no bytes.
    pub(crate) fn into_raw(mut self) -> u64 {
        // `drop` frees nothing at address 0.
        std::mem::take(&mut self.address)
    }

    /// Where it lies; 0 for no bytes.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn state(&self) -> &Arc<DeviceState> {
        &self.state
    }

    /// Sets every byte to 0.
    pub(crate) fn zero(&mut self) -> Result<()> {
        zero(&self.state, self.address, self.bytes)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.address != 0 && self.state.bind().is_ok() {
            // After a kernel's fault the driver frees nothing any more; the context's end does.
            // SAFETY: `self` owns the memory; launches that use it are done before the driver frees it (CUDA C++
            // Programming Guide, implicit synchronisation).
            let _ = check(unsafe { sys::cuMemFree_v2(self.address) });
        }
    }
}

/// Copies host bytes to `address`, after everything started before.
pub(crate) fn copy_in(state: &DeviceState, address: u64, host: &[u8]) -> Result<()> {
    if host.is_empty() {
        return Ok(());
    }
    state.bind()?;
    // SAFETY: `host` is readable for its length, and the call returns when it has been read.
    let code = unsafe { sys::cuMemcpyHtoD_v2(address, host.as_ptr().cast(), host.len()) };
    state.after(code, || format!("copy {} to the device", crate::error::size(host.len() as u64)))
}

/// Copies bytes at `address` to the host, after everything started before.
pub(crate) fn copy_out(state: &DeviceState, address: u64, host: &mut [u8]) -> Result<()> {
    if host.is_empty() {
        return Ok(());
    }
    state.bind()?;
    // SAFETY: `host` is writable for its length, and the call returns when it has been written.
    let code = unsafe { sys::cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, host.len()) };
    state.after(code, || format!("copy {} from the device", crate::error::size(host.len() as u64)))
}

/// Copies between two places on the device, after everything started before.
pub(crate) fn copy_within(
    state: &DeviceState,
    target: u64,
    source: u64,
    bytes: usize,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    state.bind()?;
    // SAFETY: takes device addresses only, which the driver checks.
    let code = unsafe { sys::cuMemcpyDtoD_v2(target, source, bytes) };
    state.after(code, || format!("copy {} on the device", crate::error::size(bytes as u64)))
}

/// Sets bytes at `address` to 0, after everything started before.
pub(crate) fn zero(state: &DeviceState, address: u64, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    state.bind()?;
    // SAFETY: takes a device address only, which the driver checks.
    let code = unsafe { sys::cuMemsetD8_v2(address, 0, bytes) };
    state.after(code, || format!("set {} on the device to 0", crate::error::size(bytes as u64)))
}
