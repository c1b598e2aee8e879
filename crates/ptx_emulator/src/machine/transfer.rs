//! Moving data between rows of registers and bytes of memory, once addresses are known to be good.

use super::warp::{Frame, Warp};
use crate::op::{Element, MemoryOp, NONE};
use crate::registers::{Affine, Bank, Word};
use crate::row::{FULL, LANES, Row32, Row64, lanes, mask_of, write32, write64};

/// Where the lanes of a warp access memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Places<'a> {
    /// Evenly spaced; the same place for all if the stride is 0.
    Even(Affine),
    Each(&'a Row64),
}

impl Places<'_> {
    /// The evenly spaced places that `addresses` are, if they are: for all lanes, or the same for those of `mask`.
    #[inline]
    pub(super) fn of(addresses: &Row64, mask: u32) -> Places<'_> {
        if mask == FULL {
            if let Some(value) = Affine::of(addresses) {
                return Places::Even(value);
            }
        } else {
            let first = addresses[lowest(mask)];
            if lanes(mask).all(|lane| addresses[lane] == first) {
                return Places::Even(Affine::uniform(first));
            }
        }
        Places::Each(addresses)
    }

    #[inline(always)]
    pub(super) fn lane(self, lane: usize) -> u64 {
        match self {
            Places::Even(value) => value.lane(lane),
            Places::Each(addresses) => addresses[lane],
        }
    }

    /// All lanes' places.
    pub(super) fn row(self) -> Row64 {
        match self {
            Places::Even(value) => std::array::from_fn(|lane| value.lane(lane)),
            Places::Each(addresses) => *addresses,
        }
    }

    /// The lanes whose place is not a multiple of `bytes`.
    #[inline(always)]
    pub(super) fn misaligned(self, mask: u32, bytes: u32) -> u32 {
        let low = u64::from(bytes.saturating_sub(1));
        let any = match self {
            Places::Even(value) => value.base | value.stride | value.step,
            Places::Each(addresses) => addresses.iter().fold(0, |any, address| any | address),
        };
        if any & low == 0 {
            return 0;
        }
        lanes(mask).filter(|lane| self.lane(*lane) & low != 0).fold(0, |m, lane| m | 1 << lane)
    }

    /// The lanes whose whole access lies within `length` bytes at `base`.
    #[inline(always)]
    pub(super) fn fitting(self, mask: u32, bytes: u32, base: u64, length: u64) -> u32 {
        let Some(limit) = length.checked_sub(u64::from(bytes)) else {
            return 0;
        };
        let fits = |lane: usize| self.lane(lane).wrapping_sub(base) <= limit;
        // Evenly spaced places do not wrap around: if the corners fit, so does what is between.
        if let Places::Even(value) = self
            && value.is_near()
        {
            if value.corners().iter().all(|corner| corner.wrapping_sub(base) <= limit) {
                return mask;
            }
            if value.is_uniform() {
                return 0;
            }
        }
        mask_of(fits) & mask
    }
}

/// The lowest lane of a mask; 0 if there is none.
#[inline(always)]
pub(super) fn lowest(mask: u32) -> usize {
    (mask.trailing_zeros() & 31) as usize
}

/// The highest lane of a mask; 0 if there is none.
#[inline(always)]
pub(super) fn highest(mask: u32) -> usize {
    (31 - mask.leading_zeros().min(31)) as usize
}

/// A number in memory.
pub(super) trait Stored: Word {
    const BYTES: usize;
    fn fetch(data: &[u8], at: usize) -> Self;
    fn keep(self, target: &mut [u8]);
    /// Reads all lanes' numbers, which lie one after the other. False if they do not all lie in `data`.
    fn fetch_row(target: &mut [Self; LANES], data: &[u8], at: usize) -> bool;
    /// As `fetch_row`, for half of the lanes.
    fn fetch_half(target: &mut [Self], data: &[u8], at: usize) -> bool;
    /// Writes all lanes' numbers one after the other.
    fn keep_row(values: &[Self; LANES], data: &mut [u8], at: usize);
    /// Writes the lanes of `mask` of a row.
    fn blend(target: &mut [Self; LANES], value: &[Self; LANES], mask: u32);
}

