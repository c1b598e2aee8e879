//! Moving data between rows of registers and bytes of memory, once addresses are known to be good.

use super::warp::{Frame, Warp};
use crate::op::{Element, MemoryOp, NONE};
use crate::row::{FULL, LANES, Row32, Row64, lanes, mask_of, write32, write64};

/// How the addresses of a warp lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All active lanes use the same.
    Uniform,
    /// All 32 lanes are active and follow each other without gaps.
    Contiguous,
    General,
}

/// The lanes that take part in an access, and their addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) addresses: &'a Row64,
    pub(super) mask: u32,
    pub(super) pattern: Pattern,
}

impl Lanes<'_> {
    /// The lowest lane's address.
    fn first(&self) -> u64 {
        self.addresses[(self.mask.trailing_zeros() & 31) as usize]
    }
}

/// Classifies the addresses of the lanes of `mask`, each accessing `bytes` bytes.
#[inline]
pub(super) fn pattern(addresses: &Row64, mask: u32, bytes: u32) -> Pattern {
    let first = addresses[(mask.trailing_zeros() & 31) as usize];
    if mask == FULL {
        let (mut differs, mut gaps) = (0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            differs |= address ^ first;
            gaps |= address ^ first.wrapping_add(lane as u64 * u64::from(bytes));
        }
        return match (differs, gaps) {
            (0, _) => Pattern::Uniform,
            (_, 0) => Pattern::Contiguous,
            _ => Pattern::General,
        };
    }
    if lanes(mask).all(|lane| addresses[lane] == first) {
        Pattern::Uniform
    } else {
        Pattern::General
    }
}

/// The lanes whose whole access lies within `length` bytes at `base`.
#[inline]
pub(super) fn fitting(active: Lanes<'_>, bytes: u32, base: u64, length: u64) -> u32 {
    let Lanes { addresses, mask, pattern } = active;
    let Some(limit) = length.checked_sub(u64::from(bytes)) else {
        return 0;
    };
    let fits = |lane: usize| addresses[lane].wrapping_sub(base) <= limit;
    match pattern {
        Pattern::Uniform => {
            if fits((mask.trailing_zeros() & 31) as usize) {
                mask
            } else {
                0
            }
        }
        // Rising addresses without a wrap: if both ends fit, so does what is between.
        Pattern::Contiguous if fits(0) && fits(31) && addresses[0] <= addresses[31] => mask,
        _ => mask_of(fits) & mask,
    }
}

/// Up to 8 bytes, little-endian; bytes beyond the end read as zero.
#[inline]
pub(super) fn read(data: &[u8], at: usize, bytes: u32) -> u64 {
    match bytes {
        4 => {
            data.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into())
        }
        8 => data.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes),
        2 => data.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]).into()),
        _ => data.get(at).copied().map_or(0, u64::from),
    }
}

/// Writes the low `bytes` bytes of `value`.
#[inline]
pub(super) fn write(data: &mut [u8], at: usize, bytes: u32, value: u64) {
    let bytes = bytes as usize;
    if let Some(target) = data.get_mut(at..at + bytes) {
        match bytes {
            4 => target.copy_from_slice(&(value as u32).to_le_bytes()),
            8 => target.copy_from_slice(&value.to_le_bytes()),
            _ => target.copy_from_slice(&value.to_le_bytes()[..bytes]),
        }
    }
}

/// Values of one element from memory bytes, as a 32-bit register holds them.
#[inline]
fn extend32(value: u32, bytes: u8, sign: bool, register: u8) -> u32 {
    let extended = match (sign, bytes) {
        (true, 1) => value as u8 as i8 as u32,
        (true, 2) => value as u16 as i16 as u32,
        _ => value,
    };
    match register {
        8 => extended & 0xFF,
        16 => extended & 0xFFFF,
        _ => extended,
    }
}

#[inline]
fn extend64(value: u64, bytes: u8, sign: bool) -> u64 {
    match (sign, bytes) {
        (true, 1) => value as u8 as i8 as u64,
        (true, 2) => value as u16 as i16 as u64,
        (true, 4) => value as u32 as i32 as u64,
        _ => value,
    }
}

