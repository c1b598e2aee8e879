//! Local memory: each lane has its own, and all lanes' copies of one word lie together.

use super::places::{Places, lowest};
use super::transfer::put;
use super::warp::{Frame, Warp};
use crate::op::{Element, MemoryOp, NONE};
use crate::row::{Row32, lanes, write32};

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
                if element == Element::Pair {
                    let row = frame.base64 + row;
                    for (row, part) in [(row, 0), (row + 1, 8)] {
                        let target = warp.r64.overwrite(row, mask);
                        lanes(mask).for_each(|lane| target[lane] = fetch(lane, part, 8));
                    }
                } else {
                    // The same place in local memory is another variable in each lane.
                    let uniform = false;
                    put(warp, frame, mask, uniform, *row, element, |lane, bytes| {
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
