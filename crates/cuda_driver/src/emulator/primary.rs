//! The device's primary context: one for the process, counted by those who retain it.

use std::ffi::{c_int, c_uint};

use super::context::{LIMITS, check_flags};
use super::device::check_device;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// The device's primary context.
#[derive(Default)]
pub(crate) struct Primary {
    handle: Option<CUcontext>,
    retained: u32,
    flags: c_uint,
}

pub(crate) fn retain(context: Out<CUcontext>, device: CUdevice) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        context.check("context")?;
        let handle = match emulator.primary.handle {
            Some(handle) => handle,
            None => emulator.insert_context(emulator.primary.flags, true),
        };
        emulator.primary.handle = Some(handle);
        let primary = emulator.contexts.get_mut(handle)?;
        // Neither release nor reset mends a fault: an H200 answers its code from then on.
        primary.check()?;
        primary.active = true;
        emulator.primary.retained += 1;
        context.set("context", handle)
    })
}

pub(crate) fn release(device: CUdevice) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        let Some(handle) = emulator.primary.handle.filter(|_| emulator.primary.retained > 0) else {
            return Err(ApiError::NoContext);
        };
        emulator.primary.retained -= 1;
        if emulator.primary.retained == 0 {
            deactivate(emulator, handle);
        }
        Ok(())
    })
}

pub(crate) fn reset(device: CUdevice) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        if let Some(handle) = emulator.primary.handle {
            deactivate(emulator, handle);
            // Those who retained it may go on with the emptied context.
            let retained = emulator.primary.retained > 0;
            emulator.contexts.get_mut(handle)?.active = retained;
        }
        Ok(())
    })
}

fn deactivate(emulator: &mut Emulator, handle: CUcontext) {
    let flags = emulator.primary.flags;
    if let Ok(context) = emulator.contexts.get_mut(handle) {
        // An unreported fault is not lost either.
        let _ = context.settle();
        context.limits = LIMITS;
        context.flags = flags;
        context.active = false;
    }
    emulator.empty_context(handle);
}

pub(crate) fn set_flags(device: CUdevice, flags: c_uint) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        check_flags(flags)?;
        emulator.primary.flags = flags;
        if let Some(handle) = emulator.primary.handle {
            emulator.contexts.get_mut(handle)?.flags = flags;
        }
        Ok(())
    })
}

pub(crate) fn state(device: CUdevice, flags: Out<c_uint>, active: Out<c_int>) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        flags.check("flags")?;
        active.check("active")?;
        flags.set("flags", emulator.primary.flags)?;
        active.set("active", c_int::from(emulator.primary.retained > 0))
    })
}
