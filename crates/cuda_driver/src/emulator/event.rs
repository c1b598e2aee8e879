//! Events: points in time. What was queued before has happened when an event is recorded, so its time is
//! the host's clock at that moment; differences are what the emulation took, not what a GPU would take.

use std::ffi::c_uint;
use std::time::Instant;

use super::graph::Capture;
use super::with;
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUevent_flags`.
const DISABLE_TIMING: c_uint = 2;
const INTERPROCESS: c_uint = 4;

/// An event.
pub(crate) struct Event {
    pub context: CUcontext,
    flags: c_uint,
    recorded: Option<Instant>,
    /// The capture that it was last recorded in, until that ends.
    pub capture: Option<Capture>,
}

impl Event {
    /// When it happened, for an event that keeps the time.
    fn time(&self) -> Option<Instant> {
        self.recorded.filter(|_| self.flags & DISABLE_TIMING == 0)
    }
}

pub(crate) fn create(event: Out<CUevent>, flags: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        event.check("event")?;
        if flags > 7 {
            return Err(ApiError::argument(
                "flags",
                flags,
                "blocking 1, without timing 2, interprocess 4",
            ));
        }
        if flags & INTERPROCESS != 0 {
            return Err(ApiError::NotSupported {
                name: "cuEventCreate",
                what: "interprocess events",
            });
        }
        let handle =
            emulator.events.insert(Event { context, flags, recorded: None, capture: None });
        event.set("event", handle)
    })
}

pub(crate) fn record(event: CUevent, stream: CUstream) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        let queued = emulator.may_queue(context)?;
        let capture = emulator.streams.get(stream).ok().and_then(|found| found.capture.clone());
        let found = emulator.events.get_mut(event)?;
        if found.context != context {
            return Err(ApiError::ForeignHandle { kind: "event", value: event.0 });
        }
        found.capture = capture;
        if queued && found.capture.is_none() {
            found.recorded = Some(Instant::now());
        }
        Ok(())
    })
}

pub(crate) fn record_with_flags(event: CUevent, stream: CUstream, flags: c_uint) -> Outcome {
    if flags > 1 {
        return Err(ApiError::argument("flags", flags, "0 or 1 (external)"));
    }
    record(event, stream)
}

pub(crate) fn query(event: CUevent) -> Outcome {
    synchronize(event)
}

pub(crate) fn synchronize(event: CUevent) -> Outcome {
    with(|emulator| {
        let context = emulator.events.get(event)?.context;
        emulator.settle(context)
    })
}

pub(crate) fn destroy(event: CUevent) -> Outcome {
    with(|emulator| emulator.events.remove(event).map(drop))
}

pub(crate) fn elapsed_time(milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Outcome {
    with(|emulator| {
        milliseconds.check("milliseconds")?;
        let context = emulator.events.get(start)?.context;
        emulator.settle(context)?;
        let first = emulator.events.get(start)?.time().ok_or(ApiError::EventNotTimed(start.0))?;
        let second = emulator.events.get(end)?.time().ok_or(ApiError::EventNotTimed(end.0))?;
        let elapsed = match second.checked_duration_since(first) {
            Some(elapsed) => elapsed.as_secs_f64(),
            None => -first.duration_since(second).as_secs_f64(),
        };
        milliseconds.set("milliseconds", (elapsed * 1e3) as f32)
    })
}
