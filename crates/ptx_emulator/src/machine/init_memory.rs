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
use crate::memory::Written;
use crate::op::{AtomicOp, Element, MemoryOp, NONE, Space};
use crate::row::{Class, lanes};

impl Engine<'_> {
    /// `part`: where the access goes, if all of it is evenly spaced.
    pub(super) fn init_load(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        op: &MemoryOp,
        part: Option<&Part>,
    ) {
        // Lanes whose memory is none of those below read what is always there.
        if matches!(op.space, Space::Param | Space::Constant)
            || part.is_some_and(|part| self.all_written(place.init, part, op.bytes))
        {
            return;
        }
        let at = place.at;
        let frame = warp.frames[at.frame as usize];
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: op.bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            for (row, element, offset) in elements(op) {
                let bytes = element.bytes();
                for lane in lanes(part.lanes) {
                    let at = part.offsets.at(lane) + offset;
                    let written = self.written(place.init, warp.index, &part, lane, at, bytes);
                    if written == Written::all_bits(bytes) {
                        continue;
                    }
                    if written == 0 && part.area != Area::Local {
                        missing |= 1 << lane;
                    } else if row != NONE {
                        let registers = &mut place.init.warps[warp.index as usize].registers;
                        set_element(registers, &frame, (row, element), lane, written);
                    }
                }
            }
            self.memory_finding(place, block, warp, &part, missing, ("read", op.bytes));
        }
    }

    /// An instruction other than a load reads so many bytes, in elements of so many bytes.
    pub(super) fn init_read(
        &self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &Warp,
        part: &Part,
        (bytes, element): (u32, u32),
    ) {
        let unwritten = |lane: usize| {
            (0..bytes).step_by(element.max(1) as usize).any(|byte| {
                let at = part.offsets.at(lane) + u64::from(byte);
                self.written(place.init, warp.index, part, lane, at, element) == 0
            })
        };
        let missing = lanes(part.lanes)
            .filter(|lane| unwritten(*lane))
            .fold(0, |mask, lane| mask | 1 << lane);
        self.memory_finding(place, block, warp, part, missing, ("read", bytes));
    }

    pub(super) fn init_store(
        &mut self,
        place: &mut Place<'_>,
        block: &BlockState,
        warp: &mut Warp,
        op: &MemoryOp,
        part: Option<&Part>,
    ) {
        let at = place.at;
        let frame = warp.frames[at.frame as usize];
        let registers = &place.init.warps[warp.index as usize].registers;
        if let Some(part) = part
            && elements(op)
                .all(|(row, element, _)| is_defined(registers, &frame, (row, element), at.active))
        {
            self.mark_all(place.init, part, op.bytes);
            return;
        }
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: op.bytes, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            for (row, element, offset) in elements(op) {
                for lane in lanes(part.lanes) {
                    let registers = &place.init.warps[warp.index as usize].registers;
                    let mut written = stored_bytes(registers, &frame, (row, element), lane);
                    if written == 0 && part.area != Area::Local {
                        missing |= 1 << lane;
                        written = u32::MAX;
                    }
                    let at = (lane, part.offsets.at(lane) + offset);
                    self.mark(place.init, warp.index, &part, at, element.bytes(), written);
                }
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
        let all = Written::all_bits(whole);
        let found = super::access::addresses(warp, &frame, &op.address);
        let target = Target { space: op.space, addresses: &found, bytes: whole, pc: at.pc };
        let mut rest = at.active;
        while let Some(part) = self.next_part(block, &frame, target, &mut rest) {
            let mut missing = 0;
            for lane in lanes(part.lanes) {
                let at = part.offsets.at(lane);
                if self.written(place.init, warp.index, &part, lane, at, whole) != all {
                    missing |= 1 << lane;
                    self.mark(place.init, warp.index, &part, (lane, at), whole, all);
                }
            }
            self.memory_finding(place, block, warp, &part, missing, ("atomic", whole));
        }
    }

    /// The bits of shared memory or of an allocation; `None` where everything counts as written, or each lane has its own.
    fn bits<'a>(&'a self, init: &'a BlockInit, area: Area) -> Option<&'a Written> {
        match area {
            Area::Shared => Some(&init.shared),
            Area::Remote { rank } => Some(&self.member(rank)?.written),
            Area::Global { slot, .. } => self.memory.slot(slot)?.written.as_ref(),
            Area::Local => None,
        }
    }

    fn bits_mut<'a>(&'a mut self, init: &'a mut BlockInit, area: Area) -> Option<&'a mut Written> {
        match area {
            Area::Shared => Some(&mut init.shared),
            Area::Remote { rank } => {
                Some(&mut self.cluster.as_mut()?.members.get_mut(rank as usize)?.written)
            }
            Area::Global { slot, .. } => self.memory.own()?.slot_mut(slot)?.written.as_mut(),
            Area::Local => None,
        }
    }

    /// Whether all that the lanes of a part of shared or global memory access was written.
    fn all_written(&self, init: &BlockInit, part: &Part, bytes: u32) -> bool {
        self.bits(init, part.area).is_none_or(|written| {
            part.offsets.all_ranges(part.lanes, bytes, |start, bytes| written.all(start, bytes))
        })
    }

    /// All that the lanes of a part of shared or global memory access is written now.
    fn mark_all(&mut self, init: &mut BlockInit, part: &Part, bytes: u32) {
        if let Some(written) = self.bits_mut(init, part.area) {
            part.offsets.all_ranges(part.lanes, bytes, |start, bytes| {
                written.mark(start, bytes);
                true
            });
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
        if part.area == Area::Local {
            return init.warps[warp as usize].local.get(lane, part.base + offset, bytes);
        }
        let written = self.bits(init, part.area);
        written.map_or(Written::all_bits(bytes), |written| written.get(offset as usize, bytes))
    }

    fn mark(
        &mut self,
        init: &mut BlockInit,
        warp: u32,
        part: &Part,
        (lane, offset): (usize, u64),
        bytes: u32,
        bits: u32,
    ) {
        if part.area == Area::Local {
            init.warps[warp as usize].local.put(lane, part.base + offset, bytes, bits);
        } else if let Some(written) = self.bits_mut(init, part.area) {
            written.put(offset as usize, bytes, bits);
        }
    }

    /// Reports `lanes`, if there are any.
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
        if lanes == 0 || !place.checks.is_new(key, Severity::Error) {
            return;
        }
        let address = self.described_address(block, part, (lanes.trailing_zeros() & 31) as usize);
        let title = format!(
            "{action} of memory that nothing has written: {bytes} bytes at {:#x} in {} memory",
            address.address, address.space
        );
        let mut finding = self.finding(kind, Severity::Error, title);
        finding.help = match part.area {
            Area::Shared => {
                "shared memory holds anything at first: write it, pass a barrier, then read it"
            }
            Area::Remote { .. } => {
                "shared memory holds anything at first: write it, pass a barrier of the cluster, then read it"
            }
            Area::Local | Area::Global { .. } => {
                "device memory holds anything at first: copy data to it, fill it, or let a kernel write it before"
            }
        }
        .to_owned();
        finding.address = Some(address);
        finding.parties.push(self.party(action.to_owned(), block, warp, place.at, lanes));
        place.checks.add(key, finding);
    }
}

