//! Copies between host and device, in one, two and three dimensions.
//!
//! An asynchronous copy is done at once, which is one of the orders that a stream allows. Every range
//! is checked against the allocations before the first byte moves, so a refused copy changes nothing.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::graph::Node;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUmemorytype`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const ARRAY: c_uint = 3;
const UNIFIED: c_uint = 4;

/// Where one side of a copy lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    Host(HostPtr),
    Device(u64),
}

impl Place {
    fn offset(self, bytes: u64) -> Result<Place, ApiError> {
        Ok(match self {
            Place::Host(pointer) => Place::Host(pointer.offset(bytes as usize)),
            Place::Device(address) => {
                Place::Device(address.checked_add(bytes).ok_or_else(too_large)?)
            }
        })
    }
}

fn too_large() -> ApiError {
    ApiError::argument("copy", "offsets past 2^64", "offsets within the address space")
}

impl Emulator {
    /// Whether an address is the device's, live or not; other addresses are the host's.
    fn place_of(&self, address: u64) -> Place {
        // A freed address is the device's too, so that its use is an error and not a host access.
        let in_device = self.device_range(address).is_some() || self.device_span.contains(&address);
        // Managed and mapped memory: either copy will do, and the device's keeps both equal.
        if in_device { Place::Device(address) } else { Place::Host(HostPtr::at(address)) }
    }

    fn check_side(&self, side: Place, name: &'static str, bytes: u64) -> Outcome {
        let Place::Device(address) = side else {
            let Place::Host(pointer) = side else { return Ok(()) };
            // The length fits the host: 64-bit.
            return pointer.read(name, bytes as usize).map(drop);
        };
        match self.device_range(address) {
            Some((base, size)) if address - base <= size && bytes <= size - (address - base) => {
                Ok(())
            }
            // The machine words what is wrong with the range.
            _ => match self.machine.memory().read(address, &mut vec![0; bytes.min(1) as usize]) {
                Err(error) => {
                    Err(ApiError::Memory { action: format!("a copy of {bytes} bytes"), error })
                }
                Ok(()) => {
                    let (base, size) = self.device_range(address).unwrap_or((address, 0));
                    Err(ApiError::CopyRange { bytes, address, size, base })
                }
            },
        }
    }

    fn move_bytes(&mut self, to: Place, from: Place, bytes: usize) -> Outcome {
        match (to, from) {
            (Place::Device(to), Place::Device(from)) => self.device_copy(to, from, bytes as u64),
            (Place::Device(to), Place::Host(from)) => {
                self.device_write(to, from.read("source", bytes)?)
            }
            (Place::Host(to), Place::Device(from)) => {
                self.device_read(from, to.write("destination", bytes)?)
            }
            (Place::Host(to), Place::Host(from)) => {
                // The ranges may overlap, so the source is taken whole first.
                let source = from.read("source", bytes)?.to_vec();
                to.write("destination", bytes)?.copy_from_slice(&source);
                Ok(())
            }
        }
    }

    fn copy_checked(&mut self, to: Place, from: Place, bytes: usize) -> Outcome {
        if bytes == 0 {
            return Ok(());
        }
        self.check_side(to, "destination", bytes as u64)?;
        self.check_side(from, "source", bytes as u64)?;
        self.move_bytes(to, from, bytes)
    }
}

/// A copy that waits for what was queued before, and reports its fault.
fn blocking(body: impl FnOnce(&mut Emulator) -> Outcome) -> Outcome {
    with(|emulator| {
        emulator.settle_current()?;
        body(emulator)
    })
}

/// A copy in a stream; dropped silently when a fault is waiting to be reported, kept for the graph that the
/// stream captures.
pub(super) fn queued(
    stream: CUstream,
    body: impl Fn(&mut Emulator) -> Outcome + 'static,
) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        let may_queue = emulator.may_queue(context)?;
        if emulator.capture_of(stream).is_some() {
            return emulator.capture(stream, Node::Device(Arc::new(body)));
        }
        if may_queue { body(emulator) } else { Ok(()) }
    })
}