macro_rules! rows_stored {
    ($ty:ty, $bytes:literal, $blend:path) => {
        #[inline(always)]
        fn fetch_row(target: &mut [$ty; LANES], data: &[u8], at: usize) -> bool {
            let bytes = data.get(at..).and_then(|data| data.first_chunk::<{ LANES * $bytes }>());
            let Some(bytes) = bytes else {
                return false;
            };
            for lane in 0..LANES {
                let (chunks, _) = bytes.as_chunks::<$bytes>();
                target[lane] = <$ty>::from_le_bytes(chunks[lane]);
            }
            true
        }
        #[inline(always)]
        fn fetch_half(target: &mut [$ty], data: &[u8], at: usize) -> bool {
            let bytes =
                data.get(at..).and_then(|data| data.first_chunk::<{ LANES / 2 * $bytes }>());
            let Some(bytes) = bytes else {
                return false;
            };
            for (lane, bytes) in target.iter_mut().zip(bytes.as_chunks::<$bytes>().0) {
                *lane = <$ty>::from_le_bytes(*bytes);
            }
            true
        }
        #[inline(always)]
        fn keep_row(values: &[$ty; LANES], data: &mut [u8], at: usize) {
            let bytes =
                data.get_mut(at..).and_then(|data| data.first_chunk_mut::<{ LANES * $bytes }>());
            if let Some(bytes) = bytes {
                let (chunks, _) = bytes.as_chunks_mut::<$bytes>();
                for lane in 0..LANES {
                    chunks[lane] = values[lane].to_le_bytes();
                }
            }
        }
        fn blend(target: &mut [$ty; LANES], value: &[$ty; LANES], mask: u32) {
            $blend(target, value, mask);
        }
    };
}

