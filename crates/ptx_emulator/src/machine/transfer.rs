//! Moving data between rows of registers and bytes of memory, once addresses are known to be good.

use super::places::{Places, highest, lowest};
use super::warp::{Frame, Warp};
use crate::memory::{Number, Storage};
use crate::op::{Element, MemoryOp, NONE};
use crate::registers::{Affine, Bank, Word};
use crate::row::{FULL, LANES, lanes, write32, write64};

/// A number in memory and in the lanes of a register.
pub(super) trait Stored: Word + Number {
    /// Writes the lanes of `mask` of a row.
    fn blend(target: &mut [Self; LANES], value: &[Self; LANES], mask: u32);
}

impl Stored for u32 {
    fn blend(target: &mut [u32; LANES], value: &[u32; LANES], mask: u32) {
        write32(target, value, mask);
    }
}

impl Stored for u64 {
    fn blend(target: &mut [u64; LANES], value: &[u64; LANES], mask: u32) {
        write64(target, value, mask);
    }
}

/// Reads numbers that lie one after the other in each half of a warp, the second half's `step` bytes behind the first.
#[inline(always)]
pub(super) fn read_halves<T: Stored>(
    data: &Storage,
    target: &mut [T; LANES],
    first: usize,
    step: usize,
) {
    if let [low, high] = target.as_chunks_mut::<{ LANES / 2 }>().0 {
        data.read_line(first, low);
        data.read_line(first.wrapping_add(step), high);
    }
}

/// Reads one element of every lane of `mask` into a register; `base` is the address of the data's first byte less
/// the element's offset in the access.
#[inline(always)]
pub(super) fn gather<T: Stored>(
    bank: &mut Bank<T>,
    row: u32,
    data: &Storage,
    base: u64,
    places: Places<'_>,
    mask: u32,
) {
    let at = |address: u64| address.wrapping_sub(base) as usize;
    match places {
        // One place for all, or one for each half: the values are as even as the places.
        Places::Even(Affine { base: first, stride: 0, step }) => {
            let value = T::load(data, at(first)).bits();
            let step = match step {
                0 => 0,
                step => T::load(data, at(first.wrapping_add(step))).bits().wrapping_sub(value),
            };
            bank.set_affine(row, Affine { base: value, stride: 0, step }, mask);
        }
        Places::Even(value) if mask == FULL => {
            let (start, stride, step) =
                (at(value.base), value.stride as usize, value.step as usize);
            let target = bank.overwrite(row, FULL);
            if stride == T::BYTES {
                return read_halves(data, target, start, step);
            }
            let mut at = start;
            for lane in 0..LANES / 2 {
                target[lane] = T::load(data, at);
                target[lane + LANES / 2] = T::load(data, at.wrapping_add(step));
                at = at.wrapping_add(stride);
            }
        }
        Places::Each(addresses) if mask == FULL => {
            let target = bank.overwrite(row, FULL);
            for (value, address) in target.iter_mut().zip(addresses) {
                *value = T::load(data, at(*address));
            }
        }
        _ => {
            let target = bank.overwrite(row, mask);
            lanes(mask).for_each(|lane| target[lane] = T::load(data, at(places.lane(lane))));
        }
    }
}

/// Writes one element of every lane of `mask`, in rising order.
#[inline(always)]
pub(super) fn scatter<T: Stored>(
    values: &[T; LANES],
    data: &Storage,
    base: u64,
    places: Places<'_>,
    mask: u32,
) {
    let at = |address: u64| address.wrapping_sub(base) as usize;
    let write = |lane: usize| values[lane].store(data, at(places.lane(lane)));
    match places {
        // Of lanes that write the same bytes the highest one wins.
        Places::Even(value) if value.is_uniform() => write(highest(mask)),
        Places::Even(value)
            if mask == FULL && value.stride as usize == T::BYTES && value.is_line() =>
        {
            data.write_line(at(value.base), values);
        }
        _ => lanes(mask).for_each(write),
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

/// Puts one element of every lane into its register, extended as the register needs it. `fetch` gives a lane's bytes;
/// `uniform`: the same ones for all.
pub(super) fn put(
    warp: &mut Warp,
    frame: &Frame,
    mask: u32,
    uniform: bool,
    row: u32,
    element: Element,
    fetch: impl Fn(usize, u32) -> u64,
) {
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
    data: &Storage,
    base: u64,
    places: Places<'_>,
    mask: u32,
    op: &MemoryOp,
    warp: &mut Warp,
    frame: &Frame,
) {
    let uniform = matches!(places, Places::Even(value) if value.is_uniform());
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
            element => put(warp, frame, mask, uniform, *row, element, |lane, bytes| {
                data.read(places.lane(lane).wrapping_sub(base) as usize, bytes)
            }),
        }
        base = base.wrapping_sub(u64::from(element.bytes()));
    }
}

/// Stores to `data`, whose first byte has address `base`; all accesses fit. Of lanes that write the
/// same bytes the highest one wins.
#[inline(always)]
pub(super) fn store(
    data: &Storage,
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
                    data.write(at, u32::from(bytes), u64::from(values[lane]));
                }
            }
            Element::Wide { bytes, .. } => {
                let values = warp.r64.read(frame.base64 + row);
                for lane in lanes(mask) {
                    let at = places.lane(lane).wrapping_sub(base) as usize;
                    data.write(at, u32::from(bytes), values[lane]);
                }
            }
        }
        base = base.wrapping_sub(u64::from(element.bytes()));
    }
}
