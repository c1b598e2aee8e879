//! The loads and stores that kernels consist of: one 4- or 8-byte element a lane, global or shared memory, evenly spaced
//! addresses that are all good. Whatever is not so simple goes the general way, which also finds out what is wrong.

use super::block::BlockState;
use super::counting::What;
use super::hot::{Handler, Hot};
use super::launch::Engine;
use super::pattern::Layout;
use super::places::highest;
use super::short::ShortOp;
use super::transfer::{Stored, read_halves};
use super::warp::{Frame, Warp};
use crate::memory::{Storage, window};
use crate::op::Space;
use crate::registers::{Affine, Register, Window};
use crate::row::{FULL, LANES, Outcome, lanes};

/// The function for a load, or else a `store`, to `shared` or else global memory, of 8 bytes (`wide`) or 4, at an address in a
/// 64-bit register (`wide_address`) or a 32-bit one.
pub(super) fn handler(store: bool, shared: bool, wide: bool, wide_address: bool) -> Handler {
    match (store, shared, wide, wide_address) {
        (false, false, false, false) => load::<u32, false, false>,
        (false, false, false, true) => load::<u32, false, true>,
        (false, false, true, false) => load::<u64, false, false>,
        (false, false, true, true) => load::<u64, false, true>,
        (false, true, false, false) => load::<u32, true, false>,
        (false, true, false, true) => load::<u32, true, true>,
        (false, true, true, false) => load::<u64, true, false>,
        (false, true, true, true) => load::<u64, true, true>,
        (true, false, false, false) => store_to::<u32, false, false>,
        (true, false, false, true) => store_to::<u32, false, true>,
        (true, false, true, false) => store_to::<u64, false, false>,
        (true, false, true, true) => store_to::<u64, false, true>,
        (true, true, false, false) => store_to::<u32, true, false>,
        (true, true, false, true) => store_to::<u32, true, true>,
        (true, true, true, false) => store_to::<u64, true, false>,
        (true, true, true, true) => store_to::<u64, true, true>,
    }
}

/// The registers as wide as an element in memory.
trait Registered: Stored {
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<Self>];
}

impl Registered for u32 {
    #[inline(always)]
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<u32>] {
        window.r32
    }
}

impl Registered for u64 {
    #[inline(always)]
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<u64>] {
        window.r64
    }
}

/// Where the lanes of `mask` access memory, if their addresses rise evenly.
#[inline(always)]
fn addresses<const WIDE: bool>(window: &Window<'_>, op: &ShortOp, mask: u32) -> Option<Affine> {
    let row = usize::from(op.s[0]);
    if WIDE {
        let register = &window.r64[row];
        register.is_known(mask).then(|| register.known().plus(op.offset()))
    } else {
        // 32-bit addresses stay in 32 bits.
        super::affine::widen_unsigned(window.r32[row].affine(mask)?.plus(op.offset()))
    }
}

/// An access of which the pattern is known: where it is in memory.
#[derive(Clone, Copy)]
struct Found {
    slot: u32,
    layout: Layout,
    /// Place of lane 0's element.
    first: usize,
}

/// Looks whether an access is good and like the last one of its operation, and counts it then.
#[inline(always)]
fn find<T: Stored, const SHARED: bool>(
    hot: &mut Hot<'_, '_>,
    at: Affine,
    mask: u32,
    pc: u32,
) -> Option<Found> {
    let pattern = hot.engine.patterns.get_mut(pc as usize)?;
    if !pattern.is(at, mask) {
        return None;
    }
    let (base, length) = if SHARED {
        (window::SHARED_RESERVED, hot.block.shared.len() as u64)
    } else {
        let found = hot.engine.memory.slot(pattern.slot)?;
        (found.base, found.data.len() as u64)
    };
    let first = at.base.wrapping_sub(base);
    let end = first.wrapping_sub(pattern.low).checked_add(pattern.span)?;
    if end > length || at.base & (T::BYTES as u64 - 1) != 0 {
        return None;
    }
    pattern.count();
    Some(Found { slot: pattern.slot, layout: pattern.layout, first: first as usize })
}

/// As [`find`], for an access that is not like the last one.
#[inline(never)]
fn find_anew<T: Stored, const SHARED: bool>(
    hot: &mut Hot<'_, '_>,
    what: What,
    at: Affine,
    mask: u32,
    pc: u32,
) -> Option<Found> {
    let space = if SHARED { Space::Shared } else { Space::Global };
    let known = hot.engine.learn(pc, what, space, at, mask, T::BYTES as u32);
    known.then(|| find::<T, SHARED>(hot, at, mask, pc)).flatten()
}

