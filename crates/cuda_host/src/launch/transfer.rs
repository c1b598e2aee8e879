//! Host slices among a launch's arguments: device memory for each, the copies in and the copies back.

use std::sync::Arc;

use cuda_std::launch::{Arguments, HostData};

use crate::device::DeviceState;
use crate::error::Result;
use crate::memory::{Allocation, copy_in, copy_out};
use crate::stream::Stream;

/// The host slices of one launch, with their device memory.
pub(super) struct Transfers<'a> {
    state: Arc<DeviceState>,
    moved: Vec<(Allocation, HostData<'a>)>,
}

impl<'a> Transfers<'a> {
    /// Allocates memory for every host slice, copies what the kernel reads, and puts the addresses into `arguments`.
    pub(super) fn begin(state: &Arc<DeviceState>, arguments: &mut Arguments<'a>) -> Result<Self> {
        let kernel = arguments.kernel();
        let mut moved = Vec::new();
        for host in arguments.take_host() {
            let memory = Allocation::new(state, host.data.len(), || {
                let name = kernel.params.get(host.declared).map_or("?", |param| param.name);
                format!("argument `{name}` of kernel `{}`", kernel.name)
            })?;
            if let HostData::In(data) = &host.data {
                copy_in(state, memory.address(), data)?;
            }
            if let HostData::InOut(data) = &host.data {
                copy_in(state, memory.address(), data)?;
            }
            if memory.bytes() > 0 {
                arguments.set_address(host.packed, memory.address());
            }
            moved.push((memory, host.data));
        }
        Ok(Self { state: Arc::clone(state), moved })
    }

    /// Waits for the kernel if there is anything to wait for, then copies back.
    pub(super) fn finish(self, stream: Option<&Stream>) -> Result<()> {
        if self.moved.is_empty() {
            return Ok(());
        }
        match stream {
            Some(stream) => stream.synchronize()?,
            None => self.state.synchronize_default()?,
        }
        for (memory, data) in self.moved {
            match data {
                HostData::In(_) => {}
                HostData::Out(data) | HostData::InOut(data) => {
                    copy_out(&self.state, memory.address(), data)?;
                }
            }
        }
        Ok(())
    }
}