impl Stored for u32 {
    const BYTES: usize = 4;
    rows_stored!(u32, 4, write32);
    #[inline(always)]
    fn fetch(data: &[u8], at: usize) -> u32 {
        data.get(at..at.wrapping_add(4)).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
    #[inline(always)]
    fn keep(self, target: &mut [u8]) {
        target.copy_from_slice(&self.to_le_bytes());
    }
}

impl Stored for u64 {
    const BYTES: usize = 8;
    rows_stored!(u64, 8, write64);
    #[inline(always)]
    fn fetch(data: &[u8], at: usize) -> u64 {
        let bytes = data.get(at..at.wrapping_add(8)).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }
    #[inline(always)]
    fn keep(self, target: &mut [u8]) {
        target.copy_from_slice(&self.to_le_bytes());
    }
}

/// Reads one element of every lane of `mask` into a register; `base` is the address of the data's first byte less
/// the element's offset in the access.
#[inline(always)]
pub(super) fn gather<T: Stored>(
    bank: &mut Bank<T>,
    row: u32,
    data: &[u8],
    base: u64,
    places: Places<'_>,
    mask: u32,
) {
    let at = |address: u64| address.wrapping_sub(base) as usize;
    match places {
        // One place for all, or one for each half: the values are as even as the places.
        Places::Even(Affine { base: first, stride: 0, step }) => {
            let value = T::fetch(data, at(first)).bits();
            let step = match step {
                0 => 0,
                step => T::fetch(data, at(first.wrapping_add(step))).bits().wrapping_sub(value),
            };
            bank.set_affine(row, Affine { base: value, stride: 0, step }, mask);
        }
        Places::Even(value) if mask == FULL => {
            let (start, stride, step) =
                (at(value.base), value.stride as usize, value.step as usize);
            let target = bank.overwrite(row, FULL);
            if stride == T::BYTES {
                if value.is_line() && T::fetch_row(target, data, start) {
                    return;
                }
                let (low, high) = target.split_at_mut(LANES / 2);
                if T::fetch_half(low, data, start)
                    && T::fetch_half(high, data, start.wrapping_add(step))
                {
                    return;
                }
            }
            let mut at = start;
            for lane in 0..LANES / 2 {
                target[lane] = T::fetch(data, at);
                target[lane + LANES / 2] = T::fetch(data, at.wrapping_add(step));
                at = at.wrapping_add(stride);
            }
        }
        Places::Each(addresses) if mask == FULL => {
            let target = bank.overwrite(row, FULL);
            for (value, address) in target.iter_mut().zip(addresses) {
                *value = T::fetch(data, at(*address));
            }
        }
        _ => {
            let target = bank.overwrite(row, mask);
            if let Places::Even(value) = places
                && value.stride as usize == T::BYTES
                && value.is_line()
            {
                // Where the lanes that are off have something to read too.
                let mut values = [T::POISON; LANES];
                if T::fetch_row(&mut values, data, at(value.base)) {
                    return T::blend(target, &values, mask);
                }
            }
            lanes(mask).for_each(|lane| target[lane] = T::fetch(data, at(places.lane(lane))));
        }
    }
}

/// Writes one element of every lane of `mask`, in rising order.
#[inline(always)]
pub(super) fn scatter<T: Stored>(
    values: &[T; LANES],
    data: &mut [u8],
    base: u64,
    places: Places<'_>,
    mask: u32,
) {
    let at = |address: u64| address.wrapping_sub(base) as usize;
    let mut write = |lane: usize| {
        let start = at(places.lane(lane));
        if let Some(target) = data.get_mut(start..start.wrapping_add(T::BYTES)) {
            values[lane].keep(target);
        }
    };
    match places {
        // Of lanes that write the same bytes the highest one wins.
        Places::Even(value) if value.is_uniform() => write(highest(mask)),
        Places::Even(value)
            if mask == FULL && value.stride as usize == T::BYTES && value.is_line() =>
        {
            T::keep_row(values, data, at(value.base));
        }
        _ => lanes(mask).for_each(write),
    }
}

/// Up to 8 bytes, little-endian; bytes beyond the end read as zero.
#[inline(always)]
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
#[inline(always)]
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
#[inline(always)]
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

#[inline(always)]
fn extend64(value: u64, bytes: u8, sign: bool) -> u64 {
    match (sign, bytes) {
        (true, 1) => value as u8 as i8 as u64,
        (true, 2) => value as u16 as i16 as u64,
        (true, 4) => value as u32 as i32 as u64,
        _ => value,
    }
}

/// Puts one element of every lane into its register, extended as the register needs it. `fetch` gives a lane's bytes.
fn put(
    warp: &mut Warp,
    frame: &Frame,
    mask: u32,
    places: Places<'_>,
    row: u32,
    element: Element,
    fetch: impl Fn(usize, u32) -> u64,
) {
    let uniform = matches!(places, Places::Even(value) if value.is_uniform());
    match element {
        Element::Narrow { bytes, sign, register } => {
            let value =
                |lane| extend32(fetch(lane, u32::from(bytes)) as u32, bytes, sign, register);
            let row = frame.base32 + row;
            if uniform {
                warp.r32.set_uniform(row, value(lowest(mask)), mask);
            } else {
                let target = warp.r32.overwrite(row, mask);
                lanes(mask).for_each(|lane| target[lane] = value(lane));
            }
        }
        Element::Wide { bytes, sign } => {
            let value = |lane| extend64(fetch(lane, u32::from(bytes)), bytes, sign);
            let row = frame.base64 + row;
            if uniform {
                warp.r64.set_uniform(row, value(lowest(mask)), mask);
            } else {
                let target = warp.r64.overwrite(row, mask);
                lanes(mask).for_each(|lane| target[lane] = value(lane));
            }
        }
        Element::Pair => {}
    }
}

/// Loads from `data`, whose first byte has address `base`; all accesses fit.
#[inline(always)]
pub(super) fn load(
    data: &[u8],
    base: u64,
    places: Places<'_>,
    mask: u32,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    let mut base = base;
    for (row, element) in &op.elements {
        match *element {
            _ if *row == NONE => {}
            Element::Narrow { bytes: 4, register: 32, .. } => {
                gather(&mut warp.r32, frame.base32 + row, data, base, places, mask);
            }
            Element::Wide { bytes: 8, .. } => {
                gather(&mut warp.r64, frame.base64 + row, data, base, places, mask);
            }
            Element::Pair => {
                let row = frame.base64 + row;
                gather(&mut warp.r64, row, data, base, places, mask);
                gather(&mut warp.r64, row + 1, data, base.wrapping_sub(8), places, mask);
            }
            element => put(warp, frame, mask, places, *row, element, |lane, bytes| {
                read(data, places.lane(lane).wrapping_sub(base) as usize, bytes)
            }),
        }
        base = base.wrapping_sub(u64::from(element.bytes()));
    }
}

/// Stores to `data`, whose first byte has address `base`; all accesses fit. Of lanes that write the
/// same bytes the highest one wins.
#[inline(always)]
pub(super) fn store(
    data: &mut [u8],
    base: u64,
    places: Places<'_>,
    mask: u32,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    let mut base = base;
    for (row, element) in &op.elements {
        match *element {
            Element::Narrow { bytes: 4, .. } => {
                scatter(warp.r32.read(frame.base32 + row), data, base, places, mask);
            }
            Element::Wide { bytes: 8, .. } => {
                scatter(warp.r64.read(frame.base64 + row), data, base, places, mask);
            }
            Element::Pair => {
                let row = frame.base64 + row;
                scatter(warp.r64.read(row), data, base, places, mask);
                scatter(warp.r64.read(row + 1), data, base.wrapping_sub(8), places, mask);
            }
            Element::Narrow { bytes, .. } => {
                let values = warp.r32.read(frame.base32 + row);
                for lane in lanes(mask) {
                    let at = places.lane(lane).wrapping_sub(base) as usize;
                    write(data, at, u32::from(bytes), u64::from(values[lane]));
                }
            }
            Element::Wide { bytes, .. } => {
                let values = warp.r64.read(frame.base64 + row);
                for lane in lanes(mask) {
                    let at = places.lane(lane).wrapping_sub(base) as usize;
                    write(data, at, u32::from(bytes), values[lane]);
                }
            }
        }
        base = base.wrapping_sub(u64::from(element.bytes()));
    }
}

/// Up to 8 bytes of a lane's local memory.
#[inline(always)]
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
#[inline(always)]
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
pub(super) fn load_local(
    places: Places<'_>,
    mask: u32,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    // Taken out for the time of the transfer, so that registers can be written.
    let local = std::mem::take(&mut warp.local);
    let mut offset = 0;
    for (row, element) in &op.elements {
        let word = (places.lane(lowest(mask)) / 4) as usize + (offset / 4) as usize;
        let together = matches!(places, Places::Even(value) if value.is_uniform());
        match *element {
            _ if *row == NONE => {}
            Element::Narrow { bytes: 4, register: 32, .. } if together => {
                if let Some(value) = local.get(word) {
                    warp.r32.write(frame.base32 + row, value, mask);
                }
            }
            Element::Wide { bytes: 8, .. } if together => {
                if let Some([low, high]) = local.get(word..word + 2) {
                    let target = warp.r64.overwrite(frame.base64 + row, mask);
                    for lane in lanes(mask) {
                        target[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                    }
                }
            }
            element => {
                let fetch = |lane: usize, part: u64, bytes: u32| {
                    let address = places.lane(lane).wrapping_add(u64::from(offset) + part);
                    read_local(&local, lane, address, bytes)
                };
                // The same place in local memory is another variable in each lane.
                let each = places.row();
                let apart = Places::Each(&each);
                if element == Element::Pair {
                    let row = frame.base64 + row;
                    for (row, part) in [(row, 0), (row + 1, 8)] {
                        let target = warp.r64.overwrite(row, mask);
                        lanes(mask).for_each(|lane| target[lane] = fetch(lane, part, 8));
                    }
                } else {
                    put(warp, frame, mask, apart, *row, element, |lane, bytes| {
                        fetch(lane, 0, bytes)
                    });
                }
            }
        }
        offset += element.bytes();
    }
    warp.local = local;
}

/// Stores to local memory; all accesses fit.
pub(super) fn store_local(
    places: Places<'_>,
    mask: u32,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    let mut local = std::mem::take(&mut warp.local);
    let mut offset = 0;
    for (row, element) in &op.elements {
        let word = (places.lane(lowest(mask)) / 4) as usize + (offset / 4) as usize;
        let together = matches!(places, Places::Even(value) if value.is_uniform());
        let mut keep = |lane: usize, part: u64, bytes: u32, value: u64| {
            let address = places.lane(lane).wrapping_add(u64::from(offset) + part);
            write_local(&mut local, lane, address, bytes, value);
        };
        match *element {
            Element::Narrow { bytes: 4, .. } if together => {
                let value = warp.r32.read(frame.base32 + row);
                if let Some(target) = local.get_mut(word) {
                    write32(target, value, mask);
                }
            }
            Element::Narrow { bytes, .. } => {
                let value = warp.r32.read(frame.base32 + row);
                for lane in lanes(mask) {
                    keep(lane, 0, u32::from(bytes), u64::from(value[lane]));
                }
            }
            Element::Wide { bytes, .. } => {
                let value = warp.r64.read(frame.base64 + row);
                lanes(mask).for_each(|lane| keep(lane, 0, u32::from(bytes), value[lane]));
            }
            Element::Pair => {
                for part in [0, 1] {
                    let value = warp.r64.read(frame.base64 + row + part);
                    lanes(mask).for_each(|lane| keep(lane, 8 * u64::from(part), 8, value[lane]));
                }
            }
        }
        offset += element.bytes();
    }
    warp.local = local;
}
