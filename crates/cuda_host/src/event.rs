//! [`Event`]: a point in a stream, to wait for and to measure time with.

use std::ptr;
use std::sync::Arc;

use crate::device::{Device, DeviceState};
use crate::error::{Result, check};
use crate::stream::Stream;
use crate::sys::{self, CUevent, Code};

/// `CUDA_ERROR_NOT_READY`
const NOT_READY: Code = 600;

/// A point in a stream: it happens once everything started there before it is done.
///
/// # Example: how long a launch takes
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// let gpu = cuda_host::Device::open()?;
/// let start = gpu.record_event()?;
/// // launch!(kernel[grid, block](…))?;
/// let end = gpu.record_event()?;
/// println!("{} ms", start.elapsed_ms(&end)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    event: CUevent,
    state: Arc<DeviceState>,
}

// SAFETY: a `CUevent` is a handle that the driver accepts on every thread (CUDA Driver API, "thread safety"); every
// call below makes its context current first.
unsafe impl Send for Event {}
// SAFETY: as above; the driver synchronises concurrent calls on one event.
unsafe impl Sync for Event {}

impl Event {
    /// A new event on `device`, not yet recorded.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device) -> Result<Self> {
        Self::on(&device.state)
    }

    pub(crate) fn on(state: &Arc<DeviceState>) -> Result<Self> {
        state.bind()?;
        let mut event = ptr::null_mut();
        // SAFETY: `event` outlives the call; flags 0 are the default: with timing.
        let code = unsafe { sys::cuEventCreate(&mut event, 0) };
        state.after(code, || "create an event".into())?;
        Ok(Self { event, state: Arc::clone(state) })
    }

    /// Places the event at this point of the default stream; an earlier place is forgotten.
    ///
    /// # Errors
    /// If the driver fails, or a kernel has failed.
    pub fn record(&self) -> Result<()> {
        self.record_raw(ptr::null_mut())
    }

    /// Places the event at this point of `stream`; an earlier place is forgotten.
    ///
    /// # Errors
    /// If the stream is on another device, the driver fails, or a kernel has failed.
    pub fn record_on(&self, stream: &Stream) -> Result<()> {
        self.record_raw(stream.raw())
    }

    fn record_raw(&self, stream: sys::CUstream) -> Result<()> {
        self.state.bind()?;
        // SAFETY: the event lives as long as `self`; the stream is null (the default) or borrowed by the caller.
        let code = unsafe { sys::cuEventRecord(self.event, stream) };
        self.state.after(code, || "record an event".into())
    }

    /// Waits until the event has happened; at once if it was never recorded.
    ///
    /// # Errors
    /// If a kernel failed before it.
    pub fn synchronize(&self) -> Result<()> {
        self.state.bind()?;
        // SAFETY: the event lives as long as `self`.
        let code = unsafe { sys::cuEventSynchronize(self.event) };
        self.state.after(code, || "wait for an event".into())
    }

    /// Whether the event has happened; true if it was never recorded.
    ///
    /// # Errors
    /// If a kernel failed before it.
    pub fn is_done(&self) -> Result<bool> {
        self.state.bind()?;
        // SAFETY: the event lives as long as `self`.
        let code = unsafe { sys::cuEventQuery(self.event) };
        is_done(&self.state, code, "ask an event")
    }

    /// Milliseconds from this event to `later`, for which it waits. The GPU's clock counts in steps of about 0.5 µs.
    ///
    /// # Errors
    /// If either was never recorded, the two are on different devices, or a kernel failed before `later`.
    pub fn elapsed_ms(&self, later: &Event) -> Result<f32> {
        later.synchronize()?;
        let mut milliseconds = 0.0;
        // SAFETY: both events live as long as their borrows, `milliseconds` outlives the call.
        let code = unsafe { sys::cuEventElapsedTime(&mut milliseconds, self.event, later.event) };
        self.state.after(code, || "measure the time between two events".into())?;
        Ok(milliseconds)
    }

    pub(crate) fn raw(&self) -> CUevent {
        self.event
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.state.bind().is_ok() {
            // SAFETY: created by `on`, destroyed here only. An error has no one left to hear it.
            let _ = check(unsafe { sys::cuEventDestroy_v2(self.event) });
        }
    }
}

/// What a query's result means.
pub(crate) fn is_done(state: &DeviceState, code: Code, what: &str) -> Result<bool> {
    if code == NOT_READY {
        return Ok(false);
    }
    state.after(code, || what.into()).map(|()| true)
}
