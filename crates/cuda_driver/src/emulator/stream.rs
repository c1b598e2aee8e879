//! Streams. Work is done at once, so a stream is a handle with flags; what is queued has happened.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU64, Ordering};

use super::context::PRIORITIES;
use super::graph::Capture;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`, the default streams by name; null is the first of them.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// A created stream.
pub(crate) struct Stream {
    pub context: CUcontext,
    flags: c_uint,
    priority: c_int,
    number: u64,
    /// The capture that takes its work.
    pub capture: Option<Capture>,
}

/// Stream numbers; the default streams have 0 to 2.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(3);

fn is_default(stream: CUstream) -> bool {
    matches!(stream.0, 0 | LEGACY | PER_THREAD)
}

impl Emulator {
    /// The context whose work a stream takes: its own, or the calling thread's for a default stream.
    pub(crate) fn stream_context(&mut self, stream: CUstream) -> Result<CUcontext, ApiError> {
        let current = self.current()?;
        if is_default(stream) {
            return Ok(current);
        }
        let context = self.streams.get(stream)?.context;
        self.context(context)?;
        Ok(context)
    }
}

pub(crate) fn create(stream: Out<CUstream>, flags: c_uint) -> Outcome {
    create_with_priority(stream, flags, 0)
}

pub(crate) fn create_with_priority(
    stream: Out<CUstream>,
    flags: c_uint,
    priority: c_int,
) -> Outcome {
    with(|emulator| {
        let context = emulator.ready()?;
        stream.check("stream")?;
        if flags > 1 {
            return Err(ApiError::argument("flags", flags, "0 or 1 (non-blocking)"));
        }
        let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let handle =
            emulator.streams.insert(Stream { context, flags, priority, number, capture: None });
        stream.set("stream", handle)
    })
}

pub(crate) fn destroy(stream: CUstream) -> Outcome {
    with(|emulator| {
        emulator.current()?;
        emulator.streams.remove(stream).map(drop)
    })
}

/// Looks at a stream; the default streams have no flags and the least priority.
fn look<T>(stream: CUstream, default: T, found: impl FnOnce(&Stream) -> T) -> Result<T, ApiError> {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        if is_default(stream) { Ok(default) } else { Ok(found(emulator.streams.get(stream)?)) }
    })
}

pub(crate) fn priority(stream: CUstream, priority: Out<c_int>) -> Outcome {
    priority.set("priority", look(stream, PRIORITIES.0, |found| found.priority)?)
}

pub(crate) fn flags(stream: CUstream, flags: Out<c_uint>) -> Outcome {
    flags.set("flags", look(stream, 0, |found| found.flags)?)
}

pub(crate) fn id(stream: CUstream, id: Out<u64>) -> Outcome {
    id.set("stream_id", look(stream, stream.0 as u64, |found| found.number)?)
}

pub(crate) fn context(stream: CUstream, context: Out<CUcontext>) -> Outcome {
    with(|emulator| {
        let found = emulator.stream_context(stream)?;
        context.set("context", found)
    })
}

pub(crate) fn context_v2(stream: CUstream, target: Out<CUcontext>, green: HostPtr) -> Outcome {
    context(stream, target)?;
    if !green.is_null() {
        green.out::<usize>().set("green_ctx", 0)?;
    }
    Ok(())
}

pub(crate) fn device(stream: CUstream, device: Out<CUdevice>) -> Outcome {
    with(|emulator| {
        emulator.stream_context(stream)?;
        device.set("device", 0)
    })
}

pub(crate) fn wait_event(stream: CUstream, event: CUevent, flags: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        let capture = emulator.events.get(event)?.capture.clone();
        if flags > 1 {
            return Err(ApiError::argument("flags", flags, "0 or 1 (external)"));
        }
        match capture {
            Some(capture) if !is_default(stream) => emulator.join_capture(stream, capture),
            _ => Ok(()),
        }
    })
}

pub(crate) fn add_callback(
    stream: CUstream,
    callback: CUstreamCallback,
    user_data: HostPtr,
    flags: c_uint,
) -> Outcome {
    let Some(callback) = callback else { return Err(ApiError::NullPointer { name: "callback" }) };
    if flags != 0 {
        return Err(ApiError::argument("flags", flags, 0));
    }
    let status = with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.refuse_capture(stream, "adding a callback")?;
        emulator.may_queue(context)?;
        let context = emulator.context(context)?;
        context.flush();
        // The callback of a failed stream is told the failure.
        Ok(context.waiting_result())
    })?;
    // SAFETY: the caller vouches for the function and its data; the lock is not held, so it may call back.
    unsafe { callback(stream, status.0, user_data.raw()) };
    Ok(())
}

pub(crate) fn query(stream: CUstream) -> Outcome {
    synchronize(stream)
}

pub(crate) fn synchronize(stream: CUstream) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.refuse_capture(stream, "waiting")?;
        emulator.settle(context)
    })
}

pub(crate) fn attach_memory(
    stream: CUstream,
    address: CUdeviceptr,
    _length: usize,
    flags: c_uint,
) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        if !matches!(flags, 1 | 2 | 4) {
            return Err(ApiError::argument(
                "flags",
                flags,
                "1 (global), 2 (host) or 4 (single stream)",
            ));
        }
        match emulator.allocation_at(address) {
            Some((_, found)) if found.managed.is_some() => Ok(()),
            _ => Err(ApiError::argument("address", format_args!("{address:#x}"), "managed memory")),
        }
    })
}

pub(crate) fn copy_attributes(destination: CUstream, source: CUstream) -> Outcome {
    with(|emulator| {
        emulator.stream_context(destination)?;
        emulator.stream_context(source).map(drop)
    })
}