/// Puts one element of every lane into its register. `fetch` gives the bytes of a lane's element at an
/// offset from the lane's address, up to 8 of them.
fn put(
    warp: &mut Warp,
    frame: &Frame,
    mask: u32,
    row: u32,
    element: Element,
    fetch: impl Fn(usize, u32, u32) -> u64,
) {
    if row == NONE {
        return;
    }
    match element {
        Element::Narrow { bytes, sign, register } => {
            let mut value: Row32 = [0; LANES];
            for lane in lanes(mask) {
                let raw = fetch(lane, 0, u32::from(bytes)) as u32;
                value[lane] = extend32(raw, bytes, sign, register);
            }
            write32(&mut warp.r32[(frame.base32 + row) as usize], &value, mask);
        }
        Element::Wide { bytes, sign } => {
            let mut value: Row64 = [0; LANES];
            for lane in lanes(mask) {
                value[lane] = extend64(fetch(lane, 0, u32::from(bytes)), bytes, sign);
            }
            write64(&mut warp.r64[(frame.base64 + row) as usize], &value, mask);
        }
        Element::Pair => {
            let (mut low, mut high): (Row64, Row64) = ([0; LANES], [0; LANES]);
            for lane in lanes(mask) {
                low[lane] = fetch(lane, 0, 8);
                high[lane] = fetch(lane, 8, 8);
            }
            write64(&mut warp.r64[(frame.base64 + row) as usize], &low, mask);
            write64(&mut warp.r64[(frame.base64 + row + 1) as usize], &high, mask);
        }
    }
}

/// Loads from `data`, whose first byte has address `base`; all accesses fit.
pub(super) fn load(
    data: &[u8],
    base: u64,
    active: Lanes<'_>,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    let Lanes { addresses, mask, pattern } = active;
    let first = active.first().wrapping_sub(base) as usize;
    if let [(row, Element::Narrow { bytes: 4, register: 32, .. })] = &*op.elements
        && *row != NONE
    {
        let target = &mut warp.r32[(frame.base32 + row) as usize];
        match pattern {
            Pattern::Contiguous => {
                if let Some(bytes) = data.get(first..first + 4 * LANES) {
                    for (lane, word) in target.iter_mut().zip(bytes.chunks_exact(4)) {
                        *lane = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    }
                }
            }
            Pattern::Uniform => {
                let value = read(data, first, 4) as u32;
                write32(target, &[value; LANES], mask);
            }
            Pattern::General => {
                let fetch =
                    |lane: usize| read(data, addresses[lane].wrapping_sub(base) as usize, 4) as u32;
                if mask == FULL {
                    for (lane, value) in target.iter_mut().enumerate() {
                        *value = fetch(lane);
                    }
                } else {
                    lanes(mask).for_each(|lane| target[lane] = fetch(lane));
                }
            }
        }
        return;
    }
    let mut offset = 0;
    for (row, element) in &op.elements {
        if pattern == Pattern::Uniform {
            let fetched =
                |part: u32, bytes: u32| read(data, first + (offset + part) as usize, bytes);
            let (low, high) = match element {
                Element::Pair => (fetched(0, 8), fetched(8, 8)),
                element => (fetched(0, element.bytes()), 0),
            };
            put(warp, frame, mask, *row, *element, |_, part, _| if part == 0 { low } else { high });
        } else {
            put(warp, frame, mask, *row, *element, |lane, part, bytes| {
                let at = addresses[lane].wrapping_sub(base) as usize;
                read(data, at + (offset + part) as usize, bytes)
            });
        }
        offset += element.bytes();
    }
}

/// Hands one element of every lane of `mask` to `keep`, lane by lane in rising order: lane, offset, bytes, value.
fn take(
    warp: &Warp,
    frame: &Frame,
    mask: u32,
    row: u32,
    element: Element,
    mut keep: impl FnMut(usize, u32, u32, u64),
) {
    match element {
        Element::Narrow { bytes, .. } => {
            let value = &warp.r32[(frame.base32 + row) as usize];
            lanes(mask).for_each(|lane| keep(lane, 0, u32::from(bytes), u64::from(value[lane])));
        }
        Element::Wide { bytes, .. } => {
            let value = &warp.r64[(frame.base64 + row) as usize];
            lanes(mask).for_each(|lane| keep(lane, 0, u32::from(bytes), value[lane]));
        }
        Element::Pair => {
            let low = &warp.r64[(frame.base64 + row) as usize];
            let high = &warp.r64[(frame.base64 + row + 1) as usize];
            for lane in lanes(mask) {
                keep(lane, 0, 8, low[lane]);
                keep(lane, 8, 8, high[lane]);
            }
        }
    }
}

/// Stores to `data`, whose first byte has address `base`; all accesses fit. Of lanes that write the
/// same bytes the highest one wins.
pub(super) fn store(
    data: &mut [u8],
    base: u64,
    active: Lanes<'_>,
    op: &MemoryOp,
    warp: &Warp,
    frame: &Frame,
) {
    let Lanes { addresses, mask, pattern } = active;
    if pattern == Pattern::Contiguous
        && let [(row, Element::Narrow { bytes: 4, .. })] = &*op.elements
    {
        let first = addresses[0].wrapping_sub(base) as usize;
        let value = &warp.r32[(frame.base32 + row) as usize];
        if let Some(bytes) = data.get_mut(first..first + 4 * LANES) {
            for (word, lane) in bytes.chunks_exact_mut(4).zip(value) {
                word.copy_from_slice(&lane.to_le_bytes());
            }
        }
        return;
    }
    let mut offset = 0;
    for (row, element) in &op.elements {
        take(warp, frame, mask, *row, *element, |lane, part, bytes, value| {
            let at = addresses[lane].wrapping_sub(base) as usize;
            write(data, at + (offset + part) as usize, bytes, value);
        });
        offset += element.bytes();
    }
}

