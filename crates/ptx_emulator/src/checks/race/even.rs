//! Evenly spaced accesses, most of which are in conflict with nothing: that is found out quickly.

use super::cell::Flags;
use super::line::Note;
use super::sweep::Pieces;
use super::{BlockRace, Race, shadow_of};
use crate::events::{Access, Action, Area, Offsets};
use crate::registers::Affine;

impl Race {
    /// Takes note of a weak access that is in conflict with nothing. False if it has to be looked at more closely.
    #[inline]
    pub(crate) fn note(&mut self, block: &mut BlockRace, event: &Access<'_>) -> bool {
        let Offsets::Even(value) = event.offsets else {
            return false;
        };
        if event.order.is_strong()
            || event.area == Area::Shared && block.shared.copies_pending()
            || self.clock.exhausted()
        {
            return false;
        }
        match event.action {
            Action::Atomic => false,
            Action::Read if value.stride == 0 => self.broadcast(block, event, *value),
            Action::Read | Action::Write => self.sweep(block, event),
        }
    }

    /// Lanes access neighbouring words.
    fn sweep(&mut self, block: &mut BlockRace, event: &Access<'_>) -> bool {
        let Some(pieces) = Pieces::of(event.offsets, event.lanes, event.bytes) else {
            return false;
        };
        let write = event.action == Action::Write;
        if write && !pieces.are_apart(event.lanes) {
            return false;
        }
        let access = self.about(block, event);
        let look = self.look(&access, block, event.area);
        let vectors = block.clocks.vectors;
        let shadow = shadow_of(&mut self.global, &mut block.shared.shadow, event.area);
        pieces.iter().all(|(number, cells, sweep)| {
            let note = Note {
                cells,
                lanes: event.lanes,
                sweep,
                write,
                flags: access.flags,
                warp: access.warp as u8,
                time: access.time,
                block: access.block,
                pc: access.pc,
                floor: access.block_floor,
            };
            let (line, lists) = shadow.line(number);
            if write {
                line.write(lists, note, &access, look)
            } else {
                line.read(lists, note, &access, (look, vectors))
            }
        })
    }

    /// Lanes read one place, or each half of the warp reads one. What conflicts with a read is what was written before, so
    /// that looking again finds the same.
    fn broadcast(&mut self, block: &mut BlockRace, event: &Access<'_>, at: Affine) -> bool {
        let access = self.about(block, event);
        let look = self.look(&access, block, event.area);
        let skip = !access.flags.has(Flags::NON_COHERENT);
        let BlockRace { clocks, shared, .. } = block;
        let shadow = shadow_of(&mut self.global, &mut shared.shadow, event.area);
        let mut good = true;
        let mut rest = event.lanes;
        while rest != 0 {
            let first = rest.trailing_zeros() & 31;
            let group = if at.is_uniform() { rest } else { rest & 0xFFFF << (first & 16) };
            rest &= !group;
            let offset = at.lane(first as usize) as usize;
            shadow.visit(offset, event.bytes as usize, (look, skip), |cell, lists| {
                access.reads(clocks, cell, lists, group, &mut |_| good = false)
            });
        }
        good
    }
}