pub(crate) fn host_to_device(to: CUdeviceptr, from: HostPtr, bytes: usize) -> Outcome {
    blocking(|emulator| emulator.copy_checked(Place::Device(to), Place::Host(from), bytes))
}

pub(crate) fn host_to_device_async(
    to: CUdeviceptr,
    from: HostPtr,
    bytes: usize,
    stream: CUstream,
) -> Outcome {
    queued(stream, move |emulator| {
        emulator.copy_checked(Place::Device(to), Place::Host(from), bytes)
    })
}

pub(crate) fn device_to_host(to: HostPtr, from: CUdeviceptr, bytes: usize) -> Outcome {
    blocking(|emulator| emulator.copy_checked(Place::Host(to), Place::Device(from), bytes))
}

pub(crate) fn device_to_host_async(
    to: HostPtr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Outcome {
    queued(stream, move |emulator| {
        emulator.copy_checked(Place::Host(to), Place::Device(from), bytes)
    })
}

pub(crate) fn device_to_device(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Outcome {
    blocking(|emulator| emulator.copy_checked(Place::Device(to), Place::Device(from), bytes))
}

pub(crate) fn device_to_device_async(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Outcome {
    queued(stream, move |emulator| {
        emulator.copy_checked(Place::Device(to), Place::Device(from), bytes)
    })
}

pub(crate) fn unified(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Outcome {
    blocking(|emulator| {
        let (to, from) = (emulator.place_of(to), emulator.place_of(from));
        emulator.copy_checked(to, from, bytes)
    })
}

pub(crate) fn unified_async(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Outcome {
    queued(stream, move |emulator| {
        let (to, from) = (emulator.place_of(to), emulator.place_of(from));
        emulator.copy_checked(to, from, bytes)
    })
}

pub(crate) fn peer(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
) -> Outcome {
    blocking(|emulator| {
        emulator.context(to_context)?;
        emulator.context(from_context)?;
        emulator.copy_checked(Place::Device(to), Place::Device(from), bytes)
    })
}

pub(crate) fn peer_async(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
    stream: CUstream,
) -> Outcome {
    queued(stream, move |emulator| {
        emulator.context(to_context)?;
        emulator.context(from_context)?;
        emulator.copy_checked(Place::Device(to), Place::Device(from), bytes)
    })
}

/// One side of a copy of rows and slices.
struct Side {
    base: Place,
    /// Bytes from row to row.
    pitch: u64,
    /// Bytes from slice to slice.
    slice: u64,
}

impl Side {
    #[allow(clippy::too_many_arguments)]
    fn new(
        emulator: &Emulator,
        name: &'static str,
        memory_type: c_uint,
        host: *mut c_void,
        device: CUdeviceptr,
        [x, y, z]: [usize; 3],
        pitch: usize,
        height: usize,
        [width, rows, slices]: [usize; 3],
    ) -> Result<Side, ApiError> {
        let base = match memory_type {
            HOST => Place::Host(HostPtr::from_raw(host)),
            DEVICE => Place::Device(device),
            UNIFIED => emulator.place_of(device),
            ARRAY => {
                return Err(ApiError::FeatureNotSupported {
                    what: "copies of arrays are".to_owned(),
                    help: "use device memory",
                });
            }
            other => {
                return Err(ApiError::argument(
                    name,
                    format_args!("memory type {other}"),
                    "1 to 4",
                ));
            }
        };
        // A pitch of 0 means rows without a gap (one row, or the copy's width).
        let pitch = if pitch == 0 { width } else { pitch };
        let height = if height == 0 { rows } else { height };
        if (rows > 1 || slices > 1) && x.saturating_add(width) > pitch {
            return Err(ApiError::argument(
                name,
                format_args!("rows of {pitch} bytes (pitch)"),
                format_args!("at least {} bytes, what is copied of a row", x.saturating_add(width)),
            ));
        }
        if slices > 1 && y.saturating_add(rows) > height {
            return Err(ApiError::argument(
                name,
                format_args!("slices of {height} rows"),
                format_args!("at least {} rows, what is copied of a slice", y.saturating_add(rows)),
            ));
        }
        let (pitch, x, y, z) = (pitch as u64, x as u64, y as u64, z as u64);
        let slice = pitch.checked_mul(height as u64).ok_or_else(too_large)?;
        let start = z
            .checked_mul(slice)
            .and_then(|bytes| bytes.checked_add(y.checked_mul(pitch)?))
            .and_then(|bytes| bytes.checked_add(x))
            .ok_or_else(too_large)?;
        Ok(Side { base: base.offset(start)?, pitch, slice })
    }

    /// Bytes from the first one of the copy to past the last.
    fn extent(&self, [width, rows, slices]: [usize; 3]) -> Result<u64, ApiError> {
        let (width, rows, slices) = (width as u64, rows as u64, slices as u64);
        (slices - 1)
            .checked_mul(self.slice)
            .and_then(|bytes| bytes.checked_add((rows - 1).checked_mul(self.pitch)?))
            .and_then(|bytes| bytes.checked_add(width))
            .ok_or_else(too_large)
    }
}

fn copy_rows(emulator: &mut Emulator, to: &Side, from: &Side, extent: [usize; 3]) -> Outcome {
    let [width, rows, slices] = extent;
    emulator.check_side(to.base, "destination", to.extent(extent)?)?;
    emulator.check_side(from.base, "source", from.extent(extent)?)?;
    for slice in 0..slices as u64 {
        for row in 0..rows as u64 {
            // The extents were computed above without overflow, and these offsets lie within.
            let to = to.base.offset(slice * to.slice + row * to.pitch)?;
            let from = from.base.offset(slice * from.slice + row * from.pitch)?;
            emulator.move_bytes(to, from, width)?;
        }
    }
    Ok(())
}

fn two_dimensions(emulator: &mut Emulator, copy: Memcpy2D) -> Outcome {
    let extent = [copy.width_in_bytes, copy.height, 1];
    let side = |emulator: &Emulator, side: &CopySide2D, name| {
        let start = [side.x_in_bytes, side.y, 0];
        Side::new(
            emulator,
            name,
            side.memory_type,
            side.host,
            side.device,
            start,
            side.pitch,
            0,
            extent,
        )
    };
    let (to, from) =
        (side(emulator, &copy.dst, "copy.dst")?, side(emulator, &copy.src, "copy.src")?);
    if extent.contains(&0) {
        return Ok(());
    }
    copy_rows(emulator, &to, &from, extent)
}

fn three_dimensions(emulator: &mut Emulator, copy: Memcpy3D) -> Outcome {
    let extent = [copy.width_in_bytes, copy.height, copy.depth];
    let side = |emulator: &Emulator, side: &CopySide3D, name| {
        if side.lod != 0 {
            return Err(ApiError::argument(name, format_args!("level of detail {}", side.lod), 0));
        }
        let start = [side.x_in_bytes, side.y, side.z];
        Side::new(
            emulator,
            name,
            side.memory_type,
            side.host,
            side.device,
            start,
            side.pitch,
            side.height,
            extent,
        )
    };
    let (to, from) =
        (side(emulator, &copy.dst, "copy.dst")?, side(emulator, &copy.src, "copy.src")?);
    if extent.contains(&0) {
        return Ok(());
    }
    copy_rows(emulator, &to, &from, extent)
}

pub(crate) fn copy_2d(copy: In<Memcpy2D>) -> Outcome {
    blocking(|emulator| two_dimensions(emulator, copy.read("copy")?))
}

pub(crate) fn copy_2d_async(copy: In<Memcpy2D>, stream: CUstream) -> Outcome {
    let copy = copy.read("copy")?;
    queued(stream, move |emulator| two_dimensions(emulator, copy))
}

pub(crate) fn copy_3d(copy: In<Memcpy3D>) -> Outcome {
    blocking(|emulator| three_dimensions(emulator, copy.read("copy")?))
}

pub(crate) fn copy_3d_async(copy: In<Memcpy3D>, stream: CUstream) -> Outcome {
    let copy = copy.read("copy")?;
    queued(stream, move |emulator| three_dimensions(emulator, copy))
}
