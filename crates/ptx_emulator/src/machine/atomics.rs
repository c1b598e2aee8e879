//! `atom` and `red`: lanes one after the other, in rising order.

use super::access::{Accessed, addresses, bad, generic_group};
use super::block::BlockState;
use super::cluster::Remote;
use super::counting::What;
use super::launch::Engine;
use super::local;
use super::places::Places;
use super::report::{BadAccess, Reason};
use super::warp::{Frame, Warp};
use crate::memory::Owner;
use crate::memory::window;
use crate::op::{AtomicKind, AtomicOp, AtomicType, NONE, Space};
use crate::row::{Row64, lanes};
use crate::semantics::MinMaxMode;
use crate::semantics::atomic;
use crate::semantics::half::{self, Bf16, F16, HalfFormat, HalfMode, pairwise};

/// Operands of one lane: 16-byte ones have an upper half.
#[derive(Clone, Copy, Default)]
struct Operands {
    b: u128,
    c: u128,
}

/// One element of an operation, in one space.
#[derive(Clone, Copy)]
struct Part<'a> {
    op: &'a AtomicOp,
    element: usize,
    space: Space,
    /// Addresses in that space.
    at: &'a Row64,
    mask: u32,
    pc: u32,
}

impl Part<'_> {
    fn bad(&self, reason: Reason, lanes: u32) -> Box<BadAccess> {
        bad(reason, self.space, self.at, lanes, self.op.bytes)
    }
}

