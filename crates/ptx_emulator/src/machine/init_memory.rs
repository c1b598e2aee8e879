//! initcheck at loads, stores and atomics: which bytes of memory were written, and with what.

use super::block::BlockState;
use super::init_watch::Place;
use super::launch::Engine;
use super::race_watch::{Part, Target};
use super::warp::{Frame, Warp};
use super::watch::Position;
use crate::checks::init::{BlockInit, Registers, WarpInit, undefined_bits, written_bytes};
use crate::checks::{FindingKind, Severity};
use crate::events::Area;
use crate::op::{AtomicOp, Element, MemoryOp, NONE, Space};
use crate::row::{Class, FULL, lanes};

impl Engine<'_> {
    pub(super) fn init_load(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        op: &MemoryOp,
    ) {
        let at = place.at;
        let frame = warp.frames[at.frame as usize];
        if matches!(op.space, Space::Param | Space::Constant) {
            define_elements(&mut place.init.warps[warp.index as usize], &frame, op, at.active);
            return;
        }
        // Lanes whose memory is none of those below read what is always there.
        define_elements(&mut place.init.warps[warp.index as usize], &frame, op, at.active);
        if let Some((area, first, bytes)) = self.even_range(block, warp, &frame, op, at) {
            let all = match area {
                Area::Shared => place.init.shared.all(first, bytes),
                Area::Global { slot, .. } => {
                    let written = self.memory.slot(slot).and_then(|found| found.written.as_ref());
                    written.is_none_or(|written| written.all(first, bytes))
                }
                Area::Local => false,
            };
            if all {
                return;
            }
        }
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: op.bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            let mut offset = 0;
            for (row, element) in &op.elements {
                let bytes = element.bytes();
                for lane in lanes(part.lanes) {
                    let at = part.offsets.at(lane) + u64::from(offset);
                    let written = self.written(place.init, warp.index, &part, lane, at, bytes);
                    let all = if bytes >= 32 { u32::MAX } else { (1 << bytes) - 1 };
                    if written == all {
                        continue;
                    }
                    if written == 0 && part.area != Area::Local {
                        missing |= 1 << lane;
                        continue;
                    }
                    if *row != NONE {
                        let registers = &mut place.init.warps[warp.index as usize].registers;
                        set_element(registers, &frame, (*row, *element), lane, written);
                    }
                }
                offset += bytes;
            }
            if missing != 0 {
                self.memory_finding(place, block, warp, &part, missing, ("read", op.bytes));
            }
        }
    }

    /// The range of shared or global memory that an access covers without gaps: area, first byte, number of bytes.
    fn even_range(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: &Frame,
        op: &MemoryOp,
        at: Position,
    ) -> Option<(Area, usize, usize)> {
        let even = super::access::even_addresses(warp, frame, &op.address, at.active)?;
        let bytes = match even.stride {
            0 => op.bytes,
            stride if stride == u64::from(op.bytes) && at.active == FULL => op.bytes * 32,
            _ => return None,
        };
        let part = self.even_part(block, op.space, even, op.bytes, at)?;
        Some((part.area, even.base.wrapping_sub(part.base) as usize, bytes as usize))
    }

    pub(super) fn init_store(
        &mut self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        op: &MemoryOp,
    ) {
        let at = place.at;
        let frame = warp.frames[at.frame as usize];
        let registers = &place.init.warps[warp.index as usize].registers;
        let defined = op.elements.iter().all(|(row, element)| {
            let undefined = match element {
                _ if *row == NONE => 0,
                Element::Narrow { .. } => registers.narrow.undefined(frame.base32 + row, at.active),
                Element::Wide { .. } => registers.wide.undefined(frame.base64 + row, at.active),
                Element::Pair => at.active,
            };
            undefined == 0
        });
        if defined && let Some((area, first, bytes)) = self.even_range(block, warp, &frame, op, at)
        {
            match area {
                Area::Shared => place.init.shared.mark(first, bytes),
                Area::Global { slot, .. } => {
                    let found = self.memory.slot_mut(slot).and_then(|found| found.written.as_mut());
                    if let Some(written) = found {
                        written.mark(first, bytes);
                    }
                }
                Area::Local => {}
            }
            return;
        }
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: op.bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            let mut offset = 0;
            for (row, element) in &op.elements {
                let bytes = element.bytes();
                for lane in lanes(part.lanes) {
                    let registers = &place.init.warps[warp.index as usize].registers;
                    let mut written = stored_bytes(registers, &frame, (*row, *element), lane);
                    if written == 0 && part.area != Area::Local {
                        missing |= 1 << lane;
                        written = u32::MAX;
                    }
                    let at = part.offsets.at(lane) + u64::from(offset);
                    self.mark_written(place.init, warp.index, &part, (lane, at), bytes, written);
                }
                offset += bytes;
            }
            if missing != 0 {
                self.value_finding(place, block, warp, missing, "the value of a store");
            }
        }
    }

    pub(super) fn init_atomic(
        &mut self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        op: &AtomicOp,
    ) {
        let at = place.at;
        let frame = warp.frames[at.frame as usize];
        let class = if op.bytes >= 8 { Class::D } else { Class::R };
        for row in op.b.iter().chain([&op.c]) {
            self.must_be_defined(place, block, warp, (class, *row), "an operand of an atomic");
        }
        let registers = &mut place.init.warps[warp.index as usize].registers;
        for row in &op.d {
            for row in [*row, *row + 1].into_iter().take(if op.bytes == 16 { 2 } else { 1 }) {
                match class {
                    Class::D => registers.wide.define(frame.base64 + row, at.active),
                    _ => registers.narrow.define(frame.base32 + row, at.active),
                }
            }
        }
        let whole = op.bytes * op.b.len() as u32;
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: whole, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            for lane in lanes(part.lanes) {
                let at = part.offsets.at(lane);
                let written = self.written(place.init, warp.index, &part, lane, at, whole);
                let all = if whole >= 32 { u32::MAX } else { (1 << whole) - 1 };
                if written != all {
                    missing |= 1 << lane;
                    self.mark_written(place.init, warp.index, &part, (lane, at), whole, all);
                }
            }
            if missing != 0 {
                self.memory_finding(place, block, warp, &part, missing, ("atomic", whole));
            }
        }
    }

    /// One bit for each of a lane's bytes: whether it was written.
    fn written(
        &self,
        init: &BlockInit,
        warp: u32,
        part: &Part,
        lane: usize,
        offset: u64,
        bytes: u32,
    ) -> u32 {
        match part.area {
            Area::Shared => init.shared.get(offset as usize, bytes),
            Area::Local => init.warps[warp as usize].local.get(lane, part.base + offset, bytes),
            Area::Global { slot, .. } => {
                let written = self.memory.slot(slot).and_then(|found| found.written.as_ref());
                written.map_or(u32::MAX >> (32 - bytes.clamp(1, 32)), |written| {
                    written.get(offset as usize, bytes)
                })
            }
        }
    }

    fn mark_written(
        &mut self,
        init: &mut BlockInit,
        warp: u32,
        part: &Part,
        (lane, offset): (usize, u64),
        bytes: u32,
        bits: u32,
    ) {
        match part.area {
            Area::Shared => init.shared.put(offset as usize, bytes, bits),
            Area::Local => {
                init.warps[warp as usize].local.put(lane, part.base + offset, bytes, bits);
            }
            Area::Global { slot, .. } => {
                let found = self.memory.slot_mut(slot).and_then(|found| found.written.as_mut());
                if let Some(written) = found {
                    written.put(offset as usize, bytes, bits);
                }
            }
        }
    }

    fn memory_finding(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &Warp,
        part: &Part,
        lanes: u32,
        (action, bytes): (&str, u32),
    ) {
        let kind = FindingKind::UninitializedMemory;
        let key = (kind, place.at.pc, 0);
        if !place.checks.is_new(key, Severity::Error) {
            return;
        }
        let address = self.described_address(part, (lanes.trailing_zeros() & 31) as usize);
        let title = format!(
            "{action} of memory that nothing has written: {bytes} bytes at {:#x} in {} memory",
            address.address, address.space
        );
        let mut finding = self.finding(kind, Severity::Error, title);
        finding.help = if part.area == Area::Shared {
            "shared memory holds anything at first: write it, pass a barrier, then read it"
        } else {
            "device memory holds anything at first: copy data to it, fill it, or let a kernel write it before"
        }
        .to_owned();
        finding.address = Some(address);
        finding.parties.push(self.party(action.to_owned(), block, warp, place.at, lanes));
        place.checks.add(key, finding);
    }
}