fn load<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let Some(found) = find::<T, SHARED>(hot, at, mask, op.pc) else {
        return load_anew::<T, SHARED>(hot, op, mask, &at);
    };
    let data = match hot.engine.memory.slot(found.slot) {
        _ if SHARED => &hot.block.shared,
        Some(found) => &found.data,
        None => return Outcome::Access,
    };
    let target = &mut T::registers(&mut hot.window)[usize::from(op.d)];
    if !target.is_free(mask) {
        return load_found::<T, SHARED>(hot, op, mask, &at, found);
    }
    match found.layout {
        Layout::Same => {
            target.set_free(Affine::uniform(T::load(data, found.first).bits()), mask);
        }
        Layout::Row if mask == FULL => {
            data.read_line(found.first, target.overwrite_free());
        }
        _ => return load_found::<T, SHARED>(hot, op, mask, &at, found),
    }
    Outcome::Done
}

#[inline(never)]
fn load_anew<T: Registered, const SHARED: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
    at: &Affine,
) -> Outcome {
    match find_anew::<T, SHARED>(hot, What::Load, *at, mask, op.pc) {
        Some(found) => load_found::<T, SHARED>(hot, op, mask, at, found),
        None => Outcome::Access,
    }
}

/// Loads elements that lie in any simple way.
#[inline(never)]
fn load_found<T: Registered, const SHARED: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
    at: &Affine,
    found: Found,
) -> Outcome {
    let Found { slot, layout, first } = found;
    let data = match hot.engine.memory.slot(slot) {
        _ if SHARED => &hot.block.shared,
        Some(found) => &found.data,
        None => return Outcome::Access,
    };
    let target = &mut T::registers(&mut hot.window)[usize::from(op.d)];
    let element = |distance: u64| T::load(data, first.wrapping_add(distance as usize));
    match layout {
        Layout::Same => target.set_affine(Affine::uniform(element(0).bits()), mask),
        Layout::TwoElements => {
            let base = element(0).bits();
            let step = element(at.step).bits().wrapping_sub(base);
            target.set_affine(Affine { base, stride: 0, step }, mask);
        }
        Layout::Row => {
            let mut values = [T::POISON; LANES];
            data.read_line(first, &mut values);
            T::blend(target.overwrite(mask), &values, mask);
        }
        Layout::TwoRows if mask == FULL => {
            read_halves(data, target.overwrite(FULL), first, at.step as usize);
        }
        Layout::TwoRows | Layout::Apart => apart(target, data, first, *at, mask),
    }
    Outcome::Done
}

fn store_to<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let found = find::<T, SHARED>(hot, at, mask, op.pc);
    let Some(found) = found.or_else(|| find_anew::<T, SHARED>(hot, What::Store, at, mask, op.pc))
    else {
        return Outcome::Access;
    };
    let data = match hot.engine.memory.slot(found.slot) {
        _ if SHARED => &hot.block.shared,
        Some(found) => &found.data,
        None => return Outcome::Access,
    };
    let values = T::registers(&mut hot.window)[usize::from(op.d)].read();
    let put = |lane: usize| {
        let place = at.lane(lane).wrapping_sub(at.base) as usize;
        values[lane].store(data, found.first.wrapping_add(place));
    };
    match found.layout {
        // Of lanes that write the same bytes the highest one wins.
        Layout::Same => put(highest(mask)),
        Layout::Row if mask == FULL => data.write_line(found.first, values),
        _ => lanes(mask).for_each(put),
    }
    Outcome::Done
}

impl Engine<'_> {
    /// Executes a load or store in its short form. False: nothing was done.
    pub(super) fn quick_access(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mask: u32,
        pc: u32,
    ) -> bool {
        let Some(op) = self.short.get(pc as usize) else {
            return false;
        };
        (op.handler)(&mut Hot::new(self, block, warp, frame), op, mask) == Outcome::Done
    }
}

/// Reads elements that lie apart.
#[inline(never)]
fn apart<T: Stored>(target: &mut Register<T>, data: &Storage, first: usize, at: Affine, mask: u32) {
    let target = target.overwrite(mask);
    if mask != FULL {
        let place = |lane: usize| first.wrapping_add(at.lane(lane).wrapping_sub(at.base) as usize);
        return lanes(mask).for_each(|lane| target[lane] = T::load(data, place(lane)));
    }
    let (stride, step) = (at.stride as usize, at.step as usize);
    let (low, high) = target.split_at_mut(LANES / 2);
    let mut place = first;
    for (low, high) in low.iter_mut().zip(high) {
        *low = T::load(data, place);
        *high = T::load(data, place.wrapping_add(step));
        place = place.wrapping_add(stride);
    }
}