/// Up to 8 bytes of a lane's local memory.
#[inline]
pub(super) fn read_local(local: &[Row32], lane: usize, address: u64, bytes: u32) -> u64 {
    let word = |at: u64| local.get(at as usize).map_or(0, |row| u64::from(row[lane]));
    let at = address / 4;
    match bytes {
        8 => word(at) | word(at + 1) << 32,
        4 => word(at),
        bytes => word(at) >> (8 * (address & 3)) & ((1 << (8 * bytes)) - 1),
    }
}

/// Writes up to 8 bytes of a lane's local memory.
#[inline]
pub(super) fn write_local(local: &mut [Row32], lane: usize, address: u64, bytes: u32, value: u64) {
    let at = (address / 4) as usize;
    match bytes {
        8 => {
            if let Some([low, high]) = local.get_mut(at..at + 2) {
                low[lane] = value as u32;
                high[lane] = (value >> 32) as u32;
            }
        }
        4 => {
            if let Some(row) = local.get_mut(at) {
                row[lane] = value as u32;
            }
        }
        bytes => {
            if let Some(row) = local.get_mut(at) {
                let shift = 8 * (address & 3) as u32;
                let field = ((1u32 << (8 * bytes)) - 1) << shift;
                row[lane] = (row[lane] & !field) | ((value as u32) << shift & field);
            }
        }
    }
}

/// Loads from local memory; all accesses fit.
pub(super) fn load_local(active: Lanes<'_>, op: &MemoryOp, warp: &mut Warp, frame: &Frame) {
    // Taken out for the time of the transfer, so that registers can be written.
    let local = std::mem::take(&mut warp.local);
    let Lanes { addresses, mask, pattern } = active;
    let first = (active.first() / 4) as usize;
    let mut offset = 0;
    for (row, element) in &op.elements {
        let words = first + (offset / 4) as usize;
        match (pattern, *element) {
            (Pattern::Uniform, Element::Narrow { bytes: 4, register: 32, .. }) if *row != NONE => {
                if let Some(value) = local.get(words) {
                    write32(&mut warp.r32[(frame.base32 + row) as usize], value, mask);
                }
            }
            (Pattern::Uniform, Element::Wide { bytes: 8, .. }) if *row != NONE => {
                if let Some([low, high]) = local.get(words..words + 2) {
                    let value: Row64 = std::array::from_fn(|lane| {
                        u64::from(low[lane]) | u64::from(high[lane]) << 32
                    });
                    write64(&mut warp.r64[(frame.base64 + row) as usize], &value, mask);
                }
            }
            _ => put(warp, frame, mask, *row, *element, |lane, part, bytes| {
                let address = addresses[lane].wrapping_add(u64::from(offset + part));
                read_local(&local, lane, address, bytes)
            }),
        }
        offset += element.bytes();
    }
    warp.local = local;
}

/// Stores to local memory; all accesses fit.
pub(super) fn store_local(active: Lanes<'_>, op: &MemoryOp, warp: &mut Warp, frame: &Frame) {
    let mut local = std::mem::take(&mut warp.local);
    let Lanes { addresses, mask, pattern } = active;
    let first = (active.first() / 4) as usize;
    let mut offset = 0;
    for (row, element) in &op.elements {
        let words = first + (offset / 4) as usize;
        match (pattern, *element) {
            (Pattern::Uniform, Element::Narrow { bytes: 4, .. }) => {
                if let Some(target) = local.get_mut(words) {
                    write32(target, &warp.r32[(frame.base32 + row) as usize], mask);
                }
            }
            (Pattern::Uniform, Element::Wide { bytes: 8, .. }) => {
                let value = &warp.r64[(frame.base64 + row) as usize];
                if let Some([low, high]) = local.get_mut(words..words + 2) {
                    write32(low, &value.map(|lane| lane as u32), mask);
                    write32(high, &value.map(|lane| (lane >> 32) as u32), mask);
                }
            }
            _ => take(warp, frame, mask, *row, *element, |lane, part, bytes, value| {
                let address = addresses[lane].wrapping_add(u64::from(offset + part));
                write_local(&mut local, lane, address, bytes, value);
            }),
        }
        offset += element.bytes();
    }
    warp.local = local;
}