fn define_elements(init: &mut WarpInit, frame: &Frame, op: &MemoryOp, mask: u32) {
    for (row, element) in op.elements.iter().filter(|(row, _)| *row != NONE) {
        match element {
            Element::Narrow { .. } => init.registers.narrow.define(frame.base32 + row, mask),
            Element::Wide { .. } => init.registers.wide.define(frame.base64 + row, mask),
            Element::Pair => {
                init.registers.wide.define(frame.base64 + row, mask);
                init.registers.wide.define(frame.base64 + row + 1, mask);
            }
        }
    }
}

/// A lane's element of which only some bytes were written goes into its register.
fn set_element(
    registers: &mut Registers,
    frame: &Frame,
    (row, element): (u32, Element),
    lane: usize,
    written: u32,
) {
    // Bits above the element are copies of its sign, or zero.
    let extended = |bytes: u8, sign: bool| {
        let bits = undefined_bits(written, u32::from(bytes));
        let top = bits >> (8 * u32::from(bytes) - 1) & 1 != 0;
        let above = u64::MAX.checked_shl(8 * u32::from(bytes)).unwrap_or(0);
        // A value without any defined bit counts as undefined as a whole.
        if written == 0 || sign && top { bits | above } else { bits }
    };
    match element {
        Element::Narrow { bytes, sign, .. } => {
            let bits = extended(bytes, sign);
            registers.narrow.set(frame.base32 + row, 1 << lane, |_| bits & 0xFFFF_FFFF);
        }
        Element::Wide { bytes, sign } => {
            let bits = extended(bytes, sign);
            registers.wide.set(frame.base64 + row, 1 << lane, |_| bits);
        }
        Element::Pair => {
            for half in 0..2 {
                let bits = undefined_bits(written >> (8 * half) & 0xFF, 8);
                registers.wide.set(frame.base64 + row + half, 1 << lane, |_| bits);
            }
        }
    }
}

/// Which bytes of a lane's element are defined.
fn stored_bytes(
    registers: &Registers,
    frame: &Frame,
    (row, element): (u32, Element),
    lane: usize,
) -> u32 {
    if row == NONE {
        return u32::MAX;
    }
    match element {
        Element::Narrow { bytes, .. } => {
            written_bytes(registers.narrow.bits(frame.base32 + row, lane), u32::from(bytes))
        }
        Element::Wide { bytes, .. } => {
            written_bytes(registers.wide.bits(frame.base64 + row, lane), u32::from(bytes))
        }
        Element::Pair => {
            let half = |row: u32| written_bytes(registers.wide.bits(frame.base64 + row, lane), 8);
            half(row) | half(row + 1) << 8
        }
    }
}
