//! Fills of device memory with 8-, 16- and 32-bit values.

use super::copy::queued;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// Fills `rows` rows of `width` values, `pitch` bytes apart.
fn fill(
    emulator: &mut Emulator,
    address: u64,
    pitch: usize,
    pattern: &[u8],
    width: usize,
    rows: usize,
) -> Outcome {
    let size = pattern.len() as u64;
    if !address.is_multiple_of(size) {
        return Err(ApiError::argument(
            "dst_device",
            format_args!("{address:#x}"),
            format_args!("a multiple of {size} bytes, the size of the value"),
        ));
    }
    if width == 0 || rows == 0 {
        return Ok(());
    }
    let (pitch, width) = (pitch as u64, width as u64);
    let row_bytes = width.checked_mul(size);
    if rows > 1 && (row_bytes.is_none_or(|bytes| bytes > pitch) || !pitch.is_multiple_of(size)) {
        return Err(ApiError::argument(
            "dst_pitch",
            format_args!("{pitch} bytes"),
            format_args!("a multiple of {size} and at least the {width} values of a row"),
        ));
    }
    // The whole extent is checked before the first row changes: filling nothing past the end.
    let extent =
        (rows as u64 - 1).checked_mul(pitch).and_then(|bytes| bytes.checked_add(row_bytes?));
    let fits = emulator.device_range(address).is_some_and(|(base, bytes)| {
        extent.is_some_and(|extent| extent <= bytes - (address - base))
    });
    if rows == 1 || !fits {
        // The machine words what is wrong where it does not fit.
        let count = extent.map_or(u64::MAX, |extent| extent.div_ceil(size));
        let count = if rows == 1 { width } else { count };
        return emulator.device_fill(address, pattern, count);
    }
    for row in 0..rows as u64 {
        emulator.device_fill(address + row * pitch, pattern, width)?;
    }
    Ok(())
}

/// A fill through the default stream. The host need not wait for it, so it reports no fault.
fn now(body: impl FnOnce(&mut Emulator) -> Outcome) -> Outcome {
    with(|emulator| {
        let context = emulator.current()?;
        if emulator.may_queue(context)? { body(emulator) } else { Ok(()) }
    })
}

macro_rules! fills {
    ($($type:ty: $one:ident $one_async:ident $two:ident $two_async:ident;)*) => {$(
        pub(crate) fn $one(address: CUdeviceptr, value: $type, count: usize) -> Outcome {
            now(|emulator| fill(emulator, address, 0, &value.to_ne_bytes(), count, 1))
        }

        pub(crate) fn $one_async(address: CUdeviceptr, value: $type, count: usize, stream: CUstream) -> Outcome {
            queued(stream, move |emulator| fill(emulator, address, 0, &value.to_ne_bytes(), count, 1))
        }

        pub(crate) fn $two(address: CUdeviceptr, pitch: usize, value: $type, width: usize, height: usize) -> Outcome {
            now(|emulator| fill(emulator, address, pitch, &value.to_ne_bytes(), width, height))
        }

        pub(crate) fn $two_async(
            address: CUdeviceptr,
            pitch: usize,
            value: $type,
            width: usize,
            height: usize,
            stream: CUstream,
        ) -> Outcome {
            queued(stream, move |emulator| fill(emulator, address, pitch, &value.to_ne_bytes(), width, height))
        }
    )*};
}

fills! {
    u8: d8 d8_async d2d8 d2d8_async;
    u16: d16 d16_async d2d16 d2d16_async;
    u32: d32 d32_async d2d32 d2d32_async;
}