impl Engine<'_> {
    pub(super) fn atomic(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        op: &AtomicOp,
        mask: u32,
        pc: u32,
    ) -> Accessed {
        let base = addresses(warp, frame, &op.address);
        // The elements of a vector are separate atomics (PTX ISA, `atom`); all of it must be aligned.
        let whole = op.bytes * op.b.len() as u32;
        let wrong = Places::Each(&base).misaligned(mask, whole);
        if wrong != 0 {
            return Err(bad(Reason::Misaligned, op.space, &base, wrong, whole));
        }
        let mut rest = mask;
        while rest != 0 {
            let (space, group, inner) = match op.space {
                Space::Generic => generic_group(&base, rest),
                space => (space.seen(), rest, base),
            };
            if let Some(counting) = &mut self.counting {
                let places = Places::of(&inner, group);
                counting.access(pc, What::Atomic, space, places, group, whole);
            }
            for element in 0..op.b.len() {
                let offset = u64::from(op.bytes) * element as u64;
                let at = inner.map(|address| address.wrapping_add(offset));
                let part = Part { op, element, space, at: &at, mask: group, pc };
                self.atomic_element(block, warp, frame, part)?;
            }
            rest &= !group;
        }
        Ok(())
    }

    fn atomic_element(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        part: Part<'_>,
    ) -> Accessed {
        let Part { op, element, space, at, mask, .. } = part;
        for lane in lanes(mask) {
            let operands = operands(warp, frame, op, element, lane);
            let address = at[lane];
            let one = 1 << lane;
            let old = match space {
                Space::Shared => {
                    let remote = (op.space != Space::Shared).then(|| self.remote(block, at, one));
                    if let Some(remote) = remote.flatten() {
                        let old = self.remote_atomic(op, operands, at, lane, &remote)?;
                        if let Some(row) = op.d.get(element) {
                            put(warp, frame, op, *row, lane, old);
                        }
                        continue;
                    }
                    let base = block.rank.shared_base;
                    let end = block.shared.len() as u64;
                    let offset = address.wrapping_sub(base);
                    if end < u64::from(op.bytes) || offset > end - u64::from(op.bytes) {
                        let wrong = self.shared_misses(block, at, mask, op.bytes);
                        if let Some(remote) = self.elsewhere(block, at, wrong, op.space) {
                            return Err(part.bad(Reason::OtherBlock, remote));
                        }
                        return Err(part.bad(Reason::OutOfBounds, wrong));
                    }
                    // The block's warps run one after the other.
                    let change = |old| compute(op, old, operands, true);
                    block.shared.update(offset as usize, op.bytes, true, change)
                }
                Space::Local | Space::Frame => {
                    let top = u64::from(frame.top_local) * 4;
                    if address < window::LOCAL_RESERVED
                        || address.saturating_add(u64::from(op.bytes)) > top
                    {
                        return Err(part.bad(Reason::OutOfBounds, one));
                    }
                    let parts = (0..op.bytes.div_ceil(8)).map(|part| 8 * part);
                    let size = op.bytes.min(8);
                    let old = parts.clone().fold(0, |old, part| {
                        let from = address + u64::from(part);
                        let value = local::read_local(&warp.local, lane, from, size);
                        old | u128::from(value) << (8 * part)
                    });
                    let new = compute(op, old, operands, true);
                    for part in parts {
                        let to = address + u64::from(part);
                        let value = (new >> (8 * part)) as u64;
                        local::write_local(&mut warp.local, lane, to, size, value);
                    }
                    old
                }
                Space::Param => return Err(part.bad(Reason::ReadOnly, mask)),
                Space::Global | Space::Generic | Space::Constant | Space::Cluster => {
                    self.atomic_global(part, operands, lane)?
                }
            };
            if let Some(row) = op.d.get(element) {
                put(warp, frame, op, *row, lane, old);
            }
        }
        Ok(())
    }

    fn atomic_global(
        &mut self,
        part: Part<'_>,
        operands: Operands,
        lane: usize,
    ) -> Result<u128, Box<BadAccess>> {
        let Part { op, space, at, mask, pc, .. } = part;
        let (address, bytes) = (at[lane], u64::from(op.bytes));
        let cached = self.caches.get(pc as usize).copied().unwrap_or(NONE);
        let slot = match self.memory.slot(cached) {
            Some(found) if found.contains(address, bytes) => Some(cached),
            _ => self.memory.find(address, bytes),
        };
        let rest = mask & !((1u32 << lane) - 1);
        let Some(slot) = slot else {
            return Err(self.not_there(at, rest, space, op.bytes));
        };
        if let Some(cache) = self.caches.get_mut(pc as usize) {
            *cache = slot;
        }
        let Some(found) = self.memory.slot(slot) else {
            return Err(part.bad(Reason::OutOfBounds, 1 << lane));
        };
        if matches!(found.owner, Owner::Constant(_)) {
            return Err(part.bad(Reason::ReadOnly, rest));
        }
        let offset = address.wrapping_sub(found.base) as usize;
        let alone = self.memory.is_own();
        let change = |old| compute(op, old, operands, false);
        Ok(found.data.update(offset, op.bytes, alone, change))
    }

    /// Changes an element in the shared memory of another block of the cluster.
    fn remote_atomic(
        &mut self,
        op: &AtomicOp,
        operands: Operands,
        at: &Row64,
        lane: usize,
        remote: &Remote,
    ) -> Result<u128, Box<BadAccess>> {
        self.check_remote(remote, at, op.bytes)?;
        let offset = at[lane].wrapping_sub(remote.base) as usize;
        // The blocks of a cluster run one after the other.
        let change = |old| compute(op, old, operands, true);
        let member = self.member(remote.rank);
        let old = member.map_or(0, |member| member.shared.update(offset, op.bytes, true, change));
        Ok(old)
    }

    fn shared_misses(&self, block: &BlockState, at: &Row64, mask: u32, bytes: u32) -> u32 {
        let (base, length) = (block.rank.shared_base, block.shared.len() as u64);
        mask & !Places::Each(at).fitting(mask, bytes, base, length)
    }
}

fn operands(warp: &Warp, frame: &Frame, op: &AtomicOp, element: usize, lane: usize) -> Operands {
    let value = |row: u32| match op.bytes {
        16 => {
            let low = warp.r64.lane(frame.base64 + row, lane);
            let high = warp.r64.lane(frame.base64 + row + 1, lane);
            u128::from(low) | u128::from(high) << 64
        }
        8 => u128::from(warp.r64.lane(frame.base64 + row, lane)),
        _ => u128::from(warp.r32.lane(frame.base32 + row, lane)),
    };
    Operands {
        b: op.b.get(element).map_or(0, |row| value(*row)),
        c: if op.c == NONE { 0 } else { value(op.c) },
    }
}