/// The elements of an access: row, shape, and bytes from the first one.
fn elements(op: &MemoryOp) -> impl Iterator<Item = (u32, Element, u64)> + '_ {
    op.elements.iter().scan(0, |offset, (row, element)| {
        let at = *offset;
        *offset += u64::from(element.bytes());
        Some((*row, *element, at))
    })
}

/// What a load reads is defined, as far as nothing else is known.
pub(super) fn define_elements(init: &mut WarpInit, warp: &Warp, op: &MemoryOp, at: Position) {
    let frame = warp.frames[at.frame as usize];
    let WarpInit { registers: Registers { narrow, wide, .. }, .. } = init;
    for (row, element, _) in elements(op).filter(|(row, ..)| *row != NONE) {
        match element {
            Element::Narrow { .. } => narrow.define(frame.base32 + row, at.active),
            Element::Wide { .. } => wide.define(frame.base64 + row, at.active),
            Element::Pair => {
                wide.define(frame.base64 + row, at.active);
                wide.define(frame.base64 + row + 1, at.active);
            }
        }
    }
}

/// Whether an element is known to be defined in all lanes of `mask`.
fn is_defined(
    registers: &Registers,
    frame: &Frame,
    (row, element): (u32, Element),
    mask: u32,
) -> bool {
    let undefined = match element {
        _ if row == NONE => 0,
        Element::Narrow { .. } => registers.narrow.undefined(frame.base32 + row, mask),
        Element::Wide { .. } => registers.wide.undefined(frame.base64 + row, mask),
        Element::Pair => {
            registers.wide.undefined(frame.base64 + row, mask)
                | registers.wide.undefined(frame.base64 + row + 1, mask)
        }
    };
    undefined == 0
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
