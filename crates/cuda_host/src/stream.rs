//! [`Stream`]: work for a device, in order.

use std::sync::Arc;

use cust::stream::StreamFlags;

use crate::device::{Device, DeviceState};
use crate::error::{Error, Failure, Result};
use crate::event::Event;
use crate::sys::{self, CUstream};

/// A queue of launches on one device: they run in the order they were started, and may overlap with other streams.
///
/// Launches without a stream go to the device's default stream. These streams and the default stream wait for each
/// other (CUDA's "blocking" streams), so that copies between host and device, which this crate makes on the default
/// stream, always see the results of every launch before them.
///
/// # Example
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// let gpu = cuda_host::Device::open()?;
/// let stream = gpu.stream()?;
/// // launch!(kernel[grid, block, 0, &stream](…))?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stream {
    /// Dropped first: it needs its context.
    stream: cust::stream::Stream,
    state: Arc<DeviceState>,
}

impl Stream {
    /// A new stream on `device`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_priority(device, 0)
    }

    /// A new stream whose work goes before that of streams with a greater number. Numbers outside the device's range
    /// count as the nearest inside.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn with_priority(device: &Device, priority: i32) -> Result<Self> {
        let state = Arc::clone(&device.state);
        state.bind()?;
        let stream = cust::stream::Stream::new(StreamFlags::DEFAULT, Some(priority))
            .map_err(|error| Error::driver("create a stream", Failure::of_cust(error)))?;
        Ok(Self { stream, state })
    }

    /// Waits until everything that was started on this stream is done.
    ///
    /// # Errors
    /// If a kernel failed since the last synchronisation: the message says which and why.
    pub fn synchronize(&self) -> Result<()> {
        self.state.bind()?;
        // SAFETY: the stream lives as long as `self`.
        let code = unsafe { sys::cuStreamSynchronize(self.raw()) };
        self.state.after(code, || "wait for the stream".into())
    }

    /// Whether everything that was started on this stream is done.
    ///
    /// # Errors
    /// If a kernel failed since the last synchronisation.
    pub fn is_done(&self) -> Result<bool> {
        self.state.bind()?;
        // SAFETY: the stream lives as long as `self`.
        let code = unsafe { sys::cuStreamQuery(self.raw()) };
        crate::event::is_done(&self.state, code, "ask the stream")
    }

    /// Makes what is started on this stream from now on wait for `event`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.state.bind()?;
        // SAFETY: stream and event live as long as their borrows; the driver keeps what it needs of the event.
        let code = unsafe { sys::cuStreamWaitEvent(self.raw(), event.raw(), 0) };
        self.state.after(code, || "make the stream wait for an event".into())
    }

    /// A new event, recorded here: it happens once everything started on this stream so far is done.
    ///
    /// # Errors
    /// If the driver fails, or a kernel has failed.
    pub fn record_event(&self) -> Result<Event> {
        let event = Event::on(&self.state)?;
        event.record_on(self)?;
        Ok(event)
    }

    /// The device it belongs to.
    pub fn device(&self) -> Device {
        Device { state: Arc::clone(&self.state) }
    }

    /// The stream of `cust` below.
    pub fn as_cust(&self) -> &cust::stream::Stream {
        &self.stream
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.stream.as_inner()
    }

    pub(crate) fn state(&self) -> &Arc<DeviceState> {
        &self.state
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // `cust` destroys the stream after this, for which its context should be current. An error has no one left to
        // hear it.
        let _ = self.state.bind();
    }
}