pub(super) fn put(
    warp: &mut Warp,
    frame: &Frame,
    op: &AtomicOp,
    row: u32,
    lane: usize,
    value: u128,
) {
    match op.bytes {
        16 => {
            warp.r64.set_lane(frame.base64 + row, lane, value as u64);
            warp.r64.set_lane(frame.base64 + row + 1, lane, (value >> 64) as u64);
        }
        8 => warp.r64.set_lane(frame.base64 + row, lane, value as u64),
        _ => warp.r32.set_lane(frame.base32 + row, lane, value as u32),
    }
}

/// The new number in memory. `shared`: floating-point sums differ between spaces.
fn compute(op: &AtomicOp, old: u128, operands: Operands, shared: bool) -> u128 {
    if op.bytes == 16 {
        return match op.kind {
            AtomicKind::CompareAndSwap if old == operands.b => operands.c,
            AtomicKind::CompareAndSwap => old,
            _ => operands.b,
        };
    }
    let mask = if op.bytes == 8 { u64::MAX } else { (1 << (8 * op.bytes)) - 1 };
    let (b, c) = (operands.b as u64 & mask, operands.c as u64 & mask);
    u128::from(compute64(op, old as u64, b, c, shared))
}

fn compute64(op: &AtomicOp, old: u64, b: u64, c: u64, shared: bool) -> u64 {
    let narrow = op.bytes == 4;
    match (op.kind, op.ty) {
        (AtomicKind::Exchange, _) => b,
        (AtomicKind::CompareAndSwap, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (AtomicKind::And, _) => old & b,
        (AtomicKind::Or, _) => old | b,
        (AtomicKind::Xor, _) => old ^ b,
        (AtomicKind::Inc, _) => u64::from(atomic::inc_u32(old as u32, b as u32)),
        (AtomicKind::Dec, _) => u64::from(atomic::dec_u32(old as u32, b as u32)),
        (AtomicKind::Add, AtomicType::F32) => {
            let (old, b) = (f32::from_bits(old as u32), f32::from_bits(b as u32));
            let sum = if shared { atomic::shared_add_f32 } else { atomic::global_add_f32 };
            u64::from(sum(old, b).to_bits())
        }
        (AtomicKind::Add, AtomicType::F64) => {
            let (old, b) = (f64::from_bits(old), f64::from_bits(b));
            let sum = if shared { atomic::shared_add_f64 } else { atomic::global_add_f64 };
            sum(old, b).to_bits()
        }
        (kind, AtomicType::F16) => u64::from(half_op::<F16>(kind, old as u16, b as u16)),
        (kind, AtomicType::Bf16) => u64::from(half_op::<Bf16>(kind, old as u16, b as u16)),
        (kind, AtomicType::F16x2) => {
            u64::from(pairwise(old as u32, b as u32, |old, b| half_op::<F16>(kind, old, b)))
        }
        (kind, AtomicType::Bf16x2) => {
            u64::from(pairwise(old as u32, b as u32, |old, b| half_op::<Bf16>(kind, old, b)))
        }
        (AtomicKind::Add, _) => old.wrapping_add(b),
        (AtomicKind::Min, AtomicType::Signed) if narrow => {
            u64::from((old as i32).min(b as i32) as u32)
        }
        (AtomicKind::Max, AtomicType::Signed) if narrow => {
            u64::from((old as i32).max(b as i32) as u32)
        }
        (AtomicKind::Min, AtomicType::Signed) => (old as i64).min(b as i64) as u64,
        (AtomicKind::Max, AtomicType::Signed) => (old as i64).max(b as i64) as u64,
        (AtomicKind::Min, _) => old.min(b),
        (AtomicKind::Max, _) => old.max(b),
    }
}

fn half_op<F: HalfFormat>(kind: AtomicKind, old: u16, b: u16) -> u16 {
    match kind {
        AtomicKind::Min => half::min::<F>(old, b, MinMaxMode::default()),
        AtomicKind::Max => half::max::<F>(old, b, MinMaxMode::default()),
        _ => half::add::<F>(old, b, HalfMode::default()),
    }
}
